//! Which open choice an answer or a decision settles.

use super::{DraftDelta, KnownItem, TargetName, TargetResolver, target_field};
use crate::extract::claims::TurnClaim;
use crate::vocabulary::{ConfidenceLevel, ItemKind, ItemStatus};
use probity_prose::negation::denies;
use probity_prose::stems::stems;

impl TargetResolver {
    pub(super) fn choose(&mut self, branch: usize, chosen: String, name: TargetName<'_>) -> DraftDelta {
        self.known[branch].status = ItemStatus::Resolved;
        let target = target_field(&self.known[branch].handle);
        self.add(ItemKind::Decision, name, &chosen);
        ("branch_resolved", vec![target, ("handle", name.handle().into()), ("chosen", chosen.into())])
    }

    /// Resolves the newest open choice by the rank of an alternative, or accepts the offer of that rank.
    pub(super) fn pick(
        &mut self,
        rank: usize,
        offer: Option<String>,
        name: TargetName<'_>,
    ) -> Option<DraftDelta> {
        let is_choice = |known: &KnownItem| known.kind == ItemKind::Branch && known.is_live();
        let branch =
            self.known.iter().rposition(is_choice).filter(|&at| {
                self.recent.is_empty() || self.recent.iter().any(|id| self.known[at].is_of(id))
            });
        match branch.and_then(|at| Some((at, self.known[at].alternatives.get(rank)?.clone()))) {
            Some((at, chosen)) => Some(self.choose(at, chosen, name)),
            None => self.draft(TurnClaim::decision(offer?), name),
        }
    }

    /// Decides for all alternatives of the choice that the turns before left open.
    pub(super) fn choose_both(&mut self, name: TargetName<'_>) -> Option<DraftDelta> {
        let is_choice = |known: &KnownItem| {
            known.kind == ItemKind::Branch
                && known.is_live()
                && self.recent.iter().any(|id| known.is_of(id))
                && known.alternatives.len() == 2
        };
        let branch = self.known.iter().rposition(is_choice)?;
        let summary = self.known[branch].alternatives.join(" and ");
        Some(self.create(ItemKind::Decision, name, summary, ConfidenceLevel::High))
    }

    /// Returns the open choice that a few words answer: one of the newest, if the words cover at least half of exactly one
    /// of its alternatives.
    pub(super) fn answered_choice(&self, text: &str) -> Option<(usize, String)> {
        let said = stems(text);
        let recent = self.known.iter().enumerate().rev().take(4);
        let mut open = recent.filter(|(_, known)| known.kind == ItemKind::Branch && known.is_live());
        let (at, branch) = open.next()?;
        let is_meant = |alternative: &&String| {
            let stems = stems(alternative);
            let shared = stems.intersection(&said).count();
            shared > 0 && (shared * 2 >= stems.len() || shared == said.len())
        };
        let mut named = branch.alternatives.iter().filter(is_meant);
        let chosen = named.next()?;
        named.next().is_none().then(|| (at, chosen.clone()))
    }

    /// Returns an open choice if the decision names exactly one of its alternatives.
    pub(super) fn open_choice(&self, summary: &str) -> Option<(usize, String)> {
        if denies(summary) {
            return None;
        }
        let said = stems(summary);
        self.known.iter().enumerate().rev().find_map(|(at, known)| {
            if known.kind != ItemKind::Branch || !known.is_live() {
                return None;
            }
            let mut named = known.alternatives.iter().filter(|alternative| {
                let stems = stems(alternative);
                !stems.is_empty() && stems.is_subset(&said)
            });
            let chosen = named.next()?;
            named.next().is_none().then(|| (at, chosen.clone()))
        })
    }
}
