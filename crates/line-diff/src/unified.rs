//! The unified format, as `diff -u` and git print it.

use crate::alignment::{LineAlignment, line_changes, split_lines};
use crate::sequence::ChangedRegion;
use std::ops::Range;

/// Bytes in which a NUL tells that a file is no text.
const PROBED_BYTES: usize = 8_000;

const NO_NEWLINE: &[u8] = b"\\ No newline at end of file\n";

/// Returns whether a file is no text: it has a NUL near its beginning, as git decides.
pub fn is_binary(content: &[u8]) -> bool {
    content.iter().take(PROBED_BYTES).any(|byte| *byte == 0)
}

/// Returns the hunks that lead from one text to the other, with `context` equal lines around each change; empty if the
/// texts are equal.
pub fn unified_hunks(before: &[u8], after: &[u8], context: usize) -> Vec<u8> {
    let (before, after) = (split_lines(before), split_lines(after));
    let changes = line_changes(&before, &after, LineAlignment::Shortest);
    let mut hunks: Vec<Vec<ChangedRegion>> = Vec::new();
    for change in changes {
        match hunks.last_mut() {
            Some(hunk) if is_near(hunk, &change, context) => hunk.push(change),
            _ => hunks.push(vec![change]),
        }
    }
    hunks.iter().flat_map(|hunk| format_hunk(&before, &after, hunk, context)).collect()
}

fn is_near(hunk: &[ChangedRegion], next: &ChangedRegion, context: usize) -> bool {
    hunk.last().is_some_and(|last| next.before.start - last.before.end <= 2 * context)
}

fn format_hunk(before: &[&[u8]], after: &[&[u8]], hunk: &[ChangedRegion], context: usize) -> Vec<u8> {
    let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { return Vec::new() };
    let lead = first.before.start.min(context);
    let trail = (before.len() - last.before.end).min(context);
    let old = first.before.start - lead..last.before.end + trail;
    let new = first.after.start - lead..last.after.end + trail;
    let mut text = format!("@@ -{} +{} @@\n", format_range(&old), format_range(&new)).into_bytes();
    let mut at = old.start;
    for change in hunk {
        push_lines(&mut text, b' ', &before[at..change.before.start]);
        push_lines(&mut text, b'-', &before[change.before.clone()]);
        push_lines(&mut text, b'+', &after[change.after.clone()]);
        at = change.before.end;
    }
    push_lines(&mut text, b' ', &before[at..old.end]);
    text
}

/// Lines are counted from 1; an empty range names the line before it.
fn format_range(range: &Range<usize>) -> String {
    match range.len() {
        0 => format!("{},0", range.start),
        1 => format!("{}", range.start + 1),
        n => format!("{},{n}", range.start + 1),
    }
}

fn push_lines(text: &mut Vec<u8>, mark: u8, lines: &[&[u8]]) {
    for line in lines {
        text.push(mark);
        text.extend_from_slice(line);
        if !line.ends_with(b"\n") {
            text.push(b'\n');
            text.extend_from_slice(NO_NEWLINE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hunks(before: &str, after: &str) -> String {
        String::from_utf8(unified_hunks(before.as_bytes(), after.as_bytes(), 3)).expect("text")
    }

    #[test]
    fn hunks_are_written_as_diff_writes_them() {
        assert_eq!(hunks("a\nb\nc\n", "a\nB\nc\n"), "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
        assert_eq!(hunks("", "a\n"), "@@ -0,0 +1 @@\n+a\n");
        assert_eq!(hunks("a\n", ""), "@@ -1 +0,0 @@\n-a\n");
        assert_eq!(hunks("a", "a\n"), "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
        assert_eq!(hunks("same\n", "same\n"), "");
    }

    #[test]
    fn changes_far_apart_are_hunks_of_their_own() {
        let text = |first: &str, last: &str| {
            let middle: Vec<String> = (0..20).map(|n| format!("{n}\n")).collect();
            let middle = middle.concat();
            format!("{first}\n{middle}{last}\n")
        };
        let found = hunks(&text("a", "z"), &text("A", "Z"));
        assert_eq!(found.matches("@@ -").count(), 2);
        assert!(found.starts_with("@@ -1,4 +1,4 @@\n-a\n+A\n 0\n"), "{found}");
        assert!(found.ends_with("@@ -19,4 +19,4 @@\n 17\n 18\n 19\n-z\n+Z\n"), "{found}");
    }

    #[test]
    fn a_nul_makes_a_file_binary() {
        assert!(is_binary(b"\x7fELF\0"));
        assert!(!is_binary("text, auch mit \u{e4}".as_bytes()));
    }
}
