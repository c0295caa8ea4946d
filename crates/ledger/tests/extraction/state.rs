//! Compares the resulting ledger with the one that the labels give: same kind, same status, same content.

use crate::corpus::{Label, Transcript, is_alike};
use probity_ledger::{BatchMode, DeltaProposal, ItemKind, ItemStatus, ItemView, Ledger};
use serde_json::{Value, json};

/// Counts equal items: matched, in the labels, found.
pub(crate) fn compare(found: &Ledger, gold: &Ledger) -> (usize, usize, usize) {
    let mut open: Vec<ItemView<'_>> = found.items().collect();
    let n_found = open.len();
    let mut matched = 0;
    for item in gold.items() {
        let is_same = |other: &ItemView<'_>| {
            (other.kind, other.status) == (item.kind, item.status) && is_alike(&says(other), &says(&item))
        };
        if let Some(at) = open.iter().position(is_same) {
            open.remove(at);
            matched += 1;
        }
    }
    (matched, gold.items().count(), n_found)
}

fn says(item: &ItemView<'_>) -> String {
    format!("{} {}", item.summary, item.alternatives.join(" "))
}

/// Builds the ledger that the labels of a transcript give. The reconciler must accept every label.
pub(crate) fn of_labels(transcript: &Transcript) -> Ledger {
    let mut ledger = Ledger::new();
    for turn in &transcript.turns {
        ledger.add_turn(&turn.id);
        for (at, label) in turn.gold.iter().enumerate() {
            let handle = format!("{}-{at}", turn.id);
            let delta = delta(&ledger, label, &handle, &turn.id);
            let outcomes = ledger.reconcile("gold", BatchMode::BestEffort, &[DeltaProposal::read(&delta)]);
            let verdict = outcomes.expect("there is room")[0].verdict;
            assert!(verdict.took_effect(), "{} {}: {verdict:?}: {delta}", transcript.name, turn.id);
        }
    }
    ledger
}

fn delta(ledger: &Ledger, label: &Label, handle: &str, turn: &str) -> Value {
    let mut delta = json!({ "kind": label.kind, "sources": [{ "turn": turn }] });
    let target = |kind, status: &[ItemStatus]| {
        let sought = label.old.as_ref().unwrap_or(&label.text);
        target(ledger, kind, status, sought).unwrap_or_else(|| panic!("{turn}: nothing says `{sought}`"))
    };
    let live = &[ItemStatus::Active, ItemStatus::Tentative];
    let mut set = |fields: Value| {
        let fields = fields.as_object().expect("an object").clone();
        delta.as_object_mut().expect("an object").extend(fields);
    };
    match label.kind.as_str() {
        "task_opened" => set(json!({ "handle": handle, "summary": label.text })),
        "constraint_added" => set(json!({ "handle": handle, "summary": label.text, "hard": true })),
        "branch_created" => {
            let alternatives: Vec<&str> = label.text.split(" | ").collect();
            set(json!({ "handle": handle, "alternatives": alternatives }));
        }
        "decision_revised" => {
            set(json!({ "target": target(Some(ItemKind::Decision), live), "summary": label.text }));
        }
        "constraint_revised" => {
            set(json!({ "target": target(Some(ItemKind::Constraint), live), "summary": label.text }));
        }
        "task_closed" => set(json!({ "target": target(Some(ItemKind::Task), live), "resolution": "done" })),
        "goal_closed" => set(json!({ "target": target(Some(ItemKind::Goal), live), "resolution": "done" })),
        "item_superseded" => set(json!({ "target": target(None, live), "reason": "said so" })),
        "hypothesis_promoted" => set(json!({ "target": target(Some(ItemKind::Hypothesis), live) })),
        "branch_resolved" => {
            let branch = target(Some(ItemKind::Branch), live);
            set(json!({ "target": branch, "handle": handle, "chosen": label.text }));
        }
        "task_reopened" => {
            let task = target(Some(ItemKind::Task), &[ItemStatus::Resolved]);
            set(json!({ "target": task, "handle": handle, "reason": "again" }));
        }
        "fact_corrected" => {
            let fact = target(Some(ItemKind::Fact), live);
            set(json!({ "target": fact, "handle": handle, "summary": label.text }));
        }
        _ => set(json!({ "handle": handle, "summary": label.text, "confidence": "high" })),
    }
    delta
}

/// Returns the latest item of a kind that says what is sought.
fn target(ledger: &Ledger, kind: Option<ItemKind>, status: &[ItemStatus], sought: &str) -> Option<String> {
    let items: Vec<_> = ledger.items().collect();
    let is_it = |item: &&ItemView<'_>| {
        kind.is_none_or(|kind| item.kind == kind)
            && status.contains(&item.status)
            && is_alike(&says(item), sought)
    };
    items.iter().rev().find(is_it).map(|item| item.handle.to_owned())
}
