//! The logs of the clones of a team, as the events of the team show them.
//!
//! A clone writes the head of its own append-only log into its events, with the proof that it only grew since the head
//! before. Every reader of the events holds the two against each other, so that a clone that lost or rewrote evidence,
//! receipts or its ledger is found out by all others, and not only by itself.

use crate::owner::IntentOwner;
use crate::record::EventSeq;
use probity_core::Digest;
use probity_core::merkle::{TreeHead, verify_consistency};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How many clones are remembered; those that wrote last.
const MAX_CLONE_LOGS: usize = 10_000;
/// The longest names that a log is remembered under: what other machines write is bounded.
const MAX_LOG_NAME_BYTES: usize = 64;

/// The head of the log of the clone that wrote an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CloneLogHead {
    /// The random name of the clone.
    pub clone: String,
    /// Names the log; empty if the clone has none any more.
    pub origin: String,
    /// Its size and root.
    pub head: TreeHead,
    /// Proves that it begins with the head that the clone published before (RFC 6962).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proof: Vec<Digest>,
}

impl CloneLogHead {
    /// The head of a log that is gone.
    pub fn of_lost_log(clone: String) -> Self {
        Self { clone, origin: String::new(), head: TreeHead::empty(), proof: Vec::new() }
    }
}

probity_core::word_enum! {
    /// How the log of a clone contradicts what the clone published before.
    pub enum CloneLogBreachKind {
        /// It has fewer entries than before.
        Shortened = "shortened",
        /// It has as many entries or more, but not those from before.
        Rewritten = "rewritten",
        /// It is another log, which was begun again.
        Replaced = "replaced",
    }
}

/// A head that contradicts the one before.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CloneLogBreach {
    /// The event that published it.
    pub seq: EventSeq,
    pub kind: CloneLogBreachKind,
    /// The number of entries that the clone had published before.
    pub n_before: u64,
    /// The number of entries that it published then.
    pub n_after: u64,
    /// The agent whose event it was.
    pub agent: String,
}

/// What a clone last published of its log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CloneLog {
    pub origin: String,
    pub head: TreeHead,
    /// The event that published it.
    pub seq: EventSeq,
    /// The machine of the clone, as it called itself.
    pub host: String,
    /// The first contradiction that nobody accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub breach: Option<CloneLogBreach>,
}

impl CloneLog {
    fn contradiction(&self, published: &CloneLogHead) -> Option<CloneLogBreachKind> {
        let is_lost = published.head.size == 0;
        if published.origin != self.origin && !is_lost && self.head.size > 0 {
            Some(CloneLogBreachKind::Replaced)
        } else if published.head.size < self.head.size {
            Some(CloneLogBreachKind::Shortened)
        } else {
            let has_grown = verify_consistency(&self.head, &published.head, &published.proof);
            (!has_grown).then_some(CloneLogBreachKind::Rewritten)
        }
    }
}

/// The logs of all clones, by the names of the clones.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CloneLogs(BTreeMap<String, CloneLog>);

impl CloneLogs {
    pub fn get(&self, clone: &str) -> Option<&CloneLog> {
        self.0.get(clone)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &CloneLog)> {
        self.0.iter().map(|(clone, log)| (clone.as_str(), log))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Notes the head that event `seq` of `by` publishes.
    pub(crate) fn note(&mut self, published: &CloneLogHead, seq: EventSeq, by: &IntentOwner) {
        if published.clone.len() > MAX_LOG_NAME_BYTES || published.origin.len() > MAX_LOG_NAME_BYTES {
            return;
        }
        let known = self.0.get(&published.clone);
        let breach = known.and_then(|known| {
            // One that is not accepted yet stays, so that a person sees where it began.
            known.breach.clone().or_else(|| {
                known.contradiction(published).map(|kind| CloneLogBreach {
                    seq,
                    kind,
                    n_before: known.head.size,
                    n_after: published.head.size,
                    agent: by.label.clone(),
                })
            })
        });
        let log = CloneLog {
            origin: published.origin.clone(),
            head: published.head,
            seq,
            host: by.host.clone(),
            breach,
        };
        self.0.insert(published.clone.clone(), log);
        if self.0.len() > MAX_CLONE_LOGS {
            let oldest = self.0.iter().min_by_key(|(_, log)| (log.breach.is_some(), log.seq));
            if let Some(clone) = oldest.map(|(clone, _)| clone.clone()) {
                self.0.remove(&clone);
            }
        }
    }

    /// Returns the contradiction of a clone that nobody accepted.
    pub fn breach_of(&self, clone: &str) -> Option<&CloneLogBreach> {
        self.get(clone)?.breach.as_ref()
    }

    /// Takes a contradiction as known, if it is the one that was looked at.
    pub(crate) fn accept(&mut self, clone: &str, breach: EventSeq) {
        if let Some(log) = self.0.get_mut(clone) {
            log.breach.take_if(|known| known.seq == breach);
        }
    }
}
