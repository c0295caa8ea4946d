//! Parses Markdown as far as it changes what an author says: which lines are prose, and in which form.
//!
//! Code, comments and quotations are left out. List items, headings and table rows are separate blocks; the lines of a
//! paragraph belong together.

use std::ops::Range;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkdownBlock {
    /// The ranges of its lines in the text, without the marks of its form.
    pub lines: Vec<Range<usize>>,
    pub form: BlockForm,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockForm {
    Paragraph,
    Item,
    CheckBox { done: bool },
    Heading,
    TableRow,
}

/// Joins lines into one, and maps each of its bytes to its offset in `text`.
pub fn joined(text: &str, lines: &[Range<usize>]) -> (String, Vec<usize>) {
    let mut line = String::new();
    let mut places = Vec::new();
    for range in lines {
        if !line.is_empty() {
            line.push(' ');
            places.push(range.start);
        }
        line.push_str(&text[range.clone()]);
        places.extend(range.clone());
    }
    (line, places)
}

/// Returns the prose of a text, in order.
pub fn blocks(text: &str) -> Vec<MarkdownBlock> {
    let has_letter = |letter: u8| {
        text.lines().any(|line| lettered_item(line.trim_start()).is_some_and(|(found, _)| found == letter))
    };
    let has_letters = has_letter(b'a') && has_letter(b'b');
    let mut reader = MarkdownReader { after_blank: true, has_letters, ..MarkdownReader::default() };
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        reader.line(line.trim_end(), start);
        start += line.len();
    }
    reader.blocks
}

#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a state of its own of the reader")]
struct MarkdownReader {
    blocks: Vec<MarkdownBlock>,
    /// The fence that closes the current code block.
    fence: Option<&'static str>,
    in_comment: bool,
    /// The next line may continue the last block.
    continues: bool,
    after_blank: bool,
    /// The text has items with letters.
    has_letters: bool,
}

impl MarkdownReader {
    fn line(&mut self, line: &str, start: usize) {
        let body = line.trim_start();
        let indent = line.len() - body.len();
        let fence = ["```", "~~~"].into_iter().find(|fence| body.starts_with(fence));
        if self.fence.is_some() {
            self.fence = self.fence.filter(|open| fence != Some(open));
        } else if self.in_comment || body.starts_with("<!--") {
            self.in_comment = !body.contains("-->");
        } else if fence.is_some() {
            self.fence = fence;
            self.pause();
        } else if body.is_empty() || body.starts_with('>') || is_rule(body) {
            self.pause();
        } else if indent >= 4 && self.after_blank && !self.continues && item_body(body).is_none() {
            self.continues = false;
        } else {
            self.after_blank = false;
            self.prose(body, start + indent);
        }
    }

    fn prose(&mut self, body: &str, start: usize) {
        let end = start + body.len();
        let lettered = lettered_item(body).filter(|_| self.has_letters);
        let (form, text) = lettered.map_or_else(|| form_of(body), |(_, text)| (BlockForm::Item, text));
        let range = end - text.len()..end;
        match self.blocks.last_mut().filter(|_| self.continues && form == BlockForm::Paragraph) {
            Some(block) => block.lines.push(range),
            None => self.blocks.push(MarkdownBlock { lines: vec![range], form }),
        }
        self.continues = !matches!(form, BlockForm::Heading | BlockForm::TableRow);
    }

    fn pause(&mut self) {
        self.continues = false;
        self.after_blank = true;
    }
}

/// Returns the form of a line, and its text without the marks of that form.
fn form_of(line: &str) -> (BlockForm, &str) {
    if line.starts_with('#') {
        return (BlockForm::Heading, line.trim_start_matches('#').trim_start());
    }
    let item = item_body(line);
    let body = item.unwrap_or(line);
    for (mark, done) in [("[ ]", false), ("[x]", true), ("[X]", true)] {
        if let Some(rest) = body.strip_prefix(mark) {
            return (BlockForm::CheckBox { done }, rest.trim_start());
        }
    }
    match item {
        _ if body.starts_with('|') => (BlockForm::TableRow, body),
        Some(body) => (BlockForm::Item, body),
        None => (BlockForm::Paragraph, line),
    }
}

/// Returns the letter of an item such as `A. …`, `b) …`, `(c) …`, and its text. One such line alone is no list: "A. But later."
fn lettered_item(line: &str) -> Option<(u8, &str)> {
    let (is_closed, rest) = line.strip_prefix('(').map_or((false, line), |rest| (true, rest));
    let letter = rest.bytes().next().filter(u8::is_ascii_alphabetic)?;
    let marks: &[char] = if is_closed { &[')'] } else { &['.', ')', ':'] };
    let body = rest[1..].strip_prefix(marks)?.strip_prefix(' ')?;
    Some((letter.to_ascii_lowercase(), body.trim_start()))
}

fn item_body(line: &str) -> Option<&str> {
    let bullet = line.strip_prefix(['-', '*', '+', '•', '–', '—']).and_then(|rest| rest.strip_prefix(' '));
    let numbered = || {
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let digits = line.len() - rest.len();
        rest.strip_prefix(['.', ')'])?.strip_prefix(' ').filter(|_| (1..=3).contains(&digits))
    };
    bullet.or_else(numbered).map(str::trim_start)
}

/// Matches a thematic break: `---`, `***`.
fn is_rule(line: &str) -> bool {
    line.len() >= 3 && ['-', '*', '_', '='].iter().any(|mark| line.chars().all(|c| c == *mark || c == ' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        blocks(text).iter().map(|block| joined(text, &block.lines).0).collect()
    }

    #[test]
    fn lines_of_a_paragraph_belong_together() {
        assert_eq!(texts("We will use\nRedis.\n\nAnd Kafka.\r\n"), ["We will use Redis.", "And Kafka."]);
    }

    #[test]
    fn code_quotations_and_comments_are_no_prose() {
        let text = "Before\n```sh\nuse redis\n```\n> use Kafka\n<!-- no -->\n\n    use indented\n\nAfter";
        assert_eq!(texts(text), ["Before", "After"]);
        assert_eq!(texts("~~~\n```\nuse redis\n~~~\nAfter"), ["After"]);
        assert_eq!(texts("```\nnever closed\nuse redis"), Vec::<String>::new());
    }

    #[test]
    fn every_line_has_a_form() {
        let text = "# Plan\n- a\n  b\n1. c\n- [ ] d\n- [x] e\n---\n| f |\ng";
        let found: Vec<_> =
            blocks(text).iter().map(|block| (block.form, joined(text, &block.lines).0)).collect();
        let expected = [
            (BlockForm::Heading, "Plan"),
            (BlockForm::Item, "a b"),
            (BlockForm::Item, "c"),
            (BlockForm::CheckBox { done: false }, "d"),
            (BlockForm::CheckBox { done: true }, "e"),
            (BlockForm::TableRow, "| f |"),
            (BlockForm::Paragraph, "g"),
        ];
        assert_eq!(found, expected.map(|(form, text)| (form, text.to_owned())));
    }
}
