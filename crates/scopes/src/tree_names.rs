//! The names in a tree, and lookup of names that look alike.

use probity_paths::RepoPath;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use unicode_normalization::UnicodeNormalization;

/// The names of a tree's files and directories. Parents need no entry of their own: a directory is the common beginning
/// of the names below it. A large tree is asked only a handful of questions, so nothing is copied for them.
#[derive(Debug, Default)]
pub struct TreeNames<'a> {
    /// Sorted.
    files: Vec<&'a [u8]>,
    /// Sorted; at least the directories without a file below them.
    directories: Vec<&'a [u8]>,
    /// The names by their folded form, computed on first use.
    folded: OnceCell<BTreeMap<Vec<u8>, &'a [u8]>>,
}

impl<'a> TreeNames<'a> {
    /// Collects the names of `files`, of `directories`, and of all their parents.
    pub fn new(
        files: impl IntoIterator<Item = &'a RepoPath>,
        directories: impl IntoIterator<Item = &'a RepoPath>,
    ) -> Self {
        let mut files: Vec<&[u8]> = files.into_iter().map(RepoPath::as_bytes).collect();
        let mut directories: Vec<&[u8]> = directories.into_iter().map(RepoPath::as_bytes).collect();
        files.sort_unstable();
        directories.sort_unstable();
        Self { files, directories, folded: OnceCell::new() }
    }

    /// Returns true if a file or directory has exactly this name.
    pub fn contains(&self, name: &[u8]) -> bool {
        self.files.binary_search(&name).is_ok() || self.has_directory(name)
    }

    /// Returns true if a directory has exactly this name.
    pub fn has_directory(&self, name: &[u8]) -> bool {
        let below = [name, b"/"].concat();
        let has_below = |names: &[&[u8]]| {
            let place = names.partition_point(|other| *other < below.as_slice());
            names.get(place).is_some_and(|first| first.starts_with(&below))
        };
        self.directories.binary_search(&name).is_ok()
            || has_below(&self.files)
            || has_below(&self.directories)
    }

    /// Returns a name of the tree that a person could confuse with `name`, if the tree does not have `name` itself.
    pub fn confusable_name(&self, name: &[u8]) -> Option<&'a [u8]> {
        if self.contains(name) {
            return None;
        }
        let folded = self
            .folded
            .get_or_init(|| self.all_names().into_iter().rev().map(|name| (fold(name), name)).collect());
        folded.get(&fold(name)).copied()
    }

    fn all_names(&self) -> BTreeSet<&'a [u8]> {
        let listed = self.files.iter().chain(&self.directories).copied();
        let lineage = |name: &'a [u8]| {
            let ends = name.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(end, _)| end);
            ends.chain([name.len()]).map(move |end| &name[..end])
        };
        listed.flat_map(lineage).collect()
    }
}

/// Removes differences that are hard to see: `\` becomes `/`, white space at the ends is dropped, characters are
/// composed (NFC) and lower-cased. Bytes that are not characters stay.
fn fold(name: &[u8]) -> Vec<u8> {
    let mut folded = Vec::with_capacity(name.len());
    for chunk in trim(name).utf8_chunks() {
        let text: String = chunk.valid().replace('\\', "/").nfc().collect();
        folded.extend(text.to_lowercase().bytes());
        folded.extend(chunk.invalid());
    }
    folded
}

/// Removes white space at both ends.
fn trim(name: &[u8]) -> &[u8] {
    let begin =
        name.utf8_chunks().next().map_or(0, |first| first.valid().len() - first.valid().trim_start().len());
    let name = &name[begin..];
    let last = name.utf8_chunks().last().filter(|last| last.invalid().is_empty());
    let end = last.map_or(0, |last| last.valid().len() - last.valid().trim_end().len());
    &name[..name.len() - end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(bytes: &[u8]) -> RepoPath {
        RepoPath::parse(bytes).expect("a path")
    }

    #[test]
    fn parents_are_directories() {
        let (file, directory) = (path(b"src/auth/a.py"), path(b"build/out"));
        let tree = TreeNames::new([&file], [&directory]);
        for name in [&b"src"[..], b"src/auth", b"build", b"build/out"] {
            assert!(tree.contains(name) && tree.has_directory(name));
        }
        assert!(tree.contains(b"src/auth/a.py") && !tree.has_directory(b"src/auth/a.py"));
        assert!(!tree.contains(b"auth"));
    }

    #[test]
    fn finds_what_a_person_would_mix_up() {
        let files = [&b"README.md"[..], b"src/a.py", "café".as_bytes(), b"Dir/\xff ", b" x"].map(path);
        let tree = TreeNames::new(&files, []);
        for (name, alike) in [
            (&b"readme.md"[..], Some(&b"README.md"[..])),
            (b"README.md\n", Some(b"README.md")),
            (b"src\\A.py", Some(b"src/a.py")),
            ("cafe\u{301}".as_bytes(), Some("café".as_bytes())),
            (b"dir/\xff", Some(b"Dir/\xff ")),
            (b"X", Some(b" x")),
            (b"SRC", Some(b"src")),
            (b"README.md", None),
            (b"other.md", None),
        ] {
            assert_eq!(tree.confusable_name(name), alike, "{}", name.escape_ascii());
        }
    }
}
