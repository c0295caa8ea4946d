//! Git's index at one moment.

use crate::git;
use crate::git_failure::GitFailure;
use probity_core::Digest;
use probity_snapshot::ObjectFormat;
use probity_snapshot::git::{self as git_files, GitLayout, IndexListing};
use std::fs;
use std::sync::{Arc, OnceLock};

/// The index of a repository as it was read.
#[derive(Debug, Clone)]
pub struct IndexContent {
    digest: Digest,
    bytes: Arc<Vec<u8>>,
    format: ObjectFormat,
    /// Whether it is well-formed, once somebody asked: that takes as long as reading it twice.
    is_sound: Arc<OnceLock<bool>>,
    /// The entries, if some of them were in another file.
    split: Option<Arc<IndexListing>>,
}

impl IndexContent {
    /// Reads the index; `None` if there is none. An unreadable one counts as empty and damaged. One that is the same
    /// as `earlier` is not examined again.
    pub fn read(layout: &GitLayout, earlier: Option<&Self>) -> Option<Self> {
        let bytes =
            probity_storage::durable::read(&layout.git_dir.join("index")).unwrap_or(Some(Vec::new()))?;
        let digest = Digest::of(&bytes);
        let is_split = may_be_split(layout);
        if let Some(earlier) = earlier.filter(|it| it.digest == digest && !is_split && it.split.is_none()) {
            return Some(earlier.clone());
        }
        let format = layout.object_format;
        let mut read = Self { digest, bytes: bytes.into(), format, is_sound: Arc::default(), split: None };
        if is_split && read.is_sound() {
            // The other file may be replaced later, so it is read now.
            read.split = git::staged_entries(layout).ok().map(Arc::new);
        }
        Some(read)
    }

    /// Returns whether it is well-formed.
    pub fn is_sound(&self) -> bool {
        *self.is_sound.get_or_init(|| git_files::index_is_sound(&self.bytes, self.format))
    }

    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Returns whether two observations hold the same entries.
    pub fn is_same(&self, other: &Self) -> bool {
        self.digest == other.digest && self.split == other.split
    }

    /// Returns the entries.
    pub fn listing(&self, layout: &GitLayout) -> Result<IndexListing, GitFailure> {
        let parsed = || IndexListing::parse(&self.bytes, layout.object_format);
        let told = |listing: IndexListing| listing.held_against(&self.bytes, layout.object_format);
        match self.split.as_deref() {
            Some(listing) => Ok(told(listing.clone())),
            None => parsed().map_or_else(|| git::staged_entries(layout).map(told), Ok),
        }
    }
}

/// Returns whether a part of the index may be in another file.
fn may_be_split(layout: &GitLayout) -> bool {
    let names = fs::read_dir(&layout.git_dir).into_iter().flatten().flatten();
    names.map(|entry| entry.file_name()).any(|name| name.as_encoded_bytes().starts_with(b"sharedindex."))
}
