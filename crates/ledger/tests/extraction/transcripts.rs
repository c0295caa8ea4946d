//! How well whole conversations are read. The held-out ones were written and labelled before the rules were last touched,
//! and no rule was made for them.

use crate::corpus::transcripts;
use crate::score::score;

const TUNED: &[&str] = &[
    include_str!("../data/transcripts/english.txt"),
    include_str!("../data/transcripts/english_long.txt"),
    include_str!("../data/transcripts/german.txt"),
    include_str!("../data/transcripts/french_spanish.txt"),
    include_str!("../data/transcripts/cjk.txt"),
];

const HELD_OUT: &[&str] = &[
    include_str!("../data/held_out/english_short.txt"),
    include_str!("../data/held_out/english_agent.txt"),
    include_str!("../data/held_out/german.txt"),
    include_str!("../data/held_out/french_spanish.txt"),
    include_str!("../data/held_out/minutes_and_cjk.txt"),
];

/// Written when the rules were done.
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
