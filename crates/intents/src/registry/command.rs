//! Commands: what a caller asks for, and the circumstances under which it asks.
//!
//! The two are kept apart so that a repeated command is the same command although time has passed.

use super::{Base, Seq};
use crate::owner::{Owner, Probe, Timestamp};
use crate::record::{CommandId, IntentId, Peer};
use crate::scope::{Entries, IntentScope};
use crate::start::{DirtyScopePolicy, OnConflict};
use probity_core::Digest;
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The shortest and the longest life of an intent, in seconds.
pub const MIN_TTL: u64 = 60;
/// See [`MIN_TTL`].
pub const MAX_TTL: u64 = 86_400;
/// The shortest and the longest lease, in seconds.
pub const MIN_LEASE: u64 = 60;
/// See [`MIN_LEASE`].
pub const MAX_LEASE: u64 = 600;
/// The most entries that one scope may have.
pub(super) const MAX_ENTRIES: usize = 10_000;
/// The most intents that may be open at once.
pub(super) const MAX_OPEN: usize = 10_000;

/// A change that somebody declares.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Declaration {
    /// The id, made by the caller.
    pub intent_id: IntentId,
    /// What it is for.
    pub description: String,
    /// What its owner expects of it.
    pub expected_effects: Vec<String>,
    /// What it may touch.
    pub scope: IntentScope,
    /// How long it may live.
    pub ttl_seconds: u64,
    /// How long its owner may be silent.
    pub lease_seconds: u64,
    /// Where it starts from.
    pub base: Base,
}

/// What a caller asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// The id, made by the caller; a repeated command has the same.
    pub id: CommandId,
    /// Who asks.
    pub by: Owner,
    /// What for.
    pub action: Action,
}

impl Command {
    /// What makes it the same command: its action and who asks, not from which process.
    pub(super) fn digest(&self) -> Digest {
        let asked = serde_json::json!({ "action": self.action, "token": self.by.token });
        Digest::of_json(&asked)
    }
}

/// What can be asked of the registry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum Action {
    /// Claim a scope, or a place in the queue.
    Start {
        /// The change.
        declaration: Declaration,
        /// What dirt in `allowed_files` means.
        dirty_scope_policy: DirtyScopePolicy,
        /// What a conflict means.
        on_conflict: OnConflict,
    },
    /// Turn a place in the queue into a claim.
    Promote {
        /// The intent.
        intent_id: IntentId,
        /// The tree as it is now.
        base: Base,
        /// What dirt in `allowed_files` means.
        dirty_scope_policy: DirtyScopePolicy,
    },
    /// Say that one is alive.
    Renew {
        /// The intent.
        intent_id: IntentId,
        /// For how long.
        lease_seconds: u64,
        /// How long the intent may live from now on; `None` leaves its end where it is.
        ttl_seconds: Option<u64>,
    },
    /// Widen the scope.
    Amend {
        /// The intent.
        intent_id: IntentId,
        /// The fencing token.
        token: Seq,
        /// What `allowed_files` gains.
        allowed_files: Entries,
        /// What `allowed_related` gains.
        allowed_related: Entries,
        /// Why.
        why: String,
    },
    /// Finish: give the claim back.
    Release {
        /// The intent.
        intent_id: IntentId,
        /// The fencing token.
        token: Seq,
        /// The digest of what proves it.
        receipt: Option<Digest>,
    },
    /// Give the intent up; also one that is dead or over.
    Clear {
        /// The intent.
        intent_id: IntentId,
    },
    /// Take over an intent whose owner is dead, or one's own after a crash.
    Recover {
        /// The intent.
        intent_id: IntentId,
        /// For how long the new lease runs.
        lease_seconds: u64,
        /// How long the intent may live from now on.
        ttl_seconds: u64,
    },
    /// Close what is over, and forget what was closed long ago.
    Collect {
        /// How long closed intents are kept.
        retention_seconds: u64,
    },
}

/// What the caller's host saw when the command was given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Circumstances {
    /// The time.
    pub now: Timestamp,
    /// What the host says about the pids of other intents. Nobody is dead who is not named here.
    pub probes: BTreeMap<IntentId, Probe>,
    /// The leases that run by the clock of the store, and for how many seconds still: use renews them, and that is not
    /// worth an event. A lease that is not named here runs as it is recorded.
    pub leases: BTreeMap<IntentId, u64>,
    /// Whether there is a stored run for the tree as it is.
    pub run_available: bool,
    /// The dirty paths of the tree.
    pub dirty: BTreeSet<RepoPath>,
    /// Governed runs that are in the way of the command, each as a live claim on the entries that are contested.
    pub runs: Vec<Peer>,
}

impl Circumstances {
    pub(super) fn probe(&self, id: &IntentId) -> Option<Probe> {
        self.probes.get(id).copied()
    }
}
