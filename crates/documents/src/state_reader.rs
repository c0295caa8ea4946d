//! Computes states by replay.
//!
//! Reading starts at the nearest snapshot along the parents below which nothing was enabled or disabled since, and
//! replays what follows it.

use crate::commit::CommitKind;
use crate::history::{CommitReader, CommitSeq, HistoryError, SeqSet};
use crate::linear_order::{self, OrderedCommit};
use crate::op::DocumentId;
use crate::state::CommitState;
use crate::value::DocumentValue;
use std::collections::{BTreeMap, BTreeSet};

/// Cost of looking up the writers of one document, measured in commit reads.
const LOOKUP_COST_IN_COMMITS: usize = 4;

/// The start of a replay: nothing, a state kept by the reader, or a snapshot of the store.
enum ReplayStart {
    Empty,
    Kept(CommitState),
    Snapshot(CommitSeq),
}

/// The changes since the nearest state in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateDelta {
    /// The commit whose state is in the store; none when the replay started empty.
    pub below: Option<CommitSeq>,
    /// The documents written since, with their current values. Documents that do not exist are left out.
    pub changed: CommitState,
}

/// Reads states from a store, of all documents or of some, and keeps those requested with `StateReader::keep`.
pub(crate) struct StateReader<'c, C: ?Sized> {
    commits: &'c C,
    documents: Option<&'c BTreeSet<DocumentId>>,
    kept: BTreeMap<CommitSeq, CommitState>,
}

impl<'c, C: CommitReader + ?Sized> StateReader<'c, C> {
    pub(crate) fn new(commits: &'c C) -> Self {
        Self { commits, documents: None, kept: BTreeMap::new() }
    }

    /// Reads the given documents only.
    pub(crate) fn of(commits: &'c C, documents: &'c BTreeSet<DocumentId>) -> Self {
        Self { commits, documents: Some(documents), kept: BTreeMap::new() }
    }

    /// Returns the state of a commit and keeps it as a starting point for later reads.
    pub(crate) fn keep(&mut self, top: CommitSeq) -> Result<CommitState, HistoryError> {
        let state = self.state(top)?;
        self.kept.insert(top, state.clone());
        Ok(state)
    }

    pub(crate) fn state(&self, top: CommitSeq) -> Result<CommitState, HistoryError> {
        let (start, listed) = self.plan(top)?;
        if let Some(documents) = self.documents {
            return self.replay_part(start, &listed, documents);
        }
        let mut state = match start {
            ReplayStart::Empty => CommitState::default(),
            ReplayStart::Kept(state) => state,
            ReplayStart::Snapshot(seq) => self.commits.snapshot(seq)?.unwrap_or_default(),
        };
        self.read_ahead(replayed(&listed))?;
        for entry in replayed(&listed) {
            state.replay(&*self.commits.commit(entry.seq)?, entry.on);
        }
        Ok(state)
    }

    /// Returns one document at a commit, reading only the commits that write it.
    pub(crate) fn document(
        &self,
        top: CommitSeq,
        id: &DocumentId,
    ) -> Result<Option<DocumentValue>, HistoryError> {
        let (start, listed) = self.plan(top)?;
        let mut state = self.replay_part(start, &listed, &BTreeSet::from([id.clone()]))?;
        Ok(state.documents.remove(id))
    }

    /// Replays some documents, reading only the commits that write them where looking those up is cheaper.
    fn replay_part(
        &self,
        start: ReplayStart,
        listed: &[OrderedCommit],
        documents: &BTreeSet<DocumentId>,
    ) -> Result<CommitState, HistoryError> {
        let mut state = match start {
            // A reader with kept states always reads the same documents, so a kept state needs no restriction.
            ReplayStart::Kept(state) => state,
            start => self.restricted_start(start, documents)?,
        };
        let writers = self.writers_among(listed, documents)?;
        let is_wanted =
            |entry: &&OrderedCommit| writers.as_ref().is_none_or(|writers| writers.contains(entry.seq));
        self.read_ahead(replayed(listed).filter(is_wanted))?;
        for entry in replayed(listed).filter(is_wanted) {
            let commit = self.commits.commit(entry.seq)?;
            for op in commit.ops().iter().filter(|op| documents.contains(&op.document)) {
                let _skipped = if entry.on { state.apply(op) } else { state.apply_masked(op) };
            }
        }
        Ok(state)
    }

    fn read_ahead<'l>(&self, listed: impl Iterator<Item = &'l OrderedCommit>) -> Result<(), HistoryError> {
        self.commits.read_ahead(&listed.map(|entry| entry.seq).collect::<Vec<CommitSeq>>())
    }

    /// Returns the commits that write any of the documents; `None` if the lookup would cost more than reading all
    /// commits.
    fn writers_among(
        &self,
        listed: &[OrderedCommit],
        documents: &BTreeSet<DocumentId>,
    ) -> Result<Option<SeqSet>, HistoryError> {
        let oldest = listed.iter().map(|entry| entry.seq).min();
        let is_worth = documents.len().saturating_mul(LOOKUP_COST_IN_COMMITS) < listed.len();
        let Some(oldest) = oldest.filter(|_| is_worth) else { return Ok(None) };
        let mut writers = SeqSet::default();
        for id in documents {
            for seq in self.commits.writers(id, oldest)? {
                writers.insert(seq);
            }
        }
        Ok(Some(writers))
    }

    /// Returns what was written since the nearest stored state: all that a store needs to store this one too.
    pub(crate) fn since(&self, top: CommitSeq) -> Result<StateDelta, HistoryError> {
        let (start, listed) = self.plan(top)?;
        let below = match start {
            ReplayStart::Snapshot(seq) => Some(seq),
            ReplayStart::Empty | ReplayStart::Kept(_) => None,
        };
        let mut commits = Vec::new();
        for entry in replayed(&listed) {
            commits.push((self.commits.commit(entry.seq)?, entry.on));
        }
        let written = commits.iter().flat_map(|(commit, _)| commit.documents()).cloned().collect();
        let mut changed = self.restricted_start(start, &written)?;
        for (commit, on) in commits {
            changed.replay(&commit, on);
        }
        Ok(StateDelta { below, changed })
    }

    /// Returns the number of commits to replay for the state of a commit.
    pub(crate) fn length(&self, top: CommitSeq) -> Result<usize, HistoryError> {
        Ok(self.plan(top)?.1.len())
    }

    /// Returns some documents of the state that a replay starts from.
    fn restricted_start(
        &self,
        start: ReplayStart,
        documents: &BTreeSet<DocumentId>,
    ) -> Result<CommitState, HistoryError> {
        match start {
            ReplayStart::Empty => Ok(CommitState::default()),
            ReplayStart::Kept(state) => Ok(state.restricted(documents)),
            ReplayStart::Snapshot(seq) => self.commits.snapshot_of(seq, documents),
        }
    }

    /// Chooses a state to start from and lists what to replay on it.
    fn plan(&self, top: CommitSeq) -> Result<(ReplayStart, Vec<OrderedCommit>), HistoryError> {
        let mut from = Some(top);
        let mut min_distance = 0;
        loop {
            let below = self.nearest_known(from, min_distance)?;
            if below == Some(top) {
                return Ok((self.start(below), Vec::new()));
            }
            let tail = linear_order::tail(self.commits, top, below)?;
            // The snapshot is valid unless a commit that it covers, or may cover, was enabled or disabled since.
            let Some(seq) = below.filter(|seq| tail.decided_below.iter().any(|decided| decided <= seq))
            else {
                return Ok((self.start(below), tail.listed));
            };
            // Doubling the distance bounds the cost of all attempts together to twice that of the last one.
            min_distance = tail.listed.len();
            from = self.commits.node(seq)?.parent;
        }
    }

    fn start(&self, below: Option<CommitSeq>) -> ReplayStart {
        let Some(seq) = below else { return ReplayStart::Empty };
        self.kept.get(&seq).map_or(ReplayStart::Snapshot(seq), |state| ReplayStart::Kept(state.clone()))
    }

    /// Returns the first commit along the parents, at least `min_distance` away, whose state is known. Kept states are
    /// preferred, because a stored one would have to be read.
    fn nearest_known(
        &self,
        from: Option<CommitSeq>,
        min_distance: usize,
    ) -> Result<Option<CommitSeq>, HistoryError> {
        if let Some((oldest, _)) = self.kept.first_key_value() {
            let is_kept = |seq: CommitSeq| Ok(self.kept.contains_key(&seq));
            let found = self.first_parent(from, min_distance, Some(*oldest), is_kept)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        self.first_parent(from, min_distance, None, |seq| self.commits.has_snapshot(seq))
    }

    /// Returns the first commit along the parents, at least `min_distance` away and not older than `oldest`, that
    /// satisfies `holds`.
    fn first_parent(
        &self,
        mut from: Option<CommitSeq>,
        min_distance: usize,
        oldest: Option<CommitSeq>,
        holds: impl Fn(CommitSeq) -> Result<bool, HistoryError>,
    ) -> Result<Option<CommitSeq>, HistoryError> {
        let mut distance = 0;
        while let Some(seq) = from.filter(|seq| oldest.is_none_or(|oldest| *seq >= oldest)) {
            if distance >= min_distance && holds(seq)? {
                return Ok(Some(seq));
            }
            distance += 1;
            from = self.commits.node(seq)?.parent;
        }
        Ok(None)
    }
}

fn replayed(listed: &[OrderedCommit]) -> impl Iterator<Item = &OrderedCommit> {
    listed.iter().filter(|entry| entry.node.kind == CommitKind::Mutations)
}
