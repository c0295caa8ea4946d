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
    let folders = ["tests", "test", "__tests__", "spec", "testdata"];
    let is_in_folder =
        path.segments().any(|name| folders.iter().any(|directory| directory.as_bytes() == name));
    let name = String::from_utf8_lossy(path.file_name()).into_owned();
    let stem = name.split('.').next().unwrap_or_default();
    let says_so = stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem.ends_with("_spec")
        || stem.ends_with("Test")
        || stem.ends_with("Tests")
        || name == "conftest.py"
        || name.contains(".test.")
        || name.contains(".spec.");
    is_in_folder || says_so
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_known_by_their_place_or_name() {
        let is = |path: &str| is_test_path(&RepoPath::parse(path.as_bytes()).expect("a path"));
        for path in ["tests/a.py", "a/test_b.py", "b_test.go", "src/x.spec.ts", "FooTest.java"] {
            assert!(is(path), "{path}");
        }
        for path in ["src/latest.py", "contest.go", "attest/a.rs"] {
            assert!(!is(path), "{path}");
        }
    }
}
