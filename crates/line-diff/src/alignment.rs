//! Which lines of one text correspond to which of another: the shortest edit script (Myers), between what is equal at
//! both ends.

use std::collections::BTreeMap;
use std::ops::Range;

/// With more differences than this the middle of the texts counts as rewritten: the search takes quadratic time.
const MAX_DIFFERENCES: usize = 2_000;

/// A place where two texts differ: ranges of lines. One of them may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineChange {
    pub before: Range<usize>,
    pub after: Range<usize>,
}

/// Splits a text after every `\n`.
pub fn split_lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// Returns the places where two texts differ, in order. Between two of them is at least one equal line.
pub fn line_changes(before: &[&[u8]], after: &[&[u8]]) -> Vec<LineChange> {
    let (before, after) = number_lines(before, after);
    let prefix = before.iter().zip(&after).take_while(|(one, other)| one == other).count();
    let (inner_before, inner_after) = (&before[prefix..], &after[prefix..]);
    let suffix = inner_before
        .iter()
        .rev()
        .zip(inner_after.iter().rev())
        .take_while(|(one, other)| one == other)
        .count();
    let inner_before = &inner_before[..inner_before.len() - suffix];
    let inner_after = &inner_after[..inner_after.len() - suffix];
    let mut changes = Vec::new();
    let (mut left, mut right) = (0, 0);
    let end = (inner_before.len(), inner_after.len());
    for (one, other) in equal_lines(inner_before, inner_after).into_iter().chain([end]) {
        if one > left || other > right {
            changes.push(LineChange {
                before: prefix + left..prefix + one,
                after: prefix + right..prefix + other,
            });
        }
        (left, right) = (one + 1, other + 1);
    }
    changes
}

/// Gives equal lines equal numbers.
fn number_lines(before: &[&[u8]], after: &[&[u8]]) -> (Vec<u32>, Vec<u32>) {
    let mut numbers: BTreeMap<Vec<u8>, u32> = BTreeMap::new();
    let mut number = |line: &&[u8]| {
        let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        *numbers.entry(line.to_vec()).or_insert(next)
    };
    (before.iter().map(&mut number).collect(), after.iter().map(&mut number).collect())
}

/// Returns the pairs of equal lines of a shortest edit script, ascending.
fn equal_lines(before: &[u32], after: &[u32]) -> Vec<(usize, usize)> {
    let (n_before, n_after) = (before.len(), after.len());
    let limit = (n_before + n_after).min(MAX_DIFFERENCES);
    // `furthest[middle + k]`: how many lines of `before` are used on the diagonal k = used before - used after.
    let middle = limit + 2;
    let mut furthest = vec![0_usize; 2 * middle + 1];
    let mut rounds: Vec<Vec<usize>> = Vec::new();
    for n_differences in 0..=limit {
        // Only the diagonals that a round of this length reads.
        rounds.push(furthest[middle - n_differences - 1..=middle + n_differences + 1].to_vec());
        for at in (middle - n_differences..=middle + n_differences).step_by(2) {
            let is_lowest = at == middle - n_differences;
            let is_highest = at == middle + n_differences;
            let inserts = is_lowest || (!is_highest && furthest[at - 1] < furthest[at + 1]);
            let mut left = if inserts { furthest[at + 1] } else { furthest[at - 1] + 1 };
            let mut right = (left + middle).saturating_sub(at);
            while left < n_before && right < n_after && before[left] == after[right] {
                (left, right) = (left + 1, right + 1);
            }
            furthest[at] = left;
            if left >= n_before && right >= n_after {
                return walk_back(&rounds, middle, (n_before, n_after));
            }
        }
    }
    Vec::new()
}

fn walk_back(rounds: &[Vec<usize>], middle: usize, end: (usize, usize)) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let (mut left, mut right) = end;
    for (n_differences, round) in rounds.iter().enumerate().rev() {
        let furthest = |at: usize| round[at - (middle - n_differences - 1)];
        let at = left + middle - right;
        let (start_left, start_right) = if n_differences == 0 {
            (0, 0)
        } else {
            let is_lowest = at == middle - n_differences;
            let is_highest = at == middle + n_differences;
            let inserts = is_lowest || (!is_highest && furthest(at - 1) < furthest(at + 1));
            let from = if inserts { at + 1 } else { at - 1 };
            (furthest(from), furthest(from) + middle - from)
        };
        while left > start_left && right > start_right {
            (left, right) = (left - 1, right - 1);
            pairs.push((left, right));
        }
        (left, right) = (start_left, start_right);
    }
    pairs.reverse();
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn apply(before: &[&[u8]], after: &[&[u8]], changes: &[LineChange]) -> Vec<Vec<u8>> {
        let (mut result, mut at) = (Vec::new(), 0);
        for change in changes {
            result.extend(before[at..change.before.start].iter().map(|line| line.to_vec()));
            result.extend(after[change.after.clone()].iter().map(|line| line.to_vec()));
            at = change.before.end;
        }
        result.extend(before[at..].iter().map(|line| line.to_vec()));
        result
    }

    fn longest_common(before: &[&[u8]], after: &[&[u8]]) -> usize {
        let mut row = vec![0; after.len() + 1];
        for left in before {
            let mut diagonal = 0;
            for (index, right) in after.iter().enumerate() {
                let above = row[index + 1];
                row[index + 1] = if left == right { diagonal + 1 } else { above.max(row[index]) };
                diagonal = above;
            }
        }
        row[after.len()]
    }

    proptest! {
        #[test]
        fn the_changes_lead_from_one_text_to_the_other_and_are_the_fewest(before in "[ab\n]{0,30}", after in "[ab\n]{0,30}") {
            let (before, after) = (split_lines(before.as_bytes()), split_lines(after.as_bytes()));
            let changes = line_changes(&before, &after);
            let expected: Vec<Vec<u8>> = after.iter().map(|line| line.to_vec()).collect();
            prop_assert_eq!(apply(&before, &after, &changes), expected);
            let n_changed: usize = changes.iter().map(|change| change.before.len() + change.after.len()).sum();
            prop_assert_eq!(n_changed, before.len() + after.len() - 2 * longest_common(&before, &after));
        }
    }

    #[test]
    fn a_text_that_was_rewritten_is_one_change() {
        let text = |word: &str| {
            let lines: Vec<String> = (0..3_000).map(|n| format!("{word}{n}\n")).collect();
            lines.concat()
        };
        let (before, after) = (text("a"), text("b"));
        let changes = line_changes(&split_lines(before.as_bytes()), &split_lines(after.as_bytes()));
        assert_eq!(changes, [LineChange { before: 0..3_000, after: 0..3_000 }]);
    }
}
