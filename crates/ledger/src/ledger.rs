//! The state of a ledger, and the primitives that change it.
//!
//! Nothing outside this file writes to the state. Each primitive keeps the indexes consistent and, while a journal is
//! open, records how to undo itself; appends need no record because they are truncated. An aborted batch and a
//! rehearsal therefore leave the state exactly as it was.

use crate::conflicts::ConflictIndex;
use crate::identity::StatementKey;
use crate::item_record::{InputEntry, ItemId, ItemRecord, LedgerSeq, VersionRecord};
use crate::name_table::{NameTable, count};
use crate::outcome::CandidateVerdict;
use crate::policy::ConstraintPolicy;
use crate::scoreboard::VerdictTally;
use crate::sources::{KnownSource, SourceIndex, SourceIndexMark};
use crate::statements::StatementIndex;
use crate::vocabulary::{ConfidenceLevel, ItemStatus, RevisionMode};
use probity_collections::StringArena;
use probity_core::Digest;
use probity_prose::normal_form::Normalizer;
use std::collections::BTreeMap;
use std::num::NonZeroU32;

/// The reconciled state of what agents know and have decided.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    pub(crate) policy: ConstraintPolicy,
    pub(crate) sources: SourceIndex,
    pub(crate) items: Vec<ItemRecord>,
    pub(crate) versions: Vec<VersionRecord>,
    pub(crate) texts: StringArena,
    /// Every handle with the item that it names.
    pub(crate) handles: NameTable<ItemId>,
    /// The handles of items besides their first, and the inputs that added them.
    pub(crate) aliases: BTreeMap<(ItemId, u32), LedgerSeq>,
    /// Every key of a delta that took effect, with that delta.
    pub(crate) keys: NameTable<DeliveredDelta>,
    pub(crate) extras: BTreeMap<ItemId, ItemExtra>,
    pub(crate) statements: StatementIndex,
    pub(crate) conflicts: ConflictIndex,
    pub(crate) entries: Vec<InputEntry>,
    pub(crate) authors: NameTable<VerdictTally>,
    pub(crate) normalizer: Normalizer,
    journal: Option<Vec<UndoStep>>,
}

/// A delta that took effect under a key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DeliveredDelta {
    pub(crate) fingerprint: Digest,
    pub(crate) item: ItemId,
}

/// Data that only a few items have.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ItemExtra {
    /// The alternatives of a branch: `n` texts, starting at `first`.
    Alternatives { first: u32, n: u32 },
    /// Why the task was reopened as this one.
    Reopened { reason: u32 },
}

/// Undoes one change.
#[derive(Debug, Clone)]
enum UndoStep {
    Record(ItemId, Box<ItemRecord>),
    Listed(ItemId),
    Unlisted(ItemId),
    Settled(u32),
}

/// The list lengths to truncate to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RollbackMark {
    sources: SourceIndexMark,
    items: usize,
    versions: usize,
    texts: usize,
    handles: u32,
    keys: u32,
    conflicts: usize,
}

impl Ledger {
    /// Returns an empty ledger with the open policy.
    pub fn new() -> Self {
        Self::default()
    }

    pub fn with_policy(policy: ConstraintPolicy) -> Self {
        Self { policy, ..Self::default() }
    }

    /// Registers a turn, so that candidates may name it as their source. A blank id is ignored.
    pub fn add_turn(&mut self, turn: &str) {
        if !crate::candidate::is_blank(turn) {
            self.sources.add_turn(turn);
        }
    }

    pub fn knows_turn(&self, turn: &str) -> bool {
        self.sources.turns.find(turn).is_some()
    }

    pub const fn policy(&self) -> &ConstraintPolicy {
        &self.policy
    }

    /// Sets the policy for future inputs.
    pub fn set_policy(&mut self, policy: ConstraintPolicy) {
        self.policy = policy;
    }

    /// Returns the position of the last input.
    pub fn head(&self) -> LedgerSeq {
        LedgerSeq(count(self.entries.len()))
    }

    pub(crate) fn record(&self, item: ItemId) -> &ItemRecord {
        &self.items[item.at()]
    }

    pub(crate) fn find_by_handle(&self, handle: &str) -> Option<ItemId> {
        self.handles.find(handle).map(|at| *self.handles.value(at))
    }

    pub(crate) fn version(&self, item: ItemId) -> &VersionRecord {
        &self.versions[self.record(item).last_version as usize]
    }

    pub(crate) fn summary(&self, item: ItemId) -> &str {
        self.texts.get(self.version(item).text)
    }

    // Primitives. Each leaves the state consistent.

    /// Adds an item without sources.
    pub(crate) fn add_item(&mut self, new: &NewItem<'_>, seq: LedgerSeq) -> ItemId {
        let item = ItemId::new(count(self.items.len()));
        let version = count(self.versions.len());
        let text = self.texts.push(new.summary);
        self.versions.push(VersionRecord { seq, text, previous: 0, confidence: new.confidence, mode: None });
        self.items.push(ItemRecord {
            meaning: new.meaning,
            handle: self.handles.len(),
            created: seq,
            last_version: version,
            last_source: 0,
            n_sources: 0,
            first_source: 0,
            first_turn: 0,
            superseded_by: None,
            first_superseded: None,
            last_superseded: None,
            next_superseded: None,
            last_seq: seq,
            promoted: None,
            hardened: NonZeroU32::new(seq.0).filter(|_| new.hard),
            ended: None,
            note: None,
            kind: new.kind,
            status: new.status,
            confidence: new.confidence,
        });
        self.handles.add(new.handle, item);
        self.index_statement(item);
        self.raise_conflicts(item, seq);
        item
    }

    pub(crate) fn add_alias(&mut self, handle: &str, item: ItemId, seq: LedgerSeq) {
        let alias = self.handles.add(handle, item);
        self.aliases.insert((item, alias), seq);
    }

    pub(crate) fn remember_key(&mut self, key: &str, delivered: DeliveredDelta) {
        self.keys.add(key, delivered);
    }

    /// Adds sources and returns whether at least one of them is new.
    pub(crate) fn add_sources(&mut self, item: ItemId, sources: &[KnownSource], seq: LedgerSeq) -> bool {
        self.note_record(item);
        let record = &mut self.items[item.at()];
        let mut has_news = false;
        for &source in sources {
            has_news |= self.sources.add(item, record, source, seq);
        }
        if has_news {
            record.last_seq = seq;
        }
        has_news
    }

    pub(crate) fn reword(&mut self, item: ItemId, new: &ItemRewording<'_>, seq: LedgerSeq) {
        let text = self.texts.push(new.summary);
        self.add_version(
            item,
            VersionRecord { seq, text, previous: 0, confidence: new.confidence, mode: new.mode },
        );
        if self.record(item).meaning == new.meaning {
            return;
        }
        self.unindex_statement(item);
        self.settle_conflicts(item, seq);
        // Recorded between the two index changes: each must be undone under the meaning it was made with.
        self.note_record(item);
        self.items[item.at()].meaning = new.meaning;
        self.index_statement(item);
        self.raise_conflicts(item, seq);
    }

    pub(crate) fn set_confidence(&mut self, item: ItemId, confidence: ConfidenceLevel, seq: LedgerSeq) {
        let VersionRecord { text, .. } = *self.version(item);
        self.add_version(item, VersionRecord { seq, text, previous: 0, confidence, mode: None });
    }

    fn add_version(&mut self, item: ItemId, mut version: VersionRecord) {
        self.note_record(item);
        let at = count(self.versions.len());
        let record = &mut self.items[item.at()];
        version.previous = record.last_version;
        record.last_version = at;
        record.confidence = version.confidence;
        record.last_seq = version.seq;
        self.versions.push(version);
    }

    pub(crate) fn harden(&mut self, item: ItemId, seq: LedgerSeq) {
        self.note_record(item);
        let record = &mut self.items[item.at()];
        record.hardened = NonZeroU32::new(seq.0);
        record.last_seq = seq;
    }

    pub(crate) fn promote(&mut self, item: ItemId, seq: LedgerSeq) {
        self.set_status(item, ItemStatus::Active, seq);
        self.items[item.at()].promoted = NonZeroU32::new(seq.0);
        self.raise_conflicts(item, seq);
    }

    /// Ends an item as superseded or resolved, for the reason in `note`.
    pub(crate) fn close_item(
        &mut self,
        item: ItemId,
        status: ItemStatus,
        note: Option<&str>,
        seq: LedgerSeq,
    ) {
        self.set_status(item, status, seq);
        let note = note.and_then(|note| NonZeroU32::new(self.texts.push(note) + 1));
        let record = &mut self.items[item.at()];
        record.ended = NonZeroU32::new(seq.0);
        record.note = note;
        self.unindex_statement(item);
        self.settle_conflicts(item, seq);
    }

    fn set_status(&mut self, item: ItemId, status: ItemStatus, seq: LedgerSeq) {
        self.note_record(item);
        let record = &mut self.items[item.at()];
        assert!(
            record.status.may_become(status),
            "the reconciler checks every transition before it makes one"
        );
        record.status = status;
        record.last_seq = seq;
    }

    pub(crate) fn link_successor(&mut self, old: ItemId, new: ItemId, seq: LedgerSeq) {
        self.note_record(old);
        self.note_record(new);
        let last = self.record(new).last_superseded;
        match last {
            None => self.items[new.at()].first_superseded = Some(old),
            Some(last) => {
                self.note_record(last);
                self.items[last.at()].next_superseded = Some(old);
            }
        }
        self.items[new.at()].last_superseded = Some(old);
        self.items[new.at()].last_seq = seq;
        self.items[old.at()].superseded_by = Some(new);
        self.items[old.at()].last_seq = seq;
    }

    pub(crate) fn add_alternatives(&mut self, item: ItemId, alternatives: &[&str]) {
        let first = count(self.texts.len());
        for alternative in alternatives {
            self.texts.push(alternative);
        }
        self.extras.insert(item, ItemExtra::Alternatives { first, n: count(alternatives.len()) });
    }

    pub(crate) fn add_reopening(&mut self, item: ItemId, reason: &str) {
        let reason = self.texts.push(reason);
        self.extras.insert(item, ItemExtra::Reopened { reason });
    }

    pub(crate) fn log(&mut self, author: u32, entry: InputEntry) {
        self.authors.value_mut(author).count(entry.verdict);
        self.entries.push(entry);
    }

    pub(crate) fn author(&mut self, author: &str) -> u32 {
        self.authors.find(author).unwrap_or_else(|| self.authors.add(author, VerdictTally::default()))
    }

    fn index_statement(&mut self, item: ItemId) {
        self.note(UndoStep::Listed(item));
        self.statements.list(item, &self.items);
    }

    fn unindex_statement(&mut self, item: ItemId) {
        self.note(UndoStep::Unlisted(item));
        self.statements.unlist(item, &self.items);
    }

    fn raise_conflicts(&mut self, item: ItemId, seq: LedgerSeq) {
        let &ItemRecord { meaning, status, .. } = self.record(item);
        if status != ItemStatus::Active {
            return;
        }
        for other in self.statements.opposites(meaning, &self.items) {
            if self.record(other).status == ItemStatus::Active && !self.conflicts.has_open(other, item) {
                self.conflicts.raise(other, item, seq);
            }
        }
    }

    fn settle_conflicts(&mut self, item: ItemId, seq: LedgerSeq) {
        for at in self.conflicts.open_of(item) {
            self.note(UndoStep::Settled(at));
            self.conflicts.settle(at, seq);
        }
    }

    // The journal.

    /// Starts recording undo steps.
    pub(crate) fn open_journal(&mut self) -> RollbackMark {
        self.journal = Some(Vec::new());
        RollbackMark {
            sources: self.sources.mark(),
            items: self.items.len(),
            versions: self.versions.len(),
            texts: self.texts.len(),
            handles: self.handles.len(),
            keys: self.keys.len(),
            conflicts: self.conflicts.list().len(),
        }
    }

    /// Commits the recorded changes.
    pub(crate) fn close_journal(&mut self) {
        self.journal = None;
    }

    /// Undoes everything since the journal was opened.
    pub(crate) fn roll_back(&mut self, mark: RollbackMark) {
        for undo in self.journal.take().unwrap_or_default().into_iter().rev() {
            match undo {
                UndoStep::Record(item, record) => self.items[item.at()] = *record,
                UndoStep::Listed(item) => self.statements.unlist(item, &self.items),
                UndoStep::Unlisted(item) => self.statements.list(item, &self.items),
                UndoStep::Settled(at) => self.conflicts.reopen(at),
            }
        }
        self.sources.truncate_to(mark.sources);
        self.extras.split_off(&ItemId::new(count(mark.items)));
        self.items.truncate(mark.items);
        self.versions.truncate(mark.versions);
        self.texts.truncate(mark.texts);
        for alias in mark.handles..self.handles.len() {
            self.aliases.remove(&(*self.handles.value(alias), alias));
        }
        self.handles.truncate(mark.handles);
        self.keys.truncate(mark.keys);
        self.conflicts.truncate(mark.conflicts);
    }

    fn note(&mut self, undo: UndoStep) {
        if let Some(journal) = &mut self.journal {
            journal.push(undo);
        }
    }

    fn note_record(&mut self, item: ItemId) {
        if self.journal.is_some() {
            self.note(UndoStep::Record(item, Box::new(*self.record(item))));
        }
    }
}

#[derive(Debug)]
pub(crate) struct NewItem<'a> {
    pub(crate) kind: crate::vocabulary::ItemKind,
    pub(crate) status: ItemStatus,
    pub(crate) handle: &'a str,
    pub(crate) summary: &'a str,
    pub(crate) meaning: StatementKey,
    pub(crate) confidence: ConfidenceLevel,
    pub(crate) hard: bool,
}

#[derive(Debug)]
pub(crate) struct ItemRewording<'a> {
    pub(crate) summary: &'a str,
    pub(crate) meaning: StatementKey,
    pub(crate) confidence: ConfidenceLevel,
    pub(crate) mode: Option<RevisionMode>,
}

impl InputEntry {
    /// Returns whether the input was accepted or merged.
    pub(crate) fn took_effect(&self) -> bool {
        matches!(self.verdict, CandidateVerdict::Accepted | CandidateVerdict::Merged(_))
    }
}
