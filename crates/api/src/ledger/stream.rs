//! Streams of the ledger, and their merges.

use crate::document::Answer;
use probity_core::Digest;
use probity_documents::MergeAnalysis;
use probity_ledger::merge::MergePoint;
use schemars::JsonSchema;
use serde::Serialize;

/// The streams of the ledger, sorted by name: the answer of `probity ledger merge` without a stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StreamListAnswer {
    pub streams: Vec<LedgerStream>,
}

impl Answer for StreamListAnswer {
    const SCHEMA: &'static str = "probity/ledger-streams/v1";
}

/// A stream of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LedgerStream {
    pub name: String,
    /// The position of the ledger at which it branched off.
    pub base: u64,
    /// The number of batches proposed to it since.
    pub batches: usize,
}

probity_core::word_enum! {
    /// The outcome of merging a stream.
    pub enum LedgerMergeStatus {
        /// Its proposals are in the ledger.
        Merged = "merged",
        /// Points are undecided; nothing was done.
        Review = "review",
        /// It would be merged; this was a dry run.
        Planned = "planned",
    }
}

/// The merged proposals, or the points to decide first: the answer of `probity ledger merge STREAM`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LedgerMergeAnswer {
    pub status: LedgerMergeStatus,
    pub stream: String,
    /// The points that need a choice, with the choices made so far.
    pub points: Vec<MergePoint>,
    /// Handles of the stream that got another name in the ledger.
    pub renamed: Vec<(String, String)>,
    /// The number of proposals that were or would be merged.
    pub proposals: usize,
    /// The position of the last input.
    pub seq: u64,
    /// What merging the two streams of commits lost, as in `probity merge analyze`.
    pub analysis: Option<MergeAnalysis>,
    /// The last commit: the merge, or the survival commit of the decisions.
    pub commit: Option<String>,
    /// The object that holds all commits of the merge as a bundle; null if nothing was merged.
    pub commits_object: Option<Digest>,
    /// Other events worth knowing.
    pub notices: Vec<String>,
}

impl Answer for LedgerMergeAnswer {
    const SCHEMA: &'static str = "probity/ledger-merge/v1";
}
