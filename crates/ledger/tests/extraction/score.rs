//! Compares the extracted deltas with the labels by content: recall, precision, and the resulting state.

use crate::corpus::{Spoken, Transcript, is_alike, words_of};
use crate::state;
use crate::utterances::CANONICAL;
use probity_ledger::extract::{Turn, extract_in_dialog};
use probity_ledger::{BatchMode, DeltaProposal, Ledger};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// Matched, in the labels, found.
#[derive(Default, Clone, Copy)]
pub(crate) struct Count {
    pub(crate) matched: usize,
    pub(crate) gold: usize,
    pub(crate) found: usize,
}

impl Count {
    pub(crate) fn add(&mut self, (matched, gold, found): (usize, usize, usize)) {
        self.matched += matched;
        self.gold += gold;
        self.found += found;
    }

    pub(crate) fn recall(&self) -> usize {
        percent(self.matched, self.gold)
    }

    pub(crate) fn precision(&self) -> usize {
        percent(self.matched, self.found)
    }
}

fn percent(part: usize, whole: usize) -> usize {
    (part * 100).checked_div(whole).unwrap_or(100)
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { matched, gold, found } = self;
        let (recall, precision) = (self.recall(), self.precision());
        write!(f, "recall {recall} % ({matched}/{gold}), precision {precision} % ({matched}/{found})")
    }
}

/// The figures of a set: deltas, the items of the resulting state, and what became firm although nobody asserted it.
#[derive(Default)]
pub(crate) struct Score {
    pub(crate) deltas: Count,
    pub(crate) state: Count,
    pub(crate) traps: usize,
    pub(crate) traps_taken: usize,
    /// The deltas by their kind.
    by_kind: BTreeMap<String, Count>,
}

/// Whether the differences from the labels are printed. Who sees those of a held-out set can tune on it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Differences {
    Shown,
    Hidden,
}

/// Reads transcripts turn by turn, each into its own ledger, and prints the figures.
#[expect(clippy::print_stdout, reason = "the figures are what this test is for")]
pub(crate) fn score(name: &str, transcripts: &[Transcript], differences: Differences) -> Score {
    let mut all = Score::default();
    for transcript in transcripts {
        let (count, ledger) = read(transcript, differences, &mut all);
        let same = state::compare(&ledger, &state::of_labels(transcript));
        let mut state = Count::default();
        state.add(same);
        println!("{name}: {}: {count}; state: {state}", transcript.name);
        all.deltas.add((count.matched, count.gold, count.found));
        all.state.add(same);
    }
    println!("{name}: {} transcripts: {}; state: {}", transcripts.len(), all.deltas, all.state);
    for (kind, Count { matched, gold, found }) in &all.by_kind {
        println!("  {kind:24} {matched:4} of {gold:4} found, {found:4} emitted");
    }
    if all.traps > 0 {
        println!("{name}: not asserted, yet firm: {} of {}", all.traps_taken, all.traps);
    }
    all
}

#[expect(clippy::print_stdout, reason = "the differences are what one works on")]
fn read(transcript: &Transcript, differences: Differences, all: &mut Score) -> (Count, Ledger) {
    let mut ledger = Ledger::new();
    let mut count = Count::default();
    let dialog = dialog(transcript);
    for (at, spoken) in transcript.turns.iter().enumerate() {
        let place = format!("{}/{}", transcript.name, spoken.id);
        let found = take_in(&mut ledger, &dialog[..at], &dialog[at]);
        let kind = |candidate: &Value| candidate["kind"].as_str().unwrap_or("").to_owned();
        let about = |candidate| (kind(candidate), about(&ledger, candidate));
        let mut open: Vec<_> = found.iter().map(about).collect();
        for trap in &spoken.traps {
            let words = words_of(trap);
            let is_it = |(kind, about): &&(String, String)| {
                CANONICAL.contains(&kind.as_str()) && words.is_subset(&words_of(about))
            };
            let taken = open.iter().find(is_it);
            all.traps += 1;
            all.traps_taken += usize::from(taken.is_some());
            if let Some((kind, about)) = taken.filter(|_| differences == Differences::Shown) {
                println!("{place}: not asserted, yet firm: {kind}: {about}");
            }
        }
        for (kind, _) in &open {
            all.by_kind.entry(kind.clone()).or_default().found += 1;
        }
        let mut matched = 0;
        for label in &spoken.gold {
            let row = all.by_kind.entry(label.kind.clone()).or_default();
            row.gold += 1;
            let is_it =
                |(kind, about): &(String, String)| *kind == label.kind && is_alike(about, &label.text);
            if let Some(at) = open.iter().position(is_it) {
                open.remove(at);
                row.matched += 1;
                matched += 1;
            } else if differences == Differences::Shown {
                println!("{place}: missed {}: {}", label.kind, label.text);
            }
        }
        for (kind, about) in open.iter().filter(|_| differences == Differences::Shown) {
            println!("{place}: extra {kind}: {about}");
        }
        count.add((matched, spoken.gold.len(), found.len()));
    }
    (count, ledger)
}

/// Returns the turns of a transcript.
pub(crate) fn dialog(transcript: &Transcript) -> Vec<Turn<'_>> {
    fn turn(spoken: &Spoken) -> Turn<'_> {
        Turn { id: &spoken.id, role: spoken.role, text: &spoken.text }
    }
    transcript.turns.iter().map(turn).collect()
}

/// Takes a turn into a ledger. Returns the deltas; the reconciler must accept every one.
pub(crate) fn take_in(ledger: &mut Ledger, before: &[Turn<'_>], turn: &Turn<'_>) -> Vec<Value> {
    ledger.add_turn(turn.id);
    let found = extract_in_dialog(ledger, before, turn).found;
    let deltas: Vec<Value> = found.into_iter().map(|found| found.candidate).collect();
    let proposals: Vec<_> = deltas.iter().map(DeltaProposal::read).collect();
    let outcomes = ledger.reconcile("rules", BatchMode::BestEffort, &proposals).expect("there is room");
    assert!(outcomes.iter().all(|outcome| outcome.verdict.took_effect()), "{:?}: {outcomes:?}", turn.text);
    deltas
}

/// Returns the subject of a delta in words: its text, or the text of the item it changes.
fn about(ledger: &Ledger, candidate: &Value) -> String {
    let text = |name: &str| candidate[name].as_str().map(str::to_owned);
    let target = || {
        let target = ledger.find(candidate["target"].as_str()?)?;
        Some(ledger.item(target)?.versions.first()?.summary.to_owned())
    };
    let alternatives = || {
        let list = candidate["alternatives"].as_array()?;
        Some(list.iter().filter_map(|value| value.as_str()).collect::<Vec<_>>().join(" | "))
    };
    text("summary").or_else(|| text("chosen")).or_else(alternatives).or_else(target).unwrap_or_default()
}
