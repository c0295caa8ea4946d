//! Completes landings whose process was killed (law 10).

use super::apply::LandingExecution;
use super::journal::{LandingDirectory, LandingProgress};
use super::{LandingOutcome, layer_store, open, settle, undo};
use probity_paths::RepoPath;
use probity_storage::FileLock;
use probity_workspace::{ServiceError, Workspace};

/// A landing that was found half made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecoveredLanding {
    pub run_id: String,
    pub outcome: LandingOutcome,
}

/// Completes or takes back every interrupted landing on this tree. The caller holds the lock of the tree, at least
/// shared; a landing that is still going on is waited for.
pub(crate) fn recover_landings(workspace: &Workspace) -> Result<Vec<RecoveredLanding>, ServiceError> {
    // Nothing is created, and nobody waited for, where nothing ever landed.
    if workspace
        .state
        .landings(&workspace.root)?
        .iter()
        .all(|(_, directory)| LandingDirectory::at(directory.clone()).progress() == LandingProgress::Landed)
    {
        return Ok(Vec::new());
    }
    let _alone = FileLock::take(&workspace.state.landing_lock(&workspace.root))?;
    recover_locked(workspace)
}

/// Returns landings that are complete and whose layers are still there: their processes ended before they could write
/// evidence, or before they could remove the layer.
pub(crate) fn unattested_landings(workspace: &Workspace) -> Result<Vec<RecoveredLanding>, ServiceError> {
    let mut found = Vec::new();
    for run_id in workspace.state.layers()? {
        let directory = LandingDirectory::at(workspace.state.landing(&run_id, &workspace.root));
        let is_free =
            || Ok::<_, ServiceError>(FileLock::poll(&workspace.state.layer_lock(&run_id))?.is_some());
        if directory.progress() == LandingProgress::Landed && is_free()? {
            let paths = directory.read()?.paths;
            found.push(RecoveredLanding { run_id, outcome: LandingOutcome::Landed { paths } });
        }
    }
    Ok(found)
}

/// Returns the paths of a landing that is complete, or that was decided, so that the next start on its tree completes it.
/// The process that decided it ended before it could write evidence.
pub(crate) fn decided_paths(
    workspace: &Workspace,
    run_id: &str,
) -> Result<Option<Vec<RepoPath>>, ServiceError> {
    let Some(directory) = workspace.state.landing_of_run(run_id)? else { return Ok(None) };
    let directory = LandingDirectory::at(directory);
    Ok(match directory.progress() {
        LandingProgress::Landed | LandingProgress::Decided => Some(directory.read()?.paths),
        LandingProgress::Undecided | LandingProgress::Undoing => None,
    })
}

/// Like [`recover_landings`], for a caller that holds the landing lock.
pub(super) fn recover_locked(workspace: &Workspace) -> Result<Vec<RecoveredLanding>, ServiceError> {
    let mut recovered = Vec::new();
    for (run_id, directory) in workspace.state.landings(&workspace.root)? {
        if let Some(parent) = directory.parent() {
            layer_store::remove_leftovers(parent);
        }
        let directory = LandingDirectory::at(directory);
        let progress = directory.progress();
        match progress {
            LandingProgress::Landed => {}
            LandingProgress::Undecided => directory.remove()?,
            LandingProgress::Decided | LandingProgress::Undoing => {
                let journal = directory.read()?;
                let (tree, slots) = (open(&workspace.root)?, open(&directory.exchange())?);
                let execution = LandingExecution { tree: &tree, slots: &slots, journal: &journal };
                let outcome = if progress == LandingProgress::Decided {
                    settle(&directory, &execution)?
                } else {
                    LandingOutcome::Conflict { conflicts: undo(&directory, &execution)? }
                };
                recovered.push(RecoveredLanding { run_id, outcome });
            }
        }
    }
    Ok(recovered)
}
