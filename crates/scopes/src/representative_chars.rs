//! Picks a few representative characters that stand in for all others in a search.
//!
//! Programs distinguish only some characters: those they name, and those on either side of a class. Trying one
//! character of each kind is enough. Among equals the most readable one is chosen.

use crate::path_grammar::BYTE_CLASS_STARTS;
use probity_paths::compiled::CharClass;
use probity_paths::compiled::PathChar;
use probity_paths::compiled::{CharSet, PatternStep};
use std::collections::{BTreeMap, BTreeSet};

/// Returns one character of every kind that `programs` or the path grammar can distinguish, readable ones first.
pub(crate) fn of<'a>(programs: impl IntoIterator<Item = &'a [PatternStep]>) -> Vec<PathChar> {
    let mut named = BTreeSet::from([PathChar::DOT, PathChar::SLASH]);
    let mut classes: Vec<&CharClass> = Vec::new();
    for set in programs.into_iter().flatten().filter_map(set_of) {
        match set {
            CharSet::Unit(unit) => _ = named.insert(*unit),
            CharSet::Class(class) if !classes.contains(&class) => classes.push(class),
            CharSet::Class(_) | CharSet::All | CharSet::Name => {}
        }
    }
    let mut letters = others(&named, &classes);
    letters.extend(named);
    letters.sort_by_key(|&unit| rank(unit));
    letters
}

/// Estimates the work of finding the characters for `programs`.
pub(crate) fn work<'a>(programs: impl IntoIterator<Item = &'a [PatternStep]>) -> usize {
    let classes = programs.into_iter().flatten().filter_map(|step| match set_of(step) {
        Some(CharSet::Class(class)) => Some(class.ranges().len()),
        _ => None,
    });
    let (n_classes, n_ranges) = classes.fold((0, 0), |(classes, ranges), more| (classes + 1, ranges + more));
    n_ranges * n_classes
}

fn set_of(step: &PatternStep) -> Option<&CharSet> {
    match step {
        PatternStep::One(set) | PatternStep::Run(set) => Some(set),
        PatternStep::Directories => None,
    }
}

/// Returns the most readable character of every kind that no program names.
fn others(named: &BTreeSet<PathChar>, classes: &[&CharClass]) -> Vec<PathChar> {
    let mut characters: BTreeMap<Vec<usize>, PathChar> = BTreeMap::new();
    let mut bytes: BTreeMap<(Vec<usize>, usize), PathChar> = BTreeMap::new();
    for unit in intervals(named, classes).filter_map(|(low, high)| most_readable(low, high)) {
        if named.contains(&unit) {
            continue;
        }
        let takers: Vec<usize> = (0..classes.len()).filter(|&class| classes[class].contains(unit)).collect();
        let best = match unit.single_byte() {
            None => characters.entry(takers).or_insert(unit),
            Some(byte) => {
                let kind = BYTE_CLASS_STARTS.partition_point(|&first| first <= byte);
                bytes.entry((takers, kind)).or_insert(unit)
            }
        };
        *best = std::cmp::min_by_key(*best, unit, |&unit| rank(unit));
    }
    // Skip single bytes that behave like some character: a character never combines with its neighbors into another.
    bytes.retain(|(takers, _), _| !characters.contains_key(takers));
    characters.into_values().chain(bytes.into_values()).collect()
}

/// Splits the range of values so that no program distinguishes two values of one interval.
fn intervals(named: &BTreeSet<PathChar>, classes: &[&CharClass]) -> impl Iterator<Item = (u32, u32)> {
    let points = named.iter().map(|&unit| (unit, unit));
    let ranges = classes.iter().flat_map(|class| class.ranges().iter().copied());
    let bytes = BYTE_CLASS_STARTS.map(|byte| PathChar::invalid(byte).value());
    let mut cuts = BTreeSet::from([1, 0xd800, 0xdd00, 0xe000, 0x11_0000]);
    cuts.extend(bytes);
    cuts.extend(points.chain(ranges).flat_map(|(low, high)| [low.value(), high.value() + 1]));
    let cuts: Vec<u32> = cuts.into_iter().collect();
    (1..cuts.len()).map(move |index| (cuts[index - 1], cuts[index] - 1))
}

/// Ranges in order of preference for display to people.
const READABLE_RANGES: [(char, char); 9] = [
    ('a', 'z'),
    ('0', '9'),
    ('A', 'Z'),
    ('_', '_'),
    ('-', '-'),
    ('!', '~'),
    ('\u{a1}', '\u{d7ff}'),
    (' ', ' '),
    ('\u{e000}', '\u{10ffff}'),
];

fn rank(unit: PathChar) -> (usize, PathChar) {
    let within =
        |(first, last): &(char, char)| PathChar::from(*first) <= unit && unit <= PathChar::from(*last);
    (READABLE_RANGES.iter().position(within).unwrap_or(READABLE_RANGES.len()), unit)
}

/// Returns the most readable character with a value from `low` to `high`.
fn most_readable(low: u32, high: u32) -> Option<PathChar> {
    let candidates =
        READABLE_RANGES.iter().map(|&(first, last)| (low.max(first.into()), high.min(last.into())));
    let pleasant = candidates.filter(|(low, high)| low <= high).map(|(low, _)| low).next();
    PathChar::of(pleasant.unwrap_or(low))
}

#[cfg(test)]
mod tests {
    use super::*;
    use probity_paths::compiled::Glob;
    use probity_paths::compiled::encode;

    fn letters(patterns: &[&str]) -> String {
        let programs: Vec<_> =
            patterns.iter().map(|text| Glob::parse(text.as_bytes()).expect("a glob").program()).collect();
        let letters = of(programs.iter().map(Vec::as_slice));
        String::from_utf8_lossy(&encode(letters)).into_owned()
    }

    #[test]
    fn names_and_one_more_are_enough_without_classes() {
        assert_eq!(letters(&["**"]), "a./");
        assert_eq!(letters(&["a*/é?b"]), "abc./é");
    }

    #[test]
    fn a_class_adds_one_unit_for_each_side() {
        assert_eq!(letters(&["[0-9]"]), "a0./");
        assert_eq!(letters(&["[!a]", "[!b]"]), "abc./");
        assert_eq!(letters(&["[a-m]", "[h-z]"]), "ahn0./");
    }

    #[test]
    fn single_bytes_are_tried_only_where_they_differ_from_characters() {
        assert_eq!(letters(&["[\u{e000}]"]), "a./\u{e000}");
        let class = Glob::parse(b"[\xc0-\xc3]").expect("a glob").program();
        let bytes: Vec<u8> = of([&*class]).into_iter().filter_map(PathChar::single_byte).collect();
        assert_eq!(bytes, [0xc0, 0xc2]);
    }
}
