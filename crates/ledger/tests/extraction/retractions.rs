//! Statements that are taken back: what is in force at the end of a dialog, and what must not be.
//!
//! `tests/data/independent/tuned/retractions.txt` explains the labels.

use crate::corpus::{Transcript, is_alike, transcripts, words_of};
use crate::score::{self, Differences, take_in};
use probity_ledger::{ItemKind, ItemView, Ledger};
use std::collections::BTreeSet;

const TUNED: &[&str] = &[
    include_str!("../data/independent/tuned/retractions.txt"),
    include_str!("../data/independent/tuned/retractions_moved.txt"),
    include_str!("../data/independent/tuned/retractions_seen.txt"),
];
/// Written together with the rules.
const WRITTEN_FOR: &[&str] = &[
    include_str!("../data/transcripts/retractions.txt"),
    include_str!("../data/transcripts/retractions_variants.txt"),
];

/// Written before the rules of their round were read; the first half may be tuned on.
const FIELD_TUNED: &[&str] = &[
    include_str!("../data/field/tuned/retractions.txt"),
    // Held out until somebody looked.
    include_str!("../data/field/tuned/retractions_moved.txt"),
];
/// Every mark with every kind of statement.
const MARKS: &[&str] = &[include_str!("../data/field/tuned/marks.txt")];

/// Words that end or deny something: "Mapbox is out" does not say that Mapbox is used.
const ENDINGS: &[&str] =
    &["not", "no", "never", "without", "drop", "out", "forget", "against", "nicht", "pas"];

/// Counts over dialogs.
#[derive(Default)]
struct RetractionCount {
    retracted: usize,
    still_in_force: usize,
    holding: usize,
    found: usize,
    /// Items in force that no label names.
    others: usize,
    /// Dialogs in which what holds was found and nothing that was taken back is in force.
    right: usize,
    dialogs: usize,
}

/// Reads each dialog into its own ledger, compares what is in force with the labels, and prints the figures.
#[expect(clippy::print_stdout, reason = "the figures are what this test is for")]
fn score(name: &str, dialogs: &[Transcript], differences: Differences) -> RetractionCount {
    let mut all = RetractionCount::default();
    for dialog in dialogs {
        let mut ledger = Ledger::new();
        let turns = score::dialog(dialog);
        for (at, turn) in turns.iter().enumerate() {
            take_in(&mut ledger, &turns[..at], turn);
        }
        let mut open: Vec<ItemView<'_>> = ledger.items().filter(is_in_force).collect();
        let (mut n_still_in_force, mut n_missed) = (0, 0);
        let labels = || dialog.turns.iter().flat_map(|turn| &turn.gold);
        for label in labels().filter(|label| label.kind == "retracted") {
            all.retracted += 1;
            if let Some(at) = open.iter().position(|item| says_all(item, &label.text)) {
                n_still_in_force += 1;
                let item = open.remove(at);
                if differences == Differences::Shown {
                    println!(
                        "{}: taken back, yet in force: {}: {}",
                        dialog.name,
                        item.kind.as_str(),
                        item.summary
                    );
                }
            }
        }
        for label in labels().filter(|label| label.kind != "retracted") {
            let kinds = label.kind.strip_prefix("holds ").expect("`holds KIND` or `retracted`");
            all.holding += 1;
            let is_it = |item: &ItemView<'_>| {
                kinds.split('|').any(|kind| kind == item.kind.as_str()) && says(item, &label.text)
            };
            if let Some(at) = open.iter().position(is_it) {
                all.found += 1;
                open.remove(at);
            } else {
                n_missed += 1;
                if differences == Differences::Shown {
                    println!("{}: missed {}: {}", dialog.name, kinds, label.text);
                }
            }
        }
        if differences == Differences::Shown {
            for item in &open {
                println!("{}: extra {}: {}", dialog.name, item.kind.as_str(), item.summary);
            }
        }
        all.still_in_force += n_still_in_force;
        all.others += open.len();
        all.dialogs += 1;
        all.right += usize::from(n_still_in_force == 0 && n_missed == 0);
    }
    let RetractionCount { retracted, still_in_force, holding, found, others, right, dialogs } = all;
    println!(
        "{name}: {dialogs} dialogs, {right} right; taken back, yet in force: {still_in_force} of {retracted}"
    );
    println!("{name}: in force: {found} of {holding} found, {others} others beside them");
    all
}

/// Returns whether an item is a live statement. Guesses and open choices are none.
fn is_in_force(item: &ItemView<'_>) -> bool {
    item.status.is_live() && !matches!(item.kind, ItemKind::Hypothesis | ItemKind::Branch)
}

fn words(text: &str) -> BTreeSet<String> {
    words_of(&text.to_lowercase().replace("n't", " not"))
}

/// Returns whether an item has all words of a retracted statement, and neither ends nor denies it.
fn says_all(item: &ItemView<'_>, retracted: &str) -> bool {
    let asserted = [" instead of ", " rather than ", ", not "]
        .iter()
        .fold(item.summary, |summary, mark| summary.split(mark).next().unwrap_or(summary));
    let (said, retracted) = (words(asserted), words(retracted));
    let ends = |words: &BTreeSet<String>, ending: &str| words.contains(ending);
    retracted.is_subset(&said)
        && ENDINGS.iter().all(|ending| !ends(&said, ending) || ends(&retracted, ending))
}

/// Returns whether an item says what holds: most of its words, and every number.
fn says(item: &ItemView<'_>, holding: &str) -> bool {
    let said = words(item.summary);
    let has_digit = |word: &&String| word.contains(|c: char| c.is_ascii_digit());
    is_alike(item.summary, holding) && words(holding).iter().filter(has_digit).all(|word| said.contains(word))
}

#[test]
fn what_was_taken_back_is_in_force_no_more_often_than_before() {
    let count = score("retractions, tuned", &transcripts(TUNED), Differences::Shown);
    assert!(count.still_in_force <= 3, "{}", count.still_in_force);
    assert!(count.found >= 31, "{}", count.found);
}

#[test]
fn the_marks_of_a_retraction_are_read() {
    let count = score("retractions, written for", &transcripts(WRITTEN_FOR), Differences::Shown);
    assert!(count.still_in_force <= 1, "{}", count.still_in_force);
}

#[test]
fn retractions_as_people_type_them_are_in_force_no_more_often_than_before() {
    let count = score("retractions, field, tuned", &transcripts(FIELD_TUNED), Differences::Shown);
    assert!(count.still_in_force <= 2, "{}", count.still_in_force);
    assert!(count.found >= 14, "{}", count.found);
}

#[test]
fn every_mark_takes_back_every_kind_of_statement() {
    let count = score("retractions, marks", &transcripts(MARKS), Differences::Shown);
    assert!(count.still_in_force <= 1, "{}", count.still_in_force);
}

/// Written before the rules of their round were read; the first half may be tuned on.
const SECOND_TUNED: &[&str] = &[
    include_str!("../data/field/tuned/retractions_second.txt"),
    // Held out until somebody looked.
    include_str!("../data/field/tuned/retractions_second_moved.txt"),
];

#[test]
fn retractions_of_the_second_round_are_in_force_no_more_often_than_before() {
    let count = score("retractions, second round, tuned", &transcripts(SECOND_TUNED), Differences::Shown);
    assert!(count.still_in_force <= 3, "{}", count.still_in_force);
    assert!(count.found >= 10, "{}", count.found);
}

/// Written before the rules of their round were read, the held-out half first.
const THIRD_TUNED: &[&str] = &[
    include_str!("../data/field/tuned/retractions_third.txt"),
    include_str!("../data/field/tuned/retractions_more.txt"),
    // Held out until somebody looked.
    include_str!("../data/field/tuned/retractions_third_moved.txt"),
];

#[test]
fn retractions_of_the_third_round_are_in_force_no_more_often_than_before() {
    let count = score("retractions, third round, tuned", &transcripts(THIRD_TUNED), Differences::Shown);
    assert!(count.still_in_force <= 2, "{}", count.still_in_force);
}

/// Written before the rules of their round were read, and split by a digest of the names.
const FOURTH_TUNED: &[&str] = &[include_str!("../data/field/tuned/retractions_fourth.txt")];
const FOURTH_HELD_OUT: &[&str] = &[include_str!("../data/field/held_out/retractions_fourth.txt")];

#[test]
fn retractions_of_the_fourth_round_are_in_force_no_more_often_than_before() {
    let count = score("retractions, fourth round, tuned", &transcripts(FOURTH_TUNED), Differences::Shown);
    assert!(count.still_in_force <= 2, "{}", count.still_in_force);
}

/// Prints only: a floor would invite to look.
#[test]
fn retractions_of_the_fourth_round_that_nobody_looked_at_are_scored() {
    score("retractions, fourth round, held out", &transcripts(FOURTH_HELD_OUT), Differences::Hidden);
}
