//! Noun phrases and predicates: the pieces that the frames are built from.
//!
//! All scans are bounded, so that recognition stays linear in the length of the text.

use super::lex::Kind;
use super::lexicon::{self as lx, Class};
use super::sentence::Sentence;

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
pub(super) struct Predicate {
    /// Its last token.
    pub(super) end: usize,
    /// Whether it says that all is well, negations counted.
    pub(super) is_good: bool,
}

/// Reads the noun phrase that ends in the noun at `head`. `plain` are the words that keep it plain.
pub(super) fn noun_phrase(sentence: &Sentence<'_, '_>, head: usize, plain: Class) -> NounPhrase {
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
    if phrase.is_total && sentence.is(before, lx::NEG) {
        phrase.is_partial = true;
    }
    if (phrase.is_total || phrase.is_negated) && sentence.says(before, "not") {
        phrase.start = before;
    }
    phrase
}

/// Takes the token at `index` into the phrase, if it belongs there.
fn extend(sentence: &Sentence<'_, '_>, phrase: &mut NounPhrase, index: usize, plain: Class) -> bool {
    let token = &sentence.tokens[index];
    let at_end = |word: &str| sentence.says(index, word);
    if !matches!(token.kind, Kind::Word | Kind::Number | Kind::Literal) || phrase.is_negated {
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
    if sentence.is(index, lx::PARTIAL | lx::ONLY) || at_end("one") {
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
        return sentence.is(before, lx::ALL | lx::PARTIAL | lx::NO | lx::ANY | lx::NARROW)
            || sentence.kind(before) == Some(Kind::Number)
            || phrase.is_partial
            || ["one", "sign", "signs", "evidence", "trace", "neither"]
                .iter()
                .any(|it| sentence.says(before, it));
    }
    if sentence.is(index, lx::AND) {
        return index > 0 && sentence.is(index - 1, lx::TEST_KIND) && sentence.is(index + 1, lx::TEST_KIND);
    }
    phrase.is_narrow |= sentence.is(index, lx::NARROW);
    phrase.is_new |= sentence.is(index, lx::NEW);
    if token.kind == Kind::Number || sentence.is(index, lx::DET | lx::ANY) {
        return true;
    }
    let modifies = lx::TEST_KIND | lx::NARROW | lx::NEW | lx::CI | plain;
    let known = sentence.is(index, modifies);
    let verbs =
        lx::PASS | lx::AUX | lx::MODAL | lx::PREP | lx::BRING | lx::CONFIRM | lx::RUN | lx::TO | lx::THAT;
    let stops = !token.class.is_plain() && (!known || sentence.is(index, verbs));
    phrase.is_plain &= sentence.is(index, plain);
    !stops
}

/// "3 of 4", "9 out of 10", "two of the": fewer than all. The word at `of` is the "of".
fn is_share(sentence: &Sentence<'_, '_>, of: usize) -> bool {
    const COUNTS: &[&str] = &["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let part = if of > 0 && sentence.says(of - 1, "out") { of.wrapping_sub(2) } else { of.wrapping_sub(1) };
    let Some(token) = sentence.tokens.get(part) else { return false };
    let whole = sentence.tokens.get(of + 1).filter(|token| token.kind == Kind::Number);
    let is_all = sentence.is(part, lx::ALL) || whole.is_some_and(|whole| whole.text == token.text);
    let every_one = sentence.says(part, "one") && part > 0 && sentence.is(part - 1, lx::ALL | lx::NEG);
    let counts = token.kind == Kind::Number || COUNTS.iter().any(|word| sentence.says(part, word));
    counts && !is_all && !every_one && !sentence.is(part, lx::NO)
}

/// Whether a "no" further left reaches the noun at `head` over "or" and commas: "no failures or regressions".
pub(super) fn shares_no(sentence: &Sentence<'_, '_>, head: usize) -> Option<usize> {
    let nouns =
        lx::TEST | lx::TEST_KIND | lx::FAIL | lx::REGRESSION | lx::FINDING | lx::NEW | lx::DET | lx::ANY;
    let mut listed = false;
    for index in (head.saturating_sub(REACH)..head).rev() {
        if sentence.is(index, lx::NO | lx::WITHOUT) {
            return listed.then_some(index);
        }
        let joins = sentence.is(index, lx::OR | lx::AND) || sentence.kind(index) == Some(Kind::Comma);
        listed |= joins;
        if !joins && !sentence.is(index, nouns) && sentence.tokens[index].class != Class::NONE {
            return None;
        }
    }
    None
}

/// Reads what is said of the subject whose last token is `head`. `is_negated` says whether the subject is none.
pub(super) fn predicate(sentence: &Sentence<'_, '_>, head: usize, is_negated: bool) -> Option<Predicate> {
    let mut negations = usize::from(is_negated);
    let mut index = head + 1;
    let mut in_aside = false;
    while index < sentence.tokens.len() && index <= head + REACH {
        let token = &sentence.tokens[index];
        let end = |is_good| Some(Predicate { end: index, is_good });
        if in_aside {
            in_aside = token.kind != Kind::Break && token.kind != Kind::Comma;
        } else if sentence.is(index, lx::THAT) && sentence.is(index + 1, lx::FAIL | lx::SELF) {
            index += 1;
        } else if sentence.says(index, "of") && is_share(sentence, index) {
            return None;
        } else if let Some((at, is_zero)) = exit_code(sentence, index) {
            return Some(Predicate { end: at, is_good: is_zero == negations.is_multiple_of(2) });
        } else if sentence.is(index, lx::WITHOUT)
            || sentence.says(index, "with") && sentence.is(index + 1, lx::NO)
        {
            return without_failure(sentence, index, negations);
        } else if sentence.is(index, lx::NO) && sentence.is(index + 1, lx::FAIL) {
            return Some(Predicate { end: index + 1, is_good: negations.is_multiple_of(2) });
        } else if sentence.is(index, lx::PASS) {
            return if hands_over(sentence, index) { None } else { end(negations % 2 == 0) };
        } else if sentence.is(index, lx::FAIL) {
            return end(negations % 2 == 1);
        } else if sentence.is(index, lx::NEG) && !sentence.is(index, lx::OR)
            || sentence.reads(index, &["no", "longer"])
        {
            negations += 1;
        } else if token.kind == Kind::Break && matches!(token.text, "(" | "[") {
            in_aside = true;
        } else if token.kind == Kind::Comma && sentence.says(index + 1, "including") {
            in_aside = true;
            index += 1;
        } else if sentence.is(index, lx::PREP) {
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
fn exit_code(sentence: &Sentence<'_, '_>, index: usize) -> Option<(usize, bool)> {
    const WORDS: &[&str] = &["with", "code", "status", "exit", "and", "of"];
    let exits = ["exit", "exits", "exited"].iter().any(|word| sentence.says(index, word));
    let at = (index + 1..index + 5).find(|&at| !WORDS.iter().any(|word| sentence.says(at, word)))?;
    (exits && sentence.kind(at) == Some(Kind::Number)).then(|| (at, sentence.tokens[at].text == "0"))
}

/// Whether a token may stand between a subject and what is said of it.
fn fills(sentence: &Sentence<'_, '_>, index: usize, head: usize) -> bool {
    let token = &sentence.tokens[index];
    let continues = sentence.is(index, lx::TO)
        && sentence.is(index.wrapping_sub(1), lx::AUX)
        && ["continue", "continues", "continued"].iter().any(|it| sentence.says(index - 1, it));
    let key_value = token.kind == Kind::Colon || matches!(token.text, "-" | "—" | "–" | "→" | "->" | "=>");
    let listed = (sentence.is(index, lx::AND | lx::OR) || token.kind == Kind::Comma)
        && is_subject(sentence, head)
        && (sentence.is(index + 1, lx::DET | lx::ALL | lx::TEST | lx::CHECK)
            || is_thing(sentence, index + 1));
    let and_passed = sentence.is(index, lx::AND)
        && (head + 1..index).any(|between| sentence.is(between, lx::AUX))
        && (sentence.is(index + 1, lx::PASS)
            || sentence.is(index + 1, lx::ADVERB) && sentence.is(index + 2, lx::PASS));
    let done_to_it = sentence.is(index - 1, lx::AUX | lx::ADVERB)
        && sentence.is(index + 1, lx::AND)
        && (is_thing(sentence, index) || sentence.is(index, lx::TOUCH | lx::FIX | lx::BRING | lx::UNTOUCHED));
    let compound =
        ["job", "jobs", "result", "results", "execution"].iter().any(|word| sentence.says(index, word));
    let thing = index > head + 1 && is_thing(sentence, index) && !sentence.is(head + 1, lx::AUX);
    sentence.is(index, lx::AUX | lx::ADVERB | lx::ALL | lx::DET | lx::TEST | lx::CHECK | lx::TEST_KIND)
        || token.kind == Kind::Number
        || continues
        || key_value
        || listed
        || and_passed
        || done_to_it
        || compound
        || thing
}

/// Whether the phrase that ends in `head` opens its clause, so that what follows "and" can belong to it.
fn is_subject(sentence: &Sentence<'_, '_>, head: usize) -> bool {
    let start = sentence.clause_start(head);
    (start..head).all(|index| {
        sentence.is(index, lx::DET | lx::ALL | lx::TEST_KIND | lx::AND | lx::TEST | lx::NO)
            || is_thing(sentence, index)
            || sentence.kind(index) == Some(Kind::Number)
    })
}

/// A word that no class knows, or the name of something.
fn is_thing(sentence: &Sentence<'_, '_>, index: usize) -> bool {
    sentence
        .tokens
        .get(index)
        .is_some_and(|token| matches!(token.kind, Kind::Word | Kind::Literal) && token.class.is_plain())
}

/// Skips "in the parser", "for Python 3": the preposition and the names behind it.
fn skip_object(sentence: &Sentence<'_, '_>, preposition: usize) -> usize {
    let mut index = preposition + 1;
    while index < sentence.tokens.len()
        && index < preposition + 6
        && (is_thing(sentence, index)
            || sentence.is(index, lx::DET | lx::TEST_KIND | lx::FILES | lx::CI | lx::NEW | lx::CHANGE)
                && !sentence.is(index, lx::PASS | lx::FAIL)
            || sentence.kind(index) == Some(Kind::Number))
    {
        index += 1;
    }
    index
}

/// "without failures", "with no errors".
fn without_failure(sentence: &Sentence<'_, '_>, start: usize, negations: usize) -> Option<Predicate> {
    let limit = (start + 6).min(sentence.tokens.len());
    let end =
        (start + 1..limit).find(|&index| sentence.is(index, lx::FAIL | lx::FINDING | lx::REGRESSION))?;
    Some(Predicate { end, is_good: negations.is_multiple_of(2) })
}

/// "is passed to the runner", "passes a list": the verb hands something over.
fn hands_over(sentence: &Sentence<'_, '_>, index: usize) -> bool {
    let verb = ["pass", "passes", "passed"].iter().any(|word| sentence.says(index, word));
    let away = ["to", "into", "along", "through"].iter().any(|word| sentence.says(index + 1, word));
    let object = ["a", "an", "the", "its"].iter().any(|word| sentence.says(index + 1, word))
        && !sentence.says(index + 2, "first")
        && !(index + 2..index + 5).any(|later| sentence.is(later, lx::TEST | lx::CHECK | lx::VERIFICATION));
    verb && (away || object)
}

/// Whether an exception follows at once: "except one", "apart from", "but two", "for the most part".
pub(super) fn has_exception(sentence: &Sentence<'_, '_>, end: usize) -> bool {
    let counted = |index| sentence.kind(index) == Some(Kind::Number);
    let but = |index: usize| {
        sentence.says(index, "but")
            && (counted(index + 1) || sentence.says(index + 1, "one") || sentence.says(index + 1, "for"))
    };
    let excepted = |index: usize| {
        sentence.is(index, lx::EXCEPT) || sentence.reads(index, &["other", "than"]) || but(index)
    };
    let weakened = (end + 1..=end + 3)
        .take_while(|&index| {
            matches!(sentence.kind(index), Some(Kind::Word)) && !sentence.is(index, lx::AND | lx::BUT)
        })
        .any(|index| sentence.is(index, lx::PARTIAL | lx::ONLY) && !sentence.says(index, "just"));
    let failed =
        |index: usize| counted(index) && !sentence.is(index, lx::NO) && sentence.is(index + 1, lx::FAIL);
    weakened || (end + 1..=end + 3).any(|index| excepted(index) || failed(index))
}
