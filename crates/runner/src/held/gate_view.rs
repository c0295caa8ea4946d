//! Runs gates on a layer: they see the tree with its changes and write to a layer that is thrown away.

use crate::view::{GateView, MergedTree, RunView};
use probity_evidence::Seal;
use probity_paths::RepoPath;
use probity_process::Supervisor;
use probity_workspace::gates::{self, GatePlace, GateResult};
use probity_workspace::{ServiceError, Workspace};
use std::collections::BTreeSet;
use std::path::Path;

/// Runs the gates of `seal` on the layer `layer_id`. The caller holds its lock.
pub(super) fn run_gates(
    workspace: &Workspace,
    seal: &Seal,
    layer_id: &str,
    changed: &BTreeSet<RepoPath>,
    log_directory: &Path,
) -> Result<Vec<GateResult>, ServiceError> {
    let rules = workspace.load_policy()?.policy.enforce;
    let view = RunView::create(workspace, layer_id, &rules)?;
    view.reset_gates()?;
    let mut supervisor = Supervisor::new().map_err(ServiceError::system("cannot supervise processes"))?;
    let results = MergedTree::open(&view).and_then(|merged| {
        let confinement = GateView { view: &view, file_root: merged.root() };
        let place = GatePlace {
            confinement: Some(&confinement),
            root: &workspace.root,
            log_directory,
            changed_since_seal: Some(changed),
        };
        let phase = workspace.progress.begin_counted("running gates", seal.contents().plan.gates.len());
        let mut after = |_: &GateResult| {
            phase.advance();
            Ok(())
        };
        gates::run(&mut supervisor, seal, place, &mut gates::announcement(workspace, seal), &mut after)
    });
    view.keep_layer_only();
    results
}
