//! Decides whether two texts make the same statement (README of the vectors, kind `ledger_identity`).
//!
//! The *normal form* of a text drops only what never carries meaning: case, spaces, Unicode composition, quotation
//! marks, punctuation between words and at the end, articles, contractions, a leading "we will", the "-ing" of the
//! leading verb, the space before a unit. Two texts are the same exactly if their normal forms are equal bytes, so
//! identity is an equivalence by construction. In doubt the form keeps the difference (law 14): a missed duplicate is
//! cheap, a wrong merge is not.
//!
//! * `tokens`: splits text into words without punctuation and quotes, but keeps names, numbers and operators.
//! * `rules`: drops, joins or rewrites words.
//! * `units` and `verbs`: the quantities and leading verbs for two of the rules.

mod rules;
mod tokens;
mod units;
mod verbs;

use tokens::TokenList;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

pub fn normal_form(text: &str) -> String {
    let mut normalizer = Normalizer::default();
    normalizer.read(text);
    normalizer.normal
}

pub fn count_negations(text: &str) -> u32 {
    let mut normalizer = Normalizer::default();
    normalizer.read(text);
    normalizer.negations
}

/// Computes normal forms, reusing its buffers.
#[derive(Debug, Clone, Default)]
pub struct Normalizer {
    tokens: TokenList,
    normal: String,
    neutral: String,
    negations: u32,
}

impl Normalizer {
    /// Parses a summary: its normal form, the form without negations, and their number.
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
            // Only punctuation and articles: then they are the statement.
            self.normal.push_str(summary.trim());
        }
        self.neutral.clear();
        self.negations = rules::write_neutral(&self.tokens, &mut self.neutral);
    }

    /// Returns the normal form of the last summary.
    pub fn normal(&self) -> &str {
        &self.normal
    }

    /// Returns the same without its negations; empty if there are none.
    pub fn neutral(&self) -> &str {
        &self.neutral
    }

    pub fn negations(&self) -> u32 {
        self.negations
    }
}
