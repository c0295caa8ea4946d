//! How something was said, for those who read a turn by other means than these rules.

use super::sentences::sentences_of;
use super::topics::blocks;
use probity_prose::modality::{Modality, doubts_what_came_before};
use std::ops::Range;

/// Whether the author of a turn stands behind some of its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stance {
    /// Plainly said.
    Asserted,
    /// Offered as a guess.
    Guessed,
    /// Asked, supposed, reported, quoted, or no prose at all.
    NotSaid,
}

/// The stance behind the words in a range of a turn: that of the most doubtful sentence that they are part of.
pub(crate) fn stance(text: &str, range: &Range<usize>) -> Stance {
    let mut found = None;
    for block in blocks(text) {
        let sentences = sentences_of(text, &block);
        for (at, sentence) in sentences.iter().enumerate() {
            if sentence.range.start >= range.end || sentence.range.end <= range.start {
                continue;
            }
            let is_doubted = sentences.get(at + 1).is_some_and(doubts_what_came_before);
            found = found.max(Some(stance_of(Modality::of(sentence), is_doubted)));
        }
    }
    found.unwrap_or(Stance::NotSaid)
}

fn stance_of(modality: Modality, is_doubted: bool) -> Stance {
    if modality.is_asserted() && !is_doubted {
        Stance::Asserted
    } else if modality.is_guess() {
        Stance::Guessed
    } else {
        Stance::NotSaid
    }
}
