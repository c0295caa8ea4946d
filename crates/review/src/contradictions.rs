//! Contradictions of the ledger, and the decision which side stands.

use probity_api::ledger::{ItemListAnswer, LedgerItem, ProposalFile, ProposeAnswer, ProposeRequest};
use probity_core::{Digest, ReasonCode, json};
use probity_knowledge::ledger::{self, ItemFilter};
use probity_ledger::VerdictKind;
use probity_workspace::{ServiceError, Workspace};

/// Two items that contradict each other, as a person is shown them.
#[derive(Debug, Clone)]
pub struct LedgerContradiction {
    pub keep: LedgerItem,
    pub drop: LedgerItem,
    /// The digest of what is shown: a decision names it.
    pub shown: Digest,
}

/// Which side of a contradiction stands.
#[derive(Debug, Clone)]
pub struct ContradictionRequest {
    /// The handle of the item that stays.
    pub keep: String,
    /// The handle of the item that it replaces.
    pub drop: String,
    pub by: String,
    pub why: String,
    /// The digest of what the person was shown.
    pub shown: Digest,
}

/// Finds an open contradiction, for a person who wants one side of it to stand.
pub fn contradiction(
    workspace: &Workspace,
    keep: &str,
    drop: &str,
) -> Result<LedgerContradiction, ServiceError> {
    let listed = ledger::show(workspace, &ItemFilter::default())?;
    let is_it = |pair: &&[String; 2]| {
        pair.iter().any(|handle| handle == keep) && pair.iter().any(|handle| handle == drop) && keep != drop
    };
    let found = listed.contradictions.iter().find(is_it);
    let sides = found.and_then(|_| item(&listed, keep).zip(item(&listed, drop)));
    let (keep, drop) = sides.ok_or_else(|| {
        let detail = format!("`{keep}` and `{drop}` do not contradict each other now");
        ServiceError::refused(ReasonCode::DecisionTooLate, detail)
    })?;
    let facts = |item: &LedgerItem| (item.handle.clone(), item.summary.clone(), item.last_seq.get());
    let shown = Digest::of(&json::canonical_of(&(facts(&keep), facts(&drop))));
    Ok(LedgerContradiction { keep, drop, shown })
}

fn item(listed: &ItemListAnswer, handle: &str) -> Option<LedgerItem> {
    listed.items.iter().find(|item| item.handle == handle).cloned()
}

/// Returns the candidate delta by which one item replaces another, as the ledger reads it.
pub fn superseding_delta(keep: &str, drop: &str, reason: &str) -> serde_json::Value {
    serde_json::json!({ "kind": "item_superseded", "target": drop, "reason": reason, "by": keep })
}

/// Replaces one side of a contradiction by the other, as a proposal of the person who decides.
pub fn settle_contradiction(
    workspace: &Workspace,
    request: &ContradictionRequest,
) -> Result<ProposeAnswer, ServiceError> {
    probity_evidence::check_reason(&request.why)
        .map_err(|error| ServiceError::refused(error.reason(), error.to_string()))?;
    let found = contradiction(workspace, &request.keep, &request.drop)?;
    if found.shown != request.shown {
        let detail = "the items are not what you were shown: somebody changed them since".to_owned();
        return Err(ServiceError::refused(ReasonCode::DecisionTooLate, detail));
    }
    let delta = superseding_delta(&request.keep, &request.drop, &request.why);
    let proposal = ProposalFile { deltas: vec![delta.into()], ..ProposalFile::default() };
    let answer = ledger::propose(
        workspace,
        &ProposeRequest {
            author: request.by.clone(),
            said: Some(request.why.clone()),
            proposal,
            ..ProposeRequest::default()
        },
    )?;
    match answer.outcomes.first() {
        Some(outcome) if outcome.outcome == VerdictKind::Rejected => {
            let why = outcome.message.clone().unwrap_or_default();
            let code = outcome.code.map(|code| code.to_string()).unwrap_or_default();
            Err(ServiceError::BadInput(format!("the ledger refuses it: {why} ({code})")))
        }
        _ => Ok(answer),
    }
}
