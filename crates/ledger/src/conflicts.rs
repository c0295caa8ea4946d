//! Contradictions: two active items of which one denies what the other says.
//!
//! A contradiction is never merged and never refused; it is put on record when it arises and settled when one of the
//! two is final or says something else. What tentative items say is no claim, so it contradicts nothing.

use crate::item_record::{ItemId, LedgerSeq};
use crate::name_table::count;
use std::collections::BTreeSet;

/// Two items that contradict each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemConflict {
    /// The item that was there.
    pub older: ItemId,
    /// The item that contradicts it.
    pub newer: ItemId,
    /// The input that brought it about.
    pub raised: LedgerSeq,
    /// The input that ended it.
    pub settled: Option<LedgerSeq>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct ConflictIndex {
    list: Vec<ItemConflict>,
    /// The conflicts that are open, by each of their two items.
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

    /// Puts a conflict back as it was.
    pub(crate) fn restore(&mut self, conflict: ItemConflict) {
        let at = count(self.list.len());
        self.list.push(conflict);
        if conflict.settled.is_none() {
            self.open.insert((conflict.older, at));
            self.open.insert((conflict.newer, at));
        }
    }

    /// The open conflicts of an item.
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

    /// Forgets all conflicts from `len` on.
    pub(crate) fn truncate(&mut self, len: usize) {
        for at in len..self.list.len() {
            let ItemConflict { older, newer, .. } = self.list[at];
            self.open.remove(&(older, count(at)));
            self.open.remove(&(newer, count(at)));
        }
        self.list.truncate(len);
    }
}
