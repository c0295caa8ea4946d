//! The untracked paths that git ignores, by the rules of `.gitignore` files and `info/exclude`.
//!
//! The people and agents who work in the tree write these rules, so the rules have no influence on what counts as
//! changed. They only separate work that will be committed from files that stay around. The user's own configuration is
//! not read, because it differs between machines.
//!
//! Each rule becomes a pattern of a [`Scope`], so that there is one matcher (law 12) and `init` can offer the same
//! patterns for a policy. The crate `ignore` would be a second matcher, and takes rules as text only: a rule with bytes
//! that are no UTF-8 would be lost.

use super::{GitLayout, git_files};
use crate::entry::SnapshotEntry;
use crate::snapshot::Snapshot;
use probity_paths::{RepoPath, Scope};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

const MAX_RULES_BYTES: u64 = 1024 * 1024;
/// Maximum number of rule files to read. Further ones are ignored, so that more paths are listed than necessary.
const MAX_RULES_FILES: usize = 2_000;
const RULES_FILE: &[u8] = b".gitignore";

/// The ignore rules of a working tree.
#[derive(Debug, Default)]
pub struct IgnoreRules {
    /// Directory of the tree's root, from the top of the working tree; empty if they are the same.
    prefix: Vec<u8>,
    for_dirs: Scope,
    for_files: Scope,
    known_dirs: BTreeMap<Vec<u8>, bool>,
}

impl IgnoreRules {
    /// Reads the rules for the tree of `snapshot`, whose root is at `prefix` below the top of the working tree.
    pub fn read(layout: &GitLayout, snapshot: &Snapshot, prefix: &[u8]) -> Self {
        let mut rules = Self { prefix: prefix.to_vec(), ..Self::default() };
        let exclude = git_files::read(&layout.common_dir.join("info/exclude"), MAX_RULES_BYTES);
        rules.add(b"", &exclude.unwrap_or_default());
        for dir in ancestor_directories(prefix) {
            rules.add_file(layout, dir);
        }
        // From the top down, because rules inside an ignored directory do not apply.
        let mut places: Vec<RepoPath> =
            snapshot.entries_named(RULES_FILE).into_iter().map(SnapshotEntry::into_path).collect();
        places.sort_by_cached_key(|path| path.segments().count());
        for path in places.iter().take(MAX_RULES_FILES).filter(|path| path.as_bytes() != RULES_FILE) {
            if !rules.ignores(path) {
                let dir = path.parent().map(|dir| rules.below_top(dir.as_bytes())).unwrap_or_default();
                rules.add_file(layout, &dir);
            }
        }
        rules
    }

    /// Returns true if git ignores the untracked file at `path` (from the root of the tree).
    pub fn ignores(&mut self, path: &RepoPath) -> bool {
        let path = self.below_top(path.as_bytes());
        let slashes: Vec<usize> = (0..path.len()).filter(|&at| path[at] == b'/').collect();
        slashes.iter().any(|&end| self.ignores_dir(&path[..end]))
            || RepoPath::parse(&path).is_ok_and(|path| self.for_files.contains(&path))
    }

    /// Returns true if git ignores everything in the directory at `path` (from the root of the tree).
    pub fn ignores_directory(&mut self, path: &RepoPath) -> bool {
        let path = self.below_top(path.as_bytes());
        let ends = (0..path.len()).filter(|&at| path[at] == b'/').chain([path.len()]);
        ends.collect::<Vec<_>>().into_iter().any(|end| self.ignores_dir(&path[..end]))
    }

    fn ignores_dir(&mut self, dir: &[u8]) -> bool {
        if let Some(known) = self.known_dirs.get(dir) {
            return *known;
        }
        let ignored = RepoPath::parse(dir).is_ok_and(|dir| self.for_dirs.contains(&dir));
        self.known_dirs.insert(dir.to_vec(), ignored);
        ignored
    }

    fn add_file(&mut self, layout: &GitLayout, dir: &[u8]) {
        let path = layout.root.join(OsStr::from_bytes(dir)).join(OsStr::from_bytes(RULES_FILE));
        if let Ok(text) = git_files::read(&path, MAX_RULES_BYTES) {
            self.add(dir, &text);
        }
    }

    /// Adds the rules of a file in `dir`. Malformed rules are ignored.
    fn add(&mut self, dir: &[u8], text: &[u8]) {
        let lines = text.split(|&byte| byte == b'\n');
        let rules: Vec<IgnoreRule> =
            lines.filter_map(|line| IgnoreRule::parse(dir, line)).filter(IgnoreRule::is_sound).collect();
        let all: Vec<&[u8]> = rules.iter().map(|rule| &*rule.pattern).collect();
        let for_files: Vec<&[u8]> =
            rules.iter().filter(|rule| !rule.dirs_only).map(|rule| &*rule.pattern).collect();
        if let (Ok(dirs), Ok(files)) = (self.for_dirs.amended(&all), self.for_files.amended(&for_files)) {
            (self.for_dirs, self.for_files) = (dirs, files);
        }
        self.known_dirs.clear();
    }

    fn below_top(&self, path: &[u8]) -> Vec<u8> {
        if self.prefix.is_empty() { path.to_vec() } else { [&self.prefix, path].join(&b'/') }
    }
}

/// Returns the directories from the top of the working tree down to `prefix`.
fn ancestor_directories(prefix: &[u8]) -> BTreeSet<&[u8]> {
    let ends = (0..prefix.len()).filter(|&at| prefix[at] == b'/').chain([0, prefix.len()]);
    ends.map(|end| &prefix[..end]).collect()
}

/// One rule that ignores something, as a pattern of a scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IgnorePattern {
    /// The pattern, relative to the directory of the rules.
    pub pattern: Vec<u8>,
    /// True if it applies to directories only.
    pub dirs_only: bool,
}

/// Parses the rules of a text that ignore something; negated rules are left out.
pub fn ignore_patterns(text: &[u8]) -> Vec<IgnorePattern> {
    let rules = text
        .split(|&byte| byte == b'\n')
        .filter_map(|line| IgnoreRule::parse(b"", line))
        .filter(IgnoreRule::is_sound);
    let ignoring = rules.filter(|rule| !rule.pattern.starts_with(b"!"));
    ignoring.map(|IgnoreRule { pattern, dirs_only }| IgnorePattern { pattern, dirs_only }).collect()
}

/// One line, as a pattern of a scope.
pub(super) struct IgnoreRule {
    pub(super) pattern: Vec<u8>,
    pub(super) dirs_only: bool,
}

impl IgnoreRule {
    pub(super) fn parse(dir: &[u8], line: &[u8]) -> Option<Self> {
        let line = without_trailing_spaces(line);
        let (negated, line) = match line.split_first()? {
            (b'#', _) => return None,
            (b'!', rest) => (true, rest),
            _ => (false, line),
        };
        let dirs_only = line.ends_with(b"/");
        let line = line.strip_suffix(b"/").unwrap_or(line);
        let anchored = line.contains(&b'/');
        let line = line.strip_prefix(b"/").unwrap_or(line);
        if line.is_empty() {
            return None;
        }
        let mut pattern = if negated { b"!".to_vec() } else { Vec::new() };
        for &byte in dir {
            push_plain(&mut pattern, byte);
        }
        if !dir.is_empty() {
            pattern.push(b'/');
        }
        if !anchored {
            pattern.extend_from_slice(b"**/");
        }
        unescape(&mut pattern, line);
        Some(Self { pattern, dirs_only })
    }

    fn is_sound(&self) -> bool {
        Scope::parse(&[&self.pattern]).is_ok()
    }
}

/// Removes trailing spaces, unless the last of them is escaped.
fn without_trailing_spaces(line: &[u8]) -> &[u8] {
    let mut line = line.strip_suffix(b"\r").unwrap_or(line);
    while let Some(shorter) = line.strip_suffix(b" ") {
        if shorter.ends_with(b"\\") {
            break;
        }
        line = shorter;
    }
    line
}

/// Converts git's backslash escapes to classes of one character, as scopes write them.
fn unescape(pattern: &mut Vec<u8>, line: &[u8]) {
    let mut bytes = line.iter();
    while let Some(&byte) = bytes.next() {
        match (byte, byte == b'\\') {
            (_, true) => bytes.next().into_iter().for_each(|&next| push_plain(pattern, next)),
            (byte, false) => pattern.push(byte),
        }
    }
}

fn push_plain(pattern: &mut Vec<u8>, byte: u8) {
    if b"*?[".contains(&byte) {
        pattern.extend_from_slice(&[b'[', byte, b']']);
    } else {
        pattern.push(byte);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ignored(rules: &[(&str, &str)], path: &str) -> bool {
        let mut all = IgnoreRules::default();
        for (dir, text) in rules {
            all.add(dir.as_bytes(), text.as_bytes());
        }
        all.ignores(&RepoPath::parse(path.as_bytes()).expect("a path"))
    }

    #[test]
    fn a_name_without_slash_is_meant_everywhere() {
        let rules = [("", "*.log\n# a comment\n\n\\#odd\n")];
        assert!(ignored(&rules, "a.log") && ignored(&rules, "x/y/a.log") && ignored(&rules, "x/#odd"));
        assert!(!ignored(&rules, "a.txt"));
    }

    #[test]
    fn a_rule_with_a_slash_is_meant_from_its_folder() {
        assert!(ignored(&[("", "/out\n")], "out/x") && !ignored(&[("", "/out\n")], "a/out"));
        assert!(ignored(&[("pkg", "gen/*.py")], "pkg/gen/a.py"));
        assert!(!ignored(&[("pkg", "gen/*.py")], "gen/a.py"));
    }

    #[test]
    fn a_rule_for_folders_spares_files() {
        assert!(ignored(&[("", "build/")], "a/build/x") && !ignored(&[("", "build/")], "a/build"));
    }

    #[test]
    fn a_directory_is_ignored_by_its_own_name_or_by_one_above_it() {
        let mut rules = IgnoreRules::default();
        rules.add(b"", b"build/\n/out\n*.log\n");
        let mut ignores =
            |name: &str| rules.ignores_directory(&RepoPath::parse(name.as_bytes()).expect("a path"));
        assert!(ignores("a/build") && ignores("a/build/b") && ignores("out") && ignores("x.log"));
        assert!(!ignores("a/out") && !ignores("builds"));
    }

    #[test]
    fn what_lies_in_an_ignored_folder_cannot_come_back_and_the_rest_can() {
        assert!(ignored(&[("", "out/\n!out/keep")], "out/keep"));
        assert!(!ignored(&[("", "out/*\n!out/keep")], "out/keep"));
        assert!(ignored(&[("", "out/*\n!out/keep")], "out/other"));
    }
}
