//! Hashes of the statement a summary makes, used to find items that say the same or the opposite.
//!
//! Two summaries of one kind are the same exactly if their normal forms are equal ([`probity_prose::normal_form`]).

use crate::name_table::hash_of;
use crate::vocabulary::ItemKind;
use probity_prose::normal_form::Normalizer;

/// The statement of a text, independent of the item kind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NormalizedStatement {
    plain: u64,
    pub(crate) neutral: u64,
    negations: u32,
}

/// The hashes of a statement as one of a given kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StatementKey {
    /// The statement without its negations, independent of the kind.
    pub(crate) neutral: u64,
    /// The whole statement and its kind; the two lowest bits hold the polarity.
    pub(crate) full: u64,
}

impl StatementKey {
    pub(crate) const fn polarity(self) -> Polarity {
        match self.full & 3 {
            0 => Polarity::Asserts,
            1 => Polarity::Denies,
            _ => Polarity::Unclear,
        }
    }
}

/// A plain assertion, a plain denial, or neither.
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
    /// Parses a summary and hashes its statement.
    pub(crate) fn of(summary: &str, normalizer: &mut Normalizer) -> Self {
        normalizer.read(summary);
        let negations = normalizer.negations();
        let plain = hash_of(normalizer.normal().as_bytes());
        let neutral = if negations == 0 { plain } else { hash_of(normalizer.neutral().as_bytes()) };
        Self { plain, neutral, negations }
    }

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
