//! Attempts to choose the policy of a shared change, or to do without its gates (laws 6 and 8).

use crate::repo::{Outcome, Repo};
use std::fs;

const FAILING_GATE: &str = "[[gate]]\nid = \"check\"\nrun = [\"false\"]\n";

struct StartedChange {
    repo: Repo,
    id: String,
    owner: String,
    started: Outcome,
}

/// Starts a change of `src/a.py`, and makes it.
fn begin(repo: Repo) -> StartedChange {
    let started = repo.ask(&["start", "src/a.py", "--intent", "another letter"]);
    assert_eq!(started.json["status"], "active", "{started:#?}");
    let text = |name: &str| started.json[name].as_str().expect("text").to_owned();
    let (id, owner) = (text("intent_id"), text("owner"));
    repo.write("src/a.py", "print('a2')\n");
    StartedChange { repo, id, owner, started }
}

impl StartedChange {
    fn finish(&self, options: &[&str]) -> Outcome {
        let arguments = ["finish", &self.id, "--owner", &self.owner];
        self.repo.ask(&[&arguments, options].concat())
    }

    fn says_at_start(&self, words: &str) {
        let message = self.started.json["message"].as_str().unwrap_or_default();
        assert!(message.contains(words), "{message}");
    }

    fn is_stopped_by_the_gate(&self) {
        let finished = self.finish(&[]);
        assert_eq!(
            (&finished.json["status"], &finished.json["reason"], finished.exit_code),
            (&"violated".into(), &"gate_failures".into(), Some(1)),
            "{finished:#?}"
        );
    }
}

fn with_committed_policy(policy: &str) -> Repo {
    let repo = Repo::new();
    repo.write("probity.toml", policy);
    repo.sh("git add . && git commit -q -m policy");
    repo
}

#[test]
fn a_policy_that_was_weakened_before_the_start_has_no_effect_and_is_told() {
    for weaker in ["", "[contract]\nstrictness = \"relaxed\"\n", "this is no policy"] {
        let repo = with_committed_policy(FAILING_GATE);
        repo.write("probity.toml", weaker);
        let change = begin(repo);
        change.says_at_start("probity.toml differs from the commit; the committed one judges this change");
        change.is_stopped_by_the_gate();
    }
}

#[test]
fn a_policy_that_was_removed_or_superseded_before_the_start_has_no_effect() {
    let repo = with_committed_policy(FAILING_GATE);
    repo.sh("rm probity.toml");
    repo.write("probity.json", "{}");
    begin(repo).is_stopped_by_the_gate();
    // A file of the other format that would win by its name.
    let repo = Repo::new();
    repo.write("probity.json", "{\"gates\": [{\"id\": \"check\", \"run\": [\"false\"]}]}");
    repo.sh("git add . && git commit -q -m policy");
    repo.write("probity.toml", "");
    begin(repo).is_stopped_by_the_gate();
}

#[test]
fn a_policy_that_was_weakened_after_the_start_has_no_effect() {
    let change = begin(with_committed_policy(FAILING_GATE));
    change.repo.write("probity.toml", "");
    change.is_stopped_by_the_gate();
}

#[test]
fn a_policy_that_was_staged_or_hidden_from_git_has_no_effect() {
    for script in [
        "git add probity.toml",
        "git update-index --assume-unchanged probity.toml",
        "git rm -q -f probity.toml",
    ] {
        let repo = with_committed_policy(FAILING_GATE);
        repo.write("probity.toml", "");
        repo.sh(script);
        begin(repo).is_stopped_by_the_gate();
    }
}

#[test]
fn a_policy_that_nobody_committed_counts_where_it_demands_and_not_where_it_lets_pass() {
    let repo = Repo::new();
    let lax = "[change]\nstrict = true\nallow_skip_gates = true\n[contract]\nstrictness = \"relaxed\"\n[analysis]\nexclude = [\"src/**\"]\n[workspace]\nbuild_outputs = [\"x.txt\"]\n";
    repo.write("probity.toml", lax);
    let change = begin(repo);
    change.says_at_start("probity.toml is not committed yet");
    change.repo.write("x.txt", "x\n");
    let finished = change.finish(&[]);
    let hygiene = &finished.json["workspace_hygiene_after"];
    assert_eq!(hygiene["finish_block_reason"], "own_unscoped_dirty", "{finished:#?}");
    fs::remove_file(change.repo.path().join("x.txt")).expect("removes");
    // What the policy would not have analyzed is judged.
    change.repo.write("src/a.py", "def f(:\n    print('a'\n");
    let worse = change.finish(&[]);
    assert_eq!(worse.json["status"], "violated", "{worse:#?}");
}

#[test]
fn newcomers_may_start_with_a_policy_that_is_not_committed() {
    let repo = Repo::new();
    repo.write("probity.toml", FAILING_GATE);
    let change = begin(repo);
    change.says_at_start("is not committed yet");
    change.is_stopped_by_the_gate();
    let repo = Repo::new();
    assert_eq!(repo.ask(&["init"]).exit_code, Some(0));
    let change = begin(repo);
    assert_eq!(change.finish(&["--changed", "src/a.py"]).exit_code, Some(0));
}

#[test]
fn a_lost_start_record_does_not_bring_the_policy_of_the_tree_into_force() {
    let change = begin(with_committed_policy(FAILING_GATE));
    change.repo.write("probity.toml", "");
    change.repo.sh("rm -rf .git/probity/objects");
    let finished = change.finish(&[]);
    assert_eq!(
        (&finished.json["status"], &finished.json["reason"], finished.exit_code),
        (&"unverified".into(), &"start_record_missing".into(), Some(3)),
        "{finished:#?}"
    );
    assert_eq!(finished.json["intent_cleared"], false);
}

#[test]
fn gates_are_not_skipped_because_the_judged_says_so() {
    let change = begin(with_committed_policy(FAILING_GATE));
    change.repo.write("probity.toml", &format!("{FAILING_GATE}[change]\nallow_skip_gates = true\n"));
    let finished = change.finish(&["--skip-gates"]);
    assert_eq!(
        (&finished.json["status"], &finished.json["reason"], finished.exit_code),
        (&"unverified".into(), &"skip_gates_not_allowed".into(), Some(3)),
        "{finished:#?}"
    );
    assert_eq!(finished.json["intent_cleared"], false);
}

#[test]
fn gates_that_were_skipped_by_permission_show_in_every_answer() {
    let policy = format!("{FAILING_GATE}[change]\nallow_skip_gates = true\n");
    let change = begin(with_committed_policy(&policy));
    let finished = change.finish(&["--skip-gates"]);
    assert_eq!(
        (&finished.json["status"], &finished.json["skipped_gates"], finished.exit_code),
        (&"accepted".into(), &serde_json::json!(["check"]), Some(3)),
        "{finished:#?}"
    );
    assert!(finished.json["message"].to_string().contains("gate `check` did not run"), "{finished:#?}");
    // The same, repeated, and for people.
    let again = change.finish(&["--skip-gates"]);
    assert_eq!((again.exit_code, &again.json["skipped_gates"][0]), (Some(3), &"check".into()), "{again:#?}");
    let mut command = change.repo.probity(&["finish", &change.id, "--owner", &change.owner, "--skip-gates"]);
    let words = command.output().expect("starts");
    let words = [words.stdout, words.stderr].concat();
    let words = String::from_utf8_lossy(&words);
    assert!(
        words.contains("accepted without its gates") && words.contains("gate check did not run"),
        "{words}"
    );
}
