//! The documents: SARIF follows its specification, and no text from the tree becomes markup.

use crate::common::run;
use probity_analysis::report::{ReportSubject, html, markdown, sarif};
use probity_analysis::{AnalysisRun, compare};
use serde_json::Value;

const BODY: &str = "    total = 0\n    for row in rows:\n        for cell in row:\n            if cell > x:\n                if cell.ok and cell.fresh:\n                    while cell.more():\n                        total += cell.next() if x else 1\n                elif cell.old or x:\n                    total -= 1\n    return total\n";

/// A tree with findings, a file that is not read, and names that are markup.
fn sample() -> AnalysisRun {
    let busy = format!("def busy(rows, x):\n{BODY}");
    let again = format!("import b\n\n\ndef again(rows, x):\n{BODY}");
    run(&[
        ("a b.py", &busy),
        ("<script>alert(1)&.py", &again),
        ("b.py", "def half(:\n"),
        ("notes.zig", "const x = 1;\n"),
    ])
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn sarif_has_the_shape_of_its_specification() {
    let run = sample();
    let log = parsed(&sarif(&run, None));
    assert_eq!(log["version"], "2.1.0");
    let told = &log["runs"][0];
    let rules = told["tool"]["driver"]["rules"].as_array().expect("rules");
    let results = told["results"].as_array().expect("results");
    assert_eq!(results.len(), run.findings.len());
    for (result, finding) in results.iter().zip(&run.findings) {
        let index = usize::try_from(result["ruleIndex"].as_u64().expect("an index")).expect("fits");
        assert_eq!(rules[index]["id"], result["ruleId"]);
        assert_eq!(result["partialFingerprints"]["probity/v1"], finding.id.as_str());
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().expect("a level")));
        assert!(!result["message"]["text"].as_str().expect("text").is_empty());
        assert!(result.get("baselineState").is_none());
        let region = &result["locations"][0]["physicalLocation"]["region"];
        assert!(
            region["startLine"].as_u64() >= Some(1)
                && region["endLine"].as_u64() >= region["startLine"].as_u64()
        );
    }
}

#[test]
fn sarif_addresses_any_file_name_and_tells_what_was_not_analyzed() {
    let text = sarif(&sample(), None);
    assert!(text.contains("\"a%20b.py\"") && text.contains("\"%3Cscript%3Ealert%281%29%26.py\""));
    let log = parsed(&text);
    let notes = log["runs"][0]["invocations"][0]["toolExecutionNotifications"].as_array().expect("notes");
    let codes: Vec<&str> = notes.iter().filter_map(|note| note["descriptor"]["id"].as_str()).collect();
    assert_eq!(codes, ["syntax_errors", "unknown_language"]);
}

#[test]
fn sarif_of_two_runs_says_what_is_new_unchanged_and_absent() {
    let busy = format!("def busy(rows, x):\n{BODY}");
    let before = run(&[("a.py", &busy), ("b.py", "def half(:\n")]);
    let after = run(&[("a.py", &busy), ("b.py", &busy.replace("busy", "again"))]);
    let log = parsed(&sarif(&after, Some(&compare(&before, &after))));
    let mut states: Vec<&str> = log["runs"][0]["results"]
        .as_array()
        .expect("results")
        .iter()
        .map(|result| result["baselineState"].as_str().expect("a state"))
        .collect();
    states.sort_unstable();
    states.dedup();
    assert_eq!(states, ["absent", "new", "unchanged"]);
}

#[test]
fn markdown_tells_health_findings_and_what_was_not_analyzed() {
    let text = markdown(&sample(), None, &ReportSubject::default());
    for expected in [
        "# Health ",
        "| Duplication |",
        "| Copies |",
        "`a b.py:1 busy`",
        "1 file: no language",
        "## Hot spots",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
}

#[test]
fn markdown_holds_no_markup_of_the_tree() {
    let text = markdown(&sample(), None, &ReportSubject::default());
    for line in text.lines().filter(|line| line.contains("<script")) {
        let spans: Vec<&str> = line.split('`').collect();
        assert!(spans.iter().step_by(2).all(|outside| !outside.contains('<')), "{line}");
    }
}

#[test]
fn markdown_of_two_runs_begins_with_what_changed() {
    let busy = format!("def busy(rows, x):\n{BODY}");
    let before = run(&[("a.py", "def busy():\n    return 1\n")]);
    let after = run(&[("a.py", &busy)]);
    let text = markdown(&after, Some(&compare(&before, &after)), &ReportSubject::default());
    assert!(text.contains("## Regressed: "), "{text}");
    assert!(text.contains("### New") && text.contains("### Breaks of the public interface"), "{text}");
}

/// Renders the page of the sample, with its code.
fn page(run: &AnalysisRun) -> String {
    html(run, None, &|path| Some(format!("<b>{path}</b>\n{BODY}").into_bytes()), &ReportSubject::default())
}

#[test]
fn the_page_has_every_part_and_needs_nothing_else() {
    let page = page(&sample());
    for id in ["health", "map", "hot-spots", "copies", "findings", "not-analyzed"] {
        assert!(page.contains(&format!("<section id=\"{id}\">")), "{id}");
    }
    for outside in ["src=", "http://", "https://", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(page.split("href=\"").skip(1).all(|link| link.starts_with('#')));
}

#[test]
fn nothing_of_the_tree_becomes_markup() {
    let page = page(&sample());
    assert!(!page.contains("<script>alert") && !page.contains("<b>a b.py"));
    assert!(page.contains("&lt;script&gt;alert(1)&amp;.py"));
    assert_eq!(page.matches("<script").count(), 1);
}

#[test]
fn the_page_marks_what_differs_in_a_copy() {
    let original = format!("def one(rows, x):\n{BODY}");
    let copy = original.replace("one", "two").replace("total", "acc");
    let run = run(&[("a.py", &original), ("b.py", &copy)]);
    let page = html(
        &run,
        None,
        &|path| Some(if path.as_bytes() == b"a.py" { &original } else { &copy }.clone().into_bytes()),
        &ReportSubject::default(),
    );
    assert!(page.contains("<mark>total</mark>") && page.contains("<mark>acc</mark>"));
    assert!(!page.contains("<mark>rows</mark>"));
    assert!(html(&run, None, &|_| None, &ReportSubject::default()).contains("The code is not at hand."));
}

#[test]
fn a_page_of_many_findings_stays_small_and_says_what_is_missing() {
    let function = |n: usize| format!("def f{n}(a, b, c, d, e, f, g, h):\n    return a.m{n}(b)\n\n\n");
    let text: String = (0..3_000).map(function).collect::<Vec<_>>().concat();
    let run = run(&[("a.py", &text)]);
    assert_eq!(run.findings.len(), 3_000);
    let page = page(&run);
    assert!(page.contains("and 2,750 more"), "the list is not bounded");
    assert!(page.len() < 300_000, "{} bytes", page.len());
}

#[test]
fn the_page_of_two_runs_begins_with_what_changed() {
    let busy = format!("def busy(rows, x):\n{BODY}");
    let before = run(&[("a.py", "def busy():\n    return 1\n")]);
    let after = run(&[("a.py", &busy)]);
    let page = html(&after, Some(&compare(&before, &after)), &|_| None, &ReportSubject::default());
    assert!(page.contains("Regressed.") && page.contains(">new</span>") && page.contains("only new"));
}
