//! Which lines of one text correspond to which of another.

use crate::sequence::{ChangedRegion, aligned_pairs, changed_regions, shortest_script_pairs};
use foldhash::fast::FixedState;
use std::collections::BTreeMap;
use std::hash::BuildHasher;

/// How lines are paired. Both ways are right; which lines of a changed place count as the same differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineAlignment {
    /// The fewest changed lines, as git pairs them.
    Shortest,
    /// Lines that occur once in either text hold, the fewest changes are between them.
    Anchored,
}

/// Splits a text after every `\n`.
pub fn split_lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// Returns the places where two texts differ, in order. Between two of them is at least one equal line.
pub fn line_changes(before: &[&[u8]], after: &[&[u8]], alignment: LineAlignment) -> Vec<ChangedRegion> {
    let [before, after] = number_lines([before, after]);
    changes_of_numbers(&before, &after, alignment)
}

pub(crate) fn changes_of_numbers(
    before: &[u32],
    after: &[u32],
    alignment: LineAlignment,
) -> Vec<ChangedRegion> {
    let pairs = match alignment {
        LineAlignment::Shortest => shortest_script_pairs(before, after),
        LineAlignment::Anchored => aligned_pairs(before, after),
    };
    changed_regions(&pairs, before.len(), after.len())
}

/// Gives equal lines equal numbers.
pub(crate) fn number_lines<const N: usize>(texts: [&[&[u8]]; N]) -> [Vec<u32>; N] {
    // Ordered by hash: most comparisons do not look at the lines, many of which begin alike.
    let hasher = FixedState::with_seed(0);
    let mut numbers: BTreeMap<(u64, &[u8]), u32> = BTreeMap::new();
    texts.map(|lines| {
        lines
            .iter()
            .map(|&line| {
                let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
                *numbers.entry((hasher.hash_one(line), line)).or_insert(next)
            })
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn apply(before: &[&[u8]], after: &[&[u8]], changes: &[ChangedRegion]) -> Vec<Vec<u8>> {
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
            let changes = line_changes(&before, &after, LineAlignment::Shortest);
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
        let changes = line_changes(
            &split_lines(before.as_bytes()),
            &split_lines(after.as_bytes()),
            LineAlignment::Shortest,
        );
        assert_eq!(changes, [ChangedRegion { before: 0..3_000, after: 0..3_000 }]);
    }
}
