//! The registry as one reader sees it: answers of `probity intent` and `probity log`.

use crate::document::Answer;
use probity_core::Digest;
use probity_intents::registry::{
    EventSeq, IntentBase, OwnerNotice, RefusalCode, RegistryEvent, RegistryHead,
};
use probity_intents::{IntentId, IntentOwner, IntentScope, IntentStatus, Ownership, ScopeEntrySet};
use schemars::JsonSchema;
use serde::Serialize;

/// An intent as a reader sees it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct IntentView {
    /// Its id.
    pub intent_id: IntentId,
    /// What the record says about its life.
    pub status: IntentStatus,
    /// What it is to the reader.
    pub ownership: Ownership,
    /// Whether it is the reader's own.
    pub is_own: bool,
    /// Whether it is the reader's own by a handle kept in this worktree.
    pub handle_kept: bool,
    /// What it is for.
    pub description: String,
    /// What its owner expects of it.
    pub expected_effects: Vec<String>,
    /// What it may touch, amendments included.
    pub scope: IntentScope,
    /// Who holds it.
    pub owner: OwnerView,
    /// What people call its owner; the same as `owner.label`.
    pub agent: String,
    /// For how long its owner has promised to be alive.
    pub lease_seconds: u64,
    /// How long that still lasts; 0 if it lapsed.
    pub lease_expires_in_seconds: u64,
    /// When it was declared.
    pub declared_at: String,
    /// When it ends, whatever its owner does.
    pub expires_at: String,
    /// When it was closed.
    pub closed_at: Option<String>,
    /// Where it starts from.
    pub base: IntentBase,
    /// The fencing token; `null` while it waits.
    pub fencing_token: Option<EventSeq>,
    /// Its place in the queue while it waits.
    pub queue_position: Option<usize>,
    /// How its scope grew.
    pub amendments: Vec<AmendmentView>,
    /// The numbers of the events that changed it.
    pub history: Vec<EventSeq>,
}

/// Who holds an intent, without what proves it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OwnerView {
    /// What people call the agent.
    pub label: String,
    /// The host.
    pub host: String,
    /// The process, if one was named.
    pub pid: Option<u32>,
}

impl From<&IntentOwner> for OwnerView {
    fn from(owner: &IntentOwner) -> Self {
        let pid = Some(owner.pid).filter(|&pid| pid != 0);
        Self { label: owner.label.clone(), host: owner.host.clone(), pid }
    }
}

/// A widening of a scope.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AmendmentView {
    /// The event that did it.
    pub seq: EventSeq,
    /// When.
    pub at: String,
    /// Who.
    pub by: String,
    /// Why.
    pub why: String,
    /// What was added to `allowed_files`.
    pub allowed_files: ScopeEntrySet,
    /// What was added to `allowed_related`.
    pub allowed_related: ScopeEntrySet,
}

/// Who holds what, and who waits: the answer of `probity intent list`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct IntentListAnswer {
    /// The intents, by id.
    pub intents: Vec<IntentView>,
    /// What happened to intents of the reader meanwhile.
    pub notices: Vec<OwnerNotice>,
}

impl Answer for IntentListAnswer {
    const SCHEMA: &'static str = "probity/intent-list/v1";
}

/// One intent with everything it has: the answer of `probity intent show`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct IntentAnswer {
    /// The intent.
    pub intent: IntentView,
}

impl Answer for IntentAnswer {
    const SCHEMA: &'static str = "probity/intent/v1";
}

probity_core::word_enum! {
    /// Whether a command changed the registry.
    pub enum IntentChangeStatus {
        /// It did.
        Done = "done",
        /// There was nothing to do.
        NothingToDo = "nothing_to_do",
    }
}

/// What became of an intent: the answer of `probity intent renew`, `recover`, `clear` and `gc`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct IntentChangeAnswer {
    /// Whether something was done.
    pub status: IntentChangeStatus,
    /// The intent as it is now, where the command is about one.
    pub intent: Option<IntentView>,
    /// The event that did it.
    pub event: Option<LoggedEvent>,
    /// What happened to intents of this owner meanwhile.
    pub notices: Vec<OwnerNotice>,
    /// The handle of the owner, where the answer may tell it: on the command line of one who took an intent over and was
    /// new, and to every caller of a tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    // Absent, null, or a text.
    pub owner: Option<Option<String>>,
}

impl Answer for IntentChangeAnswer {
    const SCHEMA: &'static str = "probity/intent-change/v1";
}

/// An event of the log with its digest, and its time in words.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LoggedEvent {
    /// The event as the log holds it.
    #[serde(flatten)]
    pub event: RegistryEvent,
    /// The digest that the next event names.
    pub digest: Digest,
    /// When it was decided.
    pub at_utc: String,
}

probity_core::word_enum! {
    /// Whether each event names the one before it.
    pub enum ChainStatus {
        /// It does, from the first event to the last. A log of which this is not true is refused.
        Ok = "ok",
    }
}

/// The log of intents, checked from its first event: the answer of `probity log`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct IntentLogAnswer {
    /// Where the log ends.
    pub head: RegistryHead,
    /// Whether the log is whole.
    pub chain: ChainStatus,
    /// The events that were asked for.
    pub events: Vec<LoggedEvent>,
}

impl Answer for IntentLogAnswer {
    const SCHEMA: &'static str = "probity/log/v1";
}

probity_core::word_enum! {
    /// What a reset did with an intent.
    pub enum ResetAction {
        /// One's own: it lives on with a new lease.
        Renewed = "renewed",
        /// Over, or its owner is dead: it is closed.
        Cleared = "cleared",
        /// Somebody stands behind it: it was left alone.
        Rejected = "rejected",
    }
}

/// One intent of a reset.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ResetEntry {
    /// The intent.
    pub intent_id: IntentId,
    /// What was done.
    pub action: ResetAction,
    /// Why it was left alone.
    pub reason: Option<RefusalCode>,
    /// What to do about it.
    pub next_step: Option<String>,
}

/// What became of every open intent: the answer of `probity intent reset`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct IntentResetAnswer {
    /// The intents, by id.
    pub intents: Vec<ResetEntry>,
}

impl Answer for IntentResetAnswer {
    const SCHEMA: &'static str = "probity/intent-reset/v1";
}
