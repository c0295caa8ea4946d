//! The labelled review sentences: how often the recogniser is right.

use probity_contract::claims::{Claim, KnownNames, recognise};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Sentence {
    kind: String,
    text: String,
    claims: Vec<Claim>,
}

/// Claims that were found and meant, found only, meant only.
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
}

#[test]
fn finds_what_is_claimed_and_nothing_else() {
    let sentences: Vec<Sentence> =
        serde_json::from_str(include_str!("data/review_sentences.json")).expect("the labelled set reads");
    assert!(sentences.len() >= 300);
    let (mut total, mut by_kind) = (Score::default(), BTreeMap::<&str, (u32, u32)>::new());
    for sentence in &sentences {
        let found = recognise(&sentence.text, &KnownNames::default()).claims;
        let both = found.iter().filter(|claim| sentence.claims.contains(claim)).count();
        let count = |n: usize| u32::try_from(n).expect("a small number");
        total.right += count(both);
        total.false_alarms += count(found.len() - both);
        total.missed += count(sentence.claims.len() - both);
        let row = by_kind.entry(&sentence.kind).or_default();
        row.1 += 1;
        if found == sentence.claims {
            row.0 += 1;
        } else {
            println!(
                "{}: {:?}\n   meant {:?}\n   found {found:?}",
                sentence.kind, sentence.text, sentence.claims
            );
        }
    }
    for (kind, (right, all)) in &by_kind {
        println!("{kind:12} {right:4} of {all}");
    }
    println!("{} sentences: precision {} %, recall {} %", sentences.len(), total.precision(), total.recall());
    assert!(total.precision() >= 99 && total.recall() >= 99);
}
