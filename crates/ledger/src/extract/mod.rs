//! From turns to candidate deltas, by rules: no model, no gate, no state of its own.
//!
//! A turn is read sentence by sentence (`blocks`, `sentences`). For each sentence `mood` says whether its author
//! asserts it, `rules` what it claims, and `scene` which known item it is about: the live items of the ledger and what
//! the turn itself said before, so that a revision can target what was just said. What is hedged, asked, supposed,
//! reported or quoted never becomes a decision, a fact, a goal or a constraint; at most a hypothesis. Other languages are
//! read through English cues (`gloss`).

mod blocks;
mod check;
mod claims;
mod gloss;
mod lexicon;
mod mood;
mod options;
mod rules;
mod scene;
mod sentences;

use crate::ledger::Ledger;
pub(crate) use check::{Stance, stance};
use scene::Scene;
use sentences::Word;
use serde_json::Value;

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The person at the keyboard. Imperatives are orders.
    User,
    /// The agent.
    Assistant,
    /// Whoever set the agent up.
    System,
    /// Output of a tool: nobody says it, so nothing is taken from it.
    Tool,
}

/// One turn of a conversation.
#[derive(Debug, Clone, Copy)]
pub struct Turn<'a> {
    /// Its id.
    pub id: &'a str,
    /// Who said it.
    pub role: Role,
    /// What was said, as Markdown.
    pub text: &'a str,
}

/// A candidate that the rules found.
#[derive(Debug, Clone, PartialEq)]
pub struct Extracted {
    /// The candidate, ready for [`crate::Proposal::read`]. Its key makes a second extraction of the turn a redelivery.
    pub candidate: Value,
    /// The sentence it comes from.
    pub sentence: String,
}

/// Reads candidates from a turn, against the ledger as it is. The turn must be made known to the ledger before the
/// candidates are proposed.
pub fn extract(ledger: &Ledger, turn: &Turn<'_>) -> Vec<Extracted> {
    if turn.role == Role::Tool {
        return Vec::new();
    }
    let mut scene = Scene::of(ledger);
    let mut found = Vec::new();
    for block in options::gather(turn.text, blocks::blocks(turn.text)) {
        let sentences = sentences::sentences(turn.text, &block);
        if let (Some(alternatives), Some(first)) = (options::of(turn.text, &block), sentences.first()) {
            let name = scene::Name { turn: turn.id, n: found.len() + 1 };
            let claim = claims::Claim::Branch(alternatives);
            let candidate = scene.candidate(claim, name, &first.range);
            found.extend(candidate.map(|candidate| Extracted { candidate, sentence: first.text.clone() }));
            continue;
        }
        for (at, sentence) in sentences.iter().enumerate() {
            let is_doubted = sentences.get(at + 1).is_some_and(mood::Mood::doubts_what_came_before);
            for readings in rules::claims(sentence, &block, turn.role, is_doubted) {
                let name = scene::Name { turn: turn.id, n: found.len() + 1 };
                let mut candidates =
                    readings.into_iter().filter_map(|claim| scene.candidate(claim, name, &sentence.range));
                if let Some(candidate) = candidates.next() {
                    found.push(Extracted { candidate, sentence: sentence.text.clone() });
                }
            }
            scene.hear(&sentence.text);
        }
    }
    found
}

/// What follows `phrase` at the beginning of `words`.
fn strip<'w>(words: &'w [Word], phrase: &str) -> Option<&'w [Word]> {
    let mut rest = words;
    for part in phrase.split(' ') {
        let (first, others) = rest.split_first()?;
        if first.lower != part || first.quoted {
            return None;
        }
        rest = others;
    }
    Some(rest)
}

/// What follows the longest of `phrases` (`one | another`) that the words begin with.
fn strip_any<'w>(words: &'w [Word], phrases: &str) -> Option<&'w [Word]> {
    phrases.split(" | ").filter_map(|phrase| strip(words, phrase)).min_by_key(|rest| rest.len())
}

/// Whether `word` is one of a list.
fn is_among(list: &str, word: &str) -> bool {
    list.split(" | ").any(|known| known == word)
}

/// The words without interjections and connectives at the front.
fn strip_openers(words: &[Word]) -> &[Word] {
    let mut rest = words;
    loop {
        let stripped = strip_any(rest, lexicon::OPENERS).or_else(|| strip_spoken_no(rest));
        match stripped.filter(|stripped| !stripped.is_empty()) {
            Some(stripped) => rest = stripped,
            None => return rest,
        }
    }
}

/// "No, …" answers; "no …" denies.
fn strip_spoken_no(words: &[Word]) -> Option<&[Word]> {
    let (first, rest) = words.split_first()?;
    (matches!(first.lower.as_str(), "no" | "nope" | "yes") && first.paused).then_some(rest)
}
