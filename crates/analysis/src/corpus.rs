//! The files of a run with their facts: the input of every analysis across files.

use crate::facts::{CodeUnit, FileFacts, SourceRange, UnitKind};
use crate::finding::CodeLocation;
use crate::hash;
use crate::language::Language;
use probity_paths::RepoPath;
use std::sync::Arc;

#[derive(Debug)]
pub(crate) struct CorpusFile {
    pub path: RepoPath,
    pub language: Language,
    pub facts: Arc<FileFacts>,
    /// True if it contains tests, judging by its path.
    pub is_test: bool,
    /// Fingerprints of the symbols, by index.
    pub symbols: Vec<u64>,
}

impl CorpusFile {
    pub(crate) fn new(path: RepoPath, language: Language, facts: Arc<FileFacts>) -> Self {
        let symbols = facts.symbols.iter().map(|symbol| hash::of_bytes(symbol.as_bytes())).collect();
        let is_test = is_test_path(&path);
        Self { path, language, facts, is_test, symbols }
    }

    pub(crate) fn location(&self, range: SourceRange, symbol: &str) -> CodeLocation {
        CodeLocation { path: self.path.clone(), range, symbol: symbol.to_owned() }
    }

    pub(crate) fn unit_location(&self, unit: &CodeUnit) -> CodeLocation {
        self.location(unit.range, &unit.name)
    }

    /// Returns the unit of the file itself, if the file was read.
    pub(crate) fn unit(&self) -> Option<&CodeUnit> {
        self.facts.units.first().filter(|unit| unit.kind == UnitKind::File)
    }
}

/// Returns true if a path is that of tests, by the conventions of the languages.
pub fn is_test_path(path: &RepoPath) -> bool {
    const TEST_DIRECTORIES: [&str; 13] = [
        "tests",
        "test",
        "__tests__",
        "__mocks__",
        "spec",
        "specs",
        "testdata",
        "e2e",
        "testutil",
        "testutils",
        "test-utils",
        "test_utils",
        "testsuite",
    ];
    const TEST_STARTS: [&str; 2] = ["test_", "test-"];
    const TEST_ENDS: [&str; 8] = ["_test", "_tests", "-test", "-tests", "_spec", "Test", "Tests", "TestCase"];
    let is_test_directory = |name: &[u8]| {
        // C# projects with tests end in `.Tests`.
        TEST_DIRECTORIES.iter().any(|directory| directory.as_bytes() == name)
            || [&b".Tests"[..], b".Test"].iter().any(|end| name.ends_with(end))
    };
    let name = String::from_utf8_lossy(path.file_name()).into_owned();
    let stem = name.split('.').next().unwrap_or_default();
    let says_so = TEST_STARTS.iter().any(|start| stem.starts_with(start))
        || TEST_ENDS.iter().any(|end| stem.ends_with(end))
        || matches!(stem, "test" | "tests" | "conftest" | "spec")
        || [".test.", ".spec.", ".e2e."].iter().any(|part| name.contains(part));
    says_so || path.parent().is_some_and(|directory| directory.segments().any(is_test_directory))
}

/// Returns true if a path is that of code which shows or measures the product: examples, benchmarks, documentation.
pub(crate) fn is_sample_path(path: &RepoPath) -> bool {
    const SAMPLE_DIRECTORIES: [&str; 12] = [
        "examples",
        "example",
        "samples",
        "sample",
        "demo",
        "demos",
        "benchmarks",
        "benchmark",
        "bench",
        "benches",
        "docs",
        "doc",
    ];
    let is_sample = |name: &[u8]| SAMPLE_DIRECTORIES.iter().any(|directory| directory.as_bytes() == name);
    path.parent().is_some_and(|directory| directory.segments().any(is_sample))
}

/// Returns true if a path is that of a file which tests read as data.
pub(crate) fn is_test_data_path(path: &RepoPath) -> bool {
    const DATA_DIRECTORIES: [&str; 6] =
        ["testdata", "test-data", "test_data", "fixtures", "__fixtures__", "fixture"];
    let is_data = |name: &[u8]| DATA_DIRECTORIES.iter().any(|directory| directory.as_bytes() == name);
    path.parent().is_some_and(|directory| directory.segments().any(is_data))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_known_by_their_place_or_name() {
        let is = |path: &str| is_test_path(&RepoPath::parse(path.as_bytes()).expect("a path"));
        for path in [
            "tests/a.py",
            "a/test_b.py",
            "b_test.go",
            "src/x.spec.ts",
            "FooTest.java",
            "test.c",
            "test-runner.js",
            "App.Tests/A.cs",
        ] {
            assert!(is(path), "{path}");
        }
        for path in ["src/latest.py", "contest.go", "attest/a.rs", "src/audit.rs", "src/tester.py"] {
            assert!(!is(path), "{path}");
        }
    }
}
