//! Every status, every reason and every row of the decision table, through the binary.
//!
//! | Intent | Intent regressions | External | Gate worsened | Caused | Scope | Status | Test |
//! |---|---|---|---|---|---|---|---|
//! | no | > 0 | – | any | – | – | violated | `seven_patches_in_…`, `a_structural_gate_counts_only_from_pass_to_fail` |
//! | no | 0 | – | no | – | – | accepted | `seven_patches_in_…` |
//! | yes | > 0 | any | any | any | any | violated | `new_findings_in_scope_violate` |
//! | yes | 0 | any | yes | yes | clean | violated | `a_gate_that_the_change_worsens_violates` |
//! | yes | 0 | any | yes | no | clean | accepted_with_external_changes | `a_gate_that_others_worsen_is_theirs` |
//! | yes | 0 | > 0 | no | – | clean | accepted_with_external_changes | `what_others_did_outside_the_scope_is_told_…` |
//! | yes | 0 | 0 | no | – | clean | accepted | `nothing_worse_is_accepted` |
//! | yes | 0 | any | any | any | violated | violated | `what_others_did_outside_the_scope_is_told_…` |
//!
//! | Reason | Test |
//! |---|---|
//! | `intent_not_active` | `who_waits_has_nothing_to_finish` |
//! | `state_artifact_mutation` | `documentation_needs_no_structural_check_and_state_may_not_be_touched` |
//! | `report_digest_mismatch` | `a_change_declared_on_another_report_is_expired` |
//! | `no_before_run`, `no_after_run`, `after_run_not_new`, `after_run_stale`, `incomparable_runs` | `runs_that_cannot_judge_…` |
//! | `after_run_required_for_governance` | `configuration_needs_a_run_too` |
//! | `structural_regressions`, `scope_violation`, `gate_failures` | the rows above |
//! | `baseline_abuse:…`, each of the four | `a_baseline_that_moves_with_code_is_abuse`, `a_baseline_that_hides_…` |
//! | `false_claim`, `gates_not_run` | `policy_decides_whether_…`, `what_is_left_out_is_named_…` |

use super::languages::LANGUAGES;
use super::{DEAD, analyzed, committed, expect, verify};
use crate::repo::Repo;
use serde_json::json;

const GATE: &str = "[analysis.gates]\ncyclomatic = 4\n";

const OTHER: &str = "def pick(kind, sizes):
    if kind == \"a\":
        return sizes.pop()
    elif kind == \"b\":
        return len(sizes) + 1
    return None


print(pick(\"b\", [3]))
";

/// Creates a Python repository with a gate that its most complex function just passes.
fn gated() -> Repo {
    let repo = committed(LANGUAGES[0].files);
    repo.write("app/other.py", OTHER);
    repo.write("probity.toml", GATE);
    repo.sh("git add -A && git commit -q -m gated");
    repo
}

/// Adds two decisions to the function that chooses.
fn complicate(repo: &Repo, file: &str) {
    let more = r#"/elif kind == "b":/i\    elif kind == "c" and kind:\n        return 7"#;
    repo.sh(&format!("sed -i '{more}' {file}"));
}

#[test]
fn new_findings_in_scope_violate() {
    let repo = gated();
    repo.sh(&format!("printf '%s' '{DEAD}' >> app/main.py"));
    let outcome = verify(&repo, &["--allow", "app/main.py"]);
    expect(&outcome, "violated", Some("structural_regressions"), 1);
    assert_eq!(outcome.json["external_regressions"], json!([]));
}

#[test]
fn a_gate_that_the_change_worsens_violates() {
    let repo = gated();
    complicate(&repo, "app/main.py");
    let outcome = verify(&repo, &["--allow", "app/main.py"]);
    expect(&outcome, "violated", Some("gate_failures"), 1);
    let json = &outcome.json;
    assert_eq!((&json["intent_regressions"], &json["gate_worsened"]), (&json!([]), &json!(true)), "{json:#}");
    assert_eq!(json["intent_caused_gate_failure"], true);
    assert_eq!(json["gate_preview"]["reasons"][0]["gate"], "cyclomatic");
}

#[test]
fn a_gate_that_others_worsen_is_theirs() {
    let repo = gated();
    complicate(&repo, "app/other.py");
    repo.sh("sed -i s/limit=1/limit=2/ app/main.py");
    let outcome = verify(&repo, &["--allow", "app/main.py", "--shared"]);
    expect(&outcome, "accepted_with_external_changes", None, 0);
    let json = &outcome.json;
    assert_eq!((&json["gate_worsened"], &json["intent_caused_gate_failure"]), (&json!(true), &json!(false)));
    assert_eq!(json["external_regressions"], json!([]), "{json:#}");
}

#[test]
fn nothing_worse_is_accepted() {
    let repo = gated();
    repo.sh("sed -i s/limit=1/limit=2/ app/main.py");
    let outcome = verify(&repo, &["--allow", "app/main.py"]);
    expect(&outcome, "accepted", None, 0);
    assert_eq!(outcome.json["structural_delta"]["verdict"], "stable");
}

#[test]
fn configuration_needs_a_run_too() {
    let repo = gated();
    repo.write("Makefile", "all:\n");
    let outcome = verify(&repo, &["--after", "ffffffff"]);
    expect(&outcome, "unverified", Some("after_run_required_for_governance"), 3);
    assert_eq!(outcome.json["verification_profile"], "governance_config");
    assert!(outcome.json["next_step"].is_string());
    expect(&verify(&repo, &[]), "accepted", None, 0);
}

#[test]
fn who_waits_has_nothing_to_finish() {
    let repo = gated();
    let start =
        |extra: &[&str]| repo.ask(&[&["start", "app/main.py", "--intent", "a change"], extra].concat()).json;
    let first = start(&[]);
    assert_eq!(first["status"], "active", "{first:#}");
    let second = start(&["--queue"]);
    assert_eq!(second["status"], "queued", "{second:#}");
    let (id, owner) = (second["intent_id"].as_str(), second["owner"].as_str());
    let finish = repo.ask(&["finish", id.expect("an intent"), "--owner", owner.expect("an owner")]);
    expect(&finish, "unverified", Some("intent_not_active"), 3);
    assert_eq!(finish.json["next_step"], "promote_then_finish");
}

#[test]
fn a_baseline_that_hides_what_the_gates_would_say_is_abuse() {
    let repo = committed(LANGUAGES[0].files);
    repo.write("probity.toml", "[analysis.gates]\nnew_findings = 0\nseverity = \"info\"\n");
    repo.sh(&format!("printf '%s' '{DEAD}' >> app/tools.py && git add -A && git commit -q -m debt"));
    let before = analyzed(&repo);
    repo.sh(&format!("printf '%s' '{DEAD}' | sed s/_forgotten/_lost/ >> app/main.py"));
    let captured = repo.ask(&["analyze", "baseline", "capture", "--why", "to be green"]);
    assert_eq!(captured.exit_code, Some(0), "{:#}", captured.json);
    let outcome = verify(&repo, &["--before", &before, "--allow", "app/main.py"]);
    expect(&outcome, "violated", Some("structural_regressions"), 1);
    let json = &outcome.json;
    assert_eq!(
        json["baseline_abuse"]["triggers"],
        json!([
            "baseline_changed_with_functional_code",
            "baseline_updated_while_regressions_present",
            "ci_greened_by_accepting_debt",
        ]),
        "{json:#}"
    );
    assert_eq!(
        (&json["before_gate"]["would_fail"], &json["gate_preview"]["would_fail"]),
        (&json!(true), &json!(false))
    );
}

#[test]
fn a_receipt_tells_drift_from_the_baseline_and_the_loss_of_the_patch_apart() {
    let repo = committed(LANGUAGES[0].files);
    repo.ask(&["analyze", "baseline", "capture", "--why", "where we begin"]);
    repo.sh("git add -A && git commit -q -m baseline && rm app/tools.py && git commit -q -a -m worse");
    repo.sh("sed -i s/limit=1/limit=2/ app/main.py");
    let outcome = verify(&repo, &["--receipt"]);
    expect(&outcome, "accepted", None, 0);
    let health = &repo.ask(&["receipt", "show"]).json["receipt"]["health"];
    assert_eq!(health["patch_health_delta"], 0, "{health:#}");
    assert!(health["delta"].as_i64().is_some_and(|delta| delta < 0), "{health:#}");
}
