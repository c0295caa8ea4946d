//! Character classes, as written with `[…]`.
//!
//! This module defines what a class contains. Each rule parses its own syntax, because the rules differ in it.

use crate::chars::PathChar;

/// A set of characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CharClass {
    /// Contains everything outside the ranges instead of everything inside.
    negated: bool,
    /// Inclusive ranges, sorted and disjoint.
    ranges: Vec<(PathChar, PathChar)>,
    /// May match `/`.
    crosses: bool,
}

impl CharClass {
    /// Creates the class of the characters in any of `ranges`, or in none if `negated`. A reversed range is empty.
    pub(crate) fn new(negated: bool, mut ranges: Vec<(PathChar, PathChar)>, crosses: bool) -> Self {
        ranges.retain(|(low, high)| low <= high);
        ranges.sort_unstable();
        ranges.dedup_by(|next, last| {
            let meet = next.0 <= last.1;
            if meet {
                last.1 = last.1.max(next.1);
            }
            meet
        });
        Self { negated, ranges, crosses }
    }

    pub fn contains(&self, unit: PathChar) -> bool {
        let begun = self.ranges.partition_point(|(low, _)| *low <= unit);
        let is_within = begun > 0 && unit <= self.ranges[begun - 1].1;
        is_within != self.negated && (self.crosses || unit != PathChar::SLASH)
    }

    pub fn ranges(&self) -> &[(PathChar, PathChar)] {
        &self.ranges
    }
}

/// Returns the index of the `]` that closes the class starting with the `[` at `units[0]`.
///
/// A `]` directly after the `[` or after the negation sign belongs to the class.
pub(crate) fn end(units: &[PathChar], negates: fn(PathChar) -> bool) -> Option<usize> {
    let mut first = 1;
    if units.get(first).is_some_and(|&unit| negates(unit)) {
        first += 1;
    }
    if units.get(first).is_some_and(|unit| unit.is_ascii_byte(b']')) {
        first += 1;
    }
    let rest = units.get(first..)?;
    Some(first + rest.iter().position(|unit| unit.is_ascii_byte(b']'))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chars::decode;

    fn ends_at(text: &str) -> Option<usize> {
        end(&decode(text.as_bytes()), |unit| unit.is_ascii_byte(b'!'))
    }

    #[test]
    fn ranges_may_meet_in_any_order() {
        let ranges = ["mp", "az", "ca", "09", "55", ".0"].map(|text| {
            let ends = decode(text.as_bytes());
            (ends[0], ends[1])
        });
        let class = CharClass::new(false, ranges.to_vec(), false);
        assert_eq!(class.ranges().len(), 2);
        for unit in decode(b"azq.059") {
            assert!(class.contains(unit));
        }
        for unit in decode(b"/-:{A") {
            assert!(!class.contains(unit));
        }
    }

    #[test]
    fn a_class_ends_at_the_first_bracket_that_can_end_it() {
        assert_eq!(ends_at("[a]]"), Some(2));
        assert_eq!(ends_at("[]]"), Some(2));
        assert_eq!(ends_at("[!]]"), Some(3));
        assert_eq!(ends_at("[^]]"), Some(2), "here only ! negates");
    }

    #[test]
    fn without_such_a_bracket_there_is_no_class() {
        for text in ["[", "[a", "[]", "[!", "[!]"] {
            assert_eq!(ends_at(text), None, "{text}");
        }
    }
}
