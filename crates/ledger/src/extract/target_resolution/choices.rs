//! Which open choice an answer or a decision settles.

use super::{DraftDelta, KnownItem, TargetName, TargetResolver, target_field};
use crate::extract::claims::TurnClaim;
use crate::vocabulary::{ConfidenceLevel, ItemKind, ItemStatus};
use probity_prose::negation::denies;
use probity_prose::stems::stems;
use std::collections::BTreeSet;

/// How many items back the open choice may stand that a few words answer.
const MAX_ANSWERED_BACK: usize = 5;

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

    /// Takes the other one of two alternatives: in the place of the chosen one, or because the chosen one is known.
    pub(super) fn pick_other(&mut self) -> Option<DraftDelta> {
        let is_choice = |known: &KnownItem| {
            known.kind == ItemKind::Branch
                && known.status == ItemStatus::Resolved
                && known.alternatives.len() == 2
        };
        let branch = self.known.iter().rposition(is_choice)?;
        let alternatives = self.known[branch].alternatives.clone();
        let names = |known: &KnownItem, alternative: &String| {
            let named = stems(alternative);
            known.kind == ItemKind::Decision
                && known.is_live()
                && !named.is_empty()
                && named.is_subset(&known.stems)
        };
        let chosen = alternatives.iter().enumerate().find_map(|(rank, alternative)| {
            Some((rank, self.known.iter().rposition(|known| names(known, alternative))?))
        });
        let (rank, at) = chosen?;
        Some(self.reworded(at, alternatives[1 - rank].clone(), "the other one"))
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
        let is_open = |known: &KnownItem| known.kind == ItemKind::Branch && known.is_live();
        let newest =
            self.known.iter().rposition(is_open).filter(|&at| self.known.len() - at <= MAX_ANSWERED_BACK)?;
        let turn = self.known[newest].turn().to_owned();
        let asked = (0..=newest).rev().take_while(|&at| self.known[at].is_of(&turn));
        let mut open = asked.filter(|&at| is_open(&self.known[at]));
        open.find_map(|at| Some((at, self.alternative_meant(at, &said)?)))
    }

    /// Returns the alternative of the newest open choice that an accepted recommendation shares most words with, or names by rank.
    pub(super) fn recommended(&self, summary: &str) -> Option<(usize, String)> {
        const RANKS: &[&str] = &["the first", "the second", "the third"];
        let is_open = |known: &KnownItem| known.kind == ItemKind::Branch && known.is_live();
        let at =
            self.known.iter().rposition(is_open).filter(|&at| self.known.len() - at <= MAX_ANSWERED_BACK)?;
        let alternatives = &self.known[at].alternatives;
        let lower = summary.to_lowercase();
        if let Some(chosen) =
            RANKS.iter().position(|rank| lower.starts_with(rank)).and_then(|rank| alternatives.get(rank))
        {
            return Some((at, chosen.clone()));
        }
        let said = stems(summary);
        let mut shared: Vec<(usize, &String)> =
            alternatives.iter().map(|it| (stems(it).intersection(&said).count(), it)).collect();
        shared.sort_by_key(|(n, _)| std::cmp::Reverse(*n));
        match shared.as_slice() {
            [(most, chosen), (next, _), ..] if *most > *next && *most * 2 >= said.len() => {
                Some((at, (*chosen).clone()))
            }
            _ => None,
        }
    }

    /// Returns the only alternative of which the words cover at least half.
    fn alternative_meant(&self, branch: usize, said: &BTreeSet<String>) -> Option<String> {
        let is_meant = |alternative: &&String| {
            let stems = stems(alternative);
            let shared = stems.intersection(said).count();
            shared > 0 && (shared * 2 >= stems.len() || shared == said.len())
        };
        let mut named = self.known[branch].alternatives.iter().filter(is_meant);
        let chosen = named.next()?;
        named.next().is_none().then(|| chosen.clone())
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
