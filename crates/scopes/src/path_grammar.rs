//! The grammar of paths, checked character by character while a path is built.
//!
//! Two things can go wrong: a segment that is empty, `.` or `..`; and adjacent single bytes that form a character,
//! because the bytes would then decode to different characters than those they were built from.

use probity_paths::compiled::PathChar;

/// The state of a path under construction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PathGrammarState {
    /// At the start of a segment.
    Begin,
    /// The segment is `.` so far.
    Dot,
    /// The segment is `..` so far.
    DotDot,
    /// The segment is a name that may end here.
    Name(PartialChar),
}

/// An incomplete character among the single bytes at the end of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PartialChar {
    /// Number of bytes still missing; 0 when no character has started.
    lacks: u8,
    /// Inclusive range of the next byte.
    low: u8,
    high: u8,
}

/// The byte values at which the behavior of single bytes changes.
pub(crate) const BYTE_CLASS_STARTS: [u8; 13] =
    [0x80, 0x90, 0xa0, 0xc0, 0xc2, 0xe0, 0xe1, 0xed, 0xee, 0xf0, 0xf1, 0xf4, 0xf5];

impl PathGrammarState {
    /// Returns the state after one more character, or `None` if that cannot be part of a path.
    pub(crate) fn advance(self, unit: PathChar) -> Option<Self> {
        match (self, unit) {
            (Self::Name(_), PathChar::SLASH) => Some(Self::Begin),
            (_, PathChar::SLASH) => None,
            (Self::Begin, PathChar::DOT) => Some(Self::Dot),
            (Self::Dot, PathChar::DOT) => Some(Self::DotDot),
            (Self::Name(started), unit) => started.with(unit).map(Self::Name),
            (_, unit) => PartialChar::NONE.with(unit).map(Self::Name),
        }
    }

    /// Returns true if a path may end here.
    pub(crate) fn is_whole(self) -> bool {
        matches!(self, Self::Name(_))
    }
}

impl PartialChar {
    const NONE: Self = Self::lacking(0);

    const fn lacking(lacks: u8) -> Self {
        Self { lacks, low: 0x80, high: 0xbf }
    }

    fn with(self, unit: PathChar) -> Option<Self> {
        let Some(byte) = unit.single_byte() else { return Some(Self::NONE) };
        if self.lacks > 0 && self.low <= byte && byte <= self.high {
            return (self.lacks > 1).then_some(Self::lacking(self.lacks - 1));
        }
        Some(Self::from_first_byte(byte))
    }

    /// Returns the state after a first byte. The narrower ranges of second bytes exclude overlong forms, surrogates,
    /// and values beyond the last character.
    fn from_first_byte(byte: u8) -> Self {
        match byte {
            0xc2..=0xdf => Self::lacking(1),
            0xe0 => Self { low: 0xa0, ..Self::lacking(2) },
            0xed => Self { high: 0x9f, ..Self::lacking(2) },
            0xe1..=0xef => Self::lacking(2),
            0xf0 => Self { low: 0x90, ..Self::lacking(3) },
            0xf1..=0xf3 => Self::lacking(3),
            0xf4 => Self { high: 0x8f, ..Self::lacking(3) },
            _ => Self::NONE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use probity_paths::RepoPath;
    use probity_paths::compiled::{decode, encode};
    use proptest::prelude::*;

    fn is_path(units: &[PathChar]) -> bool {
        let whole = units.iter().try_fold(PathGrammarState::Begin, |shape, &unit| shape.advance(unit));
        whole.is_some_and(PathGrammarState::is_whole)
    }

    fn unit() -> impl Strategy<Value = PathChar> {
        prop_oneof![
            3 => prop_oneof![Just(b'a'), Just(b'.'), Just(b'/')].prop_map(PathChar::ascii),
            1 => Just(PathChar::from('é')),
            6 => (0x80u8..).prop_map(PathChar::invalid),
            6 => proptest::sample::select(&BYTE_CLASS_STARTS[..]).prop_map(PathChar::invalid),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn a_path_is_what_reads_back_as_one(units in proptest::collection::vec(unit(), 0..7)) {
            let bytes = encode(units.iter().copied());
            let reads_back = RepoPath::parse(&bytes).is_ok() && decode(&bytes) == units;
            prop_assert_eq!(is_path(&units), reads_back);
        }
    }
}
