//! Extracts candidate deltas from turns, by rules: no model, no gate, no state of its own.
//!
//! A turn is read sentence by sentence; `prose` determines how each is meant. `topics` finds what each heading
//! announces, `rules` what a sentence claims, and `target_resolution` the known item it is about: a live item of the
//! ledger, or one from earlier in the turn, so that a revision can target what was just said. Hedged, asked, supposed,
//! reported or quoted text never becomes a decision, a fact, a goal or a constraint; at most a hypothesis.

mod claims;
mod options;
mod rules;
mod sentences;
mod stance;
mod target_resolution;
mod topics;

use crate::ledger::Ledger;
use probity_prose::modality::doubts_what_came_before;
use serde_json::Value;
pub(crate) use stance::{SpeakerStance, stance};
use target_resolution::TargetResolver;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The person at the keyboard. Imperatives are orders.
    User,
    Assistant,
    /// The operator who configured the agent.
    System,
    /// Output of a tool. Nobody says it, so nothing is extracted from it.
    Tool,
}

#[derive(Debug, Clone, Copy)]
pub struct Turn<'a> {
    pub id: &'a str,
    pub role: Role,
    /// Markdown.
    pub text: &'a str,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ExtractedCandidate {
    /// Ready for [`crate::DeltaProposal::read`]. Its key makes a second extraction from the same turn a redelivery.
    pub candidate: Value,
    pub sentence: String,
}

/// The candidates of a turn.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TurnExtraction {
    pub found: Vec<ExtractedCandidate>,
    /// The number of sentences that are too long to be read.
    pub n_too_long: usize,
}

/// Extracts candidates from a turn, against the current ledger. The turn must be added to the ledger before the
/// candidates are proposed.
pub fn extract(ledger: &Ledger, turn: &Turn<'_>) -> TurnExtraction {
    if turn.role == Role::Tool {
        return TurnExtraction::default();
    }
    let mut n_too_long = 0;
    let mut targets = TargetResolver::of(ledger);
    let mut found = Vec::new();
    for block in options::gather(turn.text, topics::blocks(turn.text)) {
        let (mut sentences, n_long) = sentences::sentences_of(turn.text, &block);
        n_too_long += n_long;
        // A sentence in a language without readable words says nothing.
        sentences.retain(|sentence| !sentence.words.is_empty());
        if let (Some(alternatives), Some(first)) = (options::of(turn.text, &block), sentences.first()) {
            let name = target_resolution::TargetName { turn: turn.id, n: found.len() + 1 };
            let claim = claims::TurnClaim::Branch(alternatives);
            let candidate = targets.candidate(claim, name, &first.range);
            found.extend(
                candidate.map(|candidate| ExtractedCandidate { candidate, sentence: first.text.clone() }),
            );
            continue;
        }
        for (at, sentence) in sentences.iter().enumerate() {
            let is_doubted = sentences.get(at + 1).is_some_and(doubts_what_came_before);
            for readings in rules::claims(sentence, &block, turn.role, is_doubted) {
                let name = target_resolution::TargetName { turn: turn.id, n: found.len() + 1 };
                let mut candidates =
                    readings.into_iter().filter_map(|claim| targets.candidate(claim, name, &sentence.range));
                if let Some(candidate) = candidates.next() {
                    found.push(ExtractedCandidate { candidate, sentence: sentence.text.clone() });
                }
            }
            targets.hear(&sentence.text);
        }
    }
    TurnExtraction { found, n_too_long }
}
