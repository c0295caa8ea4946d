//! The characters of names and patterns.
//!
//! A path character is one Unicode scalar value where the bytes are valid UTF-8, otherwise one single byte with the
//! value U+DC00 + byte. No scalar value lies in that range, so the two never collide and any bytes are a list of
//! characters. UTF-8 is self-synchronizing: decoding gives the same characters from wherever it starts, as long as that
//! is a character boundary.

/// One character of a name, or one byte that is not part of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PathChar(u32);

/// The offset added to a byte that is not part of a character.
const INVALID_BYTE_BASE: u32 = 0xdc00;

impl PathChar {
    pub const SLASH: Self = Self::ascii(b'/');
    pub const DOT: Self = Self::ascii(b'.');

    pub const fn ascii(byte: u8) -> Self {
        assert!(byte.is_ascii());
        Self(byte as u32)
    }

    /// Creates the value for a byte that is not part of a character.
    pub const fn invalid(byte: u8) -> Self {
        assert!(!byte.is_ascii());
        Self(INVALID_BYTE_BASE + byte as u32)
    }

    /// Returns the character with this value, if it denotes a scalar value or a single byte.
    pub fn of(value: u32) -> Option<Self> {
        (char::from_u32(value).is_some() || Self(value).single_byte().is_some()).then_some(Self(value))
    }

    /// Returns the value used in comparisons.
    pub fn value(self) -> u32 {
        self.0
    }

    /// Returns the byte, if this is one that is not part of a character.
    pub fn single_byte(self) -> Option<u8> {
        let byte = self.0.checked_sub(INVALID_BYTE_BASE).and_then(|value| u8::try_from(value).ok())?;
        (!byte.is_ascii()).then_some(byte)
    }

    pub fn is_ascii_byte(self, byte: u8) -> bool {
        self == Self::ascii(byte)
    }

    /// Appends the encoded bytes to `bytes`.
    fn push_to(self, bytes: &mut Vec<u8>) {
        match char::from_u32(self.0) {
            Some(character) => bytes.extend(character.encode_utf8(&mut [0; 4]).as_bytes()),
            None => bytes.extend(self.single_byte()),
        }
    }
}

impl From<char> for PathChar {
    fn from(character: char) -> Self {
        Self(u32::from(character))
    }
}

/// Returns the first character of `bytes` and its length in bytes.
pub(crate) fn first(bytes: &[u8]) -> Option<(PathChar, usize)> {
    let &byte = bytes.first()?;
    if byte.is_ascii() {
        return Some((PathChar::ascii(byte), 1));
    }
    // No UTF-8 character is longer than four bytes.
    let head = &bytes[..bytes.len().min(4)];
    let character = head.utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next());
    Some(character.map_or((PathChar::invalid(byte), 1), |character| (character.into(), character.len_utf8())))
}

pub fn decode(mut bytes: &[u8]) -> Vec<PathChar> {
    let mut units = Vec::with_capacity(bytes.len());
    while let Some((unit, length)) = first(bytes) {
        units.push(unit);
        bytes = &bytes[length..];
    }
    units
}

/// Encodes characters as bytes.
///
/// The bytes decode to the same characters, unless adjacent single bytes happen to form a character.
pub fn encode(units: impl IntoIterator<Item = PathChar>) -> Vec<u8> {
    let mut bytes = Vec::new();
    units.into_iter().for_each(|unit| unit.push_to(&mut bytes));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values(bytes: &[u8]) -> Vec<u32> {
        decode(bytes).into_iter().map(|unit| unit.0).collect()
    }

    #[test]
    fn a_character_is_one_unit_however_many_bytes_it_has() {
        assert_eq!(values("aé日😀".as_bytes()), [0x61, 0xe9, 0x65e5, 0x1f600]);
    }

    #[test]
    fn every_byte_of_no_character_is_a_unit() {
        assert_eq!(values(b"\xffa"), [0xdcff, 0x61]);
        assert_eq!(values(b"\xe2\x82a"), [0xdce2, 0xdc82, 0x61], "a cut-off character");
        assert_eq!(values(b"\xc0\xaf"), [0xdcc0, 0xdcaf], "an overlong slash is no slash");
        assert_eq!(values(b"\xed\xa0\x80"), [0xdced, 0xdca0, 0xdc80], "an encoded surrogate");
    }

    proptest! {
        #[test]
        fn units_keep_any_bytes(bytes: Vec<u8>) {
            prop_assert_eq!(encode(decode(&bytes)), bytes);
        }

        #[test]
        fn the_whole_and_its_pieces_have_the_same_units(bytes in proptest::collection::vec(
            prop_oneof![Just(b'a'), Just(0xc3), Just(0xa9), Just(0xe2), Just(0x82), Just(0xac), Just(0xf0)], 0..9,
        )) {
            let whole: Vec<PathChar> = bytes.utf8_chunks().flat_map(|chunk| {
                let text = chunk.valid().chars().map(PathChar::from);
                text.chain(chunk.invalid().iter().map(|&byte| PathChar::invalid(byte))).collect::<Vec<_>>()
            }).collect();
            prop_assert_eq!(decode(&bytes), whole);
        }
    }
}
