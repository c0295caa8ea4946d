//! The colors of the words of a file, line by line.

use probity_analysis::{Language, SyntaxClass, SyntaxSpan, syntax_spans};
use probity_paths::RepoPath;
use std::ops::Range;

/// Larger files are shown without colors.
const MAX_COLORED_BYTES: usize = 256 * 1024;
/// Longer lines are shown without colors.
const MAX_COLORED_LINE_BYTES: usize = 2_000;

/// The colored parts of a text.
#[derive(Debug, Default)]
pub(crate) struct LineColors {
    spans: Vec<SyntaxSpan>,
    /// Where each line begins.
    starts: Vec<usize>,
}

impl LineColors {
    /// Reads a text in the language that its name tells. What is in no known language has no colors.
    pub(crate) fn of(path: &RepoPath, text: &[u8]) -> Self {
        let language = Language::of_file_name(path.file_name());
        let Some(language) = language.filter(|_| text.len() <= MAX_COLORED_BYTES) else {
            return Self::default();
        };
        let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
        Self { spans: syntax_spans(language, text), starts: std::iter::once(0).chain(ends).collect() }
    }

    /// Returns the parts of a line, by its number from 1, and the class of each.
    pub(crate) fn line(&self, number: usize, text: &str) -> Vec<(Range<usize>, &'static str)> {
        // What is no text was replaced, so that nothing stands where it did.
        let is_replaced = text.contains(char::REPLACEMENT_CHARACTER);
        let start = number.checked_sub(1).and_then(|index| self.starts.get(index));
        let Some(&start) = start.filter(|_| !is_replaced && text.len() <= MAX_COLORED_LINE_BYTES) else {
            return Vec::new();
        };
        let end = start + text.len();
        let first = self.spans.partition_point(|span| span.range.end <= start);
        let here = self.spans[first..].iter().take_while(|span| span.range.start < end);
        here.map(|span| {
            let range = span.range.start.max(start) - start..span.range.end.min(end) - start;
            (range, class_name(span.class))
        })
        .collect()
    }
}

fn class_name(class: SyntaxClass) -> &'static str {
    match class {
        SyntaxClass::Comment => "c",
        SyntaxClass::Text => "s",
        SyntaxClass::Constant => "nu",
        SyntaxClass::Keyword => "k",
        SyntaxClass::Type => "ty",
        SyntaxClass::Function => "f",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(name: &str) -> RepoPath {
        RepoPath::parse(name.as_bytes()).expect("a path")
    }

    #[test]
    fn a_text_over_several_lines_is_colored_on_each_of_them() {
        let text = "x = \"\"\"one\ntwo\"\"\"\n";
        let colors = LineColors::of(&path("a.py"), text.as_bytes());
        assert_eq!(colors.line(1, "x = \"\"\"one"), [(4..10, "s")]);
        assert_eq!(colors.line(2, "two\"\"\""), [(0..6, "s")]);
        assert_eq!(colors.line(3, ""), []);
    }

    #[test]
    fn what_has_no_language_has_no_colors() {
        assert_eq!(LineColors::of(&path("a.unknown"), b"if x").line(1, "if x"), []);
        assert_eq!(LineColors::of(&path("a.py"), b"if \xff: x").line(1, "if \u{fffd}: x"), []);
    }
}
