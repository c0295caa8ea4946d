//! Checks a whole store: every commit against its hash, and derived data against the commits.

use super::commit_view::CommitView;
use super::{CommitStore, CommitsError, lock};
use probity_documents::{
    Commit, CommitId, CommitReader, CommitSeq, DocumentEngine, DocumentId, HistoryError,
};
use probity_storage::database;
use std::collections::{BTreeMap, BTreeSet};

/// A part of the store that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreFinding {
    pub commit: Option<CommitId>,
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StoreCheckReport {
    pub n_commits: u32,
    /// The number of snapshots that were compared with a replay.
    pub n_states: usize,
    pub n_blobs: usize,
    pub findings: Vec<StoreFinding>,
}

impl CommitStore {
    /// Reads the whole store, and compares everything with its hash and derived data with its source.
    pub fn check(&self) -> Result<StoreCheckReport, CommitsError> {
        let mut survey = StoreCheckReport::default();
        if let Err(error) = database::check_pages(&lock(&self.reader), &self.path) {
            survey.note(None, error.to_string());
        }
        self.read(|view| survey.read(view))??;
        Ok(survey)
    }
}

impl StoreCheckReport {
    fn note(&mut self, commit: Option<CommitId>, why: impl Into<String>) {
        self.findings.push(StoreFinding { commit, why: why.into() });
    }

    fn note_error(&mut self, error: &HistoryError) {
        match error {
            HistoryError::Damaged { id, why } => self.note(Some(*id), why.clone()),
            other => self.note(None, other.to_string()),
        }
    }

    fn read(&mut self, view: &CommitView<'_>) -> Result<(), HistoryError> {
        let mut heads = BTreeSet::new();
        let mut writers: BTreeMap<DocumentId, BTreeSet<CommitSeq>> = BTreeMap::new();
        for seq in (0..view.n_commits()).map(CommitSeq) {
            self.n_commits += 1;
            match view.commit(seq).and_then(|commit| Ok((view.node(seq)?, commit))) {
                Err(error) => self.note_error(&error),
                Ok((node, commit)) => {
                    for edge in node.edges() {
                        heads.remove(&edge);
                    }
                    heads.insert(seq);
                    for document in commit.documents() {
                        writers.entry(document.clone()).or_default().insert(seq);
                    }
                    self.compare_node(view, seq, &commit)?;
                }
            }
        }
        self.compare_heads(view, &heads)?;
        for (document, expected) in writers {
            if !view.writers(&document, CommitSeq(0))?.into_iter().eq(expected) {
                self.note(
                    None,
                    format!("the index of {}/{} is incomplete", document.attachment, document.key),
                );
            }
        }
        self.compare_states(view)?;
        for digest in view.blobs()? {
            self.n_blobs += 1;
            if let Err(error) = view.blob(&digest) {
                self.note_error(&error);
            }
        }
        Ok(())
    }

    fn compare_node(
        &mut self,
        view: &CommitView<'_>,
        seq: CommitSeq,
        commit: &Commit,
    ) -> Result<(), HistoryError> {
        let node = view.node(seq)?;
        let number = |id: Option<CommitId>| id.map_or(Ok(None), |id| view.find(&id));
        if node.kind != commit.kind()
            || number(commit.parent())? != node.parent
            || number(commit.target())? != node.target
        {
            self.note(Some(commit.id()), "its place in the graph is not the one that it names");
        }
        if Commit::decode(view.schema(), commit.bytes()).is_err() {
            self.note(Some(commit.id()), "its bytes are not in canonical form");
        }
        if view.find(&commit.id())? != Some(seq) {
            self.note(Some(commit.id()), "the index of ids does not have it");
        }
        Ok(())
    }

    fn compare_heads(
        &mut self,
        view: &CommitView<'_>,
        expected: &BTreeSet<CommitSeq>,
    ) -> Result<(), HistoryError> {
        if self.findings.is_empty() && view.head_numbers()? != *expected {
            self.note(None, "the list of heads is not that of the commits");
        }
        Ok(())
    }

    /// Compares each snapshot with the replay from the one before it.
    fn compare_states(&mut self, view: &CommitView<'_>) -> Result<(), HistoryError> {
        for seq in view.list::<u32>("SELECT seq FROM snapshot ORDER BY seq", [])?.into_iter().map(CommitSeq) {
            self.n_states += 1;
            let id = view.id(seq)?;
            let without = MaskedView { view, seq };
            let states =
                view.snapshot(seq).and_then(|kept| Ok((kept, DocumentEngine::new(&without).state(&id)?)));
            match states {
                Err(error) => self.note_error(&error),
                Ok((Some(kept), replayed)) if kept == replayed => {}
                Ok(_) => self.note(Some(id), "its kept state is not the one that its commits give"),
            }
        }
        Ok(())
    }
}

/// A view that hides one snapshot.
struct MaskedView<'v, 'c> {
    view: &'v CommitView<'c>,
    seq: CommitSeq,
}

impl CommitReader for MaskedView<'_, '_> {
    fn find(&self, id: &CommitId) -> Result<Option<CommitSeq>, HistoryError> {
        self.view.find(id)
    }
    fn end(&self) -> CommitSeq {
        self.view.end()
    }
    fn node(&self, seq: CommitSeq) -> Result<probity_documents::CommitNode, HistoryError> {
        self.view.node(seq)
    }
    fn commit(&self, seq: CommitSeq) -> Result<std::sync::Arc<Commit>, HistoryError> {
        self.view.commit(seq)
    }
    fn writers(&self, document: &DocumentId, from: CommitSeq) -> Result<Vec<CommitSeq>, HistoryError> {
        self.view.writers(document, from)
    }
    fn snapshot(&self, seq: CommitSeq) -> Result<Option<probity_documents::CommitState>, HistoryError> {
        if seq == self.seq { Ok(None) } else { self.view.snapshot(seq) }
    }
    fn read_ahead(&self, seqs: &[CommitSeq]) -> Result<(), HistoryError> {
        self.view.read_ahead(seqs)
    }
    fn has_snapshot(&self, seq: CommitSeq) -> Result<bool, HistoryError> {
        Ok(seq != self.seq && self.view.has_snapshot(seq)?)
    }
}
