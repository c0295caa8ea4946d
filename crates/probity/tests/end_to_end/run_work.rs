//! What runs left in the tree: `status` names the run, and proposes only what is then carried out.

use crate::repo::{Outcome, Repo};
use serde_json::{Value, json};

fn status_words(repo: &Repo) -> String {
    let output = repo.probity(&["status"]).output().expect("probity starts");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn next_step(outcome: &Outcome) -> &str {
    outcome.json["next_step"].as_str().expect("a next step")
}

/// Returns the command in backquotes that begins with `start`.
fn proposed<'a>(step: &'a str, start: &str) -> Option<&'a str> {
    step.split('`').find(|part| part.starts_with(start))
}

fn run_id(run: &Outcome) -> String {
    run.json["run_id"].as_str().expect("an id").to_owned()
}

#[test]
fn what_a_run_left_is_told_with_its_run_and_the_command_that_commits_it() {
    let repo = Repo::new();
    let run = repo.run("echo x >> src/a.py");
    run.passes();
    let id = run_id(&run);
    let status = repo.ask(&["status"]);
    let dirty = &status.json["dirty"];
    assert_eq!(dirty["runs"][0]["run_id"], Value::from(id.clone()), "{status:#?}");
    assert_eq!(
        (&dirty["runs"][0]["paths"], &dirty["runs"][0]["accepted"]),
        (&json!(["src/a.py"]), &json!(true))
    );
    assert_eq!((&dirty["count"], &dirty["unclaimed"]["count"]), (&json!(1), &json!(0)));
    let words = status_words(&repo);
    assert!(words.contains(&format!("src/a.py  from run {}, not committed yet", &id[..13])), "{words}");
    assert!(!words.contains("in no intent"), "{words}");
    repo.sh(proposed(next_step(&status), "git add").unwrap_or_else(|| panic!("no command: {status:#?}")));
    assert_eq!(repo.ask(&["status"]).json["dirty"]["count"], 0);
}

#[test]
fn what_somebody_edited_after_the_run_is_not_its_work() {
    let repo = Repo::new();
    repo.run("echo x >> src/a.py").passes();
    repo.sh("echo y >> src/a.py");
    let dirty = repo.ask(&["status"]).json["dirty"].clone();
    assert_eq!(
        (&dirty["runs"], &dirty["unclaimed"]["paths"]),
        (&json!([]), &json!(["src/a.py"])),
        "{dirty:#}"
    );
}

#[test]
fn what_a_failed_run_left_is_not_proposed_for_a_commit() {
    let repo = Repo::new();
    repo.run("echo x >> docs/d.md").is_out(&["docs/d.md"]);
    let status = repo.ask(&["status"]);
    assert_eq!(status.json["dirty"]["runs"][0]["accepted"], false, "{status:#?}");
    assert_eq!(proposed(next_step(&status), "git"), None, "{status:#?}");
    assert!(status_words(&repo).contains("which failed"), "{}", status_words(&repo));
    let revert = proposed(next_step(&status), "probity revert").expect("a command");
    let words: Vec<&str> = revert.split(' ').skip(1).collect();
    assert_eq!(repo.ask(&words).exit_code, Some(0));
    assert_eq!(repo.ask(&["status"]).json["dirty"]["count"], 0);
}

#[test]
fn a_part_that_landed_is_not_proposed_again() {
    let repo = Repo::new();
    let scope = ["--enforce", "overlay", "--scope", "src/**"];
    let run = repo.run_with(&scope, "echo x >> src/a.py; echo y >> docs/d.md");
    if run.json["reason"] == "ENFORCE.UNAVAILABLE" {
        return probity_testkit::skip!("there are no views here");
    }
    let status = repo.ask(&["status"]);
    let land = proposed(next_step(&status), "probity land").expect("a command").to_owned();
    let land: Vec<&str> = land.split(' ').skip(1).collect();
    assert_eq!(repo.ask(&land).json["state"], "landed");
    let status = repo.ask(&["status"]);
    assert_eq!(proposed(next_step(&status), "probity land"), None, "{status:#?}");
    assert!(proposed(next_step(&status), "probity amend").is_some(), "{status:#?}");
    // The run failed, but a person landed this part of it.
    assert_eq!(status.json["dirty"]["runs"][0]["accepted"], true, "{status:#?}");
    repo.ask(&["discard", "last"]);
    repo.sh(proposed(next_step(&repo.ask(&["status"])), "git add").expect("a command"));
    repo.sh("test -z \"$(git status --porcelain)\"");
}
