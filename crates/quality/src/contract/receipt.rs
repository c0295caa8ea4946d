//! Builds a receipt from a verdict and the circumstances that the verdict does not know.

use super::receipts::{ReceiptPlace, ReceiptStore, StoredReceipt};
use super::{ContractResult, TreeVerification};
use probity_contract::receipt::{ChangeEnforcement, DeltaEntry, ReceiptInput, ReceiptIntent, receipt};
use probity_intents::{FinishHygiene, IntentId, Timestamp};
use probity_workspace::{ServiceError, Workspace, clock};
use serde_json::Value;

#[derive(Debug, Clone, Copy)]
pub struct ReceiptContext<'a> {
    /// When the change was finished.
    pub at: Timestamp,
    pub intent: Option<&'a ReceiptIntent>,
    /// D with the content of both sides.
    pub delta: &'a [DeltaEntry],
    /// The attribution of uncommitted changes, if it was determined.
    pub hygiene: Option<&'a FinishHygiene>,
    /// The health in the trusted baseline.
    pub baseline_health: Option<i64>,
    pub guard: ChangeEnforcement,
    /// Programs that the session ran and whose writes its hook could not see.
    pub unproven_programs: &'a [String],
}

impl ContractResult {
    /// Builds the receipt that comes after `place`.
    pub fn receipt(&self, circumstances: &ReceiptContext<'_>, place: ReceiptPlace) -> Value {
        receipt(&ReceiptInput {
            at: circumstances.at,
            intent: circumstances.intent,
            before: self.before.as_ref(),
            after: self.after.as_ref(),
            delta: circumstances.delta,
            hygiene: circumstances.hygiene,
            scope_check: self.scope_check.as_ref(),
            verdict: &self.verdict,
            outcome: &self.outcome,
            gates: &self.gates,
            claims: &self.claims,
            judgment: &self.judgment,
            unchecked_sentences: self.unchecked_sentences.len(),
            baseline_health: circumstances.baseline_health,
            guard: circumstances.guard,
            unproven_programs: circumstances.unproven_programs,
            strictness: self.strictness,
            api: self.api.as_ref(),
            new_findings: &self.new_findings(),
            previous: place.previous,
            log: place.log,
        })
    }
}

/// Stores the receipt of a verified tree. Nothing was enforced: the tree was verified afterwards.
pub fn save_receipt(
    workspace: &Workspace,
    verified: &TreeVerification,
) -> Result<StoredReceipt, ServiceError> {
    let intent = verified.scope.as_ref().map(|scope| ReceiptIntent {
        intent_id: IntentId::parse("declared").expect("the word is a valid id"),
        description: verified.revision.as_ref().map_or_else(String::new, |it| format!("changes since {it}")),
        agent: probity_workspace::user_name(),
        scope: scope.clone(),
        amendments: Vec::new(),
        coordination: None,
        line: None,
        overlaps: Vec::new(),
    });
    let circumstances = ReceiptContext {
        at: Timestamp(clock::now_seconds()),
        intent: intent.as_ref(),
        delta: &verified.delta,
        hygiene: None,
        baseline_health: verified.baseline_health(),
        guard: ChangeEnforcement::AfterTheFact,
        unproven_programs: &[],
    };
    ReceiptStore::open(workspace).append(workspace, |place| verified.answer.receipt(&circumstances, place))
}
