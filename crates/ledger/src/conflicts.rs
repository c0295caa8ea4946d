//! Contradictions: two active items, one of which denies what the other says.
//!
//! A contradiction is neither merged nor refused. It is recorded when it arises and settled when one of the two items
//! becomes final or changes its statement. Tentative items claim nothing, so they contradict nothing.

use crate::item_record::{ItemId, LedgerSeq};
use crate::name_table::count;
use std::collections::BTreeSet;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemConflict {
    pub older: ItemId,
    pub newer: ItemId,
    /// The input that caused the conflict.
    pub raised: LedgerSeq,
    /// The input that ended it.
    pub settled: Option<LedgerSeq>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct ConflictIndex {
    list: Vec<ItemConflict>,
    /// Open conflicts, listed under both of their items.
    open: BTreeSet<(ItemId, u32)>,
}

impl ConflictIndex {
    pub(crate) fn list(&self) -> &[ItemConflict] {
        &self.list
    }

    pub(crate) fn raise(&mut self, older: ItemId, newer: ItemId, raised: LedgerSeq) {
        let at = count(self.list.len());
        self.list.push(ItemConflict { older, newer, raised, settled: None });
        self.open.insert((older, at));
        self.open.insert((newer, at));
    }

    /// Restores a conflict from a snapshot.
    pub(crate) fn restore(&mut self, conflict: ItemConflict) {
        let at = count(self.list.len());
        self.list.push(conflict);
        if conflict.settled.is_none() {
            self.open.insert((conflict.older, at));
            self.open.insert((conflict.newer, at));
        }
    }

    pub(crate) fn open_of(&self, item: ItemId) -> Vec<u32> {
        if self.open.is_empty() {
            return Vec::new();
        }
        self.open.range((item, 0)..=(item, u32::MAX)).map(|&(_, at)| at).collect()
    }

    pub(crate) fn has_open(&self, one: ItemId, other: ItemId) -> bool {
        self.open_of(one).iter().any(|&at| self.open.contains(&(other, at)))
    }

    pub(crate) fn settle(&mut self, at: u32, seq: LedgerSeq) {
        let conflict = &mut self.list[at as usize];
        conflict.settled = Some(seq);
        self.open.remove(&(conflict.older, at));
        self.open.remove(&(conflict.newer, at));
    }

    pub(crate) fn reopen(&mut self, at: u32) {
        let conflict = &mut self.list[at as usize];
        conflict.settled = None;
        self.open.insert((conflict.older, at));
        self.open.insert((conflict.newer, at));
    }

    /// Removes all conflicts from index `len` on.
    pub(crate) fn truncate(&mut self, len: usize) {
        for at in len..self.list.len() {
            let ItemConflict { older, newer, .. } = self.list[at];
            self.open.remove(&(older, count(at)));
            self.open.remove(&(newer, count(at)));
        }
        self.list.truncate(len);
    }
}
