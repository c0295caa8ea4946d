//! Which known items a claim withdraws: what it denies, takes back, or gives another value.

use super::{DraftDelta, KnownItem, TargetResolver, target_field};
use crate::extract::claims::TurnClaim;
use crate::extract::retraction::with_number;
use crate::vocabulary::{ItemKind, ItemStatus, RevisionMode};
use probity_prose::negation::denies;
use probity_prose::stems::stems;

impl TargetResolver {
    /// Returns the live item that a new prohibition ends: "no Windows support".
    pub(super) fn denied_by(&self, claim: &TurnClaim) -> Option<usize> {
        let (TurnClaim::Decision { summary, instead_of: None, .. } | TurnClaim::Constraint { summary, .. }) =
            claim
        else {
            return None;
        };
        if !denies(summary) {
            return None;
        }
        // A reason follows the pause.
        let core = summary.split([',', ';', ':']).next().unwrap_or(summary);
        let mut said = stems(core);
        said.retain(|stem| {
            !matches!(
                stem.as_str(),
                "today" | "yesterd" | "now" | "anymor" | "week" | "more" | "though" | "after"
            )
        });
        let is_meant = |known: &KnownItem| {
            let shared = known.stems.intersection(&said).count();
            let is_kind =
                matches!(known.kind, ItemKind::Goal | ItemKind::Decision | ItemKind::Task | ItemKind::Fact);
            is_kind
                && known.is_live()
                && !known.is_new
                && !denies(&known.summary)
                && shared > 0
                && (shared == said.len() || shared >= 2 && shared * 2 >= said.len().min(known.stems.len()))
        };
        self.known.iter().rposition(is_meant)
    }

    /// Returns the item of the turns before that a retraction is about: the one with words in common, else the last.
    pub(super) fn earlier_target(&self, about: &str) -> Option<usize> {
        let said = stems(about);
        let is_firm = |known: &KnownItem| {
            known.is_live() && !known.is_new && !matches!(known.kind, ItemKind::Hypothesis | ItemKind::Branch)
        };
        // A fact is only meant if it is named: nobody takes back an observation by deciding something.
        let shares = |known: &KnownItem| {
            let shared = known.stems.intersection(&said).count();
            let least =
                if known.kind == ItemKind::Fact { known.stems.len().min(said.len()).min(2) } else { 1 };
            is_firm(known) && shared >= least.max(1) && self.recent.iter().any(|id| known.is_of(id))
        };
        let is_will = |known: &KnownItem| is_firm(known) && known.kind != ItemKind::Fact;
        self.known.iter().rposition(shares).or_else(|| self.recent_item(is_will))
    }

    /// Withdraws what the turns before said about something: every item of them with the same words.
    pub(super) fn take_back(&mut self, about: &str) -> Vec<DraftDelta> {
        let Some(at) = self.earlier_target(about) else { return Vec::new() };
        let (meant, said) = (self.known[at].stems.clone(), stems(about));
        let mut withdrawn = vec![self.supersede(at, "taken back")];
        let is_same = |known: &KnownItem| {
            let shared = known.stems.intersection(&meant).filter(|stem| said.contains(*stem)).count();
            known.is_live()
                && !known.is_new
                && matches!(known.kind, ItemKind::Task | ItemKind::Decision)
                && shared > 0
                && shared * 2 >= known.stems.len().min(said.len()).min(2)
                && self.recent.iter().any(|id| known.is_of(id))
        };
        if let Some(other) = self.known.iter().rposition(is_same) {
            withdrawn.push(self.supersede(other, "taken back"));
        }
        withdrawn
    }

    /// Gives the newest statement with a number another one.
    pub(super) fn set_value(&mut self, value: &str) -> Option<DraftDelta> {
        let has_figure = |known: &KnownItem| known.summary.contains(|c: char| c.is_ascii_digit());
        let at = self.known.iter().rposition(|known| {
            known.is_live()
                && has_figure(known)
                && matches!(known.kind, ItemKind::Decision | ItemKind::Constraint | ItemKind::Task)
        })?;
        let summary = with_number(&self.known[at].summary, value)?;
        match self.known[at].kind {
            ItemKind::Decision => {
                self.known[at].reword(&summary);
                let target = target_field(&self.known[at].handle);
                Some(("decision_revised", vec![target, ("summary", summary.into())]))
            }
            ItemKind::Constraint => {
                self.known[at].reword(&summary);
                let target = target_field(&self.known[at].handle);
                let mode = RevisionMode::Amended.as_str();
                Some(("constraint_revised", vec![target, ("summary", summary.into()), ("mode", mode.into())]))
            }
            _ => Some(self.supersede(at, value)),
        }
    }

    pub(super) fn supersede(&mut self, at: usize, reason: &str) -> DraftDelta {
        let known = &mut self.known[at];
        known.status = ItemStatus::Superseded;
        (
            "item_superseded",
            vec![target_field(&known.handle), ("reason", format!("withdrawn: {reason}").into())],
        )
    }

    pub(super) fn withdraw(&mut self, about: &str) -> Option<DraftDelta> {
        let target = if about.is_empty() {
            // A revised item is kept: withdrawing it would also lose what it said before the revision.
            let last = self.known.len().checked_sub(1)?;
            Some(last).filter(|&last| self.known[last].is_live() && !self.known[last].is_revised)?
        } else {
            self.best(about, KnownItem::is_live)?
        };
        let known = &mut self.known[target];
        known.status = ItemStatus::Superseded;
        let reason = if about.is_empty() { "withdrawn" } else { about };
        Some((
            "item_superseded",
            vec![target_field(&known.handle), ("reason", format!("withdrawn: {reason}").into())],
        ))
    }

    /// Returns the newest live item that one of the turns before added.
    pub(super) fn recent_item(&self, fits: impl Fn(&KnownItem) -> bool) -> Option<usize> {
        self.known.iter().rposition(|known| {
            known.is_live()
                && !known.is_new
                && fits(known)
                && self.recent.iter().take(2).any(|id| known.is_of(id))
        })
    }
}
