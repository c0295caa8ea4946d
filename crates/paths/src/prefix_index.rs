//! An index that finds the patterns that can match a path by their literal prefix.
//!
//! Every pattern has a *stem*, the bytes that all its matches start with. Stems are sorted, and each links to the
//! longest other stem that is a prefix of it. One binary search therefore finds all stems of a path: a stem that is a
//! prefix of the path is also a prefix of every stem sorted between the two.

use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct PrefixIndex(Vec<PrefixEntry>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct PrefixEntry {
    text: Box<[u8]>,
    /// The longest other stem that is a prefix of this one.
    shorter: Option<usize>,
    /// The patterns with this stem, in their order.
    patterns: Vec<usize>,
}

impl PrefixEntry {
    /// The empty stem is common and tested first, because comparing zero bytes at a dangling address is slow on some
    /// processors.
    fn begins(&self, path: &[u8]) -> bool {
        self.text.is_empty() || path.starts_with(&self.text)
    }
}

impl PrefixIndex {
    /// Builds the index from the stems of the patterns, in their order.
    pub(crate) fn new<'a>(stems: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut by_text: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
        for (pattern, stem) in stems.into_iter().enumerate() {
            by_text.entry(stem).or_default().push(pattern);
        }
        let mut sorted = Self::default();
        for (text, patterns) in by_text {
            let shorter = sorted.chain(sorted.0.len().checked_sub(1), text).next();
            sorted.0.push(PrefixEntry { text: text.into(), shorter, patterns });
        }
        sorted
    }

    /// Returns the patterns of every stem that is a prefix of `path`, one list per stem.
    pub(crate) fn of<'a>(&'a self, path: &'a [u8]) -> impl Iterator<Item = &'a [usize]> {
        let last = self.0.partition_point(|stem| stem.text.is_empty() || &*stem.text <= path).checked_sub(1);
        self.chain(last, path).map(|stem| self.0[stem].patterns.as_slice())
    }

    /// Returns the stems that are prefixes of `path`, longest first, starting from `from` and following its links.
    fn chain(&self, from: Option<usize>, path: &[u8]) -> impl Iterator<Item = usize> {
        let shorter = |&stem: &usize| self.0[stem].shorter;
        std::iter::successors(from, shorter).filter(move |&stem| self.0[stem].begins(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_stem_of_a_path_is_found(stems in proptest::collection::vec("[ab/]{0,4}", 0..12), path in "[ab/]{0,6}") {
            let index = PrefixIndex::new(stems.iter().map(String::as_bytes));
            let mut found: Vec<usize> = index.of(path.as_bytes()).flatten().copied().collect();
            found.sort_unstable();
            let expected: Vec<usize> = (0..stems.len()).filter(|&stem| path.starts_with(&stems[stem])).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
