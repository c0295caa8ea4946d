//! Finds the topic that a heading or label gives to the prose below it.

use probity_prose::lexicon::{self as lx, WordClass, class_of};
use probity_prose::markdown::{self, BlockForm};
use std::ops::Range;

/// A paragraph or a list item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TopicBlock {
    /// The ranges of its lines in the turn.
    pub(super) lines: Vec<Range<usize>>,
    pub(super) form: BlockForm,
    /// The topic announced by the heading or label above.
    pub(super) topic: Option<BlockTopic>,
}

/// The announcement of a heading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockTopic {
    Goals,
    Decisions,
    Constraints,
    Tasks,
    Done,
    Facts,
    /// Alternatives without a decision yet.
    Options,
    /// What somebody proposes to do.
    Proposals,
    /// Text that is not asserted: questions, ideas, risks.
    Open,
}

/// Returns the prose of a turn, in order. Tables are left out: nobody says their cells.
pub(super) fn blocks(text: &str) -> Vec<TopicBlock> {
    let mut reader = TopicReader { text, blocks: Vec::new(), topic: None, lead: None };
    for block in markdown::blocks(text) {
        reader.block(block);
    }
    reader.blocks
}

struct TopicReader<'t> {
    text: &'t str,
    blocks: Vec<TopicBlock>,
    topic: Option<BlockTopic>,
    /// The topic that the last sentence of a paragraph announces, for a list that follows immediately.
    lead: Option<BlockTopic>,
}

impl TopicReader<'_> {
    fn block(&mut self, block: markdown::MarkdownBlock) {
        let mut is_open = false;
        for (at, range) in block.lines.into_iter().enumerate() {
            let line = &self.text[range.clone()];
            match block.form {
                BlockForm::TableRow => {}
                BlockForm::Heading => self.topic = topic_of(line),
                form if at > 0 || form == BlockForm::Paragraph => {
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
                    if self.blocks.last().is_some_and(|last| last.form == BlockForm::Item) {
                        self.topic = None;
                    }
                    self.push(range, BlockForm::Paragraph);
                }
                form => {
                    self.topic = self.lead.take().or(self.topic);
                    self.push(range, form);
                }
            }
            is_open = true;
        }
    }

    fn push(&mut self, range: Range<usize>, form: BlockForm) {
        self.blocks.push(TopicBlock { lines: vec![range], form, topic: self.topic });
    }
}

/// Matches a line that only announces what follows: `**Decisions:**`, `Next steps:`.
fn label(line: &str) -> Option<BlockTopic> {
    let bare = line.trim_end().trim_matches('*').trim_end_matches([':', '：', ' ']).trim_matches('*');
    let is_bold = line.trim().len() > 4 && line.trim().starts_with("**") && line.trim().ends_with("**");
    let is_label = (is_bold || line.trim_end().trim_end_matches('*').ends_with([':', '：']))
        && bare.split_whitespace().count() <= 4;
    topic_of(bare).filter(|_| is_label)
}

/// Returns the topic of a sentence that ends in a colon: "Here is what I am going to do:".
fn lead(line: &str) -> Option<BlockTopic> {
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
        " my list ",
        " work items ",
        " in this order ",
    ];
    topic_of(sentence)
        .or_else(|| promises.iter().any(|words| lower.contains(words)).then_some(BlockTopic::Tasks))
}

/// Heading words and their topics. Open topics come first: "open decisions" are not decisions.
const HEADINGS: &[(BlockTopic, WordClass)] = &[
    (BlockTopic::Proposals, lx::HEADING_PROPOSALS),
    (BlockTopic::Open, lx::HEADING_OPEN),
    (BlockTopic::Options, lx::HEADING_OPTIONS),
    (BlockTopic::Done, lx::HEADING_DONE),
    (BlockTopic::Decisions, lx::HEADING_DECISIONS),
    (BlockTopic::Constraints, lx::HEADING_CONSTRAINTS),
    (BlockTopic::Tasks, lx::HEADING_TASKS),
    (BlockTopic::Goals, lx::HEADING_GOALS),
    (BlockTopic::Facts, lx::HEADING_FACTS),
];

fn topic_of(heading: &str) -> Option<BlockTopic> {
    let words: Vec<_> = heading.split(|c: char| !(c.is_alphanumeric() || c == '-')).collect();
    let fits = |section: WordClass| words.iter().any(|word| class_of(word).is(section));
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
                (BlockForm::Item, Some(BlockTopic::Decisions)),
                (BlockForm::Item, Some(BlockTopic::Decisions)),
                (BlockForm::CheckBox { done: false }, Some(BlockTopic::Tasks)),
                (BlockForm::CheckBox { done: true }, Some(BlockTopic::Tasks)),
                (BlockForm::Paragraph, Some(BlockTopic::Tasks)),
            ]
        );
        assert_eq!(topic_of("Open decisions"), Some(BlockTopic::Open));
    }
}
