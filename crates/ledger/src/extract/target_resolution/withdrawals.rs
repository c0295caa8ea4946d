//! Which known items a claim withdraws: what it denies, takes back, or gives another value.

use super::{DraftDelta, KnownItem, TargetName, TargetResolver, target_field};
use crate::extract::claims::TurnClaim;
use crate::extract::retraction::with_number;
use crate::vocabulary::{ConfidenceLevel, ItemKind, ItemStatus, RevisionMode};
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
                "today"
                    | "touch"
                    | "yet"
                    | "yesterd"
                    | "now"
                    | "anymor"
                    | "week"
                    | "more"
                    | "though"
                    | "after"
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
        // Nor a goal by deciding something else.
        let is_will =
            |known: &KnownItem| is_firm(known) && !matches!(known.kind, ItemKind::Fact | ItemKind::Goal);
        let is_last =
            |known: &KnownItem| is_firm(known) && self.recent.first().is_some_and(|id| known.is_of(id));
        self.known
            .iter()
            .rposition(shares)
            .or_else(|| self.recent_item(is_will))
            .or_else(|| self.recent_item(is_last))
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

    /// Withdraws what the turn just before announced, and the request that it repeats in other words.
    pub(super) fn withdraw_recent(&mut self) -> Vec<DraftDelta> {
        let is_will = |known: &KnownItem| matches!(known.kind, ItemKind::Task | ItemKind::Decision);
        let Some(last) = self.recent.first().cloned() else { return Vec::new() };
        let Some(at) = self.recent_item(|known| is_will(known) && known.is_of(&last)) else {
            return Vec::new();
        };
        let meant = self.known[at].stems.clone();
        let is_twin = |known: &KnownItem| {
            let shared = known.stems.intersection(&meant).count();
            is_will(known)
                && !known.is_of(&last)
                && shared >= 2
                && shared * 3 >= known.stems.len().min(meant.len()) * 2
        };
        let twin = self.recent_item(is_twin);
        [Some(at), twin].into_iter().flatten().map(|at| self.supersede(at, "declined")).collect()
    }

    /// Gives the newest statement with a number another one. A bound needs a statement with the same unit.
    pub(super) fn set_value(&mut self, value: &str, is_bound: bool) -> Option<DraftDelta> {
        let has_figure = |known: &KnownItem| known.summary.contains(|c: char| c.is_ascii_digit());
        let unit = value.split_whitespace().nth(1).map(str::to_lowercase);
        let has_unit = |known: &KnownItem| {
            let says =
                |unit: &String| known.summary.to_lowercase().split_whitespace().any(|word| word == unit);
            unit.as_ref().is_none_or(says)
        };
        let at = self.known.iter().rposition(|known| {
            known.is_live()
                && has_figure(known)
                && (!is_bound || has_unit(known) && !known.is_new)
                && matches!(
                    known.kind,
                    ItemKind::Decision | ItemKind::Constraint | ItemKind::Task | ItemKind::Goal
                )
        })?;
        let summary = with_number(&self.known[at].summary, value)?;
        Some(self.reworded(at, summary, value))
    }

    /// Gives a rule or decision the number of a later statement about the same subject: "raise the timeout to 45 seconds".
    pub(super) fn set_anew(&mut self, statement: &str) -> Option<DraftDelta> {
        let is_number = |stem: &String| stem.starts_with(|c: char| c.is_ascii_digit());
        let mut said = stems(statement);
        said.retain(|stem| {
            !is_number(stem)
                && !matches!(
                    stem.as_str(),
                    "rais"
                        | "lower"
                        | "set"
                        | "chang"
                        | "mak"
                        | "increas"
                        | "reduc"
                        | "bump"
                        | "decreas"
                        | "now"
                        | "must"
                        | "max"
                        | "maximum"
                        | "limit"
                        | "allow"
                )
        });
        let has_one_number = |text: &str| stems(text).iter().filter(|stem| is_number(stem)).count() == 1;
        let is_same = |known: &KnownItem| {
            known.is_live()
                && !known.is_new
                && matches!(known.kind, ItemKind::Decision | ItemKind::Constraint)
                && has_one_number(&known.summary)
                && !denies(&known.summary)
                && !said.is_empty()
                && said.is_subset(&known.stems)
                && known.stems.iter().filter(|stem| !is_number(stem)).count() <= said.len() + 2
        };
        if !has_one_number(statement) || denies(statement) {
            return None;
        }
        let at = self.known.iter().rposition(is_same)?;
        let summary = with_number(&self.known[at].summary, statement)?;
        if summary == self.known[at].summary { None } else { Some(self.reworded(at, summary, statement)) }
    }

    /// Replaces `old` by `new` in the newest statement that has it; without one, `new` decides on its own.
    pub(super) fn put_in_place_of(&mut self, new: &str, old: &str, name: TargetName<'_>) -> Vec<DraftDelta> {
        let is_meant = |known: &KnownItem| {
            known.is_live()
                && !known.is_new
                && (known.kind == ItemKind::Task || !denies(&known.summary))
                && !matches!(known.kind, ItemKind::Hypothesis | ItemKind::Branch)
                && replace_words(&known.summary, old, new).is_some()
        };
        // What is wanted comes before what was observed.
        let is_wanted = |known: &KnownItem| known.kind != ItemKind::Fact && is_meant(known);
        let found = self.known.iter().rposition(is_wanted).or_else(|| self.known.iter().rposition(is_meant));
        let Some(at) = found else { return Vec::new() };
        let Some(summary) = replace_words(&self.known[at].summary, old, new) else { return Vec::new() };
        if self.known[at].kind == ItemKind::Fact {
            let target = self.known[at].handle.clone();
            self.known[at].status = ItemStatus::Superseded;
            self.add(ItemKind::Fact, name, &summary);
            let handle = ("handle", name.handle().into());
            let fields = vec![target_field(&target), handle, ("summary", summary.into())];
            return vec![("fact_corrected", fields)];
        }
        if self.known[at].kind == ItemKind::Goal {
            let withdrawn = self.supersede(at, old);
            let next = TargetName { n: name.n + 1, ..name };
            return vec![withdrawn, self.create(ItemKind::Goal, next, summary, ConfidenceLevel::High)];
        }
        if self.known[at].kind == ItemKind::Task {
            let withdrawn = self.supersede(at, old);
            let next = TargetName { n: name.n + 1, ..name };
            let (kind, mut fields) = self.create(ItemKind::Task, next, summary, ConfidenceLevel::High);
            fields.retain(|(name, _)| *name != "confidence");
            return vec![withdrawn, (kind, fields)];
        }
        vec![self.reworded(at, summary, old)]
    }

    /// Gives a decision or constraint other words; other items are withdrawn.
    pub(super) fn reworded(&mut self, at: usize, summary: String, value: &str) -> DraftDelta {
        match self.known[at].kind {
            ItemKind::Decision => {
                self.known[at].reword(&summary);
                let target = target_field(&self.known[at].handle);
                ("decision_revised", vec![target, ("summary", summary.into())])
            }
            ItemKind::Constraint => {
                self.known[at].reword(&summary);
                let target = target_field(&self.known[at].handle);
                let mode = RevisionMode::Amended.as_str();
                ("constraint_revised", vec![target, ("summary", summary.into()), ("mode", mode.into())])
            }
            _ => self.supersede(at, value),
        }
    }

    /// Ends the rule that forbade what is allowed now, and says what holds instead.
    pub(super) fn lift(
        &mut self,
        about: &str,
        summary: String,
        answers: bool,
        name: TargetName<'_>,
    ) -> Vec<DraftDelta> {
        let forbids = |known: &KnownItem| known.is_live_constraint() && denies(&known.summary);
        let named = self.best(about, |known| forbids(known) && !known.is_new);
        let just_said = || if answers { self.spoken_of(forbids) } else { None };
        let Some(at) = named.or_else(just_said) else { return Vec::new() };
        let lifted = self.supersede(at, about);
        self.followed_by(lifted, summary, name)
    }

    /// Withdraws the work or choice of the turns before that would have changed what stays.
    pub(super) fn keep(&mut self, about: &str, summary: String, name: TargetName<'_>) -> Vec<DraftDelta> {
        let said = stems(about);
        let is_left = summary.starts_with("Leave");
        let changes = |known: &KnownItem| {
            matches!(known.kind, ItemKind::Task | ItemKind::Decision)
                && !known.is_revised
                && (about.is_empty() && (is_left || changes_state(&known.summary))
                    || known.stems.iter().any(|stem| said.iter().any(|it| stem.ends_with(it))))
                && !keeps(&known.summary)
        };
        let Some(at) = self.spoken_of(changes) else { return Vec::new() };
        // "Keep it", said of what was to be removed, names it.
        let kept = removed_thing(&self.known[at].summary).filter(|_| about.is_empty() && !is_left);
        let summary = kept.map_or(summary, |thing| format!("Keep {thing}"));
        let withdrawn = self.supersede(at, "stays as it is");
        // "Leave the triggers alone" only ends what was announced.
        if ["alone", "as is", "as they are", "as it is"].iter().any(|end| summary.ends_with(end)) {
            return vec![withdrawn];
        }
        self.followed_by(withdrawn, summary, name)
    }

    /// Withdraws what was found or supposed in the turns before, because it is said to be wrong.
    pub(super) fn refute(&mut self, about: &str) -> Option<DraftDelta> {
        let said = stems(about);
        let at = self.spoken_of(|known| {
            matches!(known.kind, ItemKind::Fact | ItemKind::Hypothesis)
                && !said.is_empty()
                && said.is_subset(&known.stems)
                && !denies(&known.summary)
        })?;
        Some(self.supersede(at, "turned out to be wrong"))
    }

    /// Withdraws the success that the turn just before told.
    pub(super) fn relapse(&mut self) -> Option<DraftDelta> {
        let last = self.recent.first()?.clone();
        let is_success = |known: &KnownItem| {
            known.kind == ItemKind::Fact
                && known.is_of(&last)
                && known.stems.iter().any(|stem| {
                    matches!(
                        stem.as_str(),
                        "fix" | "fixed" | "resolv" | "solv" | "work" | "gon" | "pass" | "don"
                    )
                })
                && !denies(&known.summary)
        };
        let at = self.recent_item(is_success)?;
        Some(self.supersede(at, "it happened again"))
    }

    /// Ends the removal of something that is still needed, and says who needs it.
    pub(super) fn still_needed(
        &mut self,
        about: &str,
        summary: String,
        name: TargetName<'_>,
    ) -> Vec<DraftDelta> {
        let said = stems(about);
        let removes = |known: &KnownItem| {
            let words = known.summary.to_lowercase();
            let mut front = words.split_whitespace().take(MAX_REMOVAL_WORDS);
            front.any(is_removal) && !known.stems.is_disjoint(&said) && !denies(&known.summary)
        };
        let Some(at) = self.spoken_of(removes) else { return Vec::new() };
        let withdrawn = self.supersede(at, "still needed");
        let next = TargetName { n: name.n + 1, ..name };
        vec![withdrawn, self.create(ItemKind::Fact, next, summary, ConfidenceLevel::Medium)]
    }

    /// Returns the other day of the newest firm statement that has exactly one.
    pub(super) fn earlier_day(&self, new: &str) -> Option<String> {
        const DAYS: &[&str] = &["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
        let day_of = |known: &KnownItem| {
            let lower = known.summary.to_lowercase();
            let mut days = lower
                .split(|c: char| !c.is_alphanumeric())
                .filter(|word| DAYS.contains(word))
                .map(str::to_owned);
            let (day, None) = (days.next()?, days.next()) else { return None };
            (!day.eq_ignore_ascii_case(new)).then_some(day)
        };
        let is_firm = |known: &KnownItem| !matches!(known.kind, ItemKind::Hypothesis | ItemKind::Branch);
        let at = self.spoken_of(|known| is_firm(known) && day_of(known).is_some())?;
        day_of(&self.known[at])
    }

    /// Withdraws the only thing that the turn just before stated.
    pub(super) fn deny_last(&mut self) -> Option<DraftDelta> {
        let last = self.recent.first()?.clone();
        let is_stated = |known: &KnownItem| {
            known.kind == ItemKind::Fact && known.is_live() && !known.is_new && known.is_of(&last)
        };
        let mut stated = (0..self.known.len()).filter(|&at| is_stated(&self.known[at]));
        let (at, None) = (stated.next()?, stated.next()) else { return None };
        Some(self.supersede(at, "denied"))
    }

    /// Returns the name in the work or choice of the turns before that `new` was meant instead of: one that begins or ends alike.
    pub(super) fn misnamed(&self, new: &str) -> Option<String> {
        const MIN_SHARED: usize = 3;
        let alike = |old: &str| {
            let prefix = old.bytes().zip(new.bytes()).take_while(|(one, other)| one == other).count();
            let suffix =
                old.bytes().rev().zip(new.bytes().rev()).take_while(|(one, other)| one == other).count();
            old != new && prefix.max(suffix) >= MIN_SHARED
        };
        // "per batch" for "per page": as many words, from the same one on.
        let (first, n_words) = (new.split_whitespace().next()?, new.split_whitespace().count());
        let part_of = |known: &KnownItem| {
            let words: Vec<&str> = known.summary.split_whitespace().collect();
            let at = words.iter().position(|word| word.eq_ignore_ascii_case(first))?;
            (n_words > 1).then(|| words.get(at..at + n_words).map(|part| part.join(" "))).flatten()
        };
        let part = self.spoken_of(|known| {
            !matches!(known.kind, ItemKind::Hypothesis | ItemKind::Branch) && part_of(known).is_some()
        });
        if let Some(at) = part {
            return part_of(&self.known[at]).filter(|old| !old.eq_ignore_ascii_case(new));
        }
        let named = |known: &KnownItem| {
            let word = known.summary.split_whitespace().skip(1).find(|word| alike(word.trim_matches('`')))?;
            Some(word.trim_matches(|c: char| !(c.is_alphanumeric() || c == '_')).to_owned())
        };
        let is_will = |known: &KnownItem| matches!(known.kind, ItemKind::Task | ItemKind::Decision);
        let at = self.spoken_of(|known| is_will(known) && named(known).is_some())?;
        named(&self.known[at])
    }

    /// Returns the newest live item of the turns before that fits.
    fn spoken_of(&self, fits: impl Fn(&KnownItem) -> bool) -> Option<usize> {
        self.known.iter().rposition(|known| {
            known.is_live() && !known.is_new && fits(known) && self.recent.iter().any(|id| known.is_of(id))
        })
    }

    /// Adds the decision that takes the place of what was withdrawn.
    fn followed_by(
        &mut self,
        withdrawn: DraftDelta,
        summary: String,
        name: TargetName<'_>,
    ) -> Vec<DraftDelta> {
        let next = TargetName { n: name.n + 1, ..name };
        vec![withdrawn, self.create(ItemKind::Decision, next, summary, ConfidenceLevel::High)]
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

/// Returns whether a text asks to make something else of a thing.
fn changes_state(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or("").to_lowercase();
    matches!(
        first.as_str(),
        "make" | "change" | "turn" | "convert" | "set" | "switch" | "rename" | "move" | "replace"
    ) || is_removal(&first)
}

/// How far into a text the verb of a removal stands: "we are retiring", "stop supporting".
const MAX_REMOVAL_WORDS: usize = 4;

fn is_removal(word: &str) -> bool {
    matches!(
        word,
        "drop"
            | "dropping"
            | "cut"
            | "cutting"
            | "remove"
            | "removing"
            | "delete"
            | "deleting"
            | "retire"
            | "retiring"
            | "kill"
            | "killing"
            | "disable"
            | "disabling"
            | "deprecate"
            | "deprecating"
            | "stop"
            | "stopping"
            | "abandon"
            | "abandoning"
            | "sunset"
            | "sunsetting"
            | "discontinue"
            | "discontinuing"
    )
}

/// Returns what a text asks to remove: "support for Python 3.8".
fn removed_thing(text: &str) -> Option<&str> {
    let (verb, thing) = text.split_once(' ')?;
    is_removal(&verb.to_lowercase()).then_some(thing)
}

/// Returns whether a text says itself that something stays.
fn keeps(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or("").to_lowercase();
    matches!(first.as_str(), "keep" | "leave" | "stay" | "retain")
}

/// Replaces some words of a text by others, whatever their case.
fn replace_words(text: &str, old: &str, new: &str) -> Option<String> {
    let bare = |word: &str| {
        word.trim_matches(|c: char| !(c.is_alphanumeric() || matches!(c, '+' | '#'))).to_lowercase()
    };
    let old: Vec<String> = old.split_whitespace().map(bare).collect();
    let words: Vec<&str> = text.split(' ').collect();
    let is_old = |window: &[&str]| window.iter().zip(&old).all(|(word, old)| bare(word) == *old);
    if old.is_empty() || old.iter().any(String::is_empty) {
        return None;
    }
    let at = words.windows(old.len()).position(is_old)?;
    let rest = &words[at + old.len()..];
    // "30 days" in the place of "90" before "days".
    let new: Vec<&str> = new.split_whitespace().collect();
    let n_same = (1..new.len()).rev().find(|&n| {
        rest.len() >= n && new[new.len() - n..].iter().zip(rest).all(|(one, other)| bare(one) == bare(other))
    });
    let new = &new[..new.len() - n_same.unwrap_or(0)];
    let parts = words[..at].iter().chain(new).chain(rest).copied();
    Some(parts.collect::<Vec<_>>().join(" "))
}
