//! The frame of `no_regressions`: nothing got worse.

use super::frames::Statement;
use super::lex::Kind;
use super::lexicon as lx;
use super::phrase::{has_exception, noun_phrase, shares_no};
use super::sentence::Sentence;
use crate::claims::Claim;

/// "No regressions", "regression-free", "nothing got worse", "introduces no new findings".
pub(super) fn regressions(sentence: &Sentence<'_, '_>, at: usize, found: &mut Vec<Statement>) {
    let mut add = |start, end| found.push(Statement { start, end, at: start, claim: Claim::NoRegressions });
    if sentence.is(at, lx::HEALTH) {
        if let Some(end) = did_not_drop(sentence, at) {
            add(at, end);
        }
    } else if sentence.is(at, lx::REGRESSION | lx::FINDING) {
        if let Some((start, end)) = no_regression_noun(sentence, at) {
            add(start, end);
        }
    } else if sentence.is(at, lx::WORSEN)
        && let Some((start, end)) = no_worsening(sentence, at)
    {
        add(start, end);
    } else if let Some(start) = nothing_new(sentence, at) {
        add(start, at + 1);
    }
}

/// "Quality did not drop", "the health has not fallen".
fn did_not_drop(sentence: &Sentence<'_, '_>, at: usize) -> Option<usize> {
    const DROP: &[&str] = &[
        "drop",
        "dropped",
        "fall",
        "fallen",
        "decline",
        "declined",
        "decrease",
        "decreased",
        "suffer",
        "suffered",
    ];
    let drops = |index: &usize| DROP.iter().any(|word| sentence.says(*index, word));
    let verb = (at + 1..at + 5).find(drops)?;
    let between = (at + 1..verb).all(|index| sentence.is(index, lx::AUX | lx::NEG | lx::ADVERB));
    let negations = (at + 1..verb).filter(|&index| sentence.is(index, lx::NEG)).count();
    (between && negations == 1).then_some(verb)
}

/// "The checks show nothing new": what a verb brings, and it is nothing.
fn nothing_new(sentence: &Sentence<'_, '_>, at: usize) -> Option<usize> {
    let says = sentence.is(at, lx::NOTHING) && sentence.is(at + 1, lx::NEW);
    let ends = at + 2 >= sentence.clause_end(at);
    let verb =
        at.checked_sub(1).filter(|&verb| sentence.is(verb, lx::BRING) || sentence.is(verb, lx::PRESENT))?;
    let about = (sentence.clause_start(at)..verb).any(|it| sentence.is(it, lx::CHECK | lx::CI | lx::RUN));
    (says && ends && about).then_some(verb)
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
    if phrase.start > 1 && sentence.is(phrase.start - 1, lx::PREP) && sentence.says(phrase.start - 2, "free")
    {
        return Some((phrase.start - 2, at));
    }
    (regression || phrase.is_new).then(|| none_behind(sentence, at)).flatten().map(|end| (phrase.start, end))
}

/// Findings count as regressions only where they are new, or where a change brings them.
fn carries(sentence: &Sentence<'_, '_>, start: usize, at: usize) -> bool {
    const ADDS: &[&str] =
        &["introduces", "introduced", "introducing", "adds", "added", "adding", "introduce", "add"];
    let adds = |index| ADDS.iter().any(|word| sentence.says(index, word));
    (start.saturating_sub(2)..start).any(adds) || sentence.is(at + 1, lx::AUX) && (at + 2..at + 4).any(adds)
}

/// "does not introduce any", "without causing", "did not find": a verb that brings its object, turned round.
pub(super) fn brings(sentence: &Sentence<'_, '_>, start: usize) -> Option<usize> {
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
    let helps = lx::AUX | lx::ADVERB | lx::ANY | lx::BRING | lx::DET | lx::PRONOUN | lx::CHANGE;
    (not + 1..verb).all(|index| {
        sentence.is(index, helps)
            || ["things", "things", "matters"].iter().any(|word| sentence.says(index, word))
    })
}
