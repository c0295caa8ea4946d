//! Negation: the words that deny, their number before a token, and whether a text denies at all.

use crate::lexicon::{self as lx, class_of};
use crate::tokens::{Token, tokenize};

/// Returns whether a lower-case word negates a whole statement: without it, the statement says the opposite.
pub fn is_negation(word: &str) -> bool {
    matches!(word, "not" | "no" | "never")
}

/// Returns whether a text denies something, in any supported language.
pub fn denies(text: &str) -> bool {
    let negations = lx::NEGATION | lx::NO | lx::FOREIGN_NEGATION;
    tokenize(text)
        .iter()
        .any(|token| class_of(token.text).is(negations) || token.text.eq_ignore_ascii_case("against"))
}

/// Counts the negations before each token of a sentence, and after the last.
pub(crate) fn count_before(tokens: &[Token<'_>]) -> Vec<usize> {
    let mut counts = vec![0];
    let mut count = 0;
    for (at, token) in tokens.iter().enumerate() {
        let next = tokens.get(at + 1);
        let is_not_only = token.text.eq_ignore_ascii_case("not")
            && next.is_some_and(|next| next.text.eq_ignore_ascii_case("only"));
        let fails_to = token.class.is(lx::FAILURE) && next.is_some_and(|next| next.class.is(lx::TO));
        count += usize::from(
            token.class.is(lx::NEGATION) && !is_not_only || token.class.is(lx::INABILITY) || fails_to,
        );
        counts.push(count);
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_denies_in_any_language() {
        for text in ["Don't use it", "no Redis", "decided against it", "Kein Redis", "pas de Redis", "nunca"]
        {
            assert!(denies(text), "{text}");
        }
        assert!(!denies("Use Redis"));
    }
}
