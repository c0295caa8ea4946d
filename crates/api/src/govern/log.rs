//! Answers of `probity log` and `probity evidence prove` about the append-only log of a repository.

use crate::document::Answer;
use probity_core::Digest;
use probity_core::merkle::TreeHead;
use probity_evidence::{InclusionProof, PublicKey};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

impl Answer for InclusionProof {
    const SCHEMA: &'static str = Self::SCHEMA;
}

/// The answer of `probity log show`: the log, which is consistent with every place that knows a part of it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LogOverview {
    /// Names the log in its checkpoints.
    pub origin: String,
    pub head: TreeHead,
    /// The number of entries by kind.
    pub entries: BTreeMap<String, u64>,
    /// The newest entries, newest last.
    pub last: Vec<LogLine>,
    /// In a team: clones whose own log contradicts what they published before, as far as the events of the team were read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clone_breaches: Vec<String>,
}

impl Answer for LogOverview {
    const SCHEMA: &'static str = "probity/log-show/v1";
}

/// An entry of the log.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LogLine {
    /// Its number, from 0.
    pub index: u64,
    /// What it is about: `bundles`, `receipts`, `ledger`, `intents`, `decisions`, or `log` for the beginning of the log.
    pub log: String,
    /// Its number among the entries of its kind, from 1.
    pub seq: u64,
    /// The run, the number of the receipt, the bytes of the ledger's journal, the command in the registry, or the id of
    /// a decision.
    pub name: String,
    /// The leaf's hash in the tree.
    pub leaf_hash: Digest,
}

/// The answer of `probity log checkpoint`: a head of the log.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LogCheckpoint {
    pub origin: String,
    pub head: TreeHead,
    /// The key that signed it; null if the repository has none.
    pub signed_by: Option<PublicKey>,
    /// The checkpoint as a signed note (C2SP tlog-checkpoint).
    pub checkpoint: String,
}

impl Answer for LogCheckpoint {
    const SCHEMA: &'static str = "probity/log-checkpoint/v1";
}

/// The answer of `probity log consistency`: a proof that the log only grew from one head to the other.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct LogConsistency {
    pub origin: String,
    pub old: TreeHead,
    pub new: TreeHead,
    /// The consistency proof of RFC 6962.
    pub hashes: Vec<Digest>,
}

impl Answer for LogConsistency {
    const SCHEMA: &'static str = "probity/log-consistency/v1";
}

/// The answer of `probity log witness`: a countersigned checkpoint.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LogWitnessing {
    pub origin: String,
    /// The name of the witness, as trust files name it.
    pub witness: String,
    pub public: PublicKey,
    /// The head that it had countersigned before; null if this is the first.
    pub before: Option<TreeHead>,
    pub head: TreeHead,
    /// The checkpoint with the countersignature (C2SP tlog-cosignature).
    pub checkpoint: String,
}

impl Answer for LogWitnessing {
    const SCHEMA: &'static str = "probity/log-witness/v1";
}

/// The answer of `probity log restart`: a log that was begun again after the old one was shortened or damaged.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LogRestart {
    /// Names the new log in its checkpoints.
    pub origin: String,
    pub head: TreeHead,
    pub why: String,
    pub by: String,
    /// What was wrong with the old log.
    pub problems: Vec<String>,
    /// The directory that keeps what the old log listed.
    pub aside: String,
    /// The head that `log.checkpoint` knew of the old log; null if it could not be read.
    pub noted: Option<OldLogHead>,
    /// The head that the old store had; null if it could not be read.
    pub stored: Option<OldLogHead>,
}

impl Answer for LogRestart {
    const SCHEMA: &'static str = "probity/log-restart/v1";
}

/// A head of a log that was given up.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OldLogHead {
    pub origin: String,
    pub head: TreeHead,
}
