//! A bounded cache of recently used commits and document numbers.

use super::lock;
use probity_documents::{Commit, CommitSeq, DocumentId};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Enough for the replays in which several streams take their snapshots in turn.
const MAX_CACHED_COMMITS: usize = 8192;
const MAX_CACHED_BYTES: usize = 16 * 1024 * 1024;
const MAX_CACHED_DOCUMENTS: usize = 16_384;

#[derive(Debug, Default)]
pub(super) struct CommitCache {
    commits: Mutex<CachedCommits>,
    documents: Mutex<BTreeMap<DocumentId, i64>>,
}

#[derive(Debug, Default)]
struct CachedCommits {
    by_seq: BTreeMap<CommitSeq, Arc<Commit>>,
    n_bytes: usize,
}

impl CommitCache {
    pub(super) fn commit(&self, seq: CommitSeq) -> Option<Arc<Commit>> {
        lock(&self.commits).by_seq.get(&seq).cloned()
    }

    /// Adds commits whose numbers are permanent. The oldest are evicted first: they are the least likely to be
    /// replayed.
    pub(super) fn add(&self, fresh: BTreeMap<CommitSeq, Arc<Commit>>) {
        let mut commits = lock(&self.commits);
        for (seq, commit) in fresh.into_iter().rev().take(MAX_CACHED_COMMITS) {
            commits.n_bytes += commit.bytes().len();
            if let Some(old) = commits.by_seq.insert(seq, commit) {
                commits.n_bytes -= old.bytes().len();
            }
        }
        while commits.by_seq.len() > MAX_CACHED_COMMITS || commits.n_bytes > MAX_CACHED_BYTES {
            let Some((_, old)) = commits.by_seq.pop_first() else { break };
            commits.n_bytes -= old.bytes().len();
        }
    }

    pub(super) fn document(&self, id: &DocumentId) -> Option<i64> {
        lock(&self.documents).get(id).copied()
    }

    pub(super) fn add_document(&self, id: &DocumentId, number: i64) {
        let mut documents = lock(&self.documents);
        if documents.len() >= MAX_CACHED_DOCUMENTS {
            documents.clear();
        }
        documents.insert(id.clone(), number);
    }
}
