//! A new finding is attributed to what the change caused, and to nothing else.

use crate::common::run;
use probity_analysis::{FindingFamily, FindingRegression, Severity, compare};

fn regressions(before: &[(&str, &str)], after: &[(&str, &str)]) -> Vec<FindingRegression> {
    compare(&run(before), &run(after)).regressions
}

/// Returns a suite of that many checks, which is one anonymous callable.
fn suite(subject: &str, n_checks: usize) -> String {
    let check = |n| format!("  check_{subject}({n}, 'x{n}');\n");
    let checks: String = (0..n_checks).map(check).collect::<Vec<_>>().concat();
    format!("describe('{subject}', function () {{\n{checks}}});\n")
}

/// Returns a function of that many decisions, each its own.
fn branched(name: &str, n_decisions: usize) -> String {
    let branch = |n| format!("    if x == {n}:\n        y = {name}{n}(y, {n})\n");
    let branches: String = (0..n_decisions).map(branch).collect::<Vec<_>>().concat();
    format!("def {name}(x, y):\n{branches}    return y\n\n\n")
}

#[test]
fn an_anonymous_function_answers_for_itself() {
    let (small, large, grown) = (suite("a", 90), suite("z", 108), suite("a", 120));
    let found = regressions(&[("a.js", &small), ("z.js", &large)], &[("a.js", &grown), ("z.js", &large)]);
    let places: Vec<(&str, String)> = found
        .iter()
        .map(|it| (it.finding.message.as_str(), it.finding.locations[0].path.to_string()))
        .collect();
    assert_eq!(places, [("122 lines", "a.js".to_owned())]);
    // The same in one file, before an old one of the same kind.
    let both = |first: &str| format!("{first}{large}");
    let found = regressions(&[("a.js", &both(&small))], &[("a.js", &both(&grown))]);
    let symbols: Vec<&str> = found.iter().map(|it| it.finding.locations[0].symbol.as_str()).collect();
    assert_eq!(symbols, ["describe(\"a\")"]);
}

#[test]
fn a_copy_is_told_where_it_was_made() {
    let function = |name: &str| {
        format!(
            "def {name}(rows, limit):\n    total = 0\n    names = []\n    for row in rows[:limit]:\n        if row.price > limit:\n            total += row.price * row.count\n            names.append(row.name.strip())\n        else:\n            total -= row.discount\n            names.insert(0, row.name.upper())\n    return names, total\n"
        )
    };
    let (old, new) = (function("report"), function("summary"));
    let found = regressions(&[("z.py", &old)], &[("a.py", &new), ("z.py", &old)]);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0].finding.locations[0].path.to_string(), "a.py");
    assert!(found[0].finding.message.contains(" z.py "), "{}", found[0].finding.message);
}

#[test]
fn a_file_that_was_moved_and_edited_keeps_its_findings() {
    let (old, new) = (branched("f", 30), format!("import os\n{}", branched("f", 31)));
    assert_eq!(regressions(&[("old/a.py", &old)], &[("new/b.py", &new)]), []);
}

#[test]
fn a_function_that_was_renamed_and_edited_keeps_its_findings() {
    assert_eq!(regressions(&[("a.py", &branched("f", 30))], &[("a.py", &branched("g", 29))]), []);
}

#[test]
fn one_more_branch_in_a_complex_function_is_a_matter_of_taste() {
    let severities = |before: usize, after: usize| -> Vec<Severity> {
        let found = regressions(&[("a.py", &branched("f", before))], &[("a.py", &branched("f", after))]);
        let complex = found.iter().filter(|it| it.finding.family == FindingFamily::Complexity);
        complex.map(|it| it.finding.severity).collect()
    };
    assert_eq!(severities(14, 16), [Severity::Info]);
    assert_eq!(severities(3, 26), [Severity::Warning]);
    assert_eq!(severities(3, 40), [Severity::Critical]);
}

#[test]
fn a_copy_that_was_edited_is_no_new_copy() {
    let function = |name: &str, extra: &str| {
        format!(
            "def {name}(rows, limit):\n    total = 0\n    names = []\n    for row in rows[:limit]:\n        if row.price > limit:\n            total += row.price * row.count\n            names.append(row.name.strip())\n        else:\n            total -= row.discount\n            names.insert(0, row.name.upper())\n{extra}    return names, total\n"
        )
    };
    let (one, two) = (function("report", ""), function("summary", ""));
    let edited = function("summary", "    log(names, total)\n");
    assert_eq!(regressions(&[("a.py", &one), ("b.py", &two)], &[("a.py", &one), ("b.py", &edited)]), []);
}
