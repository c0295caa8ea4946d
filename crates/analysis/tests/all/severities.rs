//! What is certain and harmful is a warning or worse; what is a matter of taste is not.

use crate::common::run;
use probity_analysis::{FindingFamily, Severity};

fn severities(files: &[(&str, &str)], family: FindingFamily) -> Vec<Severity> {
    let run = run(files);
    run.findings.iter().filter(|finding| finding.family == family).map(|finding| finding.severity).collect()
}

fn report(name: &str) -> String {
    format!(
        "def {name}(rows, limit):\n    total = 0\n    names = []\n    for row in rows[:limit]:\n        if row.price > limit:\n            total += row.price * row.count\n            names.append(row.name.strip())\n        else:\n            total -= row.discount\n            names.insert(0, row.name.upper())\n    return names, total\n"
    )
}

#[test]
fn copies_in_tests_and_examples_inform() {
    let (one, two) = (report("report"), report("summary"));
    for (first, second, expected) in [
        ("src/a.py", "src/b.py", Severity::Warning),
        ("tests/test_a.py", "tests/test_b.py", Severity::Info),
        ("src/a.py", "tests/test_b.py", Severity::Info),
        ("examples/a.py", "examples/b.py", Severity::Info),
    ] {
        assert_eq!(severities(&[(first, &one), (second, &two)], FindingFamily::Clone), [expected], "{first}");
    }
}

#[test]
fn a_copy_that_was_edited_counts_if_it_is_alike_enough() {
    let one = report("report");
    let near = report("summary").replace("    names = []\n", "    names = []\n    log(limit)\n");
    assert_eq!(severities(&[("a.py", &one), ("b.py", &near)], FindingFamily::Clone), [Severity::Warning]);
}

#[test]
fn many_parameters_are_harmful_and_some_more_are_taste() {
    let function = |n: usize| {
        let names: Vec<String> = (0..n).map(|index| format!("p{index}")).collect();
        format!("def f({}):\n    return p0\n", names.join(", "))
    };
    let of = |n: usize| severities(&[("a.py", &function(n))], FindingFamily::Parameters);
    assert_eq!((of(7), of(8), of(12)), (vec![], vec![Severity::Info], vec![Severity::Warning]));
}

#[test]
fn a_hidden_go_function_that_nothing_calls_is_certainly_dead() {
    let text = "package app\n\nfunc Run() int {\n\treturn 1\n}\n\nfunc helper() int {\n\treturn 2\n}\n";
    assert_eq!(severities(&[("app/a.go", text)], FindingFamily::DeadCode), [Severity::Warning]);
}

#[test]
fn idioms_of_the_preprocessor_are_no_syntax_errors() {
    let idioms = [
        "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint f(int a);\n#ifdef __cplusplus\n}\n#endif\n",
        "BEGIN_DECLS\n\nint f(int a);\n\nEND_DECLS\n",
        "int f(int a) {\n#ifdef FAST\n  if (a > 1) {\n#else\n  if (a > 2) {\n#endif\n    return 1;\n  }\n  return 0;\n}\n",
        "API_EXPORT int f(int a);\nstatic INLINE int g(void) { return 1; }\n",
        "int f(struct list *l) {\n  LIST_FOREACH(item, l) {\n    g(item);\n  }\n  return 0;\n}\n",
        "DEFINE_THING(a, b)\nint f(int a) { return a; }\n",
    ];
    for text in idioms {
        for name in ["src/a.c", "src/a.h", "src/a.cpp"] {
            assert_eq!(severities(&[(name, text)], FindingFamily::ParseError), [], "{name}: {text}");
        }
    }
}

#[test]
fn a_syntax_error_in_c_is_harmful() {
    for text in [
        "int f(int a) {\n  return a +;\n}\n",
        "int f(int a) {\n  if (a {\n    return 1;\n  }\n}\n",
        "int f(int a) {\n  return a;\n",
    ] {
        assert_eq!(severities(&[("a.c", text)], FindingFamily::ParseError), [Severity::Warning], "{text}");
    }
}

#[test]
fn broken_test_data_is_no_error() {
    let text = "def broken(:\n";
    let of = |name| severities(&[(name, text)], FindingFamily::ParseError);
    assert_eq!(of("tests/test_a.py"), [Severity::Critical]);
    assert_eq!(of("tests/fixtures/a.py"), [Severity::Info]);
}

#[test]
fn a_flat_list_of_cases_is_a_matter_of_taste() {
    let case = |n| format!("    case {n}:\n      return 'text {n}';\n");
    let cases: String = (0..40).map(case).collect::<Vec<_>>().concat();
    let text = format!("export function text(n) {{\n  switch (n) {{\n{cases}  }}\n  return null;\n}}\n");
    assert_eq!(severities(&[("src/a.js", &text)], FindingFamily::Complexity), [Severity::Info]);
}

#[test]
fn what_only_the_grammar_does_not_know_is_a_notice() {
    let texts = [
        ("a.cpp", "class M : public A {\n public:\n  MOCK_METHOD(int, f, (int), (override));\n};\n"),
        ("a.cpp", "int f() {\n  if consteval { return 1; } else { return 2; }\n}\n"),
        ("a.kt", "annotation class A(val x: Array<String> = [])\n"),
    ];
    for (path, text) in texts {
        let found = run(&[(path, text)]).findings;
        let errors: Vec<Severity> =
            found.iter().filter(|it| it.family == FindingFamily::ParseError).map(|it| it.severity).collect();
        assert_eq!(errors, [Severity::Info], "{text}");
    }
}
