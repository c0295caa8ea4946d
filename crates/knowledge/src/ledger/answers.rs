//! The parts that answers share.

use probity_ledger::{Item, Ledger, Outcome, Proposal, RejectCode, Verdict};
use probity_storage::Torn;
use serde::Serialize;
use serde_json::Value;

/// What happened besides what was asked for.
#[derive(Debug, Clone, Default)]
pub struct Notices {
    /// A crash had left something at the end of the log, and it was cut off.
    pub torn: Option<Torn>,
}

impl Notices {
    /// The notices in words.
    pub fn words(&self) -> Vec<String> {
        let torn = |torn: &Torn| {
            let Torn { at, n_bytes, kept } = torn;
            format!(
                "the log ended in {n_bytes} bytes of a write that was never acknowledged (byte {at}); they are kept in {}",
                kept.display()
            )
        };
        self.torn.iter().map(torn).collect()
    }
}

/// What became of one proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OutcomeView {
    /// Its position; `None` in a rehearsal.
    pub seq: Option<u64>,
    /// `accepted`, `merged` or `rejected`.
    pub outcome: &'static str,
    /// The code of a merge or rejection.
    pub code: Option<&'static str>,
    /// The code in words.
    pub message: Option<String>,
    /// The handle of the item.
    pub item: Option<String>,
    /// The id that the engine minted for the item.
    pub id: Option<String>,
}

impl OutcomeView {
    pub(super) fn new(ledger: &Ledger, proposal: &Proposal<'_>, outcome: &Outcome) -> Self {
        let item = outcome.item.and_then(|item| ledger.item(item));
        Self {
            seq: Some(outcome.seq.get()),
            item: item.as_ref().map(|item| item.handle.to_owned()),
            id: item.map(|item| item.id),
            ..Self::of_verdict(proposal, outcome.verdict)
        }
    }

    pub(super) fn of_verdict(proposal: &Proposal<'_>, verdict: Verdict) -> Self {
        let message = match verdict {
            Verdict::Accepted | Verdict::Merged(_) => None,
            Verdict::Rejected(RejectCode::InvalidField) => Some(match proposal.faulty_field() {
                Some(field) => format!("`{field}`: {}", RejectCode::InvalidField.meaning()),
                None => RejectCode::InvalidField.meaning().to_owned(),
            }),
            Verdict::Rejected(code) => Some(code.meaning().to_owned()),
        };
        Self { seq: None, outcome: verdict.word(), code: verdict.code(), message, item: None, id: None }
    }
}

/// Items, and where the ledger stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ItemList {
    /// The position of the last input.
    pub seq: u64,
    /// The items.
    pub items: Vec<Value>,
    /// Pairs of handles that contradict each other.
    pub contradictions: Vec<[String; 2]>,
    /// Turns that still wait to be read for candidates.
    pub pending_turns: Vec<String>,
    /// The streams that are not merged, with the number of batches in each.
    pub streams: Vec<(String, usize)>,
}

/// An item as JSON.
pub(super) fn item_json(item: &Item<'_>) -> Value {
    serde_json::to_value(item).expect("an item is texts, numbers and lists")
}
