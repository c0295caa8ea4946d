//! When two texts are one statement (README of the vectors, kind `ledger_identity`).
//!
//! A text is brought into a *normal form* that forgets only what never carries meaning: case, spaces, Unicode
//! composition, quotation marks, punctuation between words and at the end, articles, contractions, a leading
//! "we will", the "-ing" of the leading verb, the space before a unit. Two texts are the same exactly when their normal
//! forms are equal bytes, so identity is an equivalence by construction. Where the rules leave doubt the form keeps the
//! difference (law 14): a missed duplicate is cheap, a wrong merge is not.
//!
//! * `tokens`: from text to words, with marks and quotes taken off, but names, numbers and operators as they are.
//! * `rules`: what is dropped, joined or rewritten among the words.
//! * `units` and `verbs`: the quantities and leading verbs behind two of the rules.

mod rules;
mod tokens;
mod units;
mod verbs;

use tokens::TokenList;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// The normal form of a text.
pub fn normal_form(text: &str) -> String {
    let mut normalizer = Normalizer::default();
    normalizer.read(text);
    normalizer.normal
}

/// How many negations a text has.
pub fn count_negations(text: &str) -> u32 {
    let mut normalizer = Normalizer::default();
    normalizer.read(text);
    normalizer.negations
}

/// Brings texts into normal form, keeping its buffers from one to the next.
#[derive(Debug, Clone, Default)]
pub struct Normalizer {
    tokens: TokenList,
    normal: String,
    neutral: String,
    negations: u32,
}

impl Normalizer {
    /// Reads a summary: its normal form, its form without negations, and how many there are.
    pub fn read(&mut self, summary: &str) {
        if summary.is_ascii() || is_nfc_quick(summary.chars()) == IsNormalized::Yes {
            self.tokens.split(summary);
        } else {
            self.tokens.split(&summary.nfc().collect::<String>());
        }
        rules::apply(&mut self.tokens);
        self.normal.clear();
        rules::write(&self.tokens, &mut self.normal);
        if self.normal.is_empty() {
            // Nothing but marks and articles: then the marks are what it says.
            self.normal.push_str(summary.trim());
        }
        self.neutral.clear();
        self.negations = rules::write_neutral(&self.tokens, &mut self.neutral);
    }

    /// The normal form of what was read last.
    pub fn normal(&self) -> &str {
        &self.normal
    }

    /// The same without its negations; empty if there are none.
    pub fn neutral(&self) -> &str {
        &self.neutral
    }

    /// How many negations there are.
    pub fn negations(&self) -> u32 {
        self.negations
    }
}
