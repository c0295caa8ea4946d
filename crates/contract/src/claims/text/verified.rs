//! The frame of `verified`: the change, and nothing else, was verified.

use super::frames::ClaimStatement;
use super::phrase::{noun_phrase, predicate};
use crate::claims::Claim;
use probity_prose::clauses::ParsedSentence;
use probity_prose::lexicon::{self as lx, WordClass};
use probity_prose::tokens::TokenKind;

/// "This change is verified", "verification passed", "I verified the patch".
pub(super) fn verified(sentence: &ParsedSentence<'_>, at: usize, found: &mut Vec<ClaimStatement>) {
    let mut add = |start, end| found.push(ClaimStatement { start, end, at: start, claim: Claim::Verified });
    if sentence.is(at, lx::VERIFICATION) {
        let phrase = noun_phrase(sentence, at, WordClass::NONE);
        if let Some(said) = predicate(sentence, at, phrase.is_negated).filter(|said| said.is_good) {
            add(phrase.start, said.end);
        } else if sentence.says_any(phrase.start.wrapping_sub(1), "pass | passes | passed") {
            add(phrase.start - 1, at);
        } else if let Some(end) = (at + 1..=at + 3).find(|&index| sentence.says(index, "complete")) {
            add(phrase.start, end);
        }
    } else if sentence.is(at, lx::VERIFIED)
        && !says_what(sentence, at + 1)
        && let Some(start) = verified_subject(sentence, at)
    {
        add(start, at);
    } else if let Some(end) = contract_accepted(sentence, at) {
        add(at, end);
    }
}

/// "Verified locally that …": not the change was verified, but what follows.
fn says_what(sentence: &ParsedSentence<'_>, from: usize) -> bool {
    let that = (from..from + 3).find(|&index| !sentence.is(index, lx::ADVERB));
    that.is_some_and(|index| sentence.is(index, lx::THAT))
}

/// "The patch contract was accepted", "the verdict is accepted".
fn contract_accepted(sentence: &ParsedSentence<'_>, at: usize) -> Option<usize> {
    let is_verdict = sentence.says_any(at, "contract | verdict");
    let end = (at + 1..at + 5)
        .find(|&index| !sentence.is(index, lx::AUXILIARY | lx::ADVERB) || sentence.says(index, "kept"))?;
    let helped = end > at + 1 || sentence.kind(at + 1) == Some(TokenKind::Colon);
    (is_verdict && helped && sentence.is(end, lx::ACCEPTED)).then_some(end)
}

/// Where a statement with "verified" begins, if it speaks of the change.
fn verified_subject(sentence: &ParsedSentence<'_>, at: usize) -> Option<usize> {
    let clause = sentence.clause_start(at);
    let mut index = at;
    while index > clause && sentence.is(index - 1, lx::ADVERB | lx::AUXILIARY | lx::NEGATION) {
        index -= 1;
    }
    let helped = (index..at).any(|it| sentence.is(it, lx::AUXILIARY));
    if (index..at).any(|it| sentence.is(it, lx::NEGATION)) {
        return None;
    }
    let before = index.checked_sub(1).filter(|it| *it >= clause);
    let ends = ends_after_verified(sentence, at + 1);
    match before {
        Some(it) if sentence.is(it, lx::FIRST_PERSON) || sentence.says(it, "probity") => {
            verified_object(sentence, at + 1).then_some(it)
        }
        Some(it) if helped && sentence.is(it, lx::CHANGE) && ends => {
            Some(noun_phrase(sentence, it, WordClass::NONE).start)
        }
        Some(it) if sentence.is(it, lx::AND | lx::BUT) && ends => Some(it),
        Some(it) if sentence.is(it, lx::CHANGE) && sentence.says(it, "quality") && ends => Some(it),
        Some(it) if sentence.is(it, lx::CHANGE) && it + 1 == at && ends && !helped => Some(it),
        None if ends || verified_object(sentence, at + 1) => Some(index),
        _ => None,
    }
}

fn ends_after_verified(sentence: &ParsedSentence<'_>, index: usize) -> bool {
    match sentence.tokens.get(index) {
        None => true,
        Some(token) if matches!(token.kind, TokenKind::Word) => {
            token.class.is(lx::PREPOSITION
                | lx::AND
                | lx::BUT
                | lx::ADVERB
                | lx::SUBORDINATOR
                | lx::MARK
                | lx::TO)
                || sentence.says(index, "yes")
                || sentence.says(index, "end")
        }
        Some(token) => matches!(token.kind, TokenKind::Comma | TokenKind::Colon | TokenKind::Break),
    }
}

fn verified_object(sentence: &ParsedSentence<'_>, start: usize) -> bool {
    let noun = (start..start + 4)
        .find(|&index| !sentence.is(index, lx::DETERMINER) && !sentence.says(index, "structural"));
    match noun {
        Some(index) if index < sentence.tokens.len() => {
            sentence.is(index, lx::CHANGE) && ends_after_verified(sentence, index + 1)
                || index == start && ends_after_verified(sentence, index)
                || sentence.is(index.wrapping_sub(1), lx::CHANGE) && ends_after_verified(sentence, index)
        }
        _ => true,
    }
}
