//! The difference between two analysis runs, by finding id. The baseline plays no part.

use crate::profile::VerificationProfile;
use crate::run::RunFacts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What two runs say about the change between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeltaVerdict {
    /// Only better.
    Improved,
    /// Only worse.
    Regressed,
    /// Better in some ways, worse in others.
    Mixed,
    /// Neither better nor worse.
    Stable,
    /// The runs cannot be compared.
    Incomparable,
    /// There was nothing to compare, and no need to.
    NotApplicable,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IncomparableReason {
    DifferentSettings,
    DifferentAnalyser,
}

/// Why two runs do not permit a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeltaRefusal {
    /// The after-run is the before-run.
    AfterRunNotNew,
    /// The settings or analyzer versions differ.
    IncomparableRuns,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StructuralDelta {
    pub verdict: DeltaVerdict,
    /// Health after minus health before; `None` if either is unknown.
    pub health_delta: Option<i64>,
    /// New findings.
    pub regressions: BTreeSet<String>,
    /// Findings that are gone.
    pub improvements: BTreeSet<String>,
    /// Number of findings in both runs; `None` if the runs cannot be compared.
    pub unchanged: Option<usize>,
    pub incomparable_because: BTreeSet<IncomparableReason>,
    pub same_run: bool,
    pub verify_reason: Option<DeltaRefusal>,
}

pub fn structural_delta(
    before: &RunFacts,
    after: &RunFacts,
    profile: VerificationProfile,
) -> StructuralDelta {
    let same_run = before.run_id == after.run_id;
    let incomparable_because = incomparable(before, after);
    let verify_reason = if same_run && profile.after_run_required() {
        Some(DeltaRefusal::AfterRunNotNew)
    } else if incomparable_because.is_empty() {
        None
    } else {
        Some(DeltaRefusal::IncomparableRuns)
    };
    let empty = StructuralDelta {
        verdict: DeltaVerdict::Incomparable,
        health_delta: None,
        regressions: BTreeSet::new(),
        improvements: BTreeSet::new(),
        unchanged: None,
        incomparable_because,
        same_run,
        verify_reason,
    };
    if empty.incomparable_because.is_empty() { compared(before, after, empty) } else { empty }
}

/// Returns why two runs cannot be compared; empty if they can.
pub(crate) fn incomparable(before: &RunFacts, after: &RunFacts) -> BTreeSet<IncomparableReason> {
    let mut because = BTreeSet::new();
    if before.settings != after.settings {
        because.insert(IncomparableReason::DifferentSettings);
    }
    if before.analyser != after.analyser {
        because.insert(IncomparableReason::DifferentAnalyser);
    }
    because
}

fn compared(before: &RunFacts, after: &RunFacts, empty: StructuralDelta) -> StructuralDelta {
    let (old, new) = (ids(before), ids(after));
    let regressions = minus(&new, &old);
    let improvements = minus(&old, &new);
    let health_delta = before.health.zip(after.health).map(|(before, after)| after.saturating_sub(before));
    let bad = !regressions.is_empty() || health_delta.is_some_and(|delta| delta < 0);
    let good = !improvements.is_empty() || health_delta.is_some_and(|delta| delta > 0);
    StructuralDelta {
        verdict: match (bad, good) {
            (true, true) => DeltaVerdict::Mixed,
            (true, false) => DeltaVerdict::Regressed,
            (false, true) => DeltaVerdict::Improved,
            (false, false) => DeltaVerdict::Stable,
        },
        health_delta,
        unchanged: Some(new.len() - regressions.len()),
        regressions,
        improvements,
        ..empty
    }
}

/// Returns the sorted, unique finding ids of a run. At a hundred thousand of them a sorted list is faster than a tree.
fn ids(run: &RunFacts) -> Vec<&str> {
    let mut ids: Vec<&str> = run.findings.iter().map(|finding| finding.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// Returns what is in `a` but not in `b`, both sorted.
fn minus(a: &[&str], b: &[&str]) -> BTreeSet<String> {
    let mut rest = b.iter().peekable();
    let mut is_new = |id: &str| {
        while rest.next_if(|other| **other < id).is_some() {}
        rest.peek().is_none_or(|other| **other != id)
    };
    a.iter().filter(|id| is_new(id)).map(|id| (*id).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_difference_is_the_difference_of_sets(
            a in proptest::collection::btree_set("[a-d]{0,2}", 0..8),
            b in proptest::collection::btree_set("[a-d]{0,2}", 0..8),
        ) {
            let (x, y): (Vec<&str>, Vec<&str>) =
                (a.iter().map(String::as_str).collect(), b.iter().map(String::as_str).collect());
            prop_assert_eq!(minus(&x, &y), a.difference(&b).cloned().collect::<BTreeSet<_>>());
        }
    }
}
