//! Two pieces of code side by side: which lines belong together, and which words of them differ.
//!
//! Lines are aligned so that as many as possible are equal, or at least of one shape (equal but for words). Inputs are
//! bounded by the caller: the work is the product of their lengths.

/// A row: a line of each side, or of one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DiffRow {
    Both(usize, usize),
    Left(usize),
    Right(usize),
}

/// Aligns lines.
pub(super) fn align(left: &[&str], right: &[&str]) -> Vec<DiffRow> {
    let left_shapes: Vec<String> = left.iter().map(|line| shape(line)).collect();
    let right_shapes: Vec<String> = right.iter().map(|line| shape(line)).collect();
    let score = |one: usize, other: usize| match (left[one].trim(), right[other].trim()) {
        ("", "") => 1,
        (one, other) if one == other => 6,
        _ if left_shapes[one] == right_shapes[other] => 4,
        _ => 0,
    };
    let pairs = best_pairs(left.len(), right.len(), score);
    rows(left.len(), right.len(), &pairs)
}

/// The words of a line without what they are.
fn shape(line: &str) -> String {
    pieces(line.trim())
        .into_iter()
        .map(|piece| if piece.starts_with(is_word) { "w" } else { piece })
        .filter(|piece| !piece.trim().is_empty())
        .collect()
}

/// The pairs, in order on both sides, with the largest sum of scores.
fn best_pairs(n_left: usize, n_right: usize, score: impl Fn(usize, usize) -> u32) -> Vec<(usize, usize)> {
    let width = n_right + 1;
    let mut best = vec![0u32; (n_left + 1) * width];
    for one in (0..n_left).rev() {
        for other in (0..n_right).rev() {
            let skip = best[(one + 1) * width + other].max(best[one * width + other + 1]);
            let take = match score(one, other) {
                0 => 0,
                value => value + best[(one + 1) * width + other + 1],
            };
            best[one * width + other] = skip.max(take);
        }
    }
    let mut pairs = Vec::new();
    let (mut one, mut other) = (0, 0);
    while one < n_left && other < n_right {
        let here = best[one * width + other];
        let value = score(one, other);
        if value > 0 && here == value + best[(one + 1) * width + other + 1] {
            pairs.push((one, other));
            (one, other) = (one + 1, other + 1);
        } else if here == best[(one + 1) * width + other] {
            one += 1;
        } else {
            other += 1;
        }
    }
    pairs
}

/// Rows from pairs: what lies between two pairs is put side by side as far as it goes.
fn rows(n_left: usize, n_right: usize, pairs: &[(usize, usize)]) -> Vec<DiffRow> {
    let mut rows = Vec::new();
    let (mut one, mut other) = (0, 0);
    for &(to_one, to_other) in pairs.iter().chain([&(n_left, n_right)]) {
        while one < to_one && other < to_other && to_one - one == to_other - other {
            rows.push(DiffRow::Both(one, other));
            (one, other) = (one + 1, other + 1);
        }
        rows.extend((one..to_one).map(DiffRow::Left));
        rows.extend((other..to_other).map(DiffRow::Right));
        if to_one < n_left || to_other < n_right {
            rows.push(DiffRow::Both(to_one, to_other));
        }
        (one, other) = (to_one + 1, to_other + 1);
    }
    rows
}

/// The pieces of two lines, each with whether the other line has it, too.
pub(super) fn diff_words<'a>(left: &'a str, right: &'a str) -> [Vec<(&'a str, bool)>; 2] {
    let (left, right) = (pieces(left), pieces(right));
    let score = |one: usize, other: usize| u32::from(left[one] == right[other]);
    let pairs = best_pairs(left.len(), right.len(), score);
    let mark = |pieces: &[&'a str], common: Vec<usize>| {
        let mut marked: Vec<(&'a str, bool)> = pieces.iter().map(|piece| (*piece, false)).collect();
        for index in common {
            marked[index].1 = true;
        }
        marked
    };
    [
        mark(&left, pairs.iter().map(|pair| pair.0).collect()),
        mark(&right, pairs.iter().map(|pair| pair.1).collect()),
    ]
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// A line as words, blanks and single other characters.
fn pieces(line: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let is_same = |c: char| if is_word(first) { is_word(c) } else { first == ' ' && c == ' ' };
        let end = rest.char_indices().skip(1).find(|(_, c)| !is_same(*c)).map_or(rest.len(), |(at, _)| at);
        let (piece, after) = rest.split_at(end);
        pieces.push(piece);
        rest = after;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn renamed_lines_stay_side_by_side_and_an_inserted_one_stands_alone() {
        let left = ["out = []", "for row in rows:", "    out.append(row)", "return out"];
        let right = ["acc = []", "for row in rows:", "    audit(row)", "    acc.append(row)", "return acc"];
        let rows = align(&left, &right);
        assert_eq!(
            rows,
            [
                DiffRow::Both(0, 0),
                DiffRow::Both(1, 1),
                DiffRow::Right(2),
                DiffRow::Both(2, 3),
                DiffRow::Both(3, 4)
            ]
        );
    }

    #[test]
    fn only_the_words_that_differ_are_marked() {
        let [left, right] = diff_words("out.append(row)", "acc.append(row)");
        assert_eq!(left[0], ("out", false));
        assert_eq!(right[0], ("acc", false));
        assert!(left[1..].iter().chain(&right[1..]).all(|(_, common)| *common));
    }

    proptest! {
        /// Every line of both sides comes once, in order.
        #[test]
        fn nothing_is_lost(left in prop::collection::vec("[ab ]{0,3}", 0..12), right in prop::collection::vec("[ab ]{0,3}", 0..12)) {
            let left: Vec<&str> = left.iter().map(String::as_str).collect();
            let right: Vec<&str> = right.iter().map(String::as_str).collect();
            let rows = align(&left, &right);
            let of_left: Vec<usize> = rows.iter().filter_map(|row| match row { DiffRow::Both(one, _) | DiffRow::Left(one) => Some(*one), DiffRow::Right(_) => None }).collect();
            let of_right: Vec<usize> = rows.iter().filter_map(|row| match row { DiffRow::Both(_, other) | DiffRow::Right(other) => Some(*other), DiffRow::Left(_) => None }).collect();
            prop_assert_eq!(of_left, (0..left.len()).collect::<Vec<_>>());
            prop_assert_eq!(of_right, (0..right.len()).collect::<Vec<_>>());
        }
    }
}
