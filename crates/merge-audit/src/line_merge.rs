//! Three-way merge of lines. It knows no merge driver and no attribute: what it merges cleanly, nobody can have lost.

use crate::sequence_diff::{ChangedRegion, aligned_pairs, changed_regions, shortest_script_pairs};
use foldhash::fast::FixedState;
use std::hash::BuildHasher;
use std::ops::Range;

/// The result of a three-way merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineMerge {
    Clean(Vec<u8>),
    /// The ranges of base lines, from 0, that both sides changed differently.
    Conflicts(Vec<Range<usize>>),
}

/// Splits text into lines with their ends.
pub(crate) fn lines_of(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|&byte| byte == b'\n').collect()
}

pub(crate) fn hash_of(bytes: &[u8]) -> u64 {
    FixedState::with_seed(0).hash_one(bytes)
}

fn hashes(lines: &[&[u8]]) -> Vec<u64> {
    lines.iter().map(|line| hash_of(line)).collect()
}

/// Merges the changes of two texts to their common base.
pub fn merge_lines(base: &[u8], ours: &[u8], theirs: &[u8]) -> LineMerge {
    merge_with(base, ours, theirs, aligned_pairs)
}

/// Returns true if the result is what a clean merge of the three gives, under either way to align lines.
pub(crate) fn is_clean_merge(base: &[u8], ours: &[u8], theirs: &[u8], result: &[u8]) -> bool {
    let is_result = |merge: LineMerge| matches!(merge, LineMerge::Clean(merged) if merged == result);
    is_result(merge_with(base, ours, theirs, aligned_pairs))
        || is_result(merge_with(base, ours, theirs, shortest_script_pairs))
}

/// Pairs the equal elements of two sequences.
type AlignFunction = fn(&[u64], &[u64]) -> Vec<(usize, usize)>;

fn merge_with(base: &[u8], ours: &[u8], theirs: &[u8], pairs: AlignFunction) -> LineMerge {
    let [base, ours, theirs] = [base, ours, theirs].map(lines_of);
    let [base_hashes, our_hashes, their_hashes] = [&base, &ours, &theirs].map(|lines| hashes(lines));
    let regions = |side: &[u64]| changed_regions(&pairs(&base_hashes, side), base_hashes.len(), side.len());
    let (our_regions, their_regions) = (regions(&our_hashes), regions(&their_hashes));
    let mut merged: Vec<&[u8]> = Vec::new();
    let mut conflicts = Vec::new();
    let mut at = 0;
    let (mut our_at, mut their_at) = (0, 0);
    while our_at < our_regions.len() || their_at < their_regions.len() {
        let cluster = next_cluster(&our_regions[our_at..], &their_regions[their_at..]);
        merged.extend(&base[at..cluster.base.start]);
        let of_ours = span(&our_regions[our_at..our_at + cluster.n_ours], &cluster.base);
        let of_theirs = span(&their_regions[their_at..their_at + cluster.n_theirs], &cluster.base);
        match (of_ours, of_theirs) {
            (Some(range), None) => merged.extend(&ours[range]),
            (None, Some(range)) => merged.extend(&theirs[range]),
            (Some(left), Some(right)) if ours[left.clone()] == theirs[right.clone()] => {
                merged.extend(&ours[left]);
            }
            _ => conflicts.push(cluster.base.clone()),
        }
        at = cluster.base.end;
        our_at += cluster.n_ours;
        their_at += cluster.n_theirs;
    }
    if !conflicts.is_empty() {
        return LineMerge::Conflicts(conflicts);
    }
    merged.extend(&base[at..]);
    LineMerge::Clean(merged.concat())
}

/// Regions of both sides that touch each other.
struct RegionCluster {
    base: Range<usize>,
    n_ours: usize,
    n_theirs: usize,
}

fn next_cluster(ours: &[ChangedRegion], theirs: &[ChangedRegion]) -> RegionCluster {
    let first = match (ours.first(), theirs.first()) {
        (Some(left), Some(right)) if right.before.start < left.before.start => right,
        (Some(left), _) => left,
        (None, right) => right.expect("the caller has a region left"),
    };
    let mut cluster = RegionCluster { base: first.before.start..first.before.start, n_ours: 0, n_theirs: 0 };
    loop {
        let mut has_grown = false;
        for (regions, n_taken) in [(ours, &mut cluster.n_ours), (theirs, &mut cluster.n_theirs)] {
            while let Some(region) = regions.get(*n_taken)
                && region.before.start <= cluster.base.end
            {
                cluster.base.end = cluster.base.end.max(region.before.end);
                *n_taken += 1;
                has_grown = true;
            }
        }
        if !has_grown {
            return cluster;
        }
    }
}

/// Returns the lines of a side for the base range of a cluster; `None` if the side did not change it.
fn span(regions: &[ChangedRegion], base: &Range<usize>) -> Option<Range<usize>> {
    let (first, last) = (regions.first()?, regions.last()?);
    let start = first.after.start - (first.before.start - base.start);
    Some(start..last.after.end + (base.end - last.before.end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(lines: &[u8]) -> Vec<u8> {
        lines.iter().flat_map(|line| [b'a' + line, b'\n']).collect()
    }

    #[test]
    fn changes_of_both_sides_are_merged() {
        let merged = merge_lines(b"1\n2\n3\n4\n5\n", b"1\nx\n3\n4\n5\n", b"1\n2\n3\n5\n6\n");
        assert_eq!(merged, LineMerge::Clean(b"1\nx\n3\n5\n6\n".to_vec()));
    }

    #[test]
    fn different_changes_of_one_line_are_a_conflict() {
        assert_eq!(
            merge_lines(b"1\n2\n3\n", b"1\nx\n3\n", b"1\ny\n3\n"),
            LineMerge::Conflicts(std::iter::once(1..2).collect())
        );
        assert_eq!(
            merge_lines(b"1\n", b"1\nx\n", b"1\ny\n"),
            LineMerge::Conflicts(std::iter::once(1..1).collect())
        );
    }

    proptest! {
        #[test]
        fn a_side_that_changed_nothing_takes_the_other(base in prop::collection::vec(0_u8..5, 0..20), other in prop::collection::vec(0_u8..5, 0..20)) {
            let (base, other) = (text(&base), text(&other));
            prop_assert_eq!(merge_lines(&base, &base, &other), LineMerge::Clean(other.clone()));
            prop_assert_eq!(merge_lines(&base, &other, &base), LineMerge::Clean(other.clone()));
            prop_assert_eq!(merge_lines(&base, &other, &other), LineMerge::Clean(other.clone()));
        }

        #[test]
        fn sides_are_equal(base in prop::collection::vec(0_u8..5, 0..20), ours in prop::collection::vec(0_u8..5, 0..20), theirs in prop::collection::vec(0_u8..5, 0..20)) {
            let [base, ours, theirs] = [base, ours, theirs].map(|lines| text(&lines));
            prop_assert_eq!(merge_lines(&base, &ours, &theirs), merge_lines(&base, &theirs, &ours));
        }
    }
}
