//! The port: what the engine asks of a store of commits.
//!
//! A store numbers its commits as they come in, parents and targets before the commits that name them. Those numbers
//! are local: they make walking cheap (an ancestor always has the smaller one) and never reach a result.

use crate::commit::{Commit, CommitId, Kind};
use crate::op::DocumentId;
use crate::state::State;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The local number of a commit. Every commit is numbered after its parent and its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seq(pub u32);

/// How a commit hangs together with others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    /// The type.
    pub kind: Kind,
    /// The parent.
    pub parent: Option<Seq>,
    /// What is merged, enabled or disabled.
    pub target: Option<Seq>,
}

impl Node {
    /// The commits that this one builds on: its parent, and what it merges.
    pub fn edges(&self) -> impl Iterator<Item = Seq> {
        self.parent.into_iter().chain(self.merged())
    }

    /// What a merge joins into its parent.
    pub fn merged(&self) -> Option<Seq> {
        self.target.filter(|_| self.kind == Kind::Merge)
    }
}

/// Why a question about history has no answer.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// The store has no such commit.
    #[error("there is no commit {0}")]
    Unknown(CommitId),
    /// The store has something else where a commit should be.
    #[error("commit {id} is damaged: {why}")]
    Damaged {
        /// The commit that was asked for.
        id: CommitId,
        /// What is wrong with it.
        why: String,
    },
    /// The store could not answer.
    #[error("the commit store failed: {0}")]
    Store(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// A store of commits.
pub trait Commits {
    /// The number of a commit, if the store has it.
    fn find(&self, id: &CommitId) -> Result<Option<Seq>, HistoryError>;

    /// The number that the next commit will get.
    fn end(&self) -> Seq;

    /// How a commit hangs together with others.
    fn node(&self, seq: Seq) -> Result<Node, HistoryError>;

    /// The commit itself.
    fn commit(&self, seq: Seq) -> Result<Arc<Commit>, HistoryError>;

    /// The commits numbered from `from` on that have an opcode on the document, ascending: the index by document.
    fn writers(&self, document: &DocumentId, from: Seq) -> Result<Vec<Seq>, HistoryError>;

    /// The state of a commit, if the store keeps it.
    fn snapshot(&self, seq: Seq) -> Result<Option<State>, HistoryError>;

    /// Says that these commits are going to be read. A store that reads many faster than one by one does so now.
    fn read_ahead(&self, _commits: &[Seq]) -> Result<(), HistoryError> {
        Ok(())
    }

    /// The identity of a commit. A store that knows it without reading the commit answers faster.
    fn id(&self, seq: Seq) -> Result<CommitId, HistoryError> {
        Ok(self.commit(seq)?.id())
    }

    /// Whether the store keeps the state of a commit. A store that knows it without reading the state answers faster.
    fn has_snapshot(&self, seq: Seq) -> Result<bool, HistoryError> {
        Ok(self.snapshot(seq)?.is_some())
    }

    /// The given documents of a state that the store keeps; those that do not exist there are left out.
    fn snapshot_of(&self, seq: Seq, documents: &BTreeSet<DocumentId>) -> Result<State, HistoryError> {
        Ok(self.snapshot(seq)?.unwrap_or_default().restricted(documents))
    }
}

/// The number of a commit that must be there.
pub(crate) fn locate<C: Commits + ?Sized>(commits: &C, id: &CommitId) -> Result<Seq, HistoryError> {
    commits.find(id)?.ok_or(HistoryError::Unknown(*id))
}

/// A set of numbers: pages of bits, so that neighbours share a page and empty stretches cost nothing.
#[derive(Debug, Default)]
pub(crate) struct SeqSet {
    pages: BTreeMap<u32, [u64; PAGE_WORDS]>,
}

const PAGE_WORDS: usize = 64;
const PAGE_BITS: u32 = 64 * 64;

impl SeqSet {
    /// Adds a number; false when it was there.
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
