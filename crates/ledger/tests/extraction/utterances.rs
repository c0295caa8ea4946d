//! Single utterances: firm ones are found, and nothing hedged, asked, supposed, reported or quoted becomes state.

use probity_ledger::extract::{Role, Turn, extract};
use probity_ledger::{BatchMode, DeltaProposal, Ledger};
use proptest::prelude::*;
use std::collections::BTreeMap;

const UTTERANCES: &str = include_str!("../data/utterances.txt");

/// Kinds that a guess must never become.
pub(crate) const CANONICAL: &[&str] = &[
    "decision_made",
    "decision_revised",
    "constraint_added",
    "constraint_revised",
    "goal_set",
    "fact_learned",
    "task_opened",
    "branch_resolved",
];

fn utterances() -> impl Iterator<Item = (&'static str, String)> {
    let lines = UTTERANCES.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines.map(|line| {
        let (label, text) = line.split_once('\t').expect("a label, a tab, an utterance");
        (label, text.replace("\\n", "\n"))
    })
}

pub(crate) fn deltas(text: &str) -> Vec<(String, String)> {
    let turn = Turn { id: "t1", role: Role::User, text };
    let field = |value: &serde_json::Value, name: &str| value[name].as_str().unwrap_or("").to_owned();
    extract(&Ledger::new(), &turn)
        .found
        .iter()
        .map(|found| (field(&found.candidate, "kind"), field(&found.candidate, "summary")))
        .collect()
}

#[test]
fn no_guess_question_condition_or_quotation_becomes_canonical() {
    let wrong: Vec<_> = utterances()
        .filter(|(label, _)| *label == "-")
        .filter_map(|(_, text)| {
            let found = deltas(&text);
            let is_wrong = found.iter().any(|(kind, _)| CANONICAL.contains(&kind.as_str()));
            is_wrong.then(|| format!("{text:?}: {found:?}"))
        })
        .collect();
    assert!(utterances().count() >= 200);
    assert!(wrong.is_empty(), "{} canonised:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_denial_never_loses_its_negation() {
    for (label, text) in utterances() {
        for (kind, summary) in deltas(&text) {
            let denies = |text: &str| {
                let lower =
                    format!(" {} ", text.to_lowercase().replace("n't", " not").replace("cannot", "can not"));
                [" not ", " no ", " never "].iter().any(|word| lower.contains(word))
            };
            let must_deny = label.ends_with('!') && CANONICAL.contains(&kind.as_str());
            assert!(!must_deny || denies(&summary), "{text:?} became {summary:?}");
        }
    }
}

#[test]
fn firm_statements_are_found() {
    let mut by_kind: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut missed = Vec::new();
    for (label, text) in utterances().filter(|(label, _)| *label != "-") {
        let kind = label.trim_end_matches('!');
        let found = deltas(&text);
        let count = by_kind.entry(kind).or_default();
        count.1 += 1;
        if found.iter().any(|(found, _)| found == kind) {
            count.0 += 1;
        } else {
            missed.push(format!("{kind}: {text:?}: {found:?}"));
        }
    }
    let (hits, all) = by_kind.values().fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1));
    println!("utterances: {hits} of {all} firm statements found; {by_kind:?}");
    println!("missed:\n{}", missed.join("\n"));
    assert!(hits * 100 >= all * 90, "{hits} of {all}; missed:\n{}", missed.join("\n"));
}

#[test]
fn what_is_extracted_is_accepted_and_extracting_twice_changes_nothing() {
    let mut ledger = Ledger::new();
    for (at, (_, text)) in utterances().enumerate() {
        let id = format!("t{at}");
        ledger.add_turn(&id);
        let found = extract(&ledger, &Turn { id: &id, role: Role::User, text: &text }).found;
        let proposals: Vec<_> = found.iter().map(|found| DeltaProposal::read(&found.candidate)).collect();
        for _ in 0..2 {
            let outcomes = ledger.reconcile("rules", BatchMode::BestEffort, &proposals).unwrap();
            for (outcome, found) in outcomes.iter().zip(&found) {
                assert!(outcome.verdict.took_effect(), "{:?}: {}", outcome.verdict, found.candidate);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn no_text_panics_and_every_range_lies_in_it(
        text in r#"(\PC|\n|let's |we'll |use |—|`|"|- |# |\[ \] |if |\?|\. ){0,40}"#,
    ) {
        for found in extract(&Ledger::new(), &Turn { id: "t", role: Role::User, text: &text }).found {
            let range = &found.candidate["sources"][0]["range"];
            let (start, end) = (range[0].as_u64().unwrap(), range[1].as_u64().unwrap());
            prop_assert!(start < end && end <= text.len() as u64);
            prop_assert_eq!(DeltaProposal::read(&found.candidate).faulty_field(), None, "{}", found.candidate);
        }
    }
}
