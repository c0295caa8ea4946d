//! The edits of one side: what it inserted, updated and deleted, item by item.

use crate::file_items::{FileItems, Item};
use crate::trees::OURS;
use probity_line_diff::{ChangedRegion, aligned_pairs, changed_regions};
use std::collections::BTreeMap;

/// The least similarity, in percent, of two items of which one is an update of the other.
const MIN_UPDATE_PERCENT: usize = 50;
/// Larger rewrites are not paired item by item.
const MAX_PAIRED_ITEMS: usize = 400;

/// The smallest edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EditAtom {
    Insert { side: usize },
    Update { base: usize, side: usize },
    Delete { base: usize },
}

/// An alignment of two versions of a file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Alignment {
    /// For each item of the first version, the equal one of the second.
    pub(crate) forward: Vec<Option<usize>>,
    pub(crate) backward: Vec<Option<usize>>,
    pub(crate) regions: Vec<ChangedRegion>,
}

impl Alignment {
    pub(crate) fn new(before: &FileItems, after: &FileItems) -> Self {
        let pairs = aligned_pairs(&before.hashes, &after.hashes);
        let mut forward = vec![None; before.items.len()];
        let mut backward = vec![None; after.items.len()];
        for &(left, right) in &pairs {
            forward[left] = Some(right);
            backward[right] = Some(left);
        }
        let regions = changed_regions(&pairs, before.items.len(), after.items.len());
        Self { forward, backward, regions }
    }

    /// Returns the regions that overlap or touch a range of the first version.
    pub(crate) fn touching(&self, range: &std::ops::Range<usize>) -> impl Iterator<Item = &ChangedRegion> {
        let (start, end) = (range.start, range.end);
        self.regions.iter().filter(move |region| region.before.start <= end && start <= region.before.end)
    }
}

/// The alignments of the four versions of a file that both sides need.
#[derive(Debug)]
pub(crate) struct FileAlignments {
    /// Of the base to ours, to theirs and to the result.
    from_base: [Alignment; 3],
    /// Of ours and of theirs to the result.
    to_result: [Alignment; 2],
    /// The edits of ours and of theirs.
    edits: [Vec<RegionEdits>; 2],
}

/// A changed region and its edits.
pub(crate) type RegionEdits = (ChangedRegion, Vec<EditAtom>);

impl FileAlignments {
    pub(crate) fn new([base, ours, theirs, result]: [&FileItems; 4]) -> Self {
        let from_base = [ours, theirs, result].map(|version| Alignment::new(base, version));
        let edits = [edits_of(base, ours, &from_base[0]), edits_of(base, theirs, &from_base[1])];
        Self { from_base, to_result: [ours, theirs].map(|side| Alignment::new(side, result)), edits }
    }

    pub(crate) fn base_to(&self, version: usize) -> &Alignment {
        &self.from_base[version - OURS]
    }

    pub(crate) fn to_result(&self, side: usize) -> &Alignment {
        &self.to_result[side - OURS]
    }

    pub(crate) fn edits(&self, side: usize) -> &[RegionEdits] {
        &self.edits[side - OURS]
    }
}

/// Returns the edits of one side, region by region.
fn edits_of(base: &FileItems, side: &FileItems, alignment: &Alignment) -> Vec<RegionEdits> {
    alignment.regions.iter().map(|region| (region.clone(), atoms_of(base, side, region))).collect()
}

fn atoms_of(base: &FileItems, side: &FileItems, region: &ChangedRegion) -> Vec<EditAtom> {
    let pairs = update_pairs(base, side, region);
    let mut atoms = Vec::new();
    let updated: BTreeMap<usize, usize> = pairs.iter().map(|&(left, right)| (right, left)).collect();
    let paired: BTreeMap<usize, usize> = pairs.into_iter().collect();
    for index in region.after.clone() {
        atoms.push(match updated.get(&index) {
            Some(&left) => EditAtom::Update { base: left, side: index },
            None => EditAtom::Insert { side: index },
        });
    }
    let gone = region.before.clone().filter(|index| !paired.contains_key(index));
    atoms.extend(gone.map(|index| EditAtom::Delete { base: index }));
    atoms
}

/// Pairs items of a changed region, the most similar ones first, without crossing.
fn update_pairs(base: &FileItems, side: &FileItems, region: &ChangedRegion) -> Vec<(usize, usize)> {
    if region.before.len().max(region.after.len()) > MAX_PAIRED_ITEMS {
        return Vec::new();
    }
    let mut scored = Vec::new();
    for left in region.before.clone() {
        for right in region.after.clone() {
            let score = similarity_percent(base, &base.items[left], side, &side.items[right]);
            if score >= MIN_UPDATE_PERCENT {
                scored.push((score, left, right));
            }
        }
    }
    scored.sort_by(|one, two| {
        two.0.cmp(&one.0).then(one.1.abs_diff(one.2).cmp(&two.1.abs_diff(two.2))).then(one.cmp(two))
    });
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for (_, left, right) in scored {
        let fits = pairs.iter().all(|&(l, r)| (l < left && r < right) || (l > left && r > right));
        if fits {
            pairs.push((left, right));
        }
    }
    pairs.sort_unstable();
    pairs
}

/// Returns how much of two items is the same, in percent of both. Items of different kinds are never the same.
pub(crate) fn similarity_percent(
    left_file: &FileItems,
    left: &Item,
    right_file: &FileItems,
    right: &Item,
) -> usize {
    if left.is_note() != right.is_note() {
        return 0;
    }
    let by_words = dice_percent(left_file.sorted_words(left), right_file.sorted_words(right));
    if by_words == 0 {
        return 0;
    }
    let by_tokens = dice_percent(left_file.sorted_tokens(left), right_file.sorted_tokens(right));
    // Punctuation alone does not make two lines similar; a common first word, such as a key, does.
    let has_same_head = left_file.head_of(left).is_some_and(|word| right_file.head_of(right) == Some(word));
    match by_words {
        0 => 0,
        1..34 if !has_same_head => 0,
        _ if has_same_head => by_tokens.max(by_words),
        _ => by_tokens.min(by_words + 15),
    }
}

/// Returns twice the common elements of two sorted lists in percent of all elements.
pub(crate) fn dice_percent(left: &[u64], right: &[u64]) -> usize {
    if left.is_empty() || right.is_empty() {
        return 0;
    }
    200 * n_common(left, right) / (left.len() + right.len())
}

/// Counts the common elements of two sorted lists.
pub(crate) fn n_common(left: &[u64], right: &[u64]) -> usize {
    let (mut left_at, mut right_at, mut common) = (0, 0, 0);
    while let (Some(one), Some(other)) = (left.get(left_at), right.get(right_at)) {
        common += usize::from(one == other);
        left_at += usize::from(one <= other);
        right_at += usize::from(one >= other);
    }
    common
}

/// Returns the elements of `after` that `before` does not have, by number. All lists are sorted.
pub(crate) fn added_elements(before: &[u64], after: &[u64]) -> Vec<u64> {
    let mut at = 0;
    let mut added = Vec::new();
    for element in after {
        while before.get(at).is_some_and(|other| other < element) {
            at += 1;
        }
        if before.get(at) == Some(element) {
            at += 1;
        } else {
            added.push(*element);
        }
    }
    added
}
