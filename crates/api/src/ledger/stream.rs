//! Streams of the ledger, and their merges.

use crate::document::Answer;
use probity_core::Digest;
use probity_documents::MergeAnalysis;
use probity_ledger::merge::MergePoint;
use schemars::JsonSchema;
use serde::Serialize;

/// The streams of the ledger, by name: the answer of `probity ledger merge` without a stream.
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
    /// The position of the ledger that it began at.
    pub base: u64,
    /// How many batches were proposed to it since.
    pub batches: usize,
}

probity_core::word_enum! {
    /// What became of the merge of a stream.
    pub enum LedgerMergeStatus {
        /// Its proposals are in the ledger.
        Merged = "merged",
        /// Points are undecided, and nothing happened.
        Review = "review",
        /// It would be merged; this was a dry run.
        Planned = "planned",
    }
}

/// What was merged, or what is to be decided first: the answer of `probity ledger merge STREAM`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LedgerMergeAnswer {
    pub status: LedgerMergeStatus,
    pub stream: String,
    /// What needs a choice, with the choices that were made.
    pub points: Vec<MergePoint>,
    /// Handles of the stream that are called otherwise in the ledger.
    pub renamed: Vec<(String, String)>,
    /// How many proposals of the stream are in the ledger now, or would be.
    pub proposals: usize,
    /// The position of the last input.
    pub seq: u64,
    /// What the merge of the two streams of commits lost, as `probity merge analyze` tells it.
    pub analysis: Option<MergeAnalysis>,
    /// The last commit: the merge, or the one that makes the decisions survive.
    pub commit: Option<String>,
    /// The object that holds all commits of the merge, as a bundle; null when nothing was merged.
    pub commits_object: Option<Digest>,
    /// What happened besides.
    pub notices: Vec<String>,
}

impl Answer for LedgerMergeAnswer {
    const SCHEMA: &'static str = "probity/ledger-merge/v1";
}
