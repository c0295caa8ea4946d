//! The four matching rules. The documents that use them require different rules, so every mechanism names its own.

use crate::fnmatch::Fnmatch;
use crate::repo_path::{self, RepoPath};
use crate::scope::{PatternError, Scope};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// A way to compare patterns with paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MatchRule {
    /// Equal bytes: the scope check of intents.
    Literal,
    /// Equal, or below that directory: worktree checks.
    Prefix,
    /// Python's `fnmatchcase`: `forbidden`, attribution.
    Fnmatch,
    /// Globs with exclusions, last match wins: the scope of plans and packs.
    Glob,
}

impl MatchRule {
    pub const ALL: [Self; 4] = [Self::Literal, Self::Prefix, Self::Fnmatch, Self::Glob];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Literal => "literal",
            Self::Prefix => "prefix",
            Self::Fnmatch => "fnmatch",
            Self::Glob => "glob",
        }
    }

    /// Compiles a list of patterns under this rule, or returns the first invalid one.
    pub fn compile<P: AsRef<[u8]>>(self, patterns: &[P]) -> Result<PathMatcher, PatternError> {
        Ok(PathMatcher(match self {
            Self::Literal => CompiledPatterns::Literal(parse_names(patterns)?),
            Self::Prefix => CompiledPatterns::Prefix(parse_names(patterns)?),
            Self::Fnmatch => {
                CompiledPatterns::Fnmatch(patterns.iter().map(|text| Fnmatch::new(text.as_ref())).collect())
            }
            Self::Glob => CompiledPatterns::Glob(Scope::parse(patterns)?),
        }))
    }
}

/// A list of patterns compiled under one rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathMatcher(CompiledPatterns);

#[derive(Debug, Clone, PartialEq, Eq)]
enum CompiledPatterns {
    Literal(BTreeSet<Box<[u8]>>),
    Prefix(BTreeSet<Box<[u8]>>),
    Fnmatch(Vec<Fnmatch>),
    Glob(Scope),
}

impl PathMatcher {
    /// Returns true if the list matches `path`.
    pub fn matches(&self, path: &RepoPath) -> bool {
        match &self.0 {
            CompiledPatterns::Literal(names) => names.contains(path.as_bytes()),
            CompiledPatterns::Prefix(names) => path.ancestors_and_self().any(|path| names.contains(path)),
            CompiledPatterns::Fnmatch(patterns) => patterns.iter().any(|pattern| pattern.matches(path)),
            CompiledPatterns::Glob(scope) => scope.contains(path),
        }
    }
}

fn parse_names<P: AsRef<[u8]>>(patterns: &[P]) -> Result<BTreeSet<Box<[u8]>>, PatternError> {
    let parse = |(index, text): (usize, &P)| {
        let name = text.as_ref();
        match repo_path::name_error(name) {
            None => Ok(name.into()),
            Some(reason) => Err(PatternError { reason, index, pattern: name.to_vec() }),
        }
    };
    patterns.iter().enumerate().map(parse).collect()
}

impl fmt::Display for MatchRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a matching rule: literal, prefix, fnmatch or glob")]
pub struct UnknownRule(String);

impl FromStr for MatchRule {
    type Err = UnknownRule;

    fn from_str(text: &str) -> Result<Self, UnknownRule> {
        Self::ALL.into_iter().find(|rule| rule.name() == text).ok_or_else(|| UnknownRule(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(rule: MatchRule, pattern: &str, path: &str) -> bool {
        let path = RepoPath::parse(path.as_bytes()).expect("a path");
        rule.compile(&[pattern]).expect("a pattern").matches(&path)
    }

    #[test]
    fn one_pattern_means_four_things() {
        for (path, expected) in [
            ("src/*", [true, true, true, true]),
            ("src/*/a", [false, true, true, false]),
            ("src/a", [false, false, true, true]),
            ("src/a/b", [false, false, true, false]),
        ] {
            assert_eq!(MatchRule::ALL.map(|rule| matches(rule, "src/*", path)), expected, "{path}");
        }
    }

    #[test]
    fn a_list_of_names_refuses_what_is_no_name() {
        for rule in [MatchRule::Literal, MatchRule::Prefix] {
            let error = rule.compile(&["ok", "a//b"]).expect_err("no path");
            assert_eq!((error.reason.as_str(), error.index), ("SCOPE.EMPTY_SEGMENT", 1));
        }
    }

    #[test]
    fn a_rule_is_known_by_its_name() {
        for rule in MatchRule::ALL {
            assert_eq!(rule.to_string().parse(), Ok(rule));
        }
        assert!("regex".parse::<MatchRule>().is_err());
    }
}
