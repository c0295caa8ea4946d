//! The receipt of a finished change: what was declared, what happened, what was checked, and what was not.
//!
//! A document `probity/receipt/v1`, which [`probity_evidence::receipt`] checks offline. It contains facts;
//! only its decision points ask for human judgment.

use crate::claims::{
    ApiDelta, CheckedClaim, Claim, ClaimJudgment, ClaimObjection, ClaimReport, ClaimVerdict, GateFact,
    GateOutcome,
};
use crate::outputs::NewFinding;
use crate::profile::{CheckOutcome, CheckResult, ContractCheck, ProfileReport};
use crate::status::ContractReason;
use crate::strictness::StrictnessOutcome;
use crate::verify::{ContractVerdict, EvaluationOutcome, VerdictFacts};
use probity_core::merkle::TreeHead;
use probity_core::{Digest, json};
use probity_evidence::EnforcementLevel;
use probity_evidence::receipt::RECEIPT_SCHEMA;
use probity_intents::hygiene::{FinishBlockReason, SnapshotStatus};
use probity_intents::registry::{EventSeq, IntentAmendment};
use probity_intents::{
    FinishHygiene, ForeignDirtyOverlap, IntentId, IntentScope, ScopeCheck, ScopeCheckStatus, ScopeEntrySet,
    Timestamp,
};
use probity_paths::RepoPath;
use probity_policy::Strictness;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;

/// A reference to an analysis run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunRef {
    pub run_id: String,
    pub report_digest: Option<String>,
    pub health: Option<i64>,
}

/// A changed path with its content before and after; `None` if it did not exist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DeltaEntry {
    pub path: RepoPath,
    pub before: Option<Digest>,
    pub after: Option<Digest>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiptIntent {
    pub intent_id: IntentId,
    /// The purpose of the change.
    pub description: String,
    /// The owner's name for people.
    pub agent: String,
    /// What it was allowed to touch, including amendments.
    pub scope: IntentScope,
    pub amendments: Vec<IntentAmendment>,
    /// Who was asked before the change began; `None` outside of a team.
    pub coordination: Option<Coordination>,
    /// The branch that the change is for, in a team.
    pub line: Option<String>,
    /// Intents of other trees that held some of the same paths at the same time, by announcement.
    pub overlaps: Vec<OverlappingIntent>,
}

probity_core::word_enum! {
    /// Whether a change of a team began with a claim that binds the others.
    pub enum Coordination {
        /// The claim was granted by the store of the team.
        Team = "team",
        /// The store of the team was not asked: nobody else knew of the change.
        None = "none",
    }
}

/// An intent of another tree that held some of the same paths.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OverlappingIntent {
    pub intent_id: IntentId,
    /// The name of its owner for people.
    pub agent: String,
    /// The machine of its owner, as it calls itself.
    pub host: String,
}

probity_core::word_enum! {
    /// What kept an agent to its scope while it worked, from the weakest to the strongest. None of them is proof: the
    /// verdict comes from the tree.
    #[derive(Default)]
    pub enum ChangeEnforcement {
        /// Nothing: the tree was judged afterwards.
        #[default]
        AfterTheFact = "after_the_fact",
        /// The hook of the session was reconfigured while it worked.
        HookBroken = "hook_broken",
        /// The hook of the session stood from its first event to the finish.
        HookHeld = "hook_held",
        /// The hook is in settings that the agent cannot change.
        ManagedHook = "managed_hook",
    }
}

impl ChangeEnforcement {
    /// Returns the level of enforcement. A hook that was reconfigured enforces nothing.
    pub const fn level(self) -> EnforcementLevel {
        match self {
            Self::AfterTheFact | Self::HookBroken => EnforcementLevel::Observe,
            Self::HookHeld | Self::ManagedHook => EnforcementLevel::Hook,
        }
    }
}

/// The input of a receipt.
#[derive(Debug, Clone, Copy)]
pub struct ReceiptInput<'a> {
    /// When the change was finished.
    pub at: Timestamp,
    pub intent: Option<&'a ReceiptIntent>,
    pub before: Option<&'a RunRef>,
    pub after: Option<&'a RunRef>,
    /// The changes (D).
    pub delta: &'a [DeltaEntry],
    pub hygiene: Option<&'a FinishHygiene>,
    pub scope_check: Option<&'a ScopeCheck>,
    pub verdict: &'a ContractVerdict,
    pub outcome: &'a StrictnessOutcome,
    pub gates: &'a [GateFact],
    pub claims: &'a [CheckedClaim],
    pub judgment: &'a ClaimJudgment,
    /// Number of sentences in the review text without a checkable claim.
    pub unchecked_sentences: usize,
    /// Health of the trusted baseline, if there is one.
    pub baseline_health: Option<i64>,
    /// What kept the agent to its scope while it worked.
    pub guard: ChangeEnforcement,
    /// Programs that the session ran and whose writes its hook could not see; they were judged from the tree.
    pub unproven_programs: &'a [String],
    pub strictness: Strictness,
    /// Changes of the public interface, if the runs were compared.
    pub api: Option<&'a ApiDelta>,
    /// New findings: those that count against the change first, then by severity.
    pub new_findings: &'a [NewFinding],
    /// Digest of the preceding receipt in this repository.
    pub previous: Option<Digest>,
    /// Head of the log before this receipt.
    pub log: Option<TreeHead>,
}

/// Something that a person should look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DecisionPoint {
    /// `D-1`, `D-2`, …
    pub id: String,
    pub kind: DecisionKind,
    pub detail: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words say it")]
pub enum DecisionKind {
    ScopeAmended,
    ScopeExpanded,
    LetThrough,
    HealthLost,
    ExternalRegressions,
    ExternalChanges,
    FalseClaim,
    UnprovenClaim,
    GateNotRun,
    ApiBroken,
    PolicyLoosened,
}

/// A receipt without its digest.
#[derive(Serialize)]
struct ReceiptBody<'a> {
    schema: &'static str,
    at: Timestamp,
    intent: Option<IntentDocument<'a>>,
    before: Option<&'a RunRef>,
    after: Option<&'a RunRef>,
    delta: &'a [DeltaEntry],
    hygiene: Option<HygieneDocument<'a>>,
    scope_check: Option<&'a ScopeCheck>,
    profile: ProfileReport,
    verdict: VerdictFacts,
    outcome: &'a StrictnessOutcome,
    strictness: Strictness,
    checks: Vec<CheckResult>,
    gates: &'a [GateFact],
    claims: ClaimsDocument<'a>,
    decision_points: Vec<DecisionPoint>,
    health: HealthDocument,
    api: Option<&'a ApiDelta>,
    new_findings: &'a [NewFinding],
    new_findings_left_out: usize,
    enforcement: EnforcementLevel,
    guard: ChangeEnforcement,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    unproven_programs: &'a [String],
    previous: Option<Digest>,
    #[serde(skip_serializing_if = "Option::is_none")]
    log: Option<TreeHead>,
}

/// A receipt. Its digest covers everything else in it.
#[derive(Serialize)]
struct ReceiptDocument<'a> {
    #[serde(flatten)]
    body: &'a ReceiptBody<'a>,
    digest: Digest,
}

/// The intent without what only its owner may know: of those who amended it, the name people call them by.
#[derive(Serialize)]
struct IntentDocument<'a> {
    intent_id: &'a IntentId,
    description: &'a str,
    agent: &'a str,
    scope: &'a IntentScope,
    amendments: Vec<AmendmentDocument<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    coordination: Option<Coordination>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    overlaps: &'a [OverlappingIntent],
}

#[derive(Serialize)]
struct AmendmentDocument<'a> {
    seq: EventSeq,
    at: Timestamp,
    by: &'a str,
    why: &'a str,
    allowed_files: &'a ScopeEntrySet,
    allowed_related: &'a ScopeEntrySet,
}

#[derive(Serialize)]
struct HygieneDocument<'a> {
    finish_block_reason: Option<FinishBlockReason>,
    dirty_snapshot_status: SnapshotStatus,
    outside_scope: Vec<&'a RepoPath>,
    unattributed: Vec<&'a RepoPath>,
    foreign_dirty_overlaps: &'a BTreeSet<ForeignDirtyOverlap>,
}

#[derive(Serialize)]
struct ClaimsDocument<'a> {
    checked: Vec<ClaimReport>,
    violations: &'a BTreeSet<ClaimObjection>,
    warnings: &'a BTreeSet<ClaimObjection>,
    not_made: Vec<&'static str>,
    unchecked_sentences: usize,
}

#[derive(Serialize)]
struct HealthDocument {
    score: Option<i64>,
    delta: Option<i64>,
    patch_health_delta: Option<i64>,
}

/// Makes a receipt.
pub fn receipt(input: &ReceiptInput<'_>) -> Value {
    let is_made = |word: &&str| input.claims.iter().any(|it| it.claim.as_str() == *word);
    let health = input.after.and_then(|run| run.health);
    let checks = check_results(input.verdict, &input.outcome.let_through, input.scope_check, input.gates);
    let body = ReceiptBody {
        schema: RECEIPT_SCHEMA,
        at: input.at,
        intent: input.intent.map(intent_document),
        before: input.before,
        after: input.after,
        delta: input.delta,
        hygiene: input.hygiene.map(|hygiene| HygieneDocument {
            finish_block_reason: hygiene.finish_block_reason,
            dirty_snapshot_status: hygiene.dirty_snapshot_status,
            outside_scope: hygiene.outside_scope(),
            unattributed: hygiene.unattributed(),
            foreign_dirty_overlaps: &hygiene.foreign_dirty_overlaps,
        }),
        scope_check: input.scope_check,
        profile: input.verdict.profile.with_results(&checks),
        verdict: input.verdict.facts(),
        outcome: input.outcome,
        strictness: input.strictness,
        checks,
        gates: input.gates,
        claims: ClaimsDocument {
            checked: input.claims.iter().map(CheckedClaim::report).collect(),
            violations: &input.judgment.violations,
            warnings: &input.judgment.warnings,
            not_made: Claim::WORDS.into_iter().filter(|word| !is_made(word)).collect(),
            unchecked_sentences: input.unchecked_sentences,
        },
        decision_points: decision_points(input),
        health: HealthDocument {
            score: health,
            delta: health.zip(input.baseline_health).map(|(now, then)| now.saturating_sub(then)),
            patch_health_delta: input.verdict.evaluation().and_then(|it| it.structural_delta.health_delta),
        },
        api: input.api,
        new_findings: shown_findings(input.new_findings),
        new_findings_left_out: input.new_findings.len().saturating_sub(MAX_SHOWN_FINDINGS),
        enforcement: input.guard.level(),
        guard: input.guard,
        unproven_programs: input.unproven_programs,
        previous: input.previous,
        log: input.log,
    };
    json::to_value(&ReceiptDocument { digest: Digest::of(&json::canonical_of(&body)), body: &body })
}

/// Maximum number of new findings that a document describes. Their ids are always listed in full.
pub const MAX_SHOWN_FINDINGS: usize = 200;

pub fn shown_findings(findings: &[NewFinding]) -> &[NewFinding] {
    &findings[..findings.len().min(MAX_SHOWN_FINDINGS)]
}

fn intent_document(intent: &ReceiptIntent) -> IntentDocument<'_> {
    let amendments = intent.amendments.iter().map(|amendment| AmendmentDocument {
        seq: amendment.seq,
        at: amendment.at,
        by: &amendment.by.label,
        why: &amendment.why,
        allowed_files: &amendment.allowed_files,
        allowed_related: &amendment.allowed_related,
    });
    IntentDocument {
        intent_id: &intent.intent_id,
        description: &intent.description,
        agent: &intent.agent,
        scope: &intent.scope,
        amendments: amendments.collect(),
        coordination: intent.coordination,
        line: intent.line.as_deref(),
        overlaps: &intent.overlaps,
    }
}

/// Returns the outcome of every check. All other lists of checks are derived from this one.
///
/// What the policy lets through is reported, not failed.
pub fn check_results(
    verdict: &ContractVerdict,
    let_through: &[ContractReason],
    scope_check: Option<&ScopeCheck>,
    policy_gates: &[GateFact],
) -> Vec<CheckResult> {
    let violated = |reason| verdict.contract_violations.contains(&reason);
    let failed_if = |failed| if failed { CheckOutcome::Failed } else { CheckOutcome::Passed };
    let scope = |failed: fn(&ScopeCheck) -> bool| {
        scope_check.map_or(CheckOutcome::NotApplicable, |check| failed_if(failed(check)))
    };
    let structural =
        |judge: &dyn Fn(&crate::verify::PatchEvaluation) -> CheckOutcome| match &verdict.evaluated {
            EvaluationOutcome::Fully(evaluation) => judge(evaluation),
            EvaluationOutcome::NotApplicable => CheckOutcome::NotApplicable,
            EvaluationOutcome::Nothing if !verdict.profile.after_run_required => CheckOutcome::NotApplicable,
            EvaluationOutcome::Nothing => CheckOutcome::NotReached,
        };
    let gates = |it: &crate::verify::PatchEvaluation| match (it.gates_compared, it.intent_caused_gate_failure)
    {
        (false, _) => CheckOutcome::NotApplicable,
        (true, failed) => failed_if(failed),
    };
    let reported_if_passed = |outcome, reason| match outcome {
        CheckOutcome::Failed if let_through.contains(&reason) => CheckOutcome::Reported,
        other => other,
    };
    let new_findings = |it: &crate::verify::PatchEvaluation| {
        reported_if_passed(
            failed_if(!it.intent_regressions.is_empty()),
            ContractReason::StructuralRegressions,
        )
    };
    let worsened = |empty| if empty { CheckOutcome::Passed } else { CheckOutcome::Reported };
    let results = [
        (ContractCheck::ProfileClassification, failed_if(violated(ContractReason::StateArtifactMutation))),
        (ContractCheck::ScopeCheck, scope(|check| !check.unexpected_files.is_empty())),
        (ContractCheck::ForbiddenPaths, scope(|check| !check.forbidden_touched.is_empty())),
        (ContractCheck::StructuralDelta, structural(&new_findings)),
        (ContractCheck::GateComparison, structural(&gates)),
        (ContractCheck::WorsenedSymbols, structural(&|it| worsened(it.intent_worsened.is_empty()))),
        (ContractCheck::PolicyGates, of_gates(policy_gates)),
    ];
    results.map(|(check, outcome)| CheckResult { check, outcome }).to_vec()
}

/// Summarizes the policy's gates by the worst result.
fn of_gates(gates: &[GateFact]) -> CheckOutcome {
    let failed =
        |required| gates.iter().any(|it| it.result == GateOutcome::Failed && it.required == required);
    if gates.is_empty() {
        CheckOutcome::NotApplicable
    } else if failed(true) {
        CheckOutcome::Failed
    } else if gates.iter().any(GateFact::is_open) {
        CheckOutcome::Skipped
    } else if failed(false) {
        CheckOutcome::Reported
    } else {
        CheckOutcome::Passed
    }
}

/// Returns what a person should look at, in a fixed order.
fn decision_points(input: &ReceiptInput<'_>) -> Vec<DecisionPoint> {
    let mut found: Vec<(DecisionKind, String)> = Vec::new();
    for amendment in input.intent.iter().flat_map(|intent| &intent.amendments) {
        found.push((DecisionKind::ScopeAmended, amendment.why.clone()));
    }
    if let Some(check) = input.scope_check.filter(|check| check.status == ScopeCheckStatus::Expanded) {
        found.push((DecisionKind::ScopeExpanded, comma_separated(check.expanded_files.iter())));
    }
    // Describe a finding by its location and message; its id means nothing to a reader.
    let finding = |id: &String| {
        let known = input.new_findings.iter().find(|finding| finding.id == *id);
        known.map_or_else(|| id.clone(), NewFinding::describe)
    };
    for (id, severity) in &input.outcome.findings_let_through {
        found.push((DecisionKind::LetThrough, format!("{severity} {}", finding(id))));
    }
    if input.outcome.let_through.contains(&ContractReason::PolicyLoosened) {
        found.push((DecisionKind::PolicyLoosened, ContractReason::PolicyLoosened.meaning().to_owned()));
    }
    if let Some(delta) = input.verdict.health_regression_advisory() {
        found.push((DecisionKind::HealthLost, delta.to_string()));
    }
    if let Some(evaluation) = input.verdict.evaluation().filter(|it| !it.external_regressions.is_empty()) {
        found.push((
            DecisionKind::ExternalRegressions,
            comma_separated(evaluation.external_regressions.iter().map(finding)),
        ));
    }
    let outside = input.hygiene.map(FinishHygiene::outside_scope).unwrap_or_default();
    if !outside.is_empty() {
        found.push((DecisionKind::ExternalChanges, comma_separated(outside.iter())));
    }
    for claim in input.claims {
        let kind = match claim.verdict {
            ClaimVerdict::True => continue,
            ClaimVerdict::False => DecisionKind::FalseClaim,
            ClaimVerdict::Unverified => DecisionKind::UnprovenClaim,
        };
        found.push((kind, format!("{}: {}", claim.quote(), claim.objection_summary())));
    }
    for gate in input.gates.iter().filter(|gate| gate.is_open()) {
        found.push((DecisionKind::GateNotRun, gate.id.clone()));
    }
    if let Some(api) = input.api.filter(|api| !api.breaks.is_empty()) {
        found.push((DecisionKind::ApiBroken, comma_separated(api.breaks.iter())));
    }
    let number = |(index, (kind, detail))| DecisionPoint { id: format!("D-{}", index + 1), kind, detail };
    found.into_iter().enumerate().map(number).collect()
}

fn comma_separated(items: impl Iterator<Item = impl ToString>) -> String {
    items.map(|item| item.to_string()).collect::<Vec<_>>().join(", ")
}
