//! The frame of `no_api_change`: nobody who uses the public interface notices.

use super::frames::ClaimStatement;
use super::phrase::has_exception;
use crate::claims::Claim;
use probity_prose::clauses::ParsedSentence;
use probity_prose::lexicon::{self as lx, WordClass};
use probity_prose::tokens::TokenKind;

/// How far words of one statement stand apart.
const REACH: usize = 8;

/// "No API changes", "the interface is unchanged", "backwards compatible", "does not break callers".
pub(super) fn unchanged(sentence: &ParsedSentence<'_>, at: usize, found: &mut Vec<ClaimStatement>) {
    let span = if sentence.is(at, lx::INTERFACE) {
        interface(sentence, at)
    } else if sentence.is(at, lx::COMPATIBLE) {
        compatible(sentence, at)
    } else if sentence.is(at, lx::CALLERS) {
        callers(sentence, at)
    } else if sentence.is(at, lx::PUBLIC) {
        nothing_public(sentence, at)
    } else if sentence.says(at, "compat") {
        compat(sentence, at)
    } else if sentence.says(at, "breaking") {
        no_breaking_change(sentence, at)
    } else {
        None
    };
    if let Some((start, end)) = span.filter(|&(_, end)| !has_exception(sentence, end)) {
        found.push(ClaimStatement { start, end, at: start, claim: Claim::NoApiChange });
    }
}

/// A statement whose noun is the interface.
fn interface(sentence: &ParsedSentence<'_>, at: usize) -> Option<(usize, usize)> {
    if sentence.is(at + 1, lx::TEST | lx::CHECK | lx::DOCS | lx::CALLERS)
        || sentence.is(at + 1, lx::INTERFACE)
    {
        return None;
    }
    let start = phrase_start(sentence, at);
    let negated = sentence.is(start, lx::NO);
    if negated {
        return no_interface_change(sentence, at).map(|end| (start, end));
    }
    no_changes_to(sentence, start)
        .map(|no| (no, at))
        .or_else(|| not_changing(sentence, start).map(|not| (not, at)))
        .or_else(|| stays(sentence, at).map(|end| (start, end)))
}

/// The first word of the phrase that ends in the noun at `at`: "the whole public API".
fn phrase_start(sentence: &ParsedSentence<'_>, at: usize) -> usize {
    let clause = sentence.clause_start(at);
    let mut start = at;
    while start > clause.max(at.saturating_sub(REACH)) {
        let before = start - 1;
        let belongs =
            lx::DETERMINER | lx::PUBLIC | lx::INTERFACE | lx::ALL | lx::ANY | lx::ADDITIONAL | lx::TEST_KIND;
        if sentence.is(before, lx::NO) {
            return before;
        }
        // "no behavior or API changes"
        if sentence.is(before, lx::OR) && before >= clause + 2 && sentence.is(before - 2, lx::NO) {
            return before - 2;
        }
        if !sentence.is(before, belongs)
            && !sentence.says_any(before, "existing | breaking | current | function | method")
        {
            break;
        }
        start = before;
    }
    start
}

/// "No API changes", "no public interface was modified".
fn no_interface_change(sentence: &ParsedSentence<'_>, at: usize) -> Option<usize> {
    let mut index = at + 1;
    while index <= at + 4 && sentence.is(index, lx::AUXILIARY | lx::ADVERB) {
        index += 1;
    }
    let changed = sentence.is(index, lx::CHANGE_VERB | lx::REMOVAL_VERB | lx::WORSENING_VERB)
        || sentence.is(index, lx::CHANGE_VERB_BASE)
        || sentence.says_any(index, "break | breaks | breakage | breakages | broken");
    changed.then_some(index)
}

/// "No changes to the public API": the index of the "no".
fn no_changes_to(sentence: &ParsedSentence<'_>, start: usize) -> Option<usize> {
    let to = start.checked_sub(1).filter(|&it| sentence.is(it, lx::TO | lx::PREPOSITION))?;
    let noun = to.checked_sub(1).filter(|&it| {
        sentence.is(it, lx::CHANGE | lx::CHANGE_VERB | lx::CHANGE_VERB_BASE)
            || sentence.is(it, lx::WORSENING_VERB)
    })?;
    let clause = sentence.clause_start(noun);
    (clause.max(noun.saturating_sub(3))..noun)
        .rev()
        .find(|&it| sentence.is(it, lx::NO | lx::WITHOUT))
        .or_else(|| (noun > clause && sentence.is(noun - 1, lx::NO)).then(|| noun - 1))
}

/// "Does not change the API", "without touching the interface": the index of the negation.
fn not_changing(sentence: &ParsedSentence<'_>, start: usize) -> Option<usize> {
    let clause = sentence.clause_start(start);
    let verb = start.checked_sub(1).filter(|&it| it >= clause && is_change_verb(sentence, it))?;
    negation_before(sentence, verb)
}

fn is_change_verb(sentence: &ParsedSentence<'_>, index: usize) -> bool {
    sentence.is(index, lx::CHANGE_VERB | lx::CHANGE_VERB_BASE)
        || sentence.says_any(index, "break | breaks | breaking | broke")
}

/// The negation that turns the verb at `verb` round, with only helping words between.
fn negation_before(sentence: &ParsedSentence<'_>, verb: usize) -> Option<usize> {
    let clause = sentence.clause_start(verb);
    for index in (clause.max(verb.saturating_sub(REACH))..verb).rev() {
        if sentence.is(index, lx::NEGATION | lx::WITHOUT) {
            return Some(index);
        }
        if !sentence.is(index, lx::AUXILIARY | lx::ADVERB | lx::ANY | lx::DETERMINER) {
            return None;
        }
    }
    None
}

/// "… is unchanged", "… stays the same", "… did not change", "… is left as is": the last word.
fn stays(sentence: &ParsedSentence<'_>, at: usize) -> Option<usize> {
    let mut negated = false;
    let mut helped = false;
    for index in at + 1..=at + REACH {
        sentence.tokens.get(index)?;
        if sentence.is(index, lx::UNTOUCHED) {
            return (!negated).then_some(index);
        }
        if helped && sentence.is(index, lx::SAMENESS | lx::COMPATIBLE) {
            return (!negated).then_some(index);
        }
        if sentence.reads(index, &["as", "is"])
            || sentence.says(index, "as") && sentence.is(index + 1, lx::PRONOUN)
        {
            return (helped && !negated).then_some(index + 1);
        }
        if is_change_verb(sentence, index) || sentence.is(index, lx::REMOVAL_VERB) {
            return negated.then_some(index);
        }
        let fills = sentence
            .is(index, lx::AUXILIARY | lx::ADVERB | lx::DETERMINER | lx::NEGATION | lx::STAY_VERB | lx::ALL)
            || sentence.says_any(index, "exactly | left | stable");
        if !fills {
            return None;
        }
        helped |= sentence.is(index, lx::AUXILIARY | lx::STAY_VERB);
        negated |= sentence.is(index, lx::NEGATION);
    }
    None
}

/// "Backwards compatible", "compatibility is preserved".
fn compatible(sentence: &ParsedSentence<'_>, at: usize) -> Option<(usize, usize)> {
    let start = at
        .checked_sub(1)
        .filter(|&it| sentence.says_any(it, "backward | backwards | api | abi | binary | source"))?;
    if sentence.says(at, "compatible") {
        return Some((start, at));
    }
    stays(sentence, at).map(|end| (start, end))
}

/// "It's backwards compat": no purpose, as in "kept for backwards compat", and no attribute, as in "a compat layer".
fn compat(sentence: &ParsedSentence<'_>, at: usize) -> Option<(usize, usize)> {
    let start = at.checked_sub(1).filter(|&it| sentence.says_any(it, "backward | backwards | back"))?;
    let is_predicate = start == sentence.clause_start(at)
        || sentence.is(start - 1, lx::AUXILIARY | lx::ADVERB | lx::STAY_VERB)
        || sentence.says_any(start - 1, "its | fully | completely | 100%");
    let ends = sentence.tokens.get(at + 1).is_none_or(|next| next.kind != TokenKind::Word);
    (is_predicate && ends).then_some((start, at))
}

/// "Does not break any callers", "existing callers keep working".
fn callers(sentence: &ParsedSentence<'_>, at: usize) -> Option<(usize, usize)> {
    let start = phrase_start(sentence, at);
    if let Some(not) = not_changing(sentence, start).filter(|&not| not > 0 || start > not) {
        return Some((not, at));
    }
    let works = (at + 1..=at + 4).find(|&it| sentence.says_any(it, "work | working | works"))?;
    let fills = |it: usize| sentence.is(it, lx::AUXILIARY | lx::ADVERB | lx::TO);
    (works > at + 1 && (at + 1..works).all(fills)).then_some((start, works))
}

/// "Nothing public was renamed or removed", "no public symbol was removed".
fn nothing_public(sentence: &ParsedSentence<'_>, at: usize) -> Option<(usize, usize)> {
    let no = at.checked_sub(1).filter(|&it| sentence.is(it, lx::NO | lx::NOTHING))?;
    let noun = if sentence
        .says_any(at + 1, "function | functions | symbol | symbols | method | methods | class | name | names")
    {
        at + 1
    } else {
        at
    };
    let verb = (noun + 1..noun + 4).find(|&it| !sentence.is(it, lx::AUXILIARY | lx::ADVERB))?;
    let done = sentence.is(verb, lx::REMOVAL_VERB | lx::CHANGE_VERB);
    let active = verb == noun + 1 && noun > at && sentence.is(verb, lx::CHANGE_VERB);
    (done && (active || sentence.is(verb - 1, lx::AUXILIARY))).then_some((no, verb))
}

/// "No breaking changes", "without breaking changes".
fn no_breaking_change(sentence: &ParsedSentence<'_>, at: usize) -> Option<(usize, usize)> {
    let noun = if sentence.is(at + 1, lx::INTERFACE) { at + 2 } else { at + 1 };
    if !sentence.is(noun, lx::CHANGE | lx::CHANGE_VERB | lx::CHANGE_VERB_BASE) {
        return None;
    }
    let clause = sentence.clause_start(at);
    let quiet: WordClass = lx::DETERMINER | lx::ANY | lx::ADDITIONAL | lx::ADVERB | lx::PUBLIC;
    for index in (clause.max(at.saturating_sub(4))..at).rev() {
        if sentence.is(index, lx::NO | lx::WITHOUT) {
            return Some((index, noun));
        }
        if sentence.is(index, lx::PRODUCTION_VERB) {
            return negation_before(sentence, index).map(|not| (not, noun));
        }
        if !sentence.is(index, quiet) {
            return None;
        }
    }
    None
}
