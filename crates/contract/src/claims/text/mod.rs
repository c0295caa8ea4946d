//! Recognises claims in free text.
//!
//! A small pipeline: [`lex`] cuts the text into sentences of classified words, [`sentence`] finds the clauses and
//! which of them are asserted at all, the frames ([`frames`], [`names`]) look for statements. Everything is bounded
//! look-around on tokens, so the time is linear in the text.

mod frames;
mod lex;
mod lexicon;
mod names;
mod phrase;
mod sentence;

pub use names::KnownNames;

use crate::claims::Claim;
use frames::{Statement, Topic};
use lex::RawSentence;
use sentence::Sentence;
use std::collections::BTreeSet;

/// What a text claims, and how much of it was not understood as a claim.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recognition {
    /// The claims that the author asserts, in order of appearance, each once.
    pub claims: Vec<Claim>,
    /// How many sentences there are.
    pub sentences: usize,
    /// How many of them assert no claim that is known. They are not checked (law 6).
    pub unchecked: usize,
}

/// Finds the claims that the author of `text` asserts.
pub fn recognise(text: &str, known: &KnownNames<'_>) -> Recognition {
    let mut recogniser = Recogniser {
        known,
        recognition: Recognition::default(),
        seen: BTreeSet::new(),
        topic: None,
        is_plan: false,
    };
    lex::sentences(text, |raw| recogniser.sentence(raw));
    recogniser.recognition
}

struct Recogniser<'k, 'n> {
    known: &'k KnownNames<'n>,
    recognition: Recognition,
    seen: BTreeSet<Claim>,
    /// What the sentence before was about.
    topic: Option<Topic>,
    /// Whether the heading above announces plans and wishes.
    is_plan: bool,
}

impl Recogniser<'_, '_> {
    fn sentence(&mut self, raw: &RawSentence<'_>) {
        let sentence = Sentence::new(raw);
        if raw.is_heading {
            self.is_plan = raw.tokens.iter().any(|token| token.class.is(lexicon::WANTED));
        }
        let topic = self.topic.filter(|_| !raw.opens_paragraph);
        self.topic =
            (0..raw.tokens.len()).rev().find_map(|index| frames::topic_of(&sentence, index)).or(topic);
        let mut statements = if self.is_plan { Vec::new() } else { statements(&sentence, topic, self.known) };
        statements.retain(|statement| sentence.asserts(statement.start, statement.end));
        statements.sort_by_key(|statement| statement.at);
        self.recognition.sentences += 1;
        self.recognition.unchecked += usize::from(statements.is_empty());
        for statement in statements {
            if self.seen.insert(statement.claim.clone()) {
                self.recognition.claims.push(statement.claim);
            }
        }
    }
}

/// Every statement of a sentence, asserted or not.
fn statements(sentence: &Sentence<'_, '_>, topic: Option<Topic>, known: &KnownNames<'_>) -> Vec<Statement> {
    let names = names::Names { sentence, known };
    let mut found = Vec::new();
    for at in 0..sentence.tokens.len() {
        frames::tests(sentence, at, &mut found);
        frames::checks(sentence, at, &mut found);
        frames::named_gate(sentence, at, &mut found);
        frames::everything(sentence, at, topic, &mut found);
        frames::marked(sentence, at, &mut found);
        frames::regressions(sentence, at, &mut found);
        frames::verified(sentence, at, &mut found);
        names.only_touched(at, &mut found);
        names.limited(at, &mut found);
        names.nothing_else(at, &mut found);
        names.docs_only(at, &mut found);
        names.fixed(at, &mut found);
    }
    found
}
