//! Pairs of texts with one meaning, and pairs with two. Every rule has pairs on both sides of its boundary.

use probity_prose::normal_form::normal_form;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Returns the pairs of `tests/data/normal_form.json`, by group and rule.
fn pairs(which: &str) -> Vec<(String, String, String)> {
    let text = include_str!("data/normal_form.json");
    let mut tables: BTreeMap<String, BTreeMap<String, Vec<(String, String)>>> =
        serde_json::from_str(text).expect("is a table of pairs");
    let rules = tables.remove(which).expect("is there");
    rules
        .into_iter()
        .flat_map(|(rule, pairs)| pairs.into_iter().map(move |(a, b)| (rule.clone(), a, b)))
        .collect()
}

#[test]
fn wording_that_does_not_change_the_meaning_is_one_statement() {
    let wrong: Vec<_> =
        pairs("same").into_iter().filter(|(_, a, b)| normal_form(a) != normal_form(b)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn meaning_that_differs_is_never_one_statement() {
    let wrong: Vec<_> =
        pairs("different").into_iter().filter(|(_, a, b)| normal_form(a) == normal_form(b)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

proptest! {
    #[test]
    fn no_text_panics_and_the_form_is_never_empty(text in "\\PC{0,40}") {
        let form = normal_form(&text);
        prop_assert_eq!(form.is_empty(), text.trim().is_empty());
    }

    #[test]
    fn no_marks_panic(text in "[a-zA-Z0-9 '\"`’“(),.!?:;<>=~%—–\\-]{0,40}") {
        let _ = normal_form(&text);
    }

    #[test]
    fn case_and_space_never_matter_to_plain_words(words in prop::collection::vec("[b-z]{2,8}", 1..8)) {
        let plain = words.join(" ");
        let loud = words.join("\n\t ").to_uppercase();
        prop_assert_eq!(normal_form(&plain), normal_form(&loud));
    }

    #[test]
    fn the_order_of_words_always_matters(a in "[b-z]{3,8}", b in "[b-z]{3,8}") {
        prop_assume!(a != b);
        prop_assert_ne!(normal_form(&format!("move {a} to {b}")), normal_form(&format!("move {b} to {a}")));
    }
}
