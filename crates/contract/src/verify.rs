//! The verdict on a patch: did it, inside what it declared, make things worse?
//!
//! A pure function of recorded inputs (law 7). What was not evaluated is `None`, never "fine" (law 6). Only what
//! lies in the intent's scope violates; the rest is reported as external.

use crate::delta::{DeltaVerdict, StructuralDelta, incomparable, structural_delta};
use crate::profile::{FileClass, Profile, ProfileReport, classify, profile};
use crate::run::{Finding, GatePreview, Run, WorsenedSymbol};
use crate::words::{BaselineTrigger, ContractReason, ContractStatus};
use probity_intents::{Entries, Entry, IntentId, IntentScope, Patterns, ScopeCheckStatus};
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Whether the intent may be verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntentState {
    /// It holds its claim.
    Active,
    /// It waits.
    Queued,
}

/// The intent that a patch belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PatchIntent {
    /// Its id.
    pub intent_id: IntentId,
    /// Whether it holds its claim.
    pub status: IntentState,
    /// The digest of the run that it was declared on.
    pub report_digest: Option<String>,
    /// What it declared.
    pub scope: IntentScope,
}

/// What a verdict is made from.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Patch {
    /// The intent, if there is one.
    pub intent: Option<PatchIntent>,
    /// The paths that changed.
    pub changed_files: Entries,
    /// What the scope check said; `None` without an intent.
    pub scope_check: Option<ScopeCheckStatus>,
    /// The run of the tree before.
    pub before: Option<Run>,
    /// The run of the tree after.
    pub after: Option<Run>,
    /// The id that a run of the tree as it is now would have; `None` if that was not checked.
    pub tree_run_id: Option<String>,
    /// Symbols that got worse.
    pub worsened: Vec<WorsenedSymbol>,
    /// What the gates say of the before-run.
    pub before_gate: Option<GatePreview>,
    /// What the gates say of the after-run.
    pub after_gate: Option<GatePreview>,
}

/// What a full verdict rests on: everything was evaluated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evaluation {
    /// The delta of the two runs.
    pub structural_delta: StructuralDelta,
    /// New findings in scope, or without a path.
    pub intent_regressions: BTreeSet<String>,
    /// New findings entirely outside.
    pub external_regressions: BTreeSet<String>,
    /// Symbols in scope that got worse.
    pub intent_worsened: BTreeSet<String>,
    /// Symbols outside that got worse.
    pub external_worsened: BTreeSet<String>,
    /// Whether there are gates on both sides to compare.
    pub gates_compared: bool,
    /// Whether the gates passed before and fail now.
    pub gate_worsened: bool,
    /// Whether that is this patch's doing.
    pub intent_caused_gate_failure: bool,
    /// Signs that the baseline was moved to hide something.
    pub baseline_triggers: BTreeSet<BaselineTrigger>,
}

/// How far the verification came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evaluated {
    /// It ended before the runs were compared.
    Nothing,
    /// The patch needs no structural check, and there was no after-run.
    NotApplicable,
    /// The runs were compared.
    Fully(Box<Evaluation>),
}

/// The verdict on a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// In one word.
    pub status: ContractStatus,
    /// Why, unless it is accepted.
    pub reason: Option<ContractReason>,
    /// Every way in which the patch breaks the contract, in a fixed order.
    pub contract_violations: Vec<ContractReason>,
    /// The profile that the changed files have.
    pub profile: ProfileReport,
    /// What was evaluated.
    pub evaluated: Evaluated,
}

impl Verdict {
    /// The evaluation, if the runs were compared.
    pub fn evaluation(&self) -> Option<&Evaluation> {
        match &self.evaluated {
            Evaluated::Fully(evaluation) => Some(evaluation),
            Evaluated::Nothing | Evaluated::NotApplicable => None,
        }
    }

    /// The health that a patch lost although it is not violated.
    pub fn health_regression_advisory(&self) -> Option<i64> {
        let delta = self.evaluation()?.structural_delta.health_delta?;
        (self.status != ContractStatus::Violated && delta < 0).then_some(delta)
    }

    /// The verdict as its document states it: every member, and `None` for what was not evaluated.
    pub fn facts(&self) -> VerdictFacts {
        let evaluation = self.evaluation();
        VerdictFacts {
            status: self.status,
            reason: self.reason,
            structural_delta: match &self.evaluated {
                Evaluated::Nothing => None,
                Evaluated::NotApplicable => Some(DeltaSummary {
                    verdict: DeltaVerdict::NotApplicable,
                    health_delta: None,
                    regressions: BTreeSet::new(),
                    improvements: BTreeSet::new(),
                }),
                Evaluated::Fully(evaluation) => Some(DeltaSummary {
                    verdict: evaluation.structural_delta.verdict,
                    health_delta: evaluation.structural_delta.health_delta,
                    regressions: evaluation.structural_delta.regressions.clone(),
                    improvements: evaluation.structural_delta.improvements.clone(),
                }),
            },
            intent_regressions: evaluation.map(|it| it.intent_regressions.clone()),
            external_regressions: evaluation.map(|it| it.external_regressions.clone()),
            intent_worsened: evaluation.map(|it| it.intent_worsened.clone()),
            external_worsened: evaluation.map(|it| it.external_worsened.clone()),
            gate_worsened: evaluation.map(|it| it.gate_worsened),
            intent_caused_gate_failure: evaluation.map(|it| it.intent_caused_gate_failure),
            baseline_abuse: evaluation.map(|it| BaselineAbuse {
                detected: !it.baseline_triggers.is_empty(),
                triggers: it.baseline_triggers.clone(),
            }),
            contract_violations: self.contract_violations.clone(),
            health_regression_advisory: self
                .health_regression_advisory()
                .map(|health_delta| HealthLoss { health_delta }),
        }
    }
}

/// A verdict in a document: `null` for what was not evaluated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VerdictFacts {
    /// In one word.
    pub status: ContractStatus,
    /// Why, unless it is accepted.
    pub reason: Option<ContractReason>,
    /// What the two runs say.
    pub structural_delta: Option<DeltaSummary>,
    /// New findings in scope, or without a path.
    pub intent_regressions: Option<BTreeSet<String>>,
    /// New findings entirely outside.
    pub external_regressions: Option<BTreeSet<String>>,
    /// Symbols in scope that got worse.
    pub intent_worsened: Option<BTreeSet<String>>,
    /// Symbols outside that got worse.
    pub external_worsened: Option<BTreeSet<String>>,
    /// Whether the structural gates passed before and fail now.
    pub gate_worsened: Option<bool>,
    /// Whether that is this patch's doing.
    pub intent_caused_gate_failure: Option<bool>,
    /// Signs that the baseline was moved to hide something.
    pub baseline_abuse: Option<BaselineAbuse>,
    /// Every way in which the patch breaks the contract.
    pub contract_violations: Vec<ContractReason>,
    /// The health that the patch lost although it is not violated.
    pub health_regression_advisory: Option<HealthLoss>,
}

/// What two runs say, in a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DeltaSummary {
    /// In one word.
    pub verdict: DeltaVerdict,
    /// Health after minus health before.
    pub health_delta: Option<i64>,
    /// Findings that are new.
    pub regressions: BTreeSet<String>,
    /// Findings that are gone.
    pub improvements: BTreeSet<String>,
}

/// Signs that the baseline was moved to hide something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BaselineAbuse {
    /// Whether there are any.
    pub detected: bool,
    /// Which.
    pub triggers: BTreeSet<BaselineTrigger>,
}

/// Health that was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HealthLoss {
    /// Health after minus health before, below 0.
    pub health_delta: i64,
}

/// Judges a patch; the first row of the decision table that fits.
pub fn verify(patch: &Patch) -> Verdict {
    let profile = profile(patch.changed_files.iter().map(Entry::as_bytes));
    if let Some((status, reason)) = before_any_run(patch, profile.profile) {
        return early(status, Some(reason), profile);
    }
    let runs = runs(patch, profile.profile);
    let scope_is_violated = patch.scope_check == Some(ScopeCheckStatus::Violated);
    match runs {
        Runs::Comparable(before, after) => full_verdict(patch, before, after, profile),
        _ if scope_is_violated => {
            early(ContractStatus::Violated, Some(ContractReason::ScopeViolation), profile)
        }
        Runs::NotNeeded => early(ContractStatus::Accepted, None, profile),
        Runs::Unusable(reason) => early(ContractStatus::Unverified, Some(reason), profile),
    }
}

/// A verdict without comparing runs.
fn early(status: ContractStatus, reason: Option<ContractReason>, profile: ProfileReport) -> Verdict {
    Verdict {
        status,
        reason,
        contract_violations: reason.filter(|_| status == ContractStatus::Violated).into_iter().collect(),
        profile,
        evaluated: if status.is_accepted() { Evaluated::NotApplicable } else { Evaluated::Nothing },
    }
}

/// Rows 1 to 3.
fn before_any_run(patch: &Patch, profile: Profile) -> Option<(ContractStatus, ContractReason)> {
    let intent = patch.intent.as_ref();
    let declared_elsewhere = |before: &Run| intent.is_some_and(|it| it.report_digest != before.report_digest);
    if intent.is_some_and(|intent| intent.status == IntentState::Queued) {
        Some((ContractStatus::Unverified, ContractReason::IntentNotActive))
    } else if profile == Profile::StateArtifactChange {
        Some((ContractStatus::Violated, ContractReason::StateArtifactMutation))
    } else if patch.before.as_ref().is_some_and(declared_elsewhere) {
        Some((ContractStatus::Expired, ContractReason::ReportDigestMismatch))
    } else {
        None
    }
}

/// What the runs of a patch are good for.
enum Runs<'a> {
    Comparable(&'a Run, &'a Run),
    NotNeeded,
    Unusable(ContractReason),
}

/// Rows 5 to 10.
fn runs(patch: &Patch, profile: Profile) -> Runs<'_> {
    let required = profile.after_run_required();
    let Some(before) = &patch.before else { return Runs::Unusable(ContractReason::NoBeforeRun) };
    let Some(after) = &patch.after else {
        return match profile {
            Profile::GovernanceConfig => Runs::Unusable(ContractReason::AfterRunRequiredForGovernance),
            _ if required || patch.changed_files.is_empty() => Runs::Unusable(ContractReason::NoAfterRun),
            _ => Runs::NotNeeded,
        };
    };
    if required && before.run_id == after.run_id {
        Runs::Unusable(ContractReason::AfterRunNotNew)
    } else if patch.tree_run_id.as_ref().is_some_and(|tree| *tree != after.run_id) {
        Runs::Unusable(ContractReason::AfterRunStale)
    } else if !incomparable(before, after).is_empty() {
        Runs::Unusable(ContractReason::IncomparableRuns)
    } else {
        Runs::Comparable(before, after)
    }
}

/// Row 11: both runs are good.
fn full_verdict(patch: &Patch, before: &Run, after: &Run, profile: ProfileReport) -> Verdict {
    let evaluation = evaluate(patch, before, after, profile.profile);
    let scope_is_violated = patch.scope_check == Some(ScopeCheckStatus::Violated);
    let mut contract_violations = Vec::new();
    if !evaluation.intent_regressions.is_empty() {
        contract_violations.push(ContractReason::StructuralRegressions);
    }
    if evaluation.intent_caused_gate_failure {
        contract_violations.push(ContractReason::GateFailures);
    }
    if scope_is_violated {
        contract_violations.push(ContractReason::ScopeViolation);
    }
    contract_violations.extend(evaluation.baseline_triggers.iter().copied().map(ContractReason::from));
    let status = if !contract_violations.is_empty() {
        ContractStatus::Violated
    } else if !evaluation.external_regressions.is_empty() || evaluation.gate_worsened {
        ContractStatus::AcceptedWithExternalChanges
    } else {
        ContractStatus::Accepted
    };
    Verdict {
        status,
        reason: contract_violations.first().copied(),
        contract_violations,
        profile,
        evaluated: Evaluated::Fully(Box::new(evaluation)),
    }
}

fn evaluate(patch: &Patch, before: &Run, after: &Run, profile: Profile) -> Evaluation {
    let structural_delta = structural_delta(before, after, profile);
    let inside = patch.intent.as_ref().map(|intent| Inside::new(&intent.scope));
    let (intent_regressions, external_regressions) =
        partition_regressions(&structural_delta, after, inside.as_ref());
    let (intent_worsened, external_worsened) = partition_worsened(&patch.worsened, inside.as_ref());
    let fails =
        |gate: Option<GatePreview>, expected: bool| gate.is_some_and(|gate| gate.would_fail == expected);
    let gate_worsened = fails(patch.before_gate, false) && fails(patch.after_gate, true);
    let intent_caused_gate_failure =
        gate_worsened && (inside.is_none() || !intent_regressions.is_empty() || !intent_worsened.is_empty());
    let signs = [
        (has_source(&patch.changed_files), BaselineTrigger::BaselineChangedWithFunctionalCode),
        (!structural_delta.regressions.is_empty(), BaselineTrigger::BaselineUpdatedWhileRegressionsPresent),
        (inside.is_none(), BaselineTrigger::BaselineUpdatedWithoutIntent),
        (
            fails(patch.before_gate, true) && fails(patch.after_gate, false),
            BaselineTrigger::CiGreenedByAcceptingDebt,
        ),
    ];
    let baseline_moved = before.baseline_digest != after.baseline_digest;
    Evaluation {
        structural_delta,
        intent_regressions,
        external_regressions,
        intent_worsened,
        external_worsened,
        gates_compared: patch.before_gate.is_some() && patch.after_gate.is_some(),
        gate_worsened,
        intent_caused_gate_failure,
        baseline_triggers: signs
            .into_iter()
            .filter_map(|(holds, trigger)| (baseline_moved && holds).then_some(trigger))
            .collect(),
    }
}

fn has_source(changed: &Entries) -> bool {
    changed.iter().any(|path| matches!(classify(path.as_bytes()), FileClass::Source(_)))
}

/// What counts as inside a scope for attribution: literal, or by the rule *fnmatch*; not by *prefix*.
struct Inside<'a> {
    scope: &'a IntentScope,
    patterns: Patterns,
}

impl<'a> Inside<'a> {
    fn new(scope: &'a IntentScope) -> Self {
        Self { scope, patterns: Patterns::new(scope.entries()) }
    }

    fn holds(&self, path: &RepoPath) -> bool {
        let name = path.as_bytes();
        let listed = self.scope.allowed_files.contains(name) || self.scope.allowed_related.contains(name);
        listed || self.patterns.matches(path)
    }
}

/// What is the intent's, and what is external.
type Partition = (BTreeSet<String>, BTreeSet<String>);

/// Splits the regressions. An id that repeats counts with all its paths.
fn partition_regressions(delta: &StructuralDelta, after: &Run, inside: Option<&Inside<'_>>) -> Partition {
    let Some(inside) = inside else { return (delta.regressions.clone(), BTreeSet::new()) };
    let is_ours =
        |finding: &Finding| finding.paths.is_empty() || finding.paths.iter().any(|path| inside.holds(path));
    let ours: BTreeSet<String> = after
        .findings
        .iter()
        .filter(|finding| delta.regressions.contains(&finding.id) && is_ours(finding))
        .map(|finding| finding.id.clone())
        .collect();
    let external = delta.regressions.difference(&ours).cloned().collect();
    (ours, external)
}

fn partition_worsened(worsened: &[WorsenedSymbol], inside: Option<&Inside<'_>>) -> Partition {
    let is_ours = |worsened: &WorsenedSymbol| match (inside, &worsened.path) {
        (Some(inside), Some(path)) => inside.holds(path),
        (None, _) | (_, None) => true,
    };
    let (mut ours, mut external) = (BTreeSet::new(), BTreeSet::new());
    for symbol in worsened {
        if is_ours(symbol) { &mut ours } else { &mut external }.insert(symbol.symbol.clone());
    }
    (ours, external)
}
