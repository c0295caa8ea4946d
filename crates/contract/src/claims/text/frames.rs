//! The frames of `tests_pass` and `all_checks_passed`: the ways in which a sentence can say that all went well.

use super::phrase::{has_exception, noun_phrase, predicate, shares_no};
use super::regressions::brings;
use crate::claims::Claim;
use probity_prose::clauses::ParsedSentence;
use probity_prose::lexicon::{self as lx, WordClass};
use probity_prose::tokens::TokenKind;

/// A statement found in a sentence.
#[derive(Debug)]
pub(super) struct ClaimStatement {
    /// Its first token; what stands before it in the clause can still take it back.
    pub(super) start: usize,
    /// Its last token.
    pub(super) end: usize,
    /// Where it counts as said, for the order of the claims.
    pub(super) at: usize,
    pub(super) claim: Claim,
}

/// What an earlier sentence was about, for a "they" or "everything" in the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StatementTopic {
    Tests,
    Checks,
}

const TESTS_PASS: Claim = Claim::TestsPass { gate: None };

/// "All tests pass", "no test fails", "the suite is green", "passes the tests".
pub(super) fn tests(sentence: &ParsedSentence<'_>, at: usize, found: &mut Vec<ClaimStatement>) {
    if !sentence.is(at, lx::TEST) || sentence.is(at + 1, lx::TEST) && !sentence.is(at + 1, lx::SUCCESS) {
        return;
    }
    let phrase = noun_phrase(sentence, at, lx::TEST_KIND | lx::FAILURE | lx::TEST);
    if phrase.is_partial {
        return;
    }
    let mut add = |start, end| found.push(ClaimStatement { start, end, at: start, claim: TESTS_PASS });
    let failing = (phrase.start..at).any(|index| sentence.is(index, lx::FAILURE));
    if failing && (phrase.is_negated || shares_no(sentence, at).is_some()) {
        return add(phrase.start, at);
    }
    if let Some(end) = brings(sentence, phrase.start).filter(|_| failing) {
        return add(end, at);
    }
    // "The test run passes", "cargo nextest run is green".
    let is_run = sentence.says_any(at + 1, "run | job | step | stage")
        && sentence.is(at + 2, lx::AUXILIARY | lx::ADVERB | lx::SUCCESS);
    if let Some(said) = predicate(sentence, at + usize::from(is_run), phrase.is_negated) {
        if said.is_good && !has_exception(sentence, said.end) {
            add(phrase.start, said.end);
        }
        return;
    }
    let verb = phrase.start.wrapping_sub(1);
    let passes = sentence.says_any(verb, "pass | passes | passed");
    let passed_them = passes && !phrase.is_negated && !has_exception(sentence, at);
    if passed_them || sentence.is(verb, lx::RUN_VERB) && ran_well(sentence, at) {
        add(verb, at);
    }
}

/// "ran the tests successfully", "ran the tests with no failures".
fn ran_well(sentence: &ParsedSentence<'_>, at: usize) -> bool {
    let end = sentence.clause_end(at).min(at + 6);
    (at + 1..end).any(|index| {
        sentence.says(index, "successfully")
            || (sentence.is(index, lx::WITHOUT) || sentence.reads(index, &["with", "no"]))
                && (index + 1..end).any(|later| sentence.is(later, lx::FAILURE | lx::FINDING))
    })
}

/// "All checks passed", "every gate is green", "CI is green", "passes all checks".
pub(super) fn checks(sentence: &ParsedSentence<'_>, at: usize, found: &mut Vec<ClaimStatement>) {
    let is_ci = sentence.is(at, lx::CI);
    let is_check = sentence.is(at, lx::CHECK);
    if !is_ci && !is_check || sentence.is(at + 1, lx::CHECK) || at > 0 && sentence.is(at - 1, lx::TEST) {
        return;
    }
    let phrase = noun_phrase(sentence, at, lx::CI | lx::FAILURE);
    let plural = sentence.says_any(at, "checks | gates | jobs | workflows");
    let named = !phrase.is_plain && !is_plain_check(sentence, phrase.start, at);
    if phrase.is_partial || named || is_check && !plural && !phrase.is_total && !phrase.is_negated {
        return;
    }
    let mut add =
        |start, end| found.push(ClaimStatement { start, end, at: start, claim: Claim::AllChecksPassed });
    let failing = (phrase.start..at).any(|index| sentence.is(index, lx::FAILURE));
    if failing {
        if phrase.is_negated {
            add(phrase.start, at);
        }
        return;
    }
    if let Some(said) = predicate(sentence, at, phrase.is_negated) {
        if said.is_good && !has_exception(sentence, said.end) {
            add(phrase.start, said.end);
        }
        return;
    }
    let verb = phrase.start.wrapping_sub(1);
    let passes = sentence.says_any(verb, "pass | passes | passed");
    if passes && !phrase.is_negated && !has_exception(sentence, at) {
        add(verb, at);
    }
}

/// Whether the words before "checks" speak of all of them and not of one sort.
fn is_plain_check(sentence: &ParsedSentence<'_>, start: usize, at: usize) -> bool {
    (start..at).all(|index| {
        sentence.is(
            index,
            lx::DETERMINER | lx::ALL | lx::NO | lx::NEGATION | lx::CI | lx::FAILURE | lx::TEST_KIND | lx::ANY,
        ) || sentence.says(index, "of")
            || sentence.kind(index) == Some(TokenKind::Number)
            || sentence.is(index, lx::PLAIN_CHECK)
    })
}

/// "The `unit` gate passed", "gate lint is green".
pub(super) fn named_gate(sentence: &ParsedSentence<'_>, at: usize, found: &mut Vec<ClaimStatement>) {
    if !sentence.says(at, "gate") {
        return;
    }
    let before = at.checked_sub(1).filter(|&index| sentence.tokens[index].is_marked);
    let after = Some(at + 1).filter(|&index| sentence.tokens.get(index).is_some_and(|token| token.is_marked));
    let Some(name) = before.or(after) else { return };
    let head = at.max(name);
    if let Some(said) = predicate(sentence, head, false).filter(|said| said.is_good) {
        let claim = Claim::TestsPass { gate: Some(sentence.tokens[name].text.to_owned()) };
        found.push(ClaimStatement { start: at.min(name), end: said.end, at, claim });
    }
}

/// "Everything passes", "all green", "they all pass"; of the tests, if they were spoken of just before.
pub(super) fn everything(
    sentence: &ParsedSentence<'_>,
    at: usize,
    topic: Option<StatementTopic>,
    found: &mut Vec<ClaimStatement>,
) {
    let everything = sentence.is(at, lx::EVERYTHING);
    let none_of_them = sentence.reads(at, &["none", "of", "them"]);
    let nothing = sentence.is(at, lx::NOTHING) || none_of_them;
    let of_them = none_of_them
        || sentence.reads(at, &["all", "of", "them"])
        || sentence.reads(at, &["all", "of", "it"]);
    let all = sentence.says(at, "all")
        && (of_them || sentence.is(at + 1, lx::AUXILIARY | lx::SUCCESS | lx::ADVERB));
    let head = if of_them { at + 2 } else { at };
    let pronoun = sentence.is(at, lx::THIRD_PERSON);
    if !everything && !all && !pronoun && !nothing {
        return;
    }
    let partial = sentence.is(at.wrapping_sub(1), lx::PARTIAL_QUANTIFIER | lx::NEGATION);
    let listed = all && is_subject_already(sentence, at);
    let Some(said) = predicate(sentence, head, nothing).filter(|said| said.is_good) else { return };
    let fails = sentence.is(said.end, lx::WORSENING_VERB);
    if partial
        || listed
        || has_exception(sentence, said.end)
        || nothing && fails && !none_of_them
        || pronoun && sentence.says(said.end, "clean")
    {
        return;
    }
    let inside = (at..said.end).find_map(|index| topic_of(sentence, index));
    let before = (0..at).rev().take(24).find_map(|index| topic_of(sentence, index));
    let claim = match inside.or(before).or(topic) {
        Some(StatementTopic::Tests) => TESTS_PASS,
        None if pronoun => return,
        Some(StatementTopic::Checks) | None => Claim::AllChecksPassed,
    };
    found.push(ClaimStatement { start: at, end: said.end, at, claim });
}

/// "The tests all pass": the tests are the subject, and "all" is not.
fn is_subject_already(sentence: &ParsedSentence<'_>, at: usize) -> bool {
    let start = sentence.clause_start(at);
    (start..at).any(|index| sentence.is(index, lx::TEST | lx::CHECK | lx::CI))
}

/// What a token is about.
pub(super) fn topic_of(sentence: &ParsedSentence<'_>, index: usize) -> Option<StatementTopic> {
    if sentence.is(index, lx::TEST) {
        Some(StatementTopic::Tests)
    } else if sentence.is(index, lx::CHECK | lx::CI) {
        Some(StatementTopic::Checks)
    } else {
        None
    }
}

/// "312 passed, 0 failed", "96 passed in 1.2s", "`pytest` → 312 passed": the last line of a test run.
pub(super) fn tally(sentence: &ParsedSentence<'_>, at: usize, found: &mut Vec<ClaimStatement>) {
    let counts = sentence.kind(at) == Some(TokenKind::Number) && sentence.says(at + 1, "passed");
    if !counts || sentence.is(at, lx::NO | lx::PARTIAL_QUANTIFIER) {
        return;
    }
    let limit = sentence.tokens.len().min(at + 8);
    let failed = (at + 2..limit).find(|&index| sentence.is(index, lx::FAILURE));
    if let Some(end) = failed.filter(|&index| sentence.is(index - 1, lx::NO)) {
        found.push(ClaimStatement { start: at, end, at, claim: TESTS_PASS });
    }
    let behind = at + 2;
    let is_time = |index: usize| {
        sentence.tokens.get(index).is_some_and(|token| token.text.starts_with(|c: char| c.is_ascii_digit()))
    };
    let is_timed = sentence.says(behind, "in") && is_time(behind + 1);
    let skips =
        (behind..limit).find(|&index| sentence.says_any(index, "skipped | ignored | deselected | xfailed"));
    let is_bare = behind >= sentence.tokens.len() && (0..at).any(|index| sentence.is(index, lx::TEST));
    if failed.is_none() && (is_timed || skips.is_some() || is_bare) {
        found.push(ClaimStatement { start: at, end: skips.unwrap_or(at + 1), at, claim: TESTS_PASS });
    }
}

/// "✅ Tests", "Tests ✅" is read as a predicate; here the mark comes first.
pub(super) fn marked(sentence: &ParsedSentence<'_>, at: usize, found: &mut Vec<ClaimStatement>) {
    if !sentence.is(at, lx::MARK) || !sentence.is(at, lx::SUCCESS) || at != 0 {
        return;
    }
    let end = sentence.tokens.len();
    let bare = |class: WordClass| {
        end > 1
            && sentence.is(end - 1, class)
            && (1..end - 1)
                .all(|index| sentence.is(index, lx::DETERMINER | lx::ALL | lx::TEST_KIND | lx::TEST))
    };
    if bare(lx::TEST) {
        found.push(ClaimStatement { start: at, end: end - 1, at, claim: TESTS_PASS });
    } else if bare(lx::CHECK | lx::CI) {
        found.push(ClaimStatement { start: at, end: end - 1, at, claim: Claim::AllChecksPassed });
    }
}
