//! Uncommitted changes of the tree and their owners, at a start and at a finish.

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
    /// Whether uncommitted changes block the start.
    pub blocks_edit: bool,
    pub counts: StartDirtyCounts,
    /// The first uncommitted paths in `allowed_files`.
    pub dirty_in_allowed: Vec<RepoPath>,
    /// The first uncommitted paths of the scope that other agents hold too.
    pub foreign_dirty_overlaps: Vec<ForeignDirtyOverlap>,
    /// The state of the tree that was compared.
    pub dirty_snapshot: WorktreeSnapshotAnswer,
    /// Always `available`, because a start takes the snapshot itself.
    pub dirty_snapshot_status: SnapshotStatus,
    /// Every uncommitted path, in full detail only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dirty_paths: Option<Vec<RepoPath>>,
}

/// Counts of uncommitted paths at a start.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StartDirtyCounts {
    /// All uncommitted paths.
    pub dirty: usize,
    /// In `allowed_files`.
    pub in_scope: usize,
    /// Outside `allowed_files`.
    pub outside_scope: usize,
}

/// The state of the tree that was compared.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeSnapshotAnswer {
    pub root: Digest,
    pub head: Option<String>,
    /// The number of uncommitted paths.
    pub paths_count: usize,
    /// The number of watched paths that are ignored or build outputs.
    pub aside_count: usize,
    /// The uncommitted paths, in full detail only.
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
    pub finish_block_reason: Option<FinishBlockReason>,
    /// The number of paths by class.
    pub counts: FinishDirtyCounts,
    /// The first uncommitted paths of the scope that other agents hold too.
    pub foreign_dirty_overlaps: Vec<ForeignDirtyOverlap>,
    /// The first uncommitted paths of the scope that the evidence does not name.
    pub unacknowledged_dirty_in_scope: Vec<RepoPath>,
    /// The first paths outside the scope that changed since the start and that no intent claims.
    pub unattributed_unscoped_dirty: Vec<RepoPath>,
    /// Former name of `unattributed_unscoped_dirty`, with the same content.
    pub own_unscoped_dirty: Vec<RepoPath>,
    /// The state of the tree that was compared.
    pub dirty_snapshot: WorktreeSnapshotAnswer,
    /// Whether a snapshot of the start was available for comparison.
    pub dirty_snapshot_status: SnapshotStatus,
    /// Members added in full detail.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub detail: Option<FinishHygieneDetail>,
}

/// Every uncommitted path with its class.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct FinishHygieneDetail {
    /// Outside the scope, uncommitted at the start, unchanged since.
    pub preexisting_unscoped_dirty: Vec<RepoPath>,
    /// Outside the scope, new since the start.
    pub new_unattributed_unscoped_dirty: Vec<RepoPath>,
    /// Outside the scope, changed since the start.
    pub modified_unattributed_unscoped_dirty: Vec<RepoPath>,
    /// Outside the scope, without a snapshot to compare with.
    pub unknown_unattributed_unscoped_dirty: Vec<RepoPath>,
    /// Outside the scope, held by a live intent of another agent.
    pub foreign_attributed_outside_scope: Vec<RepoPath>,
    /// Every uncommitted path with its owner.
    pub dirty_attribution: Vec<DirtyAttribution>,
    /// The paths that the scope check compared.
    pub files_for_scope_check: ScopeEntrySet,
}

/// Counts of uncommitted paths by class.
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
