//! Tests and error handlers that a change removes are counted.

use crate::common::run;
use probity_analysis::{SafeguardLossKind, compare};

/// Returns what is lost between two texts of one file, with counts.
fn losses(path: &str, before: &str, after: &str) -> Vec<(SafeguardLossKind, u32)> {
    let comparison = compare(&run(&[(path, before)]), &run(&[(path, after)]));
    comparison.safeguards.iter().map(|loss| (loss.kind, loss.count)).collect()
}

#[test]
fn removed_tests_are_counted_in_every_style() {
    let removed = [(SafeguardLossKind::TestsRemoved, 1)];
    let python = "def test_a():\n    assert f(1)\n\n\ndef test_b():\n    assert f(2)\n";
    assert_eq!(losses("tests/test_a.py", python, "def test_a():\n    assert f(1)\n"), removed);
    let javascript = "describe('a', () => {\n  it('b', () => { f(1) });\n  it('c', () => { f(2) });\n});\n";
    let less = "describe('a', () => {\n  it('b', () => { f(1) });\n});\n";
    assert_eq!(losses("test/a.test.js", javascript, less), removed);
    let go = "package a\n\nfunc TestA(t *testing.T) {\n\tf(1)\n}\n\nfunc TestB(t *testing.T) {\n\tf(2)\n}\n";
    assert_eq!(losses("a_test.go", go, "package a\n\nfunc TestA(t *testing.T) {\n\tf(1)\n}\n"), removed);
    let rust = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() {\n        f(1);\n    }\n\n    #[test]\n    fn b() {\n        f(2);\n    }\n}\n";
    let less = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() {\n        f(1);\n    }\n}\n";
    assert_eq!(losses("src/a.rs", rust, less), removed);
    let java = "class ATest {\n  @Test\n  void a() { f(1); }\n\n  @Test\n  void b() { f(2); }\n}\n";
    assert_eq!(losses("ATest.java", java, "class ATest {\n  @Test\n  void a() { f(1); }\n}\n"), removed);
}

#[test]
fn a_test_that_moves_is_not_lost() {
    let test = "def test_a():\n    assert f(1)\n";
    let comparison = compare(&run(&[("tests/test_a.py", test)]), &run(&[("tests/test_b.py", test)]));
    assert_eq!(comparison.safeguards, []);
}

#[test]
fn skipped_tests_are_counted() {
    let skipped = [(SafeguardLossKind::TestsSkipped, 1)];
    let python = "def test_a():\n    assert f(1)\n";
    assert_eq!(losses("tests/test_a.py", python, &format!("@pytest.mark.skip\n{python}")), skipped);
    let javascript = "it('b', () => { f(1) });\n";
    let found = losses("test/a.test.js", javascript, "it.skip('b', () => { f(1) });\n");
    assert!(found.contains(&skipped[0]), "{found:?}");
    let go = "package a\n\nfunc TestA(t *testing.T) {\n\tf(1)\n}\n";
    assert_eq!(losses("a_test.go", go, &go.replace("f(1)", "t.Skip()\n\tf(1)")), skipped);
    let rust = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() {\n        f(1);\n    }\n}\n";
    assert_eq!(losses("src/a.rs", rust, &rust.replace("#[test]", "#[test]\n    #[ignore]")), skipped);
    let java = "class ATest {\n  @Test\n  void a() { f(1); }\n}\n";
    assert_eq!(losses("ATest.java", java, &java.replace("@Test", "@Test\n  @Disabled")), skipped);
}

#[test]
fn handlers_that_go_or_do_nothing_are_counted() {
    let python = "def f(a):\n    try:\n        return a.load()\n    except OSError as error:\n        log(error)\n        raise\n";
    let removed = [(SafeguardLossKind::HandlersRemoved, 1)];
    assert_eq!(losses("a.py", python, "def f(a):\n    return a.load()\n"), removed);
    let silent = python.replace("        log(error)\n        raise\n", "        pass\n");
    let swallowed = [(SafeguardLossKind::ErrorsSwallowed, 1)];
    assert_eq!(losses("a.py", python, &silent), swallowed);
    let java = "class A {\n  int f() {\n    try {\n      return load();\n    } catch (IOException e) {\n      throw new Error(e);\n    }\n  }\n}\n";
    assert_eq!(losses("A.java", java, &java.replace("      throw new Error(e);\n", "")), swallowed);
    let javascript =
        "function f() {\n  try {\n    return load();\n  } catch (error) {\n    log(error);\n  }\n}\n";
    let silent = javascript.replace("    log(error);\n", "    // never mind\n");
    assert_eq!(losses("a.js", javascript, &silent), swallowed);
    assert_eq!(losses("a.js", javascript, javascript), []);
}
