//! The verdict on a patch: did it make things worse within the scope it declared?
//!
//! A pure function of recorded inputs (law 7). Whatever was not evaluated is `None`, never "fine" (law 6).
//! Only regressions in the intent's scope violate; others are reported as external.

use crate::delta::{DeltaVerdict, StructuralDelta, incomparable, structural_delta};
use crate::profile::{FileClass, ProfileReport, VerificationProfile, classify_file, profile};
use crate::run::{ContractFinding, GatePreview, RunFacts, WorsenedSymbol};
use crate::status::{BaselineTrigger, ContractReason, ContractStatus};
use probity_intents::{FnmatchSet, IntentId, IntentScope, ScopeCheckStatus, ScopeEntry, ScopeEntrySet};
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntentState {
    Active,
    Queued,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PatchIntent {
    pub intent_id: IntentId,
    pub status: IntentState,
    /// Digest of the run that it was declared on.
    pub report_digest: Option<String>,
    pub scope: IntentScope,
}

/// The input of a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct VerificationInput {
    pub intent: Option<PatchIntent>,
    pub changed_files: ScopeEntrySet,
    /// `None` without an intent.
    pub scope_check: Option<ScopeCheckStatus>,
    pub before: Option<RunFacts>,
    pub after: Option<RunFacts>,
    /// The id that a run of the current tree would have; `None` if not checked.
    pub tree_run_id: Option<String>,
    /// Symbols that got worse between the runs.
    pub worsened: Vec<WorsenedSymbol>,
    /// What the structural gates say about the before-run.
    pub before_gate: Option<GatePreview>,
    /// What the structural gates say about the after-run.
    pub after_gate: Option<GatePreview>,
}

/// The facts behind a full verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchEvaluation {
    pub structural_delta: StructuralDelta,
    /// New findings in scope, or without a path.
    pub intent_regressions: BTreeSet<String>,
    /// New findings entirely outside the scope.
    pub external_regressions: BTreeSet<String>,
    /// Symbols in scope that got worse.
    pub intent_worsened: BTreeSet<String>,
    /// Symbols outside the scope that got worse.
    pub external_worsened: BTreeSet<String>,
    /// True if the structural gates were evaluated for both runs.
    pub gates_compared: bool,
    /// True if the structural gates passed before and fail now.
    pub gate_worsened: bool,
    /// True if this patch is the cause.
    pub intent_caused_gate_failure: bool,
    /// Signs that the baseline was moved to hide something.
    pub baseline_triggers: BTreeSet<BaselineTrigger>,
}

/// How far the verification got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EvaluationOutcome {
    /// It ended before the runs were compared.
    Nothing,
    /// The patch needs no structural check, and there was no after-run.
    NotApplicable,
    /// The runs were compared.
    Fully(Box<PatchEvaluation>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContractVerdict {
    pub status: ContractStatus,
    /// The reason, unless accepted.
    pub reason: Option<ContractReason>,
    /// Every way in which the patch breaks the contract, in a fixed order.
    pub contract_violations: Vec<ContractReason>,
    pub profile: ProfileReport,
    pub evaluated: EvaluationOutcome,
}

impl ContractVerdict {
    /// Returns the evaluation, if the runs were compared.
    pub fn evaluation(&self) -> Option<&PatchEvaluation> {
        match &self.evaluated {
            EvaluationOutcome::Fully(evaluation) => Some(evaluation),
            EvaluationOutcome::Nothing | EvaluationOutcome::NotApplicable => None,
        }
    }

    /// Returns the health that a patch lost without being violated.
    pub fn health_regression_advisory(&self) -> Option<i64> {
        let delta = self.evaluation()?.structural_delta.health_delta?;
        (self.status != ContractStatus::Violated && delta < 0).then_some(delta)
    }

    /// Returns the verdict in document form: every member, with `None` for what was not evaluated.
    pub fn facts(&self) -> VerdictFacts {
        let evaluation = self.evaluation();
        VerdictFacts {
            status: self.status,
            reason: self.reason,
            structural_delta: match &self.evaluated {
                EvaluationOutcome::Nothing => None,
                EvaluationOutcome::NotApplicable => Some(DeltaSummary {
                    verdict: DeltaVerdict::NotApplicable,
                    health_delta: None,
                    regressions: BTreeSet::new(),
                    improvements: BTreeSet::new(),
                }),
                EvaluationOutcome::Fully(evaluation) => Some(DeltaSummary {
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
    /// The verdict in one word.
    pub status: ContractStatus,
    /// The reason, unless accepted.
    pub reason: Option<ContractReason>,
    /// The difference between the two runs.
    pub structural_delta: Option<DeltaSummary>,
    /// New findings in scope, or without a path.
    pub intent_regressions: Option<BTreeSet<String>>,
    /// New findings entirely outside the scope.
    pub external_regressions: Option<BTreeSet<String>>,
    /// Symbols in scope that got worse.
    pub intent_worsened: Option<BTreeSet<String>>,
    /// Symbols outside the scope that got worse.
    pub external_worsened: Option<BTreeSet<String>>,
    /// True if the structural gates passed before and fail now.
    pub gate_worsened: Option<bool>,
    /// True if this patch is the cause.
    pub intent_caused_gate_failure: Option<bool>,
    /// Signs that the baseline was moved to hide something.
    pub baseline_abuse: Option<BaselineAbuse>,
    /// Every way in which the patch breaks the contract.
    pub contract_violations: Vec<ContractReason>,
    /// The health that the patch lost without being violated.
    pub health_regression_advisory: Option<HealthLoss>,
}

/// The difference between two runs, in a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DeltaSummary {
    /// The difference in one word.
    pub verdict: DeltaVerdict,
    /// Health after minus health before.
    pub health_delta: Option<i64>,
    /// New findings.
    pub regressions: BTreeSet<String>,
    /// Findings that are gone.
    pub improvements: BTreeSet<String>,
}

/// Signs that the baseline was moved to hide something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BaselineAbuse {
    /// True if there are any.
    pub detected: bool,
    /// The signs found.
    pub triggers: BTreeSet<BaselineTrigger>,
}

/// Health that was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HealthLoss {
    /// Health after minus health before, below 0.
    pub health_delta: i64,
}

/// Judges a patch by the decision table of kind `contract` in `conformance/README-intent-contract-ledger.md`.
pub fn verify(patch: &VerificationInput) -> ContractVerdict {
    let profile = profile(patch.changed_files.iter().map(ScopeEntry::as_bytes));
    if let Some((status, reason)) = before_any_run(patch, profile.profile) {
        return early_verdict(status, Some(reason), profile);
    }
    let runs = runs(patch, profile.profile);
    let scope_is_violated = patch.scope_check == Some(ScopeCheckStatus::Violated);
    match runs {
        RunComparability::Comparable(before, after) => full_verdict(patch, before, after, profile),
        _ if scope_is_violated => {
            early_verdict(ContractStatus::Violated, Some(ContractReason::ScopeViolation), profile)
        }
        RunComparability::NotNeeded => early_verdict(ContractStatus::Accepted, None, profile),
        RunComparability::Unusable(reason) => {
            early_verdict(ContractStatus::Unverified, Some(reason), profile)
        }
    }
}

/// Builds a verdict without comparing runs.
fn early_verdict(
    status: ContractStatus,
    reason: Option<ContractReason>,
    profile: ProfileReport,
) -> ContractVerdict {
    ContractVerdict {
        status,
        reason,
        contract_violations: reason.filter(|_| status == ContractStatus::Violated).into_iter().collect(),
        profile,
        evaluated: if status.is_accepted() {
            EvaluationOutcome::NotApplicable
        } else {
            EvaluationOutcome::Nothing
        },
    }
}

/// Rows 1 to 3 of the decision table.
fn before_any_run(
    patch: &VerificationInput,
    profile: VerificationProfile,
) -> Option<(ContractStatus, ContractReason)> {
    let intent = patch.intent.as_ref();
    let declared_elsewhere =
        |before: &RunFacts| intent.is_some_and(|it| it.report_digest != before.report_digest);
    if intent.is_some_and(|intent| intent.status == IntentState::Queued) {
        Some((ContractStatus::Unverified, ContractReason::IntentNotActive))
    } else if profile == VerificationProfile::StateArtifactChange {
        Some((ContractStatus::Violated, ContractReason::StateArtifactMutation))
    } else if patch.before.as_ref().is_some_and(declared_elsewhere) {
        Some((ContractStatus::Expired, ContractReason::ReportDigestMismatch))
    } else {
        None
    }
}

/// Whether the runs of a patch can be compared.
enum RunComparability<'a> {
    Comparable(&'a RunFacts, &'a RunFacts),
    NotNeeded,
    Unusable(ContractReason),
}

/// Rows 5 to 10 of the decision table.
fn runs(patch: &VerificationInput, profile: VerificationProfile) -> RunComparability<'_> {
    let required = profile.after_run_required();
    let Some(before) = &patch.before else { return RunComparability::Unusable(ContractReason::NoBeforeRun) };
    let Some(after) = &patch.after else {
        return match profile {
            VerificationProfile::GovernanceConfig => {
                RunComparability::Unusable(ContractReason::AfterRunRequiredForGovernance)
            }
            _ if required || patch.changed_files.is_empty() => {
                RunComparability::Unusable(ContractReason::NoAfterRun)
            }
            _ => RunComparability::NotNeeded,
        };
    };
    // The tree as it is may have the analysis of its base: a patch of permission bits changes no content.
    let describes_tree = patch.tree_run_id.as_ref() == Some(&after.run_id) && !patch.changed_files.is_empty();
    if required && before.run_id == after.run_id && !describes_tree {
        RunComparability::Unusable(ContractReason::AfterRunNotNew)
    } else if patch.tree_run_id.as_ref().is_some_and(|tree| *tree != after.run_id) {
        RunComparability::Unusable(ContractReason::AfterRunStale)
    } else if !incomparable(before, after).is_empty() {
        RunComparability::Unusable(ContractReason::IncomparableRuns)
    } else {
        RunComparability::Comparable(before, after)
    }
}

/// Row 11 of the decision table: the runs can be compared.
fn full_verdict(
    patch: &VerificationInput,
    before: &RunFacts,
    after: &RunFacts,
    profile: ProfileReport,
) -> ContractVerdict {
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
    ContractVerdict {
        status,
        reason: contract_violations.first().copied(),
        contract_violations,
        profile,
        evaluated: EvaluationOutcome::Fully(Box::new(evaluation)),
    }
}

fn evaluate(
    patch: &VerificationInput,
    before: &RunFacts,
    after: &RunFacts,
    profile: VerificationProfile,
) -> PatchEvaluation {
    let structural_delta = structural_delta(before, after, profile);
    let inside = patch.intent.as_ref().map(|intent| ScopeMatcher::new(&intent.scope));
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
    PatchEvaluation {
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

fn has_source(changed: &ScopeEntrySet) -> bool {
    changed.iter().any(|path| matches!(classify_file(path.as_bytes()), FileClass::Source(_)))
}

/// Decides whether a path is inside a scope for attribution: literally or by the rule *fnmatch*, not by *prefix*.
struct ScopeMatcher<'a> {
    scope: &'a IntentScope,
    patterns: FnmatchSet,
}

impl<'a> ScopeMatcher<'a> {
    fn new(scope: &'a IntentScope) -> Self {
        Self { scope, patterns: FnmatchSet::new(scope.entries()) }
    }

    fn contains(&self, path: &RepoPath) -> bool {
        let name = path.as_bytes();
        let listed = self.scope.allowed_files.contains(name) || self.scope.allowed_related.contains(name);
        listed || self.patterns.matches(path)
    }
}

/// Ids that belong to the intent, and external ones.
type AttributionPartition = (BTreeSet<String>, BTreeSet<String>);

/// Splits the regressions. A repeated id counts with all its paths.
fn partition_regressions(
    delta: &StructuralDelta,
    after: &RunFacts,
    inside: Option<&ScopeMatcher<'_>>,
) -> AttributionPartition {
    let Some(inside) = inside else { return (delta.regressions.clone(), BTreeSet::new()) };
    let is_ours = |finding: &ContractFinding| {
        finding.paths.is_empty() || finding.paths.iter().any(|path| inside.contains(path))
    };
    let ours: BTreeSet<String> = after
        .findings
        .iter()
        .filter(|finding| delta.regressions.contains(&finding.id) && is_ours(finding))
        .map(|finding| finding.id.clone())
        .collect();
    let external = delta.regressions.difference(&ours).cloned().collect();
    (ours, external)
}

fn partition_worsened(
    worsened: &[WorsenedSymbol],
    inside: Option<&ScopeMatcher<'_>>,
) -> AttributionPartition {
    let is_ours = |worsened: &WorsenedSymbol| match (inside, &worsened.path) {
        (Some(inside), Some(path)) => inside.contains(path),
        (None, _) | (_, None) => true,
    };
    let (mut ours, mut external) = (BTreeSet::new(), BTreeSet::new());
    for symbol in worsened {
        if is_ours(symbol) { &mut ours } else { &mut external }.insert(symbol.symbol.clone());
    }
    (ours, external)
}
