use super::*;
use crate::candidate::DeltaProposal;
use crate::reconcile::BatchMode;
use serde_json::json;

fn propose(
    book: &mut ProjectLedger,
    stream: Option<&str>,
    handle: &str,
    summary: &str,
) -> Vec<CandidateOutcome> {
    let value = json!({ "kind": "decision_made", "handle": handle, "summary": summary, "confidence": "high",
        "sources": [{ "turn": "t1" }] });
    let proposals = vec![DeltaProposal::read(&value)];
    let event = LedgerEvent::Batch {
        stream,
        author: "ann",
        mode: BatchMode::BestEffort,
        proposals,
        verdicts: vec![],
    };
    book.apply(&event).expect("applies")
}

fn with_turn(mut book: ProjectLedger) -> ProjectLedger {
    book.apply(&LedgerEvent::Turn { id: "t1", role: Role::User, text: "x", pending: true }).expect("applies");
    book
}

#[test]
fn a_stream_keeps_to_itself_until_it_is_merged() {
    let mut book = with_turn(ProjectLedger::with_stream("s"));
    propose(&mut book, None, "a", "Use A");
    book.apply(&LedgerEvent::Fork { stream: "s" }).expect("applies");
    propose(&mut book, Some("s"), "b", "Use B");
    propose(&mut book, None, "c", "Use C");
    let has =
        |book: &ProjectLedger, stream, handle| book.ledger(stream).expect("is kept").find(handle).is_some();
    assert!(has(&book, Some("s"), "a") && has(&book, Some("s"), "b") && !has(&book, Some("s"), "c"));
    assert!(!has(&book, None, "b"));
    assert_eq!(book.streams()["s"].n_batches(), 1);
    book.apply(&LedgerEvent::Merged { stream: "s" }).expect("applies");
    assert!(has(&book, Some("s"), "c"));
    assert_eq!((book.streams()["s"].n_batches(), book.streams()["s"].base.get()), (0, 2));
}

#[test]
fn a_stream_that_nobody_asked_for_is_kept_as_what_was_proposed() {
    let mut book = with_turn(ProjectLedger::new());
    book.apply(&LedgerEvent::Fork { stream: "s" }).expect("applies");
    assert_eq!(propose(&mut book, Some("s"), "b", "Use B"), []);
    assert!(book.ledger(Some("s")).is_none());
    assert_eq!(book.streams()["s"].n_batches(), 1);
}

#[test]
fn a_batch_for_no_stream_is_refused() {
    let mut book = with_turn(ProjectLedger::new());
    let event = LedgerEvent::Batch {
        stream: Some("none"),
        author: "ann",
        mode: BatchMode::BestEffort,
        proposals: vec![],
        verdicts: vec![],
    };
    assert_eq!(book.apply(&event), Err(ProjectLedgerError::NoStream("none".into())));
}

#[test]
fn a_pending_turn_waits_until_it_was_read() {
    let mut book = with_turn(ProjectLedger::new());
    assert_eq!(book.pending()["t1"].text, "x");
    assert!(book.main().knows_turn("t1"));
    book.apply(&LedgerEvent::Read { turn: "t1" }).expect("applies");
    assert!(book.pending().is_empty());
}
