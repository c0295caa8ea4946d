//! Whether an edit is in the result: at its place, elsewhere in the file, in another layout, combined with the other
//! side's edit of the same line, under another name, or in another file.

use crate::edits::{
    Alignment, EditAtom, FileAlignments, RegionEdits, added_elements, dice_percent, n_common,
    similarity_percent,
};
use crate::file_items::{FileItems, Item};
use crate::moved_code::{SoughtLine, TreeSearch};
use crate::trees::{BASE, RESULT};
use probity_analysis::ItemKind;
use probity_line_diff::split_lines;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

/// The least similarity, in percent of parts of words, of a line and what the merge made of it.
const MIN_ADAPTED_PERCENT: usize = 65;
/// The least similarity of two lines that say the same in other words, and the least number of words they need.
const MIN_SAME_MEANING_PERCENT: usize = 80;
const MIN_SAME_MEANING_WORDS: usize = 6;
/// The least part of a delta's words that a combined line must have.
const MIN_COMBINED_PERCENT: usize = 80;

/// One side of a file, with what it is compared to.
pub(crate) struct SideView<'a> {
    pub(crate) base: &'a FileItems,
    pub(crate) side: &'a FileItems,
    pub(crate) other: &'a FileItems,
    pub(crate) result: &'a FileItems,
    pub(crate) texts: SideTexts<'a>,
    /// What the side did, region by region.
    pub(crate) edits: &'a [RegionEdits],
    pub(crate) base_to_other: &'a Alignment,
    /// Base items that the other side has in other words at the same place.
    rewritten_by_other: BTreeSet<usize>,
    pub(crate) base_to_result: &'a Alignment,
    pub(crate) side_to_result: &'a Alignment,
    other_to_result: &'a Alignment,
    /// Names that the other side replaced everywhere.
    pub(crate) renamed: BTreeMap<u64, u64>,
    /// Items of the result that no other version has.
    pub(crate) invented: Vec<usize>,
    /// The parts of the words of those items, and of the lines that only the other side inserted.
    invented_parts: OnceCell<Vec<(bool, Vec<u64>)>>,
    other_parts: OnceCell<Vec<(bool, Vec<u64>)>>,
    pub(crate) search: &'a TreeSearch<'a>,
    /// Which trees are the side and the other side: `OURS` or `THEIRS`.
    pub(crate) versions: [usize; 2],
}

pub(crate) struct SideTexts<'a> {
    pub(crate) base: VersionText<'a>,
    pub(crate) side: VersionText<'a>,
    pub(crate) other: VersionText<'a>,
    pub(crate) result: VersionText<'a>,
}

/// The text of a version, and its lines with their ends.
#[derive(Debug, Clone)]
pub(crate) struct VersionText<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) lines: Rc<[&'a [u8]]>,
}

impl<'a> VersionText<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Self {
        Self { text, lines: split_lines(text).into() }
    }
}

/// How often a line occurs in the four versions.
#[derive(Debug, Clone, Copy)]
struct LineCounts {
    base: i64,
    side: i64,
    other: i64,
    result: i64,
}

impl LineCounts {
    /// Returns how often the line must occur in a result that has the edits of both sides.
    fn expected(self) -> i64 {
        let (of_side, of_other) = (self.side - self.base, self.other - self.base);
        if of_side > 0 && of_side == of_other {
            return self.side;
        }
        (self.side + of_other).max(i64::from(of_side > 0))
    }
}

impl<'a> SideView<'a> {
    pub(crate) fn new(
        files: [&'a FileItems; 4],
        texts: SideTexts<'a>,
        search: &'a TreeSearch<'a>,
        versions: [usize; 2],
        alignments: &'a FileAlignments,
    ) -> Self {
        let [base, side, other, result] = files;
        let base_to_other = alignments.base_to(versions[1]);
        let rewritten_by_other = rewritten_items(
            [base, side, other],
            base_to_other,
            versions.map(|version| alignments.edits(version)),
        );
        let renamed = renamed_words(base, other, alignments.edits(versions[1]));
        let is_invented = |item: &Item| {
            let tokens = result.tokens_of(item);
            let versions = [base, side, other];
            versions.iter().all(|file| file.count(item.hash) == 0)
                && versions.iter().all(|file| file.occurrences(tokens, item.is_note()).any == 0)
        };
        let invented = (0..result.items.len()).filter(|&index| is_invented(&result.items[index])).collect();
        Self {
            base,
            side,
            other,
            result,
            texts,
            edits: alignments.edits(versions[0]),
            base_to_result: alignments.base_to(RESULT),
            side_to_result: alignments.to_result(versions[0]),
            other_to_result: alignments.to_result(versions[1]),
            base_to_other,
            rewritten_by_other,
            renamed,
            invented,
            invented_parts: OnceCell::new(),
            other_parts: OnceCell::new(),
            search,
            versions,
        }
    }

    fn counts(&self, tokens: &[u64], is_note: bool) -> LineCounts {
        let count = |file: &FileItems| i64::from(file.occurrences(tokens, is_note).any);
        LineCounts {
            base: count(self.base),
            side: count(self.side),
            other: count(self.other),
            result: count(self.result),
        }
    }

    /// Returns true if the atom changes nothing but layout or order.
    fn is_neutral(&self, atom: EditAtom) -> bool {
        let gains = |item: &Item| {
            let counts = self.counts(self.side.tokens_of(item), item.is_note());
            counts.side > counts.base
        };
        let loses = |item: &Item| {
            let counts = self.counts(self.base.tokens_of(item), item.is_note());
            counts.side < counts.base
        };
        match atom {
            EditAtom::Insert { side } => !gains(&self.side.items[side]),
            EditAtom::Delete { base } => !loses(&self.base.items[base]),
            EditAtom::Update { base, side } => {
                !gains(&self.side.items[side]) && !loses(&self.base.items[base])
            }
        }
    }

    /// Returns true if the result has the edit.
    pub(crate) fn survives(&self, atom: EditAtom) -> bool {
        if self.is_neutral(atom) {
            return true;
        }
        match atom {
            EditAtom::Insert { side } => self.insert_survives(side),
            EditAtom::Delete { base } => !self.is_undeleted(base),
            EditAtom::Update { base, side } => self.update_survives(base, side),
        }
    }

    fn insert_survives(&self, side: usize) -> bool {
        let item = &self.side.items[side];
        self.is_present(side)
            || self.is_adapted(item)
            || self.is_said_by_other(item)
            || self.is_joined(side)
            || self.is_wrapped(side)
            || self.is_imported(item)
            || self.has_moved(side)
    }

    /// The tests that hold for inserted and updated items alike.
    fn is_present(&self, side: usize) -> bool {
        let item = &self.side.items[side];
        if self.side_to_result.forward[side].is_some() {
            return true;
        }
        let tokens = self.side.tokens_of(item);
        let counts = self.counts(tokens, item.is_note());
        if counts.result >= counts.expected() && counts.result > 0 {
            return true;
        }
        // Nobody wants a whole sentence twice.
        if counts.base == 0 && counts.result > 0 && self.is_sentence(item) {
            return true;
        }
        if counts.side > 1 && self.has_pair(side) {
            return true;
        }
        let renamed: Vec<u64> =
            tokens.iter().map(|token| self.renamed.get(token).copied().unwrap_or(*token)).collect();
        renamed != tokens && self.result.occurrences(&renamed, item.is_note()).any > 0
    }

    fn is_sentence(&self, item: &Item) -> bool {
        const MIN_SENTENCE_WORDS: usize = 8;
        item.kind == ItemKind::Text && self.side.sorted_words(item).len() >= MIN_SENTENCE_WORDS
    }

    /// Returns true if the result has an item that occurs often as often beside its neighbor as the side has.
    fn has_pair(&self, side: usize) -> bool {
        pairs_of(self.side, side).iter().any(|pair| {
            let count = |file: &FileItems| file.code.occurrences(pair).any;
            count(self.result) >= count(self.side)
        })
    }

    pub(crate) fn adds_words(&self, base: usize, side: usize) -> bool {
        let (before, after) = (&self.base.items[base], &self.side.items[side]);
        !added_elements(self.base.sorted_words(before), self.side.sorted_words(after)).is_empty()
    }

    /// Says which half of an edit is gone: of an update whose new text is there, only the deletion.
    pub(crate) fn half_of(&self, atom: EditAtom) -> EditAtom {
        match atom {
            EditAtom::Update { base, side } if self.is_undeleted(base) => {
                let stands = self.side_to_result.forward[side].is_some();
                if stands || self.adds_words(base, side) && self.is_present(side) {
                    EditAtom::Delete { base }
                } else {
                    atom
                }
            }
            atom => atom,
        }
    }

    /// Returns true if the result has a deleted item again.
    fn is_undeleted(&self, base: usize) -> bool {
        let item = &self.base.items[base];
        let counts = self.counts(self.base.tokens_of(item), item.is_note());
        let is_back = counts.result > counts.side + (counts.other - counts.base).max(0)
            && self.base_to_result.forward[base].is_some();
        // Of a line that occurs often, its place must be back, too.
        is_back
            && (counts.base == 1
                || pairs_of(self.base, base).iter().all(|pair| {
                    self.result.code.occurrences(pair).any > self.side.code.occurrences(pair).any
                }))
    }

    fn update_survives(&self, base: usize, side: usize) -> bool {
        let (before, after) = (&self.base.items[base], &self.side.items[side]);
        let added = added_elements(self.base.sorted_words(before), self.side.sorted_words(after));
        let is_base_back = self.is_undeleted(base);
        if added.is_empty() {
            // Where the shortened line stands in its place, the words it lost belong to other lines.
            let stands = self.side_to_result.forward[side].is_some();
            return !is_base_back && (stands || !self.keeps_removed_words(before, after));
        }
        if self.is_present(side) {
            return !is_base_back;
        }
        !is_base_back && self.is_combined(after, &added) || self.has_moved(side)
    }

    /// Returns true if a line of the result still has what the side took out of it.
    fn keeps_removed_words(&self, before: &Item, after: &Item) -> bool {
        let removed = added_elements(self.side.sorted_words(after), self.base.sorted_words(before));
        if removed.is_empty() {
            // Only punctuation changed: the result must have one of the two.
            return false;
        }
        self.new_result_items().any(|item| {
            n_common(self.result.sorted_words(item), &removed) == removed.len()
                && self.side.count(item.hash) == 0
                && similarity_percent(self.base, before, self.result, item) >= 50
        })
    }

    fn new_result_items(&self) -> impl Iterator<Item = &Item> {
        let is_new = |index: &usize| self.side_to_result.backward[*index].is_none();
        (0..self.result.items.len()).filter(is_new).map(|index| &self.result.items[index])
    }

    /// Returns true if a similar line of the result has the words that the side added.
    fn is_combined(&self, after: &Item, added: &[u64]) -> bool {
        self.new_result_items().any(|item| {
            let is_similar = similarity_percent(self.side, after, self.result, item) >= 40;
            if !is_similar || self.base.count(item.hash) > 0 && item.hash != after.hash {
                return false;
            }
            let n_there = n_common(self.result.sorted_words(item), added);
            if n_there * 100 >= added.len() * MIN_COMBINED_PERCENT {
                return true;
            }
            let n_adapted = self.n_adapted_words(after, added, item);
            (n_there + n_adapted) * 100 >= added.len() * MIN_COMBINED_PERCENT
        })
    }

    /// Counts added words that the merge wrote in another way, which no other version has: `RangeSliderWidget` as
    /// `RangeSlider`, because the other side took the suffix from all names.
    fn n_adapted_words(&self, after: &Item, added: &[u64], item: &Item) -> usize {
        let is_invented = |word: &&[u8]| {
            let hash = crate::hashes::hash_of(word);
            [self.base, self.side, self.other].iter().all(|file| file.code.count(hash) == 0)
        };
        let invented: Vec<Vec<u64>> = item_words(&self.texts.result, item)
            .into_iter()
            .filter(is_invented)
            .map(sorted_parts_of)
            .collect();
        let is_adapted = |word: &&&[u8]| {
            let parts = sorted_parts_of(word);
            parts.len() > 1 && invented.iter().any(|other| dice_percent(&parts, other) >= MIN_ADAPTED_PERCENT)
        };
        let words = item_words(&self.texts.side, after);
        let is_added = |word: &&&[u8]| added.contains(&crate::hashes::hash_of(word));
        words.iter().filter(is_added).filter(is_adapted).count()
    }

    /// Returns true if the merge has the inserted line in words that fit the other side's code.
    fn is_adapted(&self, item: &Item) -> bool {
        let parts = word_parts(&self.texts.side, item);
        if parts.len() < 2 {
            return false;
        }
        let invented = self.invented_parts.get_or_init(|| {
            let items = self.invented.iter().map(|&index| &self.result.items[index]);
            items.map(|other| (other.is_note(), word_parts(&self.texts.result, other))).collect()
        });
        invented.iter().any(|(is_note, other)| {
            *is_note == item.is_note() && dice_percent(&parts, other) >= MIN_ADAPTED_PERCENT
        })
    }

    /// Returns true if a new line of the result has all words of an inserted line, and most of those of the line beside it: the
    /// merge wrote the two as one.
    fn is_joined(&self, side: usize) -> bool {
        const MIN_JOINED_PERCENT: usize = 50;
        let words = self.side.sorted_words(&self.side.items[side]);
        let neighbors = [side.checked_sub(1), Some(side + 1)];
        let is_new = |index: &usize| self.side_to_result.forward.get(*index).is_some_and(Option::is_none);
        let neighbors: Vec<&[u64]> = neighbors
            .into_iter()
            .flatten()
            .filter(is_new)
            .map(|index| self.side.sorted_words(&self.side.items[index]))
            .filter(|words| words.len() > 1)
            .collect();
        !words.is_empty()
            && !neighbors.is_empty()
            && self.new_result_items().any(|item| {
                let joined = self.result.sorted_words(item);
                let has_most = |other: &&[u64]| {
                    n_common(joined, other) * 100 >= other.len() * MIN_JOINED_PERCENT
                        && joined.len() >= words.len() + n_common(joined, other)
                };
                n_common(joined, words) == words.len() && neighbors.iter().any(has_most)
            })
    }

    /// Returns true if an import of the result has every word of an inserted one: it imports that and more.
    fn is_imported(&self, item: &Item) -> bool {
        let words = self.side.sorted_words(item);
        let has_all = |other: &Item| {
            other.kind == ItemKind::Import && n_common(self.result.sorted_words(other), words) == words.len()
        };
        item.kind == ItemKind::Import && !words.is_empty() && self.result.items.iter().any(has_all)
    }

    /// Returns the lines of a place in the result that are neither the base's nor the other side's, and no whole line of the side.
    fn written_by_merge(&self, place: Range<usize>) -> impl Iterator<Item = &Item> {
        let is_of_merge = |item: &&Item| {
            let tokens = self.result.tokens_of(item);
            self.side.count(item.hash) == 0
                && [self.base, self.other]
                    .iter()
                    .all(|file| file.occurrences(tokens, item.is_note()).any == 0)
        };
        self.result.items[place].iter().filter(is_of_merge)
    }

    /// Returns true if lines that the merge wrote at the place have almost all words of an inserted line in a row: the line is there,
    /// broken at other places.
    fn is_wrapped(&self, side: usize) -> bool {
        const MIN_WRAPPED_WORDS: usize = 4;
        let words = self.side.words_of(&self.side.items[side]);
        if words.len() < MIN_WRAPPED_WORDS {
            return false;
        }
        let place = between(&self.side_to_result.forward, &(side..side + 1), self.result.items.len());
        let is_note = self.side.items[side].is_note();
        let written = self.written_by_merge(place).filter(|item| item.is_note() == is_note);
        let there: Vec<u64> = written.flat_map(|item| self.result.words_of(item)).collect();
        longest_common_run(&words, &there) * 100 >= words.len() * MIN_COMBINED_PERCENT
    }

    /// Returns true if the merge wrote a line of its own where a line of the side would be, in part with the same words: a third
    /// version.
    pub(crate) fn has_third_version(&self, side: usize) -> bool {
        const MIN_THIRD_VERSION_PERCENT: usize = 35;
        let forward = &self.side_to_result.forward;
        let place = between(forward, &(side..side + 1), self.result.items.len());
        let item = &self.side.items[side];
        let parts = word_parts(&self.texts.side, item);
        self.written_by_merge(place.clone()).any(|other| {
            let of_other = word_parts(&self.texts.result, other);
            let is_shortened = !of_other.is_empty() && n_common(&parts, &of_other) == of_other.len();
            other.is_note() == item.is_note()
                && (is_shortened || dice_percent(&parts, &of_other) >= MIN_THIRD_VERSION_PERCENT)
        }) || self.is_shortened(side, place)
    }

    /// Returns true if a line of a place in the result that no version has there has most words of an item, and no others.
    fn is_shortened(&self, side: usize, place: Range<usize>) -> bool {
        const MIN_KEPT_PERCENT: usize = 60;
        let words = self.side.sorted_words(&self.side.items[side]);
        let is_of_merge = |at: &usize| {
            self.side_to_result.backward[*at].is_none()
                && self.base_to_result.backward[*at].is_none()
                && self.other_to_result.backward[*at].is_none()
        };
        place.filter(is_of_merge).any(|at| {
            let kept = self.result.sorted_words(&self.result.items[at]);
            kept.len() < words.len()
                && kept.len() * 100 >= words.len() * MIN_KEPT_PERCENT
                && n_common(words, kept) == kept.len()
        })
    }

    /// Returns true if the other side inserted almost the same line, and the result has that one.
    fn is_said_by_other(&self, item: &Item) -> bool {
        let parts = word_parts(&self.texts.side, item);
        if parts.len() < MIN_SAME_MEANING_WORDS {
            return false;
        }
        let said = self.other_parts.get_or_init(|| {
            let is_inserted = |other: &Item| {
                self.base.count(other.hash) == 0
                    && self.side.count(other.hash) == 0
                    && self.result.count(other.hash) > 0
            };
            let unaligned = self.other.items.iter().zip(&self.base_to_other.backward);
            let inserted = unaligned.filter(|(other, base)| base.is_none() && is_inserted(other));
            inserted.map(|(other, _)| (other.is_note(), word_parts(&self.texts.other, other))).collect()
        });
        said.iter().any(|(is_note, other)| {
            let (shorter, longer) = (parts.len().min(other.len()), parts.len().max(other.len()));
            // A line that says much more does not say the same.
            *is_note == item.is_note()
                && longer * 4 <= shorter * 5
                && dice_percent(&parts, other) >= MIN_SAME_MEANING_PERCENT
        })
    }

    /// Returns true if an item went to another file of the result, together with its neighbors.
    fn has_moved(&self, side: usize) -> bool {
        // What the side itself wrote into other files is no move.
        self.went_elsewhere(
            [self.side, self.result],
            &self.texts.side,
            side,
            RESULT,
            &[BASE, self.versions[0]],
        )
    }

    /// Returns true if an item of a file is new in another file of a tree, together with a neighbor that the file itself has
    /// no more in that tree: a line alone may be anywhere. What one imports does not move.
    fn went_elsewhere(
        &self,
        [file, now]: [&FileItems; 2],
        text: &VersionText<'_>,
        index: usize,
        tree: usize,
        known: &[usize],
    ) -> bool {
        let item = &file.items[index];
        if item.kind == ItemKind::Import {
            return false;
        }
        let gained = |item: &Item| self.search.files_that_gained(tree, known, &sought_line(text, item));
        let files = gained(item);
        if files.is_empty() {
            return false;
        }
        let neighbors = [index.checked_sub(1), Some(index + 1)];
        let mut neighbors = neighbors.into_iter().flatten().filter_map(|index| file.items.get(index));
        neighbors.any(|neighbor| {
            let stays = now.occurrences(file.tokens_of(neighbor), neighbor.is_note()).any > 0;
            !stays && gained(neighbor).iter().any(|path| files.contains(path))
        })
    }

    /// Returns true if an inserted item came from another file, in which the other side edited or deleted it.
    pub(crate) fn other_edited_source(&self, side: usize) -> bool {
        let line = sought_line(&self.texts.side, &self.side.items[side]);
        self.search.is_gone_on_both_sides(&line, self.versions)
    }

    /// Returns true if the other side wrote a base item in other words at the same place.
    pub(crate) fn other_rewrote(&self, base: usize) -> bool {
        self.rewritten_by_other.contains(&base)
    }

    /// Returns true if the other side still has a base item, at its place or elsewhere.
    pub(crate) fn other_keeps(&self, base: usize) -> bool {
        // A longer line may have the words of the old one in a row: `x = 1 if y else z` has `x = 1`.
        if self.other_rewrote(base) {
            return false;
        }
        if self.base_to_other.forward[base].is_some() {
            return true;
        }
        let item = &self.base.items[base];
        let tokens = self.base.tokens_of(item);
        let counts = self.counts(tokens, item.is_note());
        counts.other >= counts.base
            || self.went_elsewhere([self.base, self.other], &self.texts.base, base, self.versions[1], &[BASE])
    }

    /// Returns true if a base item still marks a place on the other side. Of a line that occurs often, another one is no mark.
    pub(crate) fn other_keeps_place(&self, base: usize) -> bool {
        let is_only = self.base.count(self.base.items[base].hash) == 1;
        self.base_to_other.forward[base].is_some() || is_only && self.other_keeps(base)
    }

    /// Returns true if the other side made the same insertion, so that the result lacks what both have.
    pub(crate) fn other_has(&self, side: usize) -> bool {
        let item = &self.side.items[side];
        let counts = self.counts(self.side.tokens_of(item), item.is_note());
        counts.other > counts.base && counts.result < counts.other.min(counts.side)
    }

    /// Returns true if the other side deleted the same item.
    pub(crate) fn other_deleted(&self, base: usize) -> bool {
        let item = &self.base.items[base];
        let counts = self.counts(self.base.tokens_of(item), item.is_note());
        counts.other < counts.base
    }
}

/// Returns the range in the second version that lies between the aligned neighbors of a range of the first.
pub(crate) fn between(forward: &[Option<usize>], range: &Range<usize>, n_items: usize) -> Range<usize> {
    let start = forward[..range.start].iter().rev().flatten().next().map_or(0, |index| index + 1);
    let end = forward[range.end..].iter().flatten().next().copied().unwrap_or(n_items);
    start.min(end)..end
}

/// Returns the base items that the other side wrote in words that this side does not have. A line that was joined with those beside it, or cut, has none.
fn rewritten_items(
    [base, side, other]: [&FileItems; 3],
    alignment: &Alignment,
    [of_side, of_other]: [&[RegionEdits]; 2],
) -> BTreeSet<usize> {
    let updates = of_other.iter().flat_map(|(_, atoms)| atoms).filter_map(|&atom| match atom {
        EditAtom::Update { base, side: other } => Some((base, other)),
        _ => None,
    });
    let is_rewritten = |&(left, right): &(usize, usize)| {
        let words = |index: Option<usize>| {
            index.and_then(|index| base.items.get(index)).map_or(&[][..], |item| base.sorted_words(item))
        };
        let mut known = words(Some(left)).to_vec();
        known.extend(words(left.checked_sub(1)).iter().chain(words(Some(left + 1))));
        known.sort_unstable();
        // What this side wrote there, may say all that the other side added: then nothing contradicts it.
        let regions = of_side.iter().filter(|(region, _)| region.before.contains(&left));
        let mut of_this_side: Vec<u64> = regions
            .flat_map(|(region, _)| &side.items[region.after.clone()])
            .flat_map(|item| side.sorted_words(item))
            .copied()
            .collect();
        of_this_side.sort_unstable();
        let item = &other.items[right];
        let added = added_elements(&known, other.sorted_words(item));
        side.count(item.hash) == 0 && !added_elements(&of_this_side, &added).is_empty()
    };
    let rewritten = updates.filter(is_rewritten).map(|(left, _)| left);
    // A brace ends an item: the rest of the line may be new.
    let gained_on_its_line = |&left: &usize| {
        let Some(right) = alignment.forward[left] else { return false };
        let line = other.items[right].last_line;
        let is_new = |at: usize| {
            other.items.get(at).is_some_and(|item| {
                item.first_line == line
                    && !item.is_note()
                    && alignment.backward[at].is_none()
                    && side.count(item.hash) == 0
            })
        };
        !other.items[right].is_note() && (is_new(right + 1) || right.checked_sub(1).is_some_and(is_new))
    };
    rewritten.chain((0..base.items.len()).filter(gained_on_its_line)).collect()
}

/// Finds names that the other side replaced by another one wherever they stood.
fn renamed_words(base: &FileItems, other: &FileItems, edits: &[RegionEdits]) -> BTreeMap<u64, u64> {
    let mut votes: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    for (_, atoms) in edits {
        for &atom in atoms {
            let EditAtom::Update { base: left, side: right } = atom else { continue };
            let (before, after) = (base.tokens_of(&base.items[left]), other.tokens_of(&other.items[right]));
            if before.len() != after.len() {
                continue;
            }
            for (from, to) in before.iter().zip(after).filter(|(from, to)| from != to) {
                votes.entry(*from).or_default().insert(*to);
            }
        }
    }
    let only = |(from, to): (u64, BTreeSet<u64>)| {
        (to.len() == 1).then(|| to.first().map(|to| (from, *to))).flatten()
    };
    votes.into_iter().filter_map(only).filter(|(from, _)| other.code.count(*from) == 0).collect()
}

/// Returns how many elements in a row two lists share at most.
fn longest_common_run(left: &[u64], right: &[u64]) -> usize {
    let mut runs = vec![0; right.len() + 1];
    let mut longest = 0;
    for element in left {
        for at in (0..right.len()).rev() {
            runs[at + 1] = if right[at] == *element { runs[at] + 1 } else { 0 };
            longest = longest.max(runs[at + 1]);
        }
    }
    longest
}

/// Returns the tokens of a code item together with its neighbor before, and with the one after.
fn pairs_of(file: &FileItems, index: usize) -> Vec<Vec<u64>> {
    let item = &file.items[index];
    let neighbors = [index.checked_sub(1).map(|before| (before, index)), Some((index, index + 1))];
    let of_pair = |(first, second): (usize, usize)| {
        let (first, second) = (file.items.get(first)?, file.items.get(second)?);
        let is_joined = !first.is_note() && !second.is_note() && first.stream.end == second.stream.start;
        is_joined.then(|| file.code.tokens[first.stream.start..second.stream.end].to_vec())
    };
    if item.is_note() { Vec::new() } else { neighbors.into_iter().flatten().filter_map(of_pair).collect() }
}

fn item_words<'a>(text: &VersionText<'a>, item: &Item) -> Vec<&'a [u8]> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 128;
    let (first, last) = (item.first_line as usize - 1, (item.last_line as usize).min(text.lines.len()));
    let lines = text.lines.get(first..last).unwrap_or_default().iter();
    lines.flat_map(|line| line.split(move |&byte| !is_word(byte))).filter(|word| !word.is_empty()).collect()
}

/// Describes an item for a search in other files.
pub(crate) fn sought_line<'a>(text: &VersionText<'a>, item: &Item) -> SoughtLine<'a> {
    SoughtLine::new(text.text.get(item.bytes.clone()).unwrap_or_default())
}

/// Splits the text of an item into the parts of its words, sorted: `load_order` and `loadOrder` have the same two.
fn word_parts(text: &VersionText<'_>, item: &Item) -> Vec<u64> {
    let mut parts: Vec<u64> = item_words(text, item).into_iter().flat_map(sorted_parts_of).collect();
    parts.sort_unstable();
    parts
}

fn sorted_parts_of(word: &[u8]) -> Vec<u64> {
    let mut parts = parts_of(word);
    parts.sort_unstable();
    parts
}

fn parts_of(word: &[u8]) -> Vec<u64> {
    let mut parts = Vec::new();
    let mut part: Vec<u8> = Vec::new();
    let mut was_lower = false;
    for &byte in word {
        let is_break = byte == b'_' || (byte.is_ascii_uppercase() && was_lower);
        if is_break && !part.is_empty() {
            parts.push(crate::hashes::hash_of(&part));
            part.clear();
        }
        if byte != b'_' {
            part.push(byte.to_ascii_lowercase());
        }
        was_lower = byte.is_ascii_lowercase() || byte.is_ascii_digit();
    }
    if !part.is_empty() {
        parts.push(crate::hashes::hash_of(&part));
    }
    parts
}
