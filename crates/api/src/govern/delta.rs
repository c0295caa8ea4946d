//! Files of a bundle that say more than its manifest: what changed on both sides, and which bundles were removed.

use crate::document::Answer;
use probity_core::Digest;
use probity_evidence::ChangeKind;
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `delta.json` of a bundle: both sides of every change.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct DeltaFile {
    /// The changes, sorted by path.
    pub changes: Vec<RecordedChange>,
    /// The directories above changed paths that were there at the start, with their permission bits.
    pub directories: BTreeMap<String, String>,
}

impl Answer for DeltaFile {
    const SCHEMA: &'static str = "probity/delta/v1";
}

/// One change with both sides of it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RecordedChange {
    /// The path.
    pub path: RepoPath,
    /// What happened to it.
    pub change: ChangeKind,
    /// What was there; null if nothing was.
    pub before: Option<RecordedSide>,
    /// What is there; null if nothing is.
    pub after: Option<RecordedSide>,
}

/// What is at a path.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RecordedSide {
    /// What it is.
    #[serde(rename = "type")]
    pub kind: EntryKind,
    /// The permission bits in octal digits.
    pub mode: String,
    /// How many bytes it has, as text: a size may be larger than what every JSON reader holds exactly.
    pub size: String,
    /// The digest of its content, if it has one.
    pub digest: Option<Digest>,
    /// The id under which git may hold the content.
    pub git_id: Option<String>,
}

probity_core::word_enum! {
    /// What an entry of a tree is.
    pub enum EntryKind {
        /// A regular file.
        File = "file",
        /// A directory.
        Directory = "directory",
        /// A symbolic link.
        Symlink = "symlink",
        /// A named pipe.
        Fifo = "fifo",
        /// A socket.
        Socket = "socket",
        /// A character device.
        CharDevice = "char_device",
        /// A block device.
        BlockDevice = "block_device",
    }
}

/// `pruned.json` of a bundle: the older bundles that were removed from the chain.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PrunedFile {
    /// The removed bundles, oldest first.
    pub runs: Vec<PrunedRun>,
}

impl Answer for PrunedFile {
    const SCHEMA: &'static str = "probity/pruned/v1";
}

/// A bundle that was removed: what is left of it on the chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrunedRun {
    /// The run.
    pub run_id: String,
    /// Its run hash: a copy of the bundle that is kept elsewhere still proves itself by it.
    pub run_hash: Digest,
}
