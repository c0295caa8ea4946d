//! An in-memory store of commits for tests, simulation and embedding.
//!
//! It keeps the state of every head, plus snapshots every [`SNAPSHOT_DISTANCE`] commits along the parents and at every
//! commit that is expensive to replay, so that no read depends on the length of the history.

use crate::ancestry;
use crate::commit::{Commit, CommitId, CommitKind};
use crate::history::{CommitNode, CommitReader, CommitSeq, HistoryError};
use crate::op::DocumentId;
use crate::state::CommitState;
use crate::state_reader::StateReader;
use probity_collections::HashIndex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Number of mutations along the parents between two snapshots.
pub const SNAPSHOT_DISTANCE: u32 = 256;

/// A store of commits in memory.
#[derive(Debug, Default)]
pub struct MemoryCommits {
    /// Keyed by the first bytes of the id, which is already a hash.
    numbers: HashIndex,
    entries: Vec<CommitEntry>,
    writers: BTreeMap<DocumentId, Vec<CommitSeq>>,
    heads: BTreeSet<CommitSeq>,
    states: BTreeMap<CommitSeq, CommitState>,
}

#[derive(Debug)]
struct CommitEntry {
    id: CommitId,
    commit: Arc<Commit>,
    node: CommitNode,
    /// Mutations since the last snapshot along the parents.
    distance: u32,
}

/// The reason a commit was not appended.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// A commit that this one names is missing.
    #[error("commit {id} names {missing}, which is not there")]
    Missing { id: CommitId, missing: CommitId },
    /// One side of the merge contains the other, so there is nothing to merge.
    #[error("commit {0} merges a commit with its own ancestor")]
    Ancestor(CommitId),
    #[error(transparent)]
    History(#[from] HistoryError),
}

/// Checks a commit against the store it is to be appended to, and returns its links there.
pub fn check_append<C: CommitReader + ?Sized>(
    commits: &C,
    commit: &Commit,
) -> Result<CommitNode, AppendError> {
    let id = commit.id();
    let locate = |named: Option<CommitId>| -> Result<Option<CommitSeq>, AppendError> {
        let Some(named) = named else { return Ok(None) };
        commits.find(&named)?.map(Some).ok_or(AppendError::Missing { id, missing: named })
    };
    let node = CommitNode {
        kind: commit.kind(),
        parent: locate(commit.parent())?,
        target: locate(commit.target())?,
    };
    if let (CommitKind::Merge, Some(parent), Some(target)) = (node.kind, node.parent, node.target)
        && (ancestry::reaches(commits, parent, target)? || ancestry::reaches(commits, target, parent)?)
    {
        return Err(AppendError::Ancestor(id));
    }
    Ok(node)
}

impl MemoryCommits {
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a commit and updates the state of its head. Appending a known commit changes nothing.
    pub fn append(&mut self, commit: Commit) -> Result<CommitId, AppendError> {
        let id = commit.id();
        if self.number_of(&id).is_some() {
            return Ok(id);
        }
        let node = check_append(self, &commit)?;
        let seq = self.end();
        let distance = self.distance_of(node);
        self.numbers.insert(start_of(&id), seq.0);
        for document in commit.documents() {
            match self.writers.get_mut(document) {
                Some(writers) => writers.push(seq),
                None => drop(self.writers.insert(document.clone(), vec![seq])),
            }
        }
        let commit = Arc::new(commit);
        self.entries.push(CommitEntry { id, commit: commit.clone(), node, distance });
        let state = self.advance(seq, node, &commit)?;
        self.states.insert(seq, state);
        self.heads.insert(seq);
        Ok(id)
    }

    /// Returns the distance from the last snapshot. Merges, enables and disables always take one.
    fn distance_of(&self, node: CommitNode) -> u32 {
        match (node.kind, node.parent) {
            (CommitKind::Mutations, Some(parent)) => (self.entry(parent).distance + 1) % SNAPSHOT_DISTANCE,
            _ => 0,
        }
    }

    /// Returns the state of the commit just added. Its parent and merge target stop being heads and drop their state
    /// unless it is a snapshot.
    fn advance(
        &mut self,
        seq: CommitSeq,
        node: CommitNode,
        commit: &Commit,
    ) -> Result<CommitState, HistoryError> {
        let carried = match (node.kind, node.parent) {
            (CommitKind::Mutations, None) => Some(CommitState::default()),
            (CommitKind::Mutations, Some(parent)) => self.take_state(parent),
            _ => None,
        };
        let state = match carried {
            Some(mut state) => {
                state.replay(commit, true);
                state
            }
            None => StateReader::new(&*self).state(seq)?,
        };
        for edge in node.edges() {
            self.take_state(edge);
            self.heads.remove(&edge);
        }
        Ok(state)
    }

    /// Returns the state of a commit, removing it from the store unless it is a snapshot.
    fn take_state(&mut self, seq: CommitSeq) -> Option<CommitState> {
        if self.entry(seq).distance == 0 { self.states.get(&seq).cloned() } else { self.states.remove(&seq) }
    }

    fn number_of(&self, id: &CommitId) -> Option<CommitSeq> {
        self.numbers.find(start_of(id), |number| self.entry(CommitSeq(number)).id == *id).map(CommitSeq)
    }

    fn entry(&self, seq: CommitSeq) -> &CommitEntry {
        &self.entries[seq.0 as usize]
    }

    /// Returns the commits that no other commit builds on, ascending by id.
    pub fn heads(&self) -> Vec<CommitId> {
        let mut heads: Vec<CommitId> = self.heads.iter().map(|seq| self.entry(*seq).id).collect();
        heads.sort_unstable();
        heads
    }

    pub fn get(&self, id: &CommitId) -> Option<&Commit> {
        self.number_of(id).map(|seq| &*self.entry(seq).commit)
    }

    /// Iterates over every commit, each after those that it names.
    pub fn iter(&self) -> impl Iterator<Item = &Commit> {
        self.entries.iter().map(|entry| &*entry.commit)
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

fn start_of(id: &CommitId) -> u64 {
    let [start, ..] = id.digest().as_bytes().as_chunks().0 else { return 0 };
    u64::from_le_bytes(*start)
}

impl CommitReader for MemoryCommits {
    fn find(&self, id: &CommitId) -> Result<Option<CommitSeq>, HistoryError> {
        Ok(self.number_of(id))
    }

    fn end(&self) -> CommitSeq {
        CommitSeq(
            u32::try_from(self.entries.len()).expect("four thousand million commits do not fit in memory"),
        )
    }

    fn node(&self, seq: CommitSeq) -> Result<CommitNode, HistoryError> {
        Ok(self.entry(seq).node)
    }

    fn commit(&self, seq: CommitSeq) -> Result<Arc<Commit>, HistoryError> {
        Ok(self.entry(seq).commit.clone())
    }

    fn writers(&self, document: &DocumentId, from: CommitSeq) -> Result<Vec<CommitSeq>, HistoryError> {
        let writers = self.writers.get(document).map_or(&[][..], Vec::as_slice);
        let start = writers.partition_point(|seq| *seq < from);
        Ok(writers[start..].to_vec())
    }

    fn snapshot(&self, seq: CommitSeq) -> Result<Option<CommitState>, HistoryError> {
        Ok(self.states.get(&seq).cloned())
    }

    fn id(&self, seq: CommitSeq) -> Result<CommitId, HistoryError> {
        Ok(self.entry(seq).id)
    }

    fn has_snapshot(&self, seq: CommitSeq) -> Result<bool, HistoryError> {
        Ok(self.states.contains_key(&seq))
    }
}
