//! Events of the registry's log. Each contains the digest of its predecessor, so that changing, removing or
//! inserting an event is detected.

use super::{EventSeq, IntentAmendment, IntentBase, IntentDeclaration};
use crate::clone_logs::CloneLogHead;
use crate::coherence::ReleasedWork;
use crate::owner::{IntentOwner, Lease, Timestamp};
use crate::record::{CommandId, IntentId};
use crate::scope::ScopeEntrySet;
use probity_core::Digest;
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The newest form of events that these rules know. An event of a newer form ends the fold: what it means is not known,
/// and a registry without it would grant what others hold.
pub const EVENT_FORM: u32 = 2;

/// The form of events that have nothing of lines, landings, overlaps and the logs of clones.
const FIRST_EVENT_FORM: u32 = 1;

const fn first_form() -> u32 {
    FIRST_EVENT_FORM
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
const fn is_first_form(form: &u32) -> bool {
    *form == FIRST_EVENT_FORM
}

/// One entry of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RegistryEvent {
    /// The form of the event: what a reader must know to apply it. 1 if absent.
    #[serde(default = "first_form", skip_serializing_if = "is_first_form")]
    pub form: u32,
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
    /// In a team: the head of the own log of the clone that wrote the event, if it is another one than it last published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clone_log: Option<CloneLogHead>,
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
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum RegistryChange {
    /// A start was granted.
    Granted {
        /// The declared change.
        declaration: IntentDeclaration,
        /// Dead or expired intents closed to make way.
        displaced: BTreeSet<IntentId>,
        /// Waiting intents that were passed.
        passed: BTreeSet<IntentId>,
        /// Active intents of other trees that hold some of the same paths, and were told.
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
        announced: BTreeSet<IntentId>,
        /// Finished intents of other trees whose work the tree lacks; the caller was warned.
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
        lacks: BTreeSet<IntentId>,
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
        /// Active intents of other trees that hold some of the same paths, and were told.
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
        announced: BTreeSet<IntentId>,
        /// Finished intents of other trees whose work the tree lacks; the caller was warned.
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
        lacks: BTreeSet<IntentId>,
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
        /// Active intents of other trees that hold some of the added paths, and were told.
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
        announced: BTreeSet<IntentId>,
    },
    /// The intent was finished.
    Released {
        /// The intent.
        intent_id: IntentId,
        /// Digest of the receipt that proves it.
        receipt: Option<Digest>,
        /// What it left for other trees.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        work: Option<ReleasedWork>,
    },
    /// The work of a finished intent arrived on a branch of the remote.
    Landed {
        /// The intent.
        intent_id: IntentId,
        /// The commit that has the work.
        commit: String,
        /// The branch, without the name of the remote.
        branch: String,
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
    /// Somebody looked at a contradiction in the log of a clone and accepted it.
    LogAccepted {
        /// The name of the clone.
        clone: String,
        /// The event that showed the contradiction.
        breach: EventSeq,
        /// The reason given.
        why: String,
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
    /// An intent of another tree holds some of the same paths.
    Overlap {
        /// That intent.
        by: IntentId,
        /// The name of its owner for people.
        agent: String,
        /// The machine of its owner, as it calls itself.
        host: String,
        /// The entries that both hold.
        paths: ScopeEntrySet,
    },
    /// The work of another tree on paths of the intent arrived on a branch of the remote.
    LandedUnder {
        /// The intent whose work it is.
        by: IntentId,
        /// The name of its owner for people.
        agent: String,
        /// The commit that has the work.
        commit: String,
        /// The branch, without the name of the remote.
        branch: String,
        /// Digest of its receipt.
        receipt: Option<Digest>,
        /// The first paths of the intent that it changed.
        paths: Vec<RepoPath>,
    },
}

impl RegistryChange {
    /// Returns the form of an event that makes this change: the first one that can express it, so that programs that
    /// know only that one go on reading where they can.
    pub(super) fn form(&self) -> u32 {
        let is_shared = |base: &IntentBase| base.shared.is_some() || base.is_uncoordinated;
        let is_new = match self {
            Self::Granted { declaration, announced, lacks, .. } => {
                is_shared(&declaration.base) || !announced.is_empty() || !lacks.is_empty()
            }
            Self::Queued { declaration } => is_shared(&declaration.base),
            Self::Promoted { base, announced, lacks, .. } => {
                is_shared(base) || !announced.is_empty() || !lacks.is_empty()
            }
            Self::Amended { announced, .. } => !announced.is_empty(),
            Self::Released { work, .. } => work.is_some(),
            Self::Landed { .. } | Self::LogAccepted { .. } => true,
            _ => false,
        };
        if is_new { EVENT_FORM } else { FIRST_EVENT_FORM }
    }

    /// Returns the intent that the event is about, if it is about a single one.
    pub fn intent_id(&self) -> Option<&IntentId> {
        match self {
            Self::Granted { declaration, .. } | Self::Queued { declaration } => Some(&declaration.intent_id),
            Self::Promoted { intent_id, .. }
            | Self::Renewed { intent_id, .. }
            | Self::Amended { intent_id, .. }
            | Self::Released { intent_id, .. }
            | Self::Landed { intent_id, .. }
            | Self::Cleared { intent_id }
            | Self::Recovered { intent_id, .. } => Some(intent_id),
            Self::Collected { .. } | Self::LogAccepted { .. } => None,
        }
    }
}
