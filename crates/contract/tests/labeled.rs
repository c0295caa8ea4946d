//! Labeled review sentences: how often the recognizer is right, and how often a false claim is caught.
//!
//! `cargo test -p probity-contract --test labeled -- --nocapture` prints the figures. The held-out sentences
//! were written before their rules and are never shown individually: rules tuned on them would prove nothing.

#![expect(clippy::print_stdout, reason = "the figures are what the test is run for")]

use probity_contract::claims::{ChangeFacts, Claim, KnownNames, judge_claims, recognize};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Sentence {
    kind: String,
    text: String,
    claims: Vec<Claim>,
    /// True if the facts of the set support the sentence; only in sets with facts.
    valid: Option<bool>,
}

#[derive(Deserialize)]
struct WithFacts {
    facts: ChangeFacts,
    sentences: Vec<Sentence>,
}

/// Counts: found and meant, only found, only meant.
#[derive(Default)]
struct Score {
    right: u32,
    false_alarms: u32,
    missed: u32,
}

impl Score {
    fn percent(part: u32, whole: u32) -> u32 {
        (part * 100).checked_div(whole).unwrap_or(100)
    }

    fn precision(&self) -> u32 {
        Self::percent(self.right, self.right + self.false_alarms)
    }

    fn recall(&self) -> u32 {
        Self::percent(self.right, self.right + self.missed)
    }

    fn add(&mut self, found: bool, meant: bool) {
        match (found, meant) {
            (true, true) => self.right += 1,
            (true, false) => self.false_alarms += 1,
            (false, true) => self.missed += 1,
            (false, false) => {}
        }
    }
}

/// Scores the claims of a set and prints the figures.
fn score(name: &str, sentences: &[Sentence], show_misses: bool) -> Score {
    let (mut total, mut by_kind) = (Score::default(), BTreeMap::<&str, (u32, u32)>::new());
    for sentence in sentences {
        let found = recognize(&sentence.text, &KnownNames::default()).into_claims();
        for claim in &found {
            total.add(true, sentence.claims.contains(claim));
        }
        for claim in sentence.claims.iter().filter(|claim| !found.contains(claim)) {
            total.add(false, sentence.claims.contains(claim));
        }
        let row = by_kind.entry(&sentence.kind).or_default();
        row.1 += 1;
        if found == sentence.claims {
            row.0 += 1;
        } else if show_misses {
            let Sentence { kind, text, claims, .. } = sentence;
            println!("{kind}: {text:?}\n   meant {claims:?}\n   found {found:?}");
        }
    }
    let exact: u32 = by_kind.values().map(|(right, _)| right).sum();
    for (kind, (right, all)) in &by_kind {
        println!("  {kind:22} {right:4} of {all}");
    }
    let (n, precision, recall) = (sentences.len(), total.precision(), total.recall());
    println!("{name}: {n} sentences, {exact} exact, precision {precision} %, recall {recall} %");
    total
}

/// Scores how often a false sentence is called false, and prints the figures.
fn falsehoods(name: &str, set: &WithFacts) -> Score {
    let mut total = Score::default();
    for sentence in &set.sentences {
        let found = recognize(&sentence.text, &set.facts.known_names()).into_claims();
        total.add(!judge_claims(&found, &set.facts).is_valid(), sentence.valid == Some(false));
    }
    println!("{name}: false claims caught: precision {} %, recall {} %", total.precision(), total.recall());
    total
}

fn read<'de, T: Deserialize<'de>>(text: &'de str) -> T {
    serde_json::from_str(text).expect("the labeled set reads")
}

#[test]
fn finds_what_is_claimed_and_nothing_else() {
    let sentences: Vec<Sentence> = read(include_str!("data/review_sentences.json"));
    assert!(sentences.len() >= 300);
    let total = score("tuned on", &sentences, true);
    assert!(total.precision() >= 99 && total.recall() >= 99);
}

#[test]
fn calls_a_false_sentence_false() {
    let set: WithFacts = read(include_str!("data/sentences_with_facts.json"));
    let total = score("tuned on, with facts", &set.sentences, true);
    assert!(total.precision() >= 98 && total.recall() >= 90);
    let caught = falsehoods("tuned on, with facts", &set);
    assert!(caught.precision() >= 95 && caught.recall() >= 90);
}

#[test]
fn holds_on_sentences_that_it_was_not_made_for() {
    let set: WithFacts = read(include_str!("data/held_out_sentences.json"));
    let total = score("held out", &set.sentences, false);
    assert!(total.precision() >= 90 && total.recall() >= 80);
    let caught = falsehoods("held out", &set);
    assert!(caught.precision() >= 90 && caught.recall() >= 80);
}

#[test]
fn holds_on_commit_messages_pull_requests_and_summaries_of_agents() {
    let set: WithFacts = read(include_str!("data/held_out_styles.json"));
    let total = score("held out, other styles", &set.sentences, false);
    let caught = falsehoods("held out, other styles", &set);
    assert!(total.precision() >= 90 && total.recall() >= 80);
    assert!(caught.precision() >= 90 && caught.recall() >= 70);
}
