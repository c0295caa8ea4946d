use super::*;
use crate::extract::Role;
use crate::ledger::Ledger;
use crate::{BatchMode, CandidateVerdict, DeltaProposal, VerdictCode};
use serde_json::{Value, json};

fn turn(id: &str, role: Role, text: &str) -> TurnText {
    TurnText { id: id.into(), role, text: text.into() }
}

fn read_one(text: &str, delta: &Value) -> Result<Value, DropReason> {
    let turns = [turn("t1", Role::User, text)];
    let answer = json!({ "deltas": [delta] }).to_string();
    let read = read(&Ledger::new(), &turns, &answer).expect("is an answer");
    match read.dropped.first() {
        Some(dropped) => Err(dropped.why),
        None => Ok(read.candidates[0].1.clone()),
    }
}

fn decision(quote: &str, summary: &str) -> Value {
    json!({ "kind": "decision_made", "turn": "t1", "quote": quote, "handle": "d1", "summary": summary, "confidence": "high" })
}

#[test]
fn what_was_said_is_a_candidate_with_a_minted_handle_and_its_words() {
    let text = "Fine. We will use Postgres for orders.";
    let candidate =
        read_one(text, &decision("use Postgres for orders", "Use Postgres for orders")).expect("is said");
    assert_eq!(candidate["sources"], json!([{ "turn": "t1", "range": [14, 37] }]));
    assert!(candidate["handle"].as_str().is_some_and(|handle| handle.starts_with("t1:")), "{candidate}");
    assert!(candidate["key"].as_str().is_some_and(|key| key.starts_with("model:t1:")));
    let mut ledger = Ledger::new();
    ledger.add_turn("t1");
    let outcome = ledger
        .reconcile("m", BatchMode::BestEffort, &[DeltaProposal::read(&candidate)])
        .expect("there is room");
    assert_eq!(outcome[0].verdict, CandidateVerdict::Accepted);
}

#[test]
fn what_was_hedged_asked_or_supposed_never_becomes_a_decision() {
    for text in [
        "Maybe we'll use Redis, not sure.",
        "Should we use Redis for caching?",
        "If the timeline allows, we'll use Redis.",
        "Bob says we should use Redis.",
        "> we'll use Redis",
        "```\nuse Redis\n```",
    ] {
        let quote = ["use Redis", "Redis"].into_iter().find(|quote| text.contains(quote)).expect("is there");
        let delta = read_one(text, &decision(quote, "Use Redis"));
        let kind = delta.map(|delta| delta["kind"].as_str().unwrap_or_default().to_owned());
        let is_harmless = match &kind {
            Ok(kind) => kind == "hypothesis_introduced",
            Err(why) => *why == DropReason::NotSaid,
        };
        assert!(is_harmless, "{text}: {kind:?}");
    }
}

#[test]
fn a_guess_is_taken_for_a_guess() {
    let turns = [turn("t1", Role::User, "Maybe the DNS is slow.")];
    let delta = json!({ "kind": "fact_learned", "turn": "t1", "quote": "the DNS is slow", "summary": "The DNS is slow", "confidence": "certain" });
    let read = read(&Ledger::new(), &turns, &json!({ "deltas": [delta] }).to_string()).expect("is an answer");
    assert_eq!((read.n_weakened, &read.candidates[0].1["kind"]), (1, &json!("hypothesis_introduced")));
}

#[test]
fn a_summary_must_not_turn_the_words_around() {
    let text = "We will not use Redis for caching.";
    assert_eq!(
        read_one(text, &decision("not use Redis for caching", "Use Redis for caching")),
        Err(DropReason::Polarity)
    );
    assert_eq!(
        read_one(text, &decision("use Redis for caching", "Do not use Redis for caching")),
        Err(DropReason::Polarity)
    );
    assert!(
        read_one(text, &decision("will not use Redis for caching", "Do not use Redis for caching")).is_ok()
    );
}

#[test]
fn what_cannot_be_traced_is_dropped() {
    assert_eq!(read_one("Use A.", &decision("Use B", "Use B")), Err(DropReason::QuoteNotFound));
    assert_eq!(read_one("Use A.", &decision("", "Use A")), Err(DropReason::QuoteNotFound));
    let mut elsewhere = decision("Use A", "Use A");
    elsewhere["turn"] = json!("t9");
    assert_eq!(read_one("Use A.", &elsewhere), Err(DropReason::UnknownTurn));
    assert_eq!(read_one("Use A.", &json!({ "kind": "guess" })), Err(DropReason::Malformed));
    assert_eq!(read_one("Use A.", &json!("x")), Err(DropReason::Malformed));
    let tool = [turn("t1", Role::Tool, "Use A.")];
    let answer = json!({ "deltas": [decision("Use A", "Use A")] }).to_string();
    assert_eq!(
        read(&Ledger::new(), &tool, &answer).expect("is an answer").dropped[0].why,
        DropReason::NotSaid
    );
}

#[test]
fn later_deltas_may_name_earlier_ones_and_nothing_that_is_made_up() {
    let turns = [turn("t1", Role::User, "We use A. No, use B instead.")];
    let revise = |target: &str| json!({ "kind": "decision_revised", "turn": "t1", "quote": "use B", "target": target, "summary": "Use B" });
    let answer =
        json!({ "deltas": [decision("We use A", "Use A"), revise("d1"), revise("d99")] }).to_string();
    let read = read(&Ledger::new(), &turns, &answer).expect("is an answer");
    let mut ledger = Ledger::new();
    ledger.add_turn("t1");
    let values: Vec<_> = read.candidates.iter().map(|(_, value)| value.clone()).collect();
    let proposals: Vec<_> = values.iter().map(DeltaProposal::read).collect();
    let outcomes = ledger.reconcile("m", BatchMode::BestEffort, &proposals).expect("there is room");
    let codes: Vec<_> =
        outcomes.iter().map(|outcome| outcome.verdict.code().map(VerdictCode::as_str)).collect();
    assert_eq!(codes, [None, None, Some("target_not_found")]);
}

#[test]
fn an_answer_that_is_none_is_an_error() {
    let turns = [turn("t1", Role::User, "Use A.")];
    for answer in ["", "I found nothing.", "[]", "{}", "{\"deltas\": 3}"] {
        assert!(read(&Ledger::new(), &turns, answer).is_err(), "{answer}");
    }
    assert_eq!(read(&Ledger::new(), &turns, "```json\n{\"deltas\": []}\n```"), Ok(ParsedAnswer::default()));
}

#[test]
fn windows_hold_what_fits_and_every_turn_once() {
    let turns: Vec<_> =
        (0..9).map(|n| turn(&n.to_string(), Role::User, &"word ".repeat(900 * (1 + n % 3)))).collect();
    let windows = windows(&turns);
    assert!(windows.len() > 2);
    assert_eq!(windows.concat(), turns);
    assert_eq!(super::windows(&[]), Vec::<&[TurnText]>::new());
}

#[test]
fn the_question_shows_what_is_known() {
    let mut ledger = Ledger::new();
    ledger.add_turn("t1");
    let value =
        json!({ "kind": "task_opened", "handle": "k", "summary": "Docs", "sources": [{ "turn": "t1" }] });
    ledger.reconcile("m", BatchMode::BestEffort, &[DeltaProposal::read(&value)]).expect("there is room");
    let prompt = prompt(&ledger, &[turn("t2", Role::User, "Docs are done.")]);
    let user: Value = serde_json::from_str(&prompt.user).expect("is JSON");
    assert_eq!(user["known"][0], json!({ "handle": "k", "kind": "task", "summary": "Docs" }));
    assert_eq!(user["turns"][0]["turn"], "t2");
}
