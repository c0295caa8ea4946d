//! Looks for code in the other files of a tree: what left one file may have gone to another.

use crate::file_items::FileItems;
use crate::hashes::hash_of;
use crate::item_cache::{ItemCache, VersionContent, read_versions};
use crate::lexed_text::{LexedText, words_of};
use crate::path_class::{class_of_content, class_of_path};
use crate::trees::{BASE, FourTrees, PathVersions, normalized};
use probity_paths::RepoPath;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

/// More changed files than this are not searched.
const MAX_SEARCHED_FILES: usize = 400;

/// More bytes of other files than this are not parsed for one merge.
const MAX_READ_BYTES: usize = 8 << 20;
/// More bytes than this are not searched for code that moved.
const MAX_LEXED_BYTES: usize = 64 << 20;

/// A line that may be in another file.
pub(crate) struct SoughtLine<'a> {
    tokens: LexedText,
    /// Its longest word: files without it are not searched.
    word: &'a [u8],
}

impl<'a> SoughtLine<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Self {
        let word = words_of(text).max_by_key(|word| word.len()).unwrap_or_default();
        Self { tokens: LexedText::new(text), word }
    }
}

type CachedVersions = Rc<[Option<Arc<FileItems>>; 4]>;

/// The changed files of the four trees, read when they are needed.
pub(crate) struct TreeSearch<'a> {
    trees: &'a FourTrees,
    pub(crate) items: &'a ItemCache,
    /// Paths of the file under audit: they are no other file.
    own_paths: RefCell<BTreeSet<RepoPath>>,
    cache: RefCell<BTreeMap<RepoPath, CachedVersions>>,
    /// Contents as words and marks, by their ids.
    lexed: RefCell<BTreeMap<Arc<str>, Rc<LexedText>>>,
    /// For each tree the words of the files that differ from the base, sorted, with the places of the files; for the base
    /// those of all files.
    words: [OnceCell<Vec<(u64, u32)>>; 4],
    paths: Vec<&'a RepoPath>,
    n_read_bytes: Cell<usize>,
    n_lexed_bytes: Cell<usize>,
}

impl<'a> TreeSearch<'a> {
    pub(crate) fn new(trees: &'a FourTrees, items: &'a ItemCache) -> Self {
        let words = Default::default();
        Self {
            trees,
            items,
            own_paths: RefCell::default(),
            cache: RefCell::default(),
            lexed: RefCell::default(),
            words,
            paths: trees.keys().collect(),
            n_read_bytes: Cell::new(0),
            n_lexed_bytes: Cell::new(0),
        }
    }

    pub(crate) fn has_file(&self, version: usize, path: &RepoPath) -> bool {
        self.trees.get(path).is_some_and(|versions| versions[version].is_some())
    }

    /// Returns true if other files were left unread because there were too many.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.n_lexed_bytes.get() > MAX_LEXED_BYTES
    }

    /// Returns true if all files of these paths can be read besides what was read already.
    pub(crate) fn can_read<'p>(&self, paths: impl Iterator<Item = &'p RepoPath>) -> bool {
        let cache = self.cache.borrow();
        let unread = paths.filter(|path| !cache.contains_key(*path));
        let n_bytes: usize = unread.map(|path| distinct_bytes(&self.trees[path])).sum();
        self.n_read_bytes.get() + n_bytes <= MAX_READ_BYTES
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
        let own = self.own_paths.borrow();
        let changed = self.files_with_word(version, line.word).filter(|path| !own.contains(*path));
        let gained = changed.take(MAX_SEARCHED_FILES).filter(|path| {
            let here = self.count(path, version, line);
            known.iter().all(|&other| here > self.count(path, other, line))
        });
        gained.cloned().collect()
    }

    /// Returns true if a line stood in another file of the base, and both sides took it out there: one of them moved it, the
    /// other edited or deleted it.
    pub(crate) fn is_gone_on_both_sides(&self, line: &SoughtLine<'_>, sides: [usize; 2]) -> bool {
        let own = self.own_paths.borrow();
        let files = self.files_with_word(BASE, line.word).filter(|path| !own.contains(*path));
        files.take(MAX_SEARCHED_FILES).any(|path| {
            let before = self.count(path, BASE, line);
            sides.iter().all(|&side| self.count(path, side, line) < before)
        })
    }

    /// Counts a line in a version of a file.
    fn count(&self, path: &RepoPath, version: usize, line: &SoughtLine<'_>) -> usize {
        self.lexed_text(path, version).map_or(0, |text| text.count(&line.tokens))
    }

    fn lexed_text(&self, path: &RepoPath, version: usize) -> Option<Rc<LexedText>> {
        let file = self.trees[path][version].as_ref()?;
        if let Some(known) = self.lexed.borrow().get(&*file.id) {
            return Some(Rc::clone(known));
        }
        let bytes = file.bytes.as_deref()?;
        self.n_lexed_bytes.set(self.n_lexed_bytes.get() + bytes.len());
        if self.is_exhausted() || class_of_content(bytes).is_some() {
            return None;
        }
        let text = Rc::new(LexedText::new(bytes));
        self.lexed.borrow_mut().insert(Arc::clone(&file.id), Rc::clone(&text));
        Some(text)
    }

    /// Returns the files of a tree that differ from the base and hold a word; of the base, all that hold it.
    fn files_with_word(&self, version: usize, word: &[u8]) -> impl Iterator<Item = &'a RepoPath> {
        let words = self.words[version].get_or_init(|| self.index_words(version));
        let wanted = hash_of(word);
        let start = words.partition_point(|(other, _)| *other < wanted);
        let found = words[start..].iter().take_while(move |(other, _)| *other == wanted);
        found.map(|&(_, file)| self.paths[file as usize])
    }

    fn index_words(&self, version: usize) -> Vec<(u64, u32)> {
        let mut words = Vec::new();
        for ((path, versions), place) in self.trees.iter().zip(0_u32..) {
            let Some(file) = &versions[version] else { continue };
            let is_changed = version == BASE || versions[BASE].as_ref().is_none_or(|base| base.id != file.id);
            let Some(bytes) = file.bytes.as_deref().filter(|_| is_changed) else { continue };
            if class_of_path(path).is_some() || class_of_content(bytes).is_some() {
                continue;
            }
            let from = words.len();
            words.extend(words_of(bytes).map(|word| (hash_of(word), place)));
            words[from..].sort_unstable();
            let mut kept = from;
            for at in from..words.len() {
                if kept == from || words[kept - 1] != words[at] {
                    words[kept] = words[at];
                    kept += 1;
                }
            }
            words.truncate(kept);
        }
        words.sort_unstable();
        words
    }

    /// Returns the items of all versions of a path. Those that are set aside have none.
    pub(crate) fn read(&self, path: &RepoPath) -> CachedVersions {
        if let Some(known) = self.cache.borrow().get(path) {
            return Rc::clone(known);
        }
        let versions = &self.trees[path];
        let texts = versions.each_ref().map(|version| {
            let version = version.as_ref()?;
            let bytes = version.bytes.as_deref().filter(|bytes| class_of_content(bytes).is_none())?;
            Some((&version.id, normalized(bytes)))
        });
        let contents: [Option<VersionContent<'_>>; 4] =
            texts.each_ref().map(|text| text.as_ref().map(|(id, text)| (*id, &**text)));
        let n_bytes = distinct_bytes(versions);
        let is_beyond = self.n_read_bytes.get() + n_bytes > MAX_READ_BYTES;
        self.n_read_bytes.set(self.n_read_bytes.get() + n_bytes);
        let read = if is_beyond || class_of_path(path).is_some() {
            Rc::default()
        } else {
            Rc::new(read_versions(self.items, path.file_name(), contents))
        };
        self.cache.borrow_mut().insert(path.clone(), Rc::clone(&read));
        read
    }
}

/// Returns the bytes of the different contents of a path.
fn distinct_bytes(versions: &PathVersions) -> usize {
    let is_new = |at: &usize| {
        versions[*at]
            .as_ref()
            .is_some_and(|version| versions[..*at].iter().flatten().all(|earlier| earlier.id != version.id))
    };
    let sizes = (0..versions.len()).filter(is_new).filter_map(|at| versions[at].as_ref()?.bytes.as_ref());
    sizes.map(|bytes| bytes.len()).sum()
}
