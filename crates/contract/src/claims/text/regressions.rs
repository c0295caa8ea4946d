//! The frame of `no_regressions`: nothing got worse.

use super::frames::ClaimStatement;
use super::phrase::{has_exception, noun_phrase, shares_no};
use crate::claims::Claim;
use probity_prose::clauses::ParsedSentence;
use probity_prose::lexicon as lx;
use probity_prose::tokens::TokenKind;

/// "No regressions", "regression-free", "nothing got worse", "introduces no new findings".
pub(super) fn regressions(sentence: &ParsedSentence<'_>, at: usize, found: &mut Vec<ClaimStatement>) {
    let mut add =
        |start, end| found.push(ClaimStatement { start, end, at: start, claim: Claim::NoRegressions });
    if sentence.is(at, lx::QUALITY) {
        if let Some(end) = did_not_drop(sentence, at) {
            add(at, end);
        }
    } else if sentence.is(at, lx::REGRESSION | lx::FINDING) {
        if let Some((start, end)) = no_regression_noun(sentence, at) {
            add(start, end);
        }
    } else if sentence.is(at, lx::WORSENING_VERB)
        && let Some((start, end)) = no_worsening(sentence, at)
        // Callers that do not break are what the interface promises.
        && !(end..end + 4).any(|index| sentence.is(index, lx::CALLERS))
    {
        add(start, end);
    } else if let Some(start) = nothing_new(sentence, at) {
        add(start, at + 1);
    }
}

/// "Quality did not drop", "the health has not fallen".
fn did_not_drop(sentence: &ParsedSentence<'_>, at: usize) -> Option<usize> {
    let drops = |index: &usize| sentence.is(*index, lx::DROP_VERB);
    let verb = (at + 1..at + 5).find(drops)?;
    let between = (at + 1..verb).all(|index| sentence.is(index, lx::AUXILIARY | lx::NEGATION | lx::ADVERB));
    let negations = (at + 1..verb).filter(|&index| sentence.is(index, lx::NEGATION)).count();
    (between && negations == 1).then_some(verb)
}

/// "The checks show nothing new": what a verb brings, and it is nothing.
fn nothing_new(sentence: &ParsedSentence<'_>, at: usize) -> Option<usize> {
    let says = sentence.is(at, lx::NOTHING) && sentence.is(at + 1, lx::ADDITIONAL);
    let ends = at + 2 >= sentence.clause_end(at);
    let verb = at
        .checked_sub(1)
        .filter(|&verb| sentence.is(verb, lx::PRODUCTION_VERB) || sentence.is(verb, lx::PRESENCE))?;
    let about =
        (sentence.clause_start(at)..verb).any(|it| sentence.is(it, lx::CHECK | lx::CI | lx::RUN_VERB));
    (says && ends && about).then_some(verb)
}

fn no_regression_noun(sentence: &ParsedSentence<'_>, at: usize) -> Option<(usize, usize)> {
    let attributive = sentence.is(at + 1, lx::TEST | lx::CHECK | lx::RUN_VERB | lx::REGRESSION_COMPOUND);
    if attributive
        || sentence.reads(at + 1, &["were", "fixed"])
        || sentence.reads(at + 1, &["were", "checked"])
    {
        return None;
    }
    if sentence.is(at, lx::REGRESSION) && sentence.says(at + 1, "free") {
        return Some((at, at + 1));
    }
    // "No regressions in our benchmarks" speaks of these alone.
    let is_somewhere = sentence.is(at + 1, lx::PREPOSITION)
        && (at + 2..at + 5).any(|index| {
            sentence.is(index, lx::NARROW_ADJECTIVE)
                || sentence.says_any(index, "benchmarks | latencies | perf | timings")
        });
    if is_somewhere {
        return None;
    }
    let phrase = noun_phrase(sentence, at, lx::ADDITIONAL);
    let brought = brings(sentence, phrase.start);
    let regression = sentence.is(at, lx::REGRESSION);
    if phrase.is_narrow || phrase.is_partial || has_exception(sentence, at) {
        return None;
    }
    if !regression && !phrase.is_new && !carries(sentence, phrase.start, at) {
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
    if phrase.start > 1
        && sentence.is(phrase.start - 1, lx::PREPOSITION)
        && sentence.says(phrase.start - 2, "free")
    {
        return Some((phrase.start - 2, at));
    }
    (regression || phrase.is_new).then(|| none_behind(sentence, at)).flatten().map(|end| (phrase.start, end))
}

/// Findings count as regressions only where they are new, or where a change brings them.
fn carries(sentence: &ParsedSentence<'_>, start: usize, at: usize) -> bool {
    let adds = |index| sentence.is(index, lx::ADDITION_VERB);
    (start.saturating_sub(2)..start).any(adds)
        || sentence.is(at + 1, lx::AUXILIARY) && (at + 2..at + 4).any(adds)
}

/// "does not introduce any", "without causing", "did not find": a verb that brings its object, turned round.
pub(super) fn brings(sentence: &ParsedSentence<'_>, start: usize) -> Option<usize> {
    let clause = sentence.clause_start(start);
    if start > clause && sentence.is(start, lx::ANY) && sentence.is(start - 1, lx::NEGATION) {
        return Some(start - 1);
    }
    let mut verb = None;
    for index in (clause.max(start.saturating_sub(6))..start).rev() {
        if verb.is_some() && sentence.is(index, lx::NEGATION | lx::WITHOUT) {
            return Some(index);
        }
        if sentence.is(index, lx::WITHOUT) && index + 1 == start {
            return Some(index);
        }
        if verb.is_none() && sentence.is(index, lx::PRODUCTION_VERB) {
            verb = Some(index);
        } else if !sentence.is(
            index,
            lx::DETERMINER
                | lx::ANY
                | lx::TO
                | lx::AUXILIARY
                | lx::ADVERB
                | lx::PRODUCTION_VERB
                | lx::PREPOSITION
                | lx::MODAL,
        ) {
            return None;
        }
    }
    None
}

/// What may follow "no regressions".
fn after_none(sentence: &ParsedSentence<'_>, at: usize) -> bool {
    let mut index = at + 1;
    while sentence.is(index, lx::AUXILIARY | lx::ADVERB) && !sentence.is(index, lx::FIX_VERB) {
        index += 1;
    }
    match sentence.tokens.get(index) {
        None => true,
        Some(token) if token.kind != TokenKind::Word => token.kind != TokenKind::Literal,
        Some(token) => {
            token.class.is(lx::PRESENCE
                | lx::PRODUCTION_VERB
                | lx::PREPOSITION
                | lx::AND
                | lx::OR
                | lx::BUT
                | lx::SUBORDINATOR
                | lx::THAT
                | lx::PRONOUN
                | lx::SUCCESS
                | lx::TO
                | lx::OTHER
                | lx::MARK
                | lx::CONDITION
                | lx::TEMPORAL_CONDITION
                | lx::MODAL
                | lx::HEDGE
                | lx::CLAUSE_HEDGE
                | lx::FIRST_PERSON)
                || token.text.ends_with("ly")
        }
    }
}

/// "Regressions: none", "regressions were not introduced", "regressions are absent".
fn none_behind(sentence: &ParsedSentence<'_>, at: usize) -> Option<usize> {
    let mut index = at + 1;
    let mut negated = false;
    while index <= at + 5 {
        let token = sentence.tokens.get(index)?;
        if sentence.is(index, lx::NO) || sentence.is(index, lx::ABSENCE) && !negated {
            return Some(index);
        }
        if negated && sentence.is(index, lx::PRESENCE | lx::PRODUCTION_VERB) {
            return Some(index);
        }
        negated |= sentence.is(index, lx::NEGATION);
        let fills = sentence.is(index, lx::AUXILIARY | lx::NEGATION | lx::ADVERB)
            || token.kind == TokenKind::Colon
            || sentence.says(index, "count");
        if !fills {
            return None;
        }
        index += 1;
    }
    None
}

/// "Nothing regressed", "does not make anything worse", "no metric got worse", "broke nothing".
fn no_worsening(sentence: &ParsedSentence<'_>, at: usize) -> Option<(usize, usize)> {
    let clause = sentence.clause_start(at);
    let near = clause.max(at.saturating_sub(8))..at;
    let breaks = sentence.is(at, lx::FAILURE);
    if let Some(nothing) = near.clone().find(|&index| sentence.is(index, lx::NOTHING)) {
        // "Nothing breaks in the test suite" speaks of the tests, "nothing breaks for callers" of the interface.
        let behind = sentence.clause_end(at).min(at + 6);
        let is_narrow = (at + 1..behind).any(|index| sentence.is(index, lx::TEST | lx::CALLERS));
        return (!has_exception(sentence, at) && !is_narrow).then_some((nothing, at));
    }
    if sentence.is(at + 1, lx::NOTHING) {
        return Some((at, at + 1));
    }
    if let Some(none) = near.clone().find(|&index| sentence.is(index, lx::NO)) {
        let about_tests = (none..at).any(|index| sentence.is(index, lx::TEST | lx::CHECK));
        return (!about_tests && !breaks).then_some((none, at));
    }
    let not = near.clone().find(|&index| sentence.is(index, lx::NEGATION))?;
    let about_tests = near.clone().any(|index| sentence.is(index, lx::TEST | lx::CHECK | lx::CI));
    let all = near.clone().any(|index| sentence.is(index, lx::ALL | lx::EVERYTHING | lx::EXCLUSIVE));
    let object = breaks && !sentence.is(at + 1, lx::ANY);
    (!about_tests && !object && !all && is_simple_negation(sentence, not, at)).then_some((not, at))
}

/// Whether only helping words stand between the negation and the verb.
fn is_simple_negation(sentence: &ParsedSentence<'_>, not: usize, verb: usize) -> bool {
    let helps = lx::AUXILIARY
        | lx::ADVERB
        | lx::ANY
        | lx::PRODUCTION_VERB
        | lx::DETERMINER
        | lx::PRONOUN
        | lx::CHANGE;
    (not + 1..verb)
        .all(|index| sentence.is(index, helps) || sentence.says_any(index, "things | things | matters"))
}
