//! The patch contract as a user meets it: real repositories, several languages, every status.

mod gates;
mod languages;
mod receipts;
mod rows;

use crate::agents::Agent;
use crate::repo::{Outcome, Repo};
use languages::{LANGUAGES, Language};
use serde_json::{Value, json};

/// Returns a shell function long enough to be detected when copied.
fn shell_function(name: &str) -> String {
    let step = |step: usize| {
        format!(
            "  if [ \"$1\" = \"{step}\" ]; then\n    count=$((count + {step}))\n    echo \"$count\"\n  fi\n"
        )
    };
    let body = (0..8).map(step).collect::<Vec<_>>().concat();
    format!("{name}() {{\n  local count=0\n{body}}}\n")
}

/// Creates a repository with only these files, all committed.
fn committed(files: &[(&str, &str)]) -> Repo {
    let repo = Repo::new();
    repo.sh("git rm -q -r src docs .gitignore");
    for (name, text) in files {
        repo.write(name, text);
    }
    repo.sh("git add -A && git commit -q -m files");
    repo
}

fn verify(repo: &Repo, arguments: &[&str]) -> Outcome {
    repo.ask(&[&["contract", "verify"], arguments].concat())
}

fn expect(outcome: &Outcome, status: &str, reason: Option<&str>, exit_code: i32) {
    assert_eq!(outcome.json["status"], status, "{:#}", outcome.json);
    assert_eq!(outcome.json["reason"], json!(reason), "{:#}", outcome.json);
    assert_eq!(outcome.exit_code, Some(exit_code), "{:#}", outcome.json);
}

fn rules(outcome: &Outcome) -> Vec<String> {
    let findings = outcome.json["new_findings"].as_array().into_iter().flatten();
    findings.filter_map(|finding| finding["rule"].as_str().map(str::to_owned)).collect()
}

/// Makes one patch and verifies it, without a declared scope and with its file declared.
fn judged(language: &Language, touched: &str, edit: impl Fn(&Repo, &str)) -> [Outcome; 2] {
    let repo = committed(language.files);
    let (_, main) = language.files.iter().find(|(name, _)| *name == language.main).expect("a main file");
    edit(&repo, main);
    [verify(&repo, &[]), verify(&repo, &["--allow", touched])]
}

fn accepts(outcomes: &[Outcome; 2]) {
    for outcome in outcomes {
        expect(outcome, "accepted", None, 0);
    }
}

fn refuses(outcomes: &[Outcome; 2], rule: &str) {
    for outcome in outcomes {
        expect(outcome, "violated", Some("structural_regressions"), 1);
        assert!(rules(outcome).iter().any(|found| found == rule), "no {rule}: {:#}", outcome.json);
    }
}

#[test]
fn a_shell_script_is_judged_alike_by_finish_and_by_verify() {
    let script = format!("{}build \"$@\"\n", shell_function("build"));
    let repo = committed(&[("tools/build.sh", &script)]);
    let agent = Agent::new(&repo, "a");
    let intent = agent.begin("tools/build.sh", &[]);
    repo.write("tools/build.sh", &format!("{script}{}again \"$@\"\n", shell_function("again")));
    let verified = verify(&repo, &["--allow", "tools/build.sh"]);
    expect(&verified, "violated", Some("structural_regressions"), 1);
    let not_applicable = verified.json["checks_not_applicable"].as_array().expect("a list");
    assert!(!not_applicable.contains(&json!("structural_delta")), "{:#}", verified.json);
    let finished = agent.finish(&intent, &["--changed", "tools/build.sh"]);
    assert_eq!(finished.json["status"], "violated", "{:#}", finished.json);
}

/// Checks the verdicts on seven typical patches.
fn seven_patches(language: &Language) {
    let replaced = |(old, new): (&'static str, &'static str)| {
        judged(language, language.main, move |repo, main| {
            assert!(main.contains(old), "{old}");
            repo.write(language.main, &main.replacen(old, new, 1));
        })
    };
    refuses(&replaced(language.syntax_error), "parse_error");
    accepts(&replaced(language.equal_shapes));
    accepts(&replaced(language.constant));
    refuses(&replaced(language.dead_helper), "dead_code");
    let renamed = judged(language, language.main, |repo, main| {
        repo.write(language.main, &main.replace("choose", "pick"));
    });
    accepts(&renamed);
    let copied = judged(language, language.main, |repo, main| {
        let (from, to) = language.report;
        let (start, end) = (main.find(from).expect("a function"), main.find(to).expect("the next"));
        let copy = main[start..end].replace("report", "summary");
        repo.write(language.main, &format!("{}{copy}{}", &main[..end], &main[end..]));
    });
    refuses(&copied, "clone");
    let deleted = judged(language, language.tools, |repo, _| {
        repo.sh(&format!("rm {}", language.tools));
    });
    refuses(&deleted, "dangling_import");
}

#[test]
fn seven_patches_in_python_get_the_verdict_that_they_deserve() {
    seven_patches(&LANGUAGES[0]);
}

#[test]
fn seven_patches_in_typescript_get_the_verdict_that_they_deserve() {
    seven_patches(&LANGUAGES[1]);
}

#[test]
fn seven_patches_in_rust_get_the_verdict_that_they_deserve() {
    seven_patches(&LANGUAGES[2]);
}

#[test]
fn seven_patches_in_go_get_the_verdict_that_they_deserve() {
    seven_patches(&LANGUAGES[3]);
}

#[test]
fn seven_patches_in_java_get_the_verdict_that_they_deserve() {
    seven_patches(&LANGUAGES[4]);
}

#[test]
fn seven_patches_in_csharp_get_the_verdict_that_they_deserve() {
    seven_patches(&LANGUAGES[5]);
}

const DEAD: &str = "\n\ndef _forgotten(rows):\n    return [row for row in rows if row]\n";

/// Creates a Python repository with an unused function added to a file.
fn with_dead_code(file: &str) -> Repo {
    let repo = committed(LANGUAGES[0].files);
    let text = std::fs::read_to_string(repo.path().join(file)).expect("reads");
    repo.write(file, &format!("{text}{DEAD}"));
    repo
}

#[test]
fn what_others_did_outside_the_scope_is_told_and_does_not_violate() {
    let repo = with_dead_code("app/tools.py");
    repo.sh("sed -i s/limit=1/limit=2/ app/main.py");
    let alone = verify(&repo, &["--allow", "app/main.py"]);
    expect(&alone, "violated", Some("scope_violation"), 1);
    assert_eq!(alone.json["scope_check"]["unexpected_files"], json!(["app/tools.py"]));
    let shared = verify(&repo, &["--allow", "app/main.py", "--shared"]);
    expect(&shared, "accepted_with_external_changes", None, 0);
    assert_eq!(shared.json["external_regressions"].as_array().map(Vec::len), Some(1));
    assert_eq!(shared.json["new_findings"][0]["in_scope"], false);
    let both = ["--allow", "app/main.py", "--related", "app/tools.py", "--shared"];
    expect(&verify(&repo, &both), "violated", Some("structural_regressions"), 1);
    let forbidden = ["--allow", "app/main.py", "--forbid", "app/t*", "--shared"];
    expect(&verify(&repo, &forbidden), "violated", Some("scope_violation"), 1);
}

/// Analyzes the current tree and returns the id of the analysis.
fn analyzed(repo: &Repo) -> String {
    repo.ask(&["contract", "budget"]).json["run_id"].as_str().expect("a run").to_owned()
}

#[test]
fn runs_that_cannot_judge_the_tree_leave_it_unverified() {
    let repo = committed(LANGUAGES[0].files);
    let before = analyzed(&repo);
    repo.sh("sed -i s/limit=1/limit=2/ app/main.py");
    let halfway = analyzed(&repo);
    expect(&verify(&repo, &["--after", &before]), "unverified", Some("after_run_not_new"), 3);
    expect(&verify(&repo, &["--before", "ffffffff"]), "unverified", Some("no_before_run"), 3);
    expect(&verify(&repo, &["--after", "ffffffff"]), "unverified", Some("no_after_run"), 3);
    repo.sh("sed -i s/limit=2/limit=3/ app/main.py");
    expect(&verify(&repo, &["--after", &halfway]), "unverified", Some("after_run_stale"), 3);
    repo.write("probity.toml", "[analysis]\ncyclomatic = 5\n");
    repo.sh("git add -A && git commit -q -m policy && sed -i s/limit=3/limit=4/ app/main.py");
    expect(&verify(&repo, &["--before", &before]), "unverified", Some("incomparable_runs"), 3);
}

#[test]
fn a_patch_of_permission_bits_is_accepted() {
    let repo = committed(LANGUAGES[0].files);
    repo.sh("chmod +x app/main.py");
    expect(&verify(&repo, &[]), "accepted", None, 0);
    repo.sh("git commit -q -a -m executable");
    expect(&verify(&repo, &["--base", "HEAD^"]), "accepted", None, 0);
}

#[test]
fn a_change_declared_on_another_report_is_expired() {
    let repo = committed(LANGUAGES[0].files);
    repo.sh("sed -i s/limit=1/limit=2/ app/main.py");
    let digest = format!("sha256:{}", "0".repeat(64));
    let outcome = verify(&repo, &["--allow", "app/main.py", "--report-digest", &digest]);
    expect(&outcome, "expired", Some("report_digest_mismatch"), 4);
}

#[test]
fn documentation_needs_no_structural_check_and_state_may_not_be_touched() {
    let repo = committed(LANGUAGES[0].files);
    repo.write("docs/guide.md", "# Guide\n");
    let outcome = verify(&repo, &[]);
    expect(&outcome, "accepted", None, 0);
    assert_eq!(outcome.json["verification_profile"], "documentation_only");
    repo.write("probity.baseline.json", "{}\n");
    expect(&verify(&repo, &[]), "violated", Some("state_artifact_mutation"), 1);
}

#[test]
fn a_baseline_that_moves_with_code_is_abuse() {
    let repo = committed(LANGUAGES[0].files);
    let before = analyzed(&repo);
    repo.sh("sed -i s/limit=1/limit=2/ app/main.py");
    repo.write("probity.baseline.json", "{}\n");
    let outcome = verify(&repo, &["--before", &before]);
    expect(&outcome, "violated", Some("baseline_abuse:baseline_changed_with_functional_code"), 1);
    let triggers = &outcome.json["baseline_abuse"]["triggers"];
    assert_eq!(
        *triggers,
        json!(["baseline_changed_with_functional_code", "baseline_updated_without_intent"])
    );
}

#[test]
fn the_policy_of_the_commit_judges_and_not_that_of_the_tree() {
    let repo = with_dead_code("app/main.py");
    repo.write("probity.toml", "[contract]\nstrictness = \"relaxed\"\n");
    let outcome = verify(&repo, &[]);
    expect(&outcome, "violated", Some("structural_regressions"), 1);
    assert!(outcome.json["notes"][0].as_str().is_some_and(|note| note.contains("default policy")));
    repo.sh("git add probity.toml && git commit -q -m policy");
    let outcome = verify(&repo, &[]);
    expect(&outcome, "accepted", None, 0);
    assert_eq!(outcome.json["let_through"], json!(["structural_regressions"]));
}

#[test]
fn policy_decides_whether_a_false_claim_changes_the_outcome() {
    let repo = committed(LANGUAGES[0].files);
    repo.sh("sed -i s/limit=1/limit=2/ app/main.py");
    let said = ["--claim", "docs_only"];
    let outcome = verify(&repo, &said);
    expect(&outcome, "accepted", None, 0);
    assert_eq!(outcome.json["claims"]["violations"][0]["code"], "non_documentation_touched");
    repo.write("probity.toml", "[contract]\nfalse_claims = \"violate\"\n");
    repo.sh("git add probity.toml && git commit -q -m policy");
    expect(&verify(&repo, &said), "violated", Some("false_claim"), 1);
    expect(
        &verify(&repo, &["--claim", r#"{"claim": "only_touched", "paths": ["app/main.py"]}"#]),
        "accepted",
        None,
        0,
    );
}

#[test]
fn a_structural_gate_counts_only_from_pass_to_fail() {
    let repo = committed(LANGUAGES[0].files);
    repo.write("probity.toml", "[analysis.gates]\nnew_findings = 0\nseverity = \"critical\"\n");
    repo.sh("git add -A && git commit -q -m policy && rm app/tools.py");
    let worse = verify(&repo, &[]);
    expect(&worse, "violated", Some("structural_regressions"), 1);
    assert_eq!(worse.json["contract_violations"], json!(["structural_regressions", "gate_failures"]));
    repo.sh("git commit -q -a -m broken && sed -i s/limit=1/limit=2/ app/main.py");
    let still = verify(&repo, &[]);
    expect(&still, "accepted", None, 0);
    assert_eq!(
        (&still.json["before_gate"]["would_fail"], &still.json["gate_worsened"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(still.json["before_gate"]["reasons"][0]["gate"], "new_findings");
}

#[test]
fn claims_in_a_text_are_held_against_the_tree() {
    let repo = committed(LANGUAGES[0].files);
    repo.sh("rm app/tools.py");
    repo.write(
        "review.md",
        "No API changes, and no regressions. I only touched app/tools.py. Lovely weather.\n",
    );
    repo.sh("mv review.md ..");
    let checked = repo.ask(&["claims", "check", "--text", "../review.md"]);
    assert_eq!(checked.exit_code, Some(1), "{:#}", checked.json);
    let codes: Vec<&Value> =
        checked.json["violations"].as_array().into_iter().flatten().map(|it| &it["code"]).collect();
    assert_eq!(codes, ["api_broken", "health_regressed", "regressions_present"]);
    assert_eq!(checked.json["unchecked_sentences"], 1);
    assert_eq!(checked.json["unchecked"], json!(["Lovely weather."]));
}

#[test]
fn a_claim_that_nothing_proves_is_unverified_and_a_false_one_names_the_path() {
    let repo = committed(LANGUAGES[0].files);
    repo.sh("sed -i s/limit=1/limit=2/ app/main.py && echo x > notes.txt");
    let said = |text: &str| {
        std::fs::write(repo.outside().join("said.md"), text).expect("writes");
        let answer = repo.ask(&["claims", "check", "--text", "../said.md"]);
        crate::schemas::check(&answer.json);
        let output = repo.probity(&["claims", "check", "--text", "../said.md"]).output().expect("starts");
        (answer, String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (answer, shown) = said("All tests pass.\n");
    assert_eq!((answer.exit_code, &answer.json["verdict"]), (Some(3), &json!("unverified")));
    assert_eq!(answer.json["checked"][0]["sentence"], "All tests pass.");
    assert!(shown.contains("unverified  \"All tests pass.\"\n"), "{shown}");
    assert!(shown.contains("the policy has no gate that runs tests, so nothing was run"), "{shown}");
    let (answer, shown) =
        said("I only touched app/. All tests pass.\n\n- one.\n- two.\n- 3.\n- 4.\n- 5.\n- 6.\n");
    assert_eq!((answer.exit_code, &answer.json["verdict"]), (Some(1), &json!("false")));
    assert!(shown.contains("false       \"I only touched app/.\"  notes.txt was changed too\n"), "{shown}");
    assert!(shown.contains("not checked: 6 sentences\n  one.\n"), "{shown}");
    assert!(shown.contains("and 1 more (--json lists them)"), "{shown}");
    assert_eq!(said("I only touched app/ and notes.txt.\n").0.exit_code, Some(0));
}

#[test]
fn a_receipt_shows_findings_by_place_and_words_and_the_health_before_and_after() {
    let repo = with_dead_code("app/main.py");
    verify(&repo, &["--receipt"]);
    crate::schemas::check(&repo.ask(&["receipt", "show"]).json["receipt"]);
    let output = repo.probity(&["receipt", "show"]).output().expect("starts");
    let page = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(page.contains("**New findings in scope**\n\n- "), "{page}");
    assert!(page.contains(" `app/main.py:") && !page.contains("dead_code:"), "{page}");
    assert!(page.contains("| Health | ") && !page.contains("this patch"), "{page}");
}

#[test]
fn a_pull_request_is_judged_against_the_branch_it_goes_to() {
    let repo = committed(LANGUAGES[0].files);
    repo.sh("git checkout -q -b feature && rm app/tools.py && git commit -q -a -m wip");
    expect(&verify(&repo, &[]), "accepted", None, 0);
    let files = ["--sarif", "../p.sarif", "--junit", "../p.xml", "--gitlab", "../p.json"];
    let outcome = verify(&repo, &[&["--base", "main"], &files[..]].concat());
    expect(&outcome, "violated", Some("structural_regressions"), 1);
    assert_eq!(outcome.json["changed_files"], json!(["app/tools.py"]));
    let read = |name: &str| std::fs::read_to_string(repo.outside().join(name)).expect("was written");
    let sarif: Value = serde_json::from_str(&read("p.sarif")).expect("SARIF");
    let states: Vec<&Value> =
        sarif["runs"][0]["results"].as_array().into_iter().flatten().map(|it| &it["baselineState"]).collect();
    assert!(states.contains(&&json!("new")), "{states:?}");
    assert!(read("p.xml").contains("<failure message=\"app/main.py:1"));
    let quality: Value = serde_json::from_str(&read("p.json")).expect("JSON");
    assert_eq!(quality[0]["check_name"], "dangling_import");
    let mut github = repo.probity(&["contract", "verify", "--base", "main", "--github"]);
    let output =
        github.env("GITHUB_STEP_SUMMARY", repo.outside().join("summary.md")).output().expect("starts");
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        lines.contains("::error file=app/main.py,line=1,endLine=1,title=Probity dangling_import::"),
        "{lines}"
    );
    assert!(read("summary.md").starts_with("## ❌ Probity: violated"));
    repo.sh("git show main:app/tools.py > app/tools.py");
    expect(&verify(&repo, &["--base", "main"]), "accepted", None, 0);
    assert_eq!(verify(&repo, &["--base", "no-such-branch"]).exit_code, Some(2));
}

#[test]
fn a_receipt_is_signed_chained_and_checked_offline() {
    let repo = committed(LANGUAGES[0].files);
    repo.ask(&["keys", "generate"]);
    let key = repo.ask(&["keys", "show"]).json;
    repo.sh("sed -i s/limit=1/limit=2/ app/main.py");
    let first = verify(&repo, &["--receipt", "--allow", "app/main.py"]);
    let second = verify(&repo, &["--receipt", "--claim", "no_regressions"]);
    let listed = repo.ask(&["receipt", "list"]).json;
    assert_eq!(listed["receipts"][1]["previous"], first.json["receipt"]["digest"]);
    assert_eq!(listed["broken_links"], json!([]));
    let shown = repo.ask(&["receipt", "show", "1", "--attestation"]).json;
    assert_eq!(shown["receipt"]["intent"]["scope"]["allowed_files"], json!(["app/main.py"]));
    assert_eq!(shown["receipt"]["delta"][0]["path"], "app/main.py");
    assert!(
        shown["receipt"]["delta"][0]["before"].is_string()
            && shown["receipt"]["delta"][0]["after"].is_string()
    );
    assert!(shown["attestation"]["signatures"].is_array());
    let verified = repo.ask(&["receipt", "verify", "2", "--tree", "."]);
    assert_eq!(verified.json["outcome"], "PASS", "{:#}", verified.json);
    let skipped = |it: &Value| it["status"] == "skipped";
    assert!(!verified.json["checks"].as_array().expect("checks").iter().any(skipped), "{:#}", verified.json);
    // Verified elsewhere, with only the envelope and the key.
    let envelope = second.json["receipt"]["path"].as_str().expect("a path").replace(".json", ".dsse.json");
    std::fs::copy(repo.path().join(envelope), repo.outside().join("receipt.dsse.json")).expect("copies");
    let trust = json!({
        "schema": "probity/trust/v1", "signature": "required",
        "keys": { (key["key_id"].as_str().expect("an id")): key["public_key"] },
    });
    std::fs::write(repo.outside().join("trust.json"), trust.to_string()).expect("writes");
    let check = || repo.ask(&["receipt", "verify", "../receipt.dsse.json", "--trust", "../trust.json"]);
    assert_eq!(check().json["outcome"], "PASS", "{:#}", check().json);
    repo.sh("sed -i 's/\"payload\":\"ey/\"payload\":\"fy/' ../receipt.dsse.json");
    assert_eq!(check().json["outcome"], "FAIL");
    // The tree changes, and a receipt is removed.
    repo.sh("sed -i s/limit=2/limit=3/ app/main.py");
    let moved = repo.ask(&["receipt", "verify", "2", "--tree", "."]);
    assert_eq!(moved.json["codes"], json!(["EVIDENCE.TREE_MISMATCH"]));
    repo.sh("rm .git/probity/receipts/00000001.json");
    assert_eq!(repo.ask(&["receipt", "list"]).exit_code, Some(1));
}
