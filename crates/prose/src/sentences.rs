//! Finds the ends of sentences: a full stop, question mark or exclamation mark outside of code and quotations.

use crate::lexicon::{self, class_of};
use crate::spans::{SpanKind, span_at};
use crate::translation;
use crate::words::{Word, words};
use std::ops::Range;

#[derive(Debug, Clone)]
pub struct Sentence {
    /// As written, on one line.
    pub text: String,
    /// Its position in the whole text.
    pub range: Range<usize>,
    /// Its words, as English cues.
    pub words: Vec<Word>,
    pub is_question: bool,
    /// It is in a language other than English.
    pub is_translated: bool,
}

impl Sentence {
    /// Parses a sentence at the position `range`.
    pub fn new(text: &str, range: Range<usize>) -> Self {
        let mut words = words(text);
        let is_translated = translation::translate(text, &mut words);
        Self { text: text.to_owned(), range, words, is_question: is_question(text), is_translated }
    }
}

/// The role of a semicolon: it ends a sentence or only a clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SemicolonRole {
    /// The text before and after it is read separately.
    EndsSentence,
    /// It is a mark inside the sentence.
    EndsClause,
}

/// Returns the sentences of a line, trimmed. Pieces without a letter or digit are left out.
pub fn sentences(line: &str, semicolon: SemicolonRole) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for end in ends(line, semicolon) {
        let piece = &line[start..end];
        let trimmed = piece.trim();
        if trimmed.contains(char::is_alphanumeric) {
            let from = start + (piece.len() - piece.trim_start().len());
            found.push(from..from + trimmed.len());
        }
        start = end;
    }
    found
}

pub fn is_question(sentence: &str) -> bool {
    sentence.trim_end_matches(['"', '”', '»', ')', '*', ' ']).ends_with(['?', '？'])
}

fn ends(line: &str, semicolon: SemicolonRole) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut at = 0;
    let mut before = ' ';
    while let Some(c) = line[at..].chars().next() {
        // In the middle of a word a mark is an apostrophe and opens nothing.
        if let Some(span) = span_at(&line[at..]).filter(|_| !before.is_alphanumeric()) {
            at += span.length;
            before = ' ';
            let is_said =
                span.kind == SpanKind::Quotation && span.content.trim().contains(char::is_whitespace);
            if is_said
                && span.content.ends_with(['.', '!', '?'])
                && line[at..].chars().next().is_none_or(char::is_whitespace)
            {
                ends.push(at);
            }
            continue;
        }
        let next = at + c.len_utf8();
        before = c;
        if is_end(line, at, c, semicolon) {
            let closing = line[next..].len()
                - line[next..].trim_start_matches(['"', '”', ')', '*', '.', '!', '?']).len();
            ends.push(next + closing);
            at = next + closing;
        } else {
            at = next;
        }
    }
    if ends.last() != Some(&line.len()) {
        ends.push(line.len());
    }
    ends
}

/// How far back a mark looks for the word that it may belong to. Without a bound, a text without spaces would be read
/// once for each of its marks.
const MAX_ABBREVIATION_BYTES: usize = 64;

/// Returns whether the mark `c` at `at` ends a sentence.
fn is_end(line: &str, at: usize, c: char, semicolon: SemicolonRole) -> bool {
    let is_wide = matches!(c, '。' | '！' | '？');
    let is_mark =
        is_wide || matches!(c, '.' | '!' | '?' | '…') || c == ';' && semicolon == SemicolonRole::EndsSentence;
    let after = &line[at + c.len_utf8()..];
    let closes = after.chars().next().is_none_or(|next| {
        next.is_whitespace()
            || c != ';' && matches!(next, '"' | '”' | ')' | '*')
            || crate::tokens::is_mark(next)
    });
    if !is_mark || !(closes || is_wide) {
        return false;
    }
    let near = line.floor_char_boundary(at.saturating_sub(MAX_ABBREVIATION_BYTES));
    let word = line[near..at].rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or("");
    // `./...` is a path pattern for everything below.
    let is_path = word.ends_with("/..");
    let starts_small = after.trim_start().starts_with(char::is_lowercase);
    let is_abbreviation = c == '.'
        && class_of(word).is(lexicon::ABBREVIATION)
        && (starts_small || !word.eq_ignore_ascii_case("etc"));
    // "am 3. mai" goes on; "around 2. find out why" and "version 8. i think" do not.
    let next_word = after.trim_start().split(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
    let begins_anew = class_of(next_word).is(lexicon::FIRST_PERSON
        | lexicon::DETERMINER
        | lexicon::VERB
        | lexicon::FILLER
        | lexicon::NO);
    let is_number = c == '.'
        && (1..=2).contains(&word.len())
        && word.bytes().all(|byte| byte.is_ascii_digit())
        && starts_small
        && !begins_anew;
    !is_abbreviation && !is_number && !is_path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<&str> {
        sentences(text, SemicolonRole::EndsSentence).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn names_numbers_and_code_do_not_end_a_sentence() {
        assert_eq!(
            split("Use Node.js v1.2 here. Then e.g. Redis."),
            ["Use Node.js v1.2 here.", "Then e.g. Redis."]
        );
        assert_eq!(split("Run `a. b? c` now! Why? Because."), ["Run `a. b? c` now!", "Why?", "Because."]);
        assert_eq!(split("One `tick. Two; three."), ["One `tick.", "Two;", "three."]);
        assert_eq!(split("go test ./... passes. Done."), ["go test ./... passes.", "Done."]);
        assert_eq!(split("I only touched src/. All pass."), ["I only touched src/.", "All pass."]);
    }

    #[test]
    fn a_number_before_a_full_stop_ends_a_sentence_if_another_one_begins() {
        assert_eq!(split("It dies around 2. find out why"), ["It dies around 2.", "find out why"]);
        assert_eq!(split("Wir liefern am 3. mai."), ["Wir liefern am 3. mai."]);
    }

    #[test]
    fn a_quotation_stays_whole() {
        assert_eq!(split("He said \"use it.\" We did not."), ["He said \"use it.\"", "We did not."]);
        assert_eq!(
            split("\"Use it. Now!\" he said. We don't."),
            ["\"Use it. Now!\"", "he said.", "We don't."]
        );
    }
}
