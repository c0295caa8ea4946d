//! The sentences of a block, each with its position in the turn.

use super::topics::TopicBlock;
use probity_prose::markdown;
use probity_prose::sentences::{SemicolonRole, Sentence, sentences};

pub(super) fn sentences_of(text: &str, block: &TopicBlock) -> Vec<Sentence> {
    let (line, places) = markdown::joined(text, &block.lines);
    let in_turn = |range: &std::ops::Range<usize>| places[range.start]..places[range.end - 1] + 1;
    let ranges = sentences(&line, SemicolonRole::EndsSentence);
    ranges.into_iter().map(|range| Sentence::new(&line[range.clone()], in_turn(&range))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::topics::blocks;
    use super::*;

    #[test]
    fn a_sentence_knows_where_it_stands() {
        let text = "## X\nWe use\n  Redis. And Kafka.";
        let found = sentences_of(text, &blocks(text)[0]);
        let found: Vec<_> = found.iter().map(|sentence| &text[sentence.range.clone()]).collect();
        assert_eq!(found, ["We use\n  Redis.", "And Kafka."]);
    }
}
