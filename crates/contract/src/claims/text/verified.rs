//! The frame of `verified`: the change, and nothing else, was verified.

use super::frames::Statement;
use super::lex::Kind;
use super::lexicon::{self as lx, Class};
use super::phrase::{noun_phrase, predicate};
use super::sentence::Sentence;
use crate::claims::Claim;

/// "This change is verified", "verification passed", "I verified the patch".
pub(super) fn verified(sentence: &Sentence<'_, '_>, at: usize, found: &mut Vec<Statement>) {
    let mut add = |start, end| found.push(Statement { start, end, at: start, claim: Claim::Verified });
    if sentence.is(at, lx::VERIFICATION) {
        let phrase = noun_phrase(sentence, at, Class::NONE);
        if let Some(said) = predicate(sentence, at, phrase.is_negated).filter(|said| said.is_good) {
            add(phrase.start, said.end);
        } else if ["pass", "passes", "passed"]
            .iter()
            .any(|word| sentence.says(phrase.start.wrapping_sub(1), word))
        {
            add(phrase.start - 1, at);
        } else if let Some(end) = (at + 1..=at + 3).find(|&index| sentence.says(index, "complete")) {
            add(phrase.start, end);
        }
    } else if sentence.is(at, lx::VERIFIED)
        && !sentence.is(at + 1, lx::THAT)
        && let Some(start) = verified_subject(sentence, at)
    {
        add(start, at);
    } else if let Some(end) = contract_accepted(sentence, at) {
        add(at, end);
    }
}

/// "The patch contract was accepted", "the verdict is accepted".
fn contract_accepted(sentence: &Sentence<'_, '_>, at: usize) -> Option<usize> {
    const ACCEPTED: &[&str] = &["accepted", "fulfilled", "satisfied", "upheld", "kept"];
    let is_verdict = ["contract", "verdict"].iter().any(|word| sentence.says(at, word));
    let end = (at + 1..at + 5)
        .find(|&index| !sentence.is(index, lx::AUX | lx::ADVERB) || sentence.says(index, "kept"))?;
    let helped = end > at + 1 || sentence.kind(at + 1) == Some(Kind::Colon);
    (is_verdict && helped && ACCEPTED.iter().any(|word| sentence.says(end, word))).then_some(end)
}

/// Where a statement with "verified" begins, if it speaks of the change.
fn verified_subject(sentence: &Sentence<'_, '_>, at: usize) -> Option<usize> {
    let clause = sentence.clause_start(at);
    let mut index = at;
    while index > clause && sentence.is(index - 1, lx::ADVERB | lx::AUX | lx::NEG) {
        index -= 1;
    }
    let helped = (index..at).any(|it| sentence.is(it, lx::AUX));
    if (index..at).any(|it| sentence.is(it, lx::NEG)) {
        return None;
    }
    let before = index.checked_sub(1).filter(|it| *it >= clause);
    let ends = ends_after_verified(sentence, at + 1);
    match before {
        Some(it) if sentence.is(it, lx::SELF) || sentence.says(it, "probity") => {
            verified_object(sentence, at + 1).then_some(it)
        }
        Some(it) if helped && sentence.is(it, lx::CHANGE) && ends => {
            Some(noun_phrase(sentence, it, Class::NONE).start)
        }
        Some(it) if sentence.is(it, lx::AND | lx::BUT) && ends => Some(it),
        Some(it) if sentence.is(it, lx::CHANGE) && sentence.says(it, "quality") && ends => Some(it),
        Some(it) if sentence.is(it, lx::CHANGE) && it + 1 == at && ends && !helped => Some(it),
        None if ends || verified_object(sentence, at + 1) => Some(index),
        _ => None,
    }
}

fn ends_after_verified(sentence: &Sentence<'_, '_>, index: usize) -> bool {
    match sentence.tokens.get(index) {
        None => true,
        Some(token) if matches!(token.kind, Kind::Word) => {
            token.class.is(lx::PREP | lx::AND | lx::BUT | lx::ADVERB | lx::BECAUSE | lx::MARK | lx::TO)
                || sentence.says(index, "yes")
                || sentence.says(index, "end")
        }
        Some(token) => matches!(token.kind, Kind::Comma | Kind::Colon | Kind::Break),
    }
}

fn verified_object(sentence: &Sentence<'_, '_>, start: usize) -> bool {
    let noun =
        (start..start + 4).find(|&index| !sentence.is(index, lx::DET) && !sentence.says(index, "structural"));
    match noun {
        Some(index) if index < sentence.tokens.len() => {
            sentence.is(index, lx::CHANGE) && ends_after_verified(sentence, index + 1)
                || index == start && ends_after_verified(sentence, index)
                || sentence.is(index.wrapping_sub(1), lx::CHANGE) && ends_after_verified(sentence, index)
        }
        _ => true,
    }
}
