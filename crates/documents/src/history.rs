//! The port through which the engine reads a store of commits.
//!
//! A store numbers its commits as they arrive, parents and targets before the commits that name them. The numbers are
//! local: they make walks cheap, because an ancestor always has the smaller number, and never appear in a result.

use crate::commit::{Commit, CommitId, Kind};
use crate::op::DocumentId;
use crate::state::State;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The local number of a commit, larger than those of its parent and target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seq(pub u32);

/// A commit's links to other commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    pub kind: Kind,
    pub parent: Option<Seq>,
    /// The commit being merged, enabled or disabled.
    pub target: Option<Seq>,
}

impl Node {
    /// Returns the commits that this one builds on: its parent and, for a merge, its target.
    pub fn edges(&self) -> impl Iterator<Item = Seq> {
        self.parent.into_iter().chain(self.merged())
    }

    /// Returns the target of a merge, `None` for other commits.
    pub fn merged(&self) -> Option<Seq> {
        self.target.filter(|_| self.kind == Kind::Merge)
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

pub trait Commits {
    fn find(&self, id: &CommitId) -> Result<Option<Seq>, HistoryError>;

    /// Returns the number that the next commit will get.
    fn end(&self) -> Seq;

    fn node(&self, seq: Seq) -> Result<Node, HistoryError>;

    fn commit(&self, seq: Seq) -> Result<Arc<Commit>, HistoryError>;

    /// Returns the commits numbered `from` or higher that have an opcode on the document, ascending.
    fn writers(&self, document: &DocumentId, from: Seq) -> Result<Vec<Seq>, HistoryError>;

    /// Returns the state of a commit if the store has it.
    fn snapshot(&self, seq: Seq) -> Result<Option<State>, HistoryError>;

    /// Announces commits about to be read, so that a store can fetch them in one batch.
    fn read_ahead(&self, _commits: &[Seq]) -> Result<(), HistoryError> {
        Ok(())
    }

    /// Returns a commit's identity. Override it where the id is known without reading the commit.
    fn id(&self, seq: Seq) -> Result<CommitId, HistoryError> {
        Ok(self.commit(seq)?.id())
    }

    /// Returns true if the store has the commit's state. Override it where that is known without reading the state.
    fn has_snapshot(&self, seq: Seq) -> Result<bool, HistoryError> {
        Ok(self.snapshot(seq)?.is_some())
    }

    /// Returns the given documents of a stored state; documents that do not exist there are left out.
    fn snapshot_of(&self, seq: Seq, documents: &BTreeSet<DocumentId>) -> Result<State, HistoryError> {
        Ok(self.snapshot(seq)?.unwrap_or_default().restricted(documents))
    }
}

/// Returns the number of a commit, or an error if the store lacks it.
pub(crate) fn locate<C: Commits + ?Sized>(commits: &C, id: &CommitId) -> Result<Seq, HistoryError> {
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
    pub(crate) fn insert(&mut self, seq: Seq) -> bool {
        let (page, word, bit) = Self::place(seq);
        let word = &mut self.pages.entry(page).or_insert([0; PAGE_WORDS])[word];
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    pub(crate) fn contains(&self, seq: Seq) -> bool {
        let (page, word, bit) = Self::place(seq);
        self.pages.get(&page).is_some_and(|words| words[word] & bit != 0)
    }

    fn place(seq: Seq) -> (u32, usize, u64) {
        let within = seq.0 % PAGE_BITS;
        (seq.0 / PAGE_BITS, (within / 64) as usize, 1 << (within % 64))
    }
}

impl FromIterator<Seq> for SeqSet {
    fn from_iter<I: IntoIterator<Item = Seq>>(numbers: I) -> Self {
        let mut set = Self::default();
        for seq in numbers {
            set.insert(seq);
        }
        set
    }
}
