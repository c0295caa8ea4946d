//! Strictness: which violations block. It never changes the verdict, only its consequence.
//!
//! * `ci`: exactly what the contract says.
//! * `strict`: also lower health, worse symbols in scope, required gates that did not run or that read what the change
//!   brings, and a loosened policy.
//! * `relaxed`: new findings and gates do not block.
//!
//! New findings below the severity floor do not block under any of them.
//!
//! Everything that does not block is named (law 3). A violated scope, modified state and a moved baseline
//! always block: they concern trust, not quality.

use crate::claims::{ClaimJudgment, GateFact, GateOutcome};
use crate::run::RunFacts;
use crate::status::{ContractReason, ContractStatus};
use crate::verify::ContractVerdict;
use probity_policy::{FalseClaims, Severity, Strictness, StrictnessProfile};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The consequence of a verdict under a strictness.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StrictnessOutcome {
    /// The status that the caller acts on.
    pub status: ContractStatus,
    /// The first blocking violation if violated; otherwise the verdict's own reason.
    pub reason: Option<ContractReason>,
    pub blocking_violations: Vec<ContractReason>,
    /// Violations that would block under another strictness or policy, but do not here.
    pub let_through: Vec<ContractReason>,
    /// New findings in scope that do not block, with their severity.
    pub findings_let_through: BTreeMap<String, Severity>,
}

impl StrictnessOutcome {
    /// Adds the consequence of false and unproven claims: `violated` and `unverified` if the policy says that
    /// false claims violate. Without a verdict they are named but decide nothing.
    #[must_use]
    pub fn with_claims(self, judgment: &ClaimJudgment, rule: FalseClaims) -> Self {
        let violates = rule == FalseClaims::Violate;
        if judgment.has_false_claim() {
            return self.with_violation(ContractReason::FalseClaim, violates);
        }
        if judgment.is_valid() {
            return self;
        }
        if violates && self.status.is_accepted() {
            return self.unless_accepted(ContractReason::UnprovenClaim);
        }
        self.with_violation(ContractReason::UnprovenClaim, violates)
    }

    /// Adds the results of the policy's gates: a required gate that failed blocks unless the profile is relaxed, one
    /// that did not run blocks if it is strict. A change that decides what a gate runs is unverified, and violated if the
    /// profile is strict. Gates do not turn an unverified change into a verified one.
    #[must_use]
    pub fn with_gates(self, gates: &[GateFact], profile: StrictnessProfile) -> Self {
        let mut required = gates.iter().filter(|gate| gate.required);
        let gate = ContractReason::GateFailures;
        if required.clone().any(|gate| gate.result == GateOutcome::Failed) {
            if self.blocking_violations.contains(&gate) || self.let_through.contains(&gate) {
                return self;
            }
            return self.with_violation(gate, profile != StrictnessProfile::Relaxed);
        }
        let is_strict = profile == StrictnessProfile::Strict;
        let changed = ContractReason::GateInputsChanged;
        if required.clone().any(|gate| gate.result == GateOutcome::Unverified) {
            return if profile == StrictnessProfile::Ci {
                self.unless_accepted(changed)
            } else {
                self.with_violation(changed, is_strict)
            };
        }
        let reads_changed = required.clone().any(|gate| !gate.changed_inputs.is_empty());
        let outcome = if reads_changed { self.with_violation(changed, is_strict) } else { self };
        if required.any(GateFact::is_open) {
            return outcome.with_violation(ContractReason::GatesNotRun, is_strict);
        }
        outcome
    }

    /// Turns an accepted change into an unverified one.
    fn unless_accepted(mut self, reason: ContractReason) -> Self {
        if !self.status.is_accepted() {
            return self.with_violation(reason, false);
        }
        self.status = ContractStatus::Unverified;
        self.reason = Some(reason);
        self.blocking_violations.push(reason);
        self
    }

    /// Adds a policy that demands less than before: the next change is judged by it, so a person decides. It blocks
    /// if the profile is strict.
    #[must_use]
    pub fn with_policy_loosened(self, is_loosened: bool, profile: StrictnessProfile) -> Self {
        if !is_loosened {
            return self;
        }
        self.with_violation(ContractReason::PolicyLoosened, profile == StrictnessProfile::Strict)
    }

    fn with_violation(mut self, what: ContractReason, blocks: bool) -> Self {
        if !blocks || self.status.is_open() {
            self.let_through.push(what);
            return self;
        }
        self.status = ContractStatus::Violated;
        self.blocking_violations.push(what);
        self.reason = self.blocking_violations.first().copied();
        self
    }
}

/// Applies a strictness to a verdict. `after` is the run that the verdict is based on.
pub fn apply_strictness(
    verdict: &ContractVerdict,
    after: Option<&RunFacts>,
    strictness: Strictness,
) -> StrictnessOutcome {
    let regressions = verdict.evaluation().map(|it| &it.intent_regressions);
    let below = findings_below(after, regressions, strictness);
    let all_below = regressions.is_some_and(|ids| ids.iter().all(|id| below.contains_key(id)));
    let is_harmless = |reason: &ContractReason| match reason {
        ContractReason::StructuralRegressions => all_below,
        ContractReason::GateFailures => strictness.profile == StrictnessProfile::Relaxed,
        _ => false,
    };
    let (let_through, mut blocking): (Vec<_>, Vec<_>) =
        verdict.contract_violations.iter().copied().partition(is_harmless);
    if strictness.profile == StrictnessProfile::Strict {
        blocking.extend(strict_only_violations(verdict));
    }
    let status = if !blocking.is_empty() {
        ContractStatus::Violated
    } else if verdict.status == ContractStatus::Violated {
        accepted(verdict)
    } else {
        verdict.status
    };
    StrictnessOutcome {
        reason: blocking.first().copied().or_else(|| verdict.reason.filter(|_| status == verdict.status)),
        status,
        blocking_violations: blocking,
        let_through,
        findings_let_through: below,
    }
}

/// Returns the new findings in scope that do not block.
fn findings_below(
    after: Option<&RunFacts>,
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

/// Returns the violations that only the strict profile has.
fn strict_only_violations(verdict: &ContractVerdict) -> Vec<ContractReason> {
    let Some(evaluation) = verdict.evaluation() else { return Vec::new() };
    let mut found = Vec::new();
    if evaluation.structural_delta.health_delta.is_some_and(|delta| delta < 0) {
        found.push(ContractReason::HealthRegression);
    }
    if !evaluation.intent_worsened.is_empty() {
        found.push(ContractReason::WorsenedSymbols);
    }
    found
}

/// Returns the accepted status that remains if no violation blocks.
fn accepted(verdict: &ContractVerdict) -> ContractStatus {
    let external =
        verdict.evaluation().is_some_and(|it| !it.external_regressions.is_empty() || it.gate_worsened);
    if external { ContractStatus::AcceptedWithExternalChanges } else { ContractStatus::Accepted }
}
