use super::*;
use crate::candidate::DeltaProposal;
use crate::extract::Role;
use crate::outcome::{CandidateVerdict, RejectCode};
use crate::reconcile::BatchMode;
use proptest::prelude::*;
use serde_json::{Value, json};

/// A candidate of every kind, and invalid values.
fn values() -> Vec<Value> {
    let sources = json!([{ "turn": "t1" }, { "turn": "t2", "range": [3, 9] }]);
    let mut values = vec![
        json!({ "kind": "goal_set", "handle": "g", "summary": "Ship", "confidence": "low" }),
        json!({ "kind": "decision_made", "handle": "d", "summary": "Use A", "confidence": "high", "key": "k" }),
        json!({ "kind": "fact_learned", "handle": "f", "summary": "4 min", "confidence": "medium" }),
        json!({ "kind": "hypothesis_introduced", "handle": "h", "summary": "DNS", "confidence": "certain" }),
        json!({ "kind": "constraint_added", "handle": "c", "summary": "No GPL", "hard": true }),
        json!({ "kind": "task_opened", "handle": "t", "summary": "Docs" }),
        json!({ "kind": "branch_created", "handle": "b", "alternatives": ["X", "Y"] }),
        json!({ "kind": "decision_revised", "target": "d", "summary": "Use B" }),
        json!({ "kind": "decision_revised", "target": "d", "summary": "Use C", "confidence": "low" }),
        json!({ "kind": "constraint_revised", "target": "c", "summary": "No AGPL", "mode": "relaxed" }),
        json!({ "kind": "confidence_changed", "target": "d", "confidence": "certain" }),
        json!({ "kind": "task_closed", "target": "t", "resolution": "done" }),
        json!({ "kind": "goal_closed", "target": "g", "resolution": "shipped" }),
        json!({ "kind": "item_superseded", "target": "f", "reason": "old" }),
        json!({ "kind": "item_superseded", "target": "f", "reason": "old", "by": "d" }),
        json!({ "kind": "hypothesis_promoted", "target": "h" }),
        json!({ "kind": "branch_resolved", "target": "b", "handle": "bd", "chosen": "X" }),
        json!({ "kind": "task_reopened", "target": "t", "handle": "t2", "reason": "broke" }),
        json!({ "kind": "fact_corrected", "target": "f", "handle": "f2", "summary": "5 min" }),
    ];
    for value in &mut values {
        value["sources"] = sources.clone();
    }
    values.extend([
        json!(null),
        json!({ "kind": "guess", "key": "x" }),
        json!({ "kind": "goal_set", "sources": 7 }),
    ]);
    values.extend([
        json!({ "kind": "task_opened", "handle": "t", "summary": " ", "sources": [{ "turn": "t1" }] }),
    ]);
    values
}

fn batch(values: &[Value]) -> LedgerEvent<'_> {
    let proposals: Vec<_> = values.iter().map(DeltaProposal::read).collect();
    let verdicts = vec![CandidateVerdict::Rejected(RejectCode::BatchAborted); proposals.len()];
    LedgerEvent::Batch { stream: Some("s"), author: "ann", mode: BatchMode::Atomic, proposals, verdicts }
}

fn events(values: &[Value]) -> Vec<LedgerEvent<'_>> {
    vec![
        LedgerEvent::Policy { guardians: None },
        LedgerEvent::Policy { guardians: Some(vec!["lead", "ann"]) },
        LedgerEvent::Turn { id: "t1", role: Role::Assistant, text: "Größe\n", pending: true },
        LedgerEvent::Read { turn: "t1" },
        LedgerEvent::Fork { stream: "s" },
        batch(values),
        LedgerEvent::Merged { stream: "s" },
        LedgerEvent::Cite { change: "run-1", item: "d", author: "ann" },
    ]
}

#[test]
fn every_event_reads_back_as_it_was() {
    let values = values();
    let events = events(&values);
    assert_eq!(decode(&encode(&events)).as_deref(), Ok(events.as_slice()));
}

#[test]
fn what_is_cut_or_longer_is_malformed() {
    let values = values();
    let bytes = encode(&events(&values));
    for cut in 0..bytes.len() {
        assert!(decode(&bytes[..cut]).is_err(), "cut at {cut}");
    }
    assert!(decode(&[bytes.as_slice(), &[0]].concat()).is_err());
}

/// A log of the first version, as bytes: logs of users must stay readable whatever changes here.
#[test]
fn a_log_of_the_first_version_is_read_for_ever() {
    let bytes = b"\x01\x03\x01\x00\x00\x02t1\x03Hi!\x03\x00\x00\x03ann\x01\x00\x02\x01\x02t1\x00\x01d\x05Use A\x02\x00\x06\x02r1\x01d\x03ann";
    let value = json!({ "kind": "decision_made", "handle": "d", "summary": "Use A", "confidence": "high", "sources": [{ "turn": "t1" }] });
    let proposals = vec![DeltaProposal::read(&value)];
    let expected = vec![
        LedgerEvent::Turn { id: "t1", role: Role::User, text: "Hi!", pending: false },
        LedgerEvent::Batch {
            stream: None,
            author: "ann",
            mode: BatchMode::BestEffort,
            proposals,
            verdicts: vec![CandidateVerdict::Accepted],
        },
        LedgerEvent::Cite { change: "r1", item: "d", author: "ann" },
    ];
    assert_eq!(decode(bytes).as_deref(), Ok(expected.as_slice()));
    assert_eq!(encode(&expected), bytes);
}

#[test]
fn words_keep_their_ranks() {
    use crate::outcome::MergeCode;
    use crate::vocabulary::{ConfidenceLevel, DeltaKind, RevisionMode};
    let words = |words: &[&str]| words.join(" ");
    let kinds: Vec<_> = DeltaKind::ALL.iter().map(|kind| kind.as_str()).collect();
    assert!(words(&kinds).starts_with(
        "goal_set decision_made fact_learned hypothesis_introduced constraint_added task_opened branch_created \
         decision_revised constraint_revised confidence_changed task_closed goal_closed item_superseded \
         hypothesis_promoted branch_resolved task_reopened fact_corrected"
    ));
    let rejections: Vec<_> = RejectCode::ALL.iter().map(|code| code.as_str()).collect();
    assert!(words(&rejections).starts_with(
        "key_conflict unknown_kind missing_provenance unknown_turn invalid_field target_not_found wrong_kind \
         terminal_target invalid_transition not_authorised invalid_link kind_conflict handle_conflict batch_aborted"
    ));
    assert_eq!(
        MergeCode::ALL.iter().map(|code| code.as_str()).collect::<Vec<_>>(),
        ["duplicate", "redelivered"]
    );
    assert_eq!(
        ConfidenceLevel::ALL.iter().map(|c| c.as_str()).collect::<Vec<_>>(),
        ["low", "medium", "high", "certain"]
    );
    assert_eq!(
        RevisionMode::ALL.iter().map(|mode| mode.as_str()).collect::<Vec<_>>(),
        ["relaxed", "tightened", "amended"]
    );
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = decode(&bytes);
    }

    #[test]
    fn a_flipped_byte_never_panics(at in 0usize..2000, to in any::<u8>()) {
        let values = values();
        let mut bytes = encode(&events(&values));
        let at = at % bytes.len();
        bytes[at] = to;
        let _ = decode(&bytes);
    }

    #[test]
    fn numbers_read_back(value in any::<u64>()) {
        let mut bytes = Vec::new();
        put_number(&mut bytes, value);
        prop_assert_eq!(decode_number(&bytes), Some((value, bytes.len())));
    }
}
