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
use probity_workspace::{ServiceError, StateDirectory, Workspace, worktrees};
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
            owner: intent.owner.token.clone(),
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

/// The largest snapshot that is read; a governed command may have planted a larger one.
const MAX_SNAPSHOT_BYTES: u64 = 64 * 1024 * 1024;

/// Returns the snapshot that hooks read now; `None` if there is none that can be read.
pub(crate) fn read(state: &StateDirectory) -> Option<GuardSnapshot> {
    let bytes = durable::read_at_most(&state.dir().join(GUARD_FILE), MAX_SNAPSHOT_BYTES).ok().flatten()?;
    GuardSnapshot::parse(&bytes).ok()
}

/// Returns whether the snapshot in the state directory is one that a command of Probity may have written since `before`: its
/// rules are those of a policy, and it grants nothing that the registry does not. Without a registry that can be
/// read here, only the rules are checked. `has_grown` says whether the log of the registry got events since `before`.
pub(crate) fn is_true(
    state: &StateDirectory,
    before: Option<&GuardSnapshot>,
    registry: Option<&IntentRegistry>,
    has_grown: bool,
) -> bool {
    let Some(found) = read(state) else { return false };
    let has_rules_before = before.is_some_and(|before| before.rules == found.rules);
    if !has_rules_before && !is_rules_of_a_tree(state, &found.rules) {
        return false;
    }
    let Some(registry) = registry else { return true };
    let known = snapshot(found.rules.clone(), registry, &[], &|intent| intent.expires_at.0).intents;
    // Another process may have appended between its snapshot and this look: what it wrote may be older, never wider.
    let is_granted = |intent: &GuardedIntent| {
        let same = registry.intents().find(|known| known.id.as_str() == intent.intent_id);
        same.is_some_and(|same| {
            let entries: Vec<_> = same.scope.entries().collect();
            intent.scope.entries().all(|entry| entries.contains(&entry))
                && same.scope.forbidden == intent.scope.forbidden
                && same.owner.label == intent.agent
                && same.owner.token == intent.owner
                && same.declared_at.0 == intent.started_at
                && (!intent.is_active || same.status != IntentStatus::Queued)
                && intent.expires_at <= same.expires_at.0
        })
    };
    let was_listed = |intent: &GuardedIntent| {
        before.is_some_and(|before| before.intents.iter().any(|it| it.intent_id == intent.intent_id))
    };
    let is_listed = |intent: &GuardedIntent| found.intents.iter().any(|it| it.intent_id == intent.intent_id);
    let has_runs = before.is_none_or(|before| keeps_open_runs(state, before, &found));
    has_runs
        && found.intents.iter().all(|intent| known.contains(intent) || has_grown && is_granted(intent))
        && known.iter().all(|intent| !was_listed(intent) || is_listed(intent))
}

/// Returns whether no run that is still open has lost its claim since `before`.
fn keeps_open_runs(state: &StateDirectory, before: &GuardSnapshot, found: &GuardSnapshot) -> bool {
    let Ok(open) = run_claims::open_runs(state) else { return false };
    let is_open = |run: &GuardedRun| open.iter().any(|it| it.claim.run_id == run.run_id);
    let same = |run: &GuardedRun, other: &GuardedRun| run.run_id == other.run_id && run.pid == other.pid;
    before.runs.iter().filter(|run| is_open(run)).all(|run| found.runs.iter().any(|it| same(run, it)))
}

/// Returns whether rules are those that the policy of some worktree of the repository gives.
fn is_rules_of_a_tree(state: &StateDirectory, rules: &GuardRules) -> bool {
    let Some(common_dir) = state.dir().parent() else { return false };
    worktrees(common_dir).iter().any(|top| {
        let workspace = Workspace::find(Some(top), top);
        workspace.is_ok_and(|workspace| guard_rules(&workspace) == *rules)
    })
}
