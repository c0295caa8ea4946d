//! A serialized registry, so that opening it does not replay the whole log. Only a cache: the log is authoritative.

use super::{
    EVENT_FORM, EventSeq, Intent, IntentRegistry, MAX_REMEMBERED_COMMANDS, OwnerKey, OwnerNotice,
    RegistryHead,
};
use crate::clone_logs::CloneLogs;
use crate::coherence::{LineChange, LineContents};
use crate::registry::RegistryEvent;
use crate::registry::index::OverlapIndex;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The registry at one position of its log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegistrySnapshot {
    /// The newest form of events that its writer knew; see [`EVENT_FORM`].
    form: u32,
    head: RegistryHead,
    intents: Vec<Intent>,
    notices: Vec<(OwnerKey, Vec<OwnerNotice>)>,
    contents: Vec<(EventSeq, LineChange)>,
    #[serde(default, skip_serializing_if = "CloneLogs::is_empty")]
    clone_logs: CloneLogs,
    /// Events of the remembered commands.
    commands: Vec<RegistryEvent>,
}

impl RegistrySnapshot {
    pub const fn head(&self) -> RegistryHead {
        self.head
    }
}

impl IntentRegistry {
    pub fn snapshot(&self) -> RegistrySnapshot {
        self.snapshot_with_commands(MAX_REMEMBERED_COMMANDS)
    }

    /// Like [`Self::snapshot`], with the last `n` commands alone: a store that cuts its log knows the others by itself.
    pub fn snapshot_with_commands(&self, n: usize) -> RegistrySnapshot {
        let first = self.command_order.len().saturating_sub(n);
        let remembered = self.command_order.values().skip(first).filter_map(|id| self.commands.get(id));
        RegistrySnapshot {
            form: EVENT_FORM,
            head: self.head,
            intents: self.intents.values().cloned().collect(),
            notices: self.notices.iter().map(|(owner, told)| (owner.clone(), told.clone())).collect(),
            contents: self.contents.to_list(),
            clone_logs: self.clone_logs.clone(),
            commands: remembered.cloned().collect(),
        }
    }
}

impl From<RegistrySnapshot> for IntentRegistry {
    fn from(snapshot: RegistrySnapshot) -> Self {
        let mut open = OverlapIndex::default();
        let live = snapshot.intents.iter().filter(|intent| !intent.status.is_closed());
        let mut open_ids = BTreeSet::new();
        for intent in live {
            open.insert(&intent.id, &intent.scope);
            open_ids.insert(intent.id.clone());
        }
        let order = snapshot.commands.iter().map(|event| (event.seq, event.command.clone())).collect();
        Self {
            head: snapshot.head,
            intents: snapshot.intents.into_iter().map(|intent| (intent.id.clone(), intent)).collect(),
            open,
            open_ids,
            notices: snapshot.notices.into_iter().collect(),
            contents: LineContents::from_list(snapshot.contents),
            clone_logs: snapshot.clone_logs,
            commands: snapshot.commands.into_iter().map(|event| (event.command.clone(), event)).collect(),
            command_order: order,
        }
    }
}
