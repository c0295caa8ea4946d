//! Recognises claims in free text.
//!
//! A small pipeline: [`lex`] cuts the text into sentences of classified words, [`sentence`] finds the clauses and
//! which of them are asserted at all, and a frame for each claim ([`api`], [`frames`], [`regressions`], [`verified`],
//! [`names`], [`docs`], [`findings`]) looks for statements. Everything is bounded look-around on tokens, so the time is linear.

mod api;
mod docs;
mod findings;
mod frames;
mod lex;
mod lexicon;
mod names;
mod phrase;
mod regressions;
mod sentence;
mod verified;

pub use names::KnownNames;

use crate::claims::Claim;
use frames::{Statement, Topic};
use lex::RawSentence;
use lexicon::{self as lx, Class};
use sentence::Sentence;
use std::collections::BTreeSet;

/// What a text claims, and how much of it was not understood as a claim.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recognition {
    /// The claims that the author asserts, in order of appearance, each once.
    pub claims: Vec<AssertedClaim>,
    /// How many sentences there are.
    pub sentences: usize,
    /// The sentences that assert no claim that is known. They are not checked (law 6).
    pub unchecked: Vec<String>,
}

impl Recognition {
    /// The claims without their sentences.
    pub fn into_claims(self) -> Vec<Claim> {
        self.claims.into_iter().map(|asserted| asserted.claim).collect()
    }
}

/// A claim, and the sentence that makes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssertedClaim {
    /// What is claimed.
    pub claim: Claim,
    /// The first sentence that says so, as its author wrote it.
    pub sentence: String,
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
            self.is_plan = raw.tokens.iter().any(|token| token.class.is(lx::WANTED));
        }
        let topic = self.topic.filter(|_| !raw.opens_paragraph);
        self.topic =
            (0..raw.tokens.len()).rev().find_map(|index| frames::topic_of(&sentence, index)).or(topic);
        let mut statements = if self.is_plan { Vec::new() } else { statements(&sentence, topic, self.known) };
        statements.retain(|statement| sentence.asserts(statement.start, statement.end));
        statements.sort_by_key(|statement| statement.at);
        self.recognition.sentences += 1;
        if statements.is_empty() {
            self.recognition.unchecked.push(raw.source.clone());
        }
        for statement in statements {
            if self.seen.insert(statement.claim.clone()) {
                let sentence = raw.source.clone();
                self.recognition.claims.push(AssertedClaim { claim: statement.claim, sentence });
            }
        }
    }
}

/// Every statement of a sentence, asserted or not.
fn statements(sentence: &Sentence<'_, '_>, topic: Option<Topic>, known: &KnownNames<'_>) -> Vec<Statement> {
    let names = names::Names { sentence, known };
    let mut found = Vec::new();
    let mut each = |class: Class, frame: &dyn Fn(usize, &mut Vec<Statement>)| {
        if sentence.has(class) {
            (0..sentence.tokens.len()).for_each(|at| frame(at, &mut found));
        }
    };
    each(lx::TEST, &|at, found| frames::tests(sentence, at, found));
    each(lx::CHECK | lx::CI, &|at, found| frames::checks(sentence, at, found));
    each(lx::CHECK, &|at, found| frames::named_gate(sentence, at, found));
    each(lx::PASS | lx::FAIL, &|at, found| frames::everything(sentence, at, topic, found));
    each(lx::FAIL, &|at, found| frames::tally(sentence, at, found));
    each(lx::MARK, &|at, found| frames::marked(sentence, at, found));
    each(lx::REGRESSION | lx::FINDING | lx::WORSEN | lx::NOTHING | lx::HEALTH, &|at, found| {
        regressions::regressions(sentence, at, found);
    });
    each(lx::VERIFIED | lx::VERIFICATION | lx::CHANGE, &|at, found| verified::verified(sentence, at, found));
    each(lx::API | lx::COMPATIBLE | lx::CALLERS | lx::PUBLIC | lx::FAIL, &|at, found| {
        api::unchanged(sentence, at, found);
    });
    each(lx::ONLY, &|at, found| names.only_touched(at, found));
    each(lx::CHANGE | lx::STAY, &|at, found| names.limited(at, found));
    each(lx::NO | lx::NOTHING | lx::NEG | lx::EVERYTHING, &|at, found| names.nothing_else(at, found));
    each(lx::NOTHING, &|at, found| names.and_nothing_else(at, found));
    each(lx::DOCS, &|at, found| names.docs_only(at, found));
    (0..sentence.tokens.len()).for_each(|at| names.fixed(at, &mut found));
    found
}
