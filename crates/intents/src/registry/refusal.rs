//! Refusals: why a command was not carried out. A refused command changes nothing.

use super::{EventSeq, Intent};
use crate::owner::{Ownership, Timestamp};
use crate::record::{IntentId, IntentStatus, TaskKey};
use crate::start::StartDecision;
use schemars::JsonSchema;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Why a command was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, thiserror::Error)]
#[serde(tag = "refusal", rename_all = "snake_case")]
pub enum CommandRefusal {
    /// The start rules refuse; the decision says why and what to do.
    #[error("the start is blocked")]
    Blocked {
        /// The full decision.
        decision: Box<StartDecision>,
    },
    /// Others are waiting for these paths, and it is their turn.
    #[error("{} waiting intents come first", .waiters.len())]
    QueueAhead {
        /// The intents whose turn it is.
        waiters: BTreeSet<IntentId>,
    },
    /// The caller already holds some of these paths.
    #[error("the scope overlaps your own intent {holder}: finish, amend or clear that one")]
    OverlapsOwn {
        /// The caller's intent.
        holder: IntentId,
    },
    /// Somebody works on this task already.
    #[error("{agent} on {host} works on task {task} already, with intent {holder}")]
    TaskTaken {
        /// The task.
        task: TaskKey,
        /// The open intent for it.
        holder: IntentId,
        /// The owner's name for people.
        agent: String,
        /// The owner's machine.
        host: String,
    },
    /// Another live intent or a governed run holds some of these paths.
    #[error("the paths are held by others: {}", .holders.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
    Overlaps {
        /// The holders.
        holders: BTreeSet<IntentId>,
    },
    /// There is no such intent.
    #[error("there is no intent {intent_id}")]
    UnknownIntent {
        /// The id.
        intent_id: IntentId,
    },
    /// An intent with this id already exists.
    #[error("there is an intent {intent_id} already")]
    IntentExists {
        /// The id.
        intent_id: IntentId,
    },
    /// The command id was used for another command.
    #[error("this command id was used for another command")]
    CommandIdReused,
    /// Another owner holds the intent.
    #[error("intent {intent_id} belongs to {agent}, and the caller did not give its handle")]
    HeldByOther {
        /// The intent.
        intent_id: IntentId,
        /// The owner's name for people.
        agent: String,
        /// How the intent relates to the caller.
        ownership: Ownership,
    },
    /// The intent is not in the state that the command needs.
    #[error("intent {intent_id} {}", status_words(*.status))]
    WrongStatus {
        /// The intent.
        intent_id: IntentId,
        /// Its status.
        status: IntentStatus,
        /// When it was closed, if it is.
        closed_at: Option<Timestamp>,
    },
    /// The claim was granted again after this token was issued.
    #[error("the fencing token {given} is not the one of the claim")]
    StaleToken {
        /// The caller's token.
        given: EventSeq,
        /// The claim's current token.
        current: Option<EventSeq>,
    },
    /// The lifetime of the intent is over.
    #[error("intent {intent_id} is over")]
    Expired {
        /// The intent.
        intent_id: IntentId,
    },
    /// Nothing proves that the owner is gone.
    #[error("intent {intent_id} cannot be recovered: its owner may be alive")]
    NotRecoverable {
        /// The intent.
        intent_id: IntentId,
        /// How the intent relates to the caller.
        ownership: Ownership,
    },
    /// A number is outside its bounds.
    #[error("{} must be between {least} and {most}, not {given}", limit_label(.what))]
    OutOfBounds {
        /// The name of the number.
        what: &'static str,
        /// The lower bound.
        least: u64,
        /// The upper bound.
        most: u64,
        /// The given number.
        given: u64,
    },
    /// The scope is empty.
    #[error("the scope is empty")]
    EmptyScope,
}

probity_core::code_enum! {
    pub enum RefusalCode {
        Blocked = "blocked",
            "the start is blocked: other intents or uncommitted changes are in the way",
            "coordinate with the owner, queue, or narrow the scope";
        QueueAhead = "queue_ahead",
            "others wait for these paths, and it is their turn",
            "queue, or narrow the scope";
        OverlapsOwn = "overlaps_own",
            "the scope overlaps an intent of the same owner",
            "finish, amend or clear your own intent first";
        TaskTaken = "task_taken",
            "somebody works on this task already",
            "take another task, or coordinate with its owner";
        Overlaps = "overlaps",
            "another live intent or a governed run holds some of these paths",
            "coordinate with the owner; or leave these paths as they are and finish without them; or split them off: `probity start PATH --queue --intent '…'` waits for its turn";
        UnknownIntent = "unknown_intent",
            "there is no intent with this id",
            "`probity intent list` shows the intents";
        IntentExists = "intent_exists",
            "there is already an intent with this id",
            "make a new id";
        CommandIdReused = "command_id_reused",
            "the command id was used for another command",
            "make a new id";
        HeldByOther = "held_by_other",
            "the intent belongs to another owner",
            "if it is yours, pass its handle with `--owner`; otherwise coordinate with its owner";
        WrongStatus = "wrong_status",
            "the intent is not in the state that the command needs",
            "`probity intent show ID` says whether it is queued, active or closed";
        StaleToken = "stale_token",
            "the claim was granted again after this fencing token was issued",
            "`probity intent show ID` says who recovered it";
        Expired = "expired",
            "the lease of the intent is over",
            "recover it with `probity intent recover ID`, or start again";
        NotRecoverable = "not_recoverable",
            "nothing proves that the owner of the intent is gone",
            "coordinate with its owner";
        OutOfBounds = "out_of_bounds",
            "a number is outside its bounds",
            "give a number inside the bounds";
        EmptyScope = "empty_scope",
            "the scope names nothing",
            "name at least one path";
    }
}

impl CommandRefusal {
    pub const fn code(&self) -> RefusalCode {
        match self {
            Self::Blocked { .. } => RefusalCode::Blocked,
            Self::QueueAhead { .. } => RefusalCode::QueueAhead,
            Self::OverlapsOwn { .. } => RefusalCode::OverlapsOwn,
            Self::TaskTaken { .. } => RefusalCode::TaskTaken,
            Self::Overlaps { .. } => RefusalCode::Overlaps,
            Self::UnknownIntent { .. } => RefusalCode::UnknownIntent,
            Self::IntentExists { .. } => RefusalCode::IntentExists,
            Self::CommandIdReused => RefusalCode::CommandIdReused,
            Self::HeldByOther { .. } => RefusalCode::HeldByOther,
            Self::WrongStatus { .. } => RefusalCode::WrongStatus,
            Self::StaleToken { .. } => RefusalCode::StaleToken,
            Self::Expired { .. } => RefusalCode::Expired,
            Self::NotRecoverable { .. } => RefusalCode::NotRecoverable,
            Self::OutOfBounds { .. } => RefusalCode::OutOfBounds,
            Self::EmptyScope => RefusalCode::EmptyScope,
        }
    }

    /// Builds the refusal of an action that the status of the intent does not allow.
    pub fn wrong_status(intent: &Intent) -> Self {
        let (intent_id, status, closed_at) = (intent.id.clone(), intent.status, intent.closed_at);
        Self::WrongStatus { intent_id, status, closed_at }
    }

    /// Returns the advice for the caller. It never suggests killing another owner's process.
    pub fn next_step(&self) -> Cow<'static, str> {
        match self {
            Self::HeldByOther { intent_id, ownership: Ownership::Recoverable, .. } => {
                format!("its owner is gone: `probity intent recover {intent_id}` takes it over").into()
            }
            Self::WrongStatus { status, .. } if status.is_closed() => {
                "there is nothing left to do about it; `probity start` declares another change".into()
            }
            Self::NotRecoverable { intent_id, .. } => {
                format!("coordinate with its owner, or wait until it ends: `probity intent show {intent_id}` says when")
                    .into()
            }
            Self::WrongStatus { intent_id, .. } | Self::Expired { intent_id } => {
                self.code().next_step().replace(" ID`", &format!(" {intent_id}`")).into()
            }
            _ => self.code().next_step().into(),
        }
    }
}

/// Describes the status that rules an action out.
const fn status_words(status: IntentStatus) -> &'static str {
    match status {
        IntentStatus::Active => "is active already",
        IntentStatus::Queued => "still waits in the queue",
        IntentStatus::Landing => "was finished already, and its work lands",
        IntentStatus::Released => "was finished already",
        IntentStatus::Cleared => "was given up already",
        IntentStatus::Expired => "has ended: it expired, or its owner was gone",
    }
}

/// Returns the label of a bounded number in messages.
fn limit_label(what: &str) -> &str {
    match what {
        "lease_seconds" => "the lease (`--lease`, in seconds)",
        "ttl_seconds" => "the life time (`--ttl`, in seconds)",
        "hold_seconds" => "the time to land (in seconds)",
        "scope entries" => "the number of scope entries",
        "open intents" => "the number of open intents",
        other => other,
    }
}
