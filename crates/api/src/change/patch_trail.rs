//! The trail of a patch: what was declared, what the evidence names, and what really changed.

use probity_core::Digest;
use probity_intents::hygiene::DirtyStatus;
use probity_intents::{ScopeEntry, ScopeEntrySet, ScopeRelation};
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What really changed compared with the evidence, as counts and a digest of the full detail.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PatchTrail {
    pub counts: PatchTrailCounts,
    /// Paths named by the evidence that did not change.
    pub listed_but_unchanged: Vec<ScopeEntry>,
    /// The digest of `detail`, whether `detail` is shown or not.
    pub patch_trail_digest: Digest,
    /// The full trail, in full detail only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<PatchTrailDetail>,
}

/// The counts of a trail.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PatchTrailCounts {
    /// Paths named by the evidence.
    pub changed_files: usize,
    /// Paths that differ from the start.
    pub changed_since_start: usize,
    /// Changed paths outside the declared scope.
    pub changed_outside_scope: usize,
    /// Paths named by the evidence that did not change.
    pub listed_but_unchanged: usize,
    /// Declared paths that did not change.
    pub untouched_in_declared: usize,
}

/// The content covered by the digest of a trail.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PatchTrailDetail {
    /// The paths named by the evidence.
    pub changed_files: ScopeEntrySet,
    /// The paths that differ from the start.
    pub changed_since_start: Vec<TrailEntry>,
    /// Paths named by the evidence that did not change.
    pub listed_but_unchanged: Vec<ScopeEntry>,
    /// The git commit at the start.
    pub head_at_start: Option<String>,
    /// The git commit now.
    pub head_now: Option<String>,
}

/// A path that differs from the start.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TrailEntry {
    pub path: RepoPath,
    /// How it differs from the commit.
    pub change: DirtyStatus,
    /// The digest of its content now; null if it is gone or unreadable.
    pub digest: Option<Digest>,
    /// Its position relative to the scope.
    pub scope_relation: ScopeRelation,
    /// Whether the evidence names it.
    pub listed: bool,
}
