//! Whose the uncommitted changes of the tree are, at a start and at a finish.

use probity_core::Digest;
use probity_intents::hygiene::{DirtyAttribution, DirtyEntry, FinishBlockReason, SnapshotStatus};
use probity_intents::{ForeignDirtyOverlap, ScopeEntrySet};
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The uncommitted changes at a start.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StartHygieneAnswer {
    /// Whether there is a git repository to compare with.
    pub git_available: bool,
    /// Whether there are uncommitted changes in the way.
    pub blocks_edit: bool,
    /// How many there are.
    pub counts: StartDirtyCounts,
    /// The uncommitted paths of `allowed_files`, the first of them.
    pub dirty_in_allowed: Vec<RepoPath>,
    /// The uncommitted paths of the scope that others hold too, the first of them.
    pub foreign_dirty_overlaps: Vec<ForeignDirtyOverlap>,
    /// The tree that was looked at.
    pub dirty_snapshot: WorktreeSnapshotAnswer,
    /// Always `available`: a start looks at the tree itself.
    pub dirty_snapshot_status: SnapshotStatus,
    /// Every uncommitted path, in full detail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dirty_paths: Option<Vec<RepoPath>>,
}

/// How many uncommitted paths there are at a start.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StartDirtyCounts {
    /// All of them.
    pub dirty: usize,
    /// In `allowed_files`.
    pub in_scope: usize,
    /// Elsewhere.
    pub outside_scope: usize,
}

/// The tree that was looked at.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeSnapshotAnswer {
    /// Its root hash.
    pub root: Digest,
    /// The git commit.
    pub head: Option<String>,
    /// How many paths are uncommitted.
    pub paths_count: usize,
    /// How many paths are ignored or build outputs, and still watched.
    pub aside_count: usize,
    /// The uncommitted paths, in full detail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entries: Option<Vec<DirtyEntry>>,
}

/// The uncommitted changes at a finish.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct FinishHygieneAnswer {
    /// Whether there is a git repository to compare with.
    pub git_available: bool,
    /// Whether a start on these paths would be blocked.
    pub blocks_edit: bool,
    /// Whether the finish is blocked.
    pub blocks_finish: bool,
    /// Why it is.
    pub finish_block_reason: Option<FinishBlockReason>,
    /// How many paths there are of each class.
    pub counts: FinishDirtyCounts,
    /// The uncommitted paths of the scope that others hold too, the first of them.
    pub foreign_dirty_overlaps: Vec<ForeignDirtyOverlap>,
    /// Uncommitted paths of the scope that the evidence does not name, the first of them.
    pub unacknowledged_dirty_in_scope: Vec<RepoPath>,
    /// Paths outside the scope that changed since the start and nobody claims, the first of them.
    pub unattributed_unscoped_dirty: Vec<RepoPath>,
    /// The same under its old name.
    pub own_unscoped_dirty: Vec<RepoPath>,
    /// The tree that was looked at.
    pub dirty_snapshot: WorktreeSnapshotAnswer,
    /// Whether there was a start snapshot to compare with.
    pub dirty_snapshot_status: SnapshotStatus,
    /// What full detail adds.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub detail: Option<FinishHygieneDetail>,
}

/// Every uncommitted path with its class.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct FinishHygieneDetail {
    /// Outside, uncommitted at the start, unchanged.
    pub preexisting_unscoped_dirty: Vec<RepoPath>,
    /// Outside, and appeared since.
    pub new_unattributed_unscoped_dirty: Vec<RepoPath>,
    /// Outside, and changed since.
    pub modified_unattributed_unscoped_dirty: Vec<RepoPath>,
    /// Outside, with nothing to compare with.
    pub unknown_unattributed_unscoped_dirty: Vec<RepoPath>,
    /// Outside, and held by a live intent of other agents.
    pub foreign_attributed_outside_scope: Vec<RepoPath>,
    /// Every uncommitted path, and whose it is.
    pub dirty_attribution: Vec<DirtyAttribution>,
    /// What the scope check looked at.
    pub files_for_scope_check: ScopeEntrySet,
}

/// How many uncommitted paths there are of each class.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are those of the classes")]
pub struct FinishDirtyCounts {
    pub in_scope: usize,
    pub outside_scope: usize,
    pub missing_evidence: usize,
    pub preexisting_unscoped: usize,
    pub new_unattributed_unscoped: usize,
    pub modified_unattributed_unscoped: usize,
    pub unknown_unattributed_unscoped: usize,
    pub foreign_attributed_outside_scope: usize,
}
