//! Runs whose supervisor died: found at the next start, closed as failed, with what is known (laws 10 and 11).
//!
//! A run has a folder under `open/` from before its command starts until its bundle is on disk and on the chain. A folder
//! that is still there when nobody holds its tree belongs to a run that was killed.

use crate::attest::{self, Record};
use crate::judge::{Finding, Severity, Verdict};
use crate::workspace::Workspace;
use crate::{Fault, channel, gates};
use canon::Reason;
use plan::Seal;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
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
    for run_id in workspace.state.open_runs()? {
        let folder = workspace.state.open_run(&run_id);
        if !is_abandoned(workspace, &folder)? {
            continue;
        }
        if workspace.state.evidence().join(&run_id).exists() {
            // Killed after the bundle was written: only the chain may still miss it.
            attest::repair_chain(workspace)?;
        } else if let Some(dir) = close(workspace, &folder)? {
            closed.push(ClosedRun { run_id: run_id.clone(), dir });
        }
        attest::remove_folder(&folder)?;
        remove_partial_bundles(workspace);
    }
    Ok(closed)
}

/// Whether nobody works on the tree of an open run any more.
fn is_abandoned(workspace: &Workspace, folder: &Path) -> Result<bool, Fault> {
    // Without its root the run was killed before it was sealed, so nothing can have run yet.
    let Some(root) = durable::read(&folder.join("root"))? else {
        return Ok(true);
    };
    let root = Path::new(OsStr::from_bytes(&root));
    if root == workspace.root {
        return Ok(true);
    }
    let lock = Lock::try_take(&workspace.state.tree_lock(root), "closing an interrupted run");
    Ok(lock.is_ok())
}

/// Writes the bundle of a killed run; `None` if it was killed before it was sealed, and so before anything ran.
fn close(workspace: &Workspace, folder: &Path) -> Result<Option<PathBuf>, Fault> {
    let Some(bytes) = durable::read(&folder.join("seal.json"))? else {
        return Ok(None);
    };
    let Ok(seal) = Seal::parse(&bytes) else {
        return set_aside(folder).map(|()| None);
    };
    let finding = Finding {
        reason: Reason::RunInterrupted,
        path: None,
        detail: "its supervisor ended without a word; what it changed is not known".into(),
        severity: Severity::Error,
    };
    let verdict =
        Verdict { findings: vec![finding], reasons: vec![Reason::RunInterrupted], ..Verdict::default() };
    let attested = attest::attest(
        workspace,
        &Record {
            seal: &seal,
            amendments: &channel::journal(folder),
            verdict: &verdict,
            before_root: Some(seal.contents().root),
            after_root: None,
            start: None,
            gate_results: &gates::skip_all(&seal, "the run was interrupted"),
            ref_movements: &[],
            command: None,
            containment: &[],
            folder,
            trusted_head: None,
        },
    )?;
    Ok(Some(attested.dir))
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
