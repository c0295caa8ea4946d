//! Builds the answer of a finish.

use crate::finish_evidence::FinishEvidence;
use probity_api::KeptPart;
use probity_api::change::{
    ChangeEnforcement, ChangedPath, CommittedElsewhere, Coordination, ExternalChanges, FailedGate,
    FinishAnswer, FinishHygieneAnswer, FinishReceipt, FinishReview, FinishSummary, HealthAdvisory,
    OverlappingIntent, PatchTrail,
};
use probity_api::quality::{CheckedClaims, FinishVerification};
use probity_contract::finish::FinishNextStep;
use probity_contract::{ContractReason, FinishStatus};
use probity_core::bytes::shell_word;
use probity_intents::registry::{Intent, OwnerNotice};
use probity_intents::{LackingWork, ScopeCheck, ScopeEntry};
use probity_paths::RepoPath;

#[derive(Default)]
pub(super) struct FinishReportBuilder {
    pub(super) hygiene: Option<FinishHygieneAnswer>,
    pub(super) scope_check: Option<ScopeCheck>,
    pub(super) verification: Option<KeptPart<FinishVerification>>,
    pub(super) trail: Option<PatchTrail>,
    pub(super) claims: Option<KeptPart<CheckedClaims>>,
    pub(super) receipt: Option<FinishReceipt>,
    pub(super) receipt_error: Option<String>,
    pub(super) advisory: Option<HealthAdvisory>,
    pub(super) changes: Vec<ChangedPath>,
    pub(super) external: Option<ExternalChanges>,
    pub(super) committed_outside: Vec<RepoPath>,
    pub(super) committed_elsewhere: Vec<CommittedElsewhere>,
    pub(super) summary: Option<FinishSummary>,
    pub(super) failed_gates: Vec<FailedGate>,
    pub(super) skipped_gates: Vec<String>,
    pub(super) review: FinishReview,
    pub(super) coordination: Option<Coordination>,
    pub(super) overlaps: Vec<OverlappingIntent>,
    pub(super) base_moved: Vec<LackingWork>,
}

impl FinishReportBuilder {
    pub(super) fn answer(
        self,
        intent: &Intent,
        evidence: &FinishEvidence,
        status: FinishStatus,
        notices: Vec<OwnerNotice>,
    ) -> FinishAnswer {
        FinishAnswer {
            intent_id: intent.id.clone(),
            status: status.status,
            reason: status.reason,
            next_step: status.next_step,
            message: match &self.scope_check {
                Some(check) if status.next_step == Some(FinishNextStep::RevertOrWidenScope) => {
                    violation(intent, check, evidence)
                }
                _ if status.reason == Some(ContractReason::BaseMoved) => base_moved(&self.base_moved),
                _ if status.reason == Some(ContractReason::GateFailures) && !self.failed_gates.is_empty() => {
                    gate_failure(&self.failed_gates)
                }
                _ => with_skipped_gates(
                    message(intent, &status, self.external.is_some()),
                    &status,
                    &self.skipped_gates,
                ),
            },
            commit_command: None,
            user_action_required: !status.intent_cleared && status.next_step.is_some(),
            intent_cleared: status.intent_cleared,
            idempotent_replay: false,
            not_reached: status.not_reached,
            workspace_hygiene_after: self.hygiene,
            scope_check: self.scope_check,
            verification: self.verification,
            failed_gates: self.failed_gates,
            skipped_gates: self.skipped_gates,
            patch_trail: self.trail,
            claims: self.claims,
            receipt: self.receipt,
            receipt_error: self.receipt_error,
            changes: self.changes,
            external_changes: self.external,
            committed_outside_scope: self.committed_outside,
            committed_elsewhere: self.committed_elsewhere,
            health_regression_advisory: self.advisory,
            summary: self.summary,
            notices,
            // Set by the finish when everything else is known.
            enforcement: ChangeEnforcement::default(),
            unproven_programs: Vec::new(),
            coordination: self.coordination,
            overlaps: self.overlaps,
            base_moved: self.base_moved,
            landing: None,
            review: self.review,
        }
    }
}

/// Says whose work landed under the change, and what to do.
fn base_moved(moved: &[LackingWork]) -> String {
    let words: Vec<String> = moved.iter().map(crate::start::lacking_words).collect();
    format!("{}: {}", words.join("; "), ContractReason::BaseMoved.next_step())
}

/// Says first that an accepted change was not judged by its gates.
fn with_skipped_gates(message: String, status: &FinishStatus, skipped: &[String]) -> String {
    if skipped.is_empty() || !status.status.is_accepted() {
        return message;
    }
    let (what, names) = (if skipped.len() == 1 { "gate" } else { "gates" }, skipped.join("`, `"));
    format!("{what} `{names}` did not run, as `--skip-gates` asked; {message}")
}

fn gate_failure(failed: &[FailedGate]) -> String {
    let ids = |started: bool| -> Vec<String> {
        let meant = failed.iter().filter(|gate| gate.required && gate.started == started);
        meant.map(|gate| format!("`{}`", gate.id)).collect()
    };
    let mut words = Vec::new();
    match ids(true).as_slice() {
        [] => {}
        [only] => words.push(format!("gate {only} failed: fix what makes it fail")),
        several => words.push(format!("gates {} failed: fix what makes them fail", several.join(", "))),
    }
    // Not the fault of the change, but unverified is not passed.
    match ids(false).as_slice() {
        [] => {}
        [only] => words.push(format!(
            "gate {only} could not start: install its program, or correct its `run` in the policy"
        )),
        several => words.push(format!(
            "gates {} could not start: install their programs, or correct their `run` in the policy",
            several.join(", ")
        )),
    }
    format!("{}, then finish again", words.join("; "))
}

const MAX_NAMED_PATHS: usize = 5;

/// Says what was changed against the scope, why it counts as this change, and what to do.
fn violation(intent: &Intent, check: &ScopeCheck, evidence: &FinishEvidence) -> String {
    let name = |entries: &mut dyn Iterator<Item = &ScopeEntry>| {
        let all: Vec<String> = entries.map(|entry| format!("`{entry}`")).collect();
        let named = all.iter().take(MAX_NAMED_PATHS).cloned().collect::<Vec<_>>().join(", ");
        match all.len().saturating_sub(MAX_NAMED_PATHS) {
            0 => named,
            more => format!("{named} and {more} more"),
        }
    };
    let is_below =
        |entry: &&ScopeEntry| intent.scope.entries().any(|declared| declared.covers(entry.as_bytes()));
    let mut words = Vec::new();
    if !check.forbidden_touched.is_empty() {
        words.push(format!("{}: the intent forbids it", name(&mut check.forbidden_touched.iter())));
    }
    let undeclared =
        || check.unexpected_files.iter().filter(|entry| !check.forbidden_touched.contains(*entry));
    if undeclared().any(|entry| is_below(&entry)) {
        let below = name(&mut undeclared().filter(is_below));
        words.push(format!("{below}: a directory was declared, which does not cover the files below it"));
    }
    if undeclared().any(|entry| !is_below(&entry)) {
        let outside = name(&mut undeclared().filter(|entry| !is_below(entry)));
        let why = match evidence {
            FinishEvidence::ChangedFiles(_) => "listed as changed by this finish".to_owned(),
            FinishEvidence::DiffRef(revision) => {
                format!("different from `{revision}`, which this finish gave as its evidence")
            }
            FinishEvidence::Observed => "changed since the start".to_owned(),
        };
        words.push(format!("{outside}: not declared, and {why}"));
    }
    let first = check.unexpected_files.iter().chain(&check.forbidden_touched).next();
    let path = first.map_or_else(String::new, |entry| shell_word(entry.as_bytes()));
    format!(
        "{}. Revert it; or leave it out of the evidence if it is not yours; or widen the scope: `probity amend --intent {} \
         --add {path} --why …`",
        words.join("; "),
        intent.id
    )
}

fn message(intent: &Intent, status: &FinishStatus, has_external: bool) -> String {
    let words = match status.next_step {
        Some(FinishNextStep::PromoteThenFinish) => {
            let id = &intent.id;
            return format!(
                "it waits: `probity intent promote {id}` when it is your turn, edit, then finish"
            );
        }
        Some(FinishNextStep::ListMissingEvidence) => {
            "changed paths of the scope are not in the evidence: list every path that was created, modified or deleted"
        }
        Some(FinishNextStep::CoordinateWithOwner) => {
            "another live intent holds changed paths of this scope: coordinate with its owner"
        }
        Some(FinishNextStep::ReconcileUnscopedDirty) => {
            "paths outside the scope changed since the start and nobody claims them: revert them, or widen the scope"
        }
        Some(FinishNextStep::AnalyzeThenStart) => {
            "the analysis that the change started from no longer applies: run `probity analyze`, then start again"
        }
        Some(FinishNextStep::RevertOrWidenScope) => {
            "paths were changed that the intent does not allow: revert them, or widen the scope with `probity amend`"
        }
        Some(_) if status.reason == Some(ContractReason::StartRecordMissing) => {
            ContractReason::StartRecordMissing.next_step()
        }
        Some(_) if status.reason == Some(ContractReason::SkipGatesNotAllowed) => {
            ContractReason::SkipGatesNotAllowed.next_step()
        }
        Some(_) if status.reason == Some(ContractReason::NoBeforeRun) => {
            "the stored run that the change started from is gone or damaged: clear the intent with `probity intent \
             clear`, and start again"
        }
        Some(FinishNextStep::AnalyzeThenFinish | FinishNextStep::FixOrWidenScope)
            if let Some(reason) = status.reason.filter(|reason| reason.is_from_strictness()) =>
        {
            reason.next_step()
        }
        Some(FinishNextStep::RebaseThenFinish) => ContractReason::BaseMoved.next_step(),
        Some(FinishNextStep::AnalyzeThenFinish) => {
            "there is no verdict yet: run `probity analyze`, then finish again"
        }
        Some(FinishNextStep::FixOrWidenScope) => {
            "the change makes the code in its scope worse: fix what is listed, then finish again"
        }
        Some(FinishNextStep::RetryReceipt) => "there is no receipt yet: finish again",
        Some(FinishNextStep::ClearIntent) => "the claim is kept: clear the intent when you are done",
        Some(FinishNextStep::ReportExternalChanges) if !has_external => {
            "files outside the scope got worse since the start: mention them in your report"
        }
        Some(FinishNextStep::ReportExternalChanges) => {
            "mention the uncommitted changes outside the scope in your report"
        }
        None | Some(FinishNextStep::CommitChange) => "the claim is released",
    };
    words.to_owned()
}
