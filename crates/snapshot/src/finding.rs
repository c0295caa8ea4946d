//! What a snapshot found that cannot be judged safely, or could not be read.

use crate::record::DirId;
use probity_core::Reason;
use probity_paths::RepoPath;
use serde::{Deserialize, Serialize};

/// One thing that a caller has to weigh. Whether it fails a run is the caller's decision.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TreeFinding {
    /// Where it is.
    pub path: RepoPath,
    /// What it is.
    pub reason: Reason,
    /// More about it, for a person; may be empty.
    pub detail: String,
}

/// Where a finding is while the walk goes on.
#[derive(Debug)]
pub(crate) enum At {
    /// The directory itself.
    Dir(DirId),
    /// A child of the directory.
    Child(DirId, Box<[u8]>),
}

/// A finding of the walk.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) at: At,
    pub(crate) reason: Reason,
    pub(crate) detail: String,
}
