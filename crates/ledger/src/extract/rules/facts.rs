//! How things are: what was found out, and plain statements about the project.

use super::super::claims::Claim;
use super::super::lexicon::{FOUND, IDLE_STARTS, IDLE_SUBJECTS, STATING};
use super::super::sentences::Word;
use super::super::{is_among, strip_any};
use super::Reader;
use crate::words::Confidence;

const CONFIRMING: &str = "\
    confirmed | confirm | verified | indeed | you were right | you are right | root cause | proved | proven";

/// What says how far some work is, which is no fact to keep.
const PROGRESS: &str = "done | finished | ready | complete | completed | merged | progress | yet";

/// What we do or what happened to us.
const PRACTICE: &str =
    "we use | we already use | we run | we already run | we lost | we hit | we saw | we had";

impl Reader<'_> {
    pub(super) fn fact(&self, words: &[Word]) -> Option<Claim> {
        let found = strip_any(words, FOUND).filter(|rest| rest.len() >= 3 && !is_phrase(rest));
        let is_practice = strip_any(words, PRACTICE).is_some_and(|rest| rest.len() > 1);
        let said = found
            .or(Some(words).filter(|words| is_practice || self.is_statement(words) || is_measured(words)))?;
        let corrects = self.revises() || self.has("turns out | in fact");
        let confirms = self.has(CONFIRMING);
        let is_sure =
            found.is_some() && (confirms || self.has("measured | the logs show | the profiler shows"));
        let confidence = if is_sure { Confidence::High } else { Confidence::Medium };
        Some(Claim::Fact { summary: self.said(said), confidence, corrects, confirms })
    }

    /// "The API is rate limited": a subject of the project's, a verb, and something to say.
    fn is_statement(&self, words: &[Word]) -> bool {
        let is_ours = matches!(words[0].lower.as_str(), "the" | "our" | "all" | "each" | "every");
        let first = usize::from(is_ours);
        let Some(subject) = words.get(first).filter(|_| words.len() >= 4) else {
            return false;
        };
        let is_idle = is_among(IDLE_SUBJECTS, &subject.lower) || is_among(IDLE_STARTS, &words[0].lower);
        let reports_progress = words.last().is_some_and(|word| is_among(PROGRESS, &word.lower));
        let verb = words.iter().take(8).skip(first + 1).position(|word| is_among(STATING, &word.lower));
        let has_verb = verb.is_some_and(|at| first + at + 2 < words.len());
        has_verb && !is_idle && !reports_progress && (is_ours || self.is_about_a_name(words))
    }

    /// Whether the subject is a name and the statement has something specific in it.
    fn is_about_a_name(&self, words: &[Word]) -> bool {
        let text = &self.sentence.text;
        let is_capital = text[words[0].place.start..].starts_with(|c: char| c.is_uppercase() || c == '`');
        let is_marked =
            |word: &Word| word.lower.contains(|c: char| c.is_ascii_digit() || matches!(c, '_' | '/' | '.'));
        let has_inner_capital = text[words[0].place.clone()].chars().skip(1).any(char::is_uppercase);
        let is_simple = words.get(1).is_some_and(|word| is_among(STATING, &word.lower));
        is_capital && (is_simple || has_inner_capital || words.iter().any(is_marked) || text.contains('`'))
    }
}

/// "I verified that against the list" goes on with a phrase, not with what was found.
fn is_phrase(words: &[Word]) -> bool {
    is_among("against | with | in | on | by | at | for | from | to | and | as", &words[0].lower)
}

/// "The outage lasted 42 minutes": a statement with a figure in it.
fn is_measured(words: &[Word]) -> bool {
    let has_figure = words.iter().skip(2).any(|word| word.lower.starts_with(|c: char| c.is_ascii_digit()));
    let is_statement = is_among("the | our | all | it | on | in | each | every | with", &words[0].lower);
    has_figure && is_statement && words.len() >= 5
}
