//! Handles stored for a worktree, and the names of their owners in the log.

use super::{Agent, is, verdict};
use crate::mcp::client::Client;
use crate::repo::{Outcome, Repo};
use serde_json::{Value, json};
use std::path::Path;

/// Starts a change as a new owner; returns the intent and the handle.
fn begin(repo: &Repo, path: &str, more: &[&str]) -> (String, String) {
    let started = repo.ask(&[&["start", path, "--intent", "a change"], more].concat());
    assert_eq!(started.json["status"], "active", "{started:#?}");
    let word = |name: &str| started.json[name].as_str().expect("a word").to_owned();
    (word("intent_id"), word("owner"))
}

fn ask_in(repo: &Repo, root: &Path, arguments: &[&str]) -> Outcome {
    repo.outcome(&repo.probity(arguments).arg("--json").current_dir(root).output().expect("starts"))
}

fn labels(repo: &Repo) -> Vec<(String, String)> {
    let log = repo.ask(&["log"]).json;
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let events = log["events"].as_array().expect("events");
    events.iter().map(|event| (word(&event["change"]["kind"]), word(&event["by"]["label"]))).collect()
}

/// Creates an intent whose owner, a server, was killed.
fn abandoned(repo: &Repo) -> String {
    let mut client = Client::start(repo);
    let wish = json!({ "intent": "x", "agent": "ann", "allowed_files": ["src/a.py"], "analyze": true });
    let granted = client.call("start_controlled_change", &wish).json;
    granted["intent_id"].as_str().expect("an id").to_owned()
}

#[test]
fn recovering_answers_the_handle_of_the_new_owner() {
    let repo = Repo::new();
    let intent = abandoned(&repo);
    let recovered = repo.ask(&["intent", "recover", &intent]);
    let owner = recovered.json["owner"].as_str().expect("a handle").to_owned();
    // In another worktree the handle must be given, and it opens the intent.
    repo.sh("git worktree add -q ../other");
    let other = repo.outside().join("other");
    assert_eq!(ask_in(&repo, &other, &["intent", "clear", &intent]).exit_code, Some(5));
    let cleared = ask_in(&repo, &other, &["intent", "clear", &intent, "--owner", &owner]);
    assert_eq!(cleared.exit_code, Some(0), "{cleared:#?}");
}

#[test]
fn after_recovering_the_worktree_knows_the_handle() {
    let repo = Repo::new();
    let intent = abandoned(&repo);
    assert_eq!(repo.ask(&["intent", "recover", &intent]).exit_code, Some(0));
    repo.write("src/a.py", "print('a2')\n");
    let finished = repo.ask(&["finish"]);
    assert_eq!(verdict(&finished), is("accepted", "", 0), "{finished:#?}");
}

#[test]
fn a_handle_is_kept_for_the_worktree_of_its_start_and_only_there() {
    let repo = Repo::new();
    repo.sh("git worktree add -q ../other");
    let (intent, owner) = begin(&repo, "src/a.py", &[]);
    let other = repo.outside().join("other");
    for command in [&["intent", "renew"][..], &["intent", "clear"]] {
        let elsewhere = ask_in(&repo, &other, &[command, &[&intent]].concat());
        assert_eq!(elsewhere.exit_code, Some(5), "{elsewhere:#?}");
    }
    let add = ["amend", "--intent", &intent, "--add", "src/c.py", "--why", "it belongs to it"];
    assert_eq!(ask_in(&repo, &other, &add).exit_code, Some(5));
    for command in [&["intent", "renew", &intent][..], &add, &["finish", &intent]] {
        let here = repo.ask(command);
        assert_eq!(here.exit_code, Some(0), "{here:#?}");
    }
    // The handle stays for a replay of the same finish; the next start removes it.
    begin(&repo, "src/b.py", &[]);
    let state = repo.path().join(".git/probity/handles");
    let kept = |dir: &Path| -> usize {
        let trees = std::fs::read_dir(dir).expect("lists").flatten();
        trees.map(|tree| std::fs::read_dir(tree.path()).expect("lists").count()).sum()
    };
    assert_eq!(kept(&state), 1, "that of the new owner alone");
    assert!(!owner.is_empty());
}

#[test]
fn a_given_handle_or_another_name_is_not_taken_for_the_kept_one() {
    let repo = Repo::new();
    let (intent, owner) = begin(&repo, "src/a.py", &["--agent", "ann"]);
    let named_otherwise = repo.ask(&["intent", "renew", &intent, "--agent", "bo"]);
    assert_eq!(named_otherwise.exit_code, Some(5), "{named_otherwise:#?}");
    assert_eq!(Agent::new(&repo, "bo").ask(&["intent", "renew", &intent]).exit_code, Some(5));
    assert_eq!(repo.ask(&["intent", "renew", &intent, "--agent", "ann"]).exit_code, Some(0));
    assert_eq!(repo.ask(&["intent", "renew", &intent, "--owner", &owner]).exit_code, Some(0));
}

#[test]
fn every_start_without_a_handle_is_a_new_owner() {
    let repo = Repo::new();
    let (_, first) = begin(&repo, "src/a.py", &[]);
    let second = repo.ask(&["start", "src/a.py", "--intent", "a change"]);
    assert_eq!(verdict(&second), is("blocked", "coordination", 2), "{second:#?}");
    assert_eq!(second.json["owner"], Value::Null, "a blocked start leaves nothing behind");
    let (_, third) = begin(&repo, "src/b.py", &[]);
    assert_ne!(first, third);
}

#[test]
fn a_finish_that_names_no_intent_means_the_only_one_and_never_guesses() {
    let repo = Repo::new();
    repo.ask(&["finish"]).refused_with("USAGE.INVALID");
    let (first, _) = begin(&repo, "src/a.py", &["--agent", "ann"]);
    let (second, _) = begin(&repo, "src/b.py", &["--agent", "bo"]);
    let unclear = repo.ask(&["finish"]);
    unclear.refused_with("USAGE.INVALID");
    let words = unclear.json["message"].as_str().expect("words");
    assert!([&first, &second].iter().all(|intent| words.contains(&intent[..13])), "{words}");
    let ann = repo.ask(&["finish", "--agent", "ann"]);
    assert_eq!((&ann.json["intent_id"], ann.exit_code), (&json!(first), Some(0)), "{ann:#?}");
    let bo = repo.ask(&["finish"]);
    assert_eq!((&bo.json["intent_id"], bo.exit_code), (&json!(second), Some(0)), "{bo:#?}");
}

#[test]
fn the_log_names_the_agent_whose_handle_it_was() {
    let repo = Repo::new();
    let ann = Agent::new(&repo, "ann");
    let intent = ann.begin("src/a.py", &["--agent", "ann"]);
    ann.ask(&["amend", "--intent", &intent, "--add", "src/c.py", "--why", "it belongs to it"]);
    ann.ask(&["intent", "renew", &intent, "--agent", "somebody"]);
    ann.finish(&intent, &[]);
    let expected = [("granted", "ann"), ("amended", "ann"), ("renewed", "somebody"), ("released", "ann")];
    assert_eq!(labels(&repo), expected.map(|(kind, label)| (kind.to_owned(), label.to_owned())));
}

#[test]
fn a_server_knows_the_handles_of_its_own_session_only() {
    let repo = Repo::new();
    let (mut one, mut other) = (Client::start(&repo), Client::start(&repo));
    let wish = json!({ "intent": "x", "agent": "ann", "allowed_files": ["src/a.py"], "analyze": true });
    let granted = one.call("start_controlled_change", &wish).json;
    let id = &granted["intent_id"];
    repo.write("src/a.py", "print('a2')\n");
    let finish = json!({ "intent_id": id, "analyze": true });
    let refused = other.call("finish_controlled_change", &finish);
    assert_eq!((refused.is_error, &refused.json["reason"]), (true, &json!("held_by_other")), "{refused:#?}");
    assert_eq!(repo.ask(&["finish", id.as_str().expect("an id")]).exit_code, Some(5));
    let accepted = one.call("finish_controlled_change", &finish);
    assert_eq!(accepted.json["status"], "accepted", "{accepted:#?}");
}

#[test]
fn an_agent_may_start_and_finish_changes_while_it_is_governed() {
    let repo = Repo::new();
    let probity = env!("CARGO_BIN_EXE_probity");
    let script = format!(
        "{probity} start src/a.py --intent x && echo \"print('a2')\" > src/a.py && {probity} finish && \
         {probity} start src/b.py --intent y"
    );
    repo.run(&script).passes();
}

#[test]
fn a_receipt_without_a_finish_is_reported_as_a_change_of_our_state() {
    let repo = Repo::new();
    begin(&repo, "src/a.py", &[]);
    repo.write("src/a.py", "print('a2')\n");
    assert_eq!(repo.ask(&["finish"]).exit_code, Some(0));
    let run = repo.run("cd .git/probity/receipts && cp 00000001.json 00000002.json");
    run.fails_with("PROTECTED.CHANGED");
}

#[test]
fn a_forged_handle_is_reported_as_a_change_of_our_state() {
    let repo = Repo::new();
    begin(&repo, "docs/d.md", &[]);
    let run = repo.run("for file in .git/probity/handles/*/*; do echo '{}' > $file; done");
    run.fails_with("PROTECTED.CHANGED");
}
