//! Decides about changes that wait in a layer: look at them, land all or some of them, merge them with a tree that has
//! moved on, work beside them, or drop them.
//!
//! What a run changed is taken from its evidence, not from the layer: the layer only provides contents, and only those
//! with the recorded digests land.

mod discard;
mod enter;
mod gate_view;
mod land;
mod layer_diff;
mod layer_writer;
mod rebase;

pub use discard::discard;
pub use enter::enter;
pub use land::{LandRequest, LandSelection, holds_part_in_scope, land};
pub use layer_diff::layer_diff;

use crate::bundles::{self, SoundBundle};
use crate::landing::layer_store;
use crate::recorded_delta;
use probity_api::govern::delta::DeltaFile;
use probity_core::ReasonCode;
use probity_evidence::{GlobList, Seal, StoredManifest};
use probity_paths::{RepoPath, Scope};
use probity_snapshot::{EntryState, Snapshot, TreeChange};
use probity_storage::{FileLock, LockError};
use probity_workspace::{ServiceError, Workspace};
use std::path::PathBuf;
use std::time::Duration;

/// Time to wait for a process that has the tree for itself for a moment.
const SHARE_TIMEOUT: Duration = Duration::from_secs(2);

/// A finished run whose changes wait in a layer.
pub(crate) struct HeldRun {
    /// The run that made the layer.
    pub(crate) run_id: String,
    pub(crate) layer: PathBuf,
    /// Its evidence, or that of its last amendment.
    pub(crate) bundle: SoundBundle,
    pub(crate) seal: Seal,
    pub(crate) delta: DeltaFile,
    /// The changes that were judged.
    pub(crate) changes: Vec<TreeChange>,
}

impl HeldRun {
    /// Finds the run that `name` means: an id, the beginning of one, or `last`.
    pub(crate) fn find(workspace: &Workspace, name: &str) -> Result<Self, ServiceError> {
        let judged = bundles::find_judged(workspace, name)?;
        let run_id = first_judged(workspace, bundles::find(workspace, name)?)?;
        let layer = layer_store::held_layer(workspace, &run_id)?;
        let bundle = bundles::read_sound_bundle(workspace, &judged)?;
        let seal = bundles::seal(&bundle.files, &judged)?;
        let delta = recorded_delta::read_delta(&bundle.files, &judged)?;
        let in_tree = delta.changes.iter().filter(|change| change.place.is_none());
        let changes: Result<Vec<TreeChange>, _> = in_tree.map(recorded_delta::tree_change).collect();
        let changes = changes.map_err(|(reason, detail)| ServiceError::refused(reason, detail))?;
        Ok(Self { run_id, layer, bundle, seal, delta, changes })
    }

    /// Returns the sealed scope with all amendments.
    pub(crate) fn scope(&self) -> Result<(Scope, GlobList), ServiceError> {
        let manifest = &self.bundle.stored.manifest;
        let mut globs = manifest.plan.scope.clone();
        for amendment in &manifest.amendments {
            globs.extend(&amendment.add);
        }
        Ok((probity_evidence::amended_scope(&manifest.plan.scope, &manifest.amendments)?, globs))
    }

    /// Returns the git blob id under which the former content of a path may be stored.
    pub(crate) fn git_id(&self, path: &RepoPath) -> Option<&str> {
        let change = self.delta.changes.iter().find(|change| change.path == *path)?;
        change.before.as_ref()?.git_id.as_deref()
    }
}

/// Returns the run that made the changes that `run_id` judges, if they still wait in a layer.
pub fn held_run_of(workspace: &Workspace, run_id: &str) -> Result<Option<String>, ServiceError> {
    let first = first_judged(workspace, run_id.to_owned())?;
    Ok(workspace.state.layer(&first).join("upper").is_dir().then_some(first))
}

/// Follows amendments back to the run that made the changes.
pub(crate) fn first_judged(workspace: &Workspace, run_id: String) -> Result<String, ServiceError> {
    first_judged_among(workspace, &bundles::chained(workspace)?, run_id)
}

/// Like [`first_judged`], for bundles that are known already.
pub(crate) fn first_judged_among(
    workspace: &Workspace,
    chained: &[StoredManifest],
    run_id: String,
) -> Result<String, ServiceError> {
    let mut run_id = run_id;
    while let Some(from) = bundles::manifest(workspace, &run_id)?.manifest.details.amended_from {
        match chained.iter().find(|stored| stored.run_hash == from) {
            Some(stored) => run_id.clone_from(&stored.manifest.run_id),
            None => break,
        }
    }
    Ok(run_id)
}

/// Returns the layer that `name` means: that of a finished run, or `open` for that of the run that goes on.
fn find_layer(workspace: &Workspace, name: &str) -> Result<(String, PathBuf), ServiceError> {
    let layers = workspace.state.layers()?;
    if name == "open" {
        let is_used = |id: &&String| matches!(FileLock::poll(&workspace.state.layer_lock(id)), Ok(None));
        let run_id = layers.iter().rfind(is_used).ok_or_else(|| {
            let detail =
                "no run is in progress in a view of this repository; `last` names the most recent one";
            ServiceError::refused(ReasonCode::LayerUnknown, detail)
        })?;
        return Ok((run_id.clone(), workspace.state.layer(run_id)));
    }
    let mut meant = layers.iter().filter(|id| id.starts_with(name) && !name.is_empty());
    let run_id = match (meant.next(), meant.next()) {
        (Some(run_id), None) => run_id.clone(),
        _ => first_judged(workspace, bundles::find(workspace, name)?)?,
    };
    let layer = layer_store::held_layer(workspace, &run_id)?;
    Ok((run_id, layer))
}

/// Returns what a snapshot has at a path.
pub(crate) fn entry_state(snapshot: &Snapshot, path: &RepoPath) -> Option<EntryState> {
    snapshot.get(path).map(|entry| EntryState {
        kind: entry.kind(),
        mode: entry.mode(),
        size: entry.size(),
        digest: entry.digest(),
    })
}

/// Shares the lock of the tree, so that no run works in the tree itself.
fn share_tree(workspace: &Workspace) -> Result<FileLock, ServiceError> {
    let lock = workspace.state.tree_lock(&workspace.root);
    FileLock::share_within(&lock, SHARE_TIMEOUT).map_err(|error| match error {
        LockError::Held { holder } => ServiceError::Held { holder },
        LockError::Store(error) => error.into(),
    })
}
