//! Commits, nodes and document numbers that were used a moment ago. Bounded: the memory of an open store stays flat.

use super::lock;
use super::view::{Known, Written};
use commit::{Commit, DocumentId, Seq};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

/// How many decoded commits and nodes are kept: as many as are replayed when the states of some streams are kept in turn.
const MAX_COMMITS: usize = 8192;
/// How many bytes of commits are kept.
const MAX_BYTES: usize = 16 * 1024 * 1024;
/// How many document numbers are kept.
const MAX_DOCUMENTS: usize = 16_384;

/// What was used a moment ago.
#[derive(Debug, Default)]
pub(super) struct Recent {
    commits: Mutex<Commits>,
    nodes: Mutex<Nodes>,
    documents: Mutex<BTreeMap<DocumentId, i64>>,
}

#[derive(Debug, Default)]
struct Commits {
    by_seq: BTreeMap<Seq, Arc<Commit>>,
    n_bytes: usize,
}

/// The newest nodes that this process added, without a gap.
#[derive(Debug, Default)]
struct Nodes {
    first: u32,
    known: VecDeque<Known>,
}

impl Recent {
    pub(super) fn node(&self, seq: Seq) -> Option<Known> {
        let nodes = lock(&self.nodes);
        nodes.known.get(seq.0.checked_sub(nodes.first)? as usize).copied()
    }

    /// Takes what was added up to `end`, when the numbers belong to it for good.
    pub(super) fn add_written(&self, written: Vec<Written>, end: Seq) {
        let first = end.0.saturating_sub(u32::try_from(written.len()).unwrap_or(u32::MAX));
        self.add_nodes(first, written.iter().map(|written| written.known));
        self.add((first..).map(Seq).zip(written.into_iter().map(|written| written.commit)).collect());
    }

    fn add_nodes(&self, first: u32, known: impl Iterator<Item = Known>) {
        let mut nodes = lock(&self.nodes);
        if nodes.first as usize + nodes.known.len() != first as usize {
            *nodes = Nodes { first, known: VecDeque::new() };
        }
        nodes.known.extend(known);
        while nodes.known.len() > MAX_COMMITS {
            nodes.known.pop_front();
            nodes.first += 1;
        }
    }

    pub(super) fn commit(&self, seq: Seq) -> Option<Arc<Commit>> {
        lock(&self.commits).by_seq.get(&seq).cloned()
    }

    /// Takes commits whose numbers are theirs for good. The oldest go first: they are the least likely to be replayed.
    pub(super) fn add(&self, fresh: BTreeMap<Seq, Arc<Commit>>) {
        let mut commits = lock(&self.commits);
        for (seq, commit) in fresh.into_iter().rev().take(MAX_COMMITS) {
            commits.n_bytes += commit.bytes().len();
            if let Some(old) = commits.by_seq.insert(seq, commit) {
                commits.n_bytes -= old.bytes().len();
            }
        }
        while commits.by_seq.len() > MAX_COMMITS || commits.n_bytes > MAX_BYTES {
            let Some((_, old)) = commits.by_seq.pop_first() else { break };
            commits.n_bytes -= old.bytes().len();
        }
    }

    pub(super) fn document(&self, id: &DocumentId) -> Option<i64> {
        lock(&self.documents).get(id).copied()
    }

    pub(super) fn add_document(&self, id: &DocumentId, number: i64) {
        let mut documents = lock(&self.documents);
        if documents.len() >= MAX_DOCUMENTS {
            documents.clear();
        }
        documents.insert(id.clone(), number);
    }
}
