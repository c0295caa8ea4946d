//! Answers of the ledger to queries.

use super::{LedgerInput, LedgerItem, ReplayedInput};
use crate::document::Answer;
use crate::list_cut::LeftOutOfLists;
use probity_core::Digest;
use probity_ledger::{AuthorScore, Citation, SuggestionKind};
use schemars::JsonSchema;
use serde::Serialize;

/// Items and the position of the ledger: the answer of `probity ledger show` and `probity ledger as-of`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ItemListAnswer {
    /// The position of the last input.
    pub seq: u64,
    pub items: Vec<LedgerItem>,
    /// Pairs of handles that contradict each other.
    pub contradictions: Vec<[String; 2]>,
    /// Turns not yet read for candidates.
    pub pending_turns: Vec<String>,
    /// The unmerged streams, with the number of batches in each.
    pub streams: Vec<(String, usize)>,
    /// What was found at the end of the log besides complete writes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
    #[serde(skip_serializing_if = "LeftOutOfLists::is_empty")]
    pub left_out_of_lists: LeftOutOfLists,
}

impl Answer for ItemListAnswer {
    const SCHEMA: &'static str = "probity/ledger-items/v1";
}

impl ItemListAnswer {
    /// Shortens its long lists.
    #[must_use]
    pub fn shortened(mut self, limit: usize) -> Self {
        self.left_out_of_lists.cut("items", &mut self.items, limit);
        self.left_out_of_lists.cut("contradictions", &mut self.contradictions, limit);
        self.left_out_of_lists.cut("pending_turns", &mut self.pending_turns, limit);
        self
    }
}

/// The changes after a position: the answer of `probity ledger changed`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ChangedItemsAnswer {
    /// The requested position.
    pub since: u64,
    /// The position of the last input; pass it as `since` next time.
    pub seq: u64,
    /// The items, sorted by the input that last changed them.
    pub items: Vec<LedgerItem>,
    #[serde(skip_serializing_if = "LeftOutOfLists::is_empty")]
    pub left_out_of_lists: LeftOutOfLists,
}

impl Answer for ChangedItemsAnswer {
    const SCHEMA: &'static str = "probity/ledger-changed/v1";
}

impl ChangedItemsAnswer {
    /// Shortens its long list.
    #[must_use]
    pub fn shortened(mut self, limit: usize) -> Self {
        self.left_out_of_lists.cut("items", &mut self.items, limit);
        self
    }
}

/// The origin and fate of an item: the answer of `probity ledger explain`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ItemExplanation {
    /// The position of the last input.
    pub seq: u64,
    pub item: LedgerItem,
    pub handles: Vec<String>,
    /// The items that replaced it, in succession.
    pub replaced_by: Vec<String>,
    /// Items in open contradiction with it.
    pub contradicts: Vec<String>,
    /// Quotes, one per source, in order; null where the text was not kept.
    pub quotes: Vec<Option<String>>,
    /// The changes that cite it.
    pub changes: Vec<Citation>,
}

impl Answer for ItemExplanation {
    const SCHEMA: &'static str = "probity/ledger-explain/v1";
}

/// The wordings of an item and every input that touched it: the answer of `probity ledger history`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ItemHistory {
    /// The position of the last input.
    pub seq: u64,
    pub item: LedgerItem,
    pub inputs: Vec<LedgerInput>,
    #[serde(skip_serializing_if = "LeftOutOfLists::is_empty")]
    pub left_out_of_lists: LeftOutOfLists,
}

impl Answer for ItemHistory {
    const SCHEMA: &'static str = "probity/ledger-history/v1";
}

impl ItemHistory {
    /// Shortens its long list.
    #[must_use]
    pub fn shortened(mut self, limit: usize) -> Self {
        self.left_out_of_lists.cut("inputs", &mut self.inputs, limit);
        self
    }
}

/// The quality of each author's proposals: the answer of `probity ledger scores`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ScoresAnswer {
    /// The position of the last input.
    pub seq: u64,
    /// One entry per author.
    pub authors: Vec<AuthorScore>,
}

impl Answer for ScoresAnswer {
    const SCHEMA: &'static str = "probity/ledger-scores/v1";
}

/// The result of replaying the log: the answer of `probity ledger replay`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ReplayAnswer {
    /// The position of the last input.
    pub seq: u64,
    /// The digest of the log.
    pub log_digest: Digest,
    /// The digest of the resulting state.
    pub state_digest: Digest,
    pub transactions: u64,
    pub log_bytes: u64,
    /// Whether the snapshot agrees; null if there is no usable snapshot.
    pub snapshot_agrees: Option<bool>,
    /// The number of inputs that this version decides differently from the version that recorded them.
    pub decided_otherwise: u64,
    /// The inputs after the requested position, at most 10,000.
    pub inputs: Vec<ReplayedInput>,
}

impl Answer for ReplayAnswer {
    const SCHEMA: &'static str = "probity/ledger-replay/v1";
}

/// A text for the next prompt or for people: the answer of `probity ledger export`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ContextAnswer {
    /// The position of the last input; pass it as `since` next time.
    pub seq: u64,
    /// The text, in Markdown.
    pub text: String,
    /// The number of tokens, by an upper bound for common tokenizers.
    pub tokens: usize,
    /// Handles of the included items.
    pub items: Vec<String>,
    /// Handles of the items that did not fit.
    pub left_out: Vec<String>,
    /// The number of hard constraints among those.
    pub hard_left_out: usize,
    #[serde(skip_serializing_if = "LeftOutOfLists::is_empty")]
    pub left_out_of_lists: LeftOutOfLists,
}

impl Answer for ContextAnswer {
    const SCHEMA: &'static str = "probity/ledger-export/v1";
}

impl ContextAnswer {
    /// Shortens its long lists.
    #[must_use]
    pub fn shortened(mut self, limit: usize) -> Self {
        self.left_out_of_lists.cut("items", &mut self.items, limit);
        self.left_out_of_lists.cut("left_out", &mut self.left_out, limit);
        self
    }
}

/// Suggested next steps for the ledger: the answer of `probity ledger suggest`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SuggestionsAnswer {
    /// The position of the last input.
    pub seq: u64,
    /// The suggestions, most urgent first.
    pub suggestions: Vec<SuggestedStep>,
}

impl Answer for SuggestionsAnswer {
    const SCHEMA: &'static str = "probity/ledger-suggest/v1";
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SuggestedStep {
    pub advice: SuggestionKind,
    /// Handles of the items concerned.
    pub items: Vec<String>,
    /// The texts of those items.
    pub summaries: Vec<String>,
    /// The number of turns that support the suggestion.
    pub turns: usize,
    /// The reason and the recommended action.
    pub why: &'static str,
}
