//! Facts: findings, and plain statements about the project.

use super::super::claims::TurnClaim;
use super::RuleReader;
use crate::vocabulary::ConfidenceLevel;
use probity_prose::lexicon::{self as lx, is_among, position_after, strip};
use probity_prose::words::Word;

impl RuleReader<'_> {
    pub(super) fn fact(&self, words: &[Word]) -> Option<TurnClaim> {
        let told = || {
            let near = &words[..words.len().min(9)];
            position_after(near, lx::TOLD_DISCOVERY).map(|at| &words[at..])
        };
        let found =
            strip(words, lx::DISCOVERY).or_else(told).filter(|rest| rest.len() >= 3 && !is_phrase(rest));
        let is_lack =
            strip(words, "we do not").is_some() && self.has("at the moment | currently | right now | today");
        let is_practice = is_lack || strip(words, lx::PRACTICE).is_some_and(|rest| rest.len() > 1);
        let said = found.or(Some(words).filter(|words| {
            is_practice || !is_opinion(words) && (self.is_statement(words) || is_measured(words))
        }))?;
        let corrects = self.revises() || self.has("turns out | in fact");
        let confirms = self.has(lx::CONFIRMATION);
        let is_sure =
            found.is_some() && (confirms || self.has("measured | the logs show | the profiler shows"));
        let confidence = if is_sure { ConfidenceLevel::High } else { ConfidenceLevel::Medium };
        Some(TurnClaim::Fact { summary: self.said(said), confidence, corrects, confirms })
    }

    /// "The API is rate limited": a subject from the project, a verb, and a complement.
    fn is_statement(&self, words: &[Word]) -> bool {
        let is_ours = matches!(words[0].lower.as_str(), "the" | "our" | "all" | "each" | "every");
        let first = usize::from(is_ours);
        let Some(subject) = words.get(first).filter(|_| words.len() >= 4) else {
            return false;
        };
        let is_idle = is_among(lx::IDLE_SUBJECT, &subject.lower) || is_among(lx::IDLE_START, &words[0].lower);
        let reports_progress = words.last().is_some_and(|word| is_among(lx::PROGRESS, &word.lower));
        let verb =
            words.iter().take(8).skip(first + 1).position(|word| is_among(lx::STATIVE_VERB, &word.lower));
        let has_verb =
            verb.is_some_and(|at| first + at + 2 < words.len()) || is_ours && has_verb_by_form(words);
        has_verb && !is_idle && !reports_progress && (is_ours || self.is_about_a_name(words))
    }

    /// Returns whether the subject is a name and the statement contains something specific.
    fn is_about_a_name(&self, words: &[Word]) -> bool {
        let text = &self.sentence.text;
        let is_capital = text[words[0].place.start..].starts_with(|c: char| c.is_uppercase() || c == '`');
        let is_marked =
            |word: &Word| word.lower.contains(|c: char| c.is_ascii_digit() || matches!(c, '_' | '/' | '.'));
        let has_inner_capital = text[words[0].place.clone()].chars().skip(1).any(char::is_uppercase);
        let is_simple = words.get(1).is_some_and(|word| is_among(lx::STATIVE_VERB, &word.lower));
        is_capital && (is_simple || has_inner_capital || words.iter().any(is_marked) || text.contains('`'))
    }
}

/// "That is fine", "backups are hard": an opinion.
fn is_opinion(words: &[Word]) -> bool {
    let is =
        words.iter().take(6).position(|word| matches!(word.lower.as_str(), "is" | "are" | "was" | "were"));
    let has_figure = words.iter().any(|word| word.lower.starts_with(|c: char| c.is_ascii_digit()));
    is.and_then(|is| words.get(is + 1)).is_some_and(|word| is_among(lx::OPINION, &word.lower)) && !has_figure
}

/// "The model confuses …": a singular noun, then a word in -s with an object.
fn has_verb_by_form(words: &[Word]) -> bool {
    let is_verb = |pair: &[Word]| {
        let (noun, verb) = (&pair[0].lower, &pair[1].lower);
        let only_seems = is_among("looks | seems | sounds | feels | appears", verb);
        !only_seems
            && verb.len() > 3
            && verb.ends_with('s')
            && !verb.ends_with("ss")
            && !noun.ends_with('s')
            && !noun.ends_with("ed")
            && noun.len() > 2
            && !pair[0].paused
    };
    let end = words.len().saturating_sub(1).min(6);
    words.len() > 4 && words[1..end.max(1)].windows(2).any(is_verb)
}

/// "I verified that against the list" continues with a phrase, not with a finding.
fn is_phrase(words: &[Word]) -> bool {
    is_among("against | with | in | on | by | at | for | from | to | and | as", &words[0].lower)
}

/// "The outage lasted 42 minutes": a statement with a figure.
fn is_measured(words: &[Word]) -> bool {
    let is_figure = |word: &Word| word.lower.starts_with(|c: char| c.is_ascii_digit());
    let is_ours = is_among("the | our | all | it | on | in | each | every | with", &words[0].lower);
    let has_verb = words.iter().skip(1).take(6).any(|word| is_among(lx::STATIVE_VERB, &word.lower));
    let states = has_verb && !is_among(lx::IDLE_START, &words[0].lower);
    is_ours && words.len() >= 5 && words.iter().skip(2).any(is_figure)
        || states && words.len() >= 4 && words.iter().any(is_figure)
}
