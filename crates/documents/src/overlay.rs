//! Adds commits on top of a store without writing to it, for previews.

use crate::commit::{Commit, CommitId};
use crate::history::{CommitNode, CommitReader, CommitSeq, HistoryError};
use crate::memory_store::{AppendError, check_append};
use crate::op::DocumentId;
use crate::state::CommitState;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A store plus commits that exist only in memory.
#[derive(Debug)]
pub struct CommitOverlay<'c, C: ?Sized> {
    below: &'c C,
    added: Vec<(Arc<Commit>, CommitNode)>,
}

impl<'c, C: CommitReader + ?Sized> CommitOverlay<'c, C> {
    pub const fn new(below: &'c C) -> Self {
        Self { below, added: Vec::new() }
    }

    /// Adds a commit in memory. Adding a known commit changes nothing.
    pub fn append(&mut self, commit: Commit) -> Result<CommitId, AppendError> {
        let id = commit.id();
        if self.find(&id)?.is_none() {
            let node = check_append(self, &commit)?;
            self.added.push((Arc::new(commit), node));
        }
        Ok(id)
    }

    /// Returns the added commits, oldest first.
    pub fn added(&self) -> impl Iterator<Item = &Commit> {
        self.added.iter().map(|(commit, _)| &**commit)
    }

    fn get(&self, seq: CommitSeq) -> Option<&(Arc<Commit>, CommitNode)> {
        self.added.get(seq.0.checked_sub(self.below.end().0)? as usize)
    }

    fn number(&self, index: usize) -> CommitSeq {
        let added = u32::try_from(index).expect("an overlay is smaller than the store that it could become");
        CommitSeq(self.below.end().0 + added)
    }
}

impl<C: CommitReader + ?Sized> CommitReader for CommitOverlay<'_, C> {
    fn find(&self, id: &CommitId) -> Result<Option<CommitSeq>, HistoryError> {
        match self.added.iter().position(|(commit, _)| commit.id() == *id) {
            Some(index) => Ok(Some(self.number(index))),
            None => self.below.find(id),
        }
    }

    fn end(&self) -> CommitSeq {
        self.number(self.added.len())
    }

    fn node(&self, seq: CommitSeq) -> Result<CommitNode, HistoryError> {
        self.get(seq).map_or_else(|| self.below.node(seq), |(_, node)| Ok(*node))
    }

    fn commit(&self, seq: CommitSeq) -> Result<Arc<Commit>, HistoryError> {
        self.get(seq).map_or_else(|| self.below.commit(seq), |(commit, _)| Ok(commit.clone()))
    }

    fn writers(&self, document: &DocumentId, from: CommitSeq) -> Result<Vec<CommitSeq>, HistoryError> {
        let mut writers = self.below.writers(document, from)?;
        for (index, (commit, _)) in self.added.iter().enumerate() {
            let seq = self.number(index);
            if seq >= from && commit.ops().iter().any(|op| op.document() == document) {
                writers.push(seq);
            }
        }
        Ok(writers)
    }

    fn snapshot(&self, seq: CommitSeq) -> Result<Option<CommitState>, HistoryError> {
        if self.get(seq).is_some() { Ok(None) } else { self.below.snapshot(seq) }
    }

    fn read_ahead(&self, seqs: &[CommitSeq]) -> Result<(), HistoryError> {
        let below: Vec<CommitSeq> = seqs.iter().copied().filter(|seq| self.get(*seq).is_none()).collect();
        self.below.read_ahead(&below)
    }

    fn id(&self, seq: CommitSeq) -> Result<CommitId, HistoryError> {
        self.get(seq).map_or_else(|| self.below.id(seq), |(commit, _)| Ok(commit.id()))
    }

    fn has_snapshot(&self, seq: CommitSeq) -> Result<bool, HistoryError> {
        if self.get(seq).is_some() { Ok(false) } else { self.below.has_snapshot(seq) }
    }

    fn snapshot_of(
        &self,
        seq: CommitSeq,
        documents: &BTreeSet<DocumentId>,
    ) -> Result<CommitState, HistoryError> {
        self.below.snapshot_of(seq, documents)
    }
}
