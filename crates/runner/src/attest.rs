//! Writes evidence: the bundle of a run, completely or not at all, chained to its predecessor (laws 10 and 11).
//!
//! The order makes a kill harmless: bundle on disk, then its entry in the log, then removal of the run's open directory.
//! If a directory and its bundle both exist, at most the log is behind, and [`list_finished`] catches it up.

use crate::bundles;
use crate::bundles::{DELTA_FILE, PRUNED_FILE};
use crate::reserved_space;
use crate::run_verdict::RunVerdict;
use probity_api::govern::delta::{DeltaFile, EntryKind, PrunedFile, PrunedRun, RecordedChange, RecordedSide};
use probity_api::govern::run::{FindingSeverity, RefMovement, RunFinding};
use probity_core::Digest;
use probity_evidence::{
    Amendment, BundleDocument as _, EvidenceBundle, GovernedCommand, LandingRecord, Manifest,
    ManifestDetails, ManifestFinding, RefChange, Seal, SecretKey, StoredManifest, ToolVersion,
};
use probity_snapshot::git::TreeSide;
use probity_snapshot::{EntryState, Snapshot, SnapshotEntryKind, TreeChange};
use probity_storage::durable;
use probity_storage::sqlite::SqliteStore;
use probity_workspace::OpenRun;
use probity_workspace::gates::GateResult;
use probity_workspace::run_claims::SEAL_FILE;
use probity_workspace::transparency_log::{self, BUNDLE_LOG, LogEntry};
use probity_workspace::{ServiceError, Workspace, clock};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// An operation of Probity itself on a tree or its evidence.
#[derive(Debug, Clone, Copy)]
pub enum MaintenanceOperation<'a> {
    /// Reverted the out-of-scope changes of the run with this hash.
    Revert(Digest),
    /// Removed these bundles.
    Prune(&'a [PrunedRun]),
    /// Brought changes of the run with this hash into the tree.
    Land(Digest),
}

/// Which bundle a new one names as its predecessor.
#[derive(Debug, Clone)]
pub enum ChainHeadSource {
    /// The last one that the log lists: the normal case.
    OnDisk,
    /// The last one at the start, because the log on disk cannot be trusted.
    Remembered(Option<LogEntry>),
}

#[derive(Debug)]
pub struct BundleInputs<'a> {
    pub sealed: SealedRun<'a>,
    pub tree: TreeRecord<'a>,
    pub execution: ExecutionRecord<'a>,
    pub head: ChainHeadSource,
}

#[derive(Debug)]
pub struct SealedRun<'a> {
    pub seal: &'a Seal,
    /// The signing key, read before the command ran.
    pub key: Option<&'a SecretKey>,
    pub amendments: &'a [Amendment],
    pub folder: &'a Path,
}

/// The outcome for the tree.
#[derive(Debug)]
pub struct TreeRecord<'a> {
    pub verdict: &'a RunVerdict,
    /// The root hash at the start, if everything could be observed.
    pub before_root: Option<Digest>,
    /// The root hash at the end, if everything could be observed.
    pub after_root: Option<Digest>,
    /// The start snapshot, which has the git ids of the former contents; `None` if the delta is not known.
    pub start: Option<&'a Snapshot>,
    pub ref_movements: &'a [RefMovement],
}

/// The outcome of the command and the gates.
#[derive(Debug)]
pub struct ExecutionRecord<'a> {
    /// The command, and its exit code if known.
    pub command: Option<(&'a [OsString], Option<i32>)>,
    /// Set for maintenance runs.
    pub did: Option<MaintenanceOperation<'a>>,
    pub gate_results: &'a [GateResult],
    /// Weaknesses of the supervision on this system.
    pub containment: &'a [String],
    /// What became of the changes of a run in a view.
    pub landing: Option<LandingRecord>,
}

#[derive(Debug, Clone)]
pub struct WrittenBundle {
    pub dir: PathBuf,
    pub run_hash: Digest,
    /// `None` if unsigned.
    pub key_id: Option<String>,
    /// False if the bundle could not be written to the state directory and waits elsewhere.
    pub is_chained: bool,
}

#[tracing::instrument(name = "attest", skip_all)]
pub fn attest(workspace: &Workspace, record: &BundleInputs<'_>) -> Result<WrittenBundle, ServiceError> {
    let manifest = manifest(workspace, record);
    let logs = record.execution.gate_results.iter().flat_map(|result| &result.logs);
    let mut artifacts: BTreeMap<_, _> = logs.map(|log| (log.path.clone(), log.bytes.clone())).collect();
    artifacts.insert(SEAL_FILE.into(), record.sealed.seal.to_bytes());
    if let Some(start) = record.tree.start {
        artifacts.insert(DELTA_FILE.into(), delta_file(record.tree.verdict, start));
    }
    if let Some(MaintenanceOperation::Prune(runs)) = record.execution.did {
        artifacts.insert(PRUNED_FILE.into(), PrunedFile { runs: runs.to_vec() }.to_bytes());
    }
    reserved_space::release(record.sealed.folder);
    let attested = publish(workspace, &manifest, artifacts, record.sealed.key, record.head.clone())?;
    end_open_run(record.sealed.folder, &attested);
    Ok(attested)
}

/// Ends an open run whose bundle is written: its directory goes, or names the place of the bundle.
pub(crate) fn end_open_run(folder: &Path, written: &WrittenBundle) {
    if written.is_chained {
        // The evidence is safe; a leftover directory is found at the next start.
        let _ = remove_folder(folder);
    } else if folder.exists() {
        // Without the note the next start closes the run as interrupted.
        let _ = reserved_space::note_elsewhere(folder, &written.dir, written.run_hash);
    }
}

/// Assembles, signs and writes a manifest, and lists it in the log.
pub fn publish(
    workspace: &Workspace,
    manifest: &Manifest,
    artifacts: BTreeMap<String, Vec<u8>>,
    key: Option<&SecretKey>,
    head: ChainHeadSource,
) -> Result<WrittenBundle, ServiceError> {
    // Destroying the state directory must not prevent evidence.
    let _turn = workspace.state.lock_evidence().ok();
    let store = workspace.state.store().ok();
    let is_trusted = matches!(head, ChainHeadSource::OnDisk);
    let head = match (head, &store) {
        (ChainHeadSource::Remembered(head), _) => head,
        (ChainHeadSource::OnDisk, None) => None,
        (ChainHeadSource::OnDisk, Some(store)) => {
            list_finished_in(workspace, store, key)?;
            transparency_log::last(store, BUNDLE_LOG)?
        }
    };
    let bundle = manifest.assemble(artifacts, head.map(|head| head.digest), key).map_err(|error| {
        ServiceError::System {
            what: "cannot assemble the evidence".into(),
            source: std::io::Error::other(error),
        }
    })?;
    let parent = workspace.state.evidence();
    let dir = write(&parent, manifest, &bundle)
        .or_else(|_| write(&create_fallback_directory()?, manifest, &bundle))?;
    let store = store.as_ref().filter(|_| dir.starts_with(&parent));
    let is_chained = store.is_some();
    if let Some(store) = store {
        let listed = transparency_log::append(store, BUNDLE_LOG, &manifest.run_id, &bundle.run_hash);
        // A log that was tampered with takes no entry; the bundle, which says so, counts all the same.
        listed.or_else(|error| if is_trusted { Err(error) } else { Ok(()) })?;
    }
    Ok(WrittenBundle { dir, run_hash: bundle.run_hash, key_id: key.map(SecretKey::key_id), is_chained })
}

/// Creates a directory for evidence if our own was destroyed: accessible only to its owner, with an unpredictable name.
fn create_fallback_directory() -> Result<PathBuf, ServiceError> {
    let for_owner = fs::Permissions::from_mode(0o700);
    let made = tempfile::Builder::new().prefix("probity-evidence-").permissions(for_owner).tempdir();
    Ok(made.map_err(ServiceError::system("there is no place for the evidence"))?.keep())
}

fn write(parent: &Path, manifest: &Manifest, bundle: &EvidenceBundle) -> Result<PathBuf, ServiceError> {
    durable::create_dir(parent)?;
    let place = parent.join(&manifest.run_id);
    if place.symlink_metadata().is_ok() {
        // Every bundle is written once, under a unique id: this one was planted to block ours.
        let aside = parent.join(format!(".planted-{}", manifest.run_id));
        fs::rename(&place, aside)
            .map_err(ServiceError::system(format!("cannot clear {}", place.display())))?;
    }
    // Each file, each directory of the bundle, and the directory that holds it.
    let has_logs = bundle.files.keys().any(|name| name.contains(&b'/'));
    tracing::trace!(target: "probity::work", fsyncs = bundle.files.len() as u64 + 2 + u64::from(has_logs));
    probity_evidence::bundle::write_bundle(parent, &manifest.run_id, &bundle.files).map_err(|error| {
        ServiceError::System {
            what: format!("cannot write the evidence to {}", parent.display()),
            source: std::io::Error::other(error),
        }
    })
}

/// Returns the manifest of the bundle that an open run wrote just before a kill. Anything else in its place was
/// planted: the bundle must be sound and, if the repository has a key, signed.
pub fn finished_manifest(
    workspace: &Workspace,
    run_id: &str,
    key: Option<&SecretKey>,
) -> Option<StoredManifest> {
    let dir = workspace.state.evidence().join(run_id);
    let (verification, files) = bundles::verify(&dir, &bundles::next_trust(key)).ok()?;
    let stored = StoredManifest::parse(files.get(&b"manifest.json"[..])?).ok()?;
    (bundles::is_sound(&verification) && stored.manifest.run_id == run_id).then_some(stored)
}

/// Lists a bundle that was written just before a kill.
pub fn list_finished(workspace: &Workspace, key: Option<&SecretKey>) -> Result<(), ServiceError> {
    let _turn = workspace.state.lock_evidence()?;
    list_finished_in(workspace, &workspace.state.store()?, key)
}

/// At most one bundle, of an open run, can be there and not be listed, because writing a bundle needs the lock.
fn list_finished_in(
    workspace: &Workspace,
    store: &SqliteStore,
    key: Option<&SecretKey>,
) -> Result<(), ServiceError> {
    for OpenRun { run_id, .. } in workspace.state.open_runs()? {
        let Some(stored) = finished_manifest(workspace, &run_id, key) else { continue };
        let last = transparency_log::last(store, BUNDLE_LOG)?;
        if stored.prev_run_hash == last.map(|last| last.digest) {
            transparency_log::append(store, BUNDLE_LOG, &run_id, &stored.run_hash)?;
        }
    }
    Ok(())
}

/// Removes the directory of a run whose bundle is safe.
pub fn remove_folder(folder: &Path) -> Result<(), ServiceError> {
    match fs::remove_dir_all(folder) {
        Err(error) if !is_gone(&error) => {
            Err(ServiceError::System { what: format!("cannot remove {}", folder.display()), source: error })
        }
        _ => Ok(()),
    }
}

fn is_gone(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

fn manifest(workspace: &Workspace, record: &BundleInputs<'_>) -> Manifest {
    let contents = record.sealed.seal.contents();
    let verdict = record.tree.verdict;
    Manifest {
        run_id: contents.run_id.clone(),
        created_at: clock::now(),
        plan: contents.plan.clone(),
        amendments: record.sealed.amendments.to_vec(),
        before_root: record.tree.before_root,
        after_root: record.tree.after_root,
        delta: record
            .tree
            .start
            .map(|_| verdict.delta.iter().map(|change| manifest_change(verdict, change)).collect()),
        exempt_delta_paths: verdict.exempt.clone(),
        gate_results: record.execution.gate_results.iter().map(gate_result).collect(),
        other_reasons: verdict.reasons.clone(),
        details: details(workspace, record),
    }
}

fn manifest_change(verdict: &RunVerdict, change: &TreeChange) -> probity_evidence::ManifestChange {
    probity_evidence::ManifestChange {
        place: verdict.placed.get(&change.path).map(|placed| placed.place.clone()),
        path: change.path.clone(),
        change: change.change,
        before: change.before.and_then(|side| side.digest),
        after: change.after.and_then(|side| side.digest),
    }
}

pub(crate) fn gate_result(result: &GateResult) -> probity_evidence::GateResult {
    probity_evidence::GateResult {
        gate_id: result.gate_id.clone(),
        status: result.status,
        exit_code: result.exit_code.map(Into::into),
        duration_ms: result.duration_ms,
        log_paths: result.log_paths(),
    }
}

fn details(workspace: &Workspace, record: &BundleInputs<'_>) -> ManifestDetails {
    let contents = record.sealed.seal.contents();
    let finding = |finding: &RunFinding| {
        let (code, path) = (finding.reason.as_str().to_owned(), finding.path.clone());
        match finding.severity {
            FindingSeverity::Error => ManifestFinding { code, path, detail: finding.detail.clone() },
            FindingSeverity::Note => ManifestFinding::note(code, path, &finding.detail),
        }
    };
    let family = |name: &'static str| {
        record.tree.verdict.findings.iter().filter(move |found| found.reason.as_str().starts_with(name))
    };
    let others = record.tree.verdict.findings.iter().filter(|found| {
        !["UNSAFE.", "PROTECTED."].iter().any(|family| found.reason.as_str().starts_with(family))
    });
    ManifestDetails {
        tool: Some(ToolVersion { name: "probity".into(), version: env!("CARGO_PKG_VERSION").into() }),
        started_at: Some(contents.sealed_at.clone()),
        enforcement: contents.enforcement,
        enforcement_detail: (!record.execution.containment.is_empty())
            .then(|| record.execution.containment.join("; ")),
        confinement: contents.confinement.clone(),
        start_look: contents.start_look(),
        landing: record.execution.landing.clone(),
        lands: match record.execution.did {
            Some(MaintenanceOperation::Land(of)) => Some(of),
            _ => None,
        },
        seal_hash: Some(record.sealed.seal.hash()),
        policy_digest: Some(contents.policy_digest),
        build_outputs: contents.build_outputs.clone(),
        recognized_outputs: record.tree.verdict.recognized.clone(),
        command: record.execution.command.map(|(argv, exit_code)| GovernedCommand {
            argv: probity_process::mask_secrets(argv).iter().map(|word| word.as_bytes().into()).collect(),
            exit_code: exit_code.map(Into::into),
            log_paths: Vec::new(),
        }),
        agent: contents.agent.clone(),
        unsafe_entries: family("UNSAFE.").map(finding).collect(),
        protected: family("PROTECTED.").map(finding).collect(),
        findings: others.map(finding).collect(),
        refs: record.tree.ref_movements.iter().map(ref_change).collect(),
        gate_delta_paths: record.tree.verdict.by_gates.clone(),
        tree: Some(probity_workspace::tree_key(&workspace.root)),
        reverts: match record.execution.did {
            Some(MaintenanceOperation::Revert(of)) => Some(of),
            _ => None,
        },
        pruned: match record.execution.did {
            Some(MaintenanceOperation::Prune(runs)) => Some(runs.len() as u64),
            _ => None,
        },
        ..ManifestDetails::default()
    }
}

fn ref_change(movement: &RefMovement) -> RefChange {
    RefChange {
        name: movement.name.as_bytes().into(),
        before: movement.before.clone(),
        after: movement.after.clone(),
        repository: movement.repository.as_ref().map(|path| path.as_bytes().into()),
    }
}

/// Records both sides of every change: type, permission bits, size, digest, and the blob id under which git may have
/// the content.
fn delta_file(verdict: &RunVerdict, start: &Snapshot) -> Vec<u8> {
    let delta = &verdict.delta;
    let id = |side: &TreeSide| side.as_ref().map(|(_, id)| id.to_string());
    let recorded = |change: &TreeChange| {
        let placed = verdict.placed.get(&change.path);
        let git_ids = if let Some(placed) = placed {
            (id(&placed.before), id(&placed.after))
        } else {
            let entry = start.get(&change.path);
            (entry.and_then(|entry| entry.git_id()).map(|id| id.to_string()), None)
        };
        RecordedChange {
            path: change.path.clone(),
            change: change.change,
            before: change.before.map(|before| side(&before, git_ids.0)),
            after: change.after.map(|after| side(&after, git_ids.1)),
            place: placed.map(|placed| placed.place.clone()),
        }
    };
    let file = DeltaFile {
        changes: delta.iter().map(recorded).collect(),
        directories: directories_above(delta, start),
    };
    file.to_bytes()
}

/// Returns the former directories above changed paths, so that they can be created again.
fn directories_above(delta: &[TreeChange], start: &Snapshot) -> BTreeMap<String, String> {
    let mut directories = BTreeMap::new();
    for change in delta {
        let mut above = change.path.parent();
        while let Some(path) = above {
            let key = path.to_string();
            if directories.contains_key(&key) {
                break;
            }
            if let Some(entry) = start.get(&path).filter(|entry| entry.kind() == SnapshotEntryKind::Directory)
            {
                directories.insert(key, format!("{:04o}", entry.mode()));
            }
            above = path.parent();
        }
    }
    directories
}

fn side(side: &EntryState, git_id: Option<String>) -> RecordedSide {
    RecordedSide {
        kind: entry_kind(side.kind),
        mode: format!("{:04o}", side.mode),
        size: side.size.to_string(),
        digest: side.digest,
        git_id,
    }
}

const fn entry_kind(kind: SnapshotEntryKind) -> EntryKind {
    match kind {
        SnapshotEntryKind::File => EntryKind::File,
        SnapshotEntryKind::Directory => EntryKind::Directory,
        SnapshotEntryKind::Symlink => EntryKind::Symlink,
        SnapshotEntryKind::Fifo => EntryKind::Fifo,
        SnapshotEntryKind::Socket => EntryKind::Socket,
        SnapshotEntryKind::CharDevice => EntryKind::CharDevice,
        SnapshotEntryKind::BlockDevice => EntryKind::BlockDevice,
    }
}
