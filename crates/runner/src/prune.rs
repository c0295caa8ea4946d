//! `probity evidence gc`: removes old bundles and the before-images that no remaining bundle needs.
//!
//! The chain stays complete. Bundles are removed from its old end only, and first a bundle that lists their run hashes
//! is chained: a missing bundle that is listed was pruned and not lost. A broken chain is left alone, so that no gap
//! can be tidied away. A kill leaves at most listed bundles that still exist, and the next prune removes them.
//! Before-images are removed when no remaining bundle needs them for a revert. No run is active meanwhile, in any
//! worktree.

use crate::attest::MaintenanceOperation;
use crate::attest::WrittenBundle;
use crate::chain_check::{self, ChainReport};
use crate::landing::layer_store;
use crate::maintenance_run::MaintenanceRun;
use crate::planning;
use crate::run_verdict::RunVerdict;
use crate::{bundles, recover, revert, run};
use probity_api::govern::delta::PrunedRun;
use probity_api::govern::evidence::EvidenceRemoval;
use probity_core::{Digest, ReasonCode};
use probity_evidence::GlobList;
use probity_storage::{FileLock, LockError};
use probity_workspace::exemptions::Exemptions;
use probity_workspace::held_layers::{held_layers, layer_size};
use probity_workspace::observe::WorkspaceObserver;
use probity_workspace::selection::{PlanSelection, names};
use probity_workspace::{ServiceError, Workspace, clock};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::time::Duration;

/// The bundles to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BundleRetention {
    /// This many, the newest of the chain.
    Newest(usize),
    /// Bundles younger than this.
    YoungerThan(Duration),
}

/// Removes everything that is not kept.
pub fn prune(
    workspace: &Workspace,
    keep: BundleRetention,
    dry_run: bool,
) -> Result<EvidenceRemoval, ServiceError> {
    let _tree = run::take_tree(workspace, "evidence gc")?;
    recover::close_interrupted(workspace, true)?;
    let _images = FileLock::try_take(&workspace.state.before_lock(), "evidence gc").map_err(lock_error)?;
    let chain = chain_check::check(workspace, &bundles::own_trust(workspace)?)?;
    if let Some(problem) = chain.problems().next() {
        let detail = format!("{problem}; nothing was removed");
        return Err(ServiceError::refused(ReasonCode::EvidenceChainBroken, detail));
    }
    let doomed = bundles_to_prune(&chain, keep);
    let kept = chain.links.len() - doomed.len();
    let going: Vec<&PrunedRun> = chain.leftovers.iter().chain(&doomed).collect();
    let mut bytes: u64 = going.iter().map(|run| bundle_size_bytes(workspace, &run.run_id)).sum();
    let attested = if dry_run || doomed.is_empty() { None } else { Some(attest(workspace, &doomed)?) };
    if !dry_run {
        going.iter().try_for_each(|run| remove_bundle(workspace, &run.run_id))?;
    }
    let gone: BTreeSet<&str> = going.iter().map(|run| run.run_id.as_str()).collect();
    let n_layers = remove_layers(workspace, &gone, dry_run, &mut bytes)?;
    let needed = needed_images(workspace, &gone)?;
    let images = workspace.state.before_images();
    let mut n_images = 0;
    for (digest, size) in images.list()?.into_iter().filter(|(digest, _)| !needed.contains(digest)) {
        n_images += 1;
        bytes += size;
        if !dry_run {
            images.remove(&digest)?;
        }
    }
    Ok(EvidenceRemoval {
        dry_run,
        bundles: going.into_iter().cloned().collect(),
        kept,
        before_images: n_images,
        layers: n_layers,
        bytes,
        evidence_dir: attested.map(|attested| attested.dir.into()),
    })
}

/// Removes the layers and landings of bundles that are gone: nothing can land or be reverted without evidence. Layers
/// that a killed run left without evidence go, too.
fn remove_layers(
    workspace: &Workspace,
    gone: &BTreeSet<&str>,
    dry_run: bool,
    bytes: &mut u64,
) -> Result<usize, ServiceError> {
    let kept: BTreeSet<String> = workspace.state.bundles()?.into_iter().collect();
    let is_gone = |run_id: &str| gone.contains(run_id) || !kept.contains(run_id);
    let mut n_layers = 0;
    for layer in
        held_layers(workspace)?.into_iter().filter(|layer| !layer.is_in_use && is_gone(&layer.run_id))
    {
        n_layers += 1;
        *bytes += layer.size.bytes;
        if !dry_run {
            let _layer = layer_store::lock_layer(workspace, &layer.run_id, "evidence gc")?;
            layer_store::remove_layer(workspace, &layer.run_id)?;
        }
    }
    for (run_id, directory) in workspace.state.landings(&workspace.root)? {
        if gone.contains(run_id.as_str()) {
            *bytes += layer_size(&directory).bytes;
            if !dry_run {
                layer_store::remove_tree(&directory)?;
            }
        }
    }
    Ok(n_layers)
}

fn lock_error(error: LockError) -> ServiceError {
    match error {
        LockError::Held { .. } => {
            ServiceError::Held { holder: "a run is in progress in this repository".into() }
        }
        LockError::Store(error) => error.into(),
    }
}

/// Returns the old end of the chain, oldest first. A bundle stays if any older one stays.
fn bundles_to_prune(chain: &ChainReport, keep: BundleRetention) -> Vec<PrunedRun> {
    let stays = match keep {
        BundleRetention::Newest(n) => n,
        BundleRetention::YoungerThan(age) => {
            let limit = clock::format_time_ago(age);
            chain.links.iter().rposition(|link| link.created_at >= limit).map_or(0, |last| last + 1)
        }
    };
    let old = chain.links.iter().skip(stays).rev();
    old.map(|link| PrunedRun { run_id: link.run_id.clone(), run_hash: link.run_hash }).collect()
}

/// Records on the chain which bundles are about to be removed.
fn attest(workspace: &Workspace, doomed: &[PrunedRun]) -> Result<WrittenBundle, ServiceError> {
    let now = WorkspaceObserver::new(workspace).content(None)?;
    // An unreadable policy is not a reason to keep old evidence.
    let policy = workspace.load_policy().unwrap_or_default().policy;
    let profile = policy.profiles.first().map(|profile| profile.id.clone());
    let selection = PlanSelection { profile, ..PlanSelection::default() };
    let plan = planning::preview(&policy, &selection, names(&now), &Exemptions::default())?.plan;
    let like = policy.seal_contents(plan, "", "", now.root());
    let command: Vec<OsString> = ["probity", "evidence", "gc"].map(OsString::from).into();
    let deed = MaintenanceRun::seal(workspace, &like, GlobList::default(), &now, command)?;
    deed.conclude(workspace, MaintenanceOperation::Prune(doomed), [&now, &now], &RunVerdict::default())
}

/// Hides a bundle with a rename, then deletes it, so that readers see all of it or nothing.
fn remove_bundle(workspace: &Workspace, run_id: &str) -> Result<(), ServiceError> {
    let (parent, hidden) = (workspace.state.evidence(), format!(".partial-gc-{run_id}"));
    let (from, to) = (parent.join(run_id), parent.join(hidden));
    let cannot = |path: &std::path::Path| ServiceError::system(format!("cannot remove {}", path.display()));
    fs::rename(&from, &to).map_err(cannot(&from))?;
    fs::remove_dir_all(&to).map_err(cannot(&to))
}

fn bundle_size_bytes(workspace: &Workspace, run_id: &str) -> u64 {
    let files = bundles::read(&workspace.state.evidence().join(run_id)).unwrap_or_default();
    files.values().map(|bytes| bytes.len() as u64).sum()
}

/// Returns the contents that the remaining bundles need for a revert.
fn needed_images(workspace: &Workspace, gone: &BTreeSet<&str>) -> Result<BTreeSet<Digest>, ServiceError> {
    let mut needed = BTreeSet::new();
    let phase = workspace.progress.begin("reading bundles");
    for run_id in workspace.state.bundles()?.iter().filter(|id| !gone.contains(id.as_str())) {
        // Fail closed: an unreadable bundle might need any of them.
        let files = bundles::read(&workspace.state.evidence().join(run_id))?;
        needed.extend(revert::needed_contents(&files, run_id)?);
        phase.advance();
    }
    Ok(needed)
}
