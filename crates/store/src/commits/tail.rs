//! Commits that the indexes of the file do not have yet.
//!
//! A commit is kept by adding one row at the end of one table. What is looked up by (ids, documents, heads) is brought up
//! to date for many commits at once: one by one, every commit would write a page of each index. Until then the newest
//! commits are looked up here, in memory, by whoever has the store open.

use super::lock;
use super::view::Known;
use commit::{CommitId, HistoryError, Seq};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// How many commits wait for the indexes at most. Whoever opens the store reads so many rows.
pub(super) const MAX_TAIL: u32 = 1024;
/// How many documents the waiting commits write at most, for the same reason.
const MAX_DOCUMENTS: usize = 4096;

/// The newest commits, without a gap.
#[derive(Debug, Clone, Default)]
pub(super) struct Tail {
    first: u32,
    entries: Vec<Entry>,
    numbers: BTreeMap<CommitId, Seq>,
    writers: BTreeMap<i64, Vec<u32>>,
    /// How many documents the commits write, each counted for itself.
    n_documents: usize,
}

/// What is looked up about a commit.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) id: CommitId,
    pub(super) known: Known,
    /// The numbers of the documents that it writes.
    pub(super) documents: Vec<i64>,
}

impl Tail {
    /// Starts at a number, with nothing.
    pub(super) fn new(first: Seq) -> Self {
        Self { first: first.0, ..Self::default() }
    }

    pub(super) const fn first(&self) -> Seq {
        Seq(self.first)
    }

    pub(super) fn len(&self) -> u32 {
        u32::try_from(self.entries.len()).unwrap_or(u32::MAX)
    }

    fn end(&self) -> u32 {
        self.first.saturating_add(self.len())
    }

    pub(super) fn push(&mut self, entry: Entry) {
        let seq = self.end();
        self.numbers.insert(entry.id, Seq(seq));
        for document in &entry.documents {
            self.writers.entry(*document).or_default().push(seq);
        }
        self.n_documents += entry.documents.len();
        self.entries.push(entry);
    }

    fn extend(&mut self, entries: Vec<Entry>) {
        for entry in entries {
            self.push(entry);
        }
    }

    /// Whether these commits and those that follow them are as many as may wait.
    pub(super) fn is_due_with(&self, fresh: &Self) -> bool {
        fresh.end().saturating_sub(self.first) >= MAX_TAIL
            || self.n_documents + fresh.n_documents >= MAX_DOCUMENTS
    }

    pub(super) fn find(&self, id: &CommitId) -> Option<Seq> {
        self.numbers.get(id).copied()
    }

    pub(super) fn get(&self, seq: Seq) -> Option<&Entry> {
        self.entries.get(seq.0.checked_sub(self.first)? as usize)
    }

    pub(super) fn get_mut(&mut self, seq: Seq) -> Option<&mut Entry> {
        self.entries.get_mut(seq.0.checked_sub(self.first)? as usize)
    }

    /// The entries with their numbers, oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Seq, &Entry)> {
        (self.first..).map(Seq).zip(&self.entries)
    }

    /// The commits that write a document, ascending.
    pub(super) fn writers(&self, document: i64) -> &[u32] {
        self.writers.get(&document).map_or(&[], Vec::as_slice)
    }

    /// The ids from one to another.
    pub(super) fn between(&self, least: CommitId, most: CommitId) -> impl Iterator<Item = (CommitId, Seq)> {
        self.numbers.range(least..=most).map(|(id, seq)| (*id, *seq))
    }

    /// What heads become with these commits, up to `end`.
    pub(super) fn advance(&self, heads: &mut BTreeSet<Seq>, end: Seq) {
        for (seq, entry) in self.iter().take_while(|(seq, _)| *seq < end) {
            for edge in entry.known.node.edges() {
                heads.remove(&edge);
            }
            heads.insert(seq);
        }
    }
}

/// The tail that the readers and the writer of one open store share.
#[derive(Debug, Default)]
pub(super) struct SharedTail(Mutex<Arc<Tail>>);

impl SharedTail {
    /// The tail of an instant at which `range` was not indexed. It may have newer commits, too.
    pub(super) fn at(
        &self,
        range: Range<u32>,
        read: impl FnOnce(Range<u32>) -> Result<Vec<Entry>, HistoryError>,
    ) -> Result<Arc<Tail>, HistoryError> {
        let mut shared = lock(&self.0);
        if range.start < shared.first {
            // This instant is older than the indexes that the others see.
            let mut tail = Tail::new(Seq(range.start));
            tail.extend(read(range)?);
            return Ok(Arc::new(tail));
        }
        if range.start > shared.first {
            *shared = Arc::new(Tail::new(Seq(range.start)));
        }
        if range.end > shared.end() {
            let more = read(shared.end()..range.end)?;
            Arc::make_mut(&mut shared).extend(more);
        }
        Ok(shared.clone())
    }

    /// Takes commits that are kept for good now, and follow `indexed`.
    pub(super) fn publish(&self, indexed: Seq, fresh: Tail) {
        let mut shared = lock(&self.0);
        if indexed.0 > shared.first {
            *shared = Arc::new(Tail::new(indexed));
        }
        // Another thread's view may have read some of them already.
        let tail = Arc::make_mut(&mut shared);
        let first = fresh.first;
        for (seq, entry) in (first..).zip(fresh.entries) {
            if seq == tail.end() {
                tail.push(entry);
            }
        }
    }
}
