//! Items and inputs of the ledger in answers.

use probity_ledger::{
    ConfidenceLevel, DeltaKind, ItemKind, ItemStatus, ItemView, LedgerSeq, LogEntry, RevisionMode,
    SourceView, VerdictCode, VerdictKind, VersionView,
};
use schemars::JsonSchema;
use serde::Serialize;

/// An item at some position of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LedgerItem {
    /// The id assigned by the ledger: the kind and the position of its creation.
    pub id: String,
    pub handle: String,
    pub kind: ItemKind,
    pub status: ItemStatus,
    pub summary: String,
    pub confidence: ConfidenceLevel,
    /// Whether it is a constraint that must never be broken.
    pub hard: bool,
    /// Its sources, in order of arrival.
    pub sources: Vec<ItemSource>,
    /// Handles of the items that it replaces, in order of linking.
    pub supersedes: Vec<String>,
    /// The handle of the item that replaced it.
    pub superseded_by: Option<String>,
    /// The last input that changed it.
    pub last_seq: LedgerSeq,
    /// Every wording, oldest first.
    pub versions: Vec<ItemVersion>,
    /// The resolution or reason that closed it.
    pub note: Option<String>,
    /// The alternatives of a branch.
    pub alternatives: Vec<String>,
    /// Why it was reopened.
    pub reopened_because: Option<String>,
}

/// A source of an item, and the input that named it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ItemSource {
    pub turn: String,
    /// The byte range within the turn; null for the whole turn.
    pub range: Option<(u64, u64)>,
    pub seq: LedgerSeq,
    /// The author of that input.
    pub author: String,
}

/// One wording of an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ItemVersion {
    /// The input that introduced it.
    pub seq: LedgerSeq,
    pub summary: String,
    pub confidence: ConfidenceLevel,
    /// How a constraint was revised.
    pub mode: Option<RevisionMode>,
    /// The author of that input.
    pub author: String,
}

impl From<&ItemView<'_>> for LedgerItem {
    fn from(item: &ItemView<'_>) -> Self {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        Self {
            id: item.id.clone(),
            handle: item.handle.to_owned(),
            kind: item.kind,
            status: item.status,
            summary: item.summary.to_owned(),
            confidence: item.confidence,
            hard: item.hard,
            sources: item.sources.iter().map(ItemSource::from).collect(),
            supersedes: owned(&item.supersedes),
            superseded_by: item.superseded_by.map(str::to_owned),
            last_seq: item.last_seq,
            versions: item.versions.iter().map(ItemVersion::from).collect(),
            note: item.note.map(str::to_owned),
            alternatives: owned(&item.alternatives),
            reopened_because: item.reopened_because.map(str::to_owned),
        }
    }
}

impl From<&SourceView<'_>> for ItemSource {
    fn from(source: &SourceView<'_>) -> Self {
        let SourceView { turn, range, seq, author } = *source;
        Self { turn: turn.to_owned(), range, seq, author: author.to_owned() }
    }
}

impl From<&VersionView<'_>> for ItemVersion {
    fn from(version: &VersionView<'_>) -> Self {
        let VersionView { seq, summary, confidence, mode, author } = *version;
        Self { seq, summary: summary.to_owned(), confidence, mode, author: author.to_owned() }
    }
}

/// One input of the ledger with its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LedgerInput {
    pub seq: LedgerSeq,
    pub author: String,
    /// What it proposed; null if it named no known kind.
    pub kind: Option<DeltaKind>,
    pub outcome: VerdictKind,
    /// The code of a merge or rejection.
    pub code: Option<VerdictCode>,
}

impl From<LogEntry<'_>> for LedgerInput {
    fn from(entry: LogEntry<'_>) -> Self {
        Self {
            seq: entry.seq,
            author: entry.author.to_owned(),
            kind: entry.kind,
            outcome: entry.verdict.kind(),
            code: entry.verdict.code(),
        }
    }
}

/// One input of the log with the item that it touched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReplayedInput {
    #[serde(flatten)]
    pub input: LedgerInput,
    pub item: Option<String>,
}
