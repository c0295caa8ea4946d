//! Markdown projections of the ledger, for people. They are written and never read back.

use crate::item_lines::ContextSection;
use crate::item_record::ItemId;
use crate::ledger::Ledger;
use crate::vocabulary::ItemKind;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LedgerProjection {
    /// Every live item.
    State,
    /// Decisions, including replaced ones.
    Decisions,
    /// Tasks, open and closed.
    Tasks,
    /// Constraints, hard ones first, including withdrawn ones.
    Constraints,
}

impl Ledger {
    pub fn markdown(&self, projection: LedgerProjection) -> String {
        let mut page = String::new();
        match projection {
            LedgerProjection::State => self.write_state(&mut page),
            LedgerProjection::Decisions => {
                self.write_kind(&mut page, "Decisions", ItemKind::Decision, "Superseded");
            }
            LedgerProjection::Tasks => self.write_kind(&mut page, "Tasks", ItemKind::Task, "Closed"),
            LedgerProjection::Constraints => {
                self.write_kind(&mut page, "Constraints", ItemKind::Constraint, "Superseded");
            }
        }
        page
    }

    fn write_state(&self, page: &mut String) {
        page.push_str("# State\n");
        let sections = [
            ContextSection::Goals,
            ContextSection::HardConstraints,
            ContextSection::Constraints,
            ContextSection::Decisions,
            ContextSection::OpenTasks,
            ContextSection::Facts,
            ContextSection::OpenQuestions,
        ];
        for section in sections {
            let items = self.ids().filter(|&item| self.section(item) == section);
            self.write_section(page, section.title(), items);
        }
        let conflicts = self.open_conflicts();
        let mut lines =
            conflicts.map(|conflict| self.contradiction_line(conflict.older, conflict.newer)).peekable();
        if lines.peek().is_some() {
            write_lines(page, ContextSection::Contradictions.title(), lines);
        }
    }

    fn write_kind(&self, page: &mut String, title: &str, kind: ItemKind, past: &str) {
        page.push_str("# ");
        page.push_str(title);
        page.push('\n');
        let of_kind = |item: &ItemId| self.record(*item).kind == kind;
        let is_live = |item: &ItemId| self.record(*item).status.is_live();
        if kind == ItemKind::Constraint {
            let is_hard = |item: &ItemId| self.section(*item) == ContextSection::HardConstraints;
            self.write_section(page, "Hard", self.ids().filter(is_hard));
            self.write_section(
                page,
                "Soft",
                self.ids().filter(|item| self.section(*item) == ContextSection::Constraints),
            );
        } else {
            let now = if kind == ItemKind::Task { "Open" } else { "Active" };
            self.write_section(page, now, self.ids().filter(of_kind).filter(is_live));
        }
        self.write_section(page, past, self.ids().filter(of_kind).filter(|item| !is_live(item)));
    }

    fn write_section(&self, page: &mut String, title: &str, items: impl Iterator<Item = ItemId>) {
        let mut lines = items.map(|item| self.item_line(item)).peekable();
        if lines.peek().is_some() {
            write_lines(page, title, lines);
        }
    }
}

fn write_lines(page: &mut String, title: &str, lines: impl Iterator<Item = String>) {
    page.push_str("\n## ");
    page.push_str(title);
    page.push_str("\n\n");
    for line in lines {
        page.push_str(&line);
        page.push('\n');
    }
}
