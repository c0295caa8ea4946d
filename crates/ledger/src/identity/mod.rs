//! When two summaries are one statement (README of the vectors, kind `ledger_identity`).
//!
//! A summary is brought into a *normal form* that forgets only what never carries meaning: case, spaces, Unicode
//! composition, quotation marks, punctuation between words and at the end, articles, contractions, a leading
//! "we will", the "-ing" of the leading verb, the space before a unit. Two summaries of one kind are the same exactly
//! when their normal forms are equal bytes, so identity is an equivalence by construction. Where the rules leave
//! doubt the form keeps the difference (law 14): a missed duplicate is cheap, a wrong merge is not.
//!
//! * `tokens`: from text to words, with marks and quotes taken off.
//! * `rules`: what is dropped, joined or rewritten among the words.
//! * `units` and `verbs`: the word lists behind two of the rules.

mod rules;
mod tokens;
mod units;
mod verbs;

use crate::index::hash_of;
use crate::words::ItemKind;
use tokens::Tokens;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// The normal form of a summary.
pub fn normal_form(summary: &str) -> String {
    let mut normaliser = Normaliser::default();
    normaliser.read(summary);
    normaliser.normal
}

/// How many negations a text has.
pub(crate) fn count_negations(text: &str) -> u32 {
    let mut normaliser = Normaliser::default();
    normaliser.read(text);
    normaliser.negations
}

/// Brings texts into normal form, keeping its buffers from one to the next.
#[derive(Debug, Clone, Default)]
pub(crate) struct Normaliser {
    tokens: Tokens,
    normal: String,
    neutral: String,
    negations: u32,
}

/// What a text states, whatever its kind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Statement {
    plain: u64,
    pub(crate) neutral: u64,
    negations: u32,
}

/// The hashes of a statement: enough to find what says the same, or the opposite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Meaning {
    /// The statement without its negations, whatever the kind.
    pub(crate) neutral: u64,
    /// The whole statement and its kind; its polarity stands in the two lowest bits.
    pub(crate) full: u64,
}

impl Meaning {
    /// Whether it denies (once) what `neutral` says, plainly says it, or neither.
    pub(crate) const fn polarity(self) -> Polarity {
        match self.full & 3 {
            0 => Polarity::Asserts,
            1 => Polarity::Denies,
            _ => Polarity::Unclear,
        }
    }
}

/// Whether a statement plainly asserts, plainly denies, or is too involved to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Polarity {
    Asserts,
    Denies,
    Unclear,
}

impl Polarity {
    pub(crate) fn is_opposite_of(self, other: Self) -> bool {
        matches!((self, other), (Self::Asserts, Self::Denies) | (Self::Denies, Self::Asserts))
    }
}

impl Normaliser {
    /// Reads a summary: its normal form, its form without negations, and how many there are.
    fn read(&mut self, summary: &str) {
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

    /// Reads a summary and hashes what it states.
    pub(crate) fn statement(&mut self, summary: &str) -> Statement {
        self.read(summary);
        let plain = hash_of(self.normal.as_bytes());
        let neutral = if self.negations == 0 { plain } else { hash_of(self.neutral.as_bytes()) };
        Statement { plain, neutral, negations: self.negations }
    }
}

impl Statement {
    /// The hashes of the statement as one of `kind`.
    pub(crate) fn meaning(self, kind: ItemKind) -> Meaning {
        let polarity = u64::from(self.negations.min(2));
        // An odd multiplier keeps the kinds apart without hashing the text again.
        let full = self.plain.wrapping_add((kind as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        Meaning { neutral: self.neutral, full: full & !3 | polarity }
    }
}

#[cfg(test)]
mod tests;
