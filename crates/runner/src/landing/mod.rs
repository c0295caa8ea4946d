//! Brings the layer of a run in a view into the real tree, all or nothing (law 16).
//!
//! The changes of such a run lie in the upper layer of an overlay, in `layers/<run>/upper` of the state directory. The
//! overlay covers [`overlay_target`]; [`upper_of_root`] is the part of the layer that belongs to the root of the tree.

use probity_core::ReasonCode;
use probity_paths::RepoPath;
use probity_snapshot::{Snapshot, TreeChange};
use probity_workspace::{ServiceError, Workspace};
use std::path::{Path, PathBuf};

/// The changes of a run that are to land.
#[derive(Debug, Clone)]
pub struct LandingPlan<'a> {
    pub run_id: &'a str,
    /// The directory of the layer, with `upper` in it.
    pub layer: PathBuf,
    /// The tree when the run began.
    pub start: &'a Snapshot,
    /// The changes to land: all differences between `start` and the layer, or some of them.
    pub changes: &'a [TreeChange],
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LandingOutcome {
    /// Every change is in the tree.
    Landed {
        /// The changed paths, sorted. Those that were already as wanted are among them.
        paths: Vec<RepoPath>,
    },
    /// Nothing landed; the layer is untouched.
    Conflict { conflicts: Vec<LandingConflict> },
}

/// Why a change cannot land.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LandingConflict {
    pub path: RepoPath,
    /// `LAND.CONFLICT` or `LAND.UNSAFE`.
    pub reason: ReasonCode,
    pub detail: String,
}

/// Returns the directory that the overlay of a run covers: the whole working tree, because git does not find its
/// directory across the border of a mount.
pub fn overlay_target(workspace: &Workspace) -> &Path {
    workspace
        .git
        .as_ref()
        .map(|git| &*git.root)
        .filter(|top| workspace.root.starts_with(top))
        .unwrap_or(&workspace.root)
}

/// Returns the part of the upper layer in `layer` that belongs to the root of the tree. It need not exist.
pub fn upper_of_root(workspace: &Workspace, layer: &Path) -> PathBuf {
    let below_top = workspace.root.strip_prefix(overlay_target(workspace)).unwrap_or(Path::new(""));
    layer.join("upper").join(below_top)
}

/// Lands the changes of `plan`, all of them or none.
///
/// The caller holds the lock of the tree, at least shared, and no process runs in the view any more. Landings exclude
/// each other by a lock that is taken here. The layer is only read: after a landing the caller removes it.
pub fn land(workspace: &Workspace, plan: &LandingPlan<'_>) -> Result<LandingOutcome, ServiceError> {
    let _ = (workspace, plan);
    Err(ServiceError::refused(ReasonCode::LandOtherFileSystem, "landing is not available yet"))
}
