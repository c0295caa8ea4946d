//! Drops words without meaning: articles, a leading "we will", the "-ing" of the leading verb, dashes, the space before
//! a unit. Each rule looks at the surrounding words and changes nothing in doubt.

use super::tokens::TokenList;
use super::units::write_unit;
use super::verbs::base_of_ing;
use crate::lexicon::{self as lx, class_of};
use crate::negation::is_negation;

/// Marks words without meaning as dropped, and respells the leading verb.
pub(super) fn apply(tokens: &mut TokenList) {
    drop_dashes(tokens);
    let first = drop_lead(tokens);
    plain_leading_verb(tokens, first);
    drop_articles(tokens);
}

/// Writes the normal form: the remaining words, separated by single spaces.
pub(super) fn write(tokens: &TokenList, out: &mut String) {
    let mut at = 0;
    while at < tokens.list.len() {
        if tokens.list[at].dropped {
            at += 1;
            continue;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        let has_unit = write_word(tokens, at, out);
        if tokens.list[at].marked && is_negation(tokens.lower(at)) {
            // "No, use it" is not "no use".
            out.push_str(" ,");
        }
        at += if has_unit { 2 } else { 1 };
    }
}

/// Writes the statement without its negations, and counts them.
pub(super) fn write_neutral(tokens: &TokenList, out: &mut String) -> u32 {
    let kept = || (0..tokens.list.len()).filter(|&at| !tokens.list[at].dropped);
    let negations = kept().filter(|&at| is_negation(tokens.lower(at))).count();
    if negations == 0 {
        return 0;
    }
    let mut words = kept().peekable();
    let mut is_third_person = false;
    while let Some(at) = words.next() {
        let word = tokens.lower(at);
        let denies_next = words.peek().is_some_and(|&next| tokens.lower(next) == "not");
        if is_negation(word) {
            continue;
        }
        if denies_next && matches!(word, "do" | "does" | "did") {
            is_third_person = word == "does";
            continue;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        // "does not need" denies "needs".
        if std::mem::take(&mut is_third_person) && word != "have" {
            out.push_str(word);
            let takes_es =
                word.ends_with(['s', 'x', 'z', 'o']) || word.ends_with("ch") || word.ends_with("sh");
            out.push_str(if takes_es { "es" } else { "s" });
        } else {
            write_word(tokens, at, out);
        }
    }
    u32::try_from(negations).unwrap_or(u32::MAX)
}

/// Writes one word, with the unit after it if it is a number. Returns whether that unit was a separate word.
fn write_word(tokens: &TokenList, at: usize, out: &mut String) -> bool {
    let word = tokens.lower(at);
    if !tokens.list[at].has_digit {
        out.push_str(word);
        return false;
    }
    let cased = tokens.cased(at);
    let number = cased.trim_end_matches(|c: char| !c.is_ascii_digit());
    if number.contains(char::is_alphabetic) {
        out.push_str(word);
        return false;
    }
    let unit = &cased[number.len()..];
    let start = out.len();
    out.push_str(number);
    if unit.is_empty() {
        let next = at + 1;
        let follows = next < tokens.list.len() && !tokens.list[at].marked && !tokens.list[next].dropped;
        return follows && write_unit(tokens.cased(next), out);
    }
    if !write_unit(unit, out) {
        out.truncate(start);
        out.push_str(word);
    }
    false
}

/// A dash between words sets them off like a comma; between numbers, or in a formula, it is an operator.
fn drop_dashes(tokens: &mut TokenList) {
    if !tokens.has_marks {
        return;
    }
    let is_operator =
        |word: &str| !word.contains(char::is_alphanumeric) && !matches!(word, "-" | "–" | "—" | "?");
    for at in 1..tokens.list.len().saturating_sub(1) {
        let is_letters = |at: usize| tokens.lower(at).chars().all(|c| c.is_alphabetic() || c == '\'');
        let drops = match tokens.lower(at) {
            "—" | "–" => is_letters(at - 1) && is_letters(at + 1),
            "-" => {
                let is_long = |at: usize| is_letters(at) && tokens.lower(at).len() > 1;
                let is_formula = (0..tokens.list.len()).any(|at| is_operator(tokens.lower(at)));
                is_long(at - 1) && is_long(at + 1) && !is_formula
            }
            _ => false,
        };
        if drops {
            tokens.list[at].dropped = true;
            tokens.list[at - 1].marked = true;
        }
    }
}

/// Drops a leading "we will", "I will" or "let us", and returns where the statement begins.
fn drop_lead(tokens: &mut TokenList) -> usize {
    if tokens.list.len() < 3 || tokens.list[0].marked || tokens.list[1].marked {
        return 0;
    }
    let is_lead = match tokens.lower(0) {
        "we" | "i" => tokens.lower(1) == "will",
        "let" => tokens.lower(1) == "us",
        _ => false,
    };
    if !is_lead {
        return 0;
    }
    tokens.list[0].dropped = true;
    tokens.list[1].dropped = true;
    2
}

/// "Using X" becomes "use X" if the first word is a verb and not the subject.
fn plain_leading_verb(tokens: &mut TokenList, first: usize) {
    let has_object = first + 1 < tokens.list.len() && !tokens.list[first].marked;
    if !has_object || !tokens.lower(first).ends_with("ing") || leads_a_clause(tokens, first) {
        return;
    }
    if let Some(base) = base_of_ing(tokens.lower(first)) {
        tokens.respell(first, &base);
    }
}

/// Returns whether the first word is (part of) the subject of a clause: "Testing is slow", "Logging must stay on".
fn leads_a_clause(tokens: &TokenList, first: usize) -> bool {
    for at in first + 1..tokens.list.len() {
        let word = tokens.lower(at);
        if class_of(word).is(lx::FINITE_VERB) {
            return true;
        }
        if class_of(word).is(lx::CLAUSE_OPENER) || tokens.list[at].marked {
            return false;
        }
        if at == first + 1 && matches!(word, "and" | "or") {
            return true;
        }
    }
    false
}

fn drop_articles(tokens: &mut TokenList) {
    let mut naming = None;
    for at in 0..tokens.list.len().saturating_sub(1) {
        let is_article = match tokens.lower(at) {
            "the" | "an" => true,
            "a" => is_article_a(tokens, at, *naming.get_or_insert_with(|| CapitalAContext::of(tokens))),
            _ => false,
        };
        let is_article = is_article && !tokens.list[at].marked && !tokens.list[at].mentioned;
        tokens.list[at].dropped |= is_article;
    }
}

/// How a text spells names, as far as it matters for a single "A".
#[derive(Debug, Clone, Copy)]
struct CapitalAContext {
    /// Some word begins with a lower-case letter, so a capital "A" in the middle is a name.
    has_small_words: bool,
    /// There is a "B", so "A" is its sibling.
    has_b: bool,
}

impl CapitalAContext {
    fn of(tokens: &TokenList) -> Self {
        let all = || 0..tokens.list.len();
        Self {
            has_small_words: all().any(|at| tokens.cased(at).starts_with(char::is_lowercase)),
            has_b: all().any(|at| tokens.lower(at) == "b"),
        }
    }
}

/// Returns whether the "a" at `at` is an article rather than a name ("plan A", "from A to B", "5 A").
fn is_article_a(tokens: &TokenList, at: usize, naming: CapitalAContext) -> bool {
    let next = tokens.lower(at + 1);
    if naming.has_b || class_of(next).is(lx::NO_NOUN) || !next.contains(char::is_alphanumeric) {
        return false;
    }
    if at == 0 {
        return true;
    }
    let before = tokens.lower(at - 1);
    let is_name = tokens.cased(at) == "A" && naming.has_small_words;
    !is_name && !before.ends_with(|c: char| c.is_ascii_digit()) && !class_of(before).is(lx::LETTERED_NOUN)
}
