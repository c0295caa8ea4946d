//! A ledger with all that belongs to it: pending turns, streams, citations.
//!
//! A book is the fold of its events: [`ProjectLedger::apply`] is total for every event that was accepted once, and uses no clock.
//! Whoever applies the same events in the same order gets the same [`ProjectLedger::digest`].
//!
//! A *stream* is a ledger of its own that began as a copy of the main one: what is proposed to it is reconciled against
//! its own state and reaches the main ledger by a merge only. The book keeps what was proposed to every stream, and the
//! state of the one stream that was asked for.

use crate::extract::Role;
use crate::item_record::LedgerSeq;
use crate::ledger::Ledger;
use crate::outcome::{CandidateOutcome, CandidateVerdict};
use crate::policy::ConstraintPolicy;
use crate::reconcile::LedgerFull;
use crate::wire::{self, LedgerEvent, MalformedTransaction};
use probity_core::Digest;
use probity_core::digest::DigestHasher;
use std::collections::BTreeMap;

/// The state of a project's memory.
#[derive(Debug, Clone, Default)]
pub struct ProjectLedger {
    pub(crate) main: Ledger,
    pub(crate) pending: BTreeMap<String, PendingTurn>,
    pub(crate) streams: BTreeMap<String, StreamState>,
    pub(crate) citations: Vec<Citation>,
    pub(crate) n_decided_otherwise: u64,
    /// The stream whose state is kept.
    pub(crate) kept_stream: Option<String>,
}

/// A turn that still waits to be read for candidates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingTurn {
    /// Who said it.
    pub role: Role,
    /// What was said.
    pub text: String,
    /// How many turns were known before it: the order in which they were said.
    pub order: u32,
}

/// Proposals that have not reached the main ledger yet.
#[derive(Debug, Clone)]
pub struct StreamState {
    /// The position of the main ledger that it began at.
    pub base: LedgerSeq,
    /// What was proposed to it since, as transactions of one batch each.
    pub(crate) batches: Vec<Vec<u8>>,
    /// Its state; only for the stream that was asked for.
    pub(crate) ledger: Option<Ledger>,
}

impl StreamState {
    /// Its state, if it was asked for.
    pub const fn ledger(&self) -> Option<&Ledger> {
        self.ledger.as_ref()
    }

    /// How many batches were proposed to it since it began, or was merged.
    pub fn n_batches(&self) -> usize {
        self.batches.len()
    }
}

/// A change that was made under an item.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Citation {
    /// The id of an intent or a run.
    pub change: String,
    /// The handle of the item.
    pub item: String,
    /// Who says so.
    pub author: String,
    /// Where the ledger stood.
    pub at: LedgerSeq,
}

/// Why an event cannot be applied. A log that was written here holds none of these.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProjectLedgerError {
    /// The bytes are no events.
    #[error(transparent)]
    Malformed(#[from] MalformedTransaction),
    /// There is no room.
    #[error(transparent)]
    Full(#[from] LedgerFull),
    /// The stream does not exist.
    #[error("there is no stream `{0}`")]
    NoStream(String),
}

impl ProjectLedger {
    /// An empty book.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty book that will keep the state of one stream.
    pub fn with_stream(stream: &str) -> Self {
        Self { kept_stream: Some(stream.to_owned()), ..Self::default() }
    }

    /// The ledger that everyone shares.
    pub const fn main(&self) -> &Ledger {
        &self.main
    }

    /// The ledger of a stream, or the main one.
    pub fn ledger(&self, stream: Option<&str>) -> Option<&Ledger> {
        match stream {
            None => Some(&self.main),
            Some(name) => self.streams.get(name)?.ledger(),
        }
    }

    /// The streams, by name.
    pub const fn streams(&self) -> &BTreeMap<String, StreamState> {
        &self.streams
    }

    /// The turns that wait to be read, by id.
    pub const fn pending(&self) -> &BTreeMap<String, PendingTurn> {
        &self.pending
    }

    /// The changes that were made under items, in order.
    pub fn citations(&self) -> &[Citation] {
        &self.citations
    }

    /// How many inputs were decided otherwise when they came in: by a version with other rules.
    pub const fn n_decided_otherwise(&self) -> u64 {
        self.n_decided_otherwise
    }

    /// What a batch would come to, without a trace.
    pub fn rehearse(&mut self, event: &LedgerEvent<'_>) -> Result<Vec<CandidateVerdict>, ProjectLedgerError> {
        let LedgerEvent::Batch { stream, author, mode, proposals, .. } = event else {
            return Ok(Vec::new());
        };
        let ledger = self.ledger_mut(*stream)?;
        ledger.map_or(Ok(Vec::new()), |ledger| Ok(ledger.rehearse(author, *mode, proposals)?))
    }

    /// Applies a transaction that was read from a log.
    pub fn replay(&mut self, transaction: &[u8]) -> Result<(), ProjectLedgerError> {
        for event in wire::decode(transaction)? {
            let outcomes = self.apply(&event)?;
            if let LedgerEvent::Batch { verdicts, .. } = &event {
                let differs =
                    |(outcome, then): &(&CandidateOutcome, &CandidateVerdict)| outcome.verdict != **then;
                let n = outcomes.iter().zip(verdicts).filter(differs).count();
                self.n_decided_otherwise += n as u64;
            }
        }
        Ok(())
    }

    /// Applies one event; a batch has an outcome for each of its proposals.
    pub fn apply(&mut self, event: &LedgerEvent<'_>) -> Result<Vec<CandidateOutcome>, ProjectLedgerError> {
        match event {
            LedgerEvent::Policy { guardians } => self.set_policy(guardians.as_deref()),
            LedgerEvent::Turn { id, role, text, pending } => self.add_turn(id, *role, text, *pending),
            LedgerEvent::Read { turn } => drop(self.pending.remove(*turn)),
            LedgerEvent::Batch { .. } => return self.take_batch(event),
            LedgerEvent::Fork { stream } | LedgerEvent::Merged { stream } => self.begin_stream(stream),
            LedgerEvent::Cite { change, item, author } => self.citations.push(Citation {
                change: (*change).to_owned(),
                item: (*item).to_owned(),
                author: (*author).to_owned(),
                at: self.main.head(),
            }),
        }
        Ok(Vec::new())
    }

    fn set_policy(&mut self, guardians: Option<&[&str]>) {
        let policy = guardians.map_or_else(ConstraintPolicy::open, |authors| {
            ConstraintPolicy::guard_hard_constraints(authors.iter().map(|&author| author.to_owned()))
        });
        for ledger in self.every_ledger() {
            ledger.set_policy(policy.clone());
        }
    }

    fn add_turn(&mut self, id: &str, role: Role, text: &str, pending: bool) {
        let order = self.main.sources.turns.len();
        for ledger in self.every_ledger() {
            ledger.add_turn(id);
        }
        if pending {
            self.pending.insert(id.to_owned(), PendingTurn { role, text: text.to_owned(), order });
        }
    }

    fn every_ledger(&mut self) -> impl Iterator<Item = &mut Ledger> {
        let streams = self.streams.values_mut().filter_map(|stream| stream.ledger.as_mut());
        std::iter::once(&mut self.main).chain(streams)
    }

    fn begin_stream(&mut self, name: &str) {
        let is_wanted = self.kept_stream.as_deref() == Some(name);
        let ledger = is_wanted.then(|| self.main.clone());
        let stream = StreamState { base: self.main.head(), batches: Vec::new(), ledger };
        self.streams.insert(name.to_owned(), stream);
    }

    fn take_batch(&mut self, event: &LedgerEvent<'_>) -> Result<Vec<CandidateOutcome>, ProjectLedgerError> {
        let LedgerEvent::Batch { stream, author, mode, proposals, .. } = event else {
            return Ok(Vec::new());
        };
        let outcomes = match self.ledger_mut(*stream)? {
            Some(ledger) => ledger.reconcile(author, *mode, proposals)?,
            None => Vec::new(),
        };
        if let Some(stream) = stream.and_then(|name| self.streams.get_mut(name)) {
            stream.batches.push(wire::encode(std::slice::from_ref(event)));
        }
        Ok(outcomes)
    }

    /// The ledger that a batch goes to; `None` for a stream whose state is not kept.
    fn ledger_mut(&mut self, stream: Option<&str>) -> Result<Option<&mut Ledger>, ProjectLedgerError> {
        match stream {
            None => Ok(Some(&mut self.main)),
            Some(name) => {
                let stream = self
                    .streams
                    .get_mut(name)
                    .ok_or_else(|| ProjectLedgerError::NoStream(name.to_owned()))?;
                Ok(stream.ledger.as_mut())
            }
        }
    }

    /// The digest of everything in the book.
    pub fn digest(&self) -> Digest {
        let mut hasher = DigestHasher::default();
        hasher.update(self.main.digest().as_bytes());
        let mut rest = Vec::new();
        crate::snapshot::write_rest(self, &mut rest).expect("memory takes every byte");
        hasher.update(&rest);
        hasher.finish()
    }
}

#[cfg(test)]
mod tests;
