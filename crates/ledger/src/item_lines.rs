//! Renders items as single Markdown lines, the form shared by context export and projections.

use crate::item_record::ItemId;
use crate::ledger::Ledger;
use crate::vocabulary::{ConfidenceLevel, ItemKind, ItemStatus};

/// The section of a line, declared in the order of the sections in a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ContextSection {
    HardConstraints,
    Contradictions,
    Constraints,
    Decisions,
    Goals,
    OpenTasks,
    Facts,
    OpenQuestions,
    NoLongerInForce,
}

impl ContextSection {
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::HardConstraints => "Hard constraints",
            Self::Contradictions => "Contradictions",
            Self::Constraints => "Constraints",
            Self::Decisions => "Decisions",
            Self::Goals => "Goals",
            Self::OpenTasks => "Open tasks",
            Self::Facts => "Facts",
            Self::OpenQuestions => "Open questions",
            Self::NoLongerInForce => "No longer in force",
        }
    }
}

impl Ledger {
    pub(crate) fn section(&self, item: ItemId) -> ContextSection {
        let record = self.record(item);
        match record.kind {
            _ if !record.status.is_live() => ContextSection::NoLongerInForce,
            ItemKind::Constraint if record.hardened.is_some() => ContextSection::HardConstraints,
            ItemKind::Constraint => ContextSection::Constraints,
            ItemKind::Decision => ContextSection::Decisions,
            ItemKind::Goal => ContextSection::Goals,
            ItemKind::Task => ContextSection::OpenTasks,
            ItemKind::Fact => ContextSection::Facts,
            // A promoted hypothesis is believed, so it is listed with the facts.
            ItemKind::Hypothesis if record.status == ItemStatus::Active => ContextSection::Facts,
            ItemKind::Hypothesis | ItemKind::Branch => ContextSection::OpenQuestions,
        }
    }

    /// Renders `- [handle] summary (remarks)`.
    pub(crate) fn item_line(&self, item: ItemId) -> String {
        let record = self.record(item);
        let remark =
            if record.status.is_live() { self.live_remark(item) } else { Some(self.final_remark(item)) };
        let remark = remark.map(|remark| format!(" ({remark})")).unwrap_or_default();
        format!("- [{}] {}{remark}", one_line(self.handle(item)), one_line(self.summary(item)))
    }

    fn live_remark(&self, item: ItemId) -> Option<String> {
        let record = self.record(item);
        let tier = match record.confidence {
            ConfidenceLevel::High => None,
            ConfidenceLevel::Certain if record.hardened.is_some() => None,
            tier => Some(tier.as_str()),
        };
        match record.kind {
            ItemKind::Branch => Some("not decided".to_owned()),
            ItemKind::Hypothesis if record.status == ItemStatus::Tentative => {
                Some(tier.map_or("hypothesis".to_owned(), |tier| format!("hypothesis, {tier}")))
            }
            _ => tier.map(str::to_owned),
        }
    }

    fn final_remark(&self, item: ItemId) -> String {
        let record = self.record(item);
        let note = record.note.map(|note| one_line(self.texts.get(note.get() - 1)));
        let by = record.superseded_by.map(|by| one_line(self.handle(by)));
        let word = match (record.kind, record.status) {
            (ItemKind::Task | ItemKind::Goal, ItemStatus::Resolved) => "closed",
            (ItemKind::Branch, ItemStatus::Resolved) => "decided",
            _ => "superseded",
        };
        match (by, note) {
            (Some(by), Some(note)) => format!("{word}: {note}; see [{by}]"),
            (Some(by), None) => format!("{word}; see [{by}]"),
            (None, Some(note)) => format!("{word}: {note}"),
            (None, None) => word.to_owned(),
        }
    }

    pub(crate) fn contradiction_line(&self, older: ItemId, newer: ItemId) -> String {
        let says = |item| format!("[{}] {}", one_line(self.handle(item)), one_line(self.summary(item)));
        format!("- {} / {}", says(older), says(newer))
    }
}

/// Collapses line breaks and repeated spaces.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
