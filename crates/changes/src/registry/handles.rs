//! Keeps owner handles per worktree, so that `--owner` is rarely typed.
//!
//! A start without a handle always creates a new owner: two agents are never taken for one (law 5). Its handle is
//! stored in the state directory by worktree and intent, readable only by the user. A later command that names that
//! intent in that worktree uses it. A kept handle proves no more than the right to read the user's own files, and it
//! is never used for an intent that was not named, for another worktree, or by an agent with another name.

use super::IntentService;
use super::identity::{AgentLabel, Caller, CallerCredentials, OwnerHandle};
use crate::root_mapping::{IntentPlace, RootMapping};
use probity_core::{Digest, ReasonCode, json};
use probity_intents::registry::{CommandContext, Intent, IntentRegistry, RegistryChange, RegistryEvent};
use probity_intents::{IntentId, IntentStatus};
use probity_storage::{StoreError, durable};
use probity_workspace::{ServiceError, Workspace, signing};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const SCHEMA: &str = "probity/handle/v1";
/// How long to keep a handle whose intent the registry does not know: its start may still be in progress.
const UNKNOWN_INTENT_TTL: Duration = Duration::from_hours(24);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptHandle {
    pub intent_id: IntentId,
    pub handle: OwnerHandle,
    /// The agent's name at the start.
    pub label: String,
}

#[derive(Serialize, Deserialize)]
struct HandleFile {
    schema: String,
    intent_id: IntentId,
    owner: String,
    agent: String,
}

impl KeptHandle {
    fn to_bytes(&self) -> Vec<u8> {
        json::canonical_of(&HandleFile {
            schema: SCHEMA.into(),
            intent_id: self.intent_id.clone(),
            owner: self.handle.secret().into(),
            agent: self.label.clone(),
        })
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let file: HandleFile = serde_json::from_value(json::parse(bytes).ok()?).ok()?;
        let handle = OwnerHandle::parse(&file.owner).ok().filter(|_| file.schema == SCHEMA)?;
        Some(Self { intent_id: file.intent_id, handle, label: file.agent })
    }

    /// Returns whether this is the handle of the intent's current owner.
    pub fn is_current(&self, registry: &IntentRegistry) -> bool {
        let owner = registry.intent(&self.intent_id).map(|intent| &intent.owner);
        owner.is_some_and(|owner| owner.token == Some(self.handle.digest()))
    }
}

#[derive(Debug, Clone)]
pub struct HandleStore {
    dir: PathBuf,
}

fn is_finished(intent: &Intent) -> bool {
    intent.status.is_closed() || intent.status == IntentStatus::Landing
}

impl HandleStore {
    pub fn of(workspace: &Workspace) -> Self {
        Self::of_tree(workspace, workspace.git.as_ref().map_or(&workspace.root, |git| &git.root))
    }

    /// Returns the handles that are kept for the working tree with its top at `top`.
    fn of_tree(workspace: &Workspace, top: &Path) -> Self {
        Self { dir: workspace.state.handles(top) }
    }

    /// Keeps the handle of an intent that was taken over: in this worktree, and in the one where the intent was started,
    /// because only there can it be finished. Returns the root of the latter if it is another one.
    pub fn keep_recovered(
        workspace: &Workspace,
        intent: &Intent,
        kept: Option<&KeptHandle>,
    ) -> Result<Option<PathBuf>, ServiceError> {
        if let Some(kept) = kept {
            Self::of(workspace).keep(kept)?;
        }
        let own = RootMapping::for_workspace(workspace).root_name();
        let elsewhere = intent.base.tree.as_ref().filter(|tree| **tree != own);
        let Some(place) = elsewhere.and_then(|tree| IntentPlace::find(workspace, tree)) else {
            return Ok(None);
        };
        if let Some(kept) = kept {
            Self::of_tree(workspace, &place.top).keep(kept)?;
        }
        Ok(Some(place.root))
    }

    pub fn keep(&self, kept: &KeptHandle) -> Result<(), ServiceError> {
        Ok(durable::write(&self.path(&kept.intent_id), &kept.to_bytes())?)
    }

    pub fn get(&self, intent_id: &IntentId) -> Result<Option<KeptHandle>, ServiceError> {
        let path = self.path(intent_id);
        let Some(bytes) = durable::read(&path)? else { return Ok(None) };
        signing::check_private(&path)?;
        if let Some(kept) = KeptHandle::parse(&bytes).filter(|kept| kept.intent_id == *intent_id) {
            return Ok(Some(kept));
        }
        let why = "it is not the handle of that intent; remove it, and give the handle with `--owner`";
        Err(StoreError::Damaged { path, why: why.into() }.into())
    }

    /// Returns the kept handles that match the current owner of an intent, sorted by intent.
    pub fn usable_handles(&self, registry: &IntentRegistry) -> Vec<KeptHandle> {
        let is_usable = |kept: &KeptHandle| kept.is_current(registry);
        let mut usable: Vec<_> = self.files().into_iter().filter_map(|path| read(&path)).collect();
        usable.retain(is_usable);
        usable.sort_by(|a, b| a.intent_id.cmp(&b.intent_id));
        usable
    }

    /// Returns the intents that belong to a caller without a handle, by kept handles. Only those kept under the caller's
    /// name count; a caller who gave none is taken for the one agent of this worktree if there is no other (law 5).
    pub fn own_intents(&self, registry: &IntentRegistry, caller: &Caller) -> BTreeSet<IntentId> {
        if !caller.is_new {
            return BTreeSet::new();
        }
        let usable = self.usable_handles(registry);
        let is_open = |kept: &&KeptHandle| {
            registry.intent(&kept.intent_id).is_some_and(|intent| !intent.status.is_closed())
        };
        let agents: BTreeSet<&str> = usable.iter().filter(is_open).map(|kept| kept.label.as_str()).collect();
        let is_only_agent = matches!(caller.label, AgentLabel::Assumed(_)) && agents.len() <= 1;
        let is_own = |kept: &&KeptHandle| is_only_agent || kept.label == caller.label.as_str();
        usable.iter().filter(is_own).map(|kept| kept.intent_id.clone()).collect()
    }

    /// Returns the only intent that a caller who names none can mean: one of the given handle's owner, else one whose
    /// handle is kept here. Open intents take precedence over finished ones, which count because their answer may
    /// have been lost. If there is not exactly one, nothing is guessed.
    pub fn only_intent(
        &self,
        workspace: &Workspace,
        credentials: &CallerCredentials,
    ) -> Result<IntentId, ServiceError> {
        let shell = IntentService::open(workspace)?;
        let (mut open, mut finished) = self.own_by_state(&shell, credentials)?;
        if shell.is_shared() {
            let local = IntentService::open_local(workspace)?;
            let (own_open, own_finished) = self.own_by_state(&local, credentials)?;
            open.extend(own_open.into_iter().filter(|intent| intent.base.is_uncoordinated));
            finished.extend(own_finished.into_iter().filter(|intent| intent.base.is_uncoordinated));
        }
        // Nobody can have edited for an intent that is still queued.
        let active: Vec<Intent> =
            open.iter().filter(|intent| intent.status == IntentStatus::Active).cloned().collect();
        let open = if active.is_empty() { open } else { active };
        let found = if open.is_empty() { finished } else { open };
        match found.as_slice() {
            [] => Err(no_intent()),
            [only] => Ok(only.id.clone()),
            several => Err(several_intents(shell.registry(), several)),
        }
    }

    /// Returns the caller's open and finished intents of a registry.
    fn own_by_state(
        &self,
        shell: &IntentService,
        credentials: &CallerCredentials,
    ) -> Result<(Vec<Intent>, Vec<Intent>), ServiceError> {
        let seen = shell.command_context()?;
        let kept: BTreeMap<IntentId, KeptHandle> = self
            .usable_handles(shell.registry())
            .into_iter()
            .map(|kept| (kept.intent_id.clone(), kept))
            .collect();
        let (mut open, mut finished) = (Vec::new(), Vec::new());
        for intent in shell.registry().intents() {
            let group = match intent.status {
                IntentStatus::Active | IntentStatus::Queued if !intent.is_over(&seen) => &mut open,
                IntentStatus::Released | IntentStatus::Landing => &mut finished,
                _ => continue,
            };
            let caller = credentials.caller_for_intent(kept.get(&intent.id));
            if !caller.is_new && intent.owner.is_same_owner(&shell.owner_of(&caller)?) {
                group.push(intent.clone());
            }
        }
        Ok((open, finished))
    }

    pub fn forget(&self, intent_id: &IntentId) -> Result<(), ServiceError> {
        Ok(durable::remove(&self.path(intent_id))?)
    }

    /// Removes the handle of a cleared intent. The handle of a finished intent stays until the next start: it only
    /// gives access to that finish's answer, which may have been lost.
    pub fn forget_closed(&self, event: &RegistryEvent) -> Result<(), ServiceError> {
        match &event.change {
            RegistryChange::Cleared { intent_id } => self.forget(intent_id),
            _ => Ok(()),
        }
    }

    /// Removes the handles of closed and expired intents.
    pub fn prune(&self, registry: &IntentRegistry, seen: &CommandContext) -> Result<(), ServiceError> {
        for path in self.files() {
            let Some(kept) = read(&path) else { continue };
            let is_over = match registry.intent(&kept.intent_id) {
                Some(intent) => intent.status.is_closed() || intent.is_over(seen),
                None => age(&path).is_some_and(|age| age > UNKNOWN_INTENT_TTL),
            };
            if is_over {
                durable::remove(&path)?;
            }
        }
        Ok(())
    }

    /// Ids may contain any character, so the file is named by the id's digest.
    fn path(&self, intent_id: &IntentId) -> PathBuf {
        self.dir.join(file_name(intent_id))
    }

    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.dir).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(|path| path.extension().is_none()).collect()
    }
}

fn no_intent() -> ServiceError {
    let detail = "no handle of an open intent is kept in this worktree";
    ServiceError::refused(ReasonCode::UsageInvalid, detail).with_next_step(
        "name the intent and give its handle with `--owner`; `probity intent list` shows the open ones",
    )
}

fn several_intents(registry: &IntentRegistry, found: &[Intent]) -> ServiceError {
    let listed: Vec<String> = found
        .iter()
        .map(|intent| {
            let id = registry.short_id(&intent.id);
            format!("{id} ({}: {})", intent.owner.label, intent.description)
        })
        .collect();
    let (detail, step) = if found.iter().all(is_finished) {
        ("no intent of yours is open; these are finished", "name one to see its answer again")
    } else {
        ("several intents could be meant", "name one of them, or say who you are with `--agent`")
    };
    ServiceError::refused(ReasonCode::UsageInvalid, format!("{detail}: {}", listed.join(", ")))
        .with_next_step(step)
}

fn file_name(intent_id: &IntentId) -> String {
    Digest::of(intent_id.as_str().as_bytes()).to_hex()[..32].to_owned()
}

/// Reads a kept handle; `None` for any other file, which stays in place.
fn read(path: &Path) -> Option<KeptHandle> {
    KeptHandle::parse(&durable::read(path).ok()??)
}

fn age(path: &Path) -> Option<Duration> {
    SystemTime::now().duration_since(path.symlink_metadata().ok()?.modified().ok()?).ok()
}

/// Returns whether the file at `path` is a handle that Probity can have written: it is named after its intent, and if
/// the registry knows that intent, it is the handle of its owner.
pub(crate) fn is_sound(path: &Path, registry: &IntentRegistry) -> bool {
    read(path).is_some_and(|kept| {
        path.file_name().is_some_and(|name| *name == *file_name(&kept.intent_id))
            && (registry.intent(&kept.intent_id).is_none() || kept.is_current(registry))
    })
}

/// Chooses the handle for a command about one intent: the given one, else the kept one, unless the caller's name
/// differs from the agent's it was kept for.
pub fn handle_for_intent(
    given: Option<&OwnerHandle>,
    agent: Option<&str>,
    kept: Option<&KeptHandle>,
) -> Option<OwnerHandle> {
    let is_same_agent = |kept: &&KeptHandle| agent.is_none_or(|agent| agent == kept.label);
    given.or_else(|| kept.filter(is_same_agent).map(|kept| &kept.handle)).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn kept(id: &str) -> KeptHandle {
        KeptHandle {
            intent_id: IntentId::parse(id).expect("an id"),
            handle: OwnerHandle::parse("handle-of-ann-0123456789").expect("a handle"),
            label: "ann".into(),
        }
    }

    #[test]
    fn a_handle_is_kept_for_its_user_alone_and_removed_with_its_intent() {
        let dir = tempfile::tempdir().expect("a directory");
        let handles = HandleStore { dir: dir.path().join("handles/tree") };
        let ann = kept("odd/../id");
        handles.keep(&ann).expect("keeps");
        assert_eq!(handles.get(&ann.intent_id).expect("reads"), Some(ann.clone()));
        let mode = |path: &Path| path.metadata().expect("is there").permissions().mode() & 0o777;
        assert_eq!(mode(&handles.path(&ann.intent_id)), 0o600);
        assert_eq!((mode(&handles.dir), mode(&dir.path().join("handles"))), (0o700, 0o700));
        handles.forget(&ann.intent_id).expect("forgets");
        assert_eq!(handles.get(&ann.intent_id).expect("reads"), None);
    }

    #[test]
    fn a_handle_under_another_name_is_not_used() {
        let dir = tempfile::tempdir().expect("a directory");
        let handles = HandleStore { dir: dir.path().to_owned() };
        let (ann, other) = (kept("i-1"), kept("i-2"));
        std::fs::write(handles.path(&other.intent_id), ann.to_bytes()).expect("writes");
        assert!(handles.get(&other.intent_id).is_err());
        assert!(!is_sound(&handles.path(&other.intent_id), &IntentRegistry::default()));
        handles.keep(&other).expect("keeps");
        assert!(is_sound(&handles.path(&other.intent_id), &IntentRegistry::default()));
    }

    #[test]
    fn a_given_handle_wins_and_another_agent_gets_no_kept_one() {
        let ann = kept("i-1");
        let own = OwnerHandle::parse("handle-of-bo-01234567890").expect("a handle");
        assert_eq!(handle_for_intent(Some(&own), None, Some(&ann)), Some(own));
        assert_eq!(handle_for_intent(None, None, Some(&ann)), Some(ann.handle.clone()));
        assert_eq!(handle_for_intent(None, Some("ann"), Some(&ann)), Some(ann.handle.clone()));
        assert_eq!(handle_for_intent(None, Some("bo"), Some(&ann)), None);
        assert_eq!(handle_for_intent(None, None, None), None);
    }
}
