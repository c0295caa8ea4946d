//! Runs and intents know of each other's claims.
//!
//! A run that goes on claims the patterns of its scope: it says so in a file of its directory, before it is sealed. An intent
//! claims its paths in the log of the registry. Whoever comes second is refused, or waits.
//!
//! Neither may look before the other has written, so that of a run and a start that race at most one goes ahead: a run
//! looks at the intents and writes its claim while it holds the lock of claims alone, and whoever claims paths in the
//! registry looks at the runs and appends while it holds a share of that lock. So each of two racers either has written
//! when the other looks, or looks when the other has written.

use crate::attest::SEAL_FILE;
use crate::change::Frame;
use crate::registry::view::time;
use crate::registry::{Credentials, Handles, Label, Shell};
use crate::{Fault, Workspace, channel, clock};
use probity_api::PathClaim;
use probity_core::json;
use probity_evidence::{Amendment, ByteString, Globs};
use probity_intents::{Entry, RunClaim, run_conflicts};
use probity_paths::{RepoPath, Scope, escape};
use probity_storage::{Lock, LockError, OpenRun, State, StoreError, durable};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The claim of a run, in its folder.
pub(crate) const CLAIM_FILE: &str = "claim.json";
const SCHEMA: &str = "probity/run-claim/v1";
/// How long a claim waits for others to have written theirs. That takes milliseconds, unless somebody was stopped in it.
const CLAIMS_LOCK_TIMEOUT: Duration = Duration::from_mins(1);

/// A governed run that goes on, as others see it.
#[derive(Debug, Clone)]
pub struct OpenRunClaim {
    /// What it claims, amendments included.
    pub claim: RunClaim,
    /// The same patterns as they were file.
    pub scope: Globs,
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
    scope: Globs,
    since: String,
    pid: u32,
}

/// Writes down what a run claims, where every start will look.
pub(crate) fn publish(workspace: &Workspace, run: &OpenRun, scope: &Globs) -> Result<(), Fault> {
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
pub(crate) fn lock(state: &State) -> Result<Lock, Fault> {
    let path = state.claims_lock();
    Lock::take_within(&path, CLAIMS_LOCK_TIMEOUT).map_err(|error| busy(path, error))
}

/// Holds off the claims of runs until the lock is dropped: for whoever looks at them and claims paths in the registry.
pub(crate) fn share(state: &State) -> Result<Lock, Fault> {
    let path = state.claims_lock();
    Lock::share_within(&path, CLAIMS_LOCK_TIMEOUT).map_err(|error| busy(path, error))
}

fn busy(path: PathBuf, error: LockError) -> Fault {
    match error {
        LockError::Held { holder } => StoreError::Busy { path, holder }.into(),
        LockError::Store(error) => error.into(),
    }
}

/// The runs of a repository that go on, in any worktree. A folder whose tree nobody holds belongs to a run that was
/// killed; one without a claim has not claimed anything yet.
pub(crate) fn open_runs(state: &State) -> Result<Vec<OpenRunClaim>, Fault> {
    let mut found = Vec::new();
    for run in state.open_runs()? {
        let Some(bytes) = durable::read(&run.folder.join(CLAIM_FILE))? else { continue };
        // A lock that cannot be asked counts as held (law 13).
        if matches!(Lock::poll(&run.lock), Ok(Some(_))) {
            continue;
        }
        let claim = parse(&bytes, &channel::journal(&run.folder).granted);
        // What took its folder away meanwhile has ended.
        if claim.is_none() && !run.folder.join(CLAIM_FILE).exists() {
            continue;
        }
        found.push(claim.ok_or_else(|| damaged(&run))?);
    }
    Ok(found)
}

fn damaged(run: &OpenRun) -> Fault {
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
    pub(crate) fn is_around_us(&self) -> bool {
        let supervisor = i32::try_from(self.pid).ok().and_then(rustix::process::Pid::from_raw);
        if cfg!(target_os = "linux") {
            let own = rustix::process::getpid();
            supervisor.is_some_and(|supervisor| !channel::comes_from_outside(own, supervisor))
        } else {
            // Where nobody tells whose child a process is, the environment that the run gave it has to do.
            std::env::var("PROBITY_RUN_ID").is_ok_and(|run_id| run_id == self.claim.run_id)
        }
    }
}

/// The live claims on paths that a run of `scope` would touch: those that are the caller's own, and those that are not.
pub(crate) fn claims_on(
    workspace: &Workspace,
    credentials: &Credentials,
    scope: &Scope,
) -> Result<(Vec<PathClaim>, Vec<PathClaim>), Fault> {
    // Where no intent was ever declared, none is in the way, and no registry is made for looking.
    if workspace.state.database().symlink_metadata().is_err() {
        return Ok((Vec::new(), Vec::new()));
    }
    let shell = Shell::open(workspace)?;
    let circumstances = shell.circumstances()?;
    let nobody = shell.owner_of(&credentials.caller())?;
    let handles = Handles::of(workspace).usable(shell.registry());
    let prefix = workspace.below_top();
    let run = RunClaim { run_id: String::new(), prefix: prefix.clone(), scope: scope.clone() };
    let is_file = file_test(workspace);
    let mut claims = (Vec::new(), Vec::new());
    for intent in shell.registry().open_intents() {
        let kept = handles.iter().find(|kept| kept.intent_id == intent.id);
        let caller = credentials.caller_for_intent(kept);
        let reader = if caller.is_new { nobody.clone() } else { shell.owner_of(&caller)? };
        let ownership = intent.ownership(&reader, &circumstances);
        let peer = probity_intents::Peer {
            intent_id: intent.id.clone(),
            ownership,
            status: intent.status,
            scope: intent.scope.clone(),
        };
        if !ownership.is_own() && !peer.is_live() {
            continue;
        }
        for (_, contested) in run_conflicts(&run, [&peer], &is_file) {
            let paths = Frame::of(workspace).entries_down(&contested);
            let claim = PathClaim {
                intent_id: intent.id.clone(),
                agent: intent.owner.label.clone(),
                intent: intent.description.clone(),
                ownership,
                exclude: Globs::new(
                    contested.iter().flat_map(|entry| exclusions(entry, &prefix, is_file(entry))),
                ),
                paths,
                expires_at: time(intent.expires_at),
            };
            if ownership.is_own() { &mut claims.0 } else { &mut claims.1 }.push(claim);
        }
    }
    Ok(claims)
}

/// Who holds each of these paths with a live intent, whoever asks, in words for people.
pub(crate) fn holders(
    workspace: &Workspace,
    paths: &[RepoPath],
) -> Result<BTreeMap<RepoPath, String>, Fault> {
    let scope = Globs::new(probity_paths::suggest(paths, &[])).to_scope()?;
    let credentials = Credentials { handle: None, label: Label::Assumed(crate::user()), pid: None };
    let (own, others) = claims_on(workspace, &credentials, &scope)?;
    let mut holders = BTreeMap::new();
    for claim in own.iter().chain(&others) {
        let is_held = |path: &&RepoPath| claim.paths.iter().any(|entry| entry.covers(path.as_bytes()));
        for path in paths.iter().filter(is_held) {
            let holder = format!("held by {} with intent {}", claim.agent, claim.intent_id);
            holders.insert(path.clone(), holder);
        }
    }
    Ok(holders)
}

/// Refuses a run of `scope` if somebody else holds paths of it; answers the claims of the caller itself.
pub(crate) fn check_run(
    workspace: &Workspace,
    credentials: &Credentials,
    scope: &Scope,
) -> Result<Vec<PathClaim>, Fault> {
    let (own, others) = claims_on(workspace, credentials, scope)?;
    if others.is_empty() { Ok(own) } else { Err(Fault::Claimed { claims: others }) }
}

/// Whether an entry (named from the top of the working tree) is something below which nothing can lie.
pub(crate) fn file_test(workspace: &Workspace) -> impl Fn(&Entry) -> bool + use<> {
    let top = workspace.git.as_ref().map_or(&workspace.root, |git| &git.root).clone();
    move |entry| is_file(&top, entry)
}

pub(crate) fn is_file(top: &Path, entry: &Entry) -> bool {
    let path = top.join(std::ffi::OsStr::from_bytes(entry.as_bytes()));
    path.symlink_metadata().is_ok_and(|facts| !facts.is_dir())
}

/// The patterns that take an entry out of a run's scope; none for one that holds the whole root.
fn exclusions(entry: &Entry, prefix: &[u8], is_file: bool) -> Vec<Vec<u8>> {
    let name = entry.as_bytes();
    let below = if prefix.is_empty() {
        Some(name)
    } else {
        name.strip_prefix(prefix).and_then(|name| name.strip_prefix(b"/"))
    };
    let Some(below) = below else { return Vec::new() };
    let name = [b"!", &escape(below)[..]].concat();
    let whole = [&name[..], b"/**"].concat();
    if is_file { vec![name] } else { vec![name, whole] }
}

/// Whether a file of a run's folder is part of what others rely on: the run's own process writes it once.
pub(crate) fn is_fixed(path: &Path) -> bool {
    path.ends_with(SEAL_FILE) || path.ends_with(CLAIM_FILE)
}
