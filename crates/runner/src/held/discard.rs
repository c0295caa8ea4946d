//! Drops the changes of a run. The tree never had them.

use super::find_layer;
use crate::landing::layer_store;
use probity_api::govern::land::DiscardAnswer;
use probity_workspace::{ServiceError, Workspace};

/// Removes the layer of `run`, unless `dry_run`.
pub fn discard(workspace: &Workspace, run: &str, dry_run: bool) -> Result<DiscardAnswer, ServiceError> {
    let (run_id, layer) = find_layer(workspace, run)?;
    let _layer = layer_store::lock_layer(workspace, &run_id, "discard")?;
    let size = probity_workspace::held_layers::layer_size(&layer.join("upper"));
    if !dry_run {
        layer_store::remove_layer(workspace, &run_id)?;
    }
    let root = workspace.root.clone().into();
    Ok(DiscardAnswer { root, run_id, dry_run, n_entries: size.n_entries, bytes: size.bytes })
}
