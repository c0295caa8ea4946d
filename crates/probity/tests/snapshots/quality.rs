//! Review and CI: analyses, contracts, claims and receipts.

use crate::harness::{Form, Scene, branches, story};

const AREA: &str = "quality";

/// Writes Python with findings: copies, a cycle, dead code, and a function with many branches.
fn write_code(scene: &Scene) {
    let body = branches(12);
    scene.repo.write("src/one.py", &format!("import src.two\n\n\ndef one(a, b):\n{body}    return b\n"));
    scene.repo.write("src/two.py", &format!("import src.one\n\n\ndef two(a, b):\n{body}    return b\n"));
    scene.repo.write("src/broken.py", "def broken(:\n");
    scene.repo.sh("git add . && git commit -q -m code");
}

#[test]
fn analyze_tells_what_the_code_looks_like() {
    story(AREA, "analyze", |scene| {
        scene.case("small", &["analyze"]);
        write_code(scene);
        scene.case("findings", &["analyze"]);
        scene.case("limit", &["analyze", "--limit", "1", "--threads", "1", "--cold"]);
        scene.case("check", &["analyze", "--check"]);
        scene.case("unchanged", &["analyze", "--changed", "HEAD"]);
        scene.case("changed", &["analyze", "--changed", "HEAD~1"]);
        scene.case("unknown_revision", &["analyze", "--changed", "none"]);
        scene.case("reports", &["analyze", "--html", "r.html", "--sarif", "r.sarif", "--markdown", "r.md"]);
        scene.case("unwritable_report", &["analyze", "--html", "nowhere/r.html"]);
        scene.case("missing_coverage", &["analyze", "--coverage", "none.info"]);
        scene.repo.write("c.info", "SF:src/one.py\nDA:5,1\nDA:6,0\nend_of_record\n");
        scene.case("coverage", &["analyze", "--coverage", "c.info"]);
        scene.repo.write("in.sarif", "{}");
        scene.case("bad_sarif", &["analyze", "--sarif-in", "in.sarif"]);
        scene.repo.write("probity.toml", "[analysis.gates]\ncyclomatic = 3\n");
        scene.case("gate_fails", &["analyze", "--check"]);
        scene.case("blast", &["analyze", "blast", "src/one.py"]);
        scene.case("blast_unknown", &["analyze", "blast", "src/none.py"]);
        scene.case("blast_partly_unknown", &["analyze", "blast", "src/one.py", "src/none.py"]);
    });
}

#[test]
fn the_summary_in_markdown_is_for_people() {
    story(AREA, "analyze_markdown", |scene| {
        write_code(scene);
        scene.ask(&["analyze", "--changed", "HEAD~1", "--markdown", "r.md"]);
        let text = std::fs::read_to_string(scene.repo.path().join("r.md")).expect("was written");
        if scene.form == Form::Human {
            scene.assert("analyze_markdown_text", &text);
        }
    });
}

#[test]
fn ci_judges_what_is_checked_out() {
    story(AREA, "ci", |scene| {
        scene.case("no_target", &["ci"]);
        scene.repo.sh("git switch -q -c change");
        scene.case("nothing_changed", &["ci", "--base", "main"]);
        write_code(scene);
        scene.case("violated", &["ci", "--base", "main"]);
        scene.case("unknown_base", &["ci", "--base", "none"]);
    });
}

#[test]
fn a_baseline_is_captured_and_shown() {
    story(AREA, "baseline", |scene| {
        write_code(scene);
        scene.case("show_none", &["analyze", "baseline", "show"]);
        scene.case("capture_without_reason", &["analyze", "baseline", "capture"]);
        scene.case("capture", &["analyze", "baseline", "capture", "--why", "a start", "--by", "ann"]);
        scene.case("show", &["analyze", "baseline", "show"]);
        scene.repo.write("probity.baseline.json", "{}");
        scene.case("show_damaged", &["analyze", "baseline", "show"]);
    });
}

#[test]
fn runs_are_listed_shown_and_compared() {
    story(AREA, "runs", |scene| {
        scene.case("list_empty", &["runs", "list"]);
        scene.case("show_nothing", &["runs", "show"]);
        let first = scene.ask(&["analyze"])["run_id"].as_str().expect("an id").to_owned();
        write_code(scene);
        scene.ask(&["analyze"]);
        scene.case("list", &["runs", "list"]);
        scene.case("show", &["runs", "show", "--limit", "1"]);
        scene.case("show_unknown", &["runs", "show", "none"]);
        scene.case("compare", &["runs", "compare", &first]);
        scene.case("compare_same", &["runs", "compare", "last", "last"]);
        scene.case("compare_unknown", &["runs", "compare", "none"]);
        scene.case("gc", &["runs", "gc", "--keep", "1"]);
        scene.case("gc_nothing", &["runs", "gc"]);
    });
}

#[test]
fn a_contract_is_verified() {
    story(AREA, "contract", |scene| {
        scene.case("budget", &["contract", "budget"]);
        scene.case("budget_of_a_run", &["contract", "budget", "--run", "last"]);
        scene.case("budget_unknown_run", &["contract", "budget", "--run", "none"]);
        scene.case("nothing_changed", &["contract", "verify"]);
        scene.repo.write("src/a.py", "print('a2')\n");
        scene.case("accepted", &["contract", "verify", "--allow", "src/a.py"]);
        scene.case("out_of_scope", &["contract", "verify", "--allow", "src/b.py"]);
        scene.case("forbidden", &["contract", "verify", "--allow", "src/a.py", "--forbid", "*.py"]);
        scene.case("shared", &["contract", "verify", "--allow", "src/b.py", "--shared"]);
        scene.case("unknown_base", &["contract", "verify", "--base", "none"]);
        scene.case("unknown_after", &["contract", "verify", "--after", "ffffffff"]);
        let expired = format!("sha256:{}", "0".repeat(64));
        scene.case("expired", &["contract", "verify", "--before", "last", "--report-digest", &expired]);
        scene.case("claims", &["contract", "verify", "--claim", "docs_only", "--claim", "no_regressions"]);
        scene.case("receipt", &["contract", "verify", "--receipt"]);
        write_code_uncommitted(scene);
        scene.case("worse", &["contract", "verify"]);
        scene.case("relaxed", &["contract", "verify", "--strictness", "relaxed"]);
        scene.case("floor", &["contract", "verify", "--severity-floor", "critical"]);
        scene.case("bad_floor", &["contract", "verify", "--severity-floor", "error"]);
        scene.case("markdown", &["contract", "verify", "--markdown"]);
        scene.case("github", &["contract", "verify", "--github"]);
        scene.case(
            "reports",
            &["contract", "verify", "--sarif", "r.sarif", "--junit", "r.xml", "--gitlab", "r.json"],
        );
        scene.case("bad_strictness", &["contract", "verify", "--strictness", "none"]);
    });
}

fn write_code_uncommitted(scene: &Scene) {
    let body = branches(30);
    scene.repo.write("src/a.py", &format!("def one(a, b):\n{body}    return b\n\n\nprint(one(1, 2))\n"));
}

#[test]
fn a_contract_runs_the_gates_of_the_committed_policy() {
    story(AREA, "contract_gates", |scene| {
        let gate = "[[gate]]\nid = \"check\"\ntier = \"T0\"\nrun = [\"false\"]\n";
        scene.repo.write("probity.toml", gate);
        scene.repo.sh("git add . && git commit -q -m policy");
        scene.repo.write("src/a.py", "print('a2')\n");
        scene.case("fail", &["contract", "verify"]);
        scene.case("skipped", &["contract", "verify", "--skip-gates"]);
        scene.case("unknown_profile", &["contract", "verify", "--profile", "none"]);
        scene.case("bad_tier", &["contract", "verify", "--tier", "high"]);
    });
}

#[test]
fn a_policy_in_json_says_the_same_as_one_in_toml() {
    story(AREA, "policy_json", |scene| {
        scene.repo.write("probity.json", r#"{"gates": [{"id": "all", "run": ["true"], "kind": "test"}]}"#);
        scene.repo.sh("git add . && git commit -q -m policy");
        scene.repo.write("src/a.py", "print('a2')\n");
        scene.case("tests_pass", &["claims", "check", "--claim", "tests_pass"]);
        scene.case("no_profiles", &["plan", "--scope", "src/a.py"]);
        scene.repo.write("probity.json", r#"{"profiles": [{"id": "team", "signatur": "required"}]}"#);
        scene.case("misspelled_obligation", &["plan", "--scope", "src/a.py"]);
        scene.repo.write("probity.json", r#"{"contract": {"severity_floor": "critcal"}}"#);
        scene.case("unknown_severity", &["plan", "--scope", "src/a.py"]);
    });
}

#[test]
fn claims_are_held_against_the_tree() {
    story(AREA, "claims", |scene| {
        scene.case("none", &["claims", "check"]);
        scene.repo.write("src/a.py", "print('a2')\n");
        let text = "No regressions. Docs only. It is also much nicer now. All tests pass.";
        scene.case_with_input("text", &["claims", "check", "--text", "-"], text);
        scene.case("true", &["claims", "check", "--claim", "no_regressions"]);
        scene.case("false", &["claims", "check", "--claim", "docs_only"]);
        scene.case("verified", &["claims", "check", "--claim", "verified"]);
        scene.case("unverified", &["claims", "check", "--claim", "tests_pass"]);
        let touched = r#"{"claim": "only_touched", "paths": ["src/b.py"]}"#;
        scene.case("with_paths", &["claims", "check", "--claim", touched]);
        scene.case("unknown", &["claims", "check", "--claim", "nonsense"]);
        scene.case("incomplete", &["claims", "check", "--claim", "only_touched"]);
        scene.case("bad_json", &["claims", "check", "--claim", "{\"claim\": \"nonsense\"}"]);
        scene.case("missing_text", &["claims", "check", "--text", "none.md"]);
        scene.case("unknown_base", &["claims", "check", "--claim", "docs_only", "--base", "none"]);
    });
}

#[test]
fn receipts_are_listed_shown_and_checked() {
    story(AREA, "receipt", |scene| {
        scene.case("list_empty", &["receipt", "list"]);
        scene.case("show_nothing", &["receipt", "show"]);
        scene.case("verify_nothing", &["receipt", "verify"]);
        scene.repo.write("src/a.py", "print('a2')\n");
        scene.ask(&["contract", "verify", "--receipt", "--allow", "src/a.py", "--claim", "docs_only"]);
        scene.case("list", &["receipt", "list"]);
        scene.case("show", &["receipt", "show"]);
        scene.case("show_attestation", &["receipt", "show", "1", "--attestation"]);
        scene.case("show_unknown", &["receipt", "show", "7"]);
        scene.case("verify", &["receipt", "verify"]);
        scene.case("verify_tree", &["receipt", "verify", "last", "--tree", "."]);
        scene.repo.write("src/a.py", "print('a3')\n");
        scene.case("verify_other_tree", &["receipt", "verify", "last", "--tree", "."]);
        scene.ask(&["keys", "generate"]);
        scene.ask(&["contract", "verify", "--receipt"]);
        scene.case("list_signed", &["receipt", "list"]);
        scene.case("show_signed_attestation", &["receipt", "show", "--attestation"]);
        scene.case("verify_signed", &["receipt", "verify"]);
        let trust = "{\"schema\": \"probity/trust/v1\", \"signature\": \"required\", \"keys\": {}}";
        scene.repo.write("trust.json", trust);
        scene.case("verify_untrusted", &["receipt", "verify", "--trust", "trust.json"]);
        scene.repo.write("file.json", "{}");
        scene.case("verify_no_receipt", &["receipt", "verify", "file.json"]);
    });
}
