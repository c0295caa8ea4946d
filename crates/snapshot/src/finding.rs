//! Findings of a snapshot: entries that are unsafe to judge or could not be read.

use crate::entry_record::DirId;
use probity_core::ReasonCode;
use probity_paths::RepoPath;
use serde::{Deserialize, Serialize};

/// One thing that a caller has to weigh. Whether it fails a run is the caller's decision.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TreeFinding {
    pub path: RepoPath,
    pub reason: ReasonCode,
    /// Details for a person; may be empty.
    pub detail: String,
}

/// The location of a finding during the walk.
#[derive(Debug)]
pub(crate) enum WalkLocation {
    Dir(DirId),
    Child(DirId, Box<[u8]>),
}

#[derive(Debug)]
pub(crate) struct WalkFinding {
    pub(crate) at: WalkLocation,
    pub(crate) reason: ReasonCode,
    pub(crate) detail: String,
}
