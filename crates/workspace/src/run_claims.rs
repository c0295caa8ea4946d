//! The claims of governed runs, in files that everyone who starts a change reads.
//!
//! A running run claims the patterns of its scope in a file of its directory, written before the run is sealed. Neither
//! side may check for conflicts before the other's claim is written, so that of two racing claims at most one succeeds:
//! a run checks the intents and writes its claim under the exclusive claims lock; a start checks the runs and appends
//! to the registry under the shared lock.

use crate::amendment_journal::AmendmentJournal;
use crate::{OpenRun, StateDirectory};
use crate::{ServiceError, Workspace, clock};
use probity_core::json;
use probity_evidence::{Amendment, ByteString, GlobList};
use probity_intents::{RunClaim, ScopeEntry};
#[cfg(target_os = "linux")]
use probity_process::{HeldProcess, ProcessAncestry};
use probity_storage::{FileLock, LockError, StoreError, durable};
use rustix::process::Pid;
use serde::{Deserialize, Serialize};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The seal, first in the run's directory and later in its bundle.
pub use probity_evidence::SEAL_FILE;
/// The claim, in the run's directory.
pub const CLAIM_FILE: &str = "claim.json";
const SCHEMA: &str = "probity/run-claim/v1";
/// The largest claim that is read; a governed command may have planted a larger one.
const MAX_CLAIM_BYTES: u64 = 16 * 1024 * 1024;
/// Time to wait for other claims to be written. That takes milliseconds, unless a process was stopped while writing.
const CLAIMS_LOCK_TIMEOUT: Duration = Duration::from_mins(1);

/// A running governed run, as others see it.
#[derive(Debug, Clone)]
pub struct OpenRunClaim {
    /// The claimed scope, amendments included.
    pub claim: RunClaim,
    /// The same patterns in their serialized form.
    pub scope: GlobList,
    pub root: PathBuf,
    pub since: String,
    /// The supervisor of the run.
    pub pid: u32,
}

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

/// Writes the claim of a run.
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
    // A claim means something while its run is alive, so it need not outlive a crash of the machine.
    Ok(durable::write_unsynced(&run.folder.join(CLAIM_FILE), &json::canonical_of(&file))?)
}

/// Takes the exclusive claims lock, for a run that checks other claims and writes its own.
pub fn lock_claims(state: &StateDirectory) -> Result<FileLock, ServiceError> {
    let path = state.claims_lock();
    FileLock::take_within(&path, CLAIMS_LOCK_TIMEOUT).map_err(|error| busy(path, error))
}

/// Takes the shared claims lock, for a start that checks the claims of runs and claims paths in the registry.
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

/// Returns the running runs of a repository, in any worktree. A run whose tree lock is free was killed; a run without a
/// claim file has not claimed anything yet.
pub fn open_runs(state: &StateDirectory) -> Result<Vec<OpenRunClaim>, ServiceError> {
    let mut found = Vec::new();
    for run in state.open_runs()? {
        let Some(bytes) = durable::read_at_most(&run.folder.join(CLAIM_FILE), MAX_CLAIM_BYTES)? else {
            continue;
        };
        // A lock that cannot be checked counts as held (law 13).
        if matches!(FileLock::poll(&run.lock), Ok(Some(_))) {
            continue;
        }
        let claim = parse(&bytes, &AmendmentJournal::read(&run.folder).granted);
        // The run ended in the meantime and its directory was removed.
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
    /// Returns whether this process was started by the run, so that its claims count as the run's own.
    #[cfg(target_os = "linux")]
    pub fn is_around_us(&self) -> bool {
        let supervisor = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        let own = HeldProcess::open(rustix::process::getpid());
        own.zip(supervisor)
            .is_some_and(|(own, supervisor)| own.ancestry(supervisor) == ProcessAncestry::Inside)
    }

    /// Returns whether this process was started by the run. Without process ancestry, the environment that the run sets
    /// tells.
    #[cfg(not(target_os = "linux"))]
    pub fn is_around_us(&self) -> bool {
        std::env::var("PROBITY_RUN_ID").is_ok_and(|run_id| run_id == self.claim.run_id)
    }
}

/// Returns a test for entries, relative to the top of the working tree, that can have nothing below them.
pub fn file_test(workspace: &Workspace) -> impl Fn(&ScopeEntry) -> bool + use<> {
    let top = workspace.git.as_ref().map_or(&workspace.root, |git| &git.root).clone();
    move |entry| is_file(&top, entry)
}

/// The same test below `top`.
pub fn is_file(top: &Path, entry: &ScopeEntry) -> bool {
    let path = top.join(std::ffi::OsStr::from_bytes(entry.as_bytes()));
    path.symlink_metadata().is_ok_and(|facts| !facts.is_dir())
}

/// Returns whether a file in a run's directory is written only once, by the run's own process, because others rely on
/// it.
pub fn is_fixed(path: &Path) -> bool {
    path.ends_with(SEAL_FILE) || path.ends_with(CLAIM_FILE)
}

/// Returns whether the living ancestors of `pid` reach the top without passing `supervisor`. The supervisor is the
/// subreaper of the run, so a process that detaches itself becomes its child and is still found. A process that is gone
/// or hidden does not count as outside (law 13).
#[cfg(target_os = "linux")]
pub fn comes_from_outside(pid: Pid, supervisor: Pid) -> bool {
    HeldProcess::open(pid).is_some_and(|process| process.ancestry(supervisor) == ProcessAncestry::Outside)
}

/// Without process ancestry every process counts as outside; no run is amended while it runs there.
#[cfg(not(target_os = "linux"))]
pub fn comes_from_outside(_pid: Pid, _supervisor: Pid) -> bool {
    true
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
        // No system assigns this id; the id of an ended process could have been reused.
        let gone = Pid::from_raw(i32::MAX).expect("is an id");
        assert!(!comes_from_outside(gone, getpid()));
    }
}
