//! Reports of other tools: what is taken, what is omitted and why, and which reports are rejected.

use crate::common::{findings, path, run};
use probity_analysis::{
    AnalysisRun, ExternalReport, Finding, FindingFamily, JoinError, LeftOut, ReportFormat, ReportKind,
    Severity, compare, join_reports,
};
use serde_json::{Value, json};

const ROOT: &[u8] = b"/home/ann/tree";
const SOURCE: &str = "import os\nimport sys\n\n\ndef f(a):\n    return a\n";

fn result(rule: &str, uri: &str, line: u32) -> Value {
    json!({
        "ruleId": rule,
        "level": "error",
        "message": { "text": format!("{rule} is broken") },
        "locations": [{ "physicalLocation": {
            "artifactLocation": { "uri": uri }, "region": { "startLine": line },
        } }],
    })
}

fn log(results: &[Value]) -> Vec<u8> {
    let run = json!({ "tool": { "driver": { "name": "linter" } }, "results": results });
    json!({ "version": "2.1.0", "runs": [run] }).to_string().into_bytes()
}

fn report(kind: ReportKind, bytes: &[u8]) -> ExternalReport<'_> {
    ExternalReport { name: "report", kind, bytes }
}

fn joined(source: &str, kind: ReportKind, bytes: &[u8]) -> Result<AnalysisRun, JoinError> {
    let sources =
        |wanted: &probity_paths::RepoPath| (*wanted == path("a.py")).then(|| source.as_bytes().to_vec());
    join_reports(run(&[("a.py", source)]), &[report(kind, bytes)], ROOT, &sources)
}

fn with_findings(source: &str, results: &[Value]) -> AnalysisRun {
    joined(source, ReportKind::Findings, &log(results)).expect("a good report")
}

fn external(run: &AnalysisRun) -> Vec<&Finding> {
    findings(run, FindingFamily::External)
}

#[test]
fn a_finding_of_another_tool_joins_with_its_rule_place_and_severity() {
    let run = with_findings(SOURCE, &[result("E1", "file:///home/ann/tree/a.py", 2)]);
    let found = external(&run);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].rule.as_deref(), Some("linter/E1"));
    assert_eq!((found[0].severity, found[0].locations[0].range.start_line), (Severity::Critical, 2));
    assert_eq!((run.joined[0].format, run.joined[0].n_taken), (ReportFormat::Sarif, 1));
    assert_eq!(run.joined[0].tools, ["linter"]);
}

#[test]
fn a_shift_of_lines_keeps_the_id_and_an_edit_of_the_line_does_not() {
    let id =
        |source: &str, line| external(&with_findings(source, &[result("E1", "a.py", line)]))[0].id.clone();
    let before = id(SOURCE, 2);
    assert_eq!(id(&format!("# more\n\n{SOURCE}"), 4), before);
    assert_eq!(id(&SOURCE.replace("import sys", "import  sys"), 2), before);
    assert_ne!(id(&SOURCE.replace("import sys", "import re"), 2), before);
    assert_ne!(id(SOURCE, 1), before);
}

#[test]
fn fingerprints_of_the_tool_come_before_our_own() {
    let marked = |line: u32, mark: &str| {
        let mut result = result("E1", "a.py", line);
        result["partialFingerprints"] = json!({ "primaryLocationLineHash": mark });
        external(&with_findings(SOURCE, &[result]))[0].id.clone()
    };
    assert_eq!(marked(1, "x"), marked(2, "x"));
    assert_ne!(marked(1, "x"), marked(1, "y"));
}

#[test]
fn equal_lines_are_counted_and_one_more_is_a_regression() {
    let twice = "x = 1\nx = 1\n";
    let one = with_findings(twice, &[result("E1", "a.py", 1)]);
    let two = with_findings(twice, &[result("E1", "a.py", 1), result("E1", "a.py", 2)]);
    let comparison = compare(&one, &two);
    assert_eq!((comparison.regressions.len(), comparison.unchanged), (1, 1));
}

#[test]
fn what_is_accepted_outside_or_nowhere_is_left_out_and_counted() {
    let with = |name: &str, value: Value| {
        let mut result = result("E1", "a.py", 1);
        result[name] = value;
        result
    };
    let results = [
        with("kind", json!("pass")),
        with("suppressions", json!([{ "kind": "inSource" }])),
        with("baselineState", json!("absent")),
        with("suppressions", json!([{ "kind": "inSource", "status": "rejected" }])),
        with("locations", json!([])),
        result("E1", "file:///elsewhere/a.py", 1),
    ];
    let run = with_findings(SOURCE, &results);
    assert_eq!(run.joined[0].n_taken, 1);
    let left: Vec<(LeftOut, u32)> = run.joined[0].left_out.iter().map(|(why, n)| (*why, *n)).collect();
    assert_eq!(left, [(LeftOut::Suppressed, 3), (LeftOut::NoPlace, 1), (LeftOut::OutsideTree, 1)]);
}

#[test]
fn levels_rules_and_messages_may_stand_with_the_rule() {
    let rules = json!([{
        "id": "R", "defaultConfiguration": { "level": "note" },
        "messageStrings": { "default": { "text": "`{0}` is {1}" } },
    }]);
    let result = json!({
        "ruleIndex": 0, "message": { "id": "default", "arguments": ["x", "odd"] },
        "locations": [{ "physicalLocation": { "artifactLocation": { "index": 0 } } }],
    });
    let run = json!({
        "tool": { "driver": { "name": "t", "rules": rules } }, "results": [result],
        "artifacts": [{ "location": { "uri": "a.py", "uriBaseId": "ROOT" } }],
        "originalUriBaseIds": { "ROOT": { "uri": "file:///home/ann/tree/" } },
    });
    let bytes = json!({ "version": "2.1.0", "runs": [run] }).to_string();
    let run = joined(SOURCE, ReportKind::Findings, bytes.as_bytes()).expect("a good report");
    let found = external(&run);
    assert_eq!((found[0].message.as_str(), found[0].severity), ("`x` is odd", Severity::Info));
    assert_eq!(found[0].rule.as_deref(), Some("t/R"));
}

#[test]
fn a_run_that_others_joined_is_another_run_and_order_does_not_matter() {
    let plain = run(&[("a.py", SOURCE)]);
    let (one, two) = (log(&[result("E1", "a.py", 1)]), log(&[result("E2", "a.py", 2)]));
    let (one, two) = (report(ReportKind::Findings, &one), report(ReportKind::Findings, &two));
    let with = |reports: &[ExternalReport<'_>]| {
        join_reports(plain.clone(), reports, ROOT, &|_| None).expect("good reports")
    };
    assert_eq!(with(&[]), plain);
    assert_ne!(with(&[one]).id, plain.id);
    assert_eq!(with(&[one, two, one]), with(&[two, one]));
    assert_eq!(with(&[one]).health, plain.health);
}

#[test]
fn a_report_that_cannot_be_read_is_refused_with_its_place() {
    let refused =
        |bytes: &[u8]| joined(SOURCE, ReportKind::Findings, bytes).expect_err("refused").to_string();
    assert!(refused(b"{").starts_with("report: line 1, column 1:"), "{}", refused(b"{"));
    assert_eq!(
        refused(br#"{"version": "2.0.0", "runs": []}"#),
        "report: version: only 2.1.0 is read, this is 2.0.0"
    );
    let deep = [b"{\"version\":\"2.1.0\",\"properties\":".to_vec(), b"[".repeat(100_000)].concat();
    assert!(refused(&deep).ends_with("EOF while parsing a list"), "{}", refused(&deep));
}

/// Returns a function with a dozen decisions, starting on line 1.
fn hot() -> String {
    let branches =
        (0..12).map(|n| format!("    if a == {n}:\n        return {n}\n")).collect::<Vec<_>>().concat();
    format!("def hot(a):\n{branches}    return a\n")
}

fn lcov(hits: impl Fn(u32) -> u32) -> Vec<u8> {
    let lines = (1..=26).map(|line| format!("DA:{line},{}\n", hits(line))).collect::<Vec<_>>().concat();
    format!("TN:\nSF:/home/ann/tree/a.py\nFN:1,hot\n{lines}LF:26\nend_of_record\n").into_bytes()
}

fn cobertura(file: &str, hits: impl Fn(u32) -> u32) -> Vec<u8> {
    let lines: String = (1..=26)
        .map(|line| format!("<line number=\"{line}\" hits=\"{}\"/>", hits(line)))
        .collect::<Vec<_>>()
        .concat();
    let head = "<?xml version=\"1.0\"?><!DOCTYPE coverage SYSTEM \"x.dtd\"><coverage><sources><source>/home/ann/tree</source></sources>";
    format!("{head}<packages><class name=\"a\" filename=\"{file}\"><lines>{lines}</lines></class></packages></coverage>")
        .into_bytes()
}

#[test]
fn a_hot_spot_that_tests_hardly_run_is_a_finding_in_both_formats() {
    let seldom = |line| u32::from(line < 5);
    let often = |line| u32::from(line < 20);
    for (few, many) in [(lcov(seldom), lcov(often)), (cobertura("a.py", seldom), cobertura("a.py", often))] {
        let run = joined(&hot(), ReportKind::Coverage, &few).expect("good coverage");
        let found = findings(&run, FindingFamily::Untested);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].locations[0].symbol.as_str(), found[0].value), ("hot", Some(15)));
        let run = joined(&hot(), ReportKind::Coverage, &many).expect("good coverage");
        assert!(findings(&run, FindingFamily::Untested).is_empty());
    }
}

#[test]
fn coverage_of_unknown_files_is_counted_and_files_without_coverage_are_not_judged() {
    let run = joined(&hot(), ReportKind::Coverage, &cobertura("b.py", |_| 0)).expect("good coverage");
    assert_eq!(run.joined[0].left_out.get(&LeftOut::UnknownFile), Some(&1));
    assert!(findings(&run, FindingFamily::Untested).is_empty());
}

#[test]
fn coverage_that_cannot_be_read_is_refused_with_its_place() {
    let refused =
        |bytes: &[u8]| joined(SOURCE, ReportKind::Coverage, bytes).expect_err("refused").to_string();
    assert_eq!(
        refused(b"SF:a.py\nDA:1\n"),
        "report: line 2: `DA:<line>,<count>` after `SF:<file>` is expected"
    );
    assert_eq!(refused(b"hello\n"), "report: line 1: it is not an lcov record");
    assert_eq!(refused(b"<html></html>"), "report: the document: it is XML, but no `<coverage>`");
    assert_eq!(refused(b"<coverage><class"), "report: byte 10: it is no well-formed XML");
    assert_eq!(refused(b"\xff"), "report: byte 0: it is no UTF-8");
}

#[test]
fn xml_that_is_broken_off_is_refused() {
    for inside in
        ["<a", "<a b", "<class filename=c>", "<class filename='>", "<!-- ", "<>", "<a></b>", "<a>", ""]
    {
        let bytes = format!("<coverage>{inside}");
        let error = joined(SOURCE, ReportKind::Coverage, bytes.as_bytes()).expect_err(inside).to_string();
        assert!(
            error.starts_with("report: byte ") && error.ends_with(": it is no well-formed XML"),
            "{error}"
        );
    }
}

#[test]
fn entities_of_a_document_type_are_not_expanded_and_depth_costs_no_stack() {
    let laughs = "<!DOCTYPE coverage [<!ENTITY a \"lol\"><!ENTITY b \"&a;&a;&a;\">]>";
    let source = "<source>/home/&b;/&lt;x&#62; &amp; y</source><source> /home/ann/tree </source>";
    let class = "<class filename='a.py'><line number='1' hits='1'/></class>";
    let text = format!("<?xml version='1.0'?>{laughs}<coverage>{source}<!-- <line/> -->{class}</coverage>");
    let run = joined(&hot(), ReportKind::Coverage, text.as_bytes()).expect("good coverage");
    assert_eq!(run.joined[0].n_taken, 1);
    let deep = format!("<coverage>{}{class}{}</coverage>", "<a>".repeat(200_000), "</a>".repeat(200_000));
    let run = joined(&hot(), ReportKind::Coverage, deep.as_bytes()).expect("deep, but coverage");
    assert_eq!(run.joined[0].n_taken, 1);
}
