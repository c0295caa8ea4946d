//! The formats of CI services.

use probity_contract::claims::{CheckedClaim, Claim, ClaimVerdict, GateFact, GateOutcome};
use probity_contract::outputs::{
    NewFinding, VerdictSummary, github_annotations, github_summary, gitlab, junit,
};
use probity_contract::{CheckOutcome, CheckResult, ContractCheck, ContractReason, ContractStatus};
use probity_paths::RepoPath;
use probity_policy::{GateKind, Severity};
use serde_json::Value;
use std::collections::BTreeSet;

fn path(bytes: &[u8]) -> RepoPath {
    RepoPath::parse(bytes).expect("a path")
}

fn finding(id: &str, at: &[u8], is_ours: bool, is_let_through: bool) -> NewFinding {
    NewFinding {
        id: id.into(),
        rule: "dead_code".into(),
        severity: Severity::Warning,
        message: "nothing uses `f` <script>\n::error::forged".into(),
        path: Some(path(at)),
        lines: (3, 5),
        is_ours,
        is_let_through,
    }
}

fn review() -> VerdictSummary {
    VerdictSummary {
        status: ContractStatus::Violated,
        reason: Some(ContractReason::StructuralRegressions),
        next_step: Some("fix the new findings"),
        blocking: vec!["structural_regressions".into()],
        let_through: vec![],
        profile: "a change of Python code".into(),
        runs: (Some("aaaa1111".into()), Some("bbbb2222".into())),
        health: (Some(90), Some(88)),
        checks: vec![
            CheckResult { check: ContractCheck::ScopeCheck, outcome: CheckOutcome::Passed },
            CheckResult { check: ContractCheck::StructuralDelta, outcome: CheckOutcome::Failed },
            CheckResult { check: ContractCheck::GateComparison, outcome: CheckOutcome::NotApplicable },
        ],
        gates: vec![GateFact {
            id: "unit".into(),
            kind: GateKind::Test,
            result: GateOutcome::Failed,
            required: true,
            detail: "exit code 1".into(),
            changed_inputs: BTreeSet::new(),
        }],
        out_of_scope: vec![path(b"src/other.py")],
        findings: vec![
            finding("dead_code:1#1", b"src/a.py", true, false),
            finding("dead_code:2#1", b"src/\xff,x.py", false, false),
            finding("dead_code:3#1", b"src/b.py", true, true),
        ],
        api_breaks: vec!["src/a.py::f".into()],
        refuted_claims: vec![
            CheckedClaim {
                claim: Claim::NoRegressions,
                sentence: Some("No <script> regressions.".into()),
                verdict: ClaimVerdict::False,
                objections: vec!["new: src/a.py:3 nothing uses f".into()],
                reservations: vec![],
            },
            CheckedClaim {
                claim: Claim::TestsPass { gate: None },
                sentence: None,
                verdict: ClaimVerdict::Unverified,
                objections: vec!["gate unit did not run".into()],
                reservations: vec![],
            },
        ],
    }
}

#[test]
fn the_summary_says_why_and_what_next() {
    let page = github_summary(&review());
    assert!(page.starts_with("## ❌ Probity: violated\n"), "{page}");
    assert!(
        page.contains("**Because:** the change adds findings in its scope") && page.contains("**Next:** fix")
    );
    assert!(page.contains("| Health | 90 → 88 (−2) |"));
    assert!(page.contains("| Structural gates | does not apply |"));
    assert!(page.contains("**New findings of this change** (2)") && page.contains("(let through)"));
    assert!(
        page.contains("- **false** \"No &lt;script&gt; regressions.\": new: src/a.py:3 nothing uses f"),
        "{page}"
    );
    assert!(page.contains("- **unverified** tests\\_pass: gate unit did not run"), "{page}");
    assert!(!page.contains("<script>"), "{page}");
}

#[test]
fn the_level_of_an_annotation_is_the_severity_of_its_finding() {
    let mut review = review();
    review.findings = [Severity::Info, Severity::Warning, Severity::Critical]
        .map(|severity| NewFinding { severity, ..finding("dead_code:1#1", b"src/a.py", true, false) })
        .into();
    let lines = github_annotations(&review);
    let levels: Vec<&str> = lines.lines().skip(3).filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(levels, ["::notice", "::warning", "::error"]);
}

#[test]
fn an_annotation_stands_where_the_finding_is() {
    let lines = github_annotations(&review());
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!(lines[0], "::error title=Probity::violated (the change adds findings in its scope)");
    assert_eq!(lines[1], "::error file=src/other.py,title=Probity scope::this path was not declared");
    assert_eq!(lines[2], "::error title=Probity gate unit::exit code 1");
    assert!(
        lines[3].starts_with("::warning file=src/a.py,line=3,endLine=5,title=Probity dead_code::nothing")
    );
    assert!(lines[4].starts_with("::notice file=src/\\xff%2Cx.py,line=3"), "{}", lines[4]);
    assert!(lines[5].starts_with("::warning file=src/b.py"));
    assert_eq!(lines.len(), 6, "no word of the tree begins a line: {lines:?}");
}

#[test]
fn annotations_are_bounded_and_say_so() {
    let mut review = review();
    review.findings = vec![finding("dead_code:1#1", b"src/a.py", true, false); 100];
    let lines = github_annotations(&review);
    assert_eq!(lines.lines().count(), 51);
    assert!(lines.trim_end().ends_with("and 53 more; the summary and the SARIF file have all"), "{lines}");
}

#[test]
fn a_skipped_check_is_no_passed_test() {
    let page = junit(&review());
    for suite in [
        "name=\"checks\" tests=\"3\" skipped=\"1\" errors=\"0\" failures=\"1\"",
        "name=\"gates\" tests=\"1\" skipped=\"0\" errors=\"0\" failures=\"1\"",
        "name=\"new findings\" tests=\"3\" skipped=\"2\" errors=\"0\" failures=\"1\"",
        "name=\"claims\" tests=\"2\" skipped=\"1\" errors=\"0\" failures=\"1\"",
    ] {
        assert!(page.contains(&format!("<testsuite {suite}>")), "{suite}: {page}");
    }
    let case = |name: &str| page.split(&format!("<testcase name=\"{name}\" ")).nth(1).expect(name).to_owned();
    assert!(case("scope_check").starts_with("classname=\"probity.checks\"/>"), "{page}");
    assert!(
        case("gate_comparison").contains("<skipped message=\"does not apply to this change\"/>"),
        "{page}"
    );
    let unverified = "<skipped message=\"unverified: tests_pass: gate unit did not run\"/>";
    assert!(case("tests_pass").contains(unverified), "{page}");
    assert!(page.contains("&lt;script&gt;") && !page.contains("<script>"));
}

#[test]
fn nothing_breaks_out_of_an_attribute_of_junit() {
    let mut review = review();
    review.gates[0].detail = "a\"><b>&'\n\u{1}\u{1b}[31mred".into();
    let page = junit(&review);
    assert!(!page.contains("<b>") && !page.contains(|c: char| c.is_control() && c != '\n'), "{page}");
    assert!(page.contains("message=\"a&quot;&gt;&lt;b&gt;&amp;"), "{page}");
}

#[test]
fn a_code_quality_report_has_what_the_service_asks_for() {
    let report: Value = serde_json::from_str(&gitlab(&review())).expect("JSON");
    let issues = report.as_array().expect("a list");
    assert_eq!(issues.len(), 4);
    assert_eq!(
        (&issues[0]["check_name"], &issues[0]["severity"]),
        (&"scope_violation".into(), &"blocker".into())
    );
    assert_eq!(issues[1]["location"]["lines"]["begin"], 3);
    let fingerprints: std::collections::BTreeSet<_> =
        issues.iter().map(|issue| issue["fingerprint"].as_str()).collect();
    assert_eq!(fingerprints.len(), 4);
}
