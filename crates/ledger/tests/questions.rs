//! Queries on a ledger, the policy, contradictions and the scoreboard.

use probity_ledger::{
    BatchMode, CandidateOutcome, CandidateVerdict, ConstraintPolicy, DeltaProposal, Ledger, LedgerSeq,
    RejectCode, VerdictCode,
};
use serde_json::{Value, json};

fn propose(ledger: &mut Ledger, author: &str, mut delta: Value, turn: &str) -> CandidateOutcome {
    ledger.add_turn(turn);
    delta["sources"] = json!([{ "turn": turn }]);
    ledger.reconcile(author, BatchMode::BestEffort, &[DeltaProposal::read(&delta)]).expect("there is room")[0]
}

fn decision(handle: &str, summary: &str) -> Value {
    json!({ "kind": "decision_made", "handle": handle, "summary": summary, "confidence": "high" })
}

fn supersede(target: &str, by: Option<&str>) -> Value {
    let mut delta = json!({ "kind": "item_superseded", "target": target, "reason": "better" });
    if let Some(by) = by {
        delta["by"] = json!(by);
    }
    delta
}

#[test]
fn explains_why_an_item_is_here_and_what_replaced_it() {
    let mut ledger = Ledger::new();
    propose(&mut ledger, "ann", decision("a", "Use A"), "t1");
    propose(&mut ledger, "bob", decision("a2", "use a."), "t2");
    propose(&mut ledger, "bob", decision("b", "Use B"), "t2");
    propose(&mut ledger, "ann", decision("c", "Use C"), "t3");
    propose(&mut ledger, "ann", supersede("a", Some("b")), "t3");
    propose(&mut ledger, "ann", supersede("b", Some("c")), "t3");
    let explanation = ledger.explain(ledger.find("a2").unwrap()).unwrap();
    assert_eq!(explanation.handles, ["a", "a2"]);
    assert_eq!(explanation.replaced_by, ["b", "c"]);
    assert_eq!(explanation.item.id, "decision-1");
    assert_eq!(explanation.item.note, Some("better"));
    let sources: Vec<_> =
        explanation.item.sources.iter().map(|source| (source.turn, source.author)).collect();
    assert_eq!(sources, [("t1", "ann"), ("t2", "bob"), ("t3", "ann")]);
    assert_eq!(ledger.find("decision-1"), ledger.find("a"));
    assert_eq!(ledger.find("task-1"), None);
}

#[test]
fn says_what_a_turn_supports() {
    let mut ledger = Ledger::new();
    propose(&mut ledger, "ann", decision("a", "Use A"), "t1");
    propose(&mut ledger, "ann", decision("b", "Use B"), "t2");
    propose(&mut ledger, "ann", supersede("a", None), "t2");
    let handles =
        |turn| ledger.supported_by(turn).iter().map(|&item| ledger.handle(item)).collect::<Vec<_>>();
    assert_eq!(handles("t1"), ["a"]);
    assert_eq!(handles("t2"), ["a", "b"]);
    assert_eq!(handles("t9"), Vec::<&str>::new());
}

#[test]
fn a_contradiction_is_put_on_record_and_settled() {
    let mut ledger = Ledger::new();
    propose(&mut ledger, "ann", decision("a", "Use Redis"), "t1");
    let constraint =
        json!({ "kind": "constraint_added", "handle": "c", "summary": "Don't use Redis.", "hard": true });
    let outcome = propose(&mut ledger, "bob", constraint, "t2");
    assert_eq!(outcome.verdict, CandidateVerdict::Accepted);
    let [a, c] = ["a", "c"].map(|handle| ledger.find(handle).unwrap());
    let conflict = ledger.conflicts()[0];
    assert_eq!((conflict.older, conflict.newer, conflict.raised.get(), conflict.settled), (a, c, 2, None));
    assert_eq!(ledger.contradictions_of(c).collect::<Vec<_>>(), [a]);
    propose(&mut ledger, "ann", supersede("a", None), "t3");
    assert_eq!(ledger.conflicts()[0].settled.map(LedgerSeq::get), Some(3));
    assert_eq!(ledger.open_conflicts().count(), 0);
}

#[test]
fn a_rewording_settles_a_contradiction_and_may_raise_another() {
    let mut ledger = Ledger::new();
    propose(&mut ledger, "ann", decision("a", "Use Redis"), "t1");
    propose(&mut ledger, "ann", decision("b", "Do not use Redis"), "t1");
    propose(&mut ledger, "ann", decision("c", "Do not use Kafka"), "t1");
    let revise = json!({ "kind": "decision_revised", "target": "a", "summary": "Use Kafka" });
    propose(&mut ledger, "ann", revise, "t2");
    let open: Vec<_> =
        ledger.open_conflicts().map(|c| (ledger.handle(c.older), ledger.handle(c.newer))).collect();
    assert_eq!(open, [("c", "a")]);
    assert_eq!(ledger.conflicts().len(), 2);
}

#[test]
fn a_guess_contradicts_nothing_until_it_is_believed() {
    let mut ledger = Ledger::new();
    let fact =
        json!({ "kind": "fact_learned", "handle": "f", "summary": "DNS is not slow", "confidence": "high" });
    propose(&mut ledger, "ann", fact, "t1");
    let guess = json!({ "kind": "hypothesis_introduced", "handle": "h", "summary": "DNS is slow", "confidence": "low" });
    propose(&mut ledger, "ann", guess, "t1");
    assert_eq!(ledger.conflicts().len(), 0);
    propose(&mut ledger, "ann", json!({ "kind": "hypothesis_promoted", "target": "h" }), "t1");
    assert_eq!(ledger.open_conflicts().count(), 1);
}

#[test]
fn a_guarded_hard_constraint_yields_to_its_guardians_only() {
    let mut ledger = Ledger::with_policy(ConstraintPolicy::guard_hard_constraints(["lead".to_owned()]));
    let hard = json!({ "kind": "constraint_added", "handle": "h", "summary": "No GPL code", "hard": true });
    let soft = json!({ "kind": "constraint_added", "handle": "s", "summary": "Small files", "hard": false });
    propose(&mut ledger, "agent", hard.clone(), "t1");
    propose(&mut ledger, "agent", soft, "t1");
    let revise = |target| json!({ "kind": "constraint_revised", "target": target, "summary": "Be nice", "mode": "tightened" });
    let refused = CandidateVerdict::Rejected(RejectCode::NotAuthorised);
    assert_eq!(propose(&mut ledger, "agent", revise("h"), "t2").verdict, refused);
    assert_eq!(propose(&mut ledger, "agent", supersede("h", None), "t2").verdict, refused);
    assert_eq!(propose(&mut ledger, "agent", revise("s"), "t2").verdict, CandidateVerdict::Accepted);
    assert!(propose(&mut ledger, "agent", hard, "t3").verdict.took_effect(), "saying it again is no change");
    assert_eq!(propose(&mut ledger, "lead", revise("h"), "t2").verdict, CandidateVerdict::Accepted);
}

#[test]
fn a_soft_constraint_that_is_said_to_be_hard_becomes_guarded() {
    let mut ledger = Ledger::with_policy(ConstraintPolicy::guard_hard_constraints([]));
    for (handle, hard) in [("s", false), ("h", true)] {
        let delta =
            json!({ "kind": "constraint_added", "handle": handle, "summary": "No GPL code", "hard": hard });
        propose(&mut ledger, "agent", delta, "t1");
    }
    let verdict = propose(&mut ledger, "agent", supersede("s", None), "t2").verdict;
    assert_eq!(verdict, CandidateVerdict::Rejected(RejectCode::NotAuthorised));
}

#[test]
fn the_scoreboard_counts_by_author_and_code() {
    let mut ledger = Ledger::new();
    propose(&mut ledger, "ann", decision("a", "Use A"), "t1");
    propose(&mut ledger, "bob", decision("b", "use a"), "t1");
    propose(&mut ledger, "bob", supersede("nobody", None), "t1");
    propose(&mut ledger, "bob", json!({ "kind": "guess" }), "t1");
    let board = ledger.scoreboard();
    assert_eq!(board[0].author, "ann");
    assert_eq!((board[0].inputs, board[0].accepted, board[0].rejection_rate_permille), (1, 1, Some(0)));
    assert_eq!((board[1].inputs, board[1].merged, board[1].rejected), (3, 1, 2));
    assert_eq!(board[1].rejection_rate_permille, Some(666));
    assert_eq!(board[1].codes.get("target_not_found"), Some(&1));
    assert_eq!(board[1].codes.get("duplicate"), Some(&1));
}

#[test]
fn every_input_can_be_looked_up() {
    let mut ledger = Ledger::new();
    let accepted = propose(&mut ledger, "ann", decision("a", "Use A"), "t1");
    let rejected = propose(&mut ledger, "bob", supersede("nobody", None), "t1");
    let entry = ledger.entry(accepted.seq).unwrap();
    assert_eq!(
        (entry.author, entry.verdict, entry.item),
        ("ann", CandidateVerdict::Accepted, ledger.find("a"))
    );
    let entry = ledger.entry(rejected.seq).unwrap();
    assert_eq!(
        (entry.author, entry.verdict.code().map(VerdictCode::as_str)),
        ("bob", Some("target_not_found"))
    );
    assert!(ledger.entry(ledger.position(0).unwrap()).is_none());
    assert_eq!(ledger.position(-1).unwrap_err().code().as_str(), "invalid_position");
    assert_eq!(ledger.position(3).unwrap_err().code().as_str(), "position_ahead");
}
