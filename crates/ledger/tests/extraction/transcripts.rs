//! Extraction quality on whole conversations. The held-out ones were written and labeled before the last change to the
//! rules, and no rule was made for them.

use crate::corpus::transcripts;
use crate::score::score;
use probity_ledger::extract::{Role, Turn, extract};
use probity_ledger::{BatchMode, DeltaProposal, Ledger};

const TUNED: &[&str] = &[
    include_str!("../data/transcripts/english.txt"),
    include_str!("../data/transcripts/english_long.txt"),
    include_str!("../data/transcripts/german.txt"),
    include_str!("../data/transcripts/french_spanish.txt"),
];

const HELD_OUT: &[&str] = &[
    include_str!("../data/held_out/english_short.txt"),
    include_str!("../data/held_out/english_agent.txt"),
    include_str!("../data/held_out/german.txt"),
    include_str!("../data/held_out/french_spanish.txt"),
    include_str!("../data/held_out/minutes.txt"),
];

/// Written when the rules were finished.
const EXAM: &[&str] = &[include_str!("../data/held_out/exam.txt")];

#[test]
fn transcripts_are_read_well() {
    let score = score("tuned", &transcripts(TUNED));
    assert!(score.deltas.recall() >= 85, "{}", score.deltas);
    assert!(score.deltas.precision() >= 88, "{}", score.deltas);
}

#[test]
fn transcripts_that_the_rules_were_not_made_for_are_read_well_enough() {
    let score = score("held out", &transcripts(HELD_OUT));
    assert!(score.deltas.recall() >= 65, "{}", score.deltas);
    assert!(score.deltas.precision() >= 78, "{}", score.deltas);
}

#[test]
fn transcripts_written_when_the_rules_were_done_are_read_well_enough() {
    let score = score("exam", &transcripts(EXAM));
    assert!(score.deltas.recall() >= 40, "{}", score.deltas);
    assert!(score.deltas.precision() >= 65, "{}", score.deltas);
}

#[test]
fn what_takes_the_place_of_something_says_its_verb_once() {
    let mut ledger = Ledger::new();
    for (id, text) in
        [("1", "Let us use Postgres for sessions."), ("2", "Actually no, use SQLite instead of Postgres.")]
    {
        ledger.add_turn(id);
        let found = extract(&ledger, &Turn { id, role: Role::User, text }).found;
        let proposals: Vec<_> = found.iter().map(|found| DeltaProposal::read(&found.candidate)).collect();
        ledger.reconcile("rules", BatchMode::BestEffort, &proposals).expect("there is room");
    }
    let summaries: Vec<&str> = ledger.items().map(|item| item.summary).collect();
    assert_eq!(summaries, ["Use SQLite"]);
}
