//! Ids survive edits, and a comparison of two runs shows what matters.

use crate::common::{findings, path, run};
use probity_analysis::{AnalysisRun, ApiChange, ComparisonVerdict, FindingFamily, UnitMetric, compare};
use std::collections::BTreeSet;

const COMPLEX: &str = "def busy(rows, x):\n    total = 0\n    for row in rows:\n        for cell in row:\n            if cell > x:\n                if cell.ok and cell.fresh:\n                    while cell.more():\n                        total += cell.next() if x else 1\n                elif cell.old or x:\n                    total -= 1\n    return total\n";

fn ids(run: &AnalysisRun) -> BTreeSet<String> {
    run.findings.iter().map(|finding| finding.id.to_string()).collect()
}

#[test]
fn the_sample_has_findings() {
    assert!(ids(&run(&[("a.py", COMPLEX)])).len() > 1);
}

#[test]
fn moving_reformatting_and_shifting_keep_every_id() {
    let before = ids(&run(&[("a.py", COMPLEX)]));
    let shifted = format!("import os\n\n# a comment\nVALUE = os.sep\n\n\n{COMPLEX}");
    let reformatted = COMPLEX
        .replace("total = 0", "total = (\n        0\n    )")
        .replace("    total = (\n        0\n    )", "    total = 0  # none yet\n");
    for (name, text) in [("b/c.py", COMPLEX), ("a.py", shifted.as_str()), ("a.py", reformatted.as_str())] {
        assert_eq!(ids(&run(&[(name, text)])), before);
    }
}

#[test]
fn editing_a_complex_function_does_not_make_it_new() {
    let edited = COMPLEX.replace("total -= 1", "total -= 2\n                    log(total)");
    let comparison = compare(&run(&[("a.py", COMPLEX)]), &run(&[("a.py", &edited)]));
    assert!(comparison.regressions.is_empty() && comparison.improvements.is_empty());
}

#[test]
fn worse_and_better_and_both() {
    let plain = "def plain():\n    return 1\n";
    let verdict =
        |before: &str, after: &str| compare(&run(&[("a.py", before)]), &run(&[("a.py", after)])).verdict;
    assert_eq!(verdict(plain, COMPLEX), ComparisonVerdict::Regressed);
    assert_eq!(verdict(COMPLEX, plain), ComparisonVerdict::Improved);
    assert_eq!(verdict(COMPLEX, COMPLEX), ComparisonVerdict::Stable);
    let broken = format!("{plain}def half(:\n");
    assert_eq!(verdict(COMPLEX, &broken), ComparisonVerdict::Mixed);
}

#[test]
fn runs_with_other_settings_do_not_compare() {
    let before = run(&[("a.py", COMPLEX)]);
    let mut after = before.clone();
    after.settings.cyclomatic += 1;
    let comparison = compare(&before, &after);
    assert_eq!(comparison.verdict, ComparisonVerdict::Incomparable);
    assert_eq!(comparison.health_delta, None);
}

#[test]
fn a_regression_names_the_file_that_caused_it() {
    let original = ("a.py", COMPLEX);
    let copy = COMPLEX.replace("busy", "again").replace("total", "sum_of");
    let before = run(&[original, ("b.py", "x = 1\n")]);
    let after = run(&[original, ("b.py", &format!("x = 1\n{copy}"))]);
    let comparison = compare(&before, &after);
    let clone = comparison
        .regressions
        .iter()
        .find(|new| new.finding.family == FindingFamily::Clone)
        .expect("a clone");
    assert_eq!(clone.finding.locations.len(), 2);
    assert_eq!(clone.caused_in, BTreeSet::from([path("b.py")]));
}

#[test]
fn a_worsened_symbol_says_by_what() {
    let worse = COMPLEX.replace("    return total", "    if x:\n        total += 1\n    return total");
    let comparison = compare(&run(&[("a.py", COMPLEX)]), &run(&[("a.py", &worse)]));
    let cyclomatic =
        comparison.worsened.iter().find(|worse| worse.metric == UnitMetric::Cyclomatic).expect("worse");
    assert_eq!((cyclomatic.symbol.as_str(), cyclomatic.after - cyclomatic.before), ("busy", 1));
}

#[test]
fn breaks_of_the_public_interface_are_told() {
    let before = run(&[(
        "a.py",
        "def f(a, b=1):\n    return a\n\ndef gone():\n    return 1\n\ndef _own(a):\n    return f(_own)\n",
    )]);
    let after =
        run(&[("a.py", "def f(a, b=1, c=2, *, d):\n    return a\n\ndef _own():\n    return f(_own)\n")]);
    let breaks = compare(&before, &after).api_breaks;
    let told: Vec<(&str, ApiChange)> =
        breaks.iter().map(|found| (found.symbol.as_str(), found.change)).collect();
    assert_eq!(told, [("f", ApiChange::ParameterRequired), ("gone", ApiChange::Removed)]);
}

#[test]
fn a_moved_file_brings_its_findings_along() {
    let before = run(&[("a.py", COMPLEX), ("b.py", &COMPLEX.replace("busy", "other").replace("ok", "fine"))]);
    let after =
        run(&[("sub/a.py", COMPLEX), ("b.py", &COMPLEX.replace("busy", "other").replace("ok", "fine"))]);
    let comparison = compare(&before, &after);
    assert!(comparison.regressions.is_empty(), "{:#?}", comparison.regressions);
    assert_eq!(
        comparison.unchanged as usize,
        findings(&before, FindingFamily::Complexity).len() + before.findings.len() - 2
    );
}

#[test]
fn a_deleted_module_causes_what_its_importers_miss() {
    let user = ("app/user.py", "from app.tools import join\n\n\ndef main(rows):\n    return join(rows)\n");
    let tools = ("app/tools.py", "def join(rows):\n    return rows\n");
    let package = ("app/__init__.py", "");
    let comparison = compare(&run(&[package, user, tools]), &run(&[package, user]));
    let dangling: Vec<_> = comparison
        .regressions
        .iter()
        .filter(|new| new.finding.family == FindingFamily::DanglingImport)
        .collect();
    assert_eq!(dangling.len(), 1);
    assert_eq!(dangling[0].caused_in, BTreeSet::from([path("app/tools.py")]));
    let stopped = ("app/user.py", "def main(rows):\n    return rows\n");
    let comparison = compare(&run(&[package, user, tools]), &run(&[package, stopped, tools]));
    let unused: Vec<_> =
        comparison.regressions.iter().filter(|new| new.finding.family == FindingFamily::DeadCode).collect();
    assert!(unused.iter().all(|new| new.caused_in == BTreeSet::from([path("app/user.py")])), "{unused:?}");
}
