//! Finds runs whose supervisor died and closes them as failed, with what is known (laws 10 and 11).
//!
//! A run has a directory under `open/` from before its command starts until its bundle is on disk and in the log, and
//! holds the lock of its tree even longer. A directory whose tree is not locked belongs to a killed run. The closer of
//! a run on another tree shares that tree's lock: no run can start there, and a starting run can distinguish a closer,
//! which it waits for, from a run, which it does not. Closers exclude each other by their own lock, so that each run is
//! closed once.

use crate::attest::{
    self, BundleInputs, ChainHeadSource, ExecutionRecord, SealedRun, TreeRecord, WrittenBundle,
};
use crate::landing::{self, LandingOutcome, RecoveredLanding, layer_store};
use crate::run_verdict::RunVerdict;
use crate::{bundles, recovered_landing, reserved_space};
use probity_api::govern::run::{FindingSeverity, RunFinding};
use probity_core::ReasonCode;
use probity_evidence::{Seal, SecretKey, StoredManifest, bundle};
use probity_paths::RepoPath;
use probity_process::OrphanProcess;
use probity_storage::{FileLock, durable};
use probity_workspace::OpenRun;
use probity_workspace::amendment_journal::AmendmentJournal;
use probity_workspace::transparency_log::{self, BUNDLE_LOG};
use probity_workspace::workspace::Workspace;
use probity_workspace::{ServiceError, gates, signing};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Time a starting run waits for the closer of an interrupted run on its tree, which only makes some writes to disk.
pub(crate) const CLOSER_TIMEOUT: Duration = Duration::from_mins(1);

/// A run that was closed on behalf of its dead supervisor.
#[derive(Debug)]
pub struct ClosedRun {
    pub run_id: String,
    pub dir: PathBuf,
    /// Its processes that are still alive. What they write now will be attributed to the next run.
    pub orphans: Vec<OrphanProcess>,
}

/// Closes every killed run of this repository. The caller holds the lock of this workspace's tree, for itself if
/// `is_exclusive`.
#[tracing::instrument(name = "close interrupted runs", skip_all)]
pub(crate) fn close_interrupted(
    workspace: &Workspace,
    is_exclusive: bool,
) -> Result<Vec<ClosedRun>, ServiceError> {
    let mut closed = Vec::new();
    let landings = landing::recover_landings(workspace)?;
    for landing in landing::unattested_landings(workspace)? {
        // Evidence that does not hold together keeps nobody from working; the landing stays and is tried again.
        match recovered_landing::attest_recovered(workspace, &landing) {
            Err(ServiceError::Refused { reason, .. }) => {
                tracing::warn!(
                    run_id = landing.run_id,
                    code = reason.as_str(),
                    "a landing has no evidence yet"
                );
            }
            attested => attested?,
        }
    }
    let own_lock = workspace.state.tree_lock(&workspace.root);
    let (own, others): (Vec<_>, Vec<_>) =
        workspace.state.open_runs()?.into_iter().partition(|run| is_exclusive && run.lock == own_lock);
    for run in own {
        closed.extend(close_run(workspace, run, &landings)?);
    }
    if others.is_empty() {
        return Ok(closed);
    }
    // Another closer is handling the same runs.
    let Some(_closing) = FileLock::poll(&workspace.state.closing_lock())? else { return Ok(closed) };
    for run in others {
        if let Some(_held) = hold_interrupted(&run) {
            closed.extend(close_run(workspace, run, &landings)?);
        }
    }
    Ok(closed)
}

/// Shares the lock of the tree of `run`; `None` if the run is active or has ended normally since it was listed. An
/// unusable lock is reported by the next run on its own tree, not here.
fn hold_interrupted(run: &OpenRun) -> Option<FileLock> {
    let held = FileLock::try_share(&run.lock).ok().flatten();
    // Checked again under the lock, because the list was made without it.
    held.filter(|_| run.folder.exists())
}

/// Closes a killed run. The caller holds the lock of its tree. `landings` were found half made and are settled by now.
fn close_run(
    workspace: &Workspace,
    run: OpenRun,
    landings: &[RecoveredLanding],
) -> Result<Option<ClosedRun>, ServiceError> {
    // The process that killed the supervisor could also have forged the stat cache.
    durable::remove(&run.cache)?;
    layer_store::flush_layer(&workspace.state.layer(&run.run_id))?;
    let key = signing::signing_key(workspace)?;
    let closed = if adopt(workspace, &run, key.as_ref())? {
        None
    } else if attest::finished_manifest(workspace, &run.run_id, key.as_ref()).is_some() {
        // Killed after the bundle was written: at most the log is behind.
        attest::list_finished(workspace, key.as_ref())?;
        None
    } else {
        let landing = landings.iter().find(|landing| landing.run_id == run.run_id);
        let landing = landing.map(|landing| landing.outcome.clone());
        let landing = match landing {
            None => {
                landing::decided_paths(workspace, &run.run_id)?.map(|paths| LandingOutcome::Landed { paths })
            }
            settled => settled,
        };
        close_killed_run(workspace, &run.folder, key.as_ref(), landing.as_ref())?.map(|dir| ClosedRun {
            orphans: probity_process::processes_with_variable(probity_process::RUN_VARIABLE, &run.run_id),
            run_id: run.run_id,
            dir,
        })
    };
    attest::remove_folder(&run.folder)?;
    remove_partial_bundles(workspace);
    Ok(closed)
}

/// Adopts the bundles of all ended runs of this repository.
pub(crate) fn adopt_all(workspace: &Workspace) -> Result<(), ServiceError> {
    for run in workspace.state.open_runs()? {
        if reserved_space::elsewhere(&run).is_none() {
            continue;
        }
        let Some(_ended) = FileLock::try_share(&run.lock).ok().flatten() else { continue };
        let key = signing::signing_key(workspace)?;
        if adopt(workspace, &run, key.as_ref())? {
            attest::remove_folder(&run.folder)?;
        }
    }
    Ok(())
}

/// Brings the bundle of an ended run to its place in the log. Returns false if there is none, or not the one that the
/// run wrote.
fn adopt(workspace: &Workspace, run: &OpenRun, key: Option<&SecretKey>) -> Result<bool, ServiceError> {
    let Some(note) = reserved_space::elsewhere(run) else { return Ok(false) };
    let (verification, files) = bundles::verify(&note.dir, &bundles::next_trust(key))?;
    let stored = files.get(&b"manifest.json"[..]).and_then(|bytes| StoredManifest::parse(bytes).ok());
    let is_written_by_run =
        |it: &StoredManifest| it.manifest.run_id == run.run_id && it.run_hash == note.run_hash;
    let Some(stored) = stored.filter(|it| bundles::is_sound(&verification) && is_written_by_run(it)) else {
        return Ok(false);
    };
    reserved_space::release(&run.folder);
    let turn = workspace.state.lock_evidence()?;
    let store = workspace.state.store()?;
    if stored.prev_run_hash == transparency_log::last(&store, BUNDLE_LOG)?.map(|last| last.digest) {
        let parent = workspace.state.evidence();
        durable::create_dir(&parent)?;
        bundle::write_bundle(&parent, &run.run_id, &files).map_err(|error| ServiceError::System {
            what: format!("cannot bring the evidence home from {}", note.dir.display()),
            source: std::io::Error::other(error),
        })?;
        transparency_log::append(&store, BUNDLE_LOG, &run.run_id, &stored.run_hash)?;
    } else {
        // Others were listed meanwhile: the same facts get a new place, and with it a new hash.
        drop(turn);
        let kept = files.into_iter().filter_map(|(name, bytes)| Some((String::from_utf8(name).ok()?, bytes)));
        let artifacts = kept.filter(|(name, _)| name != "manifest.json" && name != "summary.md").collect();
        attest::publish(workspace, &stored.manifest, artifacts, key, ChainHeadSource::OnDisk)?;
    }
    // The copy is no longer needed; what stays does no harm.
    let _ = fs::remove_dir_all(&note.dir);
    let _ = note.dir.parent().map(fs::remove_dir);
    Ok(true)
}

/// The largest seal that is read; a governed command may have planted a larger one.
const MAX_SEAL_BYTES: u64 = 64 * 1024 * 1024;

/// Writes the bundle of a killed run; `None` if it was killed before the seal, and so before anything ran.
fn close_killed_run(
    workspace: &Workspace,
    folder: &Path,
    key: Option<&SecretKey>,
    landing: Option<&LandingOutcome>,
) -> Result<Option<PathBuf>, ServiceError> {
    let Some(bytes) = durable::read_at_most(&folder.join("seal.json"), MAX_SEAL_BYTES)? else {
        return Ok(None);
    };
    let Ok(seal) = Seal::parse(&bytes) else {
        return set_aside(folder).map(|()| None);
    };
    let (detail, landed) = match landing {
        None => ("its supervisor ended without a word; what it changed is not known".to_owned(), &[][..]),
        Some(LandingOutcome::Landed { paths }) => {
            let n_paths = probity_core::text::count(paths.len(), "path");
            (format!("its supervisor ended while its changes landed; {n_paths} landed"), &paths[..])
        }
        Some(LandingOutcome::Conflict { .. }) => {
            let detail =
                "its supervisor ended while its changes landed; they met a conflict and were taken back";
            (detail.to_owned(), &[][..])
        }
    };
    let attested =
        record_unjudged(workspace, &seal, key, folder, (&detail, landed), ChainHeadSource::OnDisk)?;
    Ok(Some(attested.dir))
}

/// Writes evidence that a sealed run failed because it could not be judged, why, and which paths it brought into the tree
/// nevertheless (law 11).
pub(crate) fn record_unjudged(
    workspace: &Workspace,
    seal: &Seal,
    key: Option<&SecretKey>,
    folder: &Path,
    (detail, landed): (&str, &[RepoPath]),
    head: ChainHeadSource,
) -> Result<WrittenBundle, ServiceError> {
    let finding = |severity, reason, detail| RunFinding { reason, path: None, detail, severity };
    let asked = AmendmentJournal::read(folder);
    let mut findings = vec![finding(FindingSeverity::Error, ReasonCode::RunInterrupted, detail.into())];
    let in_tree = |path: &RepoPath| RunFinding {
        path: Some(path.clone()),
        ..finding(FindingSeverity::Error, ReasonCode::RunInterrupted, "its change is in the tree".into())
    };
    findings.extend(landed.iter().map(in_tree));
    let refused = asked.refusals().into_iter();
    findings.extend(refused.map(|(reason, detail)| finding(FindingSeverity::Note, reason, detail)));
    let verdict = RunVerdict { findings, reasons: vec![ReasonCode::RunInterrupted], ..RunVerdict::default() };
    attest::attest(
        workspace,
        &BundleInputs {
            sealed: SealedRun { seal, key, amendments: &asked.granted, folder },
            tree: TreeRecord {
                verdict: &verdict,
                before_root: Some(seal.contents().root),
                after_root: None,
                start: None,
                ref_movements: &[],
            },
            execution: ExecutionRecord {
                command: None,
                did: None,
                gate_results: &gates::skip_all(seal, "the run was interrupted"),
                containment: &[],
                landing: None,
            },
            head,
        },
    )
}

/// Removes what killed writers left. Failures are ignored: leftovers do no harm.
fn remove_partial_bundles(workspace: &Workspace) {
    let _ = probity_evidence::bundle::clean_leftovers(&workspace.state.evidence());
}

/// Moves an unreadable directory out of the way and keeps it for a person to inspect.
fn set_aside(folder: &Path) -> Result<(), ServiceError> {
    let aside =
        folder.with_file_name(format!(".damaged-{}", folder.file_name().unwrap_or_default().display()));
    fs::rename(folder, &aside)
        .map_err(ServiceError::system(format!("cannot set {} aside", folder.display())))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use probity_workspace::StateDirectory;

    fn open_run() -> (tempfile::TempDir, OpenRun) {
        let dir = tempfile::tempdir().expect("a directory");
        let run = StateDirectory::at(dir.path().to_owned()).open_run("r1", Path::new("/other"));
        fs::create_dir_all(&run.folder).expect("creates");
        (dir, run)
    }

    #[test]
    fn a_run_that_ended_after_it_was_listed_is_let_go_at_once() {
        let (_dir, run) = open_run();
        attest::remove_folder(&run.folder).expect("removes");
        let held = hold_interrupted(&run);
        assert!(held.is_none());
        FileLock::try_take(&run.lock, "the next run").expect("its tree is free");
    }

    #[test]
    fn a_run_that_goes_on_is_not_interrupted() {
        let (_dir, run) = open_run();
        let _lives = FileLock::try_take(&run.lock, "run r1").expect("is free");
        assert!(hold_interrupted(&run).is_none());
    }

    #[test]
    fn while_an_interrupted_run_is_closed_no_run_starts_on_its_tree() {
        let (_dir, run) = open_run();
        let held = hold_interrupted(&run);
        assert!(held.is_some());
        assert!(FileLock::try_take(&run.lock, "the next run").is_err());
    }

    #[test]
    fn a_run_waits_for_who_closes_an_interrupted_one_on_its_tree() {
        let dir = tempfile::tempdir().expect("a directory");
        let workspace = Workspace::find(Some(dir.path()), dir.path()).expect("a tree");
        let run = workspace.state.open_run("r1", &workspace.root);
        fs::create_dir_all(&run.folder).expect("creates");
        let closing = hold_interrupted(&run);
        assert!(closing.is_some());
        std::thread::scope(|scope| {
            let starting = scope.spawn(|| crate::run::take_tree(&workspace, "run r2").map(drop));
            scope.spawn(move || drop(closing));
            starting.join().expect("ends").expect("waits");
        });
    }
}
