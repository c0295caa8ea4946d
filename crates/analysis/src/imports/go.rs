//! Go: packages are directories below the module that a `go.mod` names.

use super::{ImportTarget, SourceTree, directory, join};
use crate::facts::{ImportStatement, count};
use crate::language::Language;
use std::collections::{BTreeMap, BTreeSet};

/// The modules of the tree with their paths and directories, and the files of each directory.
pub(super) struct GoModules {
    paths: Vec<(String, String)>,
    folders: BTreeMap<String, Vec<u32>>,
    /// Directories with Go files that are not analyzed, for example because a tool generated them.
    unread: BTreeSet<String>,
}

impl GoModules {
    pub(super) fn new(tree: &SourceTree<'_>) -> Self {
        let mut modules: Vec<(String, String)> = tree
            .governance_text("go.mod")
            .filter_map(|(directory, text)| {
                let line = text.lines().find_map(|line| line.trim().strip_prefix("module "))?;
                Some((line.trim().trim_matches('"').to_owned(), directory))
            })
            .collect();
        // The longest path first: a module may be inside another.
        modules.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
        let mut folders: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for (index, file) in tree.files.iter().enumerate() {
            if file.language == Language::Go && !file.path.as_bytes().ends_with(b"_test.go") {
                folders.entry(directory(&file.path)).or_default().push(count(index));
            }
        }
        let is_unread = |path: &&[u8]| path.ends_with(b".go") && tree.file(path).is_none();
        let unread = tree.paths.iter().copied().filter(is_unread).map(folder_of_name).collect();
        Self { paths: modules, folders, unread }
    }

    pub(super) fn target(&self, import: &ImportStatement) -> ImportTarget {
        let below = |path: &str| {
            let rest = import.module.strip_prefix(path)?;
            (rest.is_empty() || rest.starts_with('/')).then(|| rest.trim_start_matches('/').to_owned())
        };
        let found = self.paths.iter().find_map(|(path, directory)| Some(join(directory, &below(path)?)));
        let Some(directory) = found else { return ImportTarget::External };
        match self.folders.get(&directory) {
            Some(files) => ImportTarget::Files(files.clone()),
            // The package exists, but its contents are unknown.
            None if self.unread.contains(&directory) => ImportTarget::External,
            None => ImportTarget::Missing,
        }
    }
}

fn folder_of_name(path: &[u8]) -> String {
    let end = path.iter().rposition(|&byte| byte == b'/').unwrap_or(0);
    String::from_utf8_lossy(&path[..end]).into_owned()
}
