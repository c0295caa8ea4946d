//! What the ledger answers to questions.

use super::{LedgerInput, LedgerItem, ReplayedInput};
use crate::document::Answer;
use crate::list_cut::LeftOutOfLists;
use probity_core::Digest;
use probity_ledger::{AuthorScore, Citation, SuggestionKind};
use schemars::JsonSchema;
use serde::Serialize;

/// Items, and where the ledger stands: the answer of `probity ledger show` and `probity ledger as-of`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ItemListAnswer {
    /// The position of the last input.
    pub seq: u64,
    pub items: Vec<LedgerItem>,
    /// Pairs of handles that contradict each other.
    pub contradictions: Vec<[String; 2]>,
    /// Turns that still wait to be read for candidates.
    pub pending_turns: Vec<String>,
    /// The streams that are not merged, with the number of batches in each.
    pub streams: Vec<(String, usize)>,
    #[serde(skip_serializing_if = "LeftOutOfLists::is_empty")]
    pub left_out_of_lists: LeftOutOfLists,
}

impl Answer for ItemListAnswer {
    const SCHEMA: &'static str = "probity/ledger-items/v1";
}

impl ItemListAnswer {
    /// Cuts its long lists.
    #[must_use]
    pub fn shortened(mut self, limit: usize) -> Self {
        self.left_out_of_lists.cut("items", &mut self.items, limit);
        self.left_out_of_lists.cut("contradictions", &mut self.contradictions, limit);
        self.left_out_of_lists.cut("pending_turns", &mut self.pending_turns, limit);
        self
    }
}

/// What changed after a position: the answer of `probity ledger changed`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ChangedItemsAnswer {
    /// The position that was asked for.
    pub since: u64,
    /// The position of the last input: ask for what changed since then next time.
    pub seq: u64,
    /// The items, by the input that changed them last.
    pub items: Vec<LedgerItem>,
    #[serde(skip_serializing_if = "LeftOutOfLists::is_empty")]
    pub left_out_of_lists: LeftOutOfLists,
}

impl Answer for ChangedItemsAnswer {
    const SCHEMA: &'static str = "probity/ledger-changed/v1";
}

impl ChangedItemsAnswer {
    /// Cuts its long list.
    #[must_use]
    pub fn shortened(mut self, limit: usize) -> Self {
        self.left_out_of_lists.cut("items", &mut self.items, limit);
        self
    }
}

/// Why an item is here, and what became of it: the answer of `probity ledger explain`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ItemExplanation {
    /// The position of the last input.
    pub seq: u64,
    pub item: LedgerItem,
    /// All its handles.
    pub handles: Vec<String>,
    /// What replaced it, one after the other.
    pub replaced_by: Vec<String>,
    /// What it is in open conflict with.
    pub contradicts: Vec<String>,
    /// What was said: one for each source, in order. Null where the words were not kept.
    pub quotes: Vec<Option<String>>,
    /// The changes that were made under it.
    pub changes: Vec<Citation>,
}

impl Answer for ItemExplanation {
    const SCHEMA: &'static str = "probity/ledger-explain/v1";
}

/// What an item said, and every input that touched it: the answer of `probity ledger history`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ItemHistory {
    /// The position of the last input.
    pub seq: u64,
    pub item: LedgerItem,
    /// Every input that touched it.
    pub inputs: Vec<LedgerInput>,
    #[serde(skip_serializing_if = "LeftOutOfLists::is_empty")]
    pub left_out_of_lists: LeftOutOfLists,
}

impl Answer for ItemHistory {
    const SCHEMA: &'static str = "probity/ledger-history/v1";
}

impl ItemHistory {
    /// Cuts its long list.
    #[must_use]
    pub fn shortened(mut self, limit: usize) -> Self {
        self.left_out_of_lists.cut("inputs", &mut self.inputs, limit);
        self
    }
}

/// How good every author's proposals are: the answer of `probity ledger scores`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ScoresAnswer {
    /// The position of the last input.
    pub seq: u64,
    /// One line for each author.
    pub authors: Vec<AuthorScore>,
}

impl Answer for ScoresAnswer {
    const SCHEMA: &'static str = "probity/ledger-scores/v1";
}

/// What replaying the log came to: the answer of `probity ledger replay`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ReplayAnswer {
    /// The position of the last input.
    pub seq: u64,
    /// The digest of the log.
    pub log_digest: Digest,
    /// The digest of the state that follows from it.
    pub state_digest: Digest,
    /// How many transactions there are.
    pub transactions: u64,
    /// The size of the log.
    pub log_bytes: u64,
    /// Whether the snapshot says the same; null when there is none that could be used.
    pub snapshot_agrees: Option<bool>,
    /// How many inputs this version decides otherwise than the one that took them in.
    pub decided_otherwise: u64,
    /// The inputs after the position that was asked for, at most 10,000.
    pub inputs: Vec<ReplayedInput>,
}

impl Answer for ReplayAnswer {
    const SCHEMA: &'static str = "probity/ledger-replay/v1";
}

/// A text for the next prompt, or for people: the answer of `probity ledger export`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ContextAnswer {
    /// The position of the last input: ask for what changed since then next time.
    pub seq: u64,
    /// The text, in Markdown.
    pub text: String,
    /// Its tokens, by a bound that holds for today's tokenizers.
    pub tokens: usize,
    /// Handles of the items in it.
    pub items: Vec<String>,
    /// Handles of the items that did not fit.
    pub left_out: Vec<String>,
    /// How many of those are hard constraints.
    pub hard_left_out: usize,
    #[serde(skip_serializing_if = "LeftOutOfLists::is_empty")]
    pub left_out_of_lists: LeftOutOfLists,
}

impl Answer for ContextAnswer {
    const SCHEMA: &'static str = "probity/ledger-export/v1";
}

impl ContextAnswer {
    /// Cuts its long lists.
    #[must_use]
    pub fn shortened(mut self, limit: usize) -> Self {
        self.left_out_of_lists.cut("items", &mut self.items, limit);
        self.left_out_of_lists.cut("left_out", &mut self.left_out, limit);
        self
    }
}

/// What to do next about the ledger: the answer of `probity ledger suggest`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SuggestionsAnswer {
    /// The position of the last input.
    pub seq: u64,
    /// The most urgent first.
    pub suggestions: Vec<SuggestedStep>,
}

impl Answer for SuggestionsAnswer {
    const SCHEMA: &'static str = "probity/ledger-suggest/v1";
}

/// One suggestion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SuggestedStep {
    pub advice: SuggestionKind,
    /// Handles of the items that it is about.
    pub items: Vec<String>,
    /// What they say.
    pub summaries: Vec<String>,
    /// The number of turns that speak for it.
    pub turns: usize,
    /// Why, and what to do.
    pub why: &'static str,
}
