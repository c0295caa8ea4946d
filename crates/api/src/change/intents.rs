//! The registry from one reader's point of view: answers of `probity intent` and `probity log`.

use crate::document::Answer;
use probity_core::Digest;
use probity_intents::registry::{
    EventSeq, IntentBase, OwnerNotice, RefusalCode, RegistryEvent, RegistryHead,
};
use probity_intents::{IntentId, IntentOwner, IntentScope, IntentStatus, Ownership, ScopeEntrySet, TaskKey};
use schemars::JsonSchema;
use serde::Serialize;

/// An intent from a reader's point of view.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct IntentView {
    pub intent_id: IntentId,
    /// The recorded status.
    pub status: IntentStatus,
    /// The relation between the intent and the reader.
    pub ownership: Ownership,
    /// Whether it belongs to the reader.
    pub is_own: bool,
    /// Whether it belongs to the reader through a handle kept in this worktree.
    pub handle_kept: bool,
    /// The purpose of the change.
    pub description: String,
    /// Effects that its owner expects.
    pub expected_effects: Vec<String>,
    /// The scope, amendments included.
    pub scope: IntentScope,
    pub owner: OwnerView,
    /// The label of its owner; the same as `owner.label`.
    pub agent: String,
    /// The length of the lease, in seconds.
    pub lease_seconds: u64,
    /// Remaining time of the lease, in seconds; 0 if it lapsed.
    pub lease_expires_in_seconds: u64,
    pub declared_at: String,
    /// The time at which it ends, even if its owner is alive.
    pub expires_at: String,
    pub closed_at: Option<String>,
    /// The state of the tree that it started from.
    pub base: IntentBase,
    /// The task that it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskKey>,
    /// The fencing token; null while it is queued.
    pub fencing_token: Option<EventSeq>,
    /// Its position in the queue while it is queued.
    pub queue_position: Option<usize>,
    /// Extensions of its scope.
    pub amendments: Vec<AmendmentView>,
    /// The numbers of the events that changed it.
    pub history: Vec<EventSeq>,
}

/// The owner of an intent, without the secret handle.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OwnerView {
    pub label: String,
    pub host: String,
    /// The process id, if one was given.
    pub pid: Option<u32>,
}

impl From<&IntentOwner> for OwnerView {
    fn from(owner: &IntentOwner) -> Self {
        let pid = Some(owner.pid).filter(|&pid| pid != 0);
        Self { label: owner.label.clone(), host: owner.host.clone(), pid }
    }
}

/// An extension of a scope.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AmendmentView {
    pub seq: EventSeq,
    pub at: String,
    pub by: String,
    pub why: String,
    /// Entries added to `allowed_files`.
    pub allowed_files: ScopeEntrySet,
    /// Entries added to `allowed_related`.
    pub allowed_related: ScopeEntrySet,
}

/// Held and queued intents: the answer of `probity intent list`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct IntentListAnswer {
    /// The intents, sorted by id.
    pub intents: Vec<IntentView>,
    /// Events that affected the reader's intents in the meantime.
    pub notices: Vec<OwnerNotice>,
}

impl Answer for IntentListAnswer {
    const SCHEMA: &'static str = "probity/intent-list/v1";
}

/// One intent in full: the answer of `probity intent show`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct IntentAnswer {
    pub intent: IntentView,
}

impl Answer for IntentAnswer {
    const SCHEMA: &'static str = "probity/intent/v1";
}

probity_core::word_enum! {
    /// Whether a command changed the registry.
    pub enum IntentChangeStatus {
        /// The registry changed.
        Done = "done",
        /// There was nothing to do.
        NothingToDo = "nothing_to_do",
    }
}

/// The result of a command on an intent: the answer of `probity intent renew`, `recover`, `clear` and `gc`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct IntentChangeAnswer {
    pub status: IntentChangeStatus,
    /// The intent after the command, if the command is about one.
    pub intent: Option<IntentView>,
    /// The event that made the change.
    pub event: Option<LoggedEvent>,
    /// Events that affected the owner's intents in the meantime.
    pub notices: Vec<OwnerNotice>,
    /// The owner's handle, where the answer may reveal it: on the command line to a new owner who took an intent
    /// over, and to every caller of a tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    // Absent, null or a string, hence two options.
    pub owner: Option<Option<String>>,
}

impl Answer for IntentChangeAnswer {
    const SCHEMA: &'static str = "probity/intent-change/v1";
}

/// An event of the log with its digest and a readable time.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LoggedEvent {
    /// The event as stored in the log.
    #[serde(flatten)]
    pub event: RegistryEvent,
    /// The digest that the next event must name.
    pub digest: Digest,
    /// The time of the event in UTC.
    pub at_utc: String,
}

probity_core::word_enum! {
    /// Whether each event names its predecessor.
    pub enum ChainStatus {
        /// Every event does. A log for which this does not hold is refused.
        Ok = "ok",
    }
}

/// The log of intents, verified from its first event: the answer of `probity log`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct IntentLogAnswer {
    /// The end of the log.
    pub head: RegistryHead,
    pub chain: ChainStatus,
    /// The requested events.
    pub events: Vec<LoggedEvent>,
}

impl Answer for IntentLogAnswer {
    const SCHEMA: &'static str = "probity/log/v1";
}

probity_core::word_enum! {
    /// The effect of a reset on an intent.
    pub enum ResetAction {
        /// The caller's own intent: its lease was renewed.
        Renewed = "renewed",
        /// It expired or its owner is dead: it was closed.
        Cleared = "cleared",
        /// Its owner may be alive: it was left alone.
        Rejected = "rejected",
    }
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ResetEntry {
    pub intent_id: IntentId,
    pub action: ResetAction,
    /// Why it was left alone.
    pub reason: Option<RefusalCode>,
    pub next_step: Option<String>,
}

/// The effect on every open intent: the answer of `probity intent reset`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct IntentResetAnswer {
    /// The intents, sorted by id.
    pub intents: Vec<ResetEntry>,
}

impl Answer for IntentResetAnswer {
    const SCHEMA: &'static str = "probity/intent-reset/v1";
}
