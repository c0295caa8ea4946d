//! Lists of alternatives: items under "Options" form one open choice.

use super::topics::{BlockTopic, TopicBlock};
use probity_prose::markdown::BlockForm;

const MAX_WORDS: usize = 12;
const MAX_OPTIONS: usize = 8;

/// Joins consecutive items under a heading for options into one block, one line each.
pub(super) fn gather(text: &str, blocks: Vec<TopicBlock>) -> Vec<TopicBlock> {
    let mut gathered: Vec<TopicBlock> = Vec::new();
    for block in blocks {
        let is_option =
            |block: &TopicBlock| block.topic == Some(BlockTopic::Options) && block.form == BlockForm::Item;
        match gathered.last_mut().filter(|last| is_option(last) && is_option(&block)) {
            Some(last) if head(text, last).is_some() => last.lines.extend(block.lines.into_iter().take(1)),
            _ => gathered.push(block),
        }
    }
    gathered
}

/// Returns the alternatives that a joined block lists.
pub(super) fn of(text: &str, block: &TopicBlock) -> Option<Vec<String>> {
    if block.topic != Some(BlockTopic::Options)
        || block.form != BlockForm::Item
        || !(2..=MAX_OPTIONS).contains(&block.lines.len())
    {
        return None;
    }
    let mut options: Vec<String> = Vec::new();
    for line in &block.lines {
        let option = short(&text[line.clone()])?;
        if options.contains(&option) {
            return None;
        }
        options.push(option);
    }
    Some(options)
}

fn head(text: &str, block: &TopicBlock) -> Option<String> {
    block.lines.first().and_then(|line| short(&text[line.clone()]))
}

/// "A: a nightly job", "Option B - a trigger": the letter only counts.
fn without_letter(line: &str) -> &str {
    let bare = line.trim_start_matches(['*', ' ']);
    let bare = ["Option ", "option ", "Plan ", "Variant "]
        .iter()
        .find_map(|word| bare.strip_prefix(word))
        .unwrap_or(bare);
    let mut chars = bare.chars();
    let is_letter = chars.next().is_some_and(char::is_alphanumeric);
    let rest = chars.as_str().trim_start_matches('*');
    let behind = [":", ")", ".", " -", " —", " –"].iter().find_map(|mark| rest.strip_prefix(mark));
    behind.filter(|_| is_letter).map_or(line, |behind| behind.trim_start_matches(['*', ' ']))
}

/// Returns the name of an option: the words before its explanation.
fn short(line: &str) -> Option<String> {
    let line = without_letter(line);
    let ends = [": ", " - ", " — ", " – ", " (", ", ", ". "];
    let end = ends.iter().filter_map(|mark| line.find(mark)).min().unwrap_or(line.len());
    let name = line[..end].trim_matches(|c: char| !(c.is_alphanumeric() || c == '+' || c == '#')).to_owned();
    let is_short = (1..=MAX_WORDS).contains(&name.split_whitespace().count());
    (is_short && !line.ends_with('?')).then_some(name)
}
