//! Gates of the policy in `contract verify` and `finish`: run, failed, left out, and claims about them.

use super::{committed, expect, verify};
use crate::repo::{Outcome, Repo};
use serde_json::{Value, json};

const PASSES: &str = "[[gate]]\nid = \"unit\"\nkind = \"test\"\nrun = [\"true\"]\n";
const FAILS: &str =
    "[[gate]]\nid = \"unit\"\nkind = \"test\"\nrun = [\"sh\", \"-c\", \"echo no good; exit 3\"]\n";

/// Creates a repository with a policy and a harmless change.
fn changed(policy: &str) -> Repo {
    let repo = committed(&[("app.py", "print(1)\n"), ("probity.toml", policy)]);
    repo.write("app.py", "print(2)\n");
    repo
}

fn check<'a>(outcome: &'a Outcome, name: &str) -> &'a Value {
    let checks = outcome.json["checks"].as_array().expect("checks");
    &checks.iter().find(|check| check["check"] == name).expect("the check")["outcome"]
}

#[test]
fn gates_run_and_bear_out_what_is_said_about_tests() {
    let repo = changed(PASSES);
    let outcome = verify(&repo, &["--claim", "tests_pass", "--claim", "all_checks_passed"]);
    expect(&outcome, "accepted", None, 0);
    assert_eq!(
        outcome.json["gate_results"],
        json!([{ "id": "unit", "kind": "test", "result": "passed", "required": true }])
    );
    assert_eq!(outcome.json["claims"]["violations"], json!([]));
    assert_eq!(check(&outcome, "policy_gates"), "passed");
}

#[test]
fn a_required_gate_that_fails_violates_and_makes_the_claim_false() {
    let repo = changed(FAILS);
    let outcome = verify(&repo, &["--claim", "tests_pass"]);
    expect(&outcome, "violated", Some("gate_failures"), 1);
    assert_eq!(outcome.json["gate_results"][0]["detail"], "exit code 3");
    assert_eq!(outcome.json["claims"]["violations"][0]["code"], "gate_failed");
    let relaxed = verify(&repo, &["--strictness", "relaxed"]);
    expect(&relaxed, "accepted", None, 0);
    assert_eq!(relaxed.json["let_through"], json!(["gate_failures"]));
}

#[test]
fn what_is_left_out_is_named_and_only_strictness_forbids_it() {
    let repo = changed(FAILS);
    let left_out = verify(&repo, &["--skip-gates", "--claim", "tests_pass"]);
    expect(&left_out, "accepted", None, 0);
    assert_eq!(left_out.json["gate_results"][0]["result"], "skipped");
    assert_eq!(left_out.json["let_through"], json!(["gates_not_run", "unproven_claim"]));
    assert_eq!(left_out.json["claims"]["violations"][0]["code"], "gate_not_run");
    assert_eq!(check(&left_out, "policy_gates"), "skipped");
    let strict = verify(&repo, &["--skip-gates", "--strictness", "strict"]);
    expect(&strict, "violated", Some("gates_not_run"), 1);
    let checked = repo.ask(&["claims", "check", "--claim", "tests_pass"]);
    assert_eq!(checked.json["violations"][0]["code"], "gate_failed", "{:#}", checked.json);
}

#[test]
fn the_gates_are_those_of_the_commit_and_not_of_the_tree() {
    let repo = changed(FAILS);
    repo.write("probity.toml", PASSES);
    expect(&verify(&repo, &[]), "violated", Some("gate_failures"), 1);
}

#[test]
fn a_gate_that_rewrites_what_is_judged_makes_the_run_stale() {
    let writes = "[[gate]]\nid = \"format\"\nrun = [\"sh\", \"-c\", \"echo 'print(3)' > app.py\"]\n";
    let repo = changed(writes);
    let outcome = verify(&repo, &[]);
    expect(&outcome, "unverified", Some("after_run_stale"), 3);
    let note = outcome.json["notes"][0].as_str().unwrap_or_default().to_owned();
    assert!(note.contains("`app.py` changed"), "{note}");
    // Declared outputs of a gate are not judged.
    let declared =
        "[[gate]]\nid = \"log\"\nrun = [\"sh\", \"-c\", \"echo x > log.txt\"]\noutputs = [\"log.txt\"]\n";
    let outcome = verify(&changed(declared), &[]);
    expect(&outcome, "accepted", None, 0);
    assert_eq!(outcome.json["notes"], json!([]));
}

#[test]
fn finish_runs_the_gates_of_the_start() {
    let skippable = format!("{FAILS}\n[change]\nallow_skip_gates = true\n");
    for (policy, flags, status, reason) in [
        (PASSES, &[][..], "accepted", Value::Null),
        (FAILS, &[][..], "violated", json!("gate_failures")),
        (FAILS, &["--skip-gates"][..], "unverified", json!("skip_gates_not_allowed")),
        (&skippable, &["--skip-gates"][..], "accepted", Value::Null),
    ] {
        let repo = committed(&[("app.py", "print(1)\n"), ("probity.toml", policy)]);
        let start = repo.ask(&["start", "app.py", "--intent", "another number"]);
        let id = start.json["intent_id"].as_str().expect("an intent").to_owned();
        let owner = start.json["owner"].as_str().expect("an owner").to_owned();
        repo.write("app.py", "print(2)\n");
        let arguments = ["finish", &id, "--owner", &owner, "--claim", "tests_pass", "--detail-level", "full"];
        let finish = repo.ask(&[&arguments[..], flags].concat());
        assert_eq!(
            (&finish.json["status"], &finish.json["reason"]),
            (&json!(status), &reason),
            "{:#}",
            finish.json
        );
        if finish.json["reason"] == "skip_gates_not_allowed" {
            assert_eq!((finish.exit_code, &finish.json["skipped_gates"][0]), (Some(3), &json!("unit")));
            continue;
        }
        let gate = &finish.json["verification"]["gate_results"][0];
        let skipped = flags.contains(&"--skip-gates");
        assert_eq!(gate["result"] == "skipped", skipped, "{gate:#}");
        assert_eq!(finish.json["claims"]["valid"], json!(policy == PASSES), "{:#}", finish.json);
        if skipped {
            assert_eq!((finish.exit_code, &finish.json["skipped_gates"][0]), (Some(3), &json!("unit")));
            let receipt = repo.ask(&["receipt", "show"]).json["receipt"].clone();
            assert_eq!(receipt["gates"][0]["result"], "skipped");
            let points = receipt["decision_points"].as_array().expect("points");
            assert!(points.iter().any(|point| point["kind"] == "gate_not_run"), "{receipt:#}");
        }
    }
}

#[test]
fn a_gate_that_failed_once_is_not_excused_the_next_time() {
    let policy = "[[gate]]\nid = \"lint\"\nrun = [\"sh\", \"-c\", \"! grep -q broken note.txt\"]\n";
    let repo = committed(&[("app.py", "print(1)\n"), ("note.txt", "fine\n"), ("probity.toml", policy)]);
    // Documents do not contribute to an analysis id, so nothing stored about the analysis may vouch for the gate.
    repo.write("note.txt", "broken\n");
    for _ in 0..3 {
        expect(&verify(&repo, &[]), "violated", Some("gate_failures"), 1);
    }
}
