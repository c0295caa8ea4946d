//! The stored form of the longest lists of a file's facts: rows of fixed width, which are read and written without a
//! look at how long each number is. An analysis after an edit reads the facts of every other file.

use super::{NameUse, SourceRange, Statement};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serializer};

/// A member of a list that is stored in rows of `N` bytes.
pub(super) trait StoredRow<const N: usize>: Sized {
    fn to_row(&self) -> [u8; N];
    fn from_row(row: &[u8; N]) -> Self;
}

pub(super) fn serialize<T: StoredRow<N>, S: Serializer, const N: usize>(
    list: &[T],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let rows: Vec<[u8; N]> = list.iter().map(T::to_row).collect();
    serializer.serialize_bytes(rows.as_flattened())
}

pub(super) fn deserialize<'de, T: StoredRow<N>, D: Deserializer<'de>, const N: usize>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    let bytes = <&[u8]>::deserialize(deserializer)?;
    let (rows, rest) = bytes.as_chunks::<N>();
    if !rest.is_empty() {
        return Err(D::Error::custom("a row is cut short"));
    }
    Ok(rows.iter().map(T::from_row).collect())
}

impl StoredRow<4> for NameUse {
    fn to_row(&self) -> [u8; 4] {
        self.0.to_le_bytes()
    }

    fn from_row(row: &[u8; 4]) -> Self {
        Self(u32::from_le_bytes(*row))
    }
}

const STATEMENT_BYTES: usize = 2 * 8 + 8 * 4 + 1;

impl StoredRow<STATEMENT_BYTES> for Statement {
    fn to_row(&self) -> [u8; STATEMENT_BYTES] {
        let Self { shape, exact, range, n_tokens, depth, first_name, first_token, idle } = *self;
        let SourceRange { start_line, start_column, end_line, end_column } = range;
        let numbers =
            [start_line, start_column, end_line, end_column, n_tokens, depth, first_name, first_token];
        let mut row = [0; STATEMENT_BYTES];
        let (hashes, rest) = row.split_at_mut(16);
        hashes.copy_from_slice([shape.to_le_bytes(), exact.to_le_bytes()].as_flattened());
        let (words, flag) = rest.split_at_mut(32);
        words.copy_from_slice(numbers.map(u32::to_le_bytes).as_flattened());
        flag[0] = idle.into();
        row
    }

    fn from_row(row: &[u8; STATEMENT_BYTES]) -> Self {
        let (hashes, rest) = row.as_chunks::<8>();
        let [shape, exact, numbers @ ..] = hashes else { unreachable!("a row has six times eight bytes") };
        let (words, _) = numbers.as_flattened().as_chunks::<4>();
        let word = |at: usize| u32::from_le_bytes(words[at]);
        Self {
            shape: u64::from_le_bytes(*shape),
            exact: u64::from_le_bytes(*exact),
            range: SourceRange {
                start_line: word(0),
                start_column: word(1),
                end_line: word(2),
                end_column: word(3),
            },
            n_tokens: word(4),
            depth: word(5),
            first_name: word(6),
            first_token: word(7),
            idle: rest == [1],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_statement_comes_back_from_its_row(hashes: [u64; 2], numbers: [u32; 8], idle: bool) {
            let statement = Statement {
                shape: hashes[0],
                exact: hashes[1],
                range: SourceRange {
                    start_line: numbers[0],
                    start_column: numbers[1],
                    end_line: numbers[2],
                    end_column: numbers[3],
                },
                n_tokens: numbers[4],
                depth: numbers[5],
                first_name: numbers[6],
                first_token: numbers[7],
                idle,
            };
            prop_assert_eq!(Statement::from_row(&statement.to_row()), statement);
        }

        #[test]
        fn a_name_comes_back_from_its_row(bits: u32) {
            prop_assert_eq!(NameUse::from_row(&NameUse(bits).to_row()), NameUse(bits));
        }
    }
}
