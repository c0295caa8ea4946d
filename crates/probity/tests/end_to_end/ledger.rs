//! The ledger as a user and an agent use it: through the binary, from real session files, by several processes at once.

use crate::repo::{Outcome, Repo};
use serde_json::{Value, json};
use std::io::Write;
use std::process::{Child, Stdio};

/// Session files as the agents write them.
pub(crate) const CLAUDE_SESSION: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../ledger/tests/data/sessions/claude-code.jsonl");
pub(crate) const CODEX_SESSION: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../ledger/tests/data/sessions/codex.jsonl");

/// Asks the ledger with something on its standard input.
pub(crate) fn give(repo: &Repo, arguments: &[&str], input: &str) -> Outcome {
    let child = start(repo, arguments, input);
    repo.outcome(&child.wait_with_output().expect("ends"))
}

fn start(repo: &Repo, arguments: &[&str], input: &str) -> Child {
    let mut command = repo.probity(&["ledger"]);
    command.args(arguments).arg("--json").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("probity starts");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("takes it");
    child
}

pub(crate) fn decision(handle: &str, summary: &str) -> Value {
    json!({ "kind": "decision_made", "handle": handle, "summary": summary, "confidence": "high" })
}

fn codes(outcome: &Outcome) -> Vec<(String, Option<String>)> {
    let outcomes = outcome.json["outcomes"].as_array().expect("outcomes");
    let text = |value: &Value| value.as_str().map(str::to_owned);
    outcomes.iter().map(|it| (text(&it["outcome"]).expect("a word"), text(&it["code"]))).collect()
}

#[test]
fn a_proposal_is_decided_and_can_be_asked_about() {
    let repo = Repo::new();
    let said = "We use Postgres for orders.";
    let proposed = give(&repo, &["propose", "--said", said], &decision("db", "Use Postgres").to_string());
    assert_eq!(proposed.exit_code, Some(0), "{proposed:?}");
    assert_eq!(codes(&proposed), [("accepted".into(), None)]);
    let why = repo.ask(&["ledger", "explain", "db"]);
    assert_eq!(why.json["quotes"], json!([said]));
    assert_eq!(why.json["item"]["id"], "decision-1");
    let again = give(&repo, &["propose", "--said", "Again."], &decision("pg", "use postgres.").to_string());
    assert_eq!(codes(&again), [("merged".into(), Some("duplicate".into()))]);
    assert_eq!(repo.ask(&["ledger", "changed", "--since", "1"]).json["items"][0]["handle"], "db");
    assert_eq!(repo.ask(&["ledger", "changed", "--since", "2"]).json["items"], json!([]));
    repo.ask(&["ledger", "changed", "--since", "3"]).refused_with("LEDGER.NO_SUCH_POSITION");
    let before = repo.ask(&["ledger", "as-of", "0"]);
    assert_eq!((&before.json["items"], &before.json["seq"]), (&json!([]), &json!(0)));
}

#[test]
fn what_is_rejected_has_a_position_a_code_and_words() {
    let repo = Repo::new();
    let deltas = json!([
        decision("a", "Use A"),
        { "kind": "decision_revised", "target": "nobody", "summary": "Use B" },
        { "kind": "guess" },
        { "kind": "task_opened", "handle": "t", "summary": " " },
    ]);
    let proposed = give(&repo, &["propose", "--said", "x"], &deltas.to_string());
    assert_eq!(proposed.exit_code, Some(1));
    let expected = [None, Some("target_not_found"), Some("unknown_kind"), Some("invalid_field")];
    let found: Vec<_> = codes(&proposed).into_iter().map(|(_, code)| code).collect();
    assert_eq!(found, expected.map(|code| code.map(str::to_owned)));
    assert_eq!(proposed.json["outcomes"][3]["seq"], 4);
    assert!(proposed.json["outcomes"][3]["message"].as_str().is_some_and(|words| words.contains("summary")));
    let atomic = give(&repo, &["propose", "--atomic", "--said", "x"], &deltas.to_string());
    assert_eq!(codes(&atomic)[0], ("rejected".into(), Some("batch_aborted".into())));
    let scores = repo.ask(&["ledger", "scores"]);
    assert_eq!(scores.json["authors"][0]["rejected"], 7);
}

#[test]
fn a_rehearsal_leaves_nothing() {
    let repo = Repo::new();
    let rehearsed =
        give(&repo, &["propose", "--dry-run", "--said", "x"], &decision("a", "Use A").to_string());
    assert_eq!((codes(&rehearsed), &rehearsed.json["seq"]), (vec![("accepted".into(), None)], &json!(0)));
    assert_eq!(repo.ask(&["ledger", "show"]).json["items"], json!([]));
    assert!(!repo.path().join(".git/probity/ledger/log").exists());
}

#[test]
fn session_files_of_agents_are_taken_in_once() {
    let repo = Repo::new();
    let first = repo.ask(&["ledger", "ingest", CLAUDE_SESSION]);
    assert_eq!(first.exit_code, Some(0), "{first:?}");
    assert_eq!(first.json["n_not_understood"], 1);
    assert!(first.json["turns_new"].as_u64() > Some(3), "{first:?}");
    let state = repo.ask(&["ledger", "show"]).json["items"].clone();
    assert!(state.to_string().contains("Redis"), "{state}");
    for absent in ["MySQL", "Oracle", "Postgres"] {
        assert!(!state.to_string().contains(absent), "nobody said {absent}: {state}");
    }
    let again = repo.ask(&["ledger", "ingest", CLAUDE_SESSION]);
    assert_eq!((&again.json["turns_new"], &again.json["outcomes"]), (&json!(0), &json!([])));
    assert_eq!(repo.ask(&["ledger", "show"]).json["items"], state, "a redelivery changes nothing");
    let codex = repo.ask(&["ledger", "ingest", CODEX_SESSION]);
    assert_eq!(codex.json["turns_new"], 4, "{codex:?}");
}

#[test]
fn four_processes_write_at_once_and_nothing_is_lost() {
    let repo = Repo::new();
    let propose = |writer: usize, n: usize| {
        let name = format!("w{writer}-{n}");
        let deltas = json!([decision(&name, &format!("Use tool {writer} for job {n}"))]);
        start(
            &repo,
            &["propose", "--author", &format!("writer {writer}"), "--said", &name],
            &deltas.to_string(),
        )
    };
    for n in 0..6 {
        let children: Vec<_> = (0..4).map(|writer| propose(writer, n)).collect();
        for child in children {
            let outcome = repo.outcome(&child.wait_with_output().expect("ends"));
            assert_eq!(codes(&outcome), [("accepted".into(), None)]);
        }
    }
    let shown = repo.ask(&["ledger", "show"]);
    assert_eq!((&shown.json["seq"], shown.json["items"].as_array().map(Vec::len)), (&json!(24), Some(24)));
    let scores = repo.ask(&["ledger", "scores"]);
    assert!(scores.json["authors"].as_array().expect("authors").iter().all(|score| score["accepted"] == 6));
    let replayed = repo.ask(&["ledger", "replay"]);
    assert_eq!((&replayed.json["seq"], &replayed.json["decided_otherwise"]), (&json!(24), &json!(0)));
}

#[test]
fn the_context_for_the_next_prompt_keeps_to_its_budget() {
    let repo = Repo::new();
    let mut deltas: Vec<_> =
        (0..40).map(|n| decision(&format!("d{n}"), &format!("Use tool {n} for job {n}"))).collect();
    deltas.push(
        json!({ "kind": "constraint_added", "handle": "c", "summary": "Never commit secrets", "hard": true }),
    );
    give(&repo, &["propose", "--said", "x"], &Value::from(deltas).to_string());
    let exported = repo.ask(&["ledger", "export", "--budget", "120"]);
    assert!(exported.json["tokens"].as_u64() <= Some(120));
    assert!(exported.json["text"].as_str().is_some_and(|text| text.contains("Never commit secrets")));
    assert_eq!(exported.json["hard_left_out"], 0);
    let page = repo.ask(&["ledger", "export", "--page", "constraints"]);
    assert_eq!(page.json["text"], "# Constraints\n\n## Hard\n\n- [c] Never commit secrets\n");
}

#[test]
fn a_change_cites_its_decision_and_the_decision_shows_the_change() {
    let repo = Repo::new();
    give(&repo, &["propose", "--said", "x"], &decision("db", "Use Postgres").to_string());
    repo.ask(&["ledger", "cite", "run-7", "decision-1", "--author", "ann"]);
    repo.ask(&["ledger", "cite", "run-7", "db", "--author", "ann"]);
    let why = repo.ask(&["ledger", "explain", "db"]);
    assert_eq!(why.json["changes"], json!([{ "change": "run-7", "item": "db", "author": "ann", "at": 1 }]));
    repo.ask(&["ledger", "cite", "run-7", "nothing"]).refused_with("LEDGER.NO_SUCH_ITEM");
}
