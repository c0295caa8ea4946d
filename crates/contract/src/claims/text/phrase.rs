//! Noun phrases and predicates: the pieces that the frames are built from.
//!
//! All scans are bounded, so that recognition stays linear in the length of the text.

use probity_prose::clauses::ParsedSentence;
use probity_prose::lexicon::{self as lx, WordClass};
use probity_prose::tokens::TokenKind;

/// How far a phrase is followed.
const REACH: usize = 12;

/// What stands before a noun.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a question of its own about the words before a noun"
)]
#[derive(Debug, Clone, Copy)]
pub(super) struct NounPhrase {
    /// Its first token.
    pub(super) start: usize,
    /// "no", "none of the", "not a single".
    pub(super) is_negated: bool,
    /// "some", "almost all", "not all", "only".
    pub(super) is_partial: bool,
    /// "all", "every".
    pub(super) is_total: bool,
    /// Whether every word before the noun is one that a list allows.
    pub(super) is_plain: bool,
    /// "performance", "obvious": the noun speaks of less.
    pub(super) is_narrow: bool,
    /// "new", "additional".
    pub(super) is_new: bool,
}

/// How a statement about a subject ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct StatementPredicate {
    /// Its last token.
    pub(super) end: usize,
    /// Whether it says that all is well, negations counted.
    pub(super) is_good: bool,
}

/// Reads the noun phrase that ends in the noun at `head`. `plain` are the words that keep it plain.
pub(super) fn noun_phrase(sentence: &ParsedSentence<'_>, head: usize, plain: WordClass) -> NounPhrase {
    let mut phrase = NounPhrase {
        start: head,
        is_negated: false,
        is_partial: false,
        is_total: false,
        is_plain: true,
        is_narrow: false,
        is_new: false,
    };
    for index in (head.saturating_sub(REACH)..head).rev() {
        if !extend(sentence, &mut phrase, index, plain) {
            break;
        }
        phrase.start = index;
    }
    let before = phrase.start.wrapping_sub(1);
    if phrase.is_total && sentence.is(before, lx::NEGATION) {
        phrase.is_partial = true;
    }
    if (phrase.is_total || phrase.is_negated) && sentence.says(before, "not") {
        phrase.start = before;
    }
    phrase
}

/// Takes the token at `index` into the phrase, if it belongs there.
fn extend(sentence: &ParsedSentence<'_>, phrase: &mut NounPhrase, index: usize, plain: WordClass) -> bool {
    let token = &sentence.tokens[index];
    let at_end = |word: &str| sentence.says(index, word);
    if !matches!(token.kind, TokenKind::Word | TokenKind::Number | TokenKind::Literal) || phrase.is_negated {
        return false;
    }
    if sentence.is(index, lx::NO) || at_end("neither") || at_end("nor") {
        phrase.is_negated = true;
        return true;
    }
    if (at_end("one") || at_end("a")) && index > 0 && sentence.says(index - 1, "not") {
        phrase.is_negated = true;
        return true;
    }
    if at_end("one") && index > 0 && sentence.is(index - 1, lx::ALL) {
        return true;
    }
    if sentence.is(index, lx::PARTIAL_QUANTIFIER | lx::EXCLUSIVE) || at_end("one") {
        phrase.is_partial = true;
        return true;
    }
    if sentence.is(index, lx::ALL) {
        phrase.is_total = true;
        return true;
    }
    if at_end("of") {
        let before = index.wrapping_sub(1);
        phrase.is_partial |= is_share(sentence, index);
        return sentence
            .is(before, lx::ALL | lx::PARTIAL_QUANTIFIER | lx::NO | lx::ANY | lx::NARROW_ADJECTIVE)
            || sentence.kind(before) == Some(TokenKind::Number)
            || phrase.is_partial
            || sentence.says_any(before, "one | sign | signs | evidence | trace | neither");
    }
    if sentence.is(index, lx::AND) {
        return index > 0 && sentence.is(index - 1, lx::TEST_KIND) && sentence.is(index + 1, lx::TEST_KIND);
    }
    phrase.is_narrow |= sentence.is(index, lx::NARROW_ADJECTIVE);
    phrase.is_new |= sentence.is(index, lx::ADDITIONAL);
    if token.kind == TokenKind::Number || sentence.is(index, lx::DETERMINER | lx::ANY) {
        return true;
    }
    let modifies = lx::TEST_KIND | lx::NARROW_ADJECTIVE | lx::ADDITIONAL | lx::CI | plain;
    let known = sentence.is(index, modifies);
    let verbs = lx::SUCCESS
        | lx::AUXILIARY
        | lx::MODAL
        | lx::PREPOSITION
        | lx::PRODUCTION_VERB
        | lx::CONFIRMATION_VERB
        | lx::RUN_VERB
        | lx::TO
        | lx::THAT;
    let stops = !token.class.is_plain() && (!known || sentence.is(index, verbs));
    phrase.is_plain &= sentence.is(index, plain);
    !stops
}

/// "3 of 4", "9 out of 10", "two of the": fewer than all. The word at `of` is the "of".
fn is_share(sentence: &ParsedSentence<'_>, of: usize) -> bool {
    let part = if of > 0 && sentence.says(of - 1, "out") { of.wrapping_sub(2) } else { of.wrapping_sub(1) };
    let Some(token) = sentence.tokens.get(part) else { return false };
    let whole = sentence.tokens.get(of + 1).filter(|token| token.kind == TokenKind::Number);
    let is_all = sentence.is(part, lx::ALL) || whole.is_some_and(|whole| whole.text == token.text);
    let every_one = sentence.says(part, "one") && part > 0 && sentence.is(part - 1, lx::ALL | lx::NEGATION);
    let counts = token.kind == TokenKind::Number || sentence.is(part, lx::NUMERAL);
    counts && !is_all && !every_one && !sentence.is(part, lx::NO)
}

/// Whether a "no" further left reaches the noun at `head` over "or" and commas: "no failures or regressions".
pub(super) fn shares_no(sentence: &ParsedSentence<'_>, head: usize) -> Option<usize> {
    let nouns = lx::TEST
        | lx::TEST_KIND
        | lx::FAILURE
        | lx::REGRESSION
        | lx::FINDING
        | lx::ADDITIONAL
        | lx::DETERMINER
        | lx::ANY;
    let mut listed = false;
    for index in (head.saturating_sub(REACH)..head).rev() {
        if sentence.is(index, lx::NO | lx::WITHOUT) {
            return listed.then_some(index);
        }
        let joins = sentence.is(index, lx::OR | lx::AND) || sentence.kind(index) == Some(TokenKind::Comma);
        listed |= joins;
        if !joins && !sentence.is(index, nouns) && !sentence.tokens[index].class.is_plain() {
            return None;
        }
    }
    None
}

/// Reads what is said of the subject whose last token is `head`. `is_negated` says whether the subject is none.
pub(super) fn predicate(
    sentence: &ParsedSentence<'_>,
    head: usize,
    is_negated: bool,
) -> Option<StatementPredicate> {
    let mut negations = usize::from(is_negated);
    let mut index = head + 1;
    let mut in_aside = false;
    while index < sentence.tokens.len() && index <= head + REACH {
        let token = &sentence.tokens[index];
        let end = |is_good| Some(StatementPredicate { end: index, is_good });
        if in_aside {
            in_aside = token.kind != TokenKind::Break && token.kind != TokenKind::Comma;
        } else if sentence.is(index, lx::THAT) && sentence.is(index + 1, lx::FAILURE | lx::FIRST_PERSON) {
            index += 1;
        } else if sentence.says(index, "of") && is_share(sentence, index) {
            return None;
        } else if let Some((at, is_zero)) = exit_code(sentence, index) {
            return Some(StatementPredicate { end: at, is_good: is_zero == negations.is_multiple_of(2) });
        } else if sentence.is(index, lx::WITHOUT)
            || sentence.says(index, "with") && sentence.is(index + 1, lx::NO)
        {
            return without_failure(sentence, index, negations);
        } else if sentence.is(index, lx::NO) && sentence.is(index + 1, lx::FAILURE) {
            return Some(StatementPredicate { end: index + 1, is_good: negations.is_multiple_of(2) });
        } else if sentence.is(index, lx::SUCCESS) {
            return if hands_over(sentence, index) { None } else { end(negations % 2 == 0) };
        } else if sentence.is(index, lx::FAILURE) {
            return end(negations % 2 == 1);
        } else if sentence.is(index, lx::NEGATION) && !sentence.is(index, lx::OR)
            || sentence.reads(index, &["no", "longer"])
        {
            negations += 1;
        } else if token.kind == TokenKind::Break && matches!(token.text, "(" | "[") {
            in_aside = true;
        } else if token.kind == TokenKind::Comma && sentence.says(index + 1, "including") {
            in_aside = true;
            index += 1;
        } else if sentence.is(index, lx::PREPOSITION) {
            index = skip_object(sentence, index);
            continue;
        } else if !fills(sentence, index, head) {
            return None;
        }
        index += 1;
    }
    None
}

/// "exits with code 0", "exit status 1": where the number is, and whether it is zero.
fn exit_code(sentence: &ParsedSentence<'_>, index: usize) -> Option<(usize, bool)> {
    let exits = sentence.says_any(index, "exit | exits | exited");
    let at = (index + 1..index + 5)
        .find(|&at| !sentence.says_any(at, "with | code | status | exit | and | of"))?;
    (exits && sentence.kind(at) == Some(TokenKind::Number)).then(|| (at, sentence.tokens[at].text == "0"))
}

/// Whether a token may stand between a subject and what is said of it.
fn fills(sentence: &ParsedSentence<'_>, index: usize, head: usize) -> bool {
    let token = &sentence.tokens[index];
    let continues = sentence.is(index, lx::TO)
        && sentence.is(index.wrapping_sub(1), lx::AUXILIARY)
        && sentence.says_any(index - 1, "continue | continues | continued");
    let key_value =
        token.kind == TokenKind::Colon || matches!(token.text, "-" | "—" | "–" | "→" | "->" | "=>");
    let listed = (sentence.is(index, lx::AND | lx::OR) || token.kind == TokenKind::Comma)
        && is_subject(sentence, head)
        && (sentence.is(index + 1, lx::DETERMINER | lx::ALL | lx::TEST | lx::CHECK)
            || is_thing(sentence, index + 1));
    let and_passed = sentence.is(index, lx::AND)
        && (head + 1..index).any(|between| sentence.is(between, lx::AUXILIARY))
        && (sentence.is(index + 1, lx::SUCCESS)
            || sentence.is(index + 1, lx::ADVERB) && sentence.is(index + 2, lx::SUCCESS));
    let done_to_it = sentence.is(index - 1, lx::AUXILIARY | lx::ADVERB)
        && sentence.is(index + 1, lx::AND)
        && (is_thing(sentence, index)
            || sentence.is(index, lx::CHANGE_VERB | lx::FIX_VERB | lx::PRODUCTION_VERB | lx::UNTOUCHED));
    let compound = sentence.says_any(index, "job | jobs | result | results | execution");
    let thing = index > head + 1 && is_thing(sentence, index) && !sentence.is(head + 1, lx::AUXILIARY);
    sentence.is(
        index,
        lx::AUXILIARY | lx::ADVERB | lx::ALL | lx::DETERMINER | lx::TEST | lx::CHECK | lx::TEST_KIND,
    ) || token.kind == TokenKind::Number
        || continues
        || key_value
        || listed
        || and_passed
        || done_to_it
        || compound
        || thing
}

/// Whether the phrase that ends in `head` opens its clause, so that what follows "and" can belong to it.
fn is_subject(sentence: &ParsedSentence<'_>, head: usize) -> bool {
    let start = sentence.clause_start(head);
    (start..head).all(|index| {
        sentence.is(index, lx::DETERMINER | lx::ALL | lx::TEST_KIND | lx::AND | lx::TEST | lx::NO)
            || is_thing(sentence, index)
            || sentence.kind(index) == Some(TokenKind::Number)
    })
}

/// A word that no class knows, or the name of something.
fn is_thing(sentence: &ParsedSentence<'_>, index: usize) -> bool {
    sentence.tokens.get(index).is_some_and(|token| {
        matches!(token.kind, TokenKind::Word | TokenKind::Literal) && token.class.is_plain()
    })
}

/// Skips "in the parser", "for Python 3": the preposition and the names behind it.
fn skip_object(sentence: &ParsedSentence<'_>, preposition: usize) -> usize {
    let mut index = preposition + 1;
    while index < sentence.tokens.len()
        && index < preposition + 6
        && (is_thing(sentence, index)
            || sentence
                .is(index, lx::DETERMINER | lx::TEST_KIND | lx::FILES | lx::CI | lx::ADDITIONAL | lx::CHANGE)
                && !sentence.is(index, lx::SUCCESS | lx::FAILURE)
            || sentence.kind(index) == Some(TokenKind::Number))
    {
        index += 1;
    }
    index
}

/// "without failures", "with no errors".
fn without_failure(
    sentence: &ParsedSentence<'_>,
    start: usize,
    negations: usize,
) -> Option<StatementPredicate> {
    let limit = (start + 6).min(sentence.tokens.len());
    let end =
        (start + 1..limit).find(|&index| sentence.is(index, lx::FAILURE | lx::FINDING | lx::REGRESSION))?;
    Some(StatementPredicate { end, is_good: negations.is_multiple_of(2) })
}

/// "is passed to the runner", "passes a list": the verb hands something over.
fn hands_over(sentence: &ParsedSentence<'_>, index: usize) -> bool {
    let verb = sentence.says_any(index, "pass | passes | passed");
    let away = sentence.says_any(index + 1, "to | into | along | through");
    let object = sentence.says_any(index + 1, "a | an | the | its")
        && !sentence.says(index + 2, "first")
        && !(index + 2..index + 5).any(|later| sentence.is(later, lx::TEST | lx::CHECK | lx::VERIFICATION));
    verb && (away || object)
}

/// Whether an exception follows at once: "except one", "apart from", "but two", "for the most part".
pub(super) fn has_exception(sentence: &ParsedSentence<'_>, end: usize) -> bool {
    let counted = |index| sentence.kind(index) == Some(TokenKind::Number);
    let but = |index: usize| {
        sentence.says(index, "but")
            && (counted(index + 1) || sentence.says(index + 1, "one") || sentence.says(index + 1, "for"))
    };
    let excepted = |index: usize| {
        sentence.is(index, lx::EXCEPTION) || sentence.reads(index, &["other", "than"]) || but(index)
    };
    let weakened = (end + 1..=end + 3)
        .take_while(|&index| {
            matches!(sentence.kind(index), Some(TokenKind::Word)) && !sentence.is(index, lx::AND | lx::BUT)
        })
        .any(|index| {
            sentence.is(index, lx::PARTIAL_QUANTIFIER | lx::EXCLUSIVE) && !sentence.says(index, "just")
        });
    let failed =
        |index: usize| counted(index) && !sentence.is(index, lx::NO) && sentence.is(index + 1, lx::FAILURE);
    weakened || (end + 1..=end + 3).any(|index| excepted(index) || failed(index))
}
