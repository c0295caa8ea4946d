//! Crashed agents and lost replies.

use super::{Agent, is, verdict};
use crate::mcp::client::Client;
use crate::repo::Repo;
use serde_json::json;

#[test]
fn a_killed_agents_intent_is_recovered_with_everything_it_had() {
    let repo = Repo::new();
    let mut client = Client::start(&repo);
    let wish = json!({
        "intent": "a change that will not be finished", "agent": "ann", "allowed_files": ["src/a.py"],
        "forbidden": ["*.lock"], "expected_effects": ["a is better"], "analyze": true,
    });
    let granted = client.call("start_controlled_change", &wish).json;
    assert_eq!(granted["status"], "active", "{granted:#}");
    let (id, old) =
        (granted["intent_id"].as_str().expect("an id"), granted["owner"].as_str().expect("a handle"));
    let amend = json!({
        "action": "amend", "intent_id": id, "owner": old, "allowed_files": ["src/new.py"], "why": "it needs a helper",
    });
    client.call("manage_change_intent", &amend);
    repo.write("src/a.py", "from new import b\nprint(b)\n");
    repo.write("src/new.py", "b = 1\n");
    repo.write("own.txt", "outside\n");
    drop(client);
    let bo = Agent::new(&repo, "bo");
    let seen = repo.ask(&["status"]);
    assert_eq!(seen.json["intents"][0]["ownership"], "recoverable", "{seen:#?}");
    assert!(seen.json["next_step"].as_str().is_some_and(|words| words.contains("recover")), "{seen:#?}");
    let early = bo.finish(id, &["--observed"]);
    assert_eq!(early.exit_code, Some(5), "not before it was recovered: {early:#?}");
    let recovered = bo.ask(&["intent", "recover", id]);
    let intent = &recovered.json["intent"];
    assert_eq!(
        (recovered.exit_code, &intent["ownership"]),
        (Some(0), &json!("own_active")),
        "{recovered:#?}"
    );
    assert_eq!(intent["base"]["run_id"], granted["run_id"]);
    assert_eq!(intent["scope"]["allowed_files"], json!(["src/a.py", "src/new.py"]));
    assert_eq!(intent["scope"]["forbidden"], json!(["*.lock"]));
    assert_eq!(intent["expected_effects"], json!(["a is better"]));
    assert_eq!(intent["amendments"][0]["why"], "it needs a helper");
    assert_ne!(intent["fencing_token"], granted["token"], "the old token opens nothing any more");
    // The old owner is notified when it returns, and cannot finish an intent that now belongs to another.
    let told = repo.ask(&["intent", "list", "--owner", old]);
    assert_eq!(told.json["notices"][0]["kind"]["kind"], "taken_over", "{told:#?}");
    assert_eq!(repo.ask(&["finish", id, "--owner", old]).exit_code, Some(5));
    let files = ["--changed", "src/a.py", "src/new.py", "--detail-level", "full"];
    let finished = bo.finish(id, &files);
    assert_eq!(verdict(&finished), is("accepted_with_external_changes", "", 0), "{finished:#?}");
    assert_eq!(
        finished.json["workspace_hygiene_after"]["new_unattributed_unscoped_dirty"],
        json!(["own.txt"]),
        "what was at the start is known after the crash too: {finished:#?}"
    );
    let before = finished.json["verification"]["before"]["run_id"].as_str().expect("a run");
    assert!(granted["run_id"].as_str().is_some_and(|run| run.contains(before)), "{finished:#?}");
}

#[test]
fn the_same_finish_again_gives_the_same_answer() {
    let repo = Repo::new();
    let (a, b) = (Agent::new(&repo, "a"), Agent::new(&repo, "b"));
    let intent = a.begin("src/a.py", &[]);
    repo.write("src/a.py", "print('a2')\n");
    let request = ["--changed", "src/a.py", "--claims-text", "No regressions.", "--detail-level", "full"];
    let first = a.finish(&intent, &request);
    assert_eq!((verdict(&first), &first.json["idempotent_replay"]), (is("accepted", "", 0), &json!(false)));
    // The reply was lost; meanwhile the tree changed.
    repo.write("src/b.py", "print('b2')\n");
    let mut again = a.finish(&intent, &request);
    assert_eq!((again.exit_code, &again.json["idempotent_replay"]), (Some(0), &json!(true)), "{again:#?}");
    again.json["idempotent_replay"] = json!(false);
    assert_eq!(again.json, first.json);
    // A different request is not a replay, and another owner does not get the stored answer.
    let other = a.finish(&intent, &["--observed"]);
    assert_eq!((other.exit_code, &other.json["reason"]), (Some(2), &json!("wrong_status")), "{other:#?}");
    assert_eq!(b.finish(&intent, &request).exit_code, Some(2));
}
