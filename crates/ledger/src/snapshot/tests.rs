use super::*;
use crate::candidate::DeltaProposal;
use crate::extract::Role;
use crate::outcome::CandidateVerdict;
use crate::project_ledger::ProjectLedger;
use crate::reconcile::BatchMode;
use crate::wire::{LedgerEvent, encode};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Generates deltas that interact: few handles, few statements.
fn delta() -> impl Strategy<Value = Value> {
    let handle = || prop::sample::select(vec!["a", "b", "c", "d"]);
    let text = || prop::sample::select(vec!["Use Redis", "Do not use Redis", "use redis.", "Ship it", "X"]);
    let source = (prop::sample::select(vec!["t1", "t2"]), prop::option::of(1u64..5));
    let sources = prop::collection::vec(source, 1..3).prop_map(|sources| {
        let one = |(turn, end): (&str, Option<u64>)| match end {
            None => json!({ "turn": turn }),
            Some(end) => json!({ "turn": turn, "range": [0, end] }),
        };
        sources.into_iter().map(one).collect::<Vec<_>>()
    });
    (0..9u8, handle(), handle(), text(), sources, prop::option::of(prop::sample::select(vec!["k1", "k2"])))
        .prop_map(|(n, handle, other, text, sources, key)| {
            let mut delta = match n {
                0 | 1 => json!({ "kind": "decision_made", "handle": handle, "summary": text, "confidence": "high" }),
                2 => json!({ "kind": "constraint_added", "handle": handle, "summary": text, "hard": true }),
                3 => json!({ "kind": "branch_created", "handle": handle, "alternatives": ["X", "Y"] }),
                4 => json!({ "kind": "decision_revised", "target": handle, "summary": text }),
                5 => json!({ "kind": "item_superseded", "target": handle, "reason": "r", "by": other }),
                6 => json!({ "kind": "branch_resolved", "target": handle, "handle": other, "chosen": "X" }),
                7 => json!({ "kind": "hypothesis_introduced", "handle": handle, "summary": text, "confidence": "low" }),
                _ => json!({ "kind": "hypothesis_promoted", "target": handle }),
            };
            delta["sources"] = sources.into();
            if let Some(key) = key {
                delta["key"] = key.into();
            }
            delta
        })
}

fn book_of(values: &[Value]) -> ProjectLedger {
    let mut book = ProjectLedger::new();
    for id in ["t1", "t2"] {
        let turn = LedgerEvent::Turn { id, role: Role::User, text: "x", pending: id == "t2" };
        book.apply(&turn).expect("applies");
    }
    book.apply(&LedgerEvent::Policy { guardians: Some(vec!["ann"]) }).expect("applies");
    book.apply(&LedgerEvent::Fork { stream: "s" }).expect("applies");
    book.apply(&LedgerEvent::Cite { change: "run", item: "a", author: "ann" }).expect("applies");
    propose(&mut book, None, values);
    propose(&mut book, Some("s"), values);
    book
}

fn propose(book: &mut ProjectLedger, stream: Option<&str>, values: &[Value]) {
    let proposals: Vec<_> = values.iter().map(DeltaProposal::read).collect();
    let verdicts = vec![CandidateVerdict::Accepted; proposals.len()];
    book.apply(&LedgerEvent::Batch {
        stream,
        author: "bob",
        mode: BatchMode::BestEffort,
        proposals,
        verdicts,
    })
    .expect("there is room");
}

fn restored(book: &ProjectLedger) -> ProjectLedger {
    let mut bytes = Vec::new();
    write(book, &mut bytes).expect("memory takes every byte");
    read(&mut bytes.as_slice()).expect("reads back")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_book_reads_back_and_goes_on_alike(
        values in prop::collection::vec(delta(), 0..30),
        later in prop::collection::vec(delta(), 0..20),
    ) {
        let mut book = book_of(&values);
        let mut again = restored(&book);
        prop_assert_eq!(book.digest(), again.digest());
        propose(&mut book, None, &later);
        propose(&mut again, None, &later);
        prop_assert_eq!(book.digest(), again.digest());
        let since = book.main().position(0).expect("is a position");
        prop_assert_eq!(book.main().changed_since(since), again.main().changed_since(since));
        prop_assert_eq!(book.main().scoreboard(), again.main().scoreboard());
        prop_assert_eq!(book.main().open_conflicts().count(), again.main().open_conflicts().count());
    }

    #[test]
    fn damaged_bytes_are_refused_or_harmless(values in prop::collection::vec(delta(), 1..12), at in 0usize..4000, to in any::<u8>()) {
        let book = book_of(&values);
        let mut bytes = Vec::new();
        write(&book, &mut bytes).expect("memory takes every byte");
        let at = at % bytes.len();
        bytes[at] = to;
        let _ = read(&mut bytes.as_slice());
        let _ = read(&mut &bytes[..at]);
    }
}

#[test]
fn a_snapshot_of_another_version_is_not_read() {
    let mut bytes = Vec::new();
    write(&ProjectLedger::new(), &mut bytes).expect("memory takes every byte");
    bytes[15] = b'9';
    assert!(matches!(read(&mut bytes.as_slice()), Err(SnapshotReadError::Form)));
}

#[test]
fn a_replayed_log_says_when_it_was_decided_otherwise() {
    let values =
        [json!({ "kind": "task_opened", "handle": "t", "summary": "Docs", "sources": [{ "turn": "t1" }] })];
    let proposals: Vec<_> = values.iter().map(DeltaProposal::read).collect();
    let batch = |verdicts| LedgerEvent::Batch {
        stream: None,
        author: "ann",
        mode: BatchMode::BestEffort,
        proposals: proposals.clone(),
        verdicts,
    };
    let turn = LedgerEvent::Turn { id: "t1", role: Role::User, text: "x", pending: false };
    let mut book = ProjectLedger::new();
    book.replay(&encode(&[turn, batch(vec![CandidateVerdict::Accepted])])).expect("replays");
    assert_eq!(book.n_decided_otherwise(), 0);
    book.replay(&encode(&[batch(vec![CandidateVerdict::Accepted])])).expect("replays");
    assert_eq!(book.n_decided_otherwise(), 1, "the second is a duplicate now");
}
