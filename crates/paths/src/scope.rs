//! A scope R: an ordered list of globs with exclusions. The last pattern that matches a path decides.

use crate::RepoPath;
use crate::glob::{Glob, escape_glob};
use crate::prefix_index::PrefixIndex;
use probity_core::{ReasonCode, bytes};

/// The paths that a change may touch, as compiled glob patterns.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scope {
    patterns: Vec<ScopePattern>,
    stems: PrefixIndex,
}

/// One pattern of a scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopePattern {
    text: Box<[u8]>,
    excludes: bool,
    glob: Glob,
}

/// An invalid pattern of a scope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("pattern {}, `{}`: {}", index + 1, bytes::escape(.pattern), .reason.meaning())]
pub struct PatternError {
    /// A `SCOPE.…` code.
    pub reason: ReasonCode,
    /// Zero-based index of the pattern in the list.
    pub index: usize,
    pub pattern: Vec<u8>,
}

/// The pattern that decided about a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecidingPattern<'a> {
    /// Zero-based index of the pattern in the list.
    pub index: usize,
    pub pattern: &'a ScopePattern,
}

/// The share of a tree that a scope covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PathCoverage {
    /// Number of paths in the scope.
    pub covered: usize,
    /// Number of paths in the tree.
    pub total: usize,
}

impl ScopePattern {
    pub fn parse(text: &[u8]) -> Result<Self, ReasonCode> {
        let excludes = text.starts_with(b"!");
        let glob = Glob::parse(&text[usize::from(excludes)..])?;
        Ok(Self { text: text.into(), excludes, glob })
    }

    /// Returns the pattern as written.
    pub fn as_bytes(&self) -> &[u8] {
        &self.text
    }

    /// Returns true if the pattern removes paths from the scope.
    pub fn excludes(&self) -> bool {
        self.excludes
    }

    pub fn glob(&self) -> &Glob {
        &self.glob
    }
}

impl Scope {
    /// Compiles a list of patterns, or returns the first invalid one.
    pub fn parse<P: AsRef<[u8]>>(patterns: &[P]) -> Result<Self, PatternError> {
        Self::default().amended(patterns)
    }

    /// Returns this scope with `patterns` appended, so that they decide last (law 2). Error indexes count both lists.
    pub fn amended<P: AsRef<[u8]>>(&self, patterns: &[P]) -> Result<Self, PatternError> {
        let mut all = self.patterns.clone();
        for text in patterns.iter().map(AsRef::as_ref) {
            let pattern = ScopePattern::parse(text).map_err(|reason| PatternError {
                reason,
                index: all.len(),
                pattern: text.to_vec(),
            })?;
            all.push(pattern);
        }
        Ok(Self { stems: PrefixIndex::new(all.iter().map(|pattern| pattern.glob.stem())), patterns: all })
    }

    /// Returns the scope of everything below `path`, which is taken literally.
    pub fn subtree(path: &RepoPath) -> Self {
        let text = [&escape_glob(path.as_bytes())[..], b"/**"].concat();
        let glob = Glob::parse(&text).expect("an escaped path is a glob");
        let stems = PrefixIndex::new(std::iter::once(glob.stem()));
        Self { patterns: vec![ScopePattern { text: text.into(), excludes: false, glob }], stems }
    }

    pub fn patterns(&self) -> &[ScopePattern] {
        &self.patterns
    }

    /// Returns true if a change of `path` is inside this scope.
    pub fn contains(&self, path: &RepoPath) -> bool {
        self.decision(path).is_some_and(|decision| !decision.pattern.excludes)
    }

    /// Counts the paths of a tree that are inside this scope.
    pub fn coverage<'a>(&self, tree: impl IntoIterator<Item = &'a RepoPath>) -> PathCoverage {
        tree.into_iter().fold(PathCoverage::default(), |coverage, path| PathCoverage {
            covered: coverage.covered + usize::from(self.contains(path)),
            total: coverage.total + 1,
        })
    }

    /// Returns the last pattern that matches `path`, or `None` if none does and the path is therefore outside.
    pub fn decision(&self, path: &RepoPath) -> Option<DecidingPattern<'_>> {
        let path = path.as_bytes();
        let mut last = None;
        for candidates in self.stems.of(path) {
            let later =
                candidates.iter().rev().copied().take_while(|&index| last.is_none_or(|last| index > last));
            last =
                later.into_iter().find(|&index| self.patterns[index].glob.matches_behind_stem(path)).or(last);
        }
        last.map(|index| DecidingPattern { index, pattern: &self.patterns[index] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> RepoPath {
        RepoPath::parse(text.as_bytes()).expect("a path")
    }

    #[test]
    fn the_last_match_decides_and_can_be_named() {
        let scope = Scope::parse(&["src/**", "!src/gen/**", "src/gen/keep.rs", "**/*.md"]).expect("a scope");
        let decided = |text: &str| scope.decision(&path(text)).map(|decision| decision.index);
        assert_eq!(decided("src/a.rs"), Some(0));
        assert_eq!(decided("src/gen/a.rs"), Some(1));
        assert_eq!(decided("src/gen/keep.rs"), Some(2));
        assert_eq!(decided("src/gen/a.md"), Some(3));
        assert_eq!(decided("lib/a.rs"), None);
        assert!(!scope.contains(&path("src/gen/a.rs")) && !scope.contains(&path("lib/a.rs")));
        assert!(scope.contains(&path("src/gen/a.md")));
    }

    #[test]
    fn an_amendment_decides_last_and_leaves_the_scope_as_it_was() {
        let scope = Scope::parse(&["src/**"]).expect("a scope");
        let amended = scope.amended(&["!src/a", "lib/*"]).expect("a scope");
        assert!(scope.contains(&path("src/a")) && !amended.contains(&path("src/a")));
        assert!(!scope.contains(&path("lib/a")) && amended.contains(&path("lib/a")));
        let error = scope.amended(&["ok", "["]).expect_err("no pattern");
        assert_eq!((error.reason, error.index), (ReasonCode::ScopeUnclosedClass, 2));
    }

    #[test]
    fn an_error_shows_the_pattern_without_deceiving() {
        let error = Scope::parse(&["a\u{202e}["]).expect_err("no pattern");
        assert_eq!(error.to_string(), "pattern 1, `a\\u{202e}[`: a `[` has no `]`");
    }

    #[test]
    fn coverage_counts_what_is_let_in() {
        let scope = Scope::parse(&["src/*"]).expect("a scope");
        let tree = [path("src/a"), path("src/b/c"), path("x")];
        assert_eq!(scope.coverage(&tree), PathCoverage { covered: 1, total: 3 });
    }
}
