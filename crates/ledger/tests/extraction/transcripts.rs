//! Extraction quality on whole conversations. The held-out ones were written and labeled before the last change to the
//! rules, and no rule was made for them.

use crate::corpus::transcripts;
use crate::score::{Differences, score, take_in};
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

/// Sessions of coding agents, written and labeled by somebody who neither wrote nor read the rules; this half may be tuned on.
const INDEPENDENT_TUNED: &[&str] = &[
    include_str!("../data/independent/tuned/apps.txt"),
    include_str!("../data/independent/tuned/systems.txt"),
    include_str!("../data/independent/tuned/services.txt"),
    include_str!("../data/independent/tuned/clients.txt"),
    include_str!("../data/independent/tuned/long.txt"),
    // Held out until the rules stopped getting better on what nobody looked at.
    include_str!("../data/independent/tuned/apps_moved.txt"),
    include_str!("../data/independent/tuned/systems_moved.txt"),
    include_str!("../data/independent/tuned/services_moved.txt"),
    include_str!("../data/independent/tuned/long_moved.txt"),
];

/// The other half, which nobody who writes rules looks at.
const INDEPENDENT_HELD_OUT: &[&str] = &[include_str!("../data/independent/held_out/tools.txt")];

/// Sessions in the styles of several agents, written before the rules of their round were read; this half may be tuned on.
const FIELD_TUNED: &[&str] = &[include_str!("../data/field/tuned/sessions.txt")];
const FIELD_HELD_OUT: &[&str] = &[include_str!("../data/field/held_out/sessions.txt")];

/// Terse users and agents that report in lists; the held-out half was written first. Only the other one may be tuned on.
const THIRD_TUNED: &[&str] = &[include_str!("../data/field/tuned/sessions_third.txt")];
const THIRD_HELD_OUT: &[&str] = &[include_str!("../data/field/held_out/sessions_third.txt")];

/// Short turns of people, and reports of agents; written before the rules of their round were read.
const FOURTH_TUNED: &[&str] = &[include_str!("../data/field/tuned/sessions_fourth.txt")];
const FOURTH_HELD_OUT: &[&str] = &[include_str!("../data/field/held_out/sessions_fourth.txt")];

#[test]
fn transcripts_are_read_well() {
    let score = score("tuned", &transcripts(TUNED), Differences::Shown);
    assert!(score.deltas.recall() >= 85, "{}", score.deltas);
    assert!(score.deltas.precision() >= 85, "{}", score.deltas);
}

#[test]
fn transcripts_that_the_rules_were_not_made_for_are_read_well_enough() {
    let score = score("held out", &transcripts(HELD_OUT), Differences::Shown);
    assert!(score.deltas.recall() >= 65, "{}", score.deltas);
    assert!(score.deltas.precision() >= 75, "{}", score.deltas);
}

#[test]
fn transcripts_written_when_the_rules_were_done_are_read_well_enough() {
    let score = score("exam", &transcripts(EXAM), Differences::Shown);
    assert!(score.deltas.recall() >= 40, "{}", score.deltas);
    assert!(score.deltas.precision() >= 65, "{}", score.deltas);
}

#[test]
fn sessions_of_an_independent_hand_are_read_no_worse_than_before() {
    let score = score("independent, tuned", &transcripts(INDEPENDENT_TUNED), Differences::Shown);
    assert!(score.deltas.recall() >= 61, "{}", score.deltas);
    assert!(score.deltas.precision() >= 73, "{}", score.deltas);
    assert!(score.state.recall() >= 58, "{}", score.state);
    assert!(score.state.precision() >= 67, "{}", score.state);
    assert_eq!(score.traps_taken, 0);
}

/// Prints only: a floor would invite to look.
#[test]
fn sessions_of_an_independent_hand_that_nobody_looked_at_are_scored() {
    score("independent, held out", &transcripts(INDEPENDENT_HELD_OUT), Differences::Hidden);
}

#[test]
fn sessions_in_the_styles_of_agents_are_read_no_worse_than_before() {
    let score = score("field, tuned", &transcripts(FIELD_TUNED), Differences::Shown);
    assert!(score.deltas.recall() >= 70, "{}", score.deltas);
    assert!(score.deltas.precision() >= 75, "{}", score.deltas);
    assert_eq!(score.traps_taken, 0);
}

/// Prints only: a floor would invite to look.
#[test]
fn sessions_in_the_styles_of_agents_that_nobody_looked_at_are_scored() {
    score("field, held out", &transcripts(FIELD_HELD_OUT), Differences::Hidden);
}

#[test]
fn sessions_of_the_third_round_are_read_no_worse_than_before() {
    let score = score("third round, tuned", &transcripts(THIRD_TUNED), Differences::Shown);
    assert!(score.deltas.recall() >= 66, "{}", score.deltas);
    assert!(score.deltas.precision() >= 82, "{}", score.deltas);
    assert_eq!(score.traps_taken, 0);
}

/// Prints only: a floor would invite to look.
#[test]
fn sessions_of_the_third_round_that_nobody_looked_at_are_scored() {
    score("third round, held out", &transcripts(THIRD_HELD_OUT), Differences::Hidden);
}

#[test]
fn sessions_of_the_fourth_round_are_read_no_worse_than_before() {
    let score = score("fourth round, tuned", &transcripts(FOURTH_TUNED), Differences::Shown);
    assert!(score.deltas.recall() >= 57, "{}", score.deltas);
    assert!(score.deltas.precision() >= 70, "{}", score.deltas);
    assert_eq!(score.traps_taken, 0);
}

/// Prints only: a floor would invite to look.
#[test]
fn sessions_of_the_fourth_round_that_nobody_looked_at_are_scored() {
    score("fourth round, held out", &transcripts(FOURTH_HELD_OUT), Differences::Hidden);
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

#[test]
fn words_that_end_in_other_letters_before_their_ending_are_read() {
    let mut ledger = Ledger::new();
    for (id, text) in [("1", "Cliquéed the page."), ("2", "I'm cliquéing the page.")] {
        take_in(&mut ledger, &[], &Turn { id, role: Role::Assistant, text });
    }
    assert_eq!(ledger.items().count(), 0);
}

#[test]
fn answers_by_number_and_by_name_settle_what_was_asked() {
    let said = |turns: [&str; 2]| {
        let mut ledger = Ledger::new();
        let turns = [
            Turn { id: "1", role: Role::Assistant, text: turns[0] },
            Turn { id: "2", role: Role::User, text: turns[1] },
        ];
        let _ = take_in(&mut ledger, &[], &turns[0]);
        let found = take_in(&mut ledger, &turns[..1], &turns[1]);
        let text = |delta: &serde_json::Value| {
            let named = ["chosen", "summary", "target"].iter().find_map(|name| delta[*name].as_str());
            format!("{}: {}", delta["kind"].as_str().unwrap_or(""), named.unwrap_or(""))
        };
        found.iter().map(text).collect::<Vec<_>>()
    };
    let questions =
        "Two questions:\n\n1. Should ids be numbers or text?\n2. Is the order fixed, or can users drag rows?";
    assert_eq!(
        said([questions, "1. text\n2. fixed, support needs that"]),
        ["branch_resolved: text", "branch_resolved: fixed"]
    );
    let failures = "Three tests fail:\n1. `dates`\n2. `mail`\n3. `backoff`";
    assert_eq!(
        said([failures, "fix 1 and 2, skip 3 with a note"]),
        ["task_opened: Fix `dates`", "task_opened: Fix `mail`", "task_opened: Skip `backoff` with a note"]
    );
    let ways = "I would:\n- raise the timeout\n- enqueue after the commit";
    assert_eq!(
        said([ways, "commit: yes. timeout: no, workers would wait"]),
        ["task_opened: enqueue after the commit", "decision_made: Decided against: raise the timeout"]
    );
}

#[test]
fn a_report_that_names_what_is_done_ends_nothing_else() {
    let still_open = |report: &str| {
        let mut ledger = Ledger::new();
        let plan = "Next steps:\n- [ ] Write the limiter middleware\n- [ ] Add tests for the limiter";
        let turns = [
            Turn { id: "1", role: Role::Assistant, text: plan },
            Turn { id: "2", role: Role::Assistant, text: report },
        ];
        for (at, turn) in turns.iter().enumerate() {
            take_in(&mut ledger, &turns[..at], turn);
        }
        ledger
            .items()
            .filter(|item| item.status.is_live())
            .map(|item| item.summary.to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(still_open("Done: write the limiter middleware."), ["Add tests for the limiter"]);
    assert_eq!(still_open("Done."), [""; 0]);
}
