//! `delta.json` and `pruned.json` of a bundle: both sides of every change, and the bundles that were removed.

use crate::{ChangeKind, ChangePlace};
use probity_core::{Digest, json};
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The file with both sides of every change, in more detail than the manifest.
pub const DELTA_FILE: &str = "delta.json";

/// The file that lists pruned bundles.
pub const PRUNED_FILE: &str = "pruned.json";

/// A file of a bundle with exactly one byte form: the canonical JSON of its members and its schema.
pub trait BundleDocument: Serialize + DeserializeOwned {
    const SCHEMA: &'static str;

    fn to_bytes(&self) -> Vec<u8> {
        let mut document = json::to_value(self);
        document["schema"] = Self::SCHEMA.into();
        json::canonical(&document)
    }

    /// Parses the file. Any bytes but those of [`Self::to_bytes`] are refused.
    fn parse(bytes: &[u8]) -> Result<Self, String> {
        let value = json::parse(bytes).map_err(|error| error.to_string())?;
        let document: Self = serde_json::from_value(value).map_err(|error| error.to_string())?;
        if document.to_bytes() != bytes {
            return Err("its bytes are not those that its contents give".into());
        }
        Ok(document)
    }
}

/// `delta.json` of a bundle: both sides of every change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeltaFile {
    /// The changes, sorted by path.
    pub changes: Vec<RecordedChange>,
    /// Directories above changed paths that existed at the start, with their permission bits.
    pub directories: BTreeMap<String, String>,
}

impl BundleDocument for DeltaFile {
    const SCHEMA: &'static str = "probity/delta/v1";
}

/// One change with both sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedChange {
    pub path: RepoPath,
    pub change: ChangeKind,
    /// The state before; null if nothing existed.
    pub before: Option<RecordedSide>,
    /// The state after; null if nothing exists.
    pub after: Option<RecordedSide>,
    /// Where the change is; absent if it is in the working tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<ChangePlace>,
}

/// The state of a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedSide {
    #[serde(rename = "type")]
    pub kind: EntryKind,
    /// The permission bits in octal.
    pub mode: String,
    /// The size in bytes as text, because a size may exceed what every JSON reader represents exactly.
    pub size: String,
    /// The digest of its content, if it has one.
    pub digest: Option<Digest>,
    /// The git object id under which the content may be stored.
    pub git_id: Option<String>,
}

probity_core::word_enum! {
    /// The type of a tree entry.
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrunedFile {
    /// The removed bundles, oldest first.
    pub runs: Vec<PrunedRun>,
}

impl BundleDocument for PrunedFile {
    const SCHEMA: &'static str = "probity/pruned/v1";
}

/// A removed bundle: what the chain still knows about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrunedRun {
    pub run_id: String,
    /// Its run hash, which still proves a copy kept elsewhere.
    pub run_hash: Digest,
}
