//! An item that a claim may be about, as the resolver sees it.

use crate::item_record::ItemId;
use crate::ledger::Ledger;
use crate::vocabulary::{ItemKind, ItemStatus};
use probity_prose::stems::stems;
use std::collections::BTreeSet;

/// An item that a claim may be about. The newest comes last.
pub(super) struct KnownItem {
    pub(super) handle: String,
    pub(super) kind: ItemKind,
    pub(super) status: ItemStatus,
    pub(super) summary: String,
    pub(super) stems: BTreeSet<String>,
    pub(super) alternatives: Vec<String>,
    pub(super) is_revised: bool,
    /// This turn added it.
    pub(super) is_new: bool,
}

impl KnownItem {
    pub(super) fn of(ledger: &Ledger, item: ItemId) -> Self {
        let record = ledger.record(item);
        // A task that was reopened cannot be reopened again.
        let is_spent = record.superseded_by.is_some();
        Self {
            handle: ledger.handle(item).to_owned(),
            kind: record.kind,
            status: if is_spent { ItemStatus::Superseded } else { record.status },
            summary: ledger.summary(item).to_owned(),
            stems: stems(ledger.summary(item)),
            alternatives: ledger.alternatives(item).map(str::to_owned).collect(),
            is_revised: ledger.version(item).seq != record.created,
            is_new: false,
        }
    }

    pub(super) fn is_live(&self) -> bool {
        self.status.is_live()
    }

    /// Returns the turn that the rules took the item from: the front part of its handle.
    pub(super) fn turn(&self) -> &str {
        self.handle.rsplit_once('.').map_or("", |(turn, _)| turn)
    }

    pub(super) fn is_of(&self, turn: &str) -> bool {
        self.turn() == turn
    }

    pub(super) fn is_live_constraint(&self) -> bool {
        self.kind == ItemKind::Constraint && self.is_live()
    }

    pub(super) fn reword(&mut self, summary: &str) {
        summary.clone_into(&mut self.summary);
        self.stems = stems(summary);
        self.is_revised = true;
    }
}
