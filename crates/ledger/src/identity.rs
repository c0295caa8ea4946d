//! What a summary states, as hashes: enough to find what says the same, or the opposite.
//!
//! Two summaries of one kind are the same exactly when their normal forms are ([`probity_prose::normal_form`]).

use crate::name_table::hash_of;
use crate::vocabulary::ItemKind;
use probity_prose::normal_form::Normalizer;

/// What a text states, whatever its kind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NormalizedStatement {
    plain: u64,
    pub(crate) neutral: u64,
    negations: u32,
}

/// The hashes of a statement: enough to find what says the same, or the opposite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StatementKey {
    /// The statement without its negations, whatever the kind.
    pub(crate) neutral: u64,
    /// The whole statement and its kind; its polarity stands in the two lowest bits.
    pub(crate) full: u64,
}

impl StatementKey {
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

impl NormalizedStatement {
    /// Reads a summary and hashes what it states.
    pub(crate) fn of(summary: &str, normalizer: &mut Normalizer) -> Self {
        normalizer.read(summary);
        let negations = normalizer.negations();
        let plain = hash_of(normalizer.normal().as_bytes());
        let neutral = if negations == 0 { plain } else { hash_of(normalizer.neutral().as_bytes()) };
        Self { plain, neutral, negations }
    }

    /// The hashes of the statement as one of `kind`.
    pub(crate) fn meaning(self, kind: ItemKind) -> StatementKey {
        let polarity = u64::from(self.negations.min(2));
        // An odd multiplier keeps the kinds apart without hashing the text again.
        let full = self.plain.wrapping_add((kind as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        StatementKey { neutral: self.neutral, full: full & !3 | polarity }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_and_its_denial_share_their_neutral_form() {
        let read = |text: &str| {
            NormalizedStatement::of(text, &mut Normalizer::default()).meaning(ItemKind::Decision)
        };
        for (a, b) in [
            ("Use Redis", "Do not use Redis"),
            ("Use Redis", "Don't use Redis."),
            ("Using Redis", "We won't use Redis"),
            ("Use Redis", "Never use Redis"),
            ("Must store logs", "Must not store logs"),
            ("Runtime dependencies", "No runtime dependencies"),
            ("The API supports batching", "The API doesn't support batching"),
            ("Tests can fail", "Tests cannot fail"),
        ] {
            let (a_read, b_read) = (read(a), read(b));
            assert_eq!(a_read.neutral, b_read.neutral, "{a} / {b}");
            assert!(a_read.polarity().is_opposite_of(b_read.polarity()), "{a} / {b}");
            assert_ne!(a_read.full, b_read.full, "{a} / {b}");
        }
        assert_ne!(read("Use Redis").neutral, read("Do not use Postgres").neutral);
        assert_eq!(read("No logs and no metrics").polarity(), Polarity::Unclear);
    }
}
