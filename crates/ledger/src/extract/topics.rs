//! Finds the topic that a heading or label gives to the prose below it.

use probity_prose::lexicon::{self as lx, Class, class_of};
use probity_prose::markdown::{self, Form};
use std::ops::Range;

/// A paragraph or a list item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    /// The ranges of its lines in the turn.
    pub(super) lines: Vec<Range<usize>>,
    pub(super) form: Form,
    /// The topic announced by the heading or label above.
    pub(super) topic: Option<Topic>,
}

/// The announcement of a heading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Topic {
    Goals,
    Decisions,
    Constraints,
    Tasks,
    Done,
    Facts,
    /// Alternatives without a decision yet.
    Options,
    /// Text that is not asserted: questions, ideas, risks.
    Open,
}

/// Returns the prose of a turn, in order. Tables are left out: nobody says their cells.
pub(super) fn blocks(text: &str) -> Vec<Block> {
    let mut reader = Reader { text, blocks: Vec::new(), topic: None, lead: None };
    for block in markdown::blocks(text) {
        reader.block(block);
    }
    reader.blocks
}

struct Reader<'t> {
    text: &'t str,
    blocks: Vec<Block>,
    topic: Option<Topic>,
    /// The topic that the last sentence of a paragraph announces, for a list that follows immediately.
    lead: Option<Topic>,
}

impl Reader<'_> {
    fn block(&mut self, block: markdown::Block) {
        let mut is_open = false;
        for (at, range) in block.lines.into_iter().enumerate() {
            let line = &self.text[range.clone()];
            match block.form {
                Form::TableRow => {}
                Form::Heading => self.topic = topic_of(line),
                form if at > 0 || form == Form::Paragraph => {
                    if let Some(topic) = label(line) {
                        self.topic = Some(topic);
                        is_open = false;
                        continue;
                    }
                    self.lead = lead(line);
                    if let Some(last) = self.blocks.last_mut().filter(|_| is_open) {
                        last.lines.push(range);
                        continue;
                    }
                    // A paragraph after a list is no longer under its label.
                    if self.blocks.last().is_some_and(|last| last.form == Form::Item) {
                        self.topic = None;
                    }
                    self.push(range, Form::Paragraph);
                }
                form => {
                    self.topic = self.lead.take().or(self.topic);
                    self.push(range, form);
                }
            }
            is_open = true;
        }
    }

    fn push(&mut self, range: Range<usize>, form: Form) {
        self.blocks.push(Block { lines: vec![range], form, topic: self.topic });
    }
}

/// Matches a line that only announces what follows: `**Decisions:**`, `Next steps:`.
fn label(line: &str) -> Option<Topic> {
    let bare = line.trim_end().trim_matches('*').trim_end_matches([':', '：', ' ']).trim_matches('*');
    let is_label =
        line.trim_end().trim_end_matches('*').ends_with([':', '：']) && bare.split_whitespace().count() <= 4;
    topic_of(bare).filter(|_| is_label)
}

/// Returns the topic of a sentence that ends in a colon: "Here is what I am going to do:".
fn lead(line: &str) -> Option<Topic> {
    let line = line.trim_end().trim_end_matches('*').strip_suffix([':', '：'])?;
    let sentence = line.rsplit(['.', '!', '?', '。']).next().unwrap_or(line);
    let lower = format!(" {} ", sentence.to_lowercase());
    let promises = [
        " going to ",
        " i will ",
        " i'll ",
        " we will ",
        " we'll ",
        " will do ",
        " je vais ",
        " voy a ",
        " werde ich ",
    ];
    topic_of(sentence).or_else(|| promises.iter().any(|words| lower.contains(words)).then_some(Topic::Tasks))
}

/// Heading words and their topics. Open topics come first: "open decisions" are not decisions.
const HEADINGS: &[(Topic, Class)] = &[
    (Topic::Open, lx::HEADING_OPEN),
    (Topic::Options, lx::HEADING_OPTIONS),
    (Topic::Done, lx::HEADING_DONE),
    (Topic::Decisions, lx::HEADING_DECISIONS),
    (Topic::Constraints, lx::HEADING_CONSTRAINTS),
    (Topic::Tasks, lx::HEADING_TASKS),
    (Topic::Goals, lx::HEADING_GOALS),
    (Topic::Facts, lx::HEADING_FACTS),
];

fn topic_of(heading: &str) -> Option<Topic> {
    let words: Vec<_> = heading.split(|c: char| !(c.is_alphanumeric() || c == '-')).collect();
    let fits = |section: Class| words.iter().any(|word| class_of(word).is(section));
    HEADINGS.iter().find(|(_, section)| fits(*section)).map(|(topic, _)| *topic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_remember_what_stands_above_them() {
        let text = "## Decisions\n- Use Redis\n  for caching\n1. Use Kafka\n\nNext steps:\n- [ ] Write docs\n- [x] Fix CI\n\nBye";
        let found: Vec<_> = blocks(text).iter().map(|block| (block.form, block.topic)).collect();
        assert_eq!(
            found,
            [
                (Form::Item, Some(Topic::Decisions)),
                (Form::Item, Some(Topic::Decisions)),
                (Form::CheckBox { done: false }, Some(Topic::Tasks)),
                (Form::CheckBox { done: true }, Some(Topic::Tasks)),
                (Form::Paragraph, Some(Topic::Tasks)),
            ]
        );
        assert_eq!(topic_of("Open decisions"), Some(Topic::Open));
    }
}
