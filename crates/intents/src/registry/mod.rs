//! The registry of intents: a fold of its log.
//!
//! [`Registry::decide`] looks at a command and answers with the event that would carry it out, or with a refusal; it
//! changes nothing. [`Registry::apply`] takes an event that was stored and is total. So a claim is one
//! compare-and-append, and a refused command leaves nothing behind (law 4).
//!
//! What always holds: no two active intents overlap. An intent whose owner is dead or whose time is over holds
//! nothing; whoever is granted its paths closes it in the same event, and its owner is told.

mod apply;
mod command;
mod decide;
mod event;
mod index;
mod queue;
mod refusal;
mod snapshot;

pub use command::{Action, Circumstances, Command, Declaration, MAX_LEASE, MAX_TTL, MIN_LEASE, MIN_TTL};
pub use decide::Decision;
pub use event::{Change, Closing, Event, Notice, NoticeKind, Seq};
pub use queue::MAX_PASSES;
pub use refusal::{Refusal, RefusalCode};
pub use snapshot::Snapshot;

use crate::owner::{Held, Lease, Owner, Ownership, Timestamp, ownership};
use crate::record::{CommandId, IntentId, Peer, Status};
use crate::relations::overlap;
use crate::scope::{Entries, IntentScope};
use index::OverlapIndex;
use probity_core::Digest;
use probity_core::chain::{ChainBreak, check_next};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Where a change starts from.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Base {
    /// The run that the change is compared with.
    pub run_id: String,
    /// The digest of that run's report.
    pub report_digest: Option<String>,
    /// The git commit at the start.
    pub head: Option<String>,
    /// The root hash of the tree at the start.
    pub snapshot_root: Option<Digest>,
    /// The dirty paths at the start, as a stored object.
    pub dirty_snapshot: Option<Digest>,
    /// The working tree that the change is made in: worktrees share claims, and no dirt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
}

/// A widening of the scope: who, why, when (law 2).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Amendment {
    /// The event that did it.
    pub seq: Seq,
    /// When.
    pub at: Timestamp,
    /// Who.
    pub by: Owner,
    /// Why.
    pub why: String,
    /// What was added to `allowed_files`.
    pub allowed_files: Entries,
    /// What was added to `allowed_related`.
    pub allowed_related: Entries,
}

/// A declared change.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Intent {
    /// Its id.
    pub id: IntentId,
    /// What it is for.
    pub description: String,
    /// What its owner expects of it.
    pub expected_effects: Vec<String>,
    /// What it may touch, amendments included.
    pub scope: IntentScope,
    /// What the record says about its life.
    pub status: Status,
    /// Who holds it.
    pub owner: Owner,
    /// The owner's promise to be alive.
    pub lease: Lease,
    /// When it ends, whatever its owner does.
    pub expires_at: Timestamp,
    /// When it was declared.
    pub declared_at: Timestamp,
    /// Where it starts from.
    pub base: Base,
    /// The fencing token: the event that granted the claim. `None` while it waits.
    pub token: Option<Seq>,
    /// The event that gave it its place in the queue, if it ever waited.
    pub queued_at: Option<Seq>,
    /// How often others were let past it while it waited.
    pub passed: u32,
    /// How its scope grew.
    pub amendments: Vec<Amendment>,
    /// Every event that changed it.
    pub history: Vec<Seq>,
    /// When it was closed.
    pub closed_at: Option<Timestamp>,
}

impl Intent {
    /// What the intent is to a reader.
    pub fn ownership(&self, reader: &Owner, seen: &Circumstances) -> Ownership {
        let held = Held { owner: &self.owner, lease: self.lease(seen), expires_at: Some(self.expires_at) };
        ownership(held, reader, seen.now, seen.probe(&self.id))
    }

    /// The owner's promise to be alive: as recorded, or as the store knows it where that lasts longer.
    pub fn lease(&self, seen: &Circumstances) -> Lease {
        let renewed = seen.leases.get(&self.id).map(|&seconds| Lease { renewed_at: seen.now, seconds });
        renewed.filter(|renewed| renewed.ends_at() > self.lease.ends_at()).unwrap_or(self.lease)
    }

    fn peer(&self, reader: &Owner, seen: &Circumstances) -> Peer {
        Peer {
            intent_id: self.id.clone(),
            ownership: self.ownership(reader, seen),
            status: self.status,
            scope: self.scope.clone(),
        }
    }
}

/// The owner that a notice is for: the token, or the process of an owner without one.
type OwnerKey = (Option<String>, String, Option<String>, u32, Option<u64>);

fn owner_key(owner: &Owner) -> OwnerKey {
    match &owner.token {
        Some(token) => (Some(token.clone()), String::new(), None, 0, None),
        None => (None, owner.host.clone(), owner.boot_id.clone(), owner.pid, owner.pid_start),
    }
}

/// How many carried-out commands are remembered, so that a repeated one is recognised.
/// The store knows older ones too.
pub const REMEMBERED_COMMANDS: usize = 1_000;

/// The state of all intents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Registry {
    head: Head,
    intents: BTreeMap<IntentId, Intent>,
    /// Active and queued intents by the entries of their scopes.
    open: OverlapIndex,
    /// The same by their ids.
    open_ids: BTreeSet<IntentId>,
    notices: BTreeMap<OwnerKey, Vec<Notice>>,
    commands: BTreeMap<CommandId, Event>,
    /// The remembered commands in the order of their events.
    command_order: BTreeMap<Seq, CommandId>,
}

/// Where the log ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// The last event.
    pub seq: Seq,
    /// Its digest; the digest of nothing for an empty log.
    pub digest: Digest,
}

impl Default for Head {
    fn default() -> Self {
        Self { seq: Seq(0), digest: Digest::of(b"") }
    }
}

impl Registry {
    /// Rebuilds the registry from its log, checking the chain.
    pub fn replay<'e>(events: impl IntoIterator<Item = &'e Event>) -> Result<Self, ChainBreak> {
        let mut registry = Self::default();
        for event in events {
            registry.check_next(event)?;
            registry.apply(event);
        }
        Ok(registry)
    }

    /// Whether `event` is the next of this log.
    pub fn check_next(&self, event: &Event) -> Result<(), ChainBreak> {
        check_next(self.head.seq.0, &self.head.digest, event.seq.0, &event.prev)
    }

    /// Where the log ends.
    pub const fn head(&self) -> Head {
        self.head
    }

    /// One intent, open or closed.
    pub fn intent(&self, id: &IntentId) -> Option<&Intent> {
        self.intents.get(id)
    }

    /// Every intent, by id.
    pub fn intents(&self) -> impl Iterator<Item = &Intent> {
        self.intents.values()
    }

    /// A beginning of an id by which commands find that intent and no other.
    pub fn short_id<'i>(&self, id: &'i IntentId) -> &'i str {
        let text = id.as_str();
        let is_unique = |beginning: &str| {
            !self.intents.values().any(|other| other.id != *id && other.id.as_str().starts_with(beginning))
        };
        let least = probity_core::words::short_id(text).len();
        let ends = text.char_indices().map(|(end, _)| end).filter(|end| *end >= least);
        let found = ends.map(|end| &text[..end]).find(|beginning| is_unique(beginning));
        found.unwrap_or(text)
    }

    /// How many intents there are, open or closed.
    pub fn n_intents(&self) -> usize {
        self.intents.len()
    }

    /// Every active or queued intent, by id. There are few, however many were closed.
    pub fn open_intents(&self) -> impl Iterator<Item = &Intent> {
        self.open_ids.iter().filter_map(|id| self.intents.get(id))
    }

    /// Every intent as `circumstances` show it to `reader`, without the one named `except`.
    pub fn peers(&self, reader: &Owner, seen: &Circumstances, except: Option<&IntentId>) -> Vec<Peer> {
        self.intents
            .values()
            .filter(|intent| Some(&intent.id) != except)
            .map(|intent| intent.peer(reader, seen))
            .collect()
    }

    /// What the latest intent of `owner` calls it, if it has one; open intents come first.
    pub fn label_of(&self, owner: &Owner) -> Option<&str> {
        let latest = |intents: &mut dyn Iterator<Item = &'_ Intent>| -> Option<IntentId> {
            let own = intents.filter(|intent| intent.owner.token.is_some() && intent.owner.is(owner));
            own.max_by_key(|intent| (intent.declared_at, &intent.id)).map(|intent| intent.id.clone())
        };
        let id = latest(&mut self.open_intents()).or_else(|| latest(&mut self.intents()))?;
        self.intents.get(&id).map(|intent| intent.owner.label.as_str())
    }

    /// What waits to be told to `owner`.
    pub fn notices(&self, owner: &Owner) -> Vec<Notice> {
        let process = Owner { token: None, ..owner.clone() };
        let keys = BTreeSet::from([owner_key(owner), owner_key(&process)]);
        keys.iter().filter_map(|key| self.notices.get(key)).flatten().cloned().collect()
    }

    /// The open intents whose scopes overlap `scope`, without the one named `except`.
    fn overlapping(&self, scope: &IntentScope, except: Option<&IntentId>) -> Vec<&Intent> {
        self.open
            .candidates(scope)
            .into_iter()
            .filter(|id| Some(*id) != except)
            .filter_map(|id| self.intents.get(id))
            .filter(|intent| overlap(scope, &intent.scope))
            .collect()
    }
}
