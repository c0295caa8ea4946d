//! Recall per language: the same statements in all of them, not derived from the lexicons.

use crate::utterances::{CANONICAL, deltas};
use std::collections::BTreeMap;

const STATEMENTS: &str = include_str!("../data/held_out/languages.txt");

/// The results for one language.
#[derive(Default)]
struct LanguageCount {
    firm: usize,
    found: usize,
    /// Everything extracted from it.
    taken: usize,
    /// Unasserted statements that became state.
    canonised: usize,
}

#[test]
fn every_language_is_read_at_least_half_as_well_as_english_or_not_at_all() {
    let mut counts: BTreeMap<&str, LanguageCount> = BTreeMap::new();
    let mut language = "";
    for line in STATEMENTS.lines().filter(|line| !line.starts_with("# ")) {
        if let Some(name) = line.strip_prefix("## ") {
            language = name;
            continue;
        }
        let (label, text) = line.split_once('\t').expect("a label, a tab, an utterance");
        let found = deltas(text);
        let count = counts.entry(language).or_default();
        count.taken += found.len();
        if label == "-" {
            count.canonised += usize::from(found.iter().any(|(kind, _)| CANONICAL.contains(&kind.as_str())));
        } else {
            count.firm += 1;
            let is_found = found.iter().any(|(kind, _)| kind == label);
            count.found += usize::from(is_found);
            if !is_found {
                println!("{language}: missed {label}: {text} {found:?}");
            }
        }
    }
    let english = counts["english"].found;
    for (language, count) in &counts {
        println!("{language}: {} of {} found", count.found, count.firm);
        assert!(count.firm >= 30, "{language}");
        assert_eq!(count.canonised, 0, "{language}");
        if language.ends_with("not read") {
            assert_eq!(count.taken, 0, "{language}");
        } else {
            assert!(count.found * 2 >= english, "{language}");
        }
    }
}
