//! A proof of no loss by counting lines, for results that no clean merge gives: every line is there as often as the edits of
//! both sides together make it. Most resolutions keep both edits in some order, and need no parser.

use crate::hashes::hash_of;
use crate::trees::{BASE, OURS, RESULT, THEIRS};

/// A line of one of the four texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct CountedLine {
    hash: u64,
    version: usize,
    at: usize,
}

/// Returns true if the result has every line that a side added, as often, and none that a side deleted. `texts` are the
/// base, ours and theirs. What a side moved is not proven: moves change no count.
pub(crate) fn has_every_line(texts: [Option<&[u8]>; 3], result: &[u8]) -> bool {
    let [base, Some(ours), Some(theirs)] = texts else { return false };
    let lines = counted_lines([base.unwrap_or_default(), ours, theirs, result]);
    let groups = || lines.chunk_by(|one, two| one.hash == two.hash);
    groups().all(is_complete) && [OURS, THEIRS].into_iter().all(|side| keeps_order(groups(), side))
}

/// Returns true if neither side moved a line that it and the base have once each. `texts` are the base, ours and theirs.
pub(crate) fn keeps_every_order(texts: [Option<&[u8]>; 3]) -> bool {
    let [base, ours, theirs] = texts.map(Option::unwrap_or_default);
    let lines = counted_lines([base, ours, theirs, base]);
    let groups = || lines.chunk_by(|one, two| one.hash == two.hash);
    [OURS, THEIRS].into_iter().all(|side| keeps_order(groups(), side))
}

/// Returns the lines of four texts that say something, equal ones together. Those with which all begin and end are left out.
fn counted_lines(texts: [&[u8]; 4]) -> Vec<CountedLine> {
    let mut lines: Vec<CountedLine> = Vec::new();
    for (text, version) in without_common_ends(texts).zip(0..) {
        let telling = text.split(|&byte| byte == b'\n').map(content_of).filter(|line| has_word(line));
        lines.extend(telling.enumerate().map(|(at, line)| CountedLine { hash: hash_of(line), version, at }));
    }
    lines.sort_unstable();
    lines
}

/// Returns the text of a line without what items do not count, either.
fn content_of(line: &[u8]) -> &[u8] {
    let is_layout = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b';' | b'{' | b'}');
    let start = line.iter().position(|byte| !is_layout(byte)).unwrap_or(line.len());
    let end = line.iter().rposition(|byte| !is_layout(byte)).map_or(start, |last| last + 1);
    &line[start..end]
}

fn has_word(line: &[u8]) -> bool {
    line.iter().any(|&byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 128)
}

/// Cuts off the lines with which all four texts begin, and those with which they end.
fn without_common_ends(texts: [&[u8]; 4]) -> impl Iterator<Item = &[u8]> {
    let [base, others @ ..] = texts;
    let prefix_with = |other: &&[u8]| base.iter().zip(*other).take_while(|(one, two)| one == two).count();
    let prefix = others.iter().map(prefix_with).min().unwrap_or(0);
    // Only whole lines are cut off.
    let prefix = base[..prefix].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let texts = texts.map(|text| &text[prefix..]);
    let [base, others @ ..] = texts;
    let suffix_with =
        |other: &&[u8]| base.iter().rev().zip(other.iter().rev()).take_while(|(one, two)| one == two).count();
    let suffix = others.iter().map(suffix_with).min().unwrap_or(0);
    let common = &base[base.len() - suffix..];
    let suffix = common.iter().position(|&byte| byte == b'\n').map_or(0, |at| suffix - at - 1);
    texts.into_iter().map(move |text| &text[..text.len() - suffix])
}

/// Returns true if the result has a line as often as the edits of both sides make it.
fn is_complete(same: &[CountedLine]) -> bool {
    let [base, ours, theirs, result] = [BASE, OURS, THEIRS, RESULT]
        .map(|version| same.iter().filter(|line| line.version == version).count());
    // What both sides did is done once.
    if ours == theirs { result == ours } else { result + base == ours + theirs }
}

/// Returns true if the lines that the base and a side have once each are in the same order in both.
fn keeps_order<'a>(groups: impl Iterator<Item = &'a [CountedLine]>, side: usize) -> bool {
    let mut places: Vec<(usize, usize)> = groups
        .filter_map(|same| {
            let only = |version: usize| {
                let mut found = same.iter().filter(|line| line.version == version);
                found.next().filter(|_| found.next().is_none())
            };
            Some((only(BASE)?.at, only(side)?.at))
        })
        .collect();
    places.sort_unstable();
    places.is_sorted_by_key(|(_, in_side)| *in_side)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_proven(base: &str, ours: &str, theirs: &str, result: &str) -> bool {
        has_every_line(
            [Some(base.as_bytes()), Some(ours.as_bytes()), Some(theirs.as_bytes())],
            result.as_bytes(),
        )
    }

    #[test]
    fn both_insertions_at_one_place_are_there_in_any_order() {
        for result in ["a\nx\ny\nb\n", "a\ny\nx\nb\n", "a\n  x,\ny\n\nb\n"] {
            assert!(is_proven("a\nb\n", "a\nx\nb\n", "a\ny\nb\n", result), "{result:?}");
        }
        for result in ["a\nx\nb\n", "a\nx\ny\ny\nb\n", "a\nx\ny\n", "a\nx\nY\nb\n"] {
            assert!(!is_proven("a\nb\n", "a\nx\nb\n", "a\ny\nb\n", result), "{result:?}");
        }
    }

    #[test]
    fn what_a_side_deleted_must_be_gone() {
        assert!(is_proven("a\nb\nc\n", "a\nc\n", "a\nB\nb\nc\n", "a\nB\nc\n"));
        assert!(!is_proven("a\nb\nc\n", "a\nc\n", "a\nB\nb\nc\n", "a\nB\nb\nc\n"));
    }

    #[test]
    fn what_a_side_moved_is_not_proven() {
        let (base, moved) = ("a\nb\nc\nd\n", "c\na\nb\nd\n");
        assert!(!is_proven(base, moved, base, base));
        assert!(!is_proven(base, base, moved, base));
    }

    #[test]
    fn common_ends_are_cut_at_lines() {
        let texts = ["one\ntwo\nab\nend", "one\ntwo\nac\nend", "one\ntwo\na\nend", "one\ntwo\nb\nend"];
        let cut: Vec<&[u8]> = without_common_ends(texts.map(str::as_bytes)).collect();
        assert_eq!(cut, ["ab\n", "ac\n", "a\n", "b\n"].map(str::as_bytes));
        let equal: Vec<&[u8]> = without_common_ends([b"a\n"; 4]).collect();
        assert_eq!(equal, [b""; 4]);
    }
}
