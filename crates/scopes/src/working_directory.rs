//! Converts paths and patterns between the typed form, relative to the current directory or with a leading `/` from the
//! root, and the form from the root that everything below the command line uses.

use probity_core::{ReasonCode, bytes};
use probity_paths::escape_glob;
use std::fmt;

/// Directories whose names in a grant always mean the one at the root: git's own, and Probity's state.
const ROOT_DIRECTORIES: [&[u8]; 2] = [b".git", b".probity"];

/// The directory of a tree in which a person types. Empty at the root.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WorkingDirectory {
    below_root: Vec<u8>,
}

/// The reason typed text is not a path or pattern of the tree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TypedPathError {
    /// Its `..` leave the root.
    #[error("`{}` typed in {directory} leads out of the tree", bytes::escape(typed))]
    LeavesRoot { typed: Vec<u8>, directory: WorkingDirectory },
    /// A pattern for a name that starts with `!` would be an exclusion.
    #[error("`{}` means a name that begins with `!`, which no pattern can say", bytes::escape(typed))]
    LeadingBang { typed: Vec<u8> },
}

impl TypedPathError {
    pub const fn reason(&self) -> ReasonCode {
        match self {
            Self::LeavesRoot { .. } => ReasonCode::ScopeLeavesRoot,
            Self::LeadingBang { .. } => ReasonCode::UsageInvalid,
        }
    }
}

impl WorkingDirectory {
    /// Creates the directory at `below_root`, a path from the root; empty for the root itself.
    pub fn new(below_root: &[u8]) -> Self {
        Self { below_root: below_root.to_vec() }
    }

    pub fn is_root(&self) -> bool {
        self.below_root.is_empty()
    }

    /// Returns the path from the root that `typed` means. Invalid text is returned unchanged, so that its parser
    /// reports the reason.
    pub fn path(&self, typed: &[u8]) -> Result<Vec<u8>, TypedPathError> {
        self.resolve(typed, <[u8]>::to_vec)
    }

    /// Returns the glob from the root that `typed` means; a leading `!` stays in front.
    pub fn pattern(&self, typed: &[u8]) -> Result<Vec<u8>, TypedPathError> {
        if let Some(excluded) = typed.strip_prefix(b"!") {
            return Ok([&b"!"[..], &self.resolve(excluded, escape_glob)?].concat());
        }
        let pattern = self.resolve(typed, escape_glob)?;
        if pattern.starts_with(b"!") {
            return Err(TypedPathError::LeadingBang { typed: typed.to_vec() });
        }
        Ok(pattern)
    }

    /// Like [`Self::pattern`], but `.git/…` and `.probity/…` always mean those at the root, because those are the
    /// protected ones.
    pub fn grant(&self, typed: &[u8]) -> Result<Vec<u8>, TypedPathError> {
        let first = typed.split(|&byte| byte == b'/').next().unwrap_or_default();
        if ROOT_DIRECTORIES.contains(&first) { Ok(typed.to_vec()) } else { self.pattern(typed) }
    }

    /// Returns the fnmatch pattern from the root that `typed` means; there a leading `!` is part of the name.
    pub fn fnmatch(&self, typed: &[u8]) -> Result<Vec<u8>, TypedPathError> {
        self.resolve(typed, escape_glob)
    }

    /// Returns the text to type here for the path or pattern `from_root`: relative if it lies below, otherwise with a
    /// leading `/`.
    pub fn to_typed(&self, from_root: &[u8]) -> Vec<u8> {
        if self.is_root() {
            return from_root.to_vec();
        }
        let (bang, name) =
            from_root.strip_prefix(b"!").map_or((&b""[..], from_root), |name| (&b"!"[..], name));
        // A relative form that starts with `!` or `.` would be read differently, so it keeps the full path.
        let is_plain = |rest: &&[u8]| !rest.starts_with(b"!") && !rest.starts_with(b".");
        match self.relative(name).filter(is_plain) {
            Some(rest) => [bang, rest].concat(),
            None => [bang, b"/", name].concat(),
        }
    }

    /// Returns the pattern `from_root` without this directory in front; `None` if it lies elsewhere.
    pub fn relative<'a>(&self, from_root: &'a [u8]) -> Option<&'a [u8]> {
        if self.is_root() {
            return Some(from_root);
        }
        from_root.strip_prefix(escape_glob(&self.below_root).as_slice())?.strip_prefix(b"/")
    }

    fn resolve(&self, typed: &[u8], name: impl Fn(&[u8]) -> Vec<u8>) -> Result<Vec<u8>, TypedPathError> {
        if let [b'/', from_root @ ..] = typed
            && !from_root.is_empty()
        {
            return Ok(from_root.to_vec());
        }
        let mut directory = self.below_root.as_slice();
        let mut rest = typed;
        loop {
            let (step, behind) = match rest.iter().position(|&byte| byte == b'/') {
                Some(slash) => (&rest[..slash], &rest[slash + 1..]),
                None => (rest, &[][..]),
            };
            match step {
                b"." => {}
                b".." if directory.is_empty() => {
                    return Err(TypedPathError::LeavesRoot {
                        typed: typed.to_vec(),
                        directory: self.clone(),
                    });
                }
                b".." => {
                    let slash = directory.iter().rposition(|&byte| byte == b'/');
                    directory = &directory[..slash.unwrap_or(0)];
                }
                _ => break,
            }
            rest = behind;
        }
        Ok(match (directory, rest) {
            // Empty text or the root itself: neither is a path, and the parser reports that.
            ([], []) => typed.to_vec(),
            (_, []) if typed.is_empty() => Vec::new(),
            ([], rest) => rest.to_vec(),
            (directory, []) => name(directory),
            (directory, rest) => [&name(directory), &b"/"[..], rest].concat(),
        })
    }
}

/// Prints the directory on one line, from the root.
impl fmt::Display for WorkingDirectory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_root() { f.write_str("the root") } else { f.write_str(&bytes::escape(&self.below_root)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use probity_paths::{RepoPath, Scope};

    fn app() -> WorkingDirectory {
        WorkingDirectory::new(b"packages/app")
    }

    fn text(resolved: Result<Vec<u8>, TypedPathError>) -> String {
        resolved
            .map_or_else(|error| error.reason().as_str().into(), |it| String::from_utf8(it).expect("text"))
    }

    #[test]
    fn what_is_typed_is_relative_to_the_directory_or_to_the_root_with_a_slash() {
        for (typed, meant) in [
            ("src/**", "packages/app/src/**"),
            ("!src/gen/**", "!packages/app/src/gen/**"),
            ("./src", "packages/app/src"),
            ("././src", "packages/app/src"),
            ("../lib/*.rs", "packages/lib/*.rs"),
            ("../../docs", "docs"),
            ("..", "packages"),
            (".", "packages/app"),
            ("**", "packages/app/**"),
            ("/src/**", "src/**"),
            ("!/src/**", "!src/**"),
            ("../../..", "SCOPE.LEAVES_ROOT"),
            ("../../../x", "SCOPE.LEAVES_ROOT"),
            ("!../../../x", "SCOPE.LEAVES_ROOT"),
        ] {
            assert_eq!(text(app().pattern(typed.as_bytes())), meant, "{typed}");
        }
    }

    #[test]
    fn at_the_root_patterns_mean_themselves() {
        let root = WorkingDirectory::default();
        for (typed, meant) in
            [("src/**", "src/**"), ("./src", "src"), ("/src", "src"), ("../x", "SCOPE.LEAVES_ROOT")]
        {
            assert_eq!(text(root.pattern(typed.as_bytes())), meant, "{typed}");
        }
    }

    /// The parser has a separate reason for each of these, so they must reach it unchanged.
    #[test]
    fn what_is_no_pattern_stays_none() {
        for directory in [app(), WorkingDirectory::default()] {
            for (typed, code) in [
                ("", "SCOPE.EMPTY_PATTERN"),
                ("!", "SCOPE.EMPTY_PATTERN"),
                ("//x", "SCOPE.ABSOLUTE"),
                ("src/", "SCOPE.TRAILING_SLASH"),
                ("a//b", "SCOPE.EMPTY_SEGMENT"),
                ("a/../b", "SCOPE.DOT_SEGMENT"),
            ] {
                let pattern = directory.pattern(typed.as_bytes()).expect("stays in the tree");
                let error = Scope::parse(&[pattern]).expect_err("is refused");
                assert_eq!(error.reason.as_str(), code, "{typed:?} in {directory}");
            }
        }
    }

    #[test]
    fn special_characters_of_the_directory_are_part_of_its_name() {
        let odd = WorkingDirectory::new(b"a[x]*?");
        let scope = Scope::parse(&[odd.pattern(b"*.py").expect("a pattern")]).expect("a scope");
        assert!(scope.contains(&RepoPath::parse(b"a[x]*?/m.py").expect("a path")));
        assert!(!scope.contains(&RepoPath::parse(b"ax12/m.py").expect("a path")));
        assert_eq!(text(odd.path(b"m.py")), "a[x]*?/m.py", "a literal path needs no escape");
        let bang = WorkingDirectory::new(b"!x");
        assert_eq!(text(bang.pattern(b"a")), "USAGE.INVALID");
        assert_eq!(text(bang.pattern(b"!a")), "!!x/a");
        assert_eq!(text(bang.path(b"a")), "!x/a");
    }

    #[test]
    fn a_grant_of_gits_own_files_means_those_of_the_root() {
        assert_eq!(text(app().grant(b".git/config")), ".git/config");
        assert_eq!(text(app().grant(b"./.git/config")), "packages/app/.git/config");
        assert_eq!(text(app().grant(b"probity.toml")), "packages/app/probity.toml");
        assert_eq!(text(app().grant(b".gitmodules")), "packages/app/.gitmodules");
    }

    #[test]
    fn what_is_printed_to_be_typed_means_the_same_again() {
        for directory in [app(), WorkingDirectory::default(), WorkingDirectory::new(b"a[b")] {
            for pattern in [
                "src/**",
                "!src/gen/**",
                "packages/app/x",
                "packages/app/!x",
                "packages/app/.x",
                "!packages/app/x/**",
                "packages/application/x",
                ".git/config",
                "[*]",
                "a[[]b/x",
            ] {
                let typed = directory.to_typed(pattern.as_bytes());
                assert_eq!(text(directory.pattern(&typed)), pattern, "{directory}");
            }
        }
        assert_eq!(app().to_typed(b"packages/app/x"), b"x");
        assert_eq!(app().to_typed(b"!packages/app/x"), b"!x");
        assert_eq!(app().to_typed(b"packages/lib/x"), b"/packages/lib/x");
    }
}
