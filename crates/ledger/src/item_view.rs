//! Read-only views of items, at the head or as of any earlier position.
//!
//! There is one way to view an item, and it takes a position: the present is the position of the head.

use crate::item_record::{ItemId, ItemRecord, LedgerSeq, VersionRecord};
use crate::ledger::{ItemExtra, Ledger};
use crate::sources::SourceRecord;
use crate::vocabulary::{ConfidenceLevel, ItemKind, ItemStatus, RevisionMode};
use serde::Serialize;
use std::num::NonZeroU32;

/// An item as of a position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ItemView<'a> {
    /// The id that the ledger assigned: the kind and the position of the creation.
    pub id: String,
    pub handle: &'a str,
    pub kind: ItemKind,
    pub status: ItemStatus,
    pub summary: &'a str,
    pub confidence: ConfidenceLevel,
    pub hard: bool,
    /// In order of arrival.
    pub sources: Vec<SourceView<'a>>,
    /// Handles of the items it replaces, in order of linking.
    pub supersedes: Vec<&'a str>,
    /// The handle of the item that replaced it.
    pub superseded_by: Option<&'a str>,
    /// The last input that changed anything about it.
    pub last_seq: LedgerSeq,
    /// Every wording, oldest first.
    pub versions: Vec<VersionView<'a>>,
    /// The resolution or reason that ended it.
    pub note: Option<&'a str>,
    pub alternatives: Vec<&'a str>,
    pub reopened_because: Option<&'a str>,
}

/// A source, and the input that added it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SourceView<'a> {
    pub turn: &'a str,
    pub range: Option<(u64, u64)>,
    pub seq: LedgerSeq,
    pub author: &'a str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct VersionView<'a> {
    pub seq: LedgerSeq,
    pub summary: &'a str,
    pub confidence: ConfidenceLevel,
    /// How a constraint was revised.
    pub mode: Option<RevisionMode>,
    pub author: &'a str,
}

impl Ledger {
    pub fn item(&self, item: ItemId) -> Option<ItemView<'_>> {
        self.item_at(item, self.head())
    }

    /// Returns all items at the head, in order of creation.
    pub fn items(&self) -> impl Iterator<Item = ItemView<'_>> {
        self.ids().filter_map(|item| self.item(item))
    }

    /// Returns the ids of all items, in order of creation.
    pub fn ids(&self) -> impl Iterator<Item = ItemId> + use<> {
        (0..self.items.len()).map(|at| ItemId::new(crate::name_table::count(at)))
    }

    /// Returns the first handle of an item; empty for an item of another ledger.
    pub fn handle(&self, item: ItemId) -> &str {
        self.items.get(item.at()).map_or("", |record| self.handles.name(record.handle))
    }

    /// Returns the id that the ledger assigned to an item: the kind and the position of the creation.
    pub fn assigned_id(&self, item: ItemId) -> Option<String> {
        self.items.get(item.at()).map(assigned_id)
    }

    /// Finds an item by handle or assigned id.
    pub fn find(&self, name: &str) -> Option<ItemId> {
        self.find_by_handle(name).or_else(|| self.find_minted(name))
    }

    fn find_minted(&self, name: &str) -> Option<ItemId> {
        let (kind, seq) = name.rsplit_once('-')?;
        let kind = kind.parse::<ItemKind>().ok()?;
        let created: u32 = seq.parse().ok()?;
        let at = self.items.partition_point(|record| record.created.0 < created);
        let record = self.items.get(at)?;
        let is_it = record.kind == kind && record.created.0 == created;
        is_it.then(|| ItemId::new(crate::name_table::count(at)))
    }

    /// Returns an item as of position `at`; `None` if it did not exist yet.
    pub(crate) fn item_at(&self, item: ItemId, at: LedgerSeq) -> Option<ItemView<'_>> {
        let record = self.items.get(item.at()).filter(|record| record.created <= at)?;
        let versions: Vec<_> =
            self.versions_of(record).into_iter().map(|version| self.version_view(version)).collect();
        let versions: Vec<_> = versions.into_iter().take_while(|version| version.seq <= at).collect();
        let sources: Vec<_> =
            self.sources_of(record).into_iter().take_while(|source| source.seq <= at).collect();
        let supersedes: Vec<_> = self.superseded_by_item(record, at).collect();
        let status = status_at(record, at);
        let latest = versions.last()?;
        Some(ItemView {
            id: assigned_id(record),
            handle: self.handles.name(record.handle),
            kind: record.kind,
            status,
            summary: latest.summary,
            confidence: latest.confidence,
            hard: is_past(record.hardened, at),
            supersedes: supersedes.iter().map(|&old| self.handle(old)).collect(),
            superseded_by: self.successor_at(record, at).map(|new| self.handle(new)),
            last_seq: self.last_seq_at(record, at, latest.seq, sources.last().map(|s| s.seq), &supersedes),
            sources,
            versions,
            note: record.note.filter(|_| !status.is_live()).map(|note| self.texts.get(note.get() - 1)),
            alternatives: self.alternatives(item).collect(),
            reopened_because: match self.extras.get(&item) {
                Some(&ItemExtra::Reopened { reason }) => Some(self.texts.get(reason)),
                _ => None,
            },
        })
    }

    pub(crate) fn author_of(&self, seq: LedgerSeq) -> &str {
        let entry = (seq.0 as usize).checked_sub(1).and_then(|at| self.entries.get(at));
        entry.map_or("", |entry| self.authors.name(entry.author))
    }

    /// Returns the versions of an item, oldest first.
    fn versions_of(&self, record: &ItemRecord) -> Vec<&VersionRecord> {
        let newest = &self.versions[record.last_version as usize];
        let older = |version: &&VersionRecord| {
            (version.seq != record.created).then(|| &self.versions[version.previous as usize])
        };
        let mut versions: Vec<_> = std::iter::successors(Some(newest), older).collect();
        versions.reverse();
        versions
    }

    fn version_view(&self, version: &VersionRecord) -> VersionView<'_> {
        let &VersionRecord { seq, text, confidence, mode, .. } = version;
        VersionView { seq, summary: self.texts.get(text), confidence, mode, author: self.author_of(seq) }
    }

    /// Returns the sources of an item, in order of arrival.
    fn sources_of(&self, record: &ItemRecord) -> Vec<SourceView<'_>> {
        let view = |source: &SourceRecord| SourceView {
            turn: self.sources.turns.name(source.turn),
            range: self.sources.range(source),
            seq: source.seq,
            author: self.author_of(source.seq),
        };
        let mut sources: Vec<_> = self.sources.of_item(record).map(view).collect();
        sources.reverse();
        sources
    }

    /// Returns the items that an item supersedes, in order of linking.
    fn superseded_by_item(&self, record: &ItemRecord, at: LedgerSeq) -> impl Iterator<Item = ItemId> {
        let mut next = record.first_superseded;
        let last = record.last_superseded;
        let all = std::iter::from_fn(move || {
            let item = next?;
            next = if Some(item) == last { None } else { self.record(item).next_superseded };
            Some(item)
        });
        all.take_while(move |&old| self.linked_at(self.record(old)).is_some_and(|seq| seq <= at))
    }

    fn successor_at(&self, record: &ItemRecord, at: LedgerSeq) -> Option<ItemId> {
        record.superseded_by.filter(|_| self.linked_at(record).is_some_and(|seq| seq <= at))
    }

    /// Returns when an item was linked to its successor: when it ended or, if it had ended before, when the successor
    /// was created.
    fn linked_at(&self, record: &ItemRecord) -> Option<LedgerSeq> {
        let created = self.record(record.superseded_by?).created;
        Some(created.max(LedgerSeq(record.ended?.get())))
    }

    fn last_seq_at(
        &self,
        record: &ItemRecord,
        at: LedgerSeq,
        version: LedgerSeq,
        source: Option<LedgerSeq>,
        supersedes: &[ItemId],
    ) -> LedgerSeq {
        if record.last_seq <= at {
            return record.last_seq;
        }
        let marks = [record.promoted, record.hardened, record.ended]
            .into_iter()
            .flatten()
            .map(|seq| LedgerSeq(seq.get()));
        let links = supersedes.iter().filter_map(|&old| self.linked_at(self.record(old)));
        let own_link = self.linked_at(record);
        let all = marks.chain(links).chain(own_link).chain(source).filter(|&seq| seq <= at);
        all.fold(version, LedgerSeq::max)
    }
}

fn assigned_id(record: &ItemRecord) -> String {
    format!("{}-{}", record.kind, record.created)
}

fn is_past(seq: Option<NonZeroU32>, at: LedgerSeq) -> bool {
    seq.is_some_and(|seq| seq.get() <= at.0)
}

fn status_at(record: &ItemRecord, at: LedgerSeq) -> ItemStatus {
    let is_promotable = matches!(record.kind, ItemKind::Hypothesis | ItemKind::Branch);
    match () {
        () if is_past(record.ended, at) => record.status,
        () if is_promotable && !is_past(record.promoted, at) => ItemStatus::Tentative,
        () => ItemStatus::Active,
    }
}
