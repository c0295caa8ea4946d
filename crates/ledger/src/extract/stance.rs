//! The stance of an author towards a piece of text, for readers other than these rules.

use super::sentences::sentences_of;
use super::topics::blocks;
use probity_prose::modality::{Modality, doubts_what_came_before};
use std::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SpeakerStance {
    Asserted,
    Guessed,
    /// Asked, supposed, reported, quoted, or not prose at all.
    NotSaid,
}

/// Returns the stance on a range of a turn: that of the most doubtful sentence it overlaps.
pub(crate) fn stance(text: &str, range: &Range<usize>) -> SpeakerStance {
    let mut found = None;
    for block in blocks(text) {
        let (sentences, _) = sentences_of(text, &block);
        for (at, sentence) in sentences.iter().enumerate() {
            if sentence.range.start >= range.end || sentence.range.end <= range.start {
                continue;
            }
            let is_doubted = sentences.get(at + 1).is_some_and(doubts_what_came_before);
            found = found.max(Some(stance_of(Modality::of(sentence), is_doubted)));
        }
    }
    found.unwrap_or(SpeakerStance::NotSaid)
}

fn stance_of(modality: Modality, is_doubted: bool) -> SpeakerStance {
    if modality.is_asserted() && !is_doubted {
        SpeakerStance::Asserted
    } else if modality.is_guess() {
        SpeakerStance::Guessed
    } else {
        SpeakerStance::NotSaid
    }
}
