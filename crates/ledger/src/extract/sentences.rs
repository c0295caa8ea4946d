//! The sentences of a block, each with its position in the turn.

use super::topics::TopicBlock;
use probity_prose::markdown;
use probity_prose::sentences::{SemicolonRole, Sentence, sentences};

/// The longest sentence that is read. The rules look at a sentence several times for each of its words, so a bound
/// keeps the time linear in the length of a turn; nobody decides anything in one sentence of this length.
const MAX_SENTENCE_BYTES: usize = 2_000;

/// Returns the sentences of a block, and the number of those that are too long to be read.
pub(super) fn sentences_of(text: &str, block: &TopicBlock) -> (Vec<Sentence>, usize) {
    let (line, places) = markdown::joined(text, &block.lines);
    let in_turn = |range: &std::ops::Range<usize>| places[range.start]..places[range.end - 1] + 1;
    let (short, long): (Vec<_>, Vec<_>) = sentences(&line, SemicolonRole::EndsSentence)
        .into_iter()
        .partition(|range| range.len() <= MAX_SENTENCE_BYTES);
    let short = short.into_iter().map(|range| Sentence::new(&line[range.clone()], in_turn(&range)));
    (short.collect(), long.len())
}

#[cfg(test)]
mod tests {
    use super::super::topics::blocks;
    use super::*;

    #[test]
    fn a_sentence_knows_where_it_stands() {
        let text = "## X\nWe use\n  Redis. And Kafka.";
        let (found, n_too_long) = sentences_of(text, &blocks(text)[0]);
        assert_eq!(n_too_long, 0);
        let found: Vec<_> = found.iter().map(|sentence| &text[sentence.range.clone()]).collect();
        assert_eq!(found, ["We use\n  Redis.", "And Kafka."]);
    }

    #[test]
    fn a_sentence_without_end_is_counted_and_not_read() {
        let text = format!("Never {}. Use tabs.", "never ".repeat(20_000));
        let (found, n_too_long) = sentences_of(&text, &blocks(&text)[0]);
        assert_eq!((found.len(), n_too_long), (1, 1));
        assert!(found[0].text.starts_with("Use"));
    }
}
