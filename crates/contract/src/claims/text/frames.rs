//! The frames: for each claim, the ways in which a sentence can say it.

use super::lex::Kind;
use super::lexicon::{self as lx, Class};
use super::phrase::{has_exception, noun_phrase, predicate, shares_no};
use super::sentence::Sentence;
use crate::claims::Claim;

/// A statement found in a sentence.
#[derive(Debug)]
pub(super) struct Statement {
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
pub(super) enum Topic {
    Tests,
    Checks,
}

const TESTS_PASS: Claim = Claim::TestsPass { gate: None };

/// "All tests pass", "no test fails", "the suite is green", "passes the tests".
pub(super) fn tests(sentence: &Sentence<'_, '_>, at: usize, found: &mut Vec<Statement>) {
    if !sentence.is(at, lx::TEST) || sentence.is(at + 1, lx::TEST) && !sentence.is(at + 1, lx::PASS) {
        return;
    }
    let phrase = noun_phrase(sentence, at, lx::TEST_KIND | lx::FAIL | lx::TEST);
    if phrase.is_partial {
        return;
    }
    let mut add = |start, end| found.push(Statement { start, end, at: start, claim: TESTS_PASS });
    let failing = (phrase.start..at).any(|index| sentence.is(index, lx::FAIL));
    if failing && (phrase.is_negated || shares_no(sentence, at).is_some()) {
        return add(phrase.start, at);
    }
    if let Some(end) = brings(sentence, phrase.start).filter(|_| failing) {
        return add(end, at);
    }
    if let Some(said) = predicate(sentence, at, phrase.is_negated) {
        if said.is_good && !has_exception(sentence, said.end) {
            add(phrase.start, said.end);
        }
        return;
    }
    let verb = phrase.start.wrapping_sub(1);
    let passes = ["pass", "passes", "passed"].iter().any(|word| sentence.says(verb, word));
    let passed_them = passes && !phrase.is_negated && !has_exception(sentence, at);
    if passed_them || sentence.is(verb, lx::RUN) && ran_well(sentence, at) {
        add(verb, at);
    }
}

/// "ran the tests successfully", "ran the tests with no failures".
fn ran_well(sentence: &Sentence<'_, '_>, at: usize) -> bool {
    let end = sentence.clause_end(at).min(at + 6);
    (at + 1..end).any(|index| {
        sentence.says(index, "successfully")
            || (sentence.is(index, lx::WITHOUT) || sentence.reads(index, &["with", "no"]))
                && (index + 1..end).any(|later| sentence.is(later, lx::FAIL | lx::FINDING))
    })
}

/// "All checks passed", "every gate is green", "CI is green", "passes all checks".
pub(super) fn checks(sentence: &Sentence<'_, '_>, at: usize, found: &mut Vec<Statement>) {
    let is_ci = sentence.is(at, lx::CI) || sentence.says(at, "build") && sentence.says(at + 2, "green");
    let is_check = sentence.is(at, lx::CHECK);
    if !is_ci && !is_check || sentence.is(at + 1, lx::CHECK) {
        return;
    }
    let phrase = noun_phrase(sentence, at, CHECK_WORDS);
    let plural = ["checks", "gates", "jobs", "workflows"].iter().any(|word| sentence.says(at, word));
    let named = !phrase.is_plain && !is_plain_check(sentence, phrase.start, at);
    if phrase.is_partial || named || is_check && !plural && !phrase.is_total && !phrase.is_negated {
        return;
    }
    let mut add = |start, end| found.push(Statement { start, end, at: start, claim: Claim::AllChecksPassed });
    let failing = (phrase.start..at).any(|index| sentence.is(index, lx::FAIL));
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
    let passes = ["pass", "passes", "passed"].iter().any(|word| sentence.says(verb, word));
    if passes && !phrase.is_negated && !has_exception(sentence, at) {
        add(verb, at);
    }
}

const CHECK_WORDS: Class = lx::CI;

/// Whether the words before "checks" speak of all of them and not of one sort.
fn is_plain_check(sentence: &Sentence<'_, '_>, start: usize, at: usize) -> bool {
    const PLAIN: &[&str] = &[
        "required",
        "automated",
        "quality",
        "status",
        "configured",
        "sealed",
        "probity",
        "mandatory",
        "relevant",
        "contract",
        "structural",
        "pr",
        "existing",
        "github",
        "necessary",
        "applicable",
        "policy",
        "remaining",
    ];
    (start..at).all(|index| {
        sentence.is(index, lx::DET | lx::ALL | lx::NO | lx::CI | lx::FAIL | lx::TEST_KIND | lx::ANY)
            || sentence.says(index, "of")
            || sentence.kind(index) == Some(Kind::Number)
            || PLAIN.iter().any(|word| sentence.says(index, word))
    })
}

/// "The `unit` gate passed", "gate lint is green".
pub(super) fn named_gate(sentence: &Sentence<'_, '_>, at: usize, found: &mut Vec<Statement>) {
    if !sentence.says(at, "gate") {
        return;
    }
    let before = at.checked_sub(1).filter(|&index| sentence.tokens[index].marked);
    let after = Some(at + 1).filter(|&index| sentence.tokens.get(index).is_some_and(|token| token.marked));
    let Some(name) = before.or(after) else { return };
    let head = at.max(name);
    if let Some(said) = predicate(sentence, head, false).filter(|said| said.is_good) {
        let claim = Claim::TestsPass { gate: Some(sentence.tokens[name].text.to_owned()) };
        found.push(Statement { start: at.min(name), end: said.end, at, claim });
    }
}

/// "Everything passes", "all green", "they all pass"; of the tests, if they were spoken of just before.
pub(super) fn everything(
    sentence: &Sentence<'_, '_>,
    at: usize,
    topic: Option<Topic>,
    found: &mut Vec<Statement>,
) {
    let everything = sentence.is(at, lx::EVERYTHING);
    let nothing = sentence.is(at, lx::NOTHING);
    let all = sentence.says(at, "all") && sentence.is(at + 1, lx::AUX | lx::PASS | lx::ADVERB);
    let pronoun = ["they", "it", "these", "those"].iter().any(|word| sentence.says(at, word));
    if !everything && !all && !pronoun && !nothing {
        return;
    }
    let partial = sentence.is(at.wrapping_sub(1), lx::PARTIAL | lx::NEG);
    let listed = all && is_subject_already(sentence, at);
    let Some(said) = predicate(sentence, at, nothing).filter(|said| said.is_good) else { return };
    let fails = sentence.is(said.end, lx::WORSEN);
    if partial
        || listed
        || has_exception(sentence, said.end)
        || nothing && fails
        || pronoun && sentence.says(said.end, "clean")
    {
        return;
    }
    let before = (0..at).rev().take(24).find_map(|index| topic_of(sentence, index)).or(topic);
    let claim = match before {
        Some(Topic::Tests) => TESTS_PASS,
        None if pronoun => return,
        Some(Topic::Checks) | None => Claim::AllChecksPassed,
    };
    found.push(Statement { start: at, end: said.end, at, claim });
}

/// "The tests all pass": the tests are the subject, and "all" is not.
fn is_subject_already(sentence: &Sentence<'_, '_>, at: usize) -> bool {
    let start = sentence.clause_start(at);
    (start..at).any(|index| sentence.is(index, lx::TEST | lx::CHECK | lx::CI))
}

/// What a token is about.
pub(super) fn topic_of(sentence: &Sentence<'_, '_>, index: usize) -> Option<Topic> {
    if sentence.is(index, lx::TEST) {
        Some(Topic::Tests)
    } else if sentence.is(index, lx::CHECK | lx::CI) {
        Some(Topic::Checks)
    } else {
        None
    }
}

/// "✅ Tests", "Tests ✅" is read as a predicate; here the mark comes first.
pub(super) fn marked(sentence: &Sentence<'_, '_>, at: usize, found: &mut Vec<Statement>) {
    if !sentence.is(at, lx::MARK) || !sentence.is(at, lx::PASS) || at != 0 {
        return;
    }
    let end = sentence.tokens.len();
    let bare = |class: Class| {
        end > 1
            && sentence.is(end - 1, class)
            && (1..end - 1).all(|index| sentence.is(index, lx::DET | lx::ALL | lx::TEST_KIND | lx::TEST))
    };
    if bare(lx::TEST) {
        found.push(Statement { start: at, end: end - 1, at, claim: TESTS_PASS });
    } else if bare(lx::CHECK | lx::CI) {
        found.push(Statement { start: at, end: end - 1, at, claim: Claim::AllChecksPassed });
    }
}

/// "No regressions", "regression-free", "nothing got worse", "introduces no new findings".
pub(super) fn regressions(sentence: &Sentence<'_, '_>, at: usize, found: &mut Vec<Statement>) {
    let mut add = |start, end| found.push(Statement { start, end, at: start, claim: Claim::NoRegressions });
    if sentence.is(at, lx::REGRESSION | lx::FINDING) {
        if let Some((start, end)) = no_regression_noun(sentence, at) {
            add(start, end);
        }
    } else if sentence.is(at, lx::WORSEN)
        && let Some((start, end)) = no_worsening(sentence, at)
    {
        add(start, end);
    }
}

fn no_regression_noun(sentence: &Sentence<'_, '_>, at: usize) -> Option<(usize, usize)> {
    const ATTRIBUTE: &[&str] = &[
        "testing",
        "analysis",
        "coverage",
        "baseline",
        "report",
        "reports",
        "data",
        "model",
        "fix",
        "fixes",
        "tracking",
        "budget",
        "detection",
        "harness",
        "fixed",
        "tested",
        "checked",
        "investigated",
        "analysed",
        "analyzed",
        "addressed",
        "resolved",
        "count",
    ];
    let attributive = sentence.is(at + 1, lx::TEST | lx::CHECK | lx::RUN)
        || ATTRIBUTE.iter().any(|word| sentence.says(at + 1, word) && !sentence.says(at + 1, "count"));
    if attributive
        || sentence.reads(at + 1, &["were", "fixed"])
        || sentence.reads(at + 1, &["were", "checked"])
    {
        return None;
    }
    if sentence.is(at, lx::REGRESSION) && sentence.says(at + 1, "free") {
        return Some((at, at + 1));
    }
    let phrase = noun_phrase(sentence, at, lx::NEW);
    let brought = brings(sentence, phrase.start);
    let regression = sentence.is(at, lx::REGRESSION);
    if phrase.is_narrow || phrase.is_partial || has_exception(sentence, at) {
        return None;
    }
    if !regression && !phrase.is_new && !carries(sentence, phrase.start) {
        return None;
    }
    if phrase.is_negated {
        return after_none(sentence, at).then_some((phrase.start, at));
    }
    if let Some(start) = brought {
        return Some((start, at));
    }
    if let Some(start) = shares_no(sentence, at) {
        return Some((start, at));
    }
    if phrase.start > 1 && sentence.is(phrase.start - 1, lx::PREP) && sentence.says(phrase.start - 2, "free")
    {
        return Some((phrase.start - 2, at));
    }
    regression.then(|| none_behind(sentence, at)).flatten().map(|end| (phrase.start, end))
}

/// Findings count as regressions only where they are new, or where a change brings them.
fn carries(sentence: &Sentence<'_, '_>, start: usize) -> bool {
    const ADDS: &[&str] =
        &["introduces", "introduced", "introducing", "adds", "added", "adding", "introduce", "add"];
    (start.saturating_sub(2)..start).any(|index| ADDS.iter().any(|word| sentence.says(index, word)))
}

/// "does not introduce any", "without causing", "did not find": a verb that brings its object, turned round.
fn brings(sentence: &Sentence<'_, '_>, start: usize) -> Option<usize> {
    let clause = sentence.clause_start(start);
    if start > clause && sentence.is(start, lx::ANY) && sentence.is(start - 1, lx::NEG) {
        return Some(start - 1);
    }
    let mut verb = None;
    for index in (clause.max(start.saturating_sub(6))..start).rev() {
        if verb.is_some() && sentence.is(index, lx::NEG | lx::WITHOUT) {
            return Some(index);
        }
        if sentence.is(index, lx::WITHOUT) && index + 1 == start {
            return Some(index);
        }
        if verb.is_none() && sentence.is(index, lx::BRING) {
            verb = Some(index);
        } else if !sentence
            .is(index, lx::DET | lx::ANY | lx::TO | lx::AUX | lx::ADVERB | lx::BRING | lx::PREP | lx::MODAL)
        {
            return None;
        }
    }
    None
}

/// What may follow "no regressions".
fn after_none(sentence: &Sentence<'_, '_>, at: usize) -> bool {
    let mut index = at + 1;
    while sentence.is(index, lx::AUX | lx::ADVERB) && !sentence.is(index, lx::FIX) {
        index += 1;
    }
    match sentence.tokens.get(index) {
        None => true,
        Some(token) if token.kind != Kind::Word => token.kind != Kind::Literal,
        Some(token) => {
            token.class.is(lx::PRESENT
                | lx::BRING
                | lx::PREP
                | lx::AND
                | lx::OR
                | lx::BUT
                | lx::BECAUSE
                | lx::THAT
                | lx::PRONOUN
                | lx::PASS
                | lx::TO
                | lx::ELSE
                | lx::MARK
                | lx::CONDITION
                | lx::MODAL
                | lx::MAYBE
                | lx::SELF)
                || token.text.ends_with("ly")
        }
    }
}

/// "Regressions: none", "regressions were not introduced", "regressions are absent".
fn none_behind(sentence: &Sentence<'_, '_>, at: usize) -> Option<usize> {
    let mut index = at + 1;
    let mut negated = false;
    while index <= at + 5 {
        let token = sentence.tokens.get(index)?;
        if sentence.is(index, lx::NO) || sentence.is(index, lx::GONE) && !negated {
            return Some(index);
        }
        if negated && sentence.is(index, lx::PRESENT | lx::BRING) {
            return Some(index);
        }
        negated |= sentence.is(index, lx::NEG);
        let fills = sentence.is(index, lx::AUX | lx::NEG | lx::ADVERB)
            || token.kind == Kind::Colon
            || sentence.says(index, "count");
        if !fills {
            return None;
        }
        index += 1;
    }
    None
}

/// "Nothing regressed", "does not make anything worse", "no metric got worse", "broke nothing".
fn no_worsening(sentence: &Sentence<'_, '_>, at: usize) -> Option<(usize, usize)> {
    let clause = sentence.clause_start(at);
    let near = clause.max(at.saturating_sub(8))..at;
    let breaks = sentence.is(at, lx::FAIL);
    if let Some(nothing) = near.clone().find(|&index| sentence.is(index, lx::NOTHING)) {
        return (!has_exception(sentence, at)).then_some((nothing, at));
    }
    if sentence.is(at + 1, lx::NOTHING) {
        return Some((at, at + 1));
    }
    if let Some(none) = near.clone().find(|&index| sentence.is(index, lx::NO)) {
        let about_tests = (none..at).any(|index| sentence.is(index, lx::TEST | lx::CHECK));
        return (!about_tests && !breaks).then_some((none, at));
    }
    let not = near.clone().find(|&index| sentence.is(index, lx::NEG))?;
    let about_tests = near.clone().any(|index| sentence.is(index, lx::TEST | lx::CHECK | lx::CI));
    let all = near.clone().any(|index| sentence.is(index, lx::ALL | lx::EVERYTHING | lx::ONLY));
    let object = breaks && !sentence.is(at + 1, lx::ANY);
    (!about_tests && !object && !all && is_simple_negation(sentence, not, at)).then_some((not, at))
}

/// Whether only helping words stand between the negation and the verb.
fn is_simple_negation(sentence: &Sentence<'_, '_>, not: usize, verb: usize) -> bool {
    let helps = lx::AUX | lx::ADVERB | lx::ANY | lx::BRING | lx::DET | lx::PRONOUN;
    (not + 1..verb).all(|index| {
        sentence.is(index, helps)
            || ["things", "things", "matters"].iter().any(|word| sentence.says(index, word))
    })
}

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
    }
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
        Some(it) if sentence.is(it, lx::SELF) => verified_object(sentence, at + 1).then_some(it),
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
