//! Finds the known item that a claim is about.
//!
//! The targets are the items touched last, plus those that the turn itself adds. Items are found by the words they
//! share with the claim; an ambiguous match targets nothing.

mod choices;
mod endings;
mod known_item;
mod reports;
mod withdrawals;

use super::claims::{RuleChange, TurnClaim};
use super::retraction::without_conjunct;
use crate::ledger::Ledger;
use crate::vocabulary::{ConfidenceLevel, ItemKind, ItemStatus, RevisionMode};
use known_item::KnownItem;
use probity_prose::lexicon::is_among;
use probity_prose::negation::denies;
use probity_prose::normal_form::normal_form;
use probity_prose::stems::stems;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::ops::Range;

/// The most items a turn is matched against: those touched last.
const MAX_KNOWN: usize = 512;

/// The most log entries that are searched for them.
const MAX_LOOK_BACK: usize = 8192;

pub(super) struct TargetResolver {
    known: Vec<KnownItem>,
    /// The ids of the turns before, the last first.
    recent: Vec<String>,
    /// Those of them that somebody else said.
    of_others: Vec<String>,
    /// The subjects this turn has mentioned so far.
    heard: BTreeSet<String>,
}

/// The parts of the handle and key of a candidate.
#[derive(Clone, Copy)]
pub(super) struct TargetName<'a> {
    pub(super) turn: &'a str,
    pub(super) n: usize,
}

impl TargetName<'_> {
    fn handle(self) -> String {
        format!("{}.{}", self.turn, self.n)
    }
}

/// A delta without its sources: its kind and fields.
type DraftDelta = (&'static str, Vec<(&'static str, Value)>);

impl TargetResolver {
    pub(super) fn of(ledger: &Ledger, recent: &[String], of_others: &[String]) -> Self {
        let mut seen = BTreeSet::new();
        let mut known = Vec::new();
        for entry in ledger.entries.iter().rev().take(MAX_LOOK_BACK) {
            for item in [entry.item, entry.other].into_iter().flatten() {
                if known.len() < MAX_KNOWN && seen.insert(item) {
                    known.push(KnownItem::of(ledger, item));
                }
            }
        }
        known.reverse();
        let of_others = of_others.to_vec();
        Self { known, recent: recent.to_vec(), of_others, heard: BTreeSet::new() }
    }

    /// Remembers the subjects of a sentence.
    pub(super) fn hear(&mut self, sentence: &str) {
        self.heard.extend(stems(sentence));
    }

    /// Returns the candidates for a claim: none if its target is unknown or it changes nothing.
    pub(super) fn candidates(
        &mut self,
        claim: TurnClaim,
        name: TargetName<'_>,
        range: &Range<usize>,
    ) -> Vec<Value> {
        let drafts = match claim {
            TurnClaim::AllDone => self.close_all(),
            TurnClaim::DoneRanks(ranks) => self.close_ranks(&ranks),
            TurnClaim::AskedWorkDone => self.close_last_asked(),
            TurnClaim::TakeBack(about) => self.take_back(&about),
            TurnClaim::Lift { about, summary, answers } => self.lift(&about, summary, answers, name),
            TurnClaim::Keep { about, summary } => self.keep(&about, summary, name),
            TurnClaim::Refute(about) => self.refute(&about).into_iter().collect(),
            TurnClaim::WithdrawRecent => self.withdraw_recent(),
            TurnClaim::Relapse => self.relapse().into_iter().collect(),
            TurnClaim::DenyLast => self.deny_last().into_iter().collect(),
            TurnClaim::StillNeeded { about, summary } => self.still_needed(&about, summary, name),
            TurnClaim::Meant(new) => match self.misnamed(&new) {
                Some(old) => self.put_in_place_of(&new, &old, name),
                None => Vec::new(),
            },
            TurnClaim::Contrast { new, old } => self.put_in_place_of(&new, &old, name),
            TurnClaim::NewDate(day) => match self.earlier_day(&day) {
                Some(old) => self.put_in_place_of(&day, &old, name),
                None => Vec::new(),
            },
            claim => self.drafts(claim, name),
        };
        self.forget_oldest();
        Self::sourced(drafts, name, range)
    }

    /// Keeps the work for each claim bounded in a turn that adds many items.
    fn forget_oldest(&mut self) {
        if self.known.len() >= 2 * MAX_KNOWN {
            self.known.drain(..self.known.len() - MAX_KNOWN);
        }
    }

    /// Returns deltas with their source, each with its own key.
    fn sourced(drafts: Vec<DraftDelta>, name: TargetName<'_>, range: &Range<usize>) -> Vec<Value> {
        let numbered = (name.n..).zip(drafts);
        let candidate = |(n, (kind, fields)): (usize, DraftDelta)| {
            let name = TargetName { n, ..name };
            let mut candidate = Map::new();
            candidate.insert("kind".into(), kind.into());
            candidate.extend(fields.into_iter().map(|(name, value)| (name.to_owned(), value)));
            let source = json!([{ "turn": name.turn, "range": [range.start, range.end] }]);
            candidate.insert("sources".into(), source);
            candidate.insert("key".into(), format!("rules:{}", name.handle()).into());
            Value::Object(candidate)
        };
        numbered.map(candidate).collect()
    }

    /// Returns the deltas of a claim: what it denies of the known items, then what it says.
    fn drafts(&mut self, claim: TurnClaim, name: TargetName<'_>) -> Vec<DraftDelta> {
        let mut withdrawn = Vec::new();
        let mut is_refused_work = true;
        while let Some(at) = self.denied_by(&claim) {
            is_refused_work &= self.known[at].kind == ItemKind::Task;
            withdrawn.push(self.supersede(at, "said otherwise"));
        }
        if !withdrawn.is_empty() {
            // "Don't rewrite it", said about announced work, ends the work and makes no rule.
            if !is_refused_work {
                // Withdrawing needs no handle of its own, so the new item has the next number.
                let next = TargetName { n: name.n + withdrawn.len(), ..name };
                withdrawn.extend(self.draft(claim, next));
            }
            return withdrawn;
        }
        if let TurnClaim::Decision { summary, .. }
        | TurnClaim::Constraint { summary, .. }
        | TurnClaim::Task(summary) = &claim
            && let Some(reworded) = self.set_anew(summary)
        {
            return vec![reworded];
        }
        if let TurnClaim::Withdraw(about) = &claim
            && !about.is_empty()
        {
            let twin_of = stems(about);
            // "Hold off on the release" leaves the other half of "update the docs and cut a release".
            let rest = self.best(about, KnownItem::is_live).and_then(|at| {
                let known = &self.known[at];
                (known.kind == ItemKind::Task).then(|| without_conjunct(&known.summary, &twin_of))?
            });
            let first = self.withdraw(about);
            if let (Some(first), Some(rest)) = (&first, rest) {
                let next = TargetName { n: name.n + 1, ..name };
                let task = self.draft(TurnClaim::Task(rest), next);
                return std::iter::once(first.clone()).chain(task).collect();
            }
            let is_twin = |known: &KnownItem| {
                known.is_live()
                    && !known.is_new
                    && known.kind == ItemKind::Task
                    && !known.stems.is_disjoint(&twin_of)
                    && self.recent.iter().any(|id| known.is_of(id))
            };
            let twin = self.known.iter().rposition(is_twin).filter(|_| first.is_some());
            let twin = twin.map(|at| self.supersede(at, about));
            return first.into_iter().chain(twin).collect();
        }
        if let TurnClaim::Decision { summary, revises: true, .. } = &claim
            && self.decision_to_revise(summary).is_none()
            && let Some(at) = self.earlier_target(summary).filter(|&at| self.known[at].kind != ItemKind::Goal)
            && self.is_other_way(at, summary)
        {
            let meant = self.known[at].stems.clone();
            let mut withdrawn = vec![self.supersede(at, "said otherwise")];
            // What was announced for it falls with it.
            let follows = |known: &KnownItem| {
                known.is_live()
                    && !known.is_new
                    && known.kind == ItemKind::Task
                    && !known.stems.is_disjoint(&meant)
                    && self.recent.iter().take(2).any(|id| known.is_of(id))
            };
            if let Some(other) = self.known.iter().rposition(follows) {
                withdrawn.push(self.supersede(other, "said otherwise"));
            }
            let next = TargetName { n: name.n + withdrawn.len(), ..name };
            withdrawn.extend(self.draft(claim, next));
            return withdrawn;
        }
        let replaced = match &claim {
            TurnClaim::Decision { summary, revises: true, .. } => {
                self.decision_to_revise(summary).map(|at| self.known[at].stems.clone())
            }
            _ => None,
        };
        let drafted = self.draft(claim, name);
        let follows = replaced.and_then(|old| self.announced_for(&old));
        let withdrawn = follows.map(|at| self.supersede(at, "said otherwise"));
        drafted.into_iter().chain(withdrawn).collect()
    }

    /// Returns the work that the turn of somebody else just announced for a choice: "build the view in React" for React.
    fn announced_for(&self, choice: &BTreeSet<String>) -> Option<usize> {
        const MIN_PREFIX: usize = 4;
        let last = self.of_others.first()?;
        let names = |stem: &String| {
            choice.iter().any(|chosen| chosen.len() >= MIN_PREFIX && stem.starts_with(chosen.as_str()))
        };
        self.known.iter().rposition(|known| {
            known.kind == ItemKind::Task
                && known.is_live()
                && !known.is_new
                && known.is_of(last)
                && known.stems.iter().any(names)
        })
    }

    /// Returns whether a choice changes an item: somebody else's observation only if it is named, and no observation that
    /// already names the choice.
    fn is_other_way(&self, at: usize, choice: &str) -> bool {
        let known = &self.known[at];
        let said = stems(choice);
        known.kind != ItemKind::Fact
            || !said.is_subset(&known.stems)
                && (known.stems.intersection(&said).count() >= 2
                    || !self.of_others.iter().any(|id| known.is_of(id)))
    }

    fn draft(&mut self, claim: TurnClaim, name: TargetName<'_>) -> Option<DraftDelta> {
        match claim {
            TurnClaim::Goal(summary) => {
                Some(self.create(ItemKind::Goal, name, summary, ConfidenceLevel::High))
            }
            TurnClaim::Decision { summary, revises, instead_of } => {
                Some(self.decision(summary, revises, instead_of.as_deref(), name))
            }
            TurnClaim::Constraint { summary, hard, change } => self.constraint(summary, hard, change, name),
            TurnClaim::Answer(text) => {
                let (branch, chosen) = self.answered_choice(&text)?;
                Some(self.choose(branch, chosen, name))
            }
            TurnClaim::Task(summary) => {
                let (kind, mut fields) = self.create(ItemKind::Task, name, summary, ConfidenceLevel::High);
                fields.retain(|(name, _)| *name != "confidence");
                Some((kind, fields))
            }
            TurnClaim::Reached => self.reach(),
            TurnClaim::Done(about) => self.close(&about),
            TurnClaim::Fact { summary, confidence, corrects, confirms } => {
                Some(self.fact(summary, confidence, corrects, confirms, name))
            }
            TurnClaim::Hypothesis { summary, confidence } => {
                Some(self.create(ItemKind::Hypothesis, name, summary, confidence))
            }
            TurnClaim::Branch(alternatives) => {
                let summary = alternatives.join(" | ");
                self.add(ItemKind::Branch, name, &summary).alternatives.clone_from(&alternatives);
                Some((
                    "branch_created",
                    vec![("handle", name.handle().into()), ("alternatives", alternatives.into())],
                ))
            }
            TurnClaim::Withdraw(about) => self.withdraw(&about),
            TurnClaim::SetValue(value) => self.set_value(&value, false),
            TurnClaim::SetBound(value) => self.set_value(&value, true),
            TurnClaim::ChooseBoth => self.choose_both(name),
            TurnClaim::PickOther => self.pick_other(),
            TurnClaim::RuleOut(text) => {
                let (branch, refused) = self.answered_choice(&text)?;
                let left = self.known[branch].alternatives.iter().filter(|other| **other != refused);
                let left: Vec<String> = left.cloned().collect();
                let [other] = left.as_slice() else { return None };
                Some(self.choose(branch, other.clone(), name))
            }
            TurnClaim::TakeBack(_)
            | TurnClaim::AllDone
            | TurnClaim::AskedWorkDone
            | TurnClaim::DoneRanks(_)
            | TurnClaim::Contrast { .. }
            | TurnClaim::NewDate(_)
            | TurnClaim::Lift { .. }
            | TurnClaim::Keep { .. }
            | TurnClaim::Refute(_)
            | TurnClaim::WithdrawRecent
            | TurnClaim::Relapse
            | TurnClaim::DenyLast
            | TurnClaim::StillNeeded { .. }
            | TurnClaim::Meant(_) => None,
            TurnClaim::DropTask(about) => {
                let said = stems(&about);
                let is_meant = |known: &KnownItem| {
                    known.kind == ItemKind::Task
                        && known.is_live()
                        && !known.is_new
                        && !said.is_empty()
                        && said.is_subset(&known.stems)
                };
                let at = if about.is_empty() {
                    self.recent_item(|known| known.kind == ItemKind::Task)?
                } else {
                    self.known.iter().rposition(is_meant)?
                };
                Some(self.supersede(at, &about))
            }
            TurnClaim::Permit(about) => {
                let forbids = |known: &KnownItem| known.is_live_constraint() && denies(&known.summary);
                // "You may add one for the dates" speaks of the rule that was just discussed.
                let points_back = || {
                    let first = about.split_whitespace().nth(1)?;
                    let is_pointer =
                        is_among("one | it | that | this | those | them | an", &first.to_lowercase());
                    is_pointer.then(|| self.recent_item(forbids)).flatten()
                };
                let at = self.best(&about, forbids).or_else(points_back)?;
                Some(self.supersede(at, &about))
            }
            TurnClaim::Accept { summary, is_task: true } => self.draft(TurnClaim::Task(summary), name),
            TurnClaim::Accept { summary, is_task: false } => match self.recommended(&summary) {
                Some((branch, chosen)) => Some(self.choose(branch, chosen, name)),
                None => self.draft(TurnClaim::decision(summary), name),
            },
            TurnClaim::Pick { rank, summary } => self.pick(rank, summary, name),
            TurnClaim::Report(text) => self.close_by_report(&text),
            TurnClaim::Reopen { about, reason } => self.reopen(&about, reason, name),
        }
    }

    fn create(
        &mut self,
        kind: ItemKind,
        name: TargetName<'_>,
        summary: String,
        confidence: ConfidenceLevel,
    ) -> DraftDelta {
        self.add(kind, name, &summary);
        let delta = match kind {
            ItemKind::Goal => "goal_set",
            ItemKind::Decision => "decision_made",
            ItemKind::Constraint => "constraint_added",
            ItemKind::Task => "task_opened",
            ItemKind::Fact => "fact_learned",
            ItemKind::Hypothesis => "hypothesis_introduced",
            ItemKind::Branch => "branch_created",
        };
        let fields = vec![
            ("handle", name.handle().into()),
            ("summary", summary.into()),
            ("confidence", confidence.as_str().into()),
        ];
        (delta, fields)
    }

    fn add(&mut self, kind: ItemKind, name: TargetName<'_>, summary: &str) -> &mut KnownItem {
        let status = match kind {
            ItemKind::Hypothesis | ItemKind::Branch => ItemStatus::Tentative,
            _ => ItemStatus::Active,
        };
        self.known.push(KnownItem {
            handle: name.handle(),
            kind,
            status,
            summary: summary.to_owned(),
            stems: stems(summary),
            alternatives: Vec::new(),
            is_revised: false,
            is_new: true,
        });
        self.known.last_mut().expect("it was just added")
    }

    /// A decision settles an open choice, revises an earlier decision, or is new.
    fn decision(
        &mut self,
        summary: String,
        revises: bool,
        instead_of: Option<&str>,
        name: TargetName<'_>,
    ) -> DraftDelta {
        if let Some((branch, chosen)) = self.open_choice(&summary) {
            return self.choose(branch, chosen, name);
        }
        let replaced = instead_of
            .and_then(|old| self.best(old, |known| known.kind == ItemKind::Decision && known.is_live()));
        let target = replaced.or_else(|| if revises { self.decision_to_revise(&summary) } else { None });
        let Some(target) = target else {
            return self.create(ItemKind::Decision, name, summary, ConfidenceLevel::High);
        };
        self.known[target].reword(&summary);
        ("decision_revised", vec![target_field(&self.known[target].handle), ("summary", summary.into())])
    }

    fn constraint(
        &mut self,
        summary: String,
        hard: bool,
        change: RuleChange,
        name: TargetName<'_>,
    ) -> Option<DraftDelta> {
        let target = match change {
            RuleChange::New => None,
            RuleChange::Replaces => self.best(&summary, KnownItem::is_live_constraint),
            RuleChange::Changes(_) => Some(self.constraint_to_revise(&summary)?),
        };
        let Some(target) = target else {
            let (kind, mut fields) = self.create(ItemKind::Constraint, name, summary, ConfidenceLevel::High);
            fields.retain(|(name, _)| *name != "confidence");
            fields.push(("hard", hard.into()));
            return Some((kind, fields));
        };
        self.known[target].reword(&summary);
        let mode = if let RuleChange::Changes(mode) = change { mode } else { RevisionMode::Amended };
        let target = target_field(&self.known[target].handle);
        Some((
            "constraint_revised",
            vec![target, ("summary", summary.into()), ("mode", mode.as_str().into())],
        ))
    }

    /// Returns the decision with most words in common; failing that, the one the turn just mentioned, or the last.
    fn decision_to_revise(&self, summary: &str) -> Option<usize> {
        let is_decision = |known: &KnownItem| known.kind == ItemKind::Decision && known.is_live();
        let is_spoken_of = |known: &KnownItem| is_decision(known) && known.stems.is_subset(&self.heard);
        self.best(summary, is_decision).or_else(|| self.known.iter().rposition(is_spoken_of)).or_else(|| {
            let last = self.known.iter().rposition(is_decision)?;
            (self.known.len() - last <= 4).then_some(last)
        })
    }

    fn constraint_to_revise(&self, summary: &str) -> Option<usize> {
        self.best(summary, KnownItem::is_live_constraint).or_else(|| {
            let last = self.known.iter().rposition(KnownItem::is_live_constraint)?;
            (self.known.len() - last <= 6).then_some(last)
        })
    }

    fn fact(
        &mut self,
        summary: String,
        confidence: ConfidenceLevel,
        corrects: bool,
        confirms: bool,
        name: TargetName<'_>,
    ) -> DraftDelta {
        if confirms {
            let guess = self.best(&summary, |known| {
                known.kind == ItemKind::Hypothesis && known.status == ItemStatus::Tentative
            });
            if let Some(guess) = guess {
                let known = &mut self.known[guess];
                known.status = ItemStatus::Active;
                return (
                    "hypothesis_promoted",
                    vec![target_field(&known.handle), ("confidence", confidence.as_str().into())],
                );
            }
        }
        let wrong = if corrects {
            self.best(&summary, |known| known.kind == ItemKind::Fact && known.is_live())
        } else {
            self.with_another_figure(&summary).or_else(|| self.with_another_cause(&summary))
        };
        match wrong.filter(|&wrong| normal_form(&self.known[wrong].summary) != normal_form(&summary)) {
            Some(wrong) => {
                let target = self.known[wrong].handle.clone();
                self.known[wrong].status = ItemStatus::Superseded;
                self.add(ItemKind::Fact, name, &summary);
                (
                    "fact_corrected",
                    vec![
                        target_field(&target),
                        ("handle", name.handle().into()),
                        ("summary", summary.into()),
                    ],
                )
            }
            None => self.create(ItemKind::Fact, name, summary, confidence),
        }
    }

    /// Returns the fact of an earlier turn that says the same of the same subject with another figure: "staging runs Postgres 12".
    fn with_another_figure(&self, summary: &str) -> Option<usize> {
        let is_figure = |stem: &&String| stem.starts_with(|c: char| c.is_ascii_digit());
        let split = |all: &BTreeSet<String>| -> (BTreeSet<String>, BTreeSet<String>) {
            (
                all.iter().filter(is_figure).cloned().collect(),
                all.iter().filter(|it| !is_figure(it)).cloned().collect(),
            )
        };
        let (figures, words) = split(&stems(summary));
        if figures.len() != 1 || words.len() < 2 {
            return None;
        }
        let is_same = |known: &KnownItem| {
            let (others, said) = split(&known.stems);
            known.kind == ItemKind::Fact
                && known.is_live()
                && !known.is_new
                && others.len() == 1
                && others != figures
                && said == words
        };
        self.known.iter().rposition(is_same)
    }

    /// Returns the fact of an earlier turn that gives another cause of the same: "the crash is caused by the parser".
    fn with_another_cause(&self, summary: &str) -> Option<usize> {
        let (effect, cause) = cause_in(summary)?;
        let is_same = |known: &KnownItem| {
            let other = cause_in(&known.summary);
            known.kind == ItemKind::Fact
                && known.is_live()
                && !known.is_new
                && other.is_some_and(|(same, other)| same == effect && other != cause)
        };
        self.known.iter().rposition(is_same)
    }

    /// Returns the item that shares most words with `about`: at least half of those of the shorter text. The newest
    /// wins.
    fn best(&self, about: &str, fits: impl Fn(&KnownItem) -> bool) -> Option<usize> {
        let said = stems(about);
        let score = |known: &KnownItem| {
            let shared = known.stems.intersection(&said).count();
            let smaller = known.stems.len().min(said.len());
            (shared > 0 && shared * 2 >= smaller).then(|| (shared * 1000 / smaller.max(1), shared))
        };
        let scored = self.known.iter().enumerate().filter(|(_, known)| fits(known));
        scored.filter_map(|(at, known)| score(known).map(|score| (score, at))).max().map(|(_, at)| at)
    }
}

/// Returns the subjects of an effect and those of its cause.
fn cause_in(text: &str) -> Option<(BTreeSet<String>, BTreeSet<String>)> {
    const CAUSES: &[&str] = &[
        " comes from ",
        " come from ",
        " came from ",
        " is caused by ",
        " are caused by ",
        " was caused by ",
        " is due to ",
        " are due to ",
        " was due to ",
        " stems from ",
    ];
    let (effect, cause) = CAUSES.iter().find_map(|words| text.split_once(words))?;
    let (effect, cause) = (stems(effect), stems(cause));
    (!effect.is_empty() && !cause.is_empty()).then_some((effect, cause))
}

fn target_field(handle: &str) -> (&'static str, Value) {
    ("target", handle.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each claim is compared with all known items, so their number decides the time for a turn.
    #[test]
    fn a_turn_with_many_statements_does_not_compare_each_with_all() {
        let mut targets = TargetResolver::of(&Ledger::default(), &[], &[]);
        let mut n_compared = 0;
        for n in 0..10 * MAX_KNOWN {
            let name = TargetName { turn: "t", n };
            let task = TurnClaim::Task(format!("Write chapter{n}"));
            assert_eq!(targets.candidates(task, name, &(0..1)).len(), 1);
            n_compared += targets.known.len();
        }
        assert!(n_compared <= 10 * MAX_KNOWN * 2 * MAX_KNOWN, "{n_compared}");
        // What was said last can still be meant.
        let last = TurnClaim::Task(format!("Write chapter{}", 10 * MAX_KNOWN - 1));
        assert!(targets.known.last().is_some_and(|known| Some(known.summary.as_str()) == last.summary()));
    }
}
