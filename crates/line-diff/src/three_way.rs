//! The merge of two edits of one text.
//!
//! A place that only one side changed takes that side's lines. A place that both changed takes them if they are equal;
//! otherwise it is a conflict. Changes that touch each other, without an equal line between them, are one place: the
//! merge never joins lines that nobody has seen together.

use crate::alignment::{LineAlignment, changes_of_numbers, number_lines, split_lines};
use crate::sequence::ChangedRegion;
use std::ops::Range;

/// A place that both sides changed, each in its own way. The ranges are lines, counted from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergeConflict {
    pub base: Range<usize>,
    pub ours: Range<usize>,
    pub theirs: Range<usize>,
}

/// A text and two edits of it, split into lines that are ready to be compared.
#[derive(Debug, Clone)]
pub struct ThreeWayTexts<'a> {
    lines: [Vec<&'a [u8]>; 3],
    numbers: [Vec<u32>; 3],
}

/// Merges two edits of `base`, or returns every place where they contradict each other.
pub fn merge(
    base: &[u8],
    ours: &[u8],
    theirs: &[u8],
    alignment: LineAlignment,
) -> Result<Vec<u8>, Vec<MergeConflict>> {
    ThreeWayTexts::new(base, ours, theirs).merge(alignment)
}

impl<'a> ThreeWayTexts<'a> {
    pub fn new(base: &'a [u8], ours: &'a [u8], theirs: &'a [u8]) -> Self {
        let lines = [base, ours, theirs].map(split_lines);
        let numbers = number_lines([&lines[0], &lines[1], &lines[2]]);
        Self { lines, numbers }
    }

    /// Merges the two edits, or returns every place where they contradict each other.
    pub fn merge(&self, alignment: LineAlignment) -> Result<Vec<u8>, Vec<MergeConflict>> {
        let (merged, conflicts) = self.merge_or_base(alignment);
        if conflicts.is_empty() { Ok(merged) } else { Err(conflicts) }
    }

    /// Merges the two edits, with the lines of the base wherever they contradict each other; returns those places, too.
    pub fn merge_or_base(&self, alignment: LineAlignment) -> (Vec<u8>, Vec<MergeConflict>) {
        let [base, ours, theirs] = &self.lines;
        let [base_numbers, our_numbers, their_numbers] = &self.numbers;
        let our_changes = changes_of_numbers(base_numbers, our_numbers, alignment);
        let their_changes = changes_of_numbers(base_numbers, their_numbers, alignment);
        let (mut merged, mut conflicts) = (Vec::new(), Vec::new());
        let (mut our_next, mut their_next) = (our_changes.iter().peekable(), their_changes.iter().peekable());
        // Lines of the base that are dealt with, and how far each side is ahead of it there.
        let mut at = 0;
        let (mut our_shift, mut their_shift) = (0_isize, 0_isize);
        loop {
            let first = [our_next.peek(), their_next.peek()]
                .into_iter()
                .flatten()
                .map(|change| change.before.start)
                .min();
            let Some(start) = first else { break };
            base[at..start].iter().for_each(|line| merged.extend_from_slice(line));
            let mut end = start;
            let (mut our_part, mut their_part) = (Vec::new(), Vec::new());
            // Everything that overlaps or touches what is in the place already belongs to it.
            loop {
                if let Some(change) = our_next.next_if(|change| change.before.start <= end) {
                    end = end.max(change.before.end);
                    our_part.push(change);
                } else if let Some(change) = their_next.next_if(|change| change.before.start <= end) {
                    end = end.max(change.before.end);
                    their_part.push(change);
                } else {
                    break;
                }
            }
            let our_range = changed_range(start..end, our_shift, &our_part);
            let their_range = changed_range(start..end, their_shift, &their_part);
            our_shift += growth(&our_part);
            their_shift += growth(&their_part);
            let (our_lines, their_lines) = (&ours[our_range.clone()], &theirs[their_range.clone()]);
            if their_part.is_empty() || our_lines == their_lines {
                for line in our_lines {
                    merged.extend_from_slice(line);
                }
            } else if our_part.is_empty() {
                for line in their_lines {
                    merged.extend_from_slice(line);
                }
            } else {
                for line in &base[start..end] {
                    merged.extend_from_slice(line);
                }
                conflicts.push(MergeConflict { base: start..end, ours: our_range, theirs: their_range });
            }
            at = end;
        }
        base[at..].iter().for_each(|line| merged.extend_from_slice(line));
        (merged, conflicts)
    }
}

/// Returns the lines of a side that stand for the lines `base`, given the changes in there and the shift before them.
fn changed_range(base: Range<usize>, shift: isize, changes: &[&ChangedRegion]) -> Range<usize> {
    let start = base.start.saturating_add_signed(shift);
    start..base.end.saturating_add_signed(shift + growth(changes))
}

/// Returns by how many lines the changes make a text longer.
fn growth(changes: &[&ChangedRegion]) -> isize {
    let signed = |n: usize| isize::try_from(n).unwrap_or(isize::MAX);
    changes.iter().map(|change| signed(change.after.len()) - signed(change.before.len())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn merged(base: &str, ours: &str, theirs: &str) -> Option<String> {
        let merged =
            merge(base.as_bytes(), ours.as_bytes(), theirs.as_bytes(), LineAlignment::Shortest).ok()?;
        Some(String::from_utf8(merged).expect("text"))
    }

    #[test]
    fn edits_at_different_places_are_joined() {
        let base = "a\nb\nc\nd\ne\n";
        assert_eq!(merged(base, "A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n").as_deref(), Some("A\nb\nc\nd\nE\n"));
        assert_eq!(merged(base, "a\nc\nd\ne\n", "a\nb\nc\nd\nx\ne\n").as_deref(), Some("a\nc\nd\nx\ne\n"));
        assert_eq!(merged(base, base, "new\n").as_deref(), Some("new\n"));
    }

    #[test]
    fn what_contradicts_can_be_left_as_it_was() {
        let three = ThreeWayTexts::new(b"a\nb\nc\nd\ne\n", b"A\nb\nx\nd\ne\n", b"a\nb\ny\nd\nE\n");
        let (merged, conflicts) = three.merge_or_base(LineAlignment::Shortest);
        assert_eq!(String::from_utf8_lossy(&merged), "A\nb\nc\nd\nE\n");
        assert_eq!(conflicts, [MergeConflict { base: 2..3, ours: 2..3, theirs: 2..3 }]);
    }

    #[test]
    fn equal_edits_are_taken_once() {
        assert_eq!(merged("a\nb\n", "a\nx\nb\n", "a\nx\nb\n").as_deref(), Some("a\nx\nb\n"));
        assert_eq!(merged("a\nb\nc\n", "x\nb\nc\n", "x\nb\ny\n").as_deref(), Some("x\nb\ny\n"));
    }

    #[test]
    fn edits_that_overlap_or_touch_are_conflicts() {
        for (base, ours, theirs) in [
            ("a\n", "b\n", "c\n"),
            ("a\nb\n", "A\nb\n", "a\nB\n"),
            ("", "x\n", "y\n"),
            ("a\n", "a\nx\n", "a\ny\n"),
            ("a\nb\nc\n", "", "a\nB\nc\n"),
            ("a", "a\nx", "a\ny"),
        ] {
            assert_eq!(merged(base, ours, theirs), None, "{base:?} {ours:?} {theirs:?}");
        }
        let conflicts = merge(b"1\n2\n3\n4\n", b"1\nx\ny\n3\n4\n", b"1\nz\n3\n4\n", LineAlignment::Anchored)
            .expect_err("both changed line 2");
        assert_eq!(conflicts, [MergeConflict { base: 1..2, ours: 1..3, theirs: 1..2 }]);
    }

    proptest! {
        #[test]
        fn a_side_that_did_not_change_takes_the_other(base in "[abc\n]{0,24}", other in "[abc\n]{0,24}") {
            prop_assert_eq!(merged(&base, &base, &other), Some(other.clone()));
            prop_assert_eq!(merged(&base, &other, &base), Some(other.clone()));
            prop_assert_eq!(merged(&base, &other, &other), Some(other.clone()));
        }

        #[test]
        fn sides_can_be_exchanged(base in "[ab\n]{0,20}", ours in "[ab\n]{0,20}", theirs in "[ab\n]{0,20}") {
            prop_assert_eq!(merged(&base, &ours, &theirs), merged(&base, &theirs, &ours));
        }
    }
}
