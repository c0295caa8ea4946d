//! Queries on the ledger, answered from its indexes.
//!
//! `changed_since(n)` reads only the inputs after `n`. `as_of(n)` reads every list up to `n`. `explain` follows the
//! chains of one item, `supported_by` those of one turn.

use crate::conflicts::ItemConflict;
use crate::item_record::{ItemId, LedgerSeq};
use crate::item_view::ItemView;
use crate::ledger::Ledger;
use crate::name_table::count;
use crate::outcome::CandidateVerdict;
use crate::scoreboard::AuthorScore;
use crate::vocabulary::DeltaKind;
use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PositionError {
    #[error("position {asked} is ahead of the head, {head}")]
    Ahead { asked: i64, head: LedgerSeq },
    /// Positions count from zero, which is before the first input.
    #[error("{asked} is no position")]
    Invalid { asked: i64 },
}

probity_core::code_enum! {
    pub enum PositionCode {
        Ahead = "position_ahead",
            "the position is after the last input of the ledger",
            "`probity ledger log` shows the last position";
        Invalid = "invalid_position",
            "positions count from zero",
            "give a number that is not negative";
    }
}

impl PositionError {
    pub const fn code(self) -> PositionCode {
        match self {
            Self::Ahead { .. } => PositionCode::Ahead,
            Self::Invalid { .. } => PositionCode::Invalid,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogEntry<'a> {
    pub seq: LedgerSeq,
    pub author: &'a str,
    /// `None` for an unknown kind.
    pub kind: Option<DeltaKind>,
    pub verdict: CandidateVerdict,
    pub item: Option<ItemId>,
}

/// Where an item comes from, and what replaced or contradicts it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExplanationView<'a> {
    pub item: ItemView<'a>,
    /// All its handles, the first one first.
    pub handles: Vec<&'a str>,
    /// Handles of its successors, in order up to the last.
    pub replaced_by: Vec<&'a str>,
    /// Handles of the items it is in open conflict with.
    pub contradicts: Vec<&'a str>,
}

impl Ledger {
    /// Returns one score per author, in the order of their first input.
    pub fn scoreboard(&self) -> Vec<AuthorScore> {
        self.authors.iter().map(|(author, tally)| AuthorScore::of(author, tally)).collect()
    }

    /// Validates a position from outside.
    pub fn position(&self, asked: i64) -> Result<LedgerSeq, PositionError> {
        let seq = u64::try_from(asked).map_err(|_| PositionError::Invalid { asked })?;
        match u32::try_from(seq) {
            Ok(seq) if LedgerSeq(seq) <= self.head() => Ok(LedgerSeq(seq)),
            _ => Err(PositionError::Ahead { asked, head: self.head() }),
        }
    }

    /// Returns the items whose last change came after `since`, ordered by that change, then by handle.
    pub fn changed_since(&self, since: LedgerSeq) -> Vec<ItemId> {
        let mut changed = Vec::new();
        for (at, entry) in self.entries.iter().enumerate().skip(since.0 as usize) {
            let seq = LedgerSeq(count(at + 1));
            let mut touched: Vec<_> = [entry.item, entry.other]
                .into_iter()
                .flatten()
                .filter(|&item| entry.took_effect() && self.record(item).last_seq == seq)
                .collect();
            touched.sort_by_key(|&item| self.handle(item));
            changed.append(&mut touched);
        }
        changed
    }

    /// Returns every item as of position `at`.
    pub fn as_of(&self, at: LedgerSeq) -> impl Iterator<Item = ItemView<'_>> {
        let n = self.items.partition_point(|record| record.created <= at);
        self.ids().take(n).filter_map(move |item| self.item_at(item, at))
    }

    pub fn entry(&self, seq: LedgerSeq) -> Option<LogEntry<'_>> {
        let entry = self.entries.get((seq.0 as usize).checked_sub(1)?)?;
        let author = self.authors.name(entry.author);
        Some(LogEntry { seq, author, kind: entry.kind, verdict: entry.verdict, item: entry.item })
    }

    pub fn entries_after(&self, since: LedgerSeq) -> impl Iterator<Item = LogEntry<'_>> {
        (since.0..self.head().0).filter_map(|at| self.entry(LedgerSeq(at + 1)))
    }

    /// Returns up to `n` live items, most recently touched first.
    pub fn recent_items(&self, n: usize) -> Vec<ItemId> {
        let mut seen = std::collections::BTreeSet::new();
        let touched = self.entries.iter().rev().flat_map(|entry| [entry.item, entry.other]).flatten();
        let new = touched.filter(|&item| self.record(item).status.is_live() && seen.insert(item));
        new.take(n).collect()
    }

    /// Returns every input that took effect on an item, in order.
    pub fn inputs_of(&self, item: ItemId) -> impl Iterator<Item = LogEntry<'_>> {
        let is_about = move |entry: &crate::item_record::InputEntry| {
            entry.took_effect() && (entry.item == Some(item) || entry.other == Some(item))
        };
        let touched = self.entries.iter().enumerate().filter(move |(_, entry)| is_about(entry));
        touched.filter_map(|(at, _)| self.entry(LedgerSeq(count(at + 1))))
    }

    pub fn explain(&self, item: ItemId) -> Option<ExplanationView<'_>> {
        let view = self.item(item)?;
        let aliases = self.aliases.range((item, 0)..=(item, u32::MAX)).map(|(&(_, alias), _)| alias);
        let handles = [self.record(item).handle].into_iter().chain(aliases);
        Some(ExplanationView {
            handles: handles.map(|at| self.handles.name(at)).collect(),
            replaced_by: self.successors(item).map(|new| self.handle(new)).collect(),
            contradicts: self.contradictions_of(item).map(|other| self.handle(other)).collect(),
            item: view,
        })
    }

    /// Returns the chain of items that replaced an item. Links never form a cycle: a successor is live or new when it
    /// is linked, and the items linked to it are final.
    pub fn successors(&self, item: ItemId) -> impl Iterator<Item = ItemId> {
        let next = |item: ItemId| self.items.get(item.at()).and_then(|record| record.superseded_by);
        std::iter::successors(next(item), move |&item| next(item))
    }

    /// Returns the items that a turn supports, in order of creation.
    pub fn supported_by(&self, turn: &str) -> Vec<ItemId> {
        let Some(turn) = self.sources.turns.find(turn) else {
            return Vec::new();
        };
        let mut items: Vec<_> = self.sources.of_turn(turn).map(|source| source.item).collect();
        items.sort_unstable();
        items.dedup();
        items
    }

    /// Returns all contradictions, including settled ones, in the order in which they arose.
    pub fn conflicts(&self) -> &[ItemConflict] {
        self.conflicts.list()
    }

    pub fn open_conflicts(&self) -> impl Iterator<Item = &ItemConflict> {
        self.conflicts().iter().filter(|conflict| conflict.settled.is_none())
    }

    /// Returns the items that an item is in open conflict with.
    pub fn contradictions_of(&self, item: ItemId) -> impl Iterator<Item = ItemId> {
        let list = self.conflicts.list();
        self.conflicts.open_of(item).into_iter().map(move |at| {
            let ItemConflict { older, newer, .. } = list[at as usize];
            if older == item { newer } else { older }
        })
    }
}
