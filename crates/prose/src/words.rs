//! The words of a sentence as they are spoken: in lower case, without punctuation.

use crate::lexicon::{self as lx, SpokenWord, is_among, strip};
use crate::tokens::{Token, TokenKind, tokenize};
use std::ops::Range;

#[derive(Debug, Clone)]
pub struct Word {
    pub lower: String,
    /// The position in the sentence. Both halves of a contraction have the same one.
    pub place: Range<usize>,
    /// It is inside a quotation: mentioned, not said.
    pub quoted: bool,
    /// A comma, colon or dash follows.
    pub paused: bool,
}

impl SpokenWord for Word {
    fn text(&self) -> &str {
        &self.lower
    }

    fn is_said(&self) -> bool {
        !self.quoted
    }
}

pub(crate) fn words(text: &str) -> Vec<Word> {
    let tokens = tokenize(text);
    let is_word = |token: &&Token<'_>| token.text.contains(char::is_alphanumeric) || token.class.is(lx::AND);
    let mut tokens = tokens.iter().filter(is_word).peekable();
    let mut words: Vec<Word> = Vec::new();
    while let Some(token) = tokens.next() {
        let end = tokens.peek().map_or(text.len(), |next| next.place.start.max(token.place.end));
        let is_first_half = tokens.peek().is_some_and(|next| next.place == token.place);
        let paused = !is_first_half && is_pause(&text[token.place.end..end]);
        let before = words.last_mut().filter(|last| text.get(last.place.end..token.place.start) == Some("-"));
        match before {
            _ if token.kind == TokenKind::Quotation => push_quotation(token, paused, &mut words),
            // A compound is one word: "open-source" is not an order to open.
            Some(last) => {
                last.lower = format!("{}-{}", last.lower, lower_case(token.text));
                last.place.end = token.place.end;
                last.paused = paused;
            }
            None => {
                let lower = lower_case(token.text);
                words.push(Word { lower, place: token.place.clone(), quoted: false, paused });
            }
        }
    }
    want_politely(&mut words);
    // One or two words in quotation marks are a name, not a quotation.
    if words.iter().filter(|word| word.quoted).count() <= 2 {
        for word in &mut words {
            word.quoted = false;
        }
    }
    words
}

/// Returns the words without leading interjections and connectives.
pub fn strip_openers(words: &[Word]) -> &[Word] {
    let mut rest = words;
    while let Some(stripped) = strip(rest, lx::OPENER)
        .or_else(|| strip_spoken_no(rest))
        .filter(|stripped| !stripped.is_empty() && !is_order(rest))
    {
        rest = stripped;
    }
    rest
}

/// "Update the README" asks for work; "update: the README is done" begins a sentence.
fn is_order(words: &[Word]) -> bool {
    matches!(words, [verb, object, ..] if is_among("update | note | remember | check", &verb.lower)
        && !verb.paused
        && is_among(lx::DETERMINER, &object.lower))
}

/// "No, …" is an answer; "no …" denies.
fn strip_spoken_no(words: &[Word]) -> Option<&[Word]> {
    let (first, rest) = words.split_first()?;
    (is_among("no | nope | yes", &first.lower) && first.paused).then_some(rest)
}

fn push_quotation(quotation: &Token<'_>, paused: bool, words: &mut Vec<Word>) {
    let tokens = tokenize(quotation.text);
    let shift = |place: Range<usize>| place.start + quotation.place.start..place.end + quotation.place.start;
    let spoken = tokens.into_iter().filter(|token| token.text.contains(char::is_alphanumeric));
    let quoted = spoken.map(|token| Word {
        lower: lower_case(token.text),
        place: shift(token.place),
        quoted: true,
        paused: false,
    });
    words.extend(quoted);
    if let Some(last) = words.last_mut() {
        last.paused |= paused;
    }
}

fn lower_case(text: &str) -> String {
    text.to_lowercase().replace('’', "'")
}

/// Returns whether the text between two words makes a reader pause.
fn is_pause(gap: &str) -> bool {
    let is_link = gap.contains("](");
    !is_link
        && (gap.contains([',', ':', '：', '—', '–', ';', '.', '!', '?']) || matches!(gap.trim(), "-" | "--"))
}

/// "Would like to" is a polite wish, not a doubt.
fn want_politely(words: &mut Vec<Word>) {
    let is_polite = |at: usize| {
        let next = words.get(at + 1).is_some_and(|word| word.lower == "like");
        words[at].lower == "would" && next
    };
    let polite: Vec<usize> = (0..words.len()).filter(|&at| is_polite(at)).collect();
    for &at in &polite {
        words[at].lower = "want".into();
    }
    let mut at = 0;
    let mut likes = polite.into_iter().map(|would| would + 1).peekable();
    words.retain(|_| {
        let is_like = likes.next_if_eq(&at).is_some();
        at += 1;
        !is_like
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_taken_apart_and_quotations_marked() {
        let words = words("Don't say \"we will use Redis now\", ok");
        let lower: Vec<_> = words.iter().map(|word| word.lower.as_str()).collect();
        assert_eq!(lower, ["do", "not", "say", "we", "will", "use", "redis", "now", "ok"]);
        let quoted = words.iter().filter(|word| word.quoted).map(|word| word.lower.as_str());
        assert_eq!(quoted.collect::<Vec<_>>(), ["we", "will", "use", "redis", "now"]);
    }

    #[test]
    fn marks_between_words_pause() {
        let words = words("Yes, use it-all - or `not`: 1,000");
        let paused = words.iter().filter(|word| word.paused).map(|word| word.lower.as_str());
        assert_eq!(paused.collect::<Vec<_>>(), ["yes", "it-all", "not"]);
    }
}
