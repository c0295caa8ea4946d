//! Sources of items: (turn, range) pairs that are only ever added, indexed by item and by turn.
//!
//! Each source is a link in two chains: the sources of its item, and those of its turn, newest first. A hash index
//! finds duplicates (it holds all but the first source of each item), so an item with twenty thousand sources takes the
//! next one as fast as an item with two.

use crate::item_record::{ItemId, ItemRecord, LedgerSeq};
use crate::name_table::{NameTable, count, hash_of};
use probity_collections::HashIndex;

/// A source whose turn is known: the id of the turn, and the range.
pub(crate) type KnownSource = (u32, Option<(u64, u64)>);

#[derive(Debug, Clone, Copy)]
pub(crate) struct SourceRecord {
    pub(crate) seq: LedgerSeq,
    pub(crate) item: ItemId,
    pub(crate) turn: u32,
    /// One more than the index in `ranges`; zero for the whole turn.
    pub(crate) range: u32,
    /// The preceding source of the same item; meaningless for the first.
    pub(crate) previous_in_item: u32,
    /// The preceding source of the same turn; meaningless for the first.
    pub(crate) previous_in_turn: u32,
}

/// The sources of a turn: the last one, and their number.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TurnSourceChain {
    pub(crate) last: u32,
    pub(crate) n: u32,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct SourceIndex {
    pub(crate) turns: NameTable<TurnSourceChain>,
    list: Vec<SourceRecord>,
    ranges: Vec<(u64, u64)>,
    /// All sources but the first of each item.
    index: HashIndex,
}

/// The lengths to truncate to when a batch is undone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SourceIndexMark {
    list: usize,
    ranges: usize,
}

impl SourceIndex {
    pub(crate) fn add_turn(&mut self, turn: &str) {
        if self.turns.find(turn).is_none() {
            self.turns.add(turn, TurnSourceChain::default());
        }
    }

    pub(crate) fn range(&self, source: &SourceRecord) -> Option<(u64, u64)> {
        (source.range as usize).checked_sub(1).map(|at| self.ranges[at])
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns all sources, in order of arrival.
    pub(crate) fn all(&self) -> &[SourceRecord] {
        &self.list
    }

    /// Restores a source from a snapshot; the caller restores the records of its item and turn.
    pub(crate) fn restore(&mut self, mut record: SourceRecord, range: Option<(u64, u64)>, is_first: bool) {
        let at = count(self.list.len());
        if !is_first {
            self.index.insert(pair_hash(record.item, record.turn, range), at);
        }
        record.range = range.map_or(0, |range| {
            self.ranges.push(range);
            count(self.ranges.len())
        });
        self.list.push(record);
    }

    /// Returns the sources of an item, newest first.
    pub(crate) fn of_item(&self, record: &ItemRecord) -> impl Iterator<Item = &SourceRecord> {
        let mut at = record.last_source;
        (0..record.n_sources).map(move |_| {
            let source = &self.list[at as usize];
            at = source.previous_in_item;
            source
        })
    }

    /// Returns the sources of a turn, newest first.
    pub(crate) fn of_turn(&self, turn: u32) -> impl Iterator<Item = &SourceRecord> {
        let given = *self.turns.value(turn);
        let mut at = given.last;
        (0..given.n).map(move |_| {
            let source = &self.list[at as usize];
            at = source.previous_in_turn;
            source
        })
    }

    /// Adds a source to an item unless it has the same pair already. Returns whether it was added.
    pub(crate) fn add(
        &mut self,
        item: ItemId,
        record: &mut ItemRecord,
        (turn, range): KnownSource,
        seq: LedgerSeq,
    ) -> bool {
        if self.has(item, record, turn, range) {
            return false;
        }
        let at = count(self.list.len());
        if record.n_sources == 0 {
            record.first_source = at;
            record.first_turn = turn;
        } else {
            self.index.insert(pair_hash(item, turn, range), at);
        }
        let previous_in_item = std::mem::replace(&mut record.last_source, at);
        record.n_sources += 1;
        let given = self.turns.value_mut(turn);
        let previous_in_turn = std::mem::replace(&mut given.last, at);
        given.n += 1;
        let range_at = range.map_or(0, |range| {
            self.ranges.push(range);
            count(self.ranges.len())
        });
        self.list.push(SourceRecord { seq, item, turn, range: range_at, previous_in_item, previous_in_turn });
        true
    }

    fn has(&self, item: ItemId, record: &ItemRecord, turn: u32, range: Option<(u64, u64)>) -> bool {
        let is_it = |source: &SourceRecord| source.turn == turn && self.range(source) == range;
        if record.n_sources == 0 {
            return false;
        }
        let is_indexed = self.index.find(pair_hash(item, turn, range), |at| {
            let source = &self.list[at as usize];
            source.item == item && is_it(source)
        });
        // The first source is fetched only if its turn matches.
        is_indexed.is_some() || (record.first_turn == turn && is_it(&self.list[record.first_source as usize]))
    }

    pub(crate) fn mark(&self) -> SourceIndexMark {
        SourceIndexMark { list: self.list.len(), ranges: self.ranges.len() }
    }

    /// Removes every source added since `mark`. The caller restores the records of the items.
    pub(crate) fn truncate_to(&mut self, mark: SourceIndexMark) {
        while self.list.len() > mark.list {
            let at = count(self.list.len() - 1);
            let source = self.list[at as usize];
            self.index.remove(pair_hash(source.item, source.turn, self.range(&source)), at);
            self.list.pop();
            let given = self.turns.value_mut(source.turn);
            given.last = source.previous_in_turn;
            given.n -= 1;
        }
        self.ranges.truncate(mark.ranges);
    }
}

fn pair_hash(item: ItemId, turn: u32, range: Option<(u64, u64)>) -> u64 {
    let (start, end) = range.unwrap_or((0, 0));
    let mut bytes = [0; 24];
    bytes[..4].copy_from_slice(&count(item.at()).to_le_bytes());
    bytes[4..8].copy_from_slice(&turn.to_le_bytes());
    bytes[8..16].copy_from_slice(&start.to_le_bytes());
    bytes[16..].copy_from_slice(&end.to_le_bytes());
    hash_of(&bytes)
}
