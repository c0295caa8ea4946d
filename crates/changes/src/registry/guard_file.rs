//! Writes the snapshot of claims that hooks read: the one place that does.
//!
//! Every registry command replaces it, and so does a governed run when it claims its scope. It is written under a lock and
//! from a fresh look at the registry, so that a slow writer never replaces a newer snapshot with an older one.

use crate::registry::IntentService;
use probity_guard::{
    GUARD_FILE, GuardBytes, GuardRules, GuardSnapshot, GuardedIntent, GuardedRun, RUN_GUARD_VARIABLE,
    RunGuard,
};
use probity_intents::IntentStatus;
use probity_intents::registry::{Intent, IntentRegistry};
use probity_paths::escape_glob;
use probity_policy::Policy;
use probity_storage::{FileLock, durable};
use probity_workspace::run_claims::{self, OpenRunClaim};
use probity_workspace::{ServiceError, StateDirectory, Workspace};
use std::path::PathBuf;
use std::time::Duration;

/// How long a writer waits for another one. A snapshot takes milliseconds; without the lock it could only be older than
/// another one, which the next command repairs.
const GUARD_LOCK_TIMEOUT: Duration = Duration::from_secs(2);
/// How long the record of a session without events is kept.
const SESSION_TTL: Duration = Duration::from_hours(14 * 24);

/// Where the snapshot is, and the rules that the policy gives it.
#[derive(Debug, Clone)]
pub(crate) struct GuardFile {
    path: PathBuf,
    lock: PathBuf,
    state: StateDirectory,
    rules: GuardRules,
}

impl GuardFile {
    pub(crate) fn of(workspace: &Workspace) -> Self {
        Self {
            path: workspace.state.dir().join(GUARD_FILE),
            lock: workspace.state.dir().join("locks").join("guard"),
            state: workspace.state.clone(),
            rules: guard_rules(workspace),
        }
    }

    /// Replaces the snapshot with what `service` reads under the lock.
    pub(crate) fn replace(&self, service: &mut IntentService) -> Result<(), ServiceError> {
        let _turn = FileLock::take_within(&self.lock, GUARD_LOCK_TIMEOUT).ok();
        // A command on a shared store has just read all there is; another question would cost as much as the claim.
        if !service.is_shared() {
            service.refresh()?;
        }
        let runs = run_claims::open_runs(&self.state)?;
        let seen = service.command_context()?;
        let ends_at = |intent: &Intent| intent.ends_at(&seen).0;
        let mut snapshot = snapshot(self.rules.clone(), service.registry(), &runs, &ends_at);
        snapshot.intents.extend(self.intents_of_other_registry(service));
        durable::write_unsynced(&self.path, &snapshot.to_bytes())?;
        self.prune_sessions();
        Ok(())
    }

    /// Returns the claims that the other registry of a clone in a team has: the team's as last read, or those that were
    /// started without asking the store of the team.
    fn intents_of_other_registry(&self, service: &IntentService) -> Vec<GuardedIntent> {
        if !self.state.dir().join(probity_team::TEAM_FILE).exists() {
            return Vec::new();
        }
        let other = if service.is_shared() {
            super::audit::read_registry(&self.state)
        } else {
            IntentService::last_known(&self.state)
        };
        let ends_at = |intent: &Intent| intent.expires_at.0;
        other.map(|other| snapshot(self.rules.clone(), &other, &[], &ends_at).intents).unwrap_or_default()
    }

    /// Removes records of sessions that ended long ago. Errors are ignored: the next command tries again.
    fn prune_sessions(&self) {
        let dir = self.state.dir().join(probity_guard::SESSIONS_DIR);
        let is_old = |path: &PathBuf| {
            let modified = path.symlink_metadata().and_then(|facts| facts.modified()).ok();
            modified.and_then(|at| at.elapsed().ok()).is_some_and(|age| age > SESSION_TTL)
        };
        let entries = |dir: &PathBuf| std::fs::read_dir(dir).into_iter().flatten().flatten();
        for path in entries(&dir).map(|entry| entry.path()).filter(is_old) {
            let _ = std::fs::remove_dir_all(path);
        }
    }
}

/// Writes the snapshot of a repository, whether or not anything was declared in it.
pub fn refresh_guard(workspace: &Workspace) -> Result<(), ServiceError> {
    let mut service = IntentService::open(workspace)?;
    GuardFile::of(workspace).replace(&mut service)
}

/// Returns the rules of the policy at the top of the working tree: a policy below it must not loosen them.
fn guard_rules(workspace: &Workspace) -> GuardRules {
    let top = workspace.git.as_ref().map(|git| git.root.clone());
    let loaded = match top.filter(|top| *top != workspace.root) {
        Some(top) => Workspace::find(Some(&top), &top).and_then(|workspace| workspace.load_policy()),
        None => workspace.load_policy(),
    };
    // A policy that cannot be read leaves the strictest rules (law 13).
    let policy = loaded.map(|loaded| loaded.policy).unwrap_or_default();
    let mut rules = rules_of(&policy, b"");
    let prefix = workspace.below_top();
    if !prefix.is_empty()
        && let Ok(below) = workspace.load_policy()
    {
        rules.protected.extend(rules_of(&below.policy, &prefix).protected);
    }
    rules
}

/// Returns the variable that tells hooks below a governed run what it may change.
pub fn run_guard_variable(
    workspace: &Workspace,
    run_id: &str,
    scope: &probity_evidence::GlobList,
    is_view: bool,
) -> (&'static str, String) {
    let top = workspace.git.as_ref().map_or(&workspace.root, |git| &git.root);
    let scope = scope.as_slice().iter().map(|pattern| GuardBytes(pattern.clone())).collect();
    let prefix = workspace.below_top();
    let mut guard = RunGuard::new(run_id, &top.to_string_lossy(), &prefix, scope, guard_rules(workspace));
    guard.is_view = is_view;
    (RUN_GUARD_VARIABLE, guard.to_text())
}

fn rules_of(policy: &Policy, prefix: &[u8]) -> GuardRules {
    let patterns = |list: &probity_evidence::GlobList| {
        let named = |pattern: &[u8]| match (prefix, pattern.strip_prefix(b"!")) {
            (b"", _) => pattern.to_vec(),
            (_, Some(excluded)) => [b"!", &escape_glob(prefix)[..], b"/", excluded].concat(),
            (_, None) => [&escape_glob(prefix)[..], b"/", pattern].concat(),
        };
        list.as_slice().iter().map(|pattern| GuardBytes(named(pattern))).collect()
    };
    GuardRules {
        without_intent: policy.hook.without_intent,
        subagents: policy.hook.subagents,
        build_outputs: patterns(&policy.workspace.build_outputs),
        protected: patterns(&policy.workspace.protected),
    }
}

fn snapshot(
    rules: GuardRules,
    registry: &IntentRegistry,
    runs: &[OpenRunClaim],
    ends_at: &dyn Fn(&Intent) -> u64,
) -> GuardSnapshot {
    let mut snapshot = GuardSnapshot::new(rules);
    snapshot.intents = registry
        .open_intents()
        .filter(|intent| intent.status != IntentStatus::Landing)
        .map(|intent| GuardedIntent {
            intent_id: intent.id.as_str().to_owned(),
            agent: intent.owner.label.clone(),
            scope: intent.scope.clone(),
            is_active: intent.status == IntentStatus::Active,
            started_at: intent.declared_at.0,
            expires_at: ends_at(intent),
        })
        .collect();
    snapshot.runs = runs
        .iter()
        .map(|run| GuardedRun {
            run_id: run.claim.run_id.clone(),
            prefix: GuardBytes(run.claim.prefix.clone()),
            scope: run.scope.as_slice().iter().map(|pattern| GuardBytes(pattern.clone())).collect(),
            pid: run.pid,
        })
        .collect();
    snapshot
}

/// Returns whether the snapshot in the state directory holds what the registry says. Runs come and go meanwhile.
pub(crate) fn is_true(state: &StateDirectory, registry: &IntentRegistry) -> bool {
    let Ok(Some(bytes)) = durable::read(&state.dir().join(GUARD_FILE)) else { return true };
    let Ok(found) = GuardSnapshot::parse(&bytes) else { return false };
    let expected = snapshot(found.rules.clone(), registry, &[], &|intent| intent.expires_at.0);
    // Another process may have appended between its command and its snapshot: what is held must be true.
    found.intents.iter().all(|intent| {
        expected.intents.contains(intent)
            || registry.intents().any(|known| known.id.as_str() == intent.intent_id)
    })
}
