//! Strictness: which violations block. The verdict itself never changes; strictness only says what it leads to.
//!
//! * `ci`: what the contract says. * `strict`: also lower health and worse symbols in scope. * `relaxed`: new findings
//!   and gates do not block. A severity floor lets new findings below it through.
//!
//! Whatever is let through is named (law 3). A broken scope, touched state and a moved baseline are never let
//! through: they are about trust, not about quality.

use crate::run::{Run, Severity};
use crate::verify::Verdict;
use crate::words::{ContractReason, ContractStatus};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A named strictness.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StrictnessProfile {
    /// What the contract says.
    #[default]
    Ci,
    /// More than the contract says.
    Strict,
    /// Quality is reported and does not block.
    Relaxed,
}

/// How strict a verdict is taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Strictness {
    /// The profile.
    pub profile: StrictnessProfile,
    /// New findings below this severity do not block. `None`: all do.
    pub severity_floor: Option<Severity>,
}

/// Something that blocks, or would under another strictness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Blocking {
    /// A violation of the contract.
    Contract(ContractReason),
    /// The health fell.
    HealthRegression,
    /// Symbols in scope got worse.
    WorsenedSymbols,
}

impl Serialize for Blocking {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Contract(reason) => reason.serialize(serializer),
            Self::HealthRegression => serializer.serialize_str("health_regression"),
            Self::WorsenedSymbols => serializer.serialize_str("worsened_symbols"),
        }
    }
}

/// What a verdict leads to under a strictness.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// The status that the caller acts on.
    pub status: ContractStatus,
    /// Why, if it is violated: the first that blocks; else the verdict's own reason.
    pub reason: Option<Blocking>,
    /// What blocks.
    pub blocking_violations: Vec<Blocking>,
    /// What the contract calls a violation, and this strictness lets through.
    pub let_through: Vec<Blocking>,
    /// The new findings in scope that are let through, with their severity.
    pub findings_let_through: BTreeMap<String, Severity>,
}

/// Takes a verdict as strictly as asked. `after` is the run that the verdict was made on.
pub fn weigh(verdict: &Verdict, after: Option<&Run>, strictness: Strictness) -> Outcome {
    let regressions = verdict.evaluation().map(|it| &it.intent_regressions);
    let below = findings_below(after, regressions, strictness);
    let all_below = regressions.is_some_and(|ids| ids.iter().all(|id| below.contains_key(id)));
    let is_harmless = |reason: &ContractReason| match reason {
        ContractReason::StructuralRegressions => all_below,
        ContractReason::GateFailures => strictness.profile == StrictnessProfile::Relaxed,
        _ => false,
    };
    let (let_through, blocking): (Vec<_>, Vec<_>) =
        verdict.contract_violations.iter().copied().partition(is_harmless);
    let mut blocking: Vec<Blocking> = blocking.into_iter().map(Blocking::Contract).collect();
    if strictness.profile == StrictnessProfile::Strict {
        blocking.extend(stricter(verdict));
    }
    let status = if !blocking.is_empty() {
        ContractStatus::Violated
    } else if verdict.status == ContractStatus::Violated {
        accepted(verdict)
    } else {
        verdict.status
    };
    Outcome {
        reason: blocking
            .first()
            .copied()
            .or_else(|| verdict.reason.filter(|_| status == verdict.status).map(Blocking::Contract)),
        status,
        blocking_violations: blocking,
        let_through: let_through.into_iter().map(Blocking::Contract).collect(),
        findings_let_through: below,
    }
}

/// The new findings in scope that do not block.
fn findings_below(
    after: Option<&Run>,
    regressions: Option<&BTreeSet<String>>,
    strictness: Strictness,
) -> BTreeMap<String, Severity> {
    let (Some(after), Some(regressions)) = (after, regressions) else { return BTreeMap::new() };
    let lets_through = |severity: Severity| {
        strictness.profile == StrictnessProfile::Relaxed
            || strictness.severity_floor.is_some_and(|floor| severity < floor)
    };
    let mut severities: BTreeMap<&String, Severity> = BTreeMap::new();
    for finding in after.findings.iter().filter(|finding| regressions.contains(&finding.id)) {
        let worst = severities.entry(&finding.id).or_insert(finding.severity);
        *worst = finding.severity.max(*worst);
    }
    severities.retain(|_, severity| lets_through(*severity));
    severities.into_iter().map(|(id, severity)| (id.clone(), severity)).collect()
}

/// What only the strict profile blocks.
fn stricter(verdict: &Verdict) -> Vec<Blocking> {
    let Some(evaluation) = verdict.evaluation() else { return Vec::new() };
    let mut found = Vec::new();
    if evaluation.structural_delta.health_delta.is_some_and(|delta| delta < 0) {
        found.push(Blocking::HealthRegression);
    }
    if !evaluation.intent_worsened.is_empty() {
        found.push(Blocking::WorsenedSymbols);
    }
    found
}

/// The accepted status that remains when every violation is let through.
fn accepted(verdict: &Verdict) -> ContractStatus {
    let external =
        verdict.evaluation().is_some_and(|it| !it.external_regressions.is_empty() || it.gate_worsened);
    if external { ContractStatus::AcceptedWithExternalChanges } else { ContractStatus::Accepted }
}
