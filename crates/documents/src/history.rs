//! The port through which the engine reads a store of commits.
//!
//! A store numbers its commits as they arrive, parents and targets before the commits that name them. The numbers are
//! local: they make walks cheap, because an ancestor always has the smaller number, and never appear in a result.

use crate::commit::{Commit, CommitId, CommitKind};
use crate::op::DocumentId;
use crate::state::CommitState;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The local number of a commit, larger than those of its parent and target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CommitSeq(pub u32);

/// A commit's links to other commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommitNode {
    pub kind: CommitKind,
    pub parent: Option<CommitSeq>,
    /// The commit being merged, enabled or disabled.
    pub target: Option<CommitSeq>,
}

impl CommitNode {
    /// Returns the commits that this one builds on: its parent and, for a merge, its target.
    pub fn edges(&self) -> impl Iterator<Item = CommitSeq> {
        self.parent.into_iter().chain(self.merged())
    }

    /// Returns the target of a merge, `None` for other commits.
    pub fn merged(&self) -> Option<CommitSeq> {
        self.target.filter(|_| self.kind == CommitKind::Merge)
    }
}

/// The reason a history query failed.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    #[error("there is no commit {0}")]
    Unknown(CommitId),
    /// The store holds something other than the expected commit.
    #[error("commit {id} is damaged: {why}")]
    Damaged { id: CommitId, why: String },
    #[error("the commit store failed: {0}")]
    Store(#[source] Box<dyn std::error::Error + Send + Sync>),
}

pub trait CommitReader {
    fn find(&self, id: &CommitId) -> Result<Option<CommitSeq>, HistoryError>;

    /// Returns the number that the next commit will get.
    fn end(&self) -> CommitSeq;

    fn node(&self, seq: CommitSeq) -> Result<CommitNode, HistoryError>;

    fn commit(&self, seq: CommitSeq) -> Result<Arc<Commit>, HistoryError>;

    /// Returns the commits numbered `from` or higher that have an opcode on the document, ascending.
    fn writers(&self, document: &DocumentId, from: CommitSeq) -> Result<Vec<CommitSeq>, HistoryError>;

    /// Returns the state of a commit if the store has it.
    fn snapshot(&self, seq: CommitSeq) -> Result<Option<CommitState>, HistoryError>;

    /// Announces commits about to be read, so that a store can fetch them in one batch.
    fn read_ahead(&self, _commits: &[CommitSeq]) -> Result<(), HistoryError> {
        Ok(())
    }

    /// Returns a commit's identity. Override it where the id is known without reading the commit.
    fn id(&self, seq: CommitSeq) -> Result<CommitId, HistoryError> {
        Ok(self.commit(seq)?.id())
    }

    /// Returns true if the store has the commit's state. Override it where that is known without reading the state.
    fn has_snapshot(&self, seq: CommitSeq) -> Result<bool, HistoryError> {
        Ok(self.snapshot(seq)?.is_some())
    }

    /// Returns the given documents of a stored state; documents that do not exist there are left out.
    fn snapshot_of(
        &self,
        seq: CommitSeq,
        documents: &BTreeSet<DocumentId>,
    ) -> Result<CommitState, HistoryError> {
        Ok(self.snapshot(seq)?.unwrap_or_default().restricted(documents))
    }
}

/// Returns the number of a commit, or an error if the store lacks it.
pub(crate) fn locate<C: CommitReader + ?Sized>(
    commits: &C,
    id: &CommitId,
) -> Result<CommitSeq, HistoryError> {
    commits.find(id)?.ok_or(HistoryError::Unknown(*id))
}

/// A set of commit numbers as pages of bits: neighbors share a page and empty ranges cost nothing.
#[derive(Debug, Default)]
pub(crate) struct SeqSet {
    pages: BTreeMap<u32, [u64; PAGE_WORDS]>,
}

const PAGE_WORDS: usize = 64;
const PAGE_BITS: u32 = 64 * 64;

impl SeqSet {
    /// Adds a number; returns false if it was already present.
    pub(crate) fn insert(&mut self, seq: CommitSeq) -> bool {
        let (page, word, bit) = Self::place(seq);
        let word = &mut self.pages.entry(page).or_insert([0; PAGE_WORDS])[word];
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    pub(crate) fn contains(&self, seq: CommitSeq) -> bool {
        let (page, word, bit) = Self::place(seq);
        self.pages.get(&page).is_some_and(|words| words[word] & bit != 0)
    }

    fn place(seq: CommitSeq) -> (u32, usize, u64) {
        let within = seq.0 % PAGE_BITS;
        (seq.0 / PAGE_BITS, (within / 64) as usize, 1 << (within % 64))
    }
}

impl FromIterator<CommitSeq> for SeqSet {
    fn from_iter<I: IntoIterator<Item = CommitSeq>>(numbers: I) -> Self {
        let mut set = Self::default();
        for seq in numbers {
            set.insert(seq);
        }
        set
    }
}
