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
    /// Other readings that are as right.
    #[serde(default)]
    alternatives: Vec<Vec<Claim>>,
    /// True if the facts of the set support the sentence; only in sets with facts.
    valid: Option<bool>,
}

impl Sentence {
    /// Returns the reading that differs least from what was found.
    fn nearest_reading(&self, found: &[Claim]) -> &[Claim] {
        let differences = |reading: &&Vec<Claim>| {
            let missed = reading.iter().filter(|claim| !found.contains(claim)).count();
            let false_alarms = found.iter().filter(|claim| !reading.contains(claim)).count();
            // The order matters last: the same claims in another order are the next best reading.
            (missed + false_alarms, *reading != found)
        };
        let readings = std::iter::once(&self.claims).chain(&self.alternatives);
        readings.min_by_key(differences).expect("a sentence has a reading")
    }
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
fn score<'a>(name: &str, sentences: impl IntoIterator<Item = &'a Sentence>, show_misses: bool) -> Score {
    let (mut total, mut by_kind) = (Score::default(), BTreeMap::<&str, (u32, u32)>::new());
    for sentence in sentences {
        let found = recognize(&sentence.text, &KnownNames::default()).into_claims();
        let meant = sentence.nearest_reading(&found);
        for claim in &found {
            total.add(true, meant.contains(claim));
        }
        for _ in meant.iter().filter(|claim| !found.contains(claim)) {
            total.add(false, true);
        }
        let row = by_kind.entry(&sentence.kind).or_default();
        row.1 += 1;
        if found == meant {
            row.0 += 1;
        } else if show_misses {
            let Sentence { kind, text, .. } = sentence;
            println!("{kind}: {text:?}\n   meant {meant:?}\n   found {found:?}");
        }
    }
    let (exact, n) = by_kind.values().fold((0, 0), |sum, row| (sum.0 + row.0, sum.1 + row.1));
    for (kind, (right, all)) in &by_kind {
        println!("  {kind:22} {right:4} of {all}");
    }
    let (precision, recall) = (total.precision(), total.recall());
    println!("{name}: {n} sentences, {exact} exact, precision {precision} %, recall {recall} %");
    total
}

/// Scores how often a false sentence is called false, and prints the figures.
fn falsehoods(name: &str, sets: &[WithFacts], show_misses: bool) -> Score {
    let mut total = Score::default();
    for set in sets {
        for sentence in &set.sentences {
            let found = recognize(&sentence.text, &set.facts.known_names()).into_claims();
            let (is_called, is_false) =
                (!judge_claims(&found, &set.facts).is_valid(), sentence.valid == Some(false));
            total.add(is_called, is_false);
            if is_called && !is_false && show_misses {
                println!("honest, yet called false: {:?}", sentence.text);
            }
        }
    }
    let Score { right, false_alarms, missed } = total;
    let (precision, recall, n) = (total.precision(), total.recall(), right + missed);
    println!("{name}: false claims caught: precision {precision} %, recall {recall} % ({right} of {n})");
    println!("{name}: honest texts called false: {false_alarms}");
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

/// Labels with answers, lists of tools, lists of paths that cannot be read to their end, and many ways to say that the interface
/// stays the same. Rules are tuned on it.
#[test]
fn other_wordings_are_read() {
    let sentences: Vec<Sentence> = read(include_str!("data/wordings.json"));
    let total = score("other wordings", &sentences, true);
    assert!(total.precision() >= 98 && total.recall() >= 95);
}

#[test]
fn calls_a_false_sentence_false() {
    let set: WithFacts = read(include_str!("data/sentences_with_facts.json"));
    let total = score("tuned on, with facts", &set.sentences, true);
    assert!(total.precision() >= 98 && total.recall() >= 90);
    let caught = falsehoods("tuned on, with facts", &[set], true);
    assert!(caught.precision() >= 95 && caught.recall() >= 90);
}

#[test]
fn holds_on_sentences_that_it_was_not_made_for() {
    let set: WithFacts = read(include_str!("data/held_out_sentences.json"));
    let total = score("held out", &set.sentences, false);
    assert!(total.precision() >= 90 && total.recall() >= 80);
    let caught = falsehoods("held out", &[set], false);
    assert!(caught.precision() >= 90 && caught.recall() >= 80);
}

#[test]
fn holds_on_commit_messages_pull_requests_and_summaries_of_agents() {
    let set: WithFacts = read(include_str!("data/held_out_styles.json"));
    let total = score("held out, other styles", &set.sentences, false);
    let caught = falsehoods("held out, other styles", &[set], false);
    assert!(total.precision() >= 90 && total.recall() >= 80);
    assert!(caught.precision() >= 90 && caught.recall() >= 70);
}

/// Returns a set that was written and labeled by somebody who neither wrote nor read the rules: whole texts under several states
/// of a repository.
///
/// What the labels mean beyond `docs/contract.md`: a label or question and its answer are one statement; a list of tools that
/// includes the tests claims that these pass, and reading it as all checks is as right; "no functional change" alone claims
/// nothing; a list of paths that cannot be read to its end claims nothing; "I did not touch X" claims nothing about the rest; what is
/// corrected further down in the text is not claimed.
fn independent(text: &str) -> Vec<WithFacts> {
    let sets: Vec<WithFacts> = read(text);
    for set in &sets {
        for sentence in &set.sentences {
            let is_valid = judge_claims(&sentence.claims, &set.facts).is_valid();
            assert_eq!(
                Some(is_valid),
                sentence.valid,
                "the label contradicts the facts: {:?}",
                sentence.text
            );
        }
    }
    sets
}

/// Scores an independent set by claims and by falsehoods.
fn score_independent(name: &str, sets: &[WithFacts], show_misses: bool) -> (Score, Score) {
    let sentences = sets.iter().flat_map(|set| &set.sentences);
    (score(name, sentences, show_misses), falsehoods(name, sets, show_misses))
}

#[test]
fn whole_texts_of_an_independent_hand_are_read_no_worse_than_before() {
    let sets = independent(include_str!("data/independent_tuned.json"));
    let (total, caught) = score_independent("independent, tuned", &sets, true);
    assert!(total.precision() >= 98 && total.recall() >= 98);
    assert!(caught.false_alarms == 0 && caught.recall() >= 98);
}

/// Held out first (93 % and 83 %, two honest ones called false), then looked at.
#[test]
fn whole_texts_of_an_independent_hand_that_were_held_out_are_read_no_worse_than_before() {
    let sets = independent(include_str!("data/independent_seen.json"));
    let (total, caught) = score_independent("independent, seen", &sets, true);
    assert!(total.precision() >= 97 && total.recall() >= 93);
    assert!(caught.false_alarms == 0 && caught.recall() >= 98);
}

/// Texts of pull requests, commits, reviews and agents with template answers, written before the rules of their round were read
/// and split in halves by a digest. Rules may be tuned on this half.
#[test]
fn texts_as_people_and_agents_write_them_are_read_no_worse_than_before() {
    let sets = independent(include_str!("data/field_tuned.json"));
    let (total, caught) = score_independent("field, tuned", &sets, true);
    assert!(total.precision() >= 99 && total.recall() >= 97);
    assert!(caught.false_alarms == 0 && caught.recall() >= 85);
}

/// Prints only: a floor would invite to look.
#[test]
fn texts_as_people_and_agents_write_them_that_nobody_looked_at_are_scored() {
    let sets = independent(include_str!("data/field_held_out.json"));
    score_independent("field, held out", &sets, false);
}

/// Terse chat, commit messages, templates and summaries of agents, written before the rules of their round were read and split in
/// halves by a digest. Rules may be tuned on this half.
#[test]
fn texts_of_the_second_round_are_read_no_worse_than_before() {
    let sets = independent(include_str!("data/second_round_tuned.json"));
    let (total, caught) = score_independent("second round, tuned", &sets, true);
    assert!(caught.false_alarms == 0);
    assert!(total.precision() >= 90);
}

/// Prints only: a floor would invite to look.
#[test]
fn texts_of_the_second_round_that_nobody_looked_at_are_scored() {
    let sets = independent(include_str!("data/second_round_held_out.json"));
    score_independent("second round, held out", &sets, false);
}

/// Templates, check lists, summaries of agents, commit messages and chat, written before the rules of their round were
/// read, the held-out half first. Rules may be tuned on this half.
#[test]
fn texts_of_the_third_round_are_read_no_worse_than_before() {
    let sets = independent(include_str!("data/third_round_tuned.json"));
    let (total, caught) = score_independent("third round, tuned", &sets, true);
    assert!(caught.false_alarms == 0);
    assert!(total.precision() >= 99 && total.recall() >= 97);
}

/// Prints only: a floor would invite to look.
#[test]
fn texts_of_the_third_round_that_nobody_looked_at_are_scored() {
    let sets = independent(include_str!("data/third_round_held_out.json"));
    score_independent("third round, held out", &sets, false);
}
