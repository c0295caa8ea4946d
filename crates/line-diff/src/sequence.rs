//! Alignment of two sequences: anchors on elements that are unique in both, then the shortest edit script between them.

use std::collections::BTreeMap;
use std::ops::Range;

/// With more differences than this between two anchors, what is between them counts as rewritten: the search takes
/// quadratic time.
const MAX_DIFFERENCES: usize = 2_000;

/// A maximal place where two sequences differ: ranges of either. One of them may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedRegion {
    pub before: Range<usize>,
    pub after: Range<usize>,
}

/// Returns the pairs of equal elements, ascending in both.
pub fn aligned_pairs<T: Copy + Ord>(before: &[T], after: &[T]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    align(before, after, (0, 0), &mut pairs, true);
    pairs
}

/// Like [`aligned_pairs`], without anchors: the shortest edit script of the whole.
pub fn shortest_script_pairs<T: Copy + Ord>(before: &[T], after: &[T]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    align(before, after, (0, 0), &mut pairs, false);
    pairs
}

/// Returns the places between the aligned pairs.
pub fn changed_regions(pairs: &[(usize, usize)], n_before: usize, n_after: usize) -> Vec<ChangedRegion> {
    let mut regions = Vec::new();
    let (mut before, mut after) = (0, 0);
    for &(left, right) in pairs.iter().chain(std::iter::once(&(n_before, n_after))) {
        if left > before || right > after {
            regions.push(ChangedRegion { before: before..left, after: after..right });
        }
        (before, after) = (left + 1, right + 1);
    }
    regions
}

fn align<T: Copy + Ord>(
    before: &[T],
    after: &[T],
    at: (usize, usize),
    pairs: &mut Vec<(usize, usize)>,
    uses_anchors: bool,
) {
    let prefix = before.iter().zip(after).take_while(|(left, right)| left == right).count();
    pairs.extend((0..prefix).map(|index| (at.0 + index, at.1 + index)));
    let (before, after) = (&before[prefix..], &after[prefix..]);
    let at = (at.0 + prefix, at.1 + prefix);
    let suffix =
        before.iter().rev().zip(after.iter().rev()).take_while(|(left, right)| left == right).count();
    let (inner_before, inner_after) = (&before[..before.len() - suffix], &after[..after.len() - suffix]);
    if !inner_before.is_empty() && !inner_after.is_empty() {
        let anchors = if uses_anchors { unique_anchors(inner_before, inner_after) } else { Vec::new() };
        if anchors.is_empty() {
            let script = shortest_script(inner_before, inner_after);
            pairs.extend(script.into_iter().map(|(left, right)| (at.0 + left, at.1 + right)));
        } else {
            let mut from = (0, 0);
            for (left, right) in anchors {
                let place = (at.0 + from.0, at.1 + from.1);
                align(&inner_before[from.0..left], &inner_after[from.1..right], place, pairs, true);
                pairs.push((at.0 + left, at.1 + right));
                from = (left + 1, right + 1);
            }
            let place = (at.0 + from.0, at.1 + from.1);
            align(&inner_before[from.0..], &inner_after[from.1..], place, pairs, true);
        }
    }
    let (n_before, n_after) = (inner_before.len(), inner_after.len());
    pairs.extend((0..suffix).map(|index| (at.0 + n_before + index, at.1 + n_after + index)));
}

/// Returns the longest ascending list of elements that occur once in either sequence.
fn unique_anchors<T: Copy + Ord>(before: &[T], after: &[T]) -> Vec<(usize, usize)> {
    let mut places: BTreeMap<T, [(u32, usize); 2]> = BTreeMap::new();
    for (side, sequence) in [before, after].into_iter().enumerate() {
        for (index, element) in sequence.iter().enumerate() {
            let place = &mut places.entry(*element).or_default()[side];
            *place = (place.0 + 1, index);
        }
    }
    let mut unique: Vec<(usize, usize)> = places
        .values()
        .filter(|[left, right]| left.0 == 1 && right.0 == 1)
        .map(|[left, right]| (left.1, right.1))
        .collect();
    unique.sort_unstable();
    longest_ascending(&unique)
}

fn longest_ascending(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // tails[k]: the pair that ends the best list of k + 1 pairs found so far.
    let mut tails: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = vec![None; pairs.len()];
    for (index, pair) in pairs.iter().enumerate() {
        let at = tails.partition_point(|&tail| pairs[tail].1 < pair.1);
        before[index] = at.checked_sub(1).map(|at| tails[at]);
        if at == tails.len() {
            tails.push(index);
        } else {
            tails[at] = index;
        }
    }
    let mut list = Vec::with_capacity(tails.len());
    let mut at = tails.last().copied();
    while let Some(index) = at {
        list.push(pairs[index]);
        at = before[index];
    }
    list.reverse();
    list
}

/// Myers' algorithm. Beyond the limit of differences nothing is aligned.
fn shortest_script<T: Copy + Ord>(before: &[T], after: &[T]) -> Vec<(usize, usize)> {
    let (n_before, n_after) = (before.len(), after.len());
    let limit = (n_before + n_after).min(MAX_DIFFERENCES);
    let offset = limit + 1;
    let mut furthest = vec![0_usize; 2 * offset + 1];
    let mut trace: Vec<Vec<usize>> = Vec::new();
    for n_differences in 0..=limit {
        trace.push(furthest[offset - n_differences..=offset + n_differences].to_vec());
        for step in 0..=n_differences {
            // The diagonal is 2 * step - n_differences; `at` is its place in `furthest`.
            let at = offset + 2 * step - n_differences;
            let goes_down = step == 0 || (step != n_differences && furthest[at - 1] < furthest[at + 1]);
            let mut left = if goes_down { furthest[at + 1] } else { furthest[at - 1] + 1 };
            let mut right = left + offset - at;
            while left < n_before && right < n_after && before[left] == after[right] {
                (left, right) = (left + 1, right + 1);
            }
            furthest[at] = left;
            if left >= n_before && right >= n_after {
                return backtrack(&trace, offset, (n_before, n_after), n_differences);
            }
        }
    }
    Vec::new()
}

fn backtrack(
    trace: &[Vec<usize>],
    offset: usize,
    end: (usize, usize),
    n_differences: usize,
) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let (mut left, mut right) = end;
    for difference in (0..=n_differences).rev() {
        let row = &trace[difference];
        // `row` holds the diagonals around the middle, as they were before this round.
        let value = |at: usize| row.get((at + difference).wrapping_sub(offset)).copied().unwrap_or(0);
        let at = left + offset - right;
        let (previous_left, previous_right) = if difference == 0 {
            (0, 0)
        } else {
            let lowest = offset - difference;
            let goes_down = at == lowest || (at != offset + difference && value(at - 1) < value(at + 1));
            let previous = if goes_down { at + 1 } else { at - 1 };
            let previous_left = value(previous);
            (previous_left, previous_left + offset - previous)
        };
        while left > previous_left && right > previous_right {
            (left, right) = (left - 1, right - 1);
            pairs.push((left, right));
        }
        (left, right) = (previous_left, previous_right);
    }
    pairs.reverse();
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(before: &[u64], after: &[u64], pairs: &[(usize, usize)]) {
        assert!(pairs.is_sorted());
        assert!(pairs.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1), "{pairs:?}");
        assert!(pairs.iter().all(|&(left, right)| before[left] == after[right]), "{pairs:?}");
    }

    fn longest_common(before: &[u64], after: &[u64]) -> usize {
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
        fn pairs_are_equal_and_ascend(before in prop::collection::vec(0_u64..6, 0..30), after in prop::collection::vec(0_u64..6, 0..30)) {
            check(&before, &after, &aligned_pairs(&before, &after));
            let shortest = shortest_script_pairs(&before, &after);
            check(&before, &after, &shortest);
            prop_assert_eq!(shortest.len(), longest_common(&before, &after));
        }
    }

    #[test]
    fn regions_lie_between_the_pairs() {
        let (before, after) = ([1, 2, 3, 4], [1, 9, 3, 4, 5]);
        let regions = changed_regions(&aligned_pairs(&before, &after), 4, 5);
        let shown: Vec<_> =
            regions.iter().map(|region| (region.before.clone(), region.after.clone())).collect();
        assert_eq!(shown, [(1..2, 1..2), (4..4, 4..5)]);
    }
}
