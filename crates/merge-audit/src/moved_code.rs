//! Looks for code in the other files of a tree: what left one file may have gone to another.

use crate::file_items::{FileItems, read_versions};
use crate::path_class::{class_of_content, class_of_path};
use crate::trees::{BASE, FourTrees};
use probity_paths::RepoPath;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// More changed files than this are not searched.
const MAX_SEARCHED_FILES: usize = 400;

/// A line that may be in another file.
pub(crate) struct SoughtLine<'a> {
    pub(crate) tokens: &'a [u64],
    pub(crate) is_note: bool,
    /// Its longest word: files without it are not even cut into items.
    pub(crate) word: &'a [u8],
}

type CachedVersions = Rc<[Option<FileItems>; 4]>;

/// The changed files of the four trees, read when they are needed.
pub(crate) struct TreeSearch<'a> {
    trees: &'a FourTrees,
    /// Paths of the file under audit: they are no other file.
    own_paths: RefCell<BTreeSet<RepoPath>>,
    cache: RefCell<BTreeMap<RepoPath, CachedVersions>>,
}

impl<'a> TreeSearch<'a> {
    pub(crate) fn new(trees: &'a FourTrees) -> Self {
        Self { trees, own_paths: RefCell::default(), cache: RefCell::default() }
    }

    pub(crate) fn set_own_paths(&self, paths: impl IntoIterator<Item = RepoPath>) {
        *self.own_paths.borrow_mut() = paths.into_iter().collect();
    }

    /// Returns the other files of a tree in which the line occurs more often than in any of the `known` trees.
    pub(crate) fn files_that_gained(
        &self,
        version: usize,
        known: &[usize],
        line: &SoughtLine<'_>,
    ) -> Vec<RepoPath> {
        const MIN_MOVED_TOKENS: usize = 2;
        if line.tokens.len() < MIN_MOVED_TOKENS {
            return Vec::new();
        }
        let mentions = |bytes: &[u8]| bytes.windows(line.word.len().max(1)).any(|part| part == line.word);
        let own = self.own_paths.borrow();
        let changed = self.trees.iter().filter(|(path, versions)| {
            !own.contains(*path)
                && versions[version].as_ref().is_some_and(|file| {
                    let is_changed = versions[BASE].as_ref().is_none_or(|base| base.id != file.id);
                    is_changed && file.bytes.as_deref().is_some_and(mentions)
                })
        });
        let gained = changed.take(MAX_SEARCHED_FILES).filter(|(path, _)| {
            let read = self.read(path);
            let count = |version: usize| {
                read[version].as_ref().map_or(0, |file| file.occurrences(line.tokens, line.is_note).any)
            };
            known.iter().all(|&other| count(version) > count(other))
        });
        gained.map(|(path, _)| path.clone()).collect()
    }

    /// Returns the items of all versions of a path. Those that are set aside have none.
    pub(crate) fn read(&self, path: &RepoPath) -> CachedVersions {
        if let Some(known) = self.cache.borrow().get(path) {
            return Rc::clone(known);
        }
        let versions = &self.trees[path];
        let bytes = |version: usize| -> Option<&[u8]> {
            versions[version].as_ref()?.bytes.as_deref().filter(|bytes| class_of_content(bytes).is_none())
        };
        let read = if class_of_path(path).is_some() {
            Rc::default()
        } else {
            Rc::new(read_versions(path.file_name(), [bytes(0), bytes(1), bytes(2), bytes(3)]))
        };
        self.cache.borrow_mut().insert(path.clone(), Rc::clone(&read));
        read
    }
}
