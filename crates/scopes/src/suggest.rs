//! Suggests a scope for a change that is already made or known in advance.
//!
//! Promise: the suggested patterns match every given path and no other path of the tree. A few paths are listed by
//! name. Where there are many in a directory that contains nothing else, the directory is named instead.

use probity_paths::{RepoPath, escape_glob};
use std::collections::{BTreeMap, BTreeSet};

/// Number of paths of one directory to list by name before naming the directory instead.
const MAX_LISTED_PATHS: usize = 8;

/// Returns a readable scope that contains `paths` and nothing else of `tree`.
pub fn suggest<'a>(paths: &'a [RepoPath], tree: impl IntoIterator<Item = &'a RepoPath>) -> Vec<Vec<u8>> {
    let wanted: BTreeSet<&[u8]> = paths.iter().map(RepoPath::as_bytes).collect();
    let others = tree.into_iter().map(RepoPath::as_bytes).filter(|path| !wanted.contains(path)).collect();
    let survey = SuggestionContext::new(wanted, others);
    let mut seen = BTreeSet::new();
    let mut patterns: Vec<Vec<u8>> =
        survey.wanted.iter().flat_map(|path| survey.patterns_for(path)).collect();
    patterns.retain(|pattern| seen.insert(pattern.clone()));
    patterns
}

struct SuggestionContext<'a> {
    wanted: BTreeSet<&'a [u8]>,
    /// The rest of the tree.
    others: BTreeSet<&'a [u8]>,
    /// The directories that contain one of the others.
    parents_of_others: BTreeSet<&'a [u8]>,
    /// Number of wanted paths directly in each directory, and anywhere below it.
    held: BTreeMap<&'a [u8], usize>,
    below: BTreeMap<&'a [u8], usize>,
}

impl<'a> SuggestionContext<'a> {
    fn new(wanted: BTreeSet<&'a [u8]>, others: BTreeSet<&'a [u8]>) -> Self {
        let (mut held, mut below) = (BTreeMap::new(), BTreeMap::new());
        for path in &wanted {
            *held.entry(parent(path)).or_default() += 1;
            for directory in directories(path) {
                *below.entry(directory).or_default() += 1;
            }
        }
        let parents_of_others = others.iter().map(|path| parent(path)).collect();
        Self { wanted, others, parents_of_others, held, below }
    }

    /// Returns the patterns for `path`: the highest directory that can be named, or the path itself.
    fn patterns_for(&self, path: &'a [u8]) -> Vec<Vec<u8>> {
        if path.starts_with(b"!") {
            return self.bang_name_patterns(path);
        }
        let whole = directories(path)
            .find(|directory| self.below[directory] > MAX_LISTED_PATHS && self.is_all_wanted(directory));
        if let Some(directory) = whole {
            return vec![[&escape_glob(directory), &b"/**"[..]].concat()];
        }
        let directory = parent(path);
        if self.held[directory] > MAX_LISTED_PATHS && !self.parents_of_others.contains(directory) {
            let prefix =
                if directory.is_empty() { Vec::new() } else { [&escape_glob(directory), &b"/"[..]].concat() };
            return vec![[&prefix, &b"*"[..]].concat()];
        }
        vec![escape_glob(path)]
    }

    fn is_all_wanted(&self, directory: &[u8]) -> bool {
        let prefix = [directory, b"/"].concat();
        self.others.range(prefix.as_slice()..).next().is_none_or(|other| !other.starts_with(&prefix))
    }

    /// Returns patterns for a name that starts with `!`, which a pattern cannot do literally. The class `[ -!]`
    /// contains `!` and the space; if the tree has the same name with a space, that one is excluded again.
    fn bang_name_patterns(&self, path: &[u8]) -> Vec<Vec<u8>> {
        let rest = &path[1..];
        let spaced = [b" ", rest].concat();
        let include = [&b"[ -!]"[..], &escape_glob(rest)].concat();
        let exclude =
            self.others.contains(spaced.as_slice()).then(|| [&b"!"[..], &escape_glob(&spaced)].concat());
        [include].into_iter().chain(exclude).collect()
    }
}

/// Returns the directories above a path, from the highest down.
fn directories(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(slash, _)| &path[..slash])
}

/// Returns the directory that contains a path; empty at the root.
fn parent(path: &[u8]) -> &[u8] {
    directories(path).last().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suggested(paths: &[&str], others: &[&str]) -> Vec<String> {
        let parse = |text: &&str| RepoPath::parse(text.as_bytes()).expect("a path");
        let paths: Vec<RepoPath> = paths.iter().map(parse).collect();
        let tree: Vec<RepoPath> = paths.iter().cloned().chain(others.iter().map(parse)).collect();
        suggest(&paths, &tree).iter().map(|pattern| String::from_utf8_lossy(pattern).into_owned()).collect()
    }

    fn numbered(prefix: &str, count: usize) -> Vec<String> {
        (0..count).map(|index| format!("{prefix}{index}")).collect()
    }

    fn of(paths: &[String], others: &[&str]) -> Vec<String> {
        suggested(&paths.iter().map(String::as_str).collect::<Vec<_>>(), others)
    }

    #[test]
    fn few_paths_are_listed_by_name() {
        assert_eq!(suggested(&["src/b", "src/a", "README.md"], &["src/c"]), ["README.md", "src/a", "src/b"]);
        assert_eq!(of(&numbered("src/", MAX_LISTED_PATHS), &[]).len(), MAX_LISTED_PATHS);
    }

    #[test]
    fn a_directory_is_named_when_it_holds_nothing_else() {
        let many = numbered("src/gen/", MAX_LISTED_PATHS + 1);
        assert_eq!(of(&many, &["src/a"]), ["src/gen/**"]);
        assert_eq!(of(&many, &[]), ["src/**"], "the highest that holds nothing else");
        assert_eq!(of(&many, &["src/gen/deep/x"]), ["src/gen/*"]);
        assert_eq!(of(&many, &["src/gen/x"]), many);
    }

    #[test]
    fn the_root_is_never_named_as_a_whole() {
        assert_eq!(of(&numbered("", MAX_LISTED_PATHS + 1), &["src/a"]), ["*"]);
        assert_eq!(of(&numbered("", MAX_LISTED_PATHS + 1), &["x"]), numbered("", MAX_LISTED_PATHS + 1));
    }

    #[test]
    fn special_characters_lose_their_meaning() {
        assert_eq!(suggested(&["app/[id]/**", "what?"], &[]), ["app/[[]id]/[*][*]", "what[?]"]);
        assert_eq!(suggested(&["!a*"], &[]), ["[ -!]a[*]"]);
        assert_eq!(suggested(&["!a"], &[" a"]), ["[ -!]a", "! a"]);
    }
}
