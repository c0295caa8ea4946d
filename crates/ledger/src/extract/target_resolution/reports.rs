//! Which open tasks a report of the agent ends.

use super::{DraftDelta, KnownItem, TargetName, TargetResolver, target_field};
use crate::extract::rules::ends_work;
use crate::vocabulary::{ItemKind, ItemStatus};
use probity_prose::lexicon::{self as lx, is_among, strip};
use probity_prose::sentences::Sentence;
use probity_prose::stems::stems;
use serde_json::Value;
use std::collections::BTreeSet;
use std::ops::Range;

/// The most words of the subject of a report.
const MAX_SUBJECT_WORDS: usize = 6;

impl TargetResolver {
    /// Closes the task that a report is about: one of an earlier turn that shares most of its words with it, or the only one that
    /// its subject names ("Overlay is on F9").
    pub(super) fn close_by_report(&mut self, report: &str) -> Option<DraftDelta> {
        let said = stems(report);
        let subject = subject_of(report);
        let sentence = Sentence::new(report, 0..report.len());
        let tells_end = ends_work(&sentence) || is_result(report);
        // A statement about the same things ends no work that it does not name.
        let leaves_open = |known: &KnownItem| {
            let verb = known.summary.split_whitespace().next().unwrap_or_default().to_lowercase();
            !tells_end && is_among(lx::VERB, &verb) && stems(&verb).is_disjoint(&said)
        };
        let score = |known: &KnownItem| {
            if leaves_open(known) {
                return None;
            }
            let shared = known.stems.intersection(&said).count();
            let n = known.stems.len();
            let is_enough = shared >= 2 && shared * 2 >= n || shared > 0 && shared == n;
            is_enough.then_some((shared * 1000 / n.max(1), shared))
        };
        let open = || {
            let is_open =
                |known: &KnownItem| known.kind == ItemKind::Task && known.is_live() && !known.is_new;
            self.known.iter().enumerate().filter(move |(_, known)| is_open(known))
        };
        let named = || {
            let is_meant =
                |known: &KnownItem| subject.as_ref().is_some_and(|subject| subject.is_subset(&known.stems));
            let mut meant = open().filter(|(_, known)| is_meant(known)).map(|(at, _)| at);
            let at = meant.next()?;
            meant.next().is_none().then_some(at)
        };
        let best = open().filter_map(|(at, known)| Some((score(known)?, at))).max().map(|(_, at)| at);
        let verb = |text: &str| text.split_whitespace().next().map(stems).filter(|verb| !verb.is_empty());
        let done = verb(report);
        // "Renamed to `makeId`": the verb of the task, in the past.
        let by_verb = || {
            let is_meant = |known: &KnownItem| {
                done.is_some() && verb(&known.summary) == done && self.recent.iter().any(|id| known.is_of(id))
            };
            open().filter(|(_, known)| is_meant(known)).map(|(at, _)| at).next_back()
        };
        // The only work that the turn just before asked for needs one word in common.
        let just_asked = || {
            let last = self.recent.first()?;
            let mut asked = open().filter(|(_, known)| known.is_of(last));
            let (at, known) = asked.next()?;
            let is_meant = asked.next().is_none() && !known.stems.is_disjoint(&said) && is_result(report);
            is_meant.then_some(at)
        };
        let at = best.or_else(named).or_else(by_verb).or_else(just_asked)?;
        let known = &mut self.known[at];
        known.status = ItemStatus::Resolved;
        Some(("task_closed", vec![target_field(&known.handle), ("resolution", report.into())]))
    }

    /// Closes the newest open search for a cause, however long ago it was asked for.
    pub(in crate::extract) fn close_search_for_cause(
        &mut self,
        cause: &str,
        name: TargetName<'_>,
        range: &Range<usize>,
    ) -> Vec<Value> {
        let is_search = |known: &KnownItem| {
            let lower = known.summary.to_lowercase();
            known.kind == ItemKind::Task
                && known.is_live()
                && !known.is_new
                && is_investigation(&known.summary)
                && (lower.contains("why") || lower.contains("cause") || lower.contains("reason"))
        };
        let Some(at) = self.known.iter().rposition(is_search) else { return Vec::new() };
        let known = &mut self.known[at];
        known.status = ItemStatus::Resolved;
        let closed = ("task_closed", vec![target_field(&known.handle), ("resolution", cause.into())]);
        Self::sourced(vec![closed], name, range)
    }

    /// Closes the only open work that the last turn of somebody else asked for.
    pub(in crate::extract) fn close_only_asked(
        &mut self,
        report: &str,
        name: TargetName<'_>,
        range: &Range<usize>,
    ) -> Vec<Value> {
        let Some(asked) = self.of_others.first().cloned() else { return Vec::new() };
        let is_open = |known: &KnownItem| {
            known.kind == ItemKind::Task && known.is_live() && !known.is_new && known.is_of(&asked)
        };
        let mut open = (0..self.known.len()).filter(|&at| is_open(&self.known[at]));
        let (Some(at), None) = (open.next(), open.next()) else { return Vec::new() };
        let known = &mut self.known[at];
        // "Turned off." needs no name for what it is about; a longer report does.
        let is_bare = report
            .split([',', '.', ':', ';'])
            .next()
            .is_some_and(|part| part.split_whitespace().count() <= 2);
        if !is_bare && known.stems.is_disjoint(&stems(report)) {
            return Vec::new();
        }
        known.status = ItemStatus::Resolved;
        let closed = ("task_closed", vec![target_field(&known.handle), ("resolution", report.into())]);
        Self::sourced(vec![closed], name, range)
    }

    /// Closes the work of the turns just before that only asked for knowledge, because something was found.
    pub(in crate::extract) fn close_investigation(
        &mut self,
        finding: &str,
        name: TargetName<'_>,
        range: &Range<usize>,
    ) -> Vec<Value> {
        let is_meant = |known: &KnownItem| {
            known.kind == ItemKind::Task
                && known.is_live()
                && !known.is_new
                && self.recent.iter().take(2).any(|id| known.is_of(id))
                && is_investigation(&known.summary)
        };
        let Some(at) = self.known.iter().rposition(is_meant) else { return Vec::new() };
        let known = &mut self.known[at];
        known.status = ItemStatus::Resolved;
        let closed = ("task_closed", vec![target_field(&known.handle), ("resolution", finding.into())]);
        Self::sourced(vec![closed], name, range)
    }
}

/// "Reproducing the failure", "find out why": the result is knowledge.
fn is_investigation(task: &str) -> bool {
    let sentence = Sentence::new(task, 0..task.len());
    let is_base = strip(&sentence.words, lx::INVESTIGATION).is_some();
    let is_doing = || {
        let verb = sentence.words.first().and_then(|word| word.lower.strip_suffix("ing"));
        verb.is_some_and(|base| {
            is_among(lx::INVESTIGATION, base) || is_among(lx::INVESTIGATION, &format!("{base}e"))
        })
    };
    is_base || is_doing()
}

/// Returns whether a sentence says how things are now, and not what is wrong or open.
fn is_result(report: &str) -> bool {
    let sentence = Sentence::new(report, 0..report.len());
    let says = |list: &str| sentence.words.iter().any(|word| is_among(list, &word.lower));
    !sentence.is_question
        && says(
            "is | are | has | now | done | started | runs | starts | shows | uses | has been | added | set",
        )
        && !says(
            "missing | wrong | broken | not | no | but | because | why | would | could | should | if | still | only",
        )
}

/// Returns the stems of what stands before the verb of a report.
fn subject_of(report: &str) -> Option<BTreeSet<String>> {
    let sentence = Sentence::new(report, 0..report.len());
    let verb = sentence.words.iter().take(MAX_SUBJECT_WORDS + 1).position(|word| {
        is_among(
            "is | are | has | have | now | shows | covers | contains | lists | starts | runs",
            &word.lower,
        )
    })?;
    let end = sentence.words.get(verb)?.place.start;
    let subject = stems(report.get(..end)?);
    let is_bad = sentence.words.iter().any(|word| {
        is_among("missing | wrong | broken | slow | slower | too | problem | cause | why | only", &word.lower)
    });
    (!subject.is_empty() && !is_bad).then_some(subject)
}
