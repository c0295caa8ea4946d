//! Refusals: why a command was not carried out. A refusal is an answer, and it leaves nothing behind.

use super::Seq;
use crate::owner::Ownership;
use crate::record::{IntentId, Status};
use crate::start::StartDecision;
use serde::Serialize;
use std::collections::BTreeSet;

/// Why a command was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(tag = "refusal", rename_all = "snake_case")]
pub enum Refusal {
    /// The start rules say no; the decision says why and what to do.
    #[error("the start is blocked")]
    Blocked {
        /// The decision in full.
        decision: Box<StartDecision>,
    },
    /// Others wait for these paths, and it is their turn.
    #[error("{} waiting intents come first", .waiters.len())]
    QueueAhead {
        /// Who comes first.
        waiters: BTreeSet<IntentId>,
    },
    /// The caller itself holds some of these paths.
    #[error("the scope overlaps your own intent {holder}: finish, amend or clear that one")]
    OverlapsOwn {
        /// The caller's intent.
        holder: IntentId,
    },
    /// Another live intent or a governed run holds some of these paths.
    #[error("the paths are held by others: {}", .holders.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
    Overlaps {
        /// Whose.
        holders: BTreeSet<IntentId>,
    },
    /// There is no such intent.
    #[error("there is no intent {intent_id}")]
    UnknownIntent {
        /// The id.
        intent_id: IntentId,
    },
    /// There is an intent of that id already.
    #[error("there is an intent {intent_id} already")]
    IntentExists {
        /// The id.
        intent_id: IntentId,
    },
    /// The command id was used for another command.
    #[error("this command id was used for another command")]
    CommandIdReused,
    /// The intent is another's.
    #[error("intent {intent_id} is held by another owner")]
    HeldByOther {
        /// The intent.
        intent_id: IntentId,
        /// How it lies to the caller.
        ownership: Ownership,
    },
    /// The intent is not in the state that the command needs.
    #[error("intent {intent_id} is not in the right state")]
    WrongStatus {
        /// The intent.
        intent_id: IntentId,
        /// Its state.
        status: Status,
    },
    /// The claim was granted anew since this token was given out.
    #[error("the fencing token {given} is not the one of the claim")]
    StaleToken {
        /// What the caller holds.
        given: Seq,
        /// What the claim has.
        current: Option<Seq>,
    },
    /// The life time of the intent is over.
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
        /// How it lies to the caller.
        ownership: Ownership,
    },
    /// A number is outside its bounds.
    #[error("{what} must lie between {least} and {most}, not {given}")]
    OutOfBounds {
        /// Which number.
        what: &'static str,
        /// The least.
        least: u64,
        /// The most.
        most: u64,
        /// What was given.
        given: u64,
    },
    /// The scope names nothing.
    #[error("the scope is empty")]
    EmptyScope,
}

impl Refusal {
    /// The stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Blocked { .. } => "blocked",
            Self::QueueAhead { .. } => "queue_ahead",
            Self::OverlapsOwn { .. } => "overlaps_own",
            Self::Overlaps { .. } => "overlaps",
            Self::UnknownIntent { .. } => "unknown_intent",
            Self::IntentExists { .. } => "intent_exists",
            Self::CommandIdReused => "command_id_reused",
            Self::HeldByOther { .. } => "held_by_other",
            Self::WrongStatus { .. } => "wrong_status",
            Self::StaleToken { .. } => "stale_token",
            Self::Expired { .. } => "expired",
            Self::NotRecoverable { .. } => "not_recoverable",
            Self::OutOfBounds { .. } => "out_of_bounds",
            Self::EmptyScope => "empty_scope",
        }
    }

    /// What to do next. Never: kill another's process.
    pub const fn next_step(&self) -> &'static str {
        match self {
            Self::Blocked { .. } | Self::Overlaps { .. } => {
                "coordinate with the owner, queue, or narrow the scope"
            }
            Self::QueueAhead { .. } => "queue, or narrow the scope",
            Self::OverlapsOwn { .. } => "finish, amend or clear your own intent first",
            Self::UnknownIntent { .. } => "list the intents",
            Self::IntentExists { .. } | Self::CommandIdReused => "make a new id",
            Self::HeldByOther { .. } | Self::NotRecoverable { .. } => "coordinate with its owner",
            Self::WrongStatus { .. } => "look at the intent: it waits or is closed",
            Self::StaleToken { .. } => "look at the intent: somebody recovered it",
            Self::Expired { .. } => "recover it, or start anew",
            Self::OutOfBounds { .. } => "give a number inside the bounds",
            Self::EmptyScope => "name at least one path in allowed_files",
        }
    }
}
