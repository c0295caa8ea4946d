//! A ledger with its pending turns, streams and citations.
//!
//! A project ledger is the fold of its events: [`ProjectLedger::apply`] succeeds for every event that was accepted
//! once, and uses no clock. The same events in the same order give the same [`ProjectLedger::digest`].
//!
//! A *stream* is a ledger of its own that began as a copy of the main one. Proposals to it are reconciled against its
//! own state and reach the main ledger only by a merge. The proposals to every stream are kept, but only the state of
//! the one stream that was requested.

use crate::extract::Role;
use crate::item_record::LedgerSeq;
use crate::ledger::Ledger;
use crate::outcome::CandidateVerdict;
use crate::policy::ConstraintPolicy;
use crate::reconcile::{CandidateOutcome, LedgerFull};
use crate::wire::{self, LedgerEvent, MalformedTransaction};
use std::collections::BTreeMap;

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

/// A turn that has not been read for candidates yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingTurn {
    pub role: Role,
    pub text: String,
    /// The number of turns known before it, which gives the order in which they were said.
    pub order: u32,
}

/// Proposals that have not reached the main ledger yet.
#[derive(Debug, Clone)]
pub struct StreamState {
    /// The position of the main ledger at which the stream began.
    pub base: LedgerSeq,
    /// The proposals since then, as transactions of one batch each.
    pub(crate) batches: Vec<Vec<u8>>,
    /// The state; only for the requested stream.
    pub(crate) ledger: Option<Ledger>,
}

impl StreamState {
    /// Returns the state, if this stream was requested.
    pub const fn ledger(&self) -> Option<&Ledger> {
        self.ledger.as_ref()
    }

    /// Returns the number of batches since the stream began or was last merged.
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
    /// The author of the citation.
    pub author: String,
    /// The head of the ledger at that time.
    pub at: LedgerSeq,
}

/// Why an event cannot be applied. None of these occurs in a log that was written here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProjectLedgerError {
    #[error(transparent)]
    Malformed(#[from] MalformedTransaction),
    #[error(transparent)]
    Full(#[from] LedgerFull),
    #[error("there is no stream `{0}`")]
    NoStream(String),
}

impl ProjectLedger {
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns an empty project ledger that will keep the state of one stream.
    pub fn with_stream(stream: &str) -> Self {
        Self { kept_stream: Some(stream.to_owned()), ..Self::default() }
    }

    /// Returns the shared ledger, as opposed to a stream.
    pub const fn main(&self) -> &Ledger {
        &self.main
    }

    /// Returns the ledger of a stream, or the main one.
    pub fn ledger(&self, stream: Option<&str>) -> Option<&Ledger> {
        match stream {
            None => Some(&self.main),
            Some(name) => self.streams.get(name)?.ledger(),
        }
    }

    pub const fn streams(&self) -> &BTreeMap<String, StreamState> {
        &self.streams
    }

    /// Returns the turns that have not been read yet, by id.
    pub const fn pending(&self) -> &BTreeMap<String, PendingTurn> {
        &self.pending
    }

    /// Returns the citations, in order.
    pub fn citations(&self) -> &[Citation] {
        &self.citations
    }

    /// Returns how many inputs had a different verdict when they were logged, by a version with other rules.
    pub const fn n_decided_otherwise(&self) -> u64 {
        self.n_decided_otherwise
    }

    /// Returns the verdicts on a batch without changing anything.
    pub fn rehearse(&mut self, event: &LedgerEvent<'_>) -> Result<Vec<CandidateVerdict>, ProjectLedgerError> {
        let LedgerEvent::Batch { stream, author, mode, proposals, .. } = event else {
            return Ok(Vec::new());
        };
        let ledger = self.ledger_mut(*stream)?;
        ledger.map_or(Ok(Vec::new()), |ledger| Ok(ledger.rehearse(author, *mode, proposals)?))
    }

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

    /// Applies one event and returns the outcomes of a batch, one per proposal.
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

    /// Returns the ledger for a batch; `None` for a stream whose state is not kept.
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
}

#[cfg(test)]
mod tests;
