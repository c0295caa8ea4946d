//! The queue, with real processes that wait.

use super::{Agent, is, verdict};
use crate::repo::{Outcome, Repo, isolate};
use serde_json::{Value, json};
use std::process::{Child, Stdio};

/// Starts a process that waits in the queue for `path`.
fn waits<'r>(repo: &'r Repo, name: &str, path: &str) -> (Agent<'r>, Child) {
    let agent = Agent::new(repo, name);
    let mut command = repo.probity(&["start", path, "--intent", name, "--wait", "600", "--json"]);
    let child = command.args(["--owner", &agent.owner, "--agent", name]).stdout(Stdio::piped());
    (agent, child.stderr(Stdio::null()).spawn().expect("starts"))
}

/// Polls until the intents are as wanted.
fn until(repo: &Repo, wanted: impl Fn(&[Value]) -> bool) -> Vec<Value> {
    probity_testkit::wait_for("the intents are as wanted", || {
        let seen = repo.ask(&["status"]);
        let intents = seen.json["intents"].as_array().expect("intents").clone();
        wanted(&intents).then_some(intents)
    })
}

fn served(repo: &Repo, child: Child) -> Outcome {
    repo.outcome(&child.wait_with_output().expect("ends"))
}

#[test]
fn who_waits_longest_is_served_first_and_everybody_knows_the_place() {
    let repo = Repo::new();
    let holder = Agent::new(&repo, "holder");
    let intent = holder.begin("src/a.py", &[]);
    let mut queue = Vec::new();
    for (place, name) in ["one", "two", "three"].into_iter().enumerate() {
        queue.push(waits(&repo, name, "src/a.py"));
        // The next one starts once this one is queued.
        let intents = until(&repo, |intents| intents.len() == place + 2);
        assert_eq!(intents[place + 1]["queue_position"], place + 1, "{intents:#?}");
    }
    assert_eq!(holder.ask(&["intent", "clear", &intent]).exit_code, Some(0));
    for (done, (agent, child)) in queue.into_iter().enumerate() {
        let answer = served(&repo, child);
        assert_eq!(verdict(&answer), is("active", "", 0), "{answer:#?}");
        let intents = repo.ask(&["status"]).json["intents"].as_array().expect("intents").clone();
        let places: Vec<&Value> = intents.iter().map(|line| &line["queue_position"]).collect();
        let expected: Vec<Value> =
            std::iter::once(Value::Null).chain((1..3 - done).map(|place| json!(place))).collect();
        assert_eq!(places, expected.iter().collect::<Vec<_>>(), "nobody else was served: {intents:#?}");
        let id = answer.json["intent_id"].as_str().expect("an id");
        assert_eq!(agent.ask(&["intent", "clear", id]).exit_code, Some(0));
    }
}

#[test]
fn a_waiter_that_was_killed_holds_nobody_up() {
    let repo = Repo::new();
    let holder = Agent::new(&repo, "holder");
    let intent = holder.begin("src/a.py", &[]);
    // It passes its own pid, so that its end is noticed.
    let script = "exec \"$0\" start src/a.py --intent first --wait 600 --json --agent-pid $$ --owner first-owner-0123456789";
    let mut first = std::process::Command::new("sh");
    isolate(&mut first, repo.outside());
    let mut first = first
        .args(["-c", script, env!("CARGO_BIN_EXE_probity")])
        .current_dir(repo.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("starts");
    until(&repo, |intents| intents.len() == 2);
    let (_, second) = waits(&repo, "second", "src/a.py");
    until(&repo, |intents| intents.len() == 3);
    first.kill().expect("is killed");
    first.wait().expect("ends");
    assert_eq!(holder.ask(&["intent", "clear", &intent]).exit_code, Some(0));
    let answer = served(&repo, second);
    assert_eq!(verdict(&answer), is("active", "", 0), "{answer:#?}");
}

#[test]
fn a_promotion_starts_from_the_tree_as_it_is_then() {
    let repo = Repo::new();
    let (a, b) = (Agent::new(&repo, "a"), Agent::new(&repo, "b"));
    let first = a.start("src/a.py", &[]);
    let intent = first.json["intent_id"].as_str().expect("an id");
    let place = b.start("src/a.py", &["--queue"]).json["intent_id"].as_str().expect("an id").to_owned();
    repo.write("src/a.py", "print('of a')\n");
    let early = b.ask(&["intent", "promote", &place]);
    assert_eq!((early.exit_code, &early.json["status"]), (Some(5), &json!("queued")), "{early:#?}");
    assert!(early.has_reason("coordination"), "{early:#?}");
    let finished = a.finish(intent, &["--changed", "src/a.py"]);
    assert_eq!(finished.json["status"], "accepted", "{finished:#?}");
    repo.sh("git commit -qam a");
    repo.write("src/b.py", "print('unknown to any run')\n");
    let evicted = b.ask(&["intent", "promote", &place, "--no-analyze"]);
    assert_eq!(evicted.json["reason"], "before_run_evicted", "{evicted:#?}");
    assert_eq!(evicted.json["edit_allowed"], false);
    assert_eq!(repo.ask(&["status"]).json["intents"][0]["queue_position"], 1, "it keeps its place");
    let promoted = b.ask(&["intent", "promote", &place]);
    assert_eq!(verdict(&promoted), is("active", "", 0), "{promoted:#?}");
    assert_ne!(promoted.json["run_id"], first.json["run_id"]);
    assert_eq!(promoted.json["run_id"], repo.ask(&["status"]).json["run_id"]);
    // A's edits are not part of B's change.
    repo.write("src/a.py", "print('of b')\n");
    let finished = b.finish(&place, &["--changed", "src/a.py", "--detail-level", "full"]);
    let hygiene = &finished.json["workspace_hygiene_after"];
    assert_eq!(hygiene["preexisting_unscoped_dirty"], json!(["src/b.py"]), "{finished:#?}");
    assert_eq!(finished.json["status"], "accepted_with_external_changes");
}

#[test]
fn a_waiter_is_not_passed_for_ever() {
    let repo = Repo::new();
    let [holder, wide, narrow] = ["holder", "wide", "narrow"].map(|name| Agent::new(&repo, name));
    holder.begin("src/a.py", &[]);
    let queued = wide.start("src/a.py", &["--allowed-files", "src/b.py", "--queue"]);
    assert_eq!(queued.json["status"], "queued", "{queued:#?}");
    let most = probity_intents::registry::MAX_QUEUE_PASSES;
    let mut passes = 0;
    let refused = loop {
        let started = narrow.start("src/b.py", &[]);
        if started.json["status"] != "active" {
            break started;
        }
        passes += 1;
        assert!(passes <= most, "the waiter starves");
        let id = started.json["intent_id"].as_str().expect("an id");
        narrow.ask(&["intent", "clear", id]);
    };
    assert_eq!((passes, verdict(&refused)), (most, is("blocked", "queue_ahead", 2)), "{refused:#?}");
}
