//! Evidence of landings that were completed by a later start: the process that decided them could not write it.

use crate::attest::{
    self, BundleInputs, ChainHeadSource, ExecutionRecord, MaintenanceOperation, SealedRun, TreeRecord,
};
use crate::landing::{LandingOutcome, RecoveredLanding, layer_store};
use crate::run_verdict::RunVerdict;
use crate::{bundles, recorded_delta};
use probity_evidence::{GlobList, LandingRecord, LandingState, Plan, Seal, SealContents};
use probity_snapshot::{Snapshot, TreeChange};
use probity_storage::durable;
use probity_workspace::observe::WorkspaceObserver;
use probity_workspace::run_claims::SEAL_FILE;
use probity_workspace::{ServiceError, Workspace, clock, signing};
use std::ffi::OsString;

/// Writes the evidence of a recovered landing of a judged run, and removes the layer that landed. A landing of a run that
/// has no evidence is told by the evidence that closes that run.
pub(crate) fn attest_recovered(
    workspace: &Workspace,
    recovered: &RecoveredLanding,
) -> Result<(), ServiceError> {
    let LandingOutcome::Landed { paths } = &recovered.outcome else { return Ok(()) };
    let run_id = &recovered.run_id;
    let chained = bundles::chained(workspace)?;
    let Some(stored) = chained.iter().find(|stored| stored.manifest.run_id == *run_id) else { return Ok(()) };
    if stored.manifest.details.lands.is_some() {
        // The evidence of the landing itself; only its layer is left.
        return remove_landed_layer(workspace, run_id);
    }
    // The last judgment of the run is the one that landed.
    let mut run_hash = stored.run_hash;
    for later in &chained {
        if later.manifest.details.amended_from == Some(run_hash) {
            run_hash = later.run_hash;
        }
    }
    let is_told = chained.iter().any(|stored| {
        let details = &stored.manifest.details;
        let has_landed = |record: &LandingRecord| record.state == LandingState::Landed;
        details.lands == Some(run_hash) && details.landing.as_ref().is_some_and(has_landed)
    });
    if !is_told {
        let bundle = bundles::read_sound_bundle(workspace, run_id)?;
        let like = bundles::seal(&bundle.files, run_id)?;
        let now = WorkspaceObserver::new(workspace).content(None)?;
        let manifest = &stored.manifest;
        let mut scope = manifest.plan.scope.clone();
        let amendments = chained.iter().filter(|stored| stored.run_hash == run_hash);
        for amendment in amendments.flat_map(|stored| &stored.manifest.amendments) {
            scope.extend(&amendment.add);
        }
        let mut contents = seal_contents(workspace, like.contents(), scope, &now, false)?;
        // The bundle tells what the run did, whatever the tree has become since.
        contents.root = manifest.before_root.unwrap_or(contents.root);
        if like.contents().start.is_some() {
            contents.root = like.contents().root;
            contents.start.clone_from(&like.contents().start);
        }
        let seal = Seal::new(contents);
        let open = workspace.state.open_view_run(&seal.contents().run_id, &workspace.root);
        let _lock = layer_store::lock_layer(workspace, &seal.contents().run_id, "closing a landing")?;
        durable::write(&open.folder.join(SEAL_FILE), &seal.to_bytes())?;
        let recorded = recorded_delta::read_delta(&bundle.files, run_id)?;
        let landed = recorded.changes.iter().filter(|change| paths.contains(&change.path));
        let delta: Result<Vec<TreeChange>, _> = landed.map(recorded_delta::tree_change).collect();
        let verdict = RunVerdict {
            delta: delta.map_err(|(reason, detail)| ServiceError::refused(reason, detail))?,
            exempt: manifest.exempt_delta_paths.clone(),
            recognized: manifest.details.recognized_outputs.clone(),
            ..RunVerdict::default()
        };
        let command: Vec<OsString> = vec!["probity".into(), "land".into(), run_id.into()];
        let key = signing::signing_key(workspace)?;
        attest::attest(
            workspace,
            &BundleInputs {
                sealed: SealedRun { seal: &seal, key: key.as_ref(), amendments: &[], folder: &open.folder },
                tree: TreeRecord {
                    verdict: &verdict,
                    before_root: manifest.before_root,
                    after_root: manifest.after_root,
                    start: Some(&now),
                    ref_movements: &[],
                },
                execution: ExecutionRecord {
                    command: Some((&command, Some(0))),
                    did: Some(MaintenanceOperation::Land(run_hash)),
                    gate_results: &[],
                    containment: &[],
                    landing: Some(LandingRecord { state: LandingState::Landed, paths: paths.clone() }),
                },
                head: ChainHeadSource::OnDisk,
            },
        )?;
        durable::remove(&open.lock)?;
    }
    remove_landed_layer(workspace, run_id)
}

fn remove_landed_layer(workspace: &Workspace, run_id: &str) -> Result<(), ServiceError> {
    match layer_store::lock_layer(workspace, run_id, "closing a landing") {
        Ok(_layer) => layer_store::remove_layer(workspace, run_id),
        // Somebody looks at it; the next start removes it.
        Err(_) => Ok(()),
    }
}

/// Builds the seal of a landing under the policy of its run.
pub(crate) fn seal_contents(
    workspace: &Workspace,
    like: &SealContents,
    scope: GlobList,
    now: &Snapshot,
    needs_gates: bool,
) -> Result<SealContents, ServiceError> {
    let mut plan = Plan { scope, ..like.plan.clone() };
    if !needs_gates {
        plan.gates = Vec::new();
        plan.skipped_gates = Vec::new();
    }
    Ok(SealContents {
        run_id: clock::run_id(),
        sealed_at: clock::now(),
        root: now.root(),
        start: None,
        plan,
        log: workspace.state.store()?.log_head()?.map(|head| head.tree),
        ..like.clone()
    })
}
