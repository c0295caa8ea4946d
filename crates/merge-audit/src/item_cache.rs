//! Contents that were cut into items already. One audit needs a content for its own file, to see what calls it, and to see
//! what moved there; the audit of everything follows one of the suspicious files alone.

use crate::file_items::{FileItems, ItemForm, cut_into_items, form_of};
use probity_analysis::{Language, SourceItems, read_source_items};
use probity_paths::RepoPath;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Larger source files are compared line by line.
const MAX_PARSED_BYTES: u64 = 1 << 20;

/// Values by the id of a content and how it is read.
type ByContent<Form, Value> = BTreeMap<(Arc<str>, Form), Value>;

/// A file of the result, and the ids of its four versions.
pub(crate) type FileKey = (RepoPath, [Option<Arc<str>>; 4]);

/// The contents of one merge that were cut into items, by their ids, and the files in which nothing is lost.
#[derive(Debug, Default)]
pub struct ItemCache {
    /// What one audit proved, holds in a later one with more files: they can only tell where something went.
    proven: RefCell<BTreeSet<FileKey>>,
    parsed: RefCell<ByContent<Language, Option<Arc<SourceItems>>>>,
    items: RefCell<ByContent<ItemForm, Arc<FileItems>>>,
}

impl ItemCache {
    pub(crate) fn is_proven(&self, key: &FileKey) -> bool {
        self.proven.borrow().contains(key)
    }

    pub(crate) fn set_proven(&self, key: FileKey) {
        self.proven.borrow_mut().insert(key);
    }

    /// Parses a content; `None` if it cannot be parsed.
    pub(crate) fn parsed(
        &self,
        language: Language,
        (id, text): VersionContent<'_>,
    ) -> Option<Arc<SourceItems>> {
        let key = (Arc::clone(id), language);
        if let Some(known) = self.parsed.borrow().get(&key) {
            return known.clone();
        }
        let parsed = read_source_items(language, text, MAX_PARSED_BYTES).map(Arc::new);
        self.parsed.borrow_mut().insert(key, parsed.clone());
        parsed
    }

    pub(crate) fn items(
        &self,
        form: ItemForm,
        (id, text): VersionContent<'_>,
        source: Option<Arc<SourceItems>>,
    ) -> Arc<FileItems> {
        let key = (Arc::clone(id), form);
        if let Some(known) = self.items.borrow().get(&key) {
            return Arc::clone(known);
        }
        let items = Arc::new(cut_into_items(form, text, source));
        self.items.borrow_mut().insert(key, Arc::clone(&items));
        items
    }
}

/// A version of a file: what its content is called, and its text.
pub(crate) type VersionContent<'a> = (&'a Arc<str>, &'a [u8]);

/// Cuts the versions of one file into items, all in the same form: source in which the grammar finds more errors than
/// in the base is compared by lines. The first is the base; absent versions are `None`.
pub(crate) fn read_versions(
    cache: &ItemCache,
    name: &[u8],
    versions: [Option<VersionContent<'_>>; 4],
) -> [Option<Arc<FileItems>>; 4] {
    let sample = versions.iter().flatten().next().map_or(&b""[..], |(_, text)| text);
    let form = form_of(name, sample);
    let ItemForm::Syntax(language) = form else {
        return versions.map(|version| version.map(|version| cache.items(form, version, None)));
    };
    let parsed = versions.map(|version| version.map(|version| cache.parsed(language, version)));
    let errors = |version: &Option<Option<Arc<SourceItems>>>| match version {
        Some(Some(items)) => items.n_errors,
        Some(None) => u32::MAX,
        None => 0,
    };
    let n_base_errors = errors(&parsed[0]);
    let is_clean = n_base_errors != u32::MAX && parsed.iter().all(|version| errors(version) <= n_base_errors);
    let form = if is_clean { form } else { ItemForm::SourceLines(language) };
    let mut parsed = parsed.into_iter();
    versions.map(|version| {
        let source = parsed.next().flatten().flatten();
        version.map(|version| cache.items(form, version, source))
    })
}

/// Returns true if a parser reads files of this name.
pub(crate) fn is_source(name: &[u8]) -> bool {
    Language::of_file_name(name).is_some()
}

/// Cuts the versions of one file into lines.
pub(crate) fn read_lines(
    cache: &ItemCache,
    versions: [Option<VersionContent<'_>>; 4],
) -> [Option<Arc<FileItems>>; 4] {
    versions.map(|version| version.map(|version| cache.items(ItemForm::Lines, version, None)))
}
