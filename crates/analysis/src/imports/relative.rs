//! Languages that import files by path: Bash (`source`), C and C++ (`#include "…"`), Ruby
//! (`require_relative`), PHP (`include`).

use super::{ImportTarget, SourceTree, directory, join, resolve_relative};
use crate::facts::{ImportStatement, count};
use crate::language::Language;
use std::collections::BTreeMap;

/// Files by name, to find includes below unknown directories.
pub(super) struct FileNameIndex(BTreeMap<Vec<u8>, Vec<u32>>);

impl FileNameIndex {
    pub(super) fn new(tree: &SourceTree<'_>) -> Self {
        let mut by_name: BTreeMap<Vec<u8>, Vec<u32>> = BTreeMap::new();
        for (index, file) in tree.files.iter().enumerate() {
            if matches!(file.language, Language::C | Language::Cpp | Language::Ruby) {
                by_name.entry(file.path.file_name().to_vec()).or_default().push(count(index));
            }
        }
        Self(by_name)
    }

    pub(super) fn target(&self, tree: &SourceTree<'_>, from: u32, import: &ImportStatement) -> ImportTarget {
        let file = &tree.files[from as usize];
        let here = directory(&file.path);
        let extension = if file.language == Language::Ruby { ".rb" } else { "" };
        let is_bare_name = file.language == Language::Ruby && !import.module.starts_with('.');
        let name = import.module.trim_end_matches(extension).to_owned() + extension;
        if is_bare_name {
            return self.by_path_suffix(tree, &join("lib", &name));
        }
        let Some(path) = resolve_relative(&here, &name) else { return ImportTarget::External };
        match tree.file(path.as_bytes()) {
            Some(found) => ImportTarget::Files(vec![found]),
            // A script names files relative to where it is started. That is unknown, but often the root.
            None if file.language == Language::Bash => {
                let at_root = resolve_relative("", &name).and_then(|path| tree.file(path.as_bytes()));
                at_root.map_or(ImportTarget::External, |found| ImportTarget::Files(vec![found]))
            }
            None if matches!(file.language, Language::C | Language::Cpp) => self.by_path_suffix(tree, &name),
            None if tree.exists(&path) => ImportTarget::External,
            None => ImportTarget::Missing,
        }
    }

    /// Returns the only file whose path ends like this: the include directories are unknown here.
    fn by_path_suffix(&self, tree: &SourceTree<'_>, path: &str) -> ImportTarget {
        let last = path.rsplit('/').next().unwrap_or(path);
        let tail = format!("/{path}");
        let ends = |file: &&u32| {
            let found = tree.files[**file as usize].path.as_bytes();
            found == path.as_bytes() || found.ends_with(tail.as_bytes())
        };
        let found: Vec<u32> =
            self.0.get(last.as_bytes()).into_iter().flatten().filter(ends).copied().collect();
        if found.len() == 1 { ImportTarget::Files(found) } else { ImportTarget::External }
    }
}
