//! The experience of newcomers who follow the README: every answer says what happened and what to do next.

use crate::agents::{is, verdict};
use crate::repo::{Outcome, Repo};
use serde_json::json;

/// Returns everything that a person sees: answer and diagnostics.
fn shown(repo: &Repo, arguments: &[&str]) -> String {
    let output = repo.probity(arguments).output().expect("probity starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

fn begin(repo: &Repo, path: &str) -> String {
    let started = repo.ask(&["start", path, "--intent", "a change"]);
    assert_eq!(started.json["status"], "active", "{started:#?}");
    started.json["intent_id"].as_str().expect("an id").to_owned()
}

fn next_step(outcome: &Outcome) -> &str {
    outcome.json["next_step"].as_str().expect("a next step")
}

/// Runs the commands in a revert's notes in order, as a person would copy them.
fn follow_ref_notes(repo: &Repo, reverted: &Outcome) {
    for note in reverted.json["refs"].as_array().expect("notes") {
        repo.sh(note["command"].as_str().unwrap_or_else(|| panic!("no command: {note:#}")));
    }
}

#[test]
fn a_finish_that_is_typed_twice_says_that_it_was_done() {
    let repo = Repo::new();
    let intent = begin(&repo, "src/a.py");
    repo.write("src/a.py", "print('a2')\n");
    assert_eq!(verdict(&repo.ask(&["finish"])), is("accepted", "", 0));
    for again in [&["finish"][..], &["finish", &intent]] {
        let outcome = repo.ask(again);
        assert_eq!(verdict(&outcome), is("accepted", "", 0), "{outcome:#?}");
        assert_eq!(outcome.json["idempotent_replay"], true);
    }
    assert!(shown(&repo, &["finish"]).contains("this change was finished before"));
    // A different finish is not a replay: the message says when the change was finished.
    let other = repo.ask(&["finish", &intent, "--strict"]);
    other.refused_with("wrong_status");
    let message = other.json["message"].as_str().expect("words");
    assert!(message.contains("was finished already (20"), "{message}");
    assert!(next_step(&other).contains("probity start"), "{}", next_step(&other));
    // The next start removes the stored handle.
    begin(&repo, "src/b.py");
    repo.ask(&["finish", &intent]).refused_with("wrong_status");
}

#[test]
fn nobody_is_told_to_touch_the_files_of_a_run_at_work() {
    let repo = Repo::new();
    repo.write("docs/d.md", "uncommitted\n");
    let script = format!("echo x >> src/a.py; {} status --json > ../status", env!("CARGO_BIN_EXE_probity"));
    repo.run(&script).passes();
    let status = std::fs::read(repo.outside().join("status")).expect("it was written");
    let status: serde_json::Value = serde_json::from_slice(&status).expect("it is JSON");
    let next = status["next_step"].as_str().expect("a next step");
    assert!(next.contains("works in this tree: leave its files alone"), "{next}");
    assert!(!next.contains("stash"), "{next}");
    assert!(next_step(&repo.ask(&["status"])).contains("stash"), "once it has ended");
}

#[test]
fn a_commit_of_the_run_is_taken_back_by_the_commands_that_revert_names() {
    let scripts = [
        "echo x >> docs/d.md; git commit -q -a -m more",
        "echo x >> docs/d.md; git commit -q -a -m more; git branch feature",
        "git checkout -q -b work; echo x >> docs/d.md; git commit -q -a -m more",
        "echo x >> docs/d.md; git commit -q -a -m more; git checkout -q -b work",
        "git checkout -q --detach; echo x >> docs/d.md; git commit -q -a -m more",
    ];
    for script in scripts {
        let repo = Repo::new();
        repo.sh("git for-each-ref > ../before; git symbolic-ref HEAD >> ../before");
        repo.run(script).is_out(&["docs/d.md"]);
        follow_ref_notes(&repo, &repo.ask(&["revert", "last"]));
        repo.sh("git for-each-ref > ../after; git symbolic-ref HEAD >> ../after; diff ../before ../after");
        repo.sh("git diff --quiet HEAD");
    }
}

#[test]
fn a_commit_without_what_was_undone_is_not_taken_back() {
    let repo = Repo::new();
    repo.run("echo x >> src/a.py; git commit -q -a -m more; echo x > stray").is_out(&["stray"]);
    let note = repo.ask(&["revert", "last"]).json["refs"][0].clone();
    assert_eq!(note["command"], json!(null), "{note:#}");
    let detail = note["detail"].as_str().expect("words");
    assert!(detail.ends_with("nothing of what is undone was committed there"), "{detail}");
}

#[test]
fn the_first_commit_of_a_repository_is_taken_back_too() {
    let repo = Repo::new();
    repo.sh("rm -rf .git; git init -q -b main");
    let all_but_docs = ["--scope", "**", "--scope", "!docs/**"];
    repo.run_with(&all_but_docs, "echo x >> docs/d.md; git add .; git commit -q -m first")
        .is_out(&["docs/d.md"]);
    follow_ref_notes(&repo, &repo.ask(&["revert", "last"]));
    repo.sh("[ -z \"$(git for-each-ref)\" ]; [ \"$(git symbolic-ref HEAD)\" = refs/heads/main ]");
}

#[test]
fn a_path_that_was_not_declared_is_not_shown_as_in_scope() {
    let repo = Repo::new();
    begin(&repo, "src/a.py");
    repo.sh("echo x >> src/a.py; echo x >> docs/d.md");
    let text = shown(&repo, &["finish", "--changed", "src/a.py", "docs/d.md"]);
    assert!(text.contains("~ src/a.py  in scope") && text.contains("undeclared docs/d.md"), "{text}");
    assert!(!text.contains("docs/d.md  in scope"), "{text}");
}

#[test]
fn who_has_waited_in_vain_is_told_how_to_go_on() {
    let repo = Repo::new();
    begin(&repo, "src/a.py");
    let waited = repo.ask(&["start", "src/a.py", "--intent", "mine", "--agent", "bo", "--wait", "0"]);
    assert_eq!(waited.json["status"], "queued", "{waited:#?}");
    let message = waited.json["message"].as_str().expect("words");
    let id = waited.json["intent_id"].as_str().expect("an id");
    let promote =
        message.split('`').find(|part| part.starts_with("probity intent promote ")).expect("a command");
    assert!(id.starts_with(promote.rsplit(' ').next().expect("an id")), "{message}");
}

#[test]
fn an_interrupted_run_cannot_be_reverted_and_says_what_to_do() {
    let repo = Repo::new();
    let mut command =
        repo.probity(&["run", "--scope", "src/a.py", "--", "sh", "-c", "echo x >> docs/d.md; kill -9 $PPID"]);
    assert!(!command.status().expect("starts").success());
    repo.wait_for_silence();
    repo.run("true").passes();
    let runs = repo.ask(&["evidence", "list"]).json["runs"].clone();
    let interrupted = runs[0]["run_id"].as_str().expect("an id").to_owned();
    let reverted = repo.ask(&["revert", &interrupted]);
    reverted.refused_with("RUN.INTERRUPTED");
    assert!(next_step(&reverted).contains("git diff"), "{}", next_step(&reverted));
}

#[test]
fn evidence_tells_new_and_deleted_branches_from_moved_ones() {
    let repo = Repo::new();
    repo.sh("git branch old");
    repo.run("git branch new; git branch -q -D old; git commit -q --allow-empty -m more").passes();
    let text = shown(&repo, &["evidence", "show", "last"]);
    for part in ["new branch new at ", "branch old deleted (was at ", "branch main moved "] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
}

#[test]
fn the_revert_that_undid_something_is_the_one_that_is_named() {
    let repo = Repo::new();
    repo.run("echo x >> docs/d.md; echo x > payload").is_out(&["docs/d.md", "payload"]);
    let first = repo.ask(&["revert", "last"]).evidence_dir();
    let second = repo.ask(&["revert", "last"]).evidence_dir();
    assert_ne!(first, second);
    let reverted_by = repo.ask(&["evidence", "show", "last"]).json["reverted_by"]["run_id"].clone();
    assert_eq!(reverted_by, json!(first.file_name().and_then(|name| name.to_str()).expect("an id")));
}

#[test]
fn a_reset_does_not_keep_the_intent_of_a_dead_process_alive() {
    let repo = Repo::new();
    // The shell is the agent: it starts a change and ends.
    let script = format!(
        "{} start src/a.py --intent x --agent-pid $$ --json > ../started",
        env!("CARGO_BIN_EXE_probity")
    );
    repo.sh(&format!("{script}; true"));
    let before = repo.ask(&["log"]).json["events"].as_array().map(Vec::len);
    let reset = repo.ask(&["intent", "reset"]);
    let entry = &reset.json["intents"][0];
    assert_eq!(
        (&entry["action"], &entry["reason"]),
        (&json!("rejected"), &json!("held_by_other")),
        "{reset:#?}"
    );
    let next = entry["next_step"].as_str().expect("words");
    assert!(next.contains("probity intent recover") && next.contains("probity intent clear"), "{next}");
    assert_eq!(repo.ask(&["log"]).json["events"].as_array().map(Vec::len), before, "nothing was renewed");
}

#[test]
fn a_budget_does_not_deny_the_gates_of_the_policy() {
    let repo = Repo::new();
    repo.write("probity.toml", "[[gate]]\nid = \"test\"\ncommand = [\"true\"]\n");
    let text = shown(&repo, &["contract", "budget"]);
    assert!(text.contains("no limit is set: `[analysis.gates]` in probity.toml sets them"), "{text}");
    assert!(!text.contains("none in the policy"), "{text}");
}

#[test]
fn the_three_ways_are_shown_however_many_paths_there_are() {
    let repo = Repo::new();
    let failed = repo.run("for d in p q r s t u v; do mkdir $d; echo 1 > $d/f.md; done");
    let ways = failed.json["next_steps"].as_array().expect("ways");
    let way = |name: &str| {
        let found =
            ways.iter().find(|way| way["way"] == name).unwrap_or_else(|| panic!("no {name}: {ways:#?}"));
        found["command"].as_str().expect("a command").to_owned()
    };
    assert!(way("suggest").contains("plan --suggest-from"));
    assert!(way("expand").contains("--add PATTERN --why"), "{}", way("expand"));
    assert!(way("revert").contains("probity revert "));
    assert!(way("split").contains("--scope PATTERN"), "{}", way("split"));
}

#[test]
fn a_failure_is_told_in_words_with_its_code() {
    let repo = Repo::new();
    let output = repo
        .probity(&["run", "--scope", "src/a.py", "--", "sh", "-c", "echo x >> docs/d.md; false"])
        .output()
        .expect("starts");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        text.contains("\nFAIL a changed path is outside the sealed scope RECON.UNTRACKED_DELTA\n"),
        "{text}"
    );
    assert!(
        text.contains("  also      the command ended with an exit code other than 0 RUN.COMMAND_FAILED\n"),
        "{text}"
    );
}

#[test]
fn a_placeholder_is_no_reason() {
    let repo = Repo::new();
    repo.run("echo x >> docs/d.md").is_out(&["docs/d.md"]);
    let bundles = || repo.ask(&["evidence", "list"]).json["runs"].as_array().map(Vec::len);
    let before = bundles();
    let intent = begin(&repo, "src/b.py");
    for why in ["", " ", "…", "...", "-"] {
        let run = repo.ask(&["amend", "last", "--add", "docs/d.md", "--why", why]);
        run.refused_with("AMEND.INCOMPLETE");
        assert!(next_step(&run).contains("in words"), "{}", next_step(&run));
        let change = ["amend", "--intent", &intent, "--add", "docs/d.md", "--why", why];
        repo.ask(&change).refused_with("AMEND.INCOMPLETE");
    }
    assert_eq!(bundles(), before, "nothing got on the record");
}
