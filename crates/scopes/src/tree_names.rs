//! The names in a tree, and lookup of names that look alike.

use probity_paths::RepoPath;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use unicode_normalization::UnicodeNormalization;

/// The names of a tree's files and directories.
#[derive(Debug, Default)]
pub struct TreeNames<'a> {
    names: BTreeSet<&'a [u8]>,
    directories: BTreeSet<&'a [u8]>,
    /// The names by their folded form, computed on first use.
    folded: OnceCell<BTreeMap<Vec<u8>, &'a [u8]>>,
}

impl<'a> TreeNames<'a> {
    /// Collects the names of `files`, of `directories`, and of all their parents.
    pub fn new(
        files: impl IntoIterator<Item = &'a RepoPath>,
        directories: impl IntoIterator<Item = &'a RepoPath>,
    ) -> Self {
        let mut tree = Self::default();
        for file in files {
            tree.names.insert(file.as_bytes());
            tree.add_directories(file.ancestors_and_self().filter(|name| name.len() < file.as_bytes().len()));
        }
        for directory in directories {
            tree.add_directories(directory.ancestors_and_self());
        }
        tree
    }

    fn add_directories(&mut self, lineage: impl Iterator<Item = &'a [u8]>) {
        for name in lineage {
            self.names.insert(name);
            self.directories.insert(name);
        }
    }

    /// Returns true if a file or directory has exactly this name.
    pub fn contains(&self, name: &[u8]) -> bool {
        self.names.contains(name)
    }

    /// Returns true if a directory has exactly this name.
    pub fn has_directory(&self, name: &[u8]) -> bool {
        self.directories.contains(name)
    }

    /// Returns a name of the tree that a person could confuse with `name`, if the tree does not have `name` itself.
    pub fn confusable_name(&self, name: &[u8]) -> Option<&'a [u8]> {
        if self.contains(name) {
            return None;
        }
        let folded =
            self.folded.get_or_init(|| self.names.iter().rev().map(|name| (fold(name), *name)).collect());
        folded.get(&fold(name)).copied()
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
