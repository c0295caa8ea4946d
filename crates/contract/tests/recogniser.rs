//! The recognizer on arbitrary text: it never panics, and it is deterministic.

use probity_contract::claims::{KnownNames, recognize};
use proptest::prelude::*;

const WORDS: &[&str] = &[
    "no",
    "not",
    "nothing",
    "all",
    "every",
    "tests",
    "test",
    "pass",
    "passed",
    "fail",
    "regressions",
    "regression",
    "free",
    "checks",
    "CI",
    "green",
    "verified",
    "only",
    "touched",
    "changed",
    "src/a.py",
    "`b c`",
    "docs",
    "fixed",
    "F12",
    "dup:1",
    "rid",
    "of",
    "care",
    "is",
    "are",
    "the",
    "a",
    "one",
    "single",
    "and",
    "or",
    ",",
    ".",
    "?",
    ":",
    "(",
    ")",
    "but",
    "if",
    "should",
    "I",
    "think",
    "says",
    "that",
    "to",
    "other",
    "than",
    "except",
    "outside",
    "nothing",
    "else",
    "limited",
    "stays",
    "within",
    "0",
    "3",
    "4",
    "✅",
    "❌",
    "\n",
    "\n- ",
    "\n> ",
    "```",
    "\"",
    "'",
    "~~",
    "without",
    "introduced",
    "new",
    "findings",
    "worse",
    "got",
    "everything",
    "they",
    "longer",
    "reported",
    "as",
    "far",
    "gate",
];

proptest! {
    #[test]
    fn any_words_in_any_order_are_read(words in proptest::collection::vec(proptest::sample::select(WORDS), 0..40)) {
        let text = words.join(" ");
        let once = recognize(&text, &KnownNames::default());
        prop_assert_eq!(&once, &recognize(&text, &KnownNames::default()));
        prop_assert!(once.unchecked.len() <= once.sentences);
    }

    #[test]
    fn any_text_is_read(text in "\\PC{0,200}") {
        recognize(&text, &KnownNames::default());
    }

    #[test]
    fn a_claim_survives_unrelated_sentences_around_it(n in 0..4_usize) {
        let noise = "The parser was split into two modules. ".repeat(n);
        let text = format!("{noise}All tests pass. {noise}");
        prop_assert_eq!(recognize(&text, &KnownNames::default()).claims.len(), 1);
    }
}
