//! Events of the registry's log. Each contains the digest of its predecessor, so that changing, removing or
//! inserting an event is detected.

use super::{IntentAmendment, IntentBase, IntentDeclaration};
use crate::owner::{IntentOwner, Lease, Timestamp};
use crate::record::{CommandId, IntentId};
use probity_core::Digest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// A position in the log, from 1. The position of a grant is the fencing token of the claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct EventSeq(pub u64);

impl EventSeq {
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for EventSeq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// One entry of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RegistryEvent {
    /// Position in the log.
    pub seq: EventSeq,
    /// Digest of the preceding event.
    pub prev: Digest,
    /// When it was decided.
    pub at: Timestamp,
    /// The command that it carries out.
    pub command: CommandId,
    /// Digest of that command, to detect an id reused for another command.
    pub request: Digest,
    /// The owner who gave the command.
    pub by: IntentOwner,
    /// Notices delivered to this owner with the response; they are not repeated.
    pub notices: Vec<OwnerNotice>,
    /// The change it makes.
    pub change: RegistryChange,
}

impl RegistryEvent {
    /// Computes the digest that the next event contains.
    pub fn digest(&self) -> Digest {
        let value = serde_json::to_value(self).expect("an event has text keys and no other maps");
        Digest::of_json(&value)
    }
}

/// The change an event makes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RegistryChange {
    /// A start was granted.
    Granted {
        /// The declared change.
        declaration: IntentDeclaration,
        /// Dead or expired intents closed to make way.
        displaced: BTreeSet<IntentId>,
        /// Waiting intents that were passed.
        passed: BTreeSet<IntentId>,
    },
    /// A start took a place in the queue.
    Queued {
        /// The declared change.
        declaration: IntentDeclaration,
    },
    /// A waiting intent was granted its claim.
    Promoted {
        /// The intent.
        intent_id: IntentId,
        /// The state of the tree at the promotion.
        base: IntentBase,
        /// Dead or expired intents closed to make way.
        displaced: BTreeSet<IntentId>,
        /// Waiting intents that were passed.
        passed: BTreeSet<IntentId>,
    },
    /// The owner renewed its lease.
    Renewed {
        /// The intent.
        intent_id: IntentId,
        /// The new lease.
        lease: Lease,
        /// The new end of the intent.
        expires_at: Timestamp,
    },
    /// The scope grew.
    Amended {
        /// The intent.
        intent_id: IntentId,
        /// The added entries.
        amendment: IntentAmendment,
        /// Dead or expired intents closed to make way.
        displaced: BTreeSet<IntentId>,
    },
    /// The intent was finished.
    Released {
        /// The intent.
        intent_id: IntentId,
        /// Digest of the receipt that proves it.
        receipt: Option<Digest>,
    },
    /// The intent was given up.
    Cleared {
        /// The intent.
        intent_id: IntentId,
    },
    /// Another owner, or the same one from another process, took the intent over.
    Recovered {
        /// The intent.
        intent_id: IntentId,
        /// The new lease.
        lease: Lease,
        /// The new end of the intent.
        expires_at: Timestamp,
    },
    /// Expired intents were closed, and those closed long ago were forgotten.
    Collected {
        /// Intents whose time was over.
        expired: BTreeSet<IntentId>,
        /// Closed intents that are no longer kept.
        forgotten: BTreeSet<IntentId>,
    },
}

/// Why an intent was closed by someone other than its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClosureReason {
    /// Its time was over.
    Expired,
    /// It was dead or expired, and another intent was granted its paths.
    Displaced,
    /// Someone else cleared it.
    Cleared,
}

/// Something an owner must learn on its next call (law 3).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnerNotice {
    /// The event that caused the notice.
    pub seq: EventSeq,
    /// The intent.
    pub intent_id: IntentId,
    /// What happened.
    pub kind: NoticeKind,
}

/// What happened to an owner's intent.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum NoticeKind {
    /// The lease lapsed; from then on the owner appeared silent to others.
    LeaseLapsed {
        /// When it lapsed.
        since: Timestamp,
    },
    /// The intent was closed.
    Closed {
        /// The reason.
        why: ClosureReason,
        /// The intent that displaced it, if one did.
        by: Option<IntentId>,
    },
    /// Another owner took the intent over.
    TakenOver {
        /// The new owner's name for people.
        by: String,
    },
}

impl RegistryChange {
    /// Returns the intent that the event is about, if it is about a single one.
    pub fn intent_id(&self) -> Option<&IntentId> {
        match self {
            Self::Granted { declaration, .. } | Self::Queued { declaration } => Some(&declaration.intent_id),
            Self::Promoted { intent_id, .. }
            | Self::Renewed { intent_id, .. }
            | Self::Amended { intent_id, .. }
            | Self::Released { intent_id, .. }
            | Self::Cleared { intent_id }
            | Self::Recovered { intent_id, .. } => Some(intent_id),
            Self::Collected { .. } => None,
        }
    }
}
