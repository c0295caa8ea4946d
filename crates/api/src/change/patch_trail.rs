//! The trail of a patch: what was declared, what the evidence says, and what really changed.

use probity_core::Digest;
use probity_intents::hygiene::DirtyStatus;
use probity_intents::{ScopeEntry, ScopeEntrySet, ScopeRelation};
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What really changed, and what the evidence said, in numbers and with a digest of everything.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PatchTrail {
    /// The numbers.
    pub counts: PatchTrailCounts,
    /// Paths of the evidence that are not changed.
    pub listed_but_unchanged: Vec<ScopeEntry>,
    /// The digest of `detail`, whether it is shown or not.
    pub patch_trail_digest: Digest,
    /// Everything, in full detail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<PatchTrailDetail>,
}

/// The numbers of a trail.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PatchTrailCounts {
    /// Paths of the evidence.
    pub changed_files: usize,
    /// Paths that differ from the start.
    pub changed_since_start: usize,
    /// Those of them that nothing declared.
    pub changed_outside_scope: usize,
    /// Paths of the evidence that are not changed.
    pub listed_but_unchanged: usize,
    /// Declared paths that were not changed.
    pub untouched_in_declared: usize,
}

/// What the digest of a trail is of.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PatchTrailDetail {
    /// The paths of the evidence.
    pub changed_files: ScopeEntrySet,
    /// The paths that differ from the start.
    pub changed_since_start: Vec<TrailEntry>,
    /// Paths of the evidence that are not changed.
    pub listed_but_unchanged: Vec<ScopeEntry>,
    /// The git commit at the start.
    pub head_at_start: Option<String>,
    /// The git commit now.
    pub head_now: Option<String>,
}

/// A path that differs from the start.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TrailEntry {
    /// The path.
    pub path: RepoPath,
    /// How it differs from the commit.
    pub change: DirtyStatus,
    /// Its content now; `null` if it is gone or unreadable.
    pub digest: Option<Digest>,
    /// Where it is relative to the scope.
    pub scope_relation: ScopeRelation,
    /// Whether the evidence names it.
    pub listed: bool,
}
