//! What changed between two runs, by the ids of their findings. Run-relative: the baseline plays no part.

use crate::profile::Profile;
use crate::run::Run;
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
    /// Better in one way, worse in another.
    Mixed,
    /// Neither.
    Stable,
    /// The runs were made differently.
    Incomparable,
    /// There was nothing to compare, and nothing had to be.
    NotApplicable,
}

/// Why two runs cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Incomparable {
    /// The analysis was asked to do different things.
    DifferentSettings,
    /// The analysis is not of the same version.
    DifferentAnalyser,
}

/// Why two runs give no verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeltaRefusal {
    /// The after-run is the before-run.
    AfterRunNotNew,
    /// The runs were made differently.
    IncomparableRuns,
}

/// The delta of two runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StructuralDelta {
    /// In one word.
    pub verdict: DeltaVerdict,
    /// Health after minus health before; `None` if either is unknown.
    pub health_delta: Option<i64>,
    /// Findings that are new.
    pub regressions: BTreeSet<String>,
    /// Findings that are gone.
    pub improvements: BTreeSet<String>,
    /// How many findings stayed; `None` if the runs cannot be compared.
    pub unchanged: Option<usize>,
    /// Why the runs cannot be compared.
    pub incomparable_because: BTreeSet<Incomparable>,
    /// Whether both are the same run.
    pub same_run: bool,
    /// Why the runs give no verdict on the patch.
    pub verify_reason: Option<DeltaRefusal>,
}

/// Compares two runs for a patch of `profile`.
pub fn structural_delta(before: &Run, after: &Run, profile: Profile) -> StructuralDelta {
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

/// Why two runs cannot be compared; empty if they can.
pub(crate) fn incomparable(before: &Run, after: &Run) -> BTreeSet<Incomparable> {
    let mut because = BTreeSet::new();
    if before.settings != after.settings {
        because.insert(Incomparable::DifferentSettings);
    }
    if before.analyser != after.analyser {
        because.insert(Incomparable::DifferentAnalyser);
    }
    because
}

fn compared(before: &Run, after: &Run, empty: StructuralDelta) -> StructuralDelta {
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

/// The ids of a run, sorted and each once: a sorted list beats a tree on a hundred thousand of them.
fn ids(run: &Run) -> Vec<&str> {
    let mut ids: Vec<&str> = run.findings.iter().map(|finding| finding.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// What is in `a` and not in `b`; both sorted.
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
