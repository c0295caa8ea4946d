//! A finish as an answer says it.

use crate::change::FinishAnswer;
use contract::finish::{FinishNextStep, FinishReason};
use contract::{ContractReason, FinishStatus};
use intent::ScopeCheck;
use intent::registry::{Intent, Notice};
use serde_json::Value;

/// What the steps have made so far.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) hygiene: Option<Value>,
    pub(super) scope_check: Option<ScopeCheck>,
    pub(super) verification: Option<Value>,
    pub(super) trail: Option<Value>,
    pub(super) claims: Option<Value>,
    pub(super) receipt: Option<Value>,
    pub(super) receipt_error: Option<String>,
    pub(super) advisory: Option<Value>,
    pub(super) external: Option<Value>,
    pub(super) summary: Value,
}

impl Parts {
    pub(super) fn answer(self, intent: &Intent, status: FinishStatus, notices: Vec<Notice>) -> FinishAnswer {
        FinishAnswer {
            schema: "probity/finish/v1",
            intent_id: intent.id.clone(),
            status: status.status,
            reason: status.reason,
            next_step: status.next_step,
            message: message(&status),
            user_action_required: !status.intent_cleared && status.next_step.is_some(),
            intent_cleared: status.intent_cleared,
            idempotent_replay: false,
            not_reached: status.not_reached,
            workspace_hygiene_after: self.hygiene,
            scope_check: self.scope_check,
            verification: self.verification,
            patch_trail: self.trail,
            claims: self.claims,
            receipt: self.receipt,
            receipt_error: self.receipt_error,
            external_changes: self.external,
            health_regression_advisory: self.advisory,
            summary: self.summary,
            notices,
            exit_code: status.exit_code,
        }
    }
}

fn message(status: &FinishStatus) -> String {
    let words = match status.next_step {
        Some(FinishNextStep::PromoteThenFinish) => "the intent waits: promote it, edit, then finish",
        Some(FinishNextStep::ListMissingEvidence) => {
            "dirty paths of the scope are not in the evidence: list every path that was created, modified or deleted"
        }
        Some(FinishNextStep::CoordinateWithOwner) => {
            "another live intent holds dirty paths of this scope: coordinate with its owner"
        }
        Some(FinishNextStep::ReconcileUnscopedDirty) => {
            "paths outside the scope changed since the start and nobody claims them: revert them, or widen the scope"
        }
        Some(FinishNextStep::AnalyzeThenStart) => {
            "the ground of the intent is gone: analyse, then start anew"
        }
        Some(FinishNextStep::RevertOrWidenScope) => {
            "paths were changed that the intent does not allow: revert them, or widen the scope with `probity amend`"
        }
        Some(_) if status.reason == Some(FinishReason::Contract(ContractReason::NoBeforeRun)) => {
            "the stored run that the change started from is gone or damaged: clear the intent with `probity intent \
             clear`, and start again"
        }
        Some(FinishNextStep::AnalyzeThenFinish) => {
            "there is no verdict yet: analyse the tree, then finish again"
        }
        Some(FinishNextStep::FixOrWidenScope) => {
            "the change makes its scope worse: mend it, or widen the scope"
        }
        Some(FinishNextStep::RetryReceipt) => "accepted, but without a receipt: finish again",
        Some(FinishNextStep::ClearIntent) => {
            "accepted; the claim is kept: clear the intent when you are done"
        }
        Some(FinishNextStep::ReportExternalChanges) => {
            "accepted; other paths are dirty outside the scope: name them in the report"
        }
        None => "accepted; the claim is free again",
    };
    words.to_owned()
}
