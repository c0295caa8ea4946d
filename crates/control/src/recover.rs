//! Runs whose supervisor died: found at the next start, closed as failed, with what is known (laws 10 and 11).
//!
//! A run has a folder under `open/` from before its command starts until its bundle is on disk and on the chain, and it
//! holds the lock of its tree for longer than that. A folder whose tree nobody holds belongs to a run that was killed;
//! whoever closes it holds that lock meanwhile, so that it is closed once.

use crate::attest::{self, Attested, Head, Record};
use crate::judge::{Finding, Severity, Verdict};
use crate::workspace::Workspace;
use crate::{Fault, channel, gates};
use canon::Reason;
use evidence::SecretKey;
use plan::Seal;
use std::fs;
use std::path::{Path, PathBuf};
use store::{Lock, durable};

/// A run that was closed for its dead supervisor.
#[derive(Debug)]
pub struct ClosedRun {
    /// The run.
    pub run_id: String,
    /// Its evidence.
    pub dir: PathBuf,
}

/// Closes every run of this repository that was killed. The caller holds the lock of this workspace's tree.
pub(crate) fn close_interrupted(workspace: &Workspace) -> Result<Vec<ClosedRun>, Fault> {
    let mut closed = Vec::new();
    let own_lock = workspace.state.tree_lock(&workspace.root);
    for run in workspace.state.open_runs()? {
        let _held = if run.lock == own_lock {
            None
        } else {
            match Lock::try_take(&run.lock, "closing an interrupted run") {
                Ok(lock) => Some(lock),
                Err(_) => continue,
            }
        };
        // Whoever killed the supervisor could also have forged what the next run would take for known.
        durable::remove(&run.cache)?;
        let key = attest::signing_key(workspace)?;
        if attest::finished(workspace, &run.run_id, key.as_ref()).is_some() {
            // Killed after the bundle was written: only the chain may still miss it.
            attest::repair_chain(workspace, key.as_ref())?;
        } else if let Some(dir) = close(workspace, &run.folder, key.as_ref())? {
            closed.push(ClosedRun { run_id: run.run_id, dir });
        }
        attest::remove_folder(&run.folder)?;
        remove_partial_bundles(workspace);
    }
    Ok(closed)
}

/// Writes the bundle of a killed run; `None` if it was killed before it was sealed, and so before anything ran.
fn close(workspace: &Workspace, folder: &Path, key: Option<&SecretKey>) -> Result<Option<PathBuf>, Fault> {
    let Some(bytes) = durable::read(&folder.join("seal.json"))? else {
        return Ok(None);
    };
    let Ok(seal) = Seal::parse(&bytes) else {
        return set_aside(folder).map(|()| None);
    };
    let detail = "its supervisor ended without a word; what it changed is not known";
    let attested = unjudged(workspace, &seal, key, folder, detail, Head::OnDisk)?;
    Ok(Some(attested.dir))
}

/// Leaves evidence of a run that was sealed and cannot be judged: it failed, and why (law 11).
pub(crate) fn unjudged(
    workspace: &Workspace,
    seal: &Seal,
    key: Option<&SecretKey>,
    folder: &Path,
    detail: &str,
    head: Head,
) -> Result<Attested, Fault> {
    let finding = |severity, reason, detail| Finding { reason, path: None, detail, severity };
    let asked = channel::journal(folder);
    let mut findings = vec![finding(Severity::Error, Reason::RunInterrupted, detail.into())];
    let refused = asked.refusals().into_iter();
    findings.extend(refused.map(|(reason, detail)| finding(Severity::Note, reason, detail)));
    let verdict = Verdict { findings, reasons: vec![Reason::RunInterrupted], ..Verdict::default() };
    attest::attest(
        workspace,
        &Record {
            seal,
            key,
            amendments: &asked.granted,
            verdict: &verdict,
            before_root: Some(seal.contents().root),
            after_root: None,
            start: None,
            gate_results: &gates::skip_all(seal, "the run was interrupted"),
            ref_movements: &[],
            command: None,
            did: None,
            containment: &[],
            folder,
            head,
        },
    )
}

/// Takes away what killed writers left. They are in nobody's way, so failing to is no reason to stop.
fn remove_partial_bundles(workspace: &Workspace) {
    let _ = evidence::bundle::clean_leftovers(&workspace.state.evidence());
}

/// Keeps what cannot be read, for a person to look at, where it is in nobody's way.
fn set_aside(folder: &Path) -> Result<(), Fault> {
    let aside =
        folder.with_file_name(format!(".damaged-{}", folder.file_name().unwrap_or_default().display()));
    fs::rename(folder, &aside).map_err(Fault::system(format!("cannot set {} aside", folder.display())))?;
    Ok(())
}
