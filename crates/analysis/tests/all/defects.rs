//! Defects of an existing analyzer, each as a fact that holds here.

use crate::common::{analysis, findings, needs, run};
use probity_analysis::{CloneType, ComparisonVerdict, FindingFamily, Severity, blast_radius, compare};
use std::collections::BTreeSet;

#[test]
fn thousands_of_renamed_findings_are_all_known_again() {
    let text = |word: &str| -> String {
        let function =
            |n: usize| format!("def {word}{n}(a, b, c, d, e, f, g, h):\n    return a.m{n}(b)\n\n\n");
        (0..5_000).map(function).collect::<Vec<_>>().concat()
    };
    let (before, after) = (run(&[("a.py", &text("f"))]), run(&[("a.py", &text("g"))]));
    let comparison = compare(&before, &after);
    assert_eq!((comparison.regressions.len(), comparison.unchanged), (0, 5_000));
}

#[test]
fn one_copy_costs_little_in_a_tiny_tree_and_something_in_a_large_one() {
    let function = |n: usize| {
        format!(
            "def f{n}(rows):\n    out = load{n}(rows)\n    for row in rows:\n        out.add{n}(row.a{n}, row.b{n})\n        if row.c{n} > {n}:\n            out.drop{n}(row)\n            row.mark{n}(out, {n})\n    log.info{n}(out.total{n}, len(rows))\n    return out.finish{n}(rows, {n})\n\n\n"
        )
    };
    for n_functions in [1, 400] {
        let text: String = (0..n_functions).map(function).collect::<Vec<_>>().concat();
        let copy = function(0).replace("f0(", "copy(");
        let before = run(&[("a.py", &text)]).health;
        let after = run(&[("a.py", &text), ("b.py", &copy)]).health;
        let cost = before.score_milli - after.score_milli;
        assert!(cost > 0 && cost < 10_000, "{n_functions} functions: {cost}");
    }
}

/// Returns a function with the given number of branches.
fn branches(count: usize, indent: &str) -> String {
    let branch = |n| format!("{indent}if x == {n}:\n{indent}    y = f(y, {n})\n");
    (0..count).map(branch).collect::<Vec<_>>().concat()
}

#[test]
fn many_files_never_hang() {
    let files: Vec<(String, String)> =
        (0..100).map(|n| (format!("pkg/m{n}.py"), format!("def f{n}(a):\n    return a + {n}\n"))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    assert_eq!(run(&files).file_counts(), (100, 0, 0));
}

#[test]
fn a_content_only_edit_is_a_new_run_and_stable() {
    let before = run(&[("a.py", "VALUE = 1\n")]);
    let after = run(&[("a.py", "VALUE = 2\n")]);
    assert_ne!(before.id, after.id);
    let comparison = compare(&before, &after);
    assert_eq!((comparison.verdict, comparison.same_run), (ComparisonVerdict::Stable, false));
}

#[test]
fn a_configuration_edit_is_a_new_run() {
    let before = run(&[("a.py", "x = 1\n"), ("pyproject.toml", "[a]\n")]);
    let after = run(&[("a.py", "x = 1\n"), ("pyproject.toml", "[b]\n")]);
    assert_ne!(before.id, after.id);
}

#[test]
fn a_syntax_error_is_a_regression() {
    let before = run(&[("a.py", "def f(a):\n    return a\n")]);
    let after = run(&[("a.py", "def f(a:\n    return a\n")]);
    let comparison = compare(&before, &after);
    assert_eq!(comparison.verdict, ComparisonVerdict::Regressed);
    assert_eq!(comparison.regressions[0].finding.family, FindingFamily::ParseError);
    assert_eq!(comparison.regressions[0].finding.severity, Severity::Critical);
}

#[test]
fn deleting_a_module_that_is_still_imported_is_a_regression() {
    let user = ("pkg/a.py", "from pkg.b import f\n\nprint(f)\n");
    let before = run(&[("pkg/__init__.py", ""), user, ("pkg/b.py", "def f():\n    return 1\n")]);
    let after = run(&[("pkg/__init__.py", ""), user]);
    let comparison = compare(&before, &after);
    assert!(comparison.regressions.iter().any(|new| new.finding.family == FindingFamily::DanglingImport));
}

#[test]
fn a_run_knows_the_content_of_each_file() {
    let run = run(&[("a.py", "x = 1\n")]);
    assert_eq!(run.files[0].content, probity_core::Digest::of(b"x = 1\n"));
}

#[test]
fn a_renamed_function_is_not_a_new_finding() {
    let text = format!("def complex(x, y):\n{}    return y\n", branches(30, "    "));
    let before = run(&[("a.py", &text)]);
    let after = run(&[("a.py", &text.replace("complex", "simple"))]);
    assert_eq!(findings(&before, FindingFamily::Complexity).len(), 1);
    let comparison = compare(&before, &after);
    assert!(comparison.regressions.is_empty() && comparison.improvements.is_empty());
    assert_eq!(comparison.renamed.len(), 1);
}

#[test]
fn branches_that_only_look_alike_are_not_duplicated() {
    let text = r"
def f(x, a, b):
    if x == 1:
        total = a.first(b, 1)
        return total + b.more(a)
    elif x == 2:
        total = b.second(a, 2)
        return total + a.less(b)
    else:
        total = a.first(b, 1)
        return total + b.more(a)
";
    let run = run(&[("a.py", text)]);
    let found = findings(&run, FindingFamily::DuplicatedBranches);
    assert_eq!(found.len(), 1);
    let lines: Vec<u32> = found[0].locations.iter().map(|place| place.range.start_line).collect();
    assert_eq!(lines, [10, 4]);
}

#[test]
fn a_src_layout_has_edges_cycles_and_a_blast_radius() {
    let run = run(&[
        ("src/pkg/__init__.py", ""),
        ("src/pkg/a.py", "from pkg import b\n"),
        ("src/pkg/b.py", "from pkg.a import x\n"),
        ("src/app.py", "import pkg.a\n"),
    ]);
    let cycles = findings(&run, FindingFamily::Cycle);
    assert_eq!(cycles.len(), 1);
    let members: Vec<String> = cycles[0].locations.iter().map(|place| place.path.to_string()).collect();
    assert_eq!(members, ["src/pkg/a.py", "src/pkg/b.py"]);
    assert!(run.health.score() < Some(100));
    let blast = blast_radius(&run, &BTreeSet::from([crate::common::path("src/pkg/b.py")]));
    let direct: Vec<String> = blast.direct.iter().map(ToString::to_string).collect();
    let all: Vec<String> = blast.transitive.iter().map(ToString::to_string).collect();
    assert_eq!(direct, ["src/pkg/a.py"]);
    assert_eq!(all, ["src/app.py", "src/pkg/a.py"]);
}

#[test]
fn an_import_of_a_submodule_is_an_edge_to_it_and_not_to_its_package() {
    let run = run(&[("pkg/__init__.py", ""), ("pkg/a.py", ""), ("main.py", "from pkg import a\n")]);
    assert_eq!(needs(&run)["main.py"], BTreeSet::from(["pkg/a.py".to_owned()]));
}

#[test]
fn a_package_in_a_cycle_is_named_by_its_real_file() {
    let run = run(&[("pkg/__init__.py", "from pkg.a import x\n"), ("pkg/a.py", "from pkg import y\n")]);
    let cycles = findings(&run, FindingFamily::Cycle);
    let members: Vec<String> = cycles[0].locations.iter().map(|place| place.path.to_string()).collect();
    assert_eq!(members, ["pkg/__init__.py", "pkg/a.py"]);
}

#[test]
fn imports_inside_functions_and_for_types_are_no_cycle() {
    let late = run(&[("a.py", "import b\n"), ("b.py", "def f():\n    import a\n    return a\n")]);
    assert!(findings(&late, FindingFamily::Cycle).is_empty());
    let types = run(&[
        ("a.py", "import b\n"),
        ("b.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import a\n"),
    ]);
    assert!(findings(&types, FindingFamily::Cycle).is_empty());
}

#[test]
fn a_function_of_one_statement_with_sixty_branches_is_measured() {
    let text = format!("def hidden(x, y, lock):\n    with lock:\n{}", branches(60, "        "));
    let run = run(&[("a.py", &text)]);
    let hidden = run.units.iter().find(|unit| unit.symbol == "hidden").expect("it is a unit");
    assert_eq!(hidden.cyclomatic, 61);
    assert_eq!(findings(&run, FindingFamily::Complexity)[0].severity, Severity::Critical);
}

#[test]
fn code_outside_functions_and_callbacks_is_measured() {
    let python = run(&[("a.py", &branches(40, ""))]);
    assert_eq!(findings(&python, FindingFamily::Complexity).len(), 1);
    let body = "  if (x) { y(); }\n".repeat(40);
    let script = run(&[("a.js", &format!("app.get('/', (x, y) => {{\n{body}}});\n"))]);
    assert_eq!(findings(&script, FindingFamily::Complexity).len(), 1);
}

#[test]
fn a_renamed_receiver_and_an_inserted_statement_hide_no_copy() {
    let original = "def f(rows):\n    out = []\n    for row in rows:\n        if row.ok:\n            out.append(row.value)\n            row.touch(out)\n        else:\n            out.extend(row.parts())\n    log.info('%s', len(out))\n    return sorted(out, key=len)\n";
    let renamed = original.replace("out", "acc");
    let longer = original.replace("    log.info", "    audit(rows)\n    log.info");
    let kind = |copy: &str| {
        let run = run(&[("a.py", original), ("b.py", &format!("import z\n{copy}\nz.x = 1\n"))]);
        let found = findings(&run, FindingFamily::Clone);
        assert_eq!(found.len(), 1);
        found[0].clone_type
    };
    assert_eq!(kind(&renamed), Some(CloneType::Renamed));
    assert_eq!(kind(&longer), Some(CloneType::Near));
}

#[test]
fn one_more_module_in_a_cycle_is_the_same_finding() {
    let b = ("b.py", "import a\n");
    let before = run(&[("a.py", "import b\n"), b]);
    let after = run(&[("a.py", "import b\nimport c\n"), b, ("c.py", "import a\n")]);
    let comparison = compare(&before, &after);
    assert!(comparison.regressions.is_empty(), "{:#?}", comparison.regressions);
    assert_eq!(comparison.unchanged, 1);
}

#[test]
fn every_worsened_symbol_is_listed() {
    let text = |depth: usize| -> String {
        let function =
            |n: usize| format!("def f{n}(x, y):\n{}    return y\n\n\n", branches(depth + n % 3, "    "));
        (0..50).map(function).collect::<Vec<_>>().concat()
    };
    let comparison = compare(&run(&[("a.py", &text(2))]), &run(&[("a.py", &text(3))]));
    let symbols: BTreeSet<&str> = comparison.worsened.iter().map(|worse| worse.symbol.as_str()).collect();
    assert_eq!(symbols.len(), 50);
}

#[test]
fn the_run_id_knows_nothing_of_cache_and_folder() {
    let files = [("a.py", "def f():\n    return 1\n"), ("b.py", "import a\n")];
    let cold = analysis(&files);
    let sources = cold.facts.iter().map(|(path, (key, facts))| {
        let known = probity_analysis::SourceInput::Known { content: key.content, facts: facts.clone() };
        (path.clone(), known)
    });
    let input = probity_analysis::AnalysisInput { sources: sources.collect(), ..Default::default() };
    let warm = probity_analysis::analyze(&input, &probity_analysis::AnalysisSettings::default());
    assert_eq!(cold.run, warm.run);
}

#[test]
fn public_code_without_a_use_is_an_interface_and_no_finding() {
    let text =
        "def used():\n    return 1\n\ndef unused():\n    return used()\n\ndef _private():\n    return 2\n";
    let run = run(&[("a.py", text)]);
    let dead: Vec<&str> = findings(&run, FindingFamily::DeadCode)
        .iter()
        .map(|found| found.locations[0].symbol.as_str())
        .collect();
    assert_eq!(dead, ["_private"]);
}

#[test]
fn what_frameworks_call_is_not_dead() {
    let text = r#"
@app.route("/")
def _index():
    return 1

def _named():
    return 2

TABLE = {"x": "_named"}

class _Visitor(Base):
    def _visit_node(self):
        return 3

def test_it():
    assert _Visitor

def dispatch(kind):
    return globals()["_handle_" + kind]

def _handle_open():
    return 4

def period(view, kind):
    return getattr(view, "_get_current_%s" % kind)

class Plain:
    def _get_current_week(self):
        return 5

    def _repr_html_(self):
        return 6
"#;
    assert!(findings(&run(&[("a.py", text)]), FindingFamily::DeadCode).is_empty());
}
