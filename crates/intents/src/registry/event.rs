//! Events: what the log of the registry is made of. Each names the one before it by digest, so that no event can be
//! changed, removed or put in without it being seen.

use super::{Amendment, Base, Declaration};
use crate::owner::{Lease, Owner, Timestamp};
use crate::record::{CommandId, IntentId};
use probity_core::Digest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// A position in the log, from 1. The position of a grant is the fencing token of the claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Seq(pub u64);

impl Seq {
    /// The position behind this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// One entry of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// Its position.
    pub seq: Seq,
    /// The digest of the event before it.
    pub prev: Digest,
    /// When it was decided.
    pub at: Timestamp,
    /// The command that it carries out.
    pub command: CommandId,
    /// The digest of that command, so that an id that is used for two commands is noticed.
    pub request: Digest,
    /// Who gave the command.
    pub by: Owner,
    /// What this owner is told with the answer, and need not be told again.
    pub notices: Vec<Notice>,
    /// What it changes.
    pub change: Change,
}

impl Event {
    /// The digest that the next event names.
    pub fn digest(&self) -> Digest {
        let value = serde_json::to_value(self).expect("an event has text keys and no other maps");
        Digest::of_json(&value)
    }
}

/// What an event changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Change {
    /// A start was granted.
    Granted {
        /// What was declared.
        declaration: Declaration,
        /// Intents that held nothing any more and had to give way.
        displaced: BTreeSet<IntentId>,
        /// Waiting intents that were let past.
        passed: BTreeSet<IntentId>,
    },
    /// A start got a place in the queue.
    Queued {
        /// What was declared.
        declaration: Declaration,
    },
    /// A waiting intent was granted its claim.
    Promoted {
        /// The intent.
        intent_id: IntentId,
        /// Where it starts from: the tree as it is now.
        base: Base,
        /// Intents that held nothing any more and had to give way.
        displaced: BTreeSet<IntentId>,
        /// Waiting intents that were let past.
        passed: BTreeSet<IntentId>,
    },
    /// The owner renewed its lease.
    Renewed {
        /// The intent.
        intent_id: IntentId,
        /// The new lease.
        lease: Lease,
        /// When the intent ends now.
        expires_at: Timestamp,
    },
    /// The scope grew.
    Amended {
        /// The intent.
        intent_id: IntentId,
        /// How.
        amendment: Amendment,
        /// Intents that held nothing any more and had to give way.
        displaced: BTreeSet<IntentId>,
    },
    /// The intent was finished.
    Released {
        /// The intent.
        intent_id: IntentId,
        /// The digest of what proves it: a receipt.
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
        /// When the intent ends now.
        expires_at: Timestamp,
    },
    /// What was over was closed, and what was closed long ago was forgotten.
    Collected {
        /// Intents whose time was over.
        expired: BTreeSet<IntentId>,
        /// Closed intents that are kept no longer.
        forgotten: BTreeSet<IntentId>,
    },
}

/// Why an intent was closed without its owner's doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Closing {
    /// Its time was over.
    Expired,
    /// Its owner was gone, or its time over, and another was granted its paths.
    Displaced,
    /// Somebody else cleared it.
    Cleared,
}

/// Something that an owner must be told at its next call (law 3).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Notice {
    /// The event that it speaks of.
    pub seq: Seq,
    /// The intent.
    pub intent_id: IntentId,
    /// What happened.
    pub kind: NoticeKind,
}

/// What happened to an owner's intent.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum NoticeKind {
    /// The lease ran out; others saw the owner as silent from then on.
    LeaseLapsed {
        /// Since when.
        since: Timestamp,
    },
    /// The intent was closed.
    Closed {
        /// Why.
        why: Closing,
        /// By which intent it was displaced, if it was.
        by: Option<IntentId>,
    },
    /// Another owner took the intent over.
    TakenOver {
        /// What people call the new owner.
        by: String,
    },
}

impl Change {
    /// The intent that the event is about, if it is about one.
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
