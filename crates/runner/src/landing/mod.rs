//! Brings the layer of a run in a view into the real tree, all or nothing (law 16).
//!
//! The changes of such a run lie in the upper layer of an overlay, in `layers/<run>/upper` of the state directory. The
//! overlay covers [`overlay_target`]; [`upper_of_root`] is the part of the layer that belongs to the root of the tree.
//!
//! A landing has four parts, and a kill at any instant leaves the whole change or nothing of it:
//!
//! 1. *check*: every path still is what it was at the start of the run, or already is what it should become;
//! 2. *stage*: the new entries are written beside the tree and flushed;
//! 3. *decide*: the journal is written and flushed. From here on the next start of Probity completes what is missing;
//! 4. *exchange*: each entry is renamed into the tree, and what comes out must be what was checked. If somebody changed it
//!    in between, everything is taken back.
//!
//! What came out stays in the directory of the landing and is what `probity revert` restores.
//!
//! Limits: a program that keeps a file open and writes to it after it was exchanged writes to the copy that came out.
//! Hard links between files of the tree are broken, as by every program that replaces a file; what is kept is a copy then.

mod apply;
mod check;
mod crash_point;
mod journal;
pub mod layer_store;
mod layer_view;
mod recovery;
mod reversal;
mod stage;
#[cfg(test)]
mod tests;

pub(crate) use layer_view::{LayerView, open_file as open_layer_file};
pub use recovery::RecoveredLanding;
pub(crate) use recovery::{decided_paths, recover_landings, unattested_landings};
pub(crate) use reversal::LandingReversal;

use apply::{LandingExecution, StepFailure};
use journal::{LandingDirectory, LandingJournal, LandingProgress};
use probity_core::{Digest, ReasonCode};
use probity_paths::RepoPath;
use probity_snapshot::tree_handle::TreeHandle;
use probity_snapshot::{Snapshot, TreeChange};
use probity_storage::FileLock;
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
    let top = workspace.git.as_ref().map(|git| &*git.root);
    top.filter(|top| workspace.root.starts_with(top)).unwrap_or(&workspace.root)
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
#[tracing::instrument(name = "land", skip_all)]
pub fn land(workspace: &Workspace, plan: &LandingPlan<'_>) -> Result<LandingOutcome, ServiceError> {
    let _alone = FileLock::take(&workspace.state.landing_lock(&workspace.root))?;
    // A landing that was killed is completed first: it may have changed what this one relies on.
    recovery::recover_locked(workspace)?;
    let tree = open(&workspace.root)?;
    let steps = match check::check(workspace, plan, &tree)? {
        Ok(steps) => steps,
        Err(conflicts) => return Ok(LandingOutcome::Conflict { conflicts }),
    };
    let upper = upper_of_root(workspace, &plan.layer);
    let layer = LayerView::open(&upper, plan.start)
        .map_err(ServiceError::system(format!("cannot open {}", upper.display())))?;
    let paths: Vec<RepoPath> = plan.changes.iter().map(|change| change.path.clone()).collect();
    let journal = LandingJournal { run_id: plan.run_id.to_owned(), paths, steps };
    exchange(workspace, &tree, &layer, journal)
}

/// Stages, decides and makes the steps of a journal. The caller holds the landing lock.
fn exchange(
    workspace: &Workspace,
    tree: &TreeHandle,
    source: &dyn stage::EntrySource,
    mut journal: LandingJournal,
) -> Result<LandingOutcome, ServiceError> {
    let directory = LandingDirectory::at(workspace.state.landing(&journal.run_id, &workspace.root));
    if directory.progress() == LandingProgress::Landed {
        let detail = format!("run {} has already landed", journal.run_id);
        return Err(ServiceError::refused(ReasonCode::LayerUnknown, detail));
    }
    directory.create()?;
    let slots = open(&directory.exchange())?;
    let decided = if slots.shares_mount_with(tree) {
        stage::stage(source, tree, &slots, &mut journal.steps)
    } else {
        let (tree, state) = (workspace.root.display(), workspace.state.dir().display());
        let detail = format!("{tree} and {state} are on different file systems");
        Err(ServiceError::refused(ReasonCode::LandOtherFileSystem, detail))
    };
    crash_point::pass();
    if let Err(error) = decided.and_then(|()| Ok(directory.decide(&journal)?)) {
        // Nothing has happened yet; what stays of the directory is removed by the next landing.
        let _ = directory.remove();
        return Err(error);
    }
    crash_point::pass();
    let execution = LandingExecution { tree, slots: &slots, journal: &journal };
    settle(&directory, &execution)
}

/// Completes a decided landing, or takes it back if the tree changed under it.
fn settle(
    directory: &LandingDirectory,
    execution: &LandingExecution<'_>,
) -> Result<LandingOutcome, ServiceError> {
    match execution.forward() {
        Ok(()) => {
            crash_point::pass();
            stage::unlink_from_tree(execution.slots, &execution.journal.steps);
            crash_point::pass();
            directory.complete()?;
            crash_point::pass();
            Ok(LandingOutcome::Landed { paths: execution.journal.paths.clone() })
        }
        Err(StepFailure::Conflict(conflict)) => {
            let mut conflicts = vec![conflict];
            directory.decide_undo()?;
            crash_point::pass();
            conflicts.extend(undo(directory, execution)?);
            Ok(LandingOutcome::Conflict { conflicts })
        }
        Err(StepFailure::System(error)) => {
            directory.decide_undo()?;
            undo(directory, execution)?;
            Err(error)
        }
    }
}

/// Takes back what was made of a landing. Returns the paths that somebody else changed meanwhile; what was there before is
/// then kept in the directory of the landing.
fn undo(
    directory: &LandingDirectory,
    execution: &LandingExecution<'_>,
) -> Result<Vec<LandingConflict>, ServiceError> {
    let left = execution.back()?;
    if left.is_empty() {
        directory.remove()?;
        return Ok(Vec::new());
    }
    let kept = directory.set_aside()?;
    let detail = || {
        let kept = kept.display();
        format!("it was changed again while the landing was taken back; what was there before is in {kept}")
    };
    let conflict = |path| LandingConflict { path, reason: ReasonCode::LandConflict, detail: detail() };
    Ok(left.into_iter().map(conflict).collect())
}

/// Returns a content that a landing took out of this tree.
pub(crate) fn landed_content(workspace: &Workspace, digest: &Digest) -> Option<Vec<u8>> {
    let landings = workspace.state.landings(&workspace.root).ok()?;
    landings.into_iter().rev().find_map(|(_, directory)| {
        let directory = LandingDirectory::at(directory);
        if directory.progress() != LandingProgress::Landed {
            return None;
        }
        let journal = directory.read().ok()?;
        let taken_out = journal.steps.iter().filter_map(journal::LandingStep::taken_out);
        let (_, slot) = taken_out.into_iter().find(|(state, _)| state.digest.as_ref() == Some(digest))?;
        std::fs::read(directory.exchange().join(slot.to_string())).ok()
    })
}

fn open(path: &Path) -> Result<TreeHandle, ServiceError> {
    TreeHandle::open(path).map_err(ServiceError::system(format!("cannot open {}", path.display())))
}
