//! Classes of characters: what `[…]` takes.
//!
//! This module knows what a class is; how one is written differs between the rules, so each rule reads its own.

use crate::units::Unit;

/// A set of units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Class {
    /// Takes everything outside the ranges instead of everything inside.
    pub(crate) negated: bool,
    /// From the first unit of each to the last, both included. One that runs backwards is empty.
    pub(crate) ranges: Vec<(Unit, Unit)>,
    /// May take `/`.
    pub(crate) crosses: bool,
}

impl Class {
    /// Whether one of the ranges runs backwards.
    pub(crate) fn has_bad_range(&self) -> bool {
        self.ranges.iter().any(|(low, high)| low > high)
    }

    /// Whether the class has `unit`.
    pub(crate) fn takes(&self, unit: Unit) -> bool {
        (self.crosses || unit != Unit::SLASH)
            && self.ranges.iter().any(|&(low, high)| low <= unit && unit <= high) != self.negated
    }
}

/// Where the class that begins at the `[` of `units[0]` ends: the index of its `]`.
///
/// A `]` directly after the `[`, or after the sign that negates, belongs to the class.
pub(crate) fn end(units: &[Unit], negates: fn(Unit) -> bool) -> Option<usize> {
    let mut first = 1;
    if units.get(first).is_some_and(|&unit| negates(unit)) {
        first += 1;
    }
    if units.get(first).is_some_and(|unit| unit.is(b']')) {
        first += 1;
    }
    let rest = units.get(first..)?;
    Some(first + rest.iter().position(|unit| unit.is(b']'))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::decode;

    fn ends_at(text: &str) -> Option<usize> {
        end(&decode(text.as_bytes()), |unit| unit.is(b'!'))
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
