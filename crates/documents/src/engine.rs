//! Queries over a store of commits.

use crate::ancestry::{self, MergeBase};
use crate::apply::SkipReason;
use crate::commit::{CommitId, CommitKind};
use crate::history::{CommitReader, HistoryError, locate};
use crate::linear_order;
use crate::op::DocumentId;
use crate::state::CommitState;
use crate::state_reader::{StateDelta, StateReader};
use crate::value::DocumentValue;
use serde::Serialize;

/// Computes states, orders and traces from a store.
#[derive(Debug, Clone, Copy)]
pub struct DocumentEngine<'c, C: ?Sized> {
    commits: &'c C,
}

/// The outcome of one opcode in a replay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OpcodeOutcome {
    pub commit: CommitId,
    /// Index of the opcode in the commit.
    pub op: usize,
    /// True when the commit is enabled.
    pub on: bool,
    /// The reason the opcode had no effect; none when it had one.
    pub skipped: Option<SkipReason>,
}

impl<'c, C: CommitReader + ?Sized> DocumentEngine<'c, C> {
    pub const fn new(commits: &'c C) -> Self {
        Self { commits }
    }

    pub fn state(&self, commit: &CommitId) -> Result<CommitState, HistoryError> {
        StateReader::new(self.commits).state(locate(self.commits, commit)?)
    }

    /// Returns one document at a commit, at the cost of the writes to that document since the last snapshot.
    pub fn document(
        &self,
        commit: &CommitId,
        id: &DocumentId,
    ) -> Result<Option<DocumentValue>, HistoryError> {
        StateReader::new(self.commits).document(locate(self.commits, commit)?, id)
    }

    /// Returns what was written since the nearest stored state, for a store that wants to store this one too.
    pub fn since_snapshot(&self, commit: &CommitId) -> Result<StateDelta, HistoryError> {
        StateReader::new(self.commits).since(locate(self.commits, commit)?)
    }

    /// Returns the number of commits to replay for the state of a commit: zero when the store has that state.
    pub fn replay_length(&self, commit: &CommitId) -> Result<usize, HistoryError> {
        StateReader::new(self.commits).length(locate(self.commits, commit)?)
    }

    /// Returns the linear order of a commit, oldest first, with true for each enabled commit.
    pub fn linear(&self, commit: &CommitId) -> Result<Vec<(CommitId, bool)>, HistoryError> {
        let tail = linear_order::tail(self.commits, locate(self.commits, commit)?, None)?;
        tail.listed.iter().map(|entry| Ok((self.commits.id(entry.seq)?, entry.on))).collect()
    }

    pub fn merge_base(&self, a: &CommitId, b: &CommitId) -> Result<MergeBase, HistoryError> {
        ancestry::merge_base(self.commits, locate(self.commits, a)?, locate(self.commits, b)?)
    }

    /// Returns true if `commit` reaches `ancestor`; a commit reaches itself.
    pub fn is_ancestor(&self, ancestor: &CommitId, commit: &CommitId) -> Result<bool, HistoryError> {
        ancestry::reaches(self.commits, locate(self.commits, commit)?, locate(self.commits, ancestor)?)
    }

    /// Lists every opcode on a document in the replay of a commit, with the reason where it had no effect.
    pub fn trace(
        &self,
        commit: &CommitId,
        document: &DocumentId,
    ) -> Result<Vec<OpcodeOutcome>, HistoryError> {
        let tail = linear_order::tail(self.commits, locate(self.commits, commit)?, None)?;
        let mut state = CommitState::default();
        let mut traced = Vec::new();
        for entry in tail.listed.iter().filter(|entry| entry.node.kind == CommitKind::Mutations) {
            let commit = self.commits.commit(entry.seq)?;
            for (index, op) in commit.ops().iter().enumerate().filter(|(_, op)| op.document() == document) {
                let outcome = if entry.on { state.apply(op) } else { state.apply_masked(op) };
                traced.push(OpcodeOutcome {
                    commit: commit.id(),
                    op: index,
                    on: entry.on,
                    skipped: outcome.err(),
                });
            }
        }
        Ok(traced)
    }
}
