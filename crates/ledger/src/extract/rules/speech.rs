//! The words of a summary: a piece of the sentence, cleaned up only at its edges.

use super::RuleReader;
use probity_prose::words::Word;

impl RuleReader<'_> {
    /// Returns the words with an initial capital, and without afterthoughts and reasons.
    pub(super) fn said(&self, words: &[Word]) -> String {
        let end =
            words.iter().skip(1).position(|word| word.lower == "because").map_or(words.len(), |at| at + 1);
        let all = &words[..end];
        let mut words = all;
        while let [rest @ .., last] = words {
            let is_for_now = last.lower == "for" && words.len() < all.len();
            let is_tail = is_for_now
                || matches!(
                    last.lower.as_str(),
                    "instead" | "then" | "please" | "too" | "ok" | "okay" | "thanks" | "now"
                );
            if !is_tail || rest.is_empty() {
                break;
            }
            words = rest;
        }
        let slice = self.slice(words);
        let mut chars = slice.chars();
        match chars.next() {
            Some(first) if first.is_lowercase() && !slice.contains("::") => {
                first.to_uppercase().chain(chars).collect()
            }
            _ => slice,
        }
    }

    /// Returns the text from the first word to the last, with their punctuation.
    pub(super) fn slice(&self, words: &[Word]) -> String {
        let (Some(first), Some(last)) = (words.first(), words.last()) else {
            return String::new();
        };
        let text = &self.sentence.text;
        let (mut start, mut end) = (first.place.start, last.place.end.max(first.place.start));
        while let Some(mark) = text[..start].chars().next_back().filter(|c| "`\"(.-“".contains(*c)) {
            start -= mark.len_utf8();
        }
        while let Some(mark) = text[end..].chars().next().filter(|c| "`\")”".contains(*c)) {
            end += mark.len_utf8();
        }
        // "94 %" loses its meaning without the sign.
        let is_figure = last.lower.ends_with(|c: char| c.is_ascii_digit());
        if is_figure && text[end..].trim_start().starts_with('%') {
            end += text[end..].len() - text[end..].trim_start().len() + 1;
        }
        let slice = text[start..end].trim_matches(|c: char| c.is_whitespace() || c == '*');
        without_lone_marks(slice.trim_start_matches(['-', '—']).trim_start()).to_owned()
    }
}

/// Removes a bracket or mark that lost its partner.
fn without_lone_marks(slice: &str) -> &str {
    let mut slice = slice;
    for (open, close) in [('(', ')'), ('"', '"'), ('“', '”'), ('`', '`')] {
        let (n_open, n_close) = (slice.matches(open).count(), slice.matches(close).count());
        let is_odd = if open == close { n_open % 2 == 1 } else { n_open != n_close };
        if is_odd {
            slice = slice.trim_start_matches(open).trim_end_matches(close);
        }
    }
    slice
}
