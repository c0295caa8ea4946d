//! Answers of `probity commits`: the versioned store of typed documents.

use crate::document::Answer;
use probity_core::Digest;
use probity_documents::{CommitId, DecisionRecord, SkipReason};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// A commit without its opcodes.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CommitSummary {
    pub id: CommitId,
    /// What it does: `mutations`, `merge`, `enable` or `disable`.
    #[serde(rename = "type")]
    pub kind: probity_documents::CommitKind,
    pub parent: Option<CommitId>,
    /// The commit that it merges, enables or disables.
    pub target: Option<CommitId>,
    pub author: String,
    pub label: String,
    /// Milliseconds since 1970.
    pub timestamp: i64,
    /// The timestamp in readable form.
    pub time: String,
    /// The documents that it writes, as `attachment/key`.
    pub documents: Vec<String>,
}

/// Commits, newest first: each comes before the commits it names.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CommitLogAnswer {
    pub commits: Vec<CommitLogEntry>,
    /// The number of commits in the store.
    pub total: u32,
    /// Whether the limit omitted commits.
    pub more: bool,
}

/// One commit of a log.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CommitLogEntry {
    #[serde(flatten)]
    pub commit: CommitSummary,
    /// Whether no other commit names this one.
    pub head: bool,
    pub refs: Vec<String>,
}

/// One commit with its opcodes and the decisions it carries.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CommitShowAnswer {
    #[serde(flatten)]
    pub commit: CommitSummary,
    /// The opcodes in their JSON form, which follows the schema of the store.
    pub ops: Vec<Value>,
    pub refs: Vec<String>,
    /// The decisions about this merge, or those that this commit makes survive.
    pub decisions: Vec<DecisionRecord>,
}

/// The commits that no other commit names.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CommitHeadsAnswer {
    pub heads: Vec<CommitSummary>,
    /// The number of commits in the store.
    pub total: u32,
}

/// The opcodes that turn the state of one commit into that of another.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CommitDiffAnswer {
    pub from: CommitId,
    pub to: CommitId,
    /// The opcodes in their JSON form, which follows the schema of the store.
    pub ops: Vec<Value>,
    /// The documents that only the first state has.
    pub gone: Vec<String>,
}

/// The documents of a state, by attachment and key. Their content follows the schema of the store.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DocumentStateAnswer {
    /// The commit; null in an empty store.
    pub commit: Option<CommitId>,
    pub state: Map<String, Value>,
}

/// The effect of every opcode on a document in the replay of a commit.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DocumentTraceAnswer {
    pub commit: CommitId,
    /// The document, as `attachment/key`.
    pub document: String,
    pub trace: Vec<OpcodeTrace>,
}

/// The effect of one opcode.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OpcodeTrace {
    pub commit: CommitId,
    pub author: String,
    /// Whether its commit is enabled.
    pub on: bool,
    /// The opcode in its JSON form.
    pub op: Value,
    /// The reason why it had no effect, if so.
    pub skipped: Option<SkipReason>,
}

/// The schema of a store, in both forms.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StoreSchemaAnswer {
    pub path: String,
    pub version: u32,
    /// The schema in its JSON form.
    pub definitions: Value,
    /// The schema in its readable form.
    pub text: String,
    /// Whether this command wrote the schema.
    pub written: bool,
}

/// The commit that a command wrote.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CommitWriteAnswer {
    pub commit: CommitSummary,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CommitRefsAnswer {
    pub refs: Vec<CommitRef>,
}

/// A named commit.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CommitRef {
    pub name: String,
    pub commit: CommitId,
}

/// A blob that was stored or read.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BlobAnswer {
    pub blob: Digest,
    pub size_bytes: usize,
}

/// The transfer between two stores in each direction.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StoreSyncAnswer {
    pub pulled: TransferCounts,
    pub pushed: TransferCounts,
    /// The heads after the transfer.
    pub heads: Vec<CommitId>,
}

/// A bundle that was written or read.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BundleTransferAnswer {
    pub file: String,
    pub moved: TransferCounts,
}

/// The size of a transfer in one direction.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct TransferCounts {
    pub commits: usize,
    /// Commits that the receiver already had.
    pub known: usize,
    pub blobs: usize,
    pub decisions: usize,
}

/// A new store with the state of a commit and no history.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StoreFlattenAnswer {
    /// The commit whose state it has.
    pub of: CommitId,
    pub path: String,
    pub commit: CommitId,
    pub documents: usize,
}

/// The result of checking a store.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StoreCheckAnswer {
    pub sound: bool,
    pub commits: u32,
    /// The number of snapshots that were compared with a replay.
    pub states: usize,
    pub blobs: usize,
    pub findings: Vec<StoreDamage>,
}

/// A part of a store that is not as it was written.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StoreDamage {
    pub commit: Option<CommitId>,
    pub why: String,
}

impl Answer for CommitLogAnswer {
    const SCHEMA: &'static str = "probity/commits-log/v1";
}

impl Answer for CommitShowAnswer {
    const SCHEMA: &'static str = "probity/commits-show/v1";
}

impl Answer for CommitHeadsAnswer {
    const SCHEMA: &'static str = "probity/commits-heads/v1";
}

impl Answer for CommitDiffAnswer {
    const SCHEMA: &'static str = "probity/commits-diff/v1";
}

impl Answer for DocumentStateAnswer {
    const SCHEMA: &'static str = "probity/commits-state/v1";
}

impl Answer for DocumentTraceAnswer {
    const SCHEMA: &'static str = "probity/commits-trace/v1";
}

impl Answer for StoreSchemaAnswer {
    const SCHEMA: &'static str = "probity/commits-schema/v1";
}

impl Answer for CommitWriteAnswer {
    const SCHEMA: &'static str = "probity/commits-commit/v1";
}

impl Answer for CommitRefsAnswer {
    const SCHEMA: &'static str = "probity/commits-refs/v1";
}

impl Answer for BlobAnswer {
    const SCHEMA: &'static str = "probity/commits-blob/v1";
}

impl Answer for StoreSyncAnswer {
    const SCHEMA: &'static str = "probity/commits-sync/v1";
}

impl Answer for BundleTransferAnswer {
    const SCHEMA: &'static str = "probity/commits-bundle/v1";
}

impl Answer for StoreFlattenAnswer {
    const SCHEMA: &'static str = "probity/commits-flatten/v1";
}

impl Answer for StoreCheckAnswer {
    const SCHEMA: &'static str = "probity/commits-check/v1";
}
