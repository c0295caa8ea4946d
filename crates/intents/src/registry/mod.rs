//! The registry of intents: a fold of its log.
//!
//! [`IntentRegistry::decide`] answers a command with the event that would carry it out, or with a refusal; it
//! changes nothing. [`IntentRegistry::apply`] applies a stored event and is total. A claim is therefore one
//! compare-and-append, and a refused command leaves nothing behind (law 4).
//!
//! Invariant: no two active intents hold the same path, unless both announce their overlap. An intent whose owner is dead or whose time is over holds nothing; the
//! event that grants its paths to another intent also closes it and leaves a notice for its owner.

mod apply;
mod command;
mod decide;
mod event;
mod index;
mod queue;
mod refusal;
mod snapshot;

pub use command::{
    CommandContext, IntentDeclaration, MAX_HOLD_SECONDS, MAX_LEASE_SECONDS, MAX_TTL_SECONDS,
    MIN_LEASE_SECONDS, MIN_TTL_SECONDS, RegistryAction, RegistryCommand,
};
pub use decide::CommandDecision;
pub use event::{ClosureReason, EVENT_FORM, NoticeKind, OwnerNotice, RegistryChange, RegistryEvent};
pub use queue::MAX_QUEUE_PASSES;
pub use refusal::{CommandRefusal, RefusalCode};
pub use snapshot::RegistrySnapshot;

pub use crate::base::IntentBase;
pub use crate::record::EventSeq;

use crate::clone_logs::CloneLogs;
use crate::coherence::{
    BaseQuestion, ClaimRelation, LackingWork, LineContents, StaleBaseRule, TreeContents, TreeQuestion,
    claim_relation,
};
use crate::owner::{IntentOwner, Lease, Ownership, OwnershipFacts, Timestamp, ownership};
use crate::record::{CommandId, IntentId, IntentStatus, PeerIntent, TaskKey};
use crate::relations::overlap;
use crate::scope::{IntentScope, ScopeEntrySet};
use index::OverlapIndex;
use probity_core::Digest;
use probity_core::chain::{ChainBreak, check_next};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A widening of the scope: who, why, when (law 2).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IntentAmendment {
    /// The event that made it.
    pub seq: EventSeq,
    /// When it was made.
    pub at: Timestamp,
    /// Who made it.
    pub by: IntentOwner,
    /// The reason given.
    pub why: String,
    /// Entries added to `allowed_files`.
    pub allowed_files: ScopeEntrySet,
    /// Entries added to `allowed_related`.
    pub allowed_related: ScopeEntrySet,
}

/// A declared change.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Intent {
    pub id: IntentId,
    /// The purpose of the change.
    pub description: String,
    /// What the owner expects the change to achieve.
    pub expected_effects: Vec<String>,
    /// What it may touch, including amendments.
    pub scope: IntentScope,
    pub status: IntentStatus,
    pub owner: IntentOwner,
    pub lease: Lease,
    /// When it ends, regardless of its owner, by the clock of the machine that wrote the event.
    pub expires_at: Timestamp,
    /// The event that last set its life time, and the seconds that it gave.
    pub life: IntentLife,
    pub declared_at: Timestamp,
    pub base: IntentBase,
    /// The task that it is for.
    pub task: Option<TaskKey>,
    /// Fencing token: the event that granted the claim. `None` while waiting.
    pub token: Option<EventSeq>,
    /// The event that queued it, if it ever waited.
    pub queued_at: Option<EventSeq>,
    /// How often it was passed in the queue.
    pub passed: u32,
    /// Overlapping intents of other trees that were active at the same time, by announcement.
    pub announced: BTreeSet<IntentId>,
    /// Finished changes of other trees that its base lacked when it was granted.
    pub lacked: BTreeSet<IntentId>,
    /// Digest of the receipt of its finish.
    pub receipt: Option<Digest>,
    pub amendments: Vec<IntentAmendment>,
    /// Every event that changed it.
    pub history: Vec<EventSeq>,
    pub closed_at: Option<Timestamp>,
}

/// The life time of an intent without any clock: an event, and how long the intent lives from then on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntentLife {
    pub since: EventSeq,
    pub seconds: u64,
}

impl IntentLife {
    /// Returns the life that an event gives until `expires_at`. Both times are of the machine that wrote it.
    const fn given_by(event: &RegistryEvent, expires_at: Timestamp) -> Self {
        Self { since: event.seq, seconds: expires_at.0.saturating_sub(event.at.0) }
    }
}

impl Intent {
    pub fn ownership(&self, reader: &IntentOwner, seen: &CommandContext) -> Ownership {
        self.ownership_until(self.ends_at(seen), reader, seen)
    }

    /// Returns how the intent would relate to `reader` if its time were never over.
    fn ownership_without_end(&self, reader: &IntentOwner, seen: &CommandContext) -> Ownership {
        self.ownership_until(Timestamp(u64::MAX), reader, seen)
    }

    fn ownership_until(&self, end: Timestamp, reader: &IntentOwner, seen: &CommandContext) -> Ownership {
        // Finished work waits for its landing whether or not the process that made it is still there.
        let is_landing = self.status == IntentStatus::Landing;
        let has_session_ended = !is_landing
            && self.owner.session.as_ref().is_some_and(|session| seen.ended_sessions.contains(session));
        let held = OwnershipFacts {
            owner: &self.owner,
            lease: self.lease(seen),
            expires_at: Some(end),
            has_session_ended,
        };
        ownership(held, reader, seen.now, seen.probe(&self.id).filter(|_| !is_landing))
    }

    /// Returns when the intent ends, by the reader's clock. On a shared store that is how long the store's clock or the
    /// reader's own observation still gives it, since the recorded time is another machine's.
    pub fn ends_at(&self, seen: &CommandContext) -> Timestamp {
        match &seen.lives {
            None => self.expires_at,
            Some(lives) => seen.now.plus_seconds(lives.get(&self.id).copied().unwrap_or(0)),
        }
    }

    /// Returns whether the intent is past its lifetime.
    pub fn is_over(&self, seen: &CommandContext) -> bool {
        self.ends_at(seen) <= seen.now
    }

    /// Returns the owner's lease: the recorded one, or the store's if that lasts longer. On a shared store only the
    /// store's counts.
    pub fn lease(&self, seen: &CommandContext) -> Lease {
        let renewed = seen.leases.get(&self.id).map(|&seconds| Lease { renewed_at: seen.now, seconds });
        if seen.lives.is_some() {
            return renewed.unwrap_or(Lease { renewed_at: seen.now, seconds: 0 });
        }
        renewed.filter(|renewed| renewed.ends_at() > self.lease.ends_at()).unwrap_or(self.lease)
    }

    /// Returns whether the intent keeps claims from `base` off its paths: an active one does, and one that lands keeps off
    /// other trees only, because its own has the work.
    pub fn keeps_off(&self, base: &IntentBase) -> bool {
        match self.status {
            IntentStatus::Active => true,
            IntentStatus::Landing => self.base.is_apart_from(base),
            _ => false,
        }
    }

    /// Returns how a claim on an overlapping scope from `base` relates to this intent.
    pub fn relation_to(&self, scope: &IntentScope, base: &IntentBase) -> ClaimRelation {
        claim_relation((scope, base), (&self.scope, &self.base))
    }

    fn peer(&self, reader: &IntentOwner, seen: &CommandContext) -> PeerIntent {
        PeerIntent {
            intent_id: self.id.clone(),
            ownership: self.ownership(reader, seen),
            status: self.status,
            scope: self.scope.clone(),
        }
    }
}

/// Identifies the owner a notice is for: by token, or by process if it has none.
type OwnerKey = (Option<String>, String, Option<String>, u32, Option<u64>);

fn owner_key(owner: &IntentOwner) -> OwnerKey {
    match &owner.token {
        Some(token) => (Some(token.clone()), String::new(), None, 0, None),
        None => (None, owner.host.clone(), owner.boot_id.clone(), owner.pid, owner.pid_start),
    }
}

/// How many completed commands are kept in memory to recognize repeats. The store also knows older ones.
pub const MAX_REMEMBERED_COMMANDS: usize = 1_000;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IntentRegistry {
    head: RegistryHead,
    intents: BTreeMap<IntentId, Intent>,
    /// Active and queued intents, by the entries of their scopes.
    open: OverlapIndex,
    /// The same intents, by id.
    open_ids: BTreeSet<IntentId>,
    notices: BTreeMap<OwnerKey, Vec<OwnerNotice>>,
    /// What finished changes made of their paths, per line.
    contents: LineContents,
    /// What the clones of a team last published of their own logs.
    clone_logs: CloneLogs,
    commands: BTreeMap<CommandId, RegistryEvent>,
    /// The remembered commands in event order.
    command_order: BTreeMap<EventSeq, CommandId>,
}

/// The end of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RegistryHead {
    /// The last event.
    pub seq: EventSeq,
    /// Its digest; the digest of the empty string if the log is empty.
    pub digest: Digest,
}

impl Default for RegistryHead {
    fn default() -> Self {
        Self { seq: EventSeq(0), digest: Digest::of(b"") }
    }
}

impl IntentRegistry {
    /// Rebuilds the registry from its log, checking the chain.
    pub fn replay<'e>(events: impl IntoIterator<Item = &'e RegistryEvent>) -> Result<Self, ChainBreak> {
        let mut registry = Self::default();
        for event in events {
            registry.check_next(event)?;
            registry.apply(event);
        }
        Ok(registry)
    }

    /// Whether `event` is the next of this log.
    pub fn check_next(&self, event: &RegistryEvent) -> Result<(), ChainBreak> {
        check_next(self.head.seq.0, &self.head.digest, event.seq.0, &event.prev)
    }

    pub const fn head(&self) -> RegistryHead {
        self.head
    }

    pub fn intent(&self, id: &IntentId) -> Option<&Intent> {
        self.intents.get(id)
    }

    /// Returns every intent, open or closed, by id.
    pub fn intents(&self) -> impl Iterator<Item = &Intent> {
        self.intents.values()
    }

    /// Returns a prefix of an id that matches this intent and no other.
    pub fn short_id<'i>(&self, id: &'i IntentId) -> &'i str {
        let text = id.as_str();
        let is_unique = |beginning: &str| {
            !self.intents.values().any(|other| other.id != *id && other.id.as_str().starts_with(beginning))
        };
        let least = probity_core::text::short_id(text).len();
        let ends = text.char_indices().map(|(end, _)| end).filter(|end| *end >= least);
        let found = ends.map(|end| &text[..end]).find(|beginning| is_unique(beginning));
        found.unwrap_or(text)
    }

    /// Returns the command that the last event carried out; `None` if there is no event.
    pub fn last_command(&self) -> Option<&CommandId> {
        self.command_order.get(&self.head.seq)
    }

    /// Returns the number of intents, open or closed.
    pub fn n_intents(&self) -> usize {
        self.intents.len()
    }

    /// Returns every active or queued intent, by id. Cheap, however many intents were closed.
    pub fn open_intents(&self) -> impl Iterator<Item = &Intent> {
        self.open_ids.iter().filter_map(|id| self.intents.get(id))
    }

    /// Returns every intent as `reader` sees it, except the one named `except`.
    pub fn peers(
        &self,
        reader: &IntentOwner,
        seen: &CommandContext,
        except: Option<&IntentId>,
    ) -> Vec<PeerIntent> {
        self.intents
            .values()
            .filter(|intent| Some(&intent.id) != except)
            .map(|intent| intent.peer(reader, seen))
            .collect()
    }

    /// Returns the label of the owner's latest intent, preferring open ones.
    pub fn label_of(&self, owner: &IntentOwner) -> Option<&str> {
        let latest = |intents: &mut dyn Iterator<Item = &'_ Intent>| -> Option<IntentId> {
            let own =
                intents.filter(|intent| intent.owner.token.is_some() && intent.owner.is_same_owner(owner));
            own.max_by_key(|intent| (intent.declared_at, &intent.id)).map(|intent| intent.id.clone())
        };
        let id = latest(&mut self.open_intents()).or_else(|| latest(&mut self.intents()))?;
        self.intents.get(&id).map(|intent| intent.owner.label.as_str())
    }

    /// Returns the undelivered notices for `owner`.
    pub fn notices(&self, owner: &IntentOwner) -> Vec<OwnerNotice> {
        let process = IntentOwner { token: None, ..owner.clone() };
        let keys = BTreeSet::from([owner_key(owner), owner_key(&process)]);
        keys.iter().filter_map(|key| self.notices.get(key)).flatten().cloned().collect()
    }

    /// Returns the open intents that contend with a claim on `scope` from `base`, except the one named `except`.
    fn overlapping(&self, scope: &IntentScope, base: &IntentBase, except: Option<&IntentId>) -> Vec<&Intent> {
        self.related(scope, base, except, ClaimRelation::Exclusive)
            .into_iter()
            .filter(|intent| intent.status == IntentStatus::Queued || intent.keeps_off(base))
            .collect()
    }

    /// Returns the open intents with overlapping scopes that relate to a claim on `scope` from `base` as given.
    pub(crate) fn related(
        &self,
        scope: &IntentScope,
        base: &IntentBase,
        except: Option<&IntentId>,
        relation: ClaimRelation,
    ) -> Vec<&Intent> {
        self.open
            .candidates(scope)
            .into_iter()
            .filter(move |id| Some(*id) != except)
            .filter_map(|id| self.intents.get(id))
            .filter(move |intent| {
                overlap(scope, &intent.scope) && intent.relation_to(scope, base) == relation
            })
            .collect()
    }

    /// Returns what to ask a tree before a claim on `scope` from `base`: see [`Self::lacking`].
    pub fn base_question(&self, scope: &IntentScope, base: &IntentBase) -> TreeQuestion {
        self.contents.question(BaseQuestion { scope, base })
    }

    /// Returns the finished work of other trees on the line of `base` that a tree lacks in `scope`.
    pub fn lacking(&self, scope: &IntentScope, base: &IntentBase, own: &TreeContents) -> Vec<LackingWork> {
        self.contents.lacking(BaseQuestion { scope, base }, own)
    }

    /// Returns the work of other trees that arrived on the line of an intent since it was granted, and that its tree lacks.
    pub fn landed_under(&self, intent: &Intent, own: &TreeContents, rule: StaleBaseRule) -> Vec<LackingWork> {
        // Where a stale base only warns, its owner knew of this and went on.
        let was_told =
            |work: &LackingWork| rule == StaleBaseRule::Warn && intent.lacked.contains(&work.intent_id);
        let mut lacking = self.lacking(&intent.scope, &intent.base, own);
        lacking.retain(|work| work.is_on_line && !was_told(work));
        lacking
    }

    /// Returns what the finished change of an intent made of its paths, as far as it is remembered.
    pub fn contents_of(&self, id: &IntentId) -> Option<&crate::coherence::LineChange> {
        self.contents.change_of(id)
    }

    /// Returns the event that closed the oldest of the `n` intents which were closed last.
    fn first_kept_closed(&self, n: usize) -> Option<EventSeq> {
        let closed = self.intents().filter(|intent| intent.status.is_closed());
        let mut ends: Vec<EventSeq> = closed.filter_map(|intent| intent.history.last().copied()).collect();
        ends.sort_unstable_by(|one, other| other.cmp(one));
        ends.get(n.checked_sub(1)?).copied()
    }

    /// Returns whether an intent was closed before the event `newest`, and its work is not waited for on its line.
    pub(crate) fn is_forgettable(&self, intent: &Intent, newest: EventSeq) -> bool {
        intent.status.is_closed()
            && intent.history.last().is_some_and(|end| *end < newest)
            && self.contents_of(&intent.id).is_none_or(crate::coherence::LineChange::is_on_line)
    }

    /// Returns how many closed intents could be forgotten if `n` of them are kept.
    pub fn n_forgettable(&self, n: usize) -> usize {
        let Some(newest) = self.first_kept_closed(n) else { return 0 };
        self.intents().filter(|intent| self.is_forgettable(intent, newest)).count()
    }

    /// Returns what the clones of a team last published of their own logs.
    pub const fn clone_logs(&self) -> &CloneLogs {
        &self.clone_logs
    }

    /// Returns the open intents for a task: at most one that is not over, besides what its owner finished and still lands.
    fn intents_for_task(&self, task: &TaskKey, except: Option<&IntentId>) -> Vec<&Intent> {
        let is_for_it = |intent: &&Intent| intent.task.as_ref() == Some(task) && Some(&intent.id) != except;
        self.open_intents().filter(is_for_it).collect()
    }
}
