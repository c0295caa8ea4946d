//! What a governed run claims, in a file that everybody who starts a change looks at.
//!
//! A run that goes on claims the patterns of its scope: it says so in a file of its directory, before it is sealed.
//! Neither a run nor a start may look at the other's claim before that is written, so that of two that race at most one
//! goes ahead: a run looks at the intents and writes its claim while it holds the lock of claims alone, and a start
//! looks at the runs and appends to the registry while it holds a share of that lock.

use crate::amendment_journal::AmendmentJournal;
use crate::{OpenRun, StateDirectory};
use crate::{ServiceError, Workspace, clock};
use probity_core::json;
use probity_evidence::{Amendment, ByteString, GlobList};
use probity_intents::{RunClaim, ScopeEntry};
use probity_storage::{FileLock, LockError, StoreError, durable};
use rustix::io::Errno;
use rustix::process::Pid;
use serde::{Deserialize, Serialize};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The seal of a run: a file of its directory, and later of its bundle.
pub const SEAL_FILE: &str = "seal.json";
/// The claim of a run, in its directory.
pub const CLAIM_FILE: &str = "claim.json";
const SCHEMA: &str = "probity/run-claim/v1";
/// How long a claim waits for others to have written theirs. That takes milliseconds, unless somebody was stopped in it.
const CLAIMS_LOCK_TIMEOUT: Duration = Duration::from_mins(1);

/// A governed run that goes on, as others see it.
#[derive(Debug, Clone)]
pub struct OpenRunClaim {
    /// What it claims, amendments included.
    pub claim: RunClaim,
    /// The same patterns as they were file.
    pub scope: GlobList,
    /// Its root.
    pub root: PathBuf,
    /// Since when.
    pub since: String,
    /// The process that supervises it.
    pub pid: u32,
}

/// What a run writes down about its claim.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RunClaimFile {
    schema: String,
    run_id: String,
    root: ByteString,
    prefix: ByteString,
    scope: GlobList,
    since: String,
    pid: u32,
}

/// Writes down what a run claims, where every start will look.
pub fn publish_run_claim(workspace: &Workspace, run: &OpenRun, scope: &GlobList) -> Result<(), ServiceError> {
    let file = RunClaimFile {
        schema: SCHEMA.into(),
        run_id: run.run_id.clone(),
        root: workspace.root.as_os_str().as_bytes().into(),
        prefix: workspace.below_top().into(),
        scope: scope.clone(),
        since: clock::now(),
        pid: std::process::id(),
    };
    Ok(durable::write(&run.folder.join(CLAIM_FILE), &json::canonical_of(&file))?)
}

/// Holds off every other claim until the lock is dropped: for a run that looks at claims and writes its own.
pub fn lock_claims(state: &StateDirectory) -> Result<FileLock, ServiceError> {
    let path = state.claims_lock();
    FileLock::take_within(&path, CLAIMS_LOCK_TIMEOUT).map_err(|error| busy(path, error))
}

/// Holds off the claims of runs until the lock is dropped: for a start, which looks at them and claims paths in the registry.
pub fn share_claims(state: &StateDirectory) -> Result<FileLock, ServiceError> {
    let path = state.claims_lock();
    FileLock::share_within(&path, CLAIMS_LOCK_TIMEOUT).map_err(|error| busy(path, error))
}

fn busy(path: PathBuf, error: LockError) -> ServiceError {
    match error {
        LockError::Held { holder } => StoreError::Busy { path, holder }.into(),
        LockError::Store(error) => error.into(),
    }
}

/// The runs of a repository that go on, in any worktree. A directory whose tree nobody holds belongs to a run that was
/// killed; one without a claim has not claimed anything yet.
pub fn open_runs(state: &StateDirectory) -> Result<Vec<OpenRunClaim>, ServiceError> {
    let mut found = Vec::new();
    for run in state.open_runs()? {
        let Some(bytes) = durable::read(&run.folder.join(CLAIM_FILE))? else { continue };
        // A lock that cannot be asked counts as held (law 13).
        if matches!(FileLock::poll(&run.lock), Ok(Some(_))) {
            continue;
        }
        let claim = parse(&bytes, &AmendmentJournal::read(&run.folder).granted);
        // What took its directory away meanwhile has ended.
        if claim.is_none() && !run.folder.join(CLAIM_FILE).exists() {
            continue;
        }
        found.push(claim.ok_or_else(|| damaged(&run))?);
    }
    Ok(found)
}

fn damaged(run: &OpenRun) -> ServiceError {
    let path = run.folder.join(CLAIM_FILE);
    StoreError::Damaged { path, why: "it is no claim of a run".into() }.into()
}

fn parse(bytes: &[u8], amendments: &[Amendment]) -> Option<OpenRunClaim> {
    let file: RunClaimFile = serde_json::from_value(json::parse(bytes).ok()?).ok()?;
    if file.schema != SCHEMA {
        return None;
    }
    let claim = RunClaim {
        run_id: file.run_id,
        prefix: file.prefix.as_bytes().to_vec(),
        scope: probity_evidence::amended_scope(&file.scope, amendments).ok()?,
    };
    let mut scope = file.scope;
    for amendment in amendments {
        scope.extend(&amendment.add);
    }
    let root = PathBuf::from(std::ffi::OsStr::from_bytes(file.root.as_bytes()));
    Some(OpenRunClaim { claim, scope, root, since: file.since, pid: file.pid })
}

impl OpenRunClaim {
    /// Whether this very process was started by the run: what it claims then, it claims for the run.
    pub fn is_around_us(&self) -> bool {
        let supervisor = i32::try_from(self.pid).ok().and_then(rustix::process::Pid::from_raw);
        if cfg!(target_os = "linux") {
            let own = rustix::process::getpid();
            supervisor.is_some_and(|supervisor| !comes_from_outside(own, supervisor))
        } else {
            // Where nobody tells whose child a process is, the environment that the run gave it has to do.
            std::env::var("PROBITY_RUN_ID").is_ok_and(|run_id| run_id == self.claim.run_id)
        }
    }
}

/// Whether an entry (named from the top of the working tree) is something below which nothing can lie.
pub fn file_test(workspace: &Workspace) -> impl Fn(&ScopeEntry) -> bool + use<> {
    let top = workspace.git.as_ref().map_or(&workspace.root, |git| &git.root).clone();
    move |entry| is_file(&top, entry)
}

/// The same below `top`, the top of the working tree.
pub fn is_file(top: &Path, entry: &ScopeEntry) -> bool {
    let path = top.join(std::ffi::OsStr::from_bytes(entry.as_bytes()));
    path.symlink_metadata().is_ok_and(|facts| !facts.is_dir())
}

/// Whether a file of a run's directory is part of what others rely on: the run's own process writes it once.
pub fn is_fixed(path: &Path) -> bool {
    path.ends_with(SEAL_FILE) || path.ends_with(CLAIM_FILE)
}

#[cfg(target_os = "linux")]
use probity_process::parent_of;

/// Elsewhere nobody asks: without a peer there is no amendment.
#[cfg(not(target_os = "linux"))]
fn parent_of(_pid: Pid) -> Option<Pid> {
    None
}

/// Whether the living ancestors of `pid` lead to the top without meeting `supervisor`. The supervisor is the subreaper
/// of the run, so a process that detaches itself becomes its child and is still found. A process that is gone has no
/// ancestors any more: it may have been the run's, and have left its end of the socket to another (law 13).
pub fn comes_from_outside(pid: Pid, supervisor: Pid) -> bool {
    let mut pid = pid;
    // Longer chains of processes do not occur; a loop could only come from ids being reused while we look.
    for _ in 0..4096 {
        if pid == supervisor {
            return false;
        }
        match parent_of(pid) {
            Some(parent) => pid = parent,
            // The top has no parent, as has a process whose parent lies outside of this container; but it lives.
            None => return rustix::process::test_kill_process(pid) != Err(Errno::SRCH),
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::getpid;
    use std::process::Command;

    #[test]
    fn who_descends_from_the_supervisor_is_inside() {
        let mut child = Command::new("sleep").arg("3600").spawn().expect("starts");
        let pid = Pid::from_child(&child);
        assert!(!comes_from_outside(pid, getpid()));
        assert!(comes_from_outside(getpid(), pid));
        child.kill().expect("is killed");
        child.wait().expect("ends");
    }

    #[test]
    fn who_is_gone_is_not_outside() {
        // No system gives a process this id; that of an ended one could have come to mean another.
        let gone = Pid::from_raw(i32::MAX).expect("is an id");
        assert!(!comes_from_outside(gone, getpid()));
    }
}
