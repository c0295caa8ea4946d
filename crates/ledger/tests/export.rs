//! Contexts and projections: what they contain, and what they never do.

use probity_ledger::{BatchMode, DeltaProposal, ExportOptions, Ledger, LedgerProjection, estimate_tokens};
use proptest::prelude::*;
use serde_json::{Value, json};

fn ledger_of(deltas: &[Value]) -> Ledger {
    let mut ledger = Ledger::new();
    ledger.add_turn("t1");
    for delta in deltas {
        let mut delta = delta.clone();
        delta["sources"] = json!([{ "turn": "t1" }]);
        let outcomes = ledger
            .reconcile("me", BatchMode::BestEffort, &[DeltaProposal::read(&delta)])
            .expect("there is room");
        assert!(outcomes[0].verdict.took_effect(), "{delta}: {:?}", outcomes[0].verdict);
    }
    ledger
}

fn decision(handle: &str, summary: &str) -> Value {
    json!({ "kind": "decision_made", "handle": handle, "summary": summary, "confidence": "high" })
}

fn constraint(handle: &str, summary: &str, hard: bool) -> Value {
    json!({ "kind": "constraint_added", "handle": handle, "summary": summary, "hard": hard })
}

fn sample() -> Ledger {
    ledger_of(&[
        json!({ "kind": "goal_set", "handle": "g", "summary": "Ship the beta", "confidence": "high" }),
        decision("d1", "Use Postgres for orders"),
        decision("d2", "Use Redis for the session cache"),
        constraint("c1", "Prefer small files", false),
        json!({ "kind": "task_opened", "handle": "k", "summary": "Write\n  the docs" }),
        json!({ "kind": "fact_learned", "handle": "f", "summary": "Build takes 4 min", "confidence": "medium" }),
        json!({ "kind": "hypothesis_introduced", "handle": "h", "summary": "DNS is slow", "confidence": "low" }),
        json!({ "kind": "branch_created", "handle": "b", "alternatives": ["REST", "gRPC"] }),
        constraint("c2", "No GPL code", true),
        decision("d3", "Do not use Postgres for orders"),
    ])
}

#[test]
fn every_kind_has_its_place() {
    let text = sample().export(&ExportOptions::with_budget(1000)).text;
    assert_eq!(
        text,
        "# Ledger at position 10\n\
         \n## Hard constraints\n- [c2] No GPL code\n\
         \n## Contradictions\n- [d1] Use Postgres for orders / [d3] Do not use Postgres for orders\n\
         \n## Constraints\n- [c1] Prefer small files\n\
         \n## Decisions\n- [d3] Do not use Postgres for orders\n- [d2] Use Redis for the session cache\n\
         - [d1] Use Postgres for orders\n\
         \n## Goals\n- [g] Ship the beta\n\
         \n## Open tasks\n- [k] Write the docs\n\
         \n## Facts\n- [f] Build takes 4 min (medium)\n\
         \n## Open questions\n- [b] REST | gRPC (not decided)\n- [h] DNS is slow (hypothesis, low)\n"
    );
}

#[test]
fn hard_constraints_are_paid_for_first() {
    let mut deltas: Vec<_> =
        (0..200).map(|n| constraint(&format!("s{n}"), &format!("Prefer style {n}"), false)).collect();
    deltas.insert(0, constraint("h", "Never commit secrets", true));
    let context = ledger_of(&deltas).export(&ExportOptions::with_budget(80));
    assert!(context.text.contains("Never commit secrets"), "{}", context.text);
    assert_eq!(context.hard_left_out, 0);
    assert!(context.text.ends_with("more did not fit)\n"));
    assert_eq!(context.shown.len() + context.left_out.len(), 201);
}

#[test]
fn a_budget_that_is_too_small_for_the_hard_constraints_says_so() {
    let deltas: Vec<_> =
        (0..50).map(|n| constraint(&format!("h{n}"), &format!("Never do thing number {n}"), true)).collect();
    let context = ledger_of(&deltas).export(&ExportOptions::with_budget(60));
    assert!(context.hard_left_out > 0);
    assert!(context.text.contains("of them hard constraints"), "{}", context.text);
}

#[test]
fn the_query_decides_what_fits() {
    let mut deltas: Vec<_> =
        (0..100).map(|n| decision(&format!("d{n}"), &format!("Use tool {n} for job {n}"))).collect();
    deltas.insert(0, decision("old", "Encrypt backups with age"));
    let ledger = ledger_of(&deltas);
    let options =
        ExportOptions { query: Some("how are backups encrypted?"), ..ExportOptions::with_budget(60) };
    assert!(ledger.export(&options).text.contains("Encrypt backups"));
    assert!(!ledger.export(&ExportOptions::with_budget(60)).text.contains("Encrypt backups"));
}

#[test]
fn an_increment_shows_what_changed_and_what_ended() {
    let mut ledger = sample();
    let position = ledger.head();
    let close =
        json!({ "kind": "task_closed", "target": "k", "resolution": "done", "sources": [{ "turn": "t1" }] });
    ledger.reconcile("me", BatchMode::BestEffort, &[DeltaProposal::read(&close)]).unwrap();
    let options = ExportOptions { since: Some(position), ..ExportOptions::with_budget(1000) };
    let context = ledger.export(&options);
    assert_eq!(
        context.text,
        "# Ledger at position 11\n\n## No longer in force\n- [k] Write the docs (closed: done)\n"
    );
    let nothing = ExportOptions { since: Some(context.position), ..ExportOptions::with_budget(1000) };
    assert_eq!(ledger.export(&nothing).shown, []);
}

#[test]
fn projections_show_the_past_where_it_matters() {
    let mut deltas = vec![decision("d1", "Use A"), decision("d2", "Use B")];
    deltas.push(json!({ "kind": "item_superseded", "target": "d1", "reason": "cost", "by": "d2" }));
    let ledger = ledger_of(&deltas);
    assert_eq!(
        ledger.markdown(LedgerProjection::Decisions),
        "# Decisions\n\n## Active\n\n- [d2] Use B\n\n## Superseded\n\n- [d1] Use A (superseded: cost; see [d2])\n"
    );
    assert_eq!(ledger.markdown(LedgerProjection::State), "# State\n\n## Decisions\n\n- [d2] Use B\n");
    assert_eq!(ledger.markdown(LedgerProjection::Tasks), "# Tasks\n");
    assert!(sample().markdown(LedgerProjection::Constraints).contains("## Hard\n\n- [c2] No GPL code"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_budget_is_ever_exceeded(budget in 0usize..400, query in prop::option::of("[a-z ]{0,20}"), since in prop::option::of(0i64..10)) {
        let ledger = sample();
        let since = since.map(|since| ledger.position(since).unwrap());
        let options = ExportOptions { query: query.as_deref(), since, ..ExportOptions::with_budget(budget) };
        let context = ledger.export(&options);
        prop_assert!(context.tokens <= budget);
        prop_assert!(estimate_tokens(&context.text) <= context.tokens);
        prop_assert_eq!(ledger.export(&options), context.clone(), "the same answer twice");
        let whole: Vec<_> = sample().export(&ExportOptions::with_budget(100_000)).text.lines().map(str::to_owned).collect();
        for line in context.text.lines().filter(|line| line.starts_with("- [") && since.is_none()) {
            prop_assert!(whole.iter().any(|known| known == line), "no line is cut: {}", line);
        }
    }
}
