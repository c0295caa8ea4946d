//! The rows of a diff: which lines stand beside which, which words differ, and which lines only moved.

use probity_line_diff::{ChangedRegion, LineAlignment, line_changes, split_lines};
use std::collections::BTreeMap;
use std::ops::Range;

/// Equal lines around a change.
const CONTEXT_LINES: usize = 3;
/// A pair of lines with less in common, in percent, is shown without marked words.
const MIN_WORD_SIMILARITY_PERCENT: usize = 45;
/// Longer lines are shown without marked words.
const MAX_WORD_LINE_BYTES: usize = 2_000;
/// Fewer lines together do not count as moved.
const MIN_MOVED_LINES: usize = 3;
/// Fewer letters and digits together do not count as moved: a run of closing braces is everywhere.
const MIN_MOVED_LETTERS: usize = 20;

/// One side of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DiffCell {
    /// The line, from 1.
    pub(crate) number: usize,
    pub(crate) text: String,
    /// The bytes of `text` that differ from the other side.
    pub(crate) marked: Vec<Range<usize>>,
    /// The line at the other end of a move.
    pub(crate) moved: Option<usize>,
}

/// A row: a line of each side, equal or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DiffRow {
    pub(crate) before: Option<DiffCell>,
    pub(crate) after: Option<DiffCell>,
    pub(crate) is_equal: bool,
}

/// Rows that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DiffHunk {
    pub(crate) rows: Vec<DiffRow>,
    /// Equal lines that are left out before it.
    pub(crate) n_hidden: usize,
}

/// Compares two texts.
pub(crate) fn diff_hunks(before: &[u8], after: &[u8]) -> Vec<DiffHunk> {
    let (before, after) = (split_lines(before), split_lines(after));
    let changes = line_changes(&before, &after, LineAlignment::Shortest);
    let moved = MovedLines::find(&before, &after, &changes);
    let mut hunks: Vec<DiffHunk> = Vec::new();
    // Lines of the old text that are dealt with, and how far the new text is ahead.
    let (mut at, mut ahead) = (0_usize, 0_isize);
    for (index, change) in changes.iter().enumerate() {
        let lead = change.before.start.saturating_sub(CONTEXT_LINES).max(at);
        if lead > at || hunks.is_empty() {
            hunks.push(DiffHunk { rows: Vec::new(), n_hidden: lead - at });
        }
        let Some(hunk) = hunks.last_mut() else { continue };
        let equal = |line: usize, ahead: isize| equal_row(&before, line, line.saturating_add_signed(ahead));
        hunk.rows.extend((lead..change.before.start).map(|line| equal(line, ahead)));
        hunk.rows.extend(changed_rows(&before, &after, change, &moved));
        ahead += signed(change.after.len()) - signed(change.before.len());
        let next = changes.get(index + 1).map_or(before.len(), |next| next.before.start);
        let end = (change.before.end + CONTEXT_LINES).min(next);
        hunk.rows.extend((change.before.end..end).map(|line| equal(line, ahead)));
        at = end;
    }
    hunks
}

fn signed(n: usize) -> isize {
    isize::try_from(n).unwrap_or(isize::MAX)
}

fn line_text(line: &[u8]) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    String::from_utf8_lossy(line).into_owned()
}

fn cell(lines: &[&[u8]], line: usize) -> DiffCell {
    DiffCell { number: line + 1, text: line_text(lines[line]), marked: Vec::new(), moved: None }
}

fn equal_row(before: &[&[u8]], line: usize, other: usize) -> DiffRow {
    let left = cell(before, line);
    let right = DiffCell { number: other + 1, ..left.clone() };
    DiffRow { before: Some(left), after: Some(right), is_equal: true }
}

fn changed_rows(
    before: &[&[u8]],
    after: &[&[u8]],
    change: &ChangedRegion,
    moved: &MovedLines,
) -> Vec<DiffRow> {
    let n_rows = change.before.len().max(change.after.len());
    (0..n_rows)
        .map(|index| {
            let one = |lines: &[&[u8]], range: &Range<usize>, moves: &BTreeMap<usize, usize>| {
                let line = Some(range.start + index).filter(|line| range.contains(line))?;
                Some(DiffCell { moved: moves.get(&line).map(|other| other + 1), ..cell(lines, line) })
            };
            let mut left = one(before, &change.before, &moved.away);
            let mut right = one(after, &change.after, &moved.here);
            if let (Some(left), Some(right)) = (&mut left, &mut right)
                && left.moved.is_none()
                && right.moved.is_none()
            {
                mark_words(left, right);
            }
            DiffRow { before: left, after: right, is_equal: false }
        })
        .collect()
}

/// Splits a line into words, blanks and single other characters.
fn words(line: &str) -> Vec<&[u8]> {
    let class = |letter: char| match letter {
        letter if letter.is_alphanumeric() || letter == '_' => 0,
        letter if letter.is_whitespace() => 1,
        _ => 2,
    };
    let mut words: Vec<&[u8]> = Vec::new();
    let mut start = 0;
    let mut letters = line.char_indices().peekable();
    while let Some((_, letter)) = letters.next() {
        let end = letters.peek().map_or(line.len(), |(at, _)| *at);
        let goes_on =
            letters.peek().is_some_and(|(_, next)| class(*next) == class(letter) && class(letter) != 2);
        if !goes_on {
            words.push(&line.as_bytes()[start..end]);
            start = end;
        }
    }
    words
}

/// Marks the words of two lines that differ, if the lines have enough in common.
fn mark_words(left: &mut DiffCell, right: &mut DiffCell) {
    if left.text.len() > MAX_WORD_LINE_BYTES || right.text.len() > MAX_WORD_LINE_BYTES {
        return;
    }
    let (old, new) = (words(&left.text), words(&right.text));
    let changes = line_changes(&old, &new, LineAlignment::Shortest);
    let bytes = |words: &[&[u8]]| words.iter().map(|word| word.len()).sum::<usize>();
    let n_changed: usize =
        changes.iter().map(|it| bytes(&old[it.before.clone()]) + bytes(&new[it.after.clone()])).sum();
    let n_all = left.text.len() + right.text.len();
    if n_all.saturating_sub(n_changed) * 100 < n_all * MIN_WORD_SIMILARITY_PERCENT {
        return;
    }
    let range = |words: &[&[u8]], part: &Range<usize>| {
        let start = bytes(&words[..part.start]);
        start..start + bytes(&words[part.clone()])
    };
    left.marked = changes.iter().map(|it| range(&old, &it.before)).filter(|it| !it.is_empty()).collect();
    right.marked = changes.iter().map(|it| range(&new, &it.after)).filter(|it| !it.is_empty()).collect();
}

/// Lines that were taken away at one place and stand at another.
#[derive(Debug, Default)]
struct MovedLines {
    /// From a line of the old text to its line in the new one.
    away: BTreeMap<usize, usize>,
    here: BTreeMap<usize, usize>,
}

impl MovedLines {
    fn find(before: &[&[u8]], after: &[&[u8]], changes: &[ChangedRegion]) -> Self {
        let removed: Vec<usize> = changes.iter().flat_map(|change| change.before.clone()).collect();
        let mut places: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
        for line in changes.iter().flat_map(|change| change.after.clone()) {
            places.entry(after[line].trim_ascii()).or_default().push(line);
        }
        let is_added = |line: usize| changes.iter().any(|change| change.after.contains(&line));
        let is_removed = |line: usize| changes.iter().any(|change| change.before.contains(&line));
        let mut moved = Self::default();
        for start in removed {
            if moved.away.contains_key(&start) {
                continue;
            }
            // A line that stands at several places does not tell where it went.
            let Some([there]) = places.get(before[start].trim_ascii()).map(Vec::as_slice) else { continue };
            let same = |offset: usize| {
                let (old, new) = (start + offset, there + offset);
                is_removed(old)
                    && is_added(new)
                    && !moved.here.contains_key(&new)
                    && before[old].trim_ascii() == after[new].trim_ascii()
            };
            let most = (before.len() - start).min(after.len() - there);
            let n_lines = (0..most).take_while(|offset| same(*offset)).count();
            let letters = |line: &[u8]| line.iter().filter(|byte| byte.is_ascii_alphanumeric()).count();
            let n_letters: usize = before[start..start + n_lines].iter().map(|line| letters(line)).sum();
            if n_lines >= MIN_MOVED_LINES && n_letters >= MIN_MOVED_LETTERS {
                for offset in 0..n_lines {
                    moved.away.insert(start + offset, there + offset);
                    moved.here.insert(there + offset, start + offset);
                }
            }
        }
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(hunks: &[DiffHunk]) -> Vec<(Option<usize>, Option<usize>, bool)> {
        let rows = hunks.iter().flat_map(|hunk| &hunk.rows);
        rows.map(|row| {
            (row.before.as_ref().map(|it| it.number), row.after.as_ref().map(|it| it.number), row.is_equal)
        })
        .collect()
    }

    #[test]
    fn lines_stand_beside_each_other() {
        let hunks = diff_hunks(b"a\nb\nc\n", b"a\nB\nx\nc\n");
        assert_eq!(
            numbers(&hunks),
            [
                (Some(1), Some(1), true),
                (Some(2), Some(2), false),
                (None, Some(3), false),
                (Some(3), Some(4), true)
            ]
        );
    }

    #[test]
    fn far_changes_are_hunks_and_hidden_lines_are_counted() {
        let text = |first: &str, last: &str| {
            let middle: Vec<String> = (0..30).map(|n| format!("{n}\n")).collect();
            format!("{first}\n{}{last}\n", middle.concat())
        };
        let hunks = diff_hunks(text("a", "z").as_bytes(), text("A", "Z").as_bytes());
        assert_eq!(hunks.iter().map(|hunk| hunk.n_hidden).collect::<Vec<_>>(), [0, 24]);
        let near = diff_hunks(b"a\n1\n2\nb\n", b"A\n1\n2\nB\n");
        assert_eq!(near.len(), 1, "changes near each other are one hunk");
        assert_eq!(numbers(&near).len(), 4);
    }

    #[test]
    fn words_that_differ_are_marked() {
        let hunks = diff_hunks(b"let limit = 30;\n", b"let limit = 45;\n");
        let row = &hunks[0].rows[0];
        let marked = |cell: &Option<DiffCell>| {
            let cell = cell.as_ref().expect("a cell");
            cell.marked.iter().map(|range| cell.text[range.clone()].to_owned()).collect::<Vec<_>>()
        };
        assert_eq!((marked(&row.before), marked(&row.after)), (vec!["30".to_owned()], vec!["45".to_owned()]));
        let rewritten = diff_hunks(b"alpha beta\n", b"gamma.delta()\n");
        assert!(rewritten[0].rows[0].before.as_ref().expect("a cell").marked.is_empty());
    }

    #[test]
    fn moved_lines_are_found_and_single_braces_are_not() {
        let block = "fn moved_function() {\n    first_statement();\n    second_statement();\n}\n";
        let (one, other) = ("head\n", "middle one\nmiddle two\nmiddle three\nmiddle four\nmiddle five\n");
        let before = format!("{one}{block}{other}");
        let after = format!("{one}{other}{block}");
        let hunks = diff_hunks(before.as_bytes(), after.as_bytes());
        let rows = hunks.iter().flat_map(|hunk| &hunk.rows);
        let n_moved = rows.filter(|row| row.after.as_ref().is_some_and(|cell| cell.moved.is_some())).count();
        assert!(n_moved >= MIN_MOVED_LINES, "{hunks:?}");
        let braces = diff_hunks(b"a\n}\n}\n}\nb\n", b"}\n}\n}\na\nb\n");
        assert!(
            braces
                .iter()
                .flat_map(|hunk| &hunk.rows)
                .all(|row| row.after.as_ref().is_none_or(|it| it.moved.is_none()))
        );
    }
}
