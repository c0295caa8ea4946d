//! Four trees as the audit takes them: only paths that differ somewhere, with contents where they may matter.

use probity_paths::RepoPath;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The places of the four versions of a path.
pub const BASE: usize = 0;
pub const OURS: usize = 1;
pub const THEIRS: usize = 2;
pub const RESULT: usize = 3;

const SYMLINK_MODE: u32 = 0o120_000;
const SUBMODULE_MODE: u32 = 0o160_000;

/// A path in one tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileVersion {
    pub mode: u32,
    /// Equal for equal contents.
    pub id: Arc<str>,
    /// The content, if it was read.
    pub bytes: Option<Arc<[u8]>>,
}

impl FileVersion {
    pub const fn is_link(&self) -> bool {
        self.mode == SYMLINK_MODE
    }

    pub const fn is_submodule(&self) -> bool {
        self.mode == SUBMODULE_MODE
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.id == other.id && self.mode == other.mode
    }
}

/// The versions of one path: base, ours, theirs, result. Absent ones are `None`.
pub type PathVersions = [Option<FileVersion>; 4];

/// The paths that are not the same in all four trees.
pub type FourTrees = BTreeMap<RepoPath, PathVersions>;

pub(crate) fn is_same(left: Option<&FileVersion>, right: Option<&FileVersion>) -> bool {
    match (left, right) {
        (None, None) => true,
        (Some(left), Some(right)) => left.is_same(right),
        _ => false,
    }
}

/// Returns true if the ids alone prove that nothing is lost at a path: at most one side changed it and the result
/// has that change, or both changed it to the same.
pub fn is_proven_by_ids(versions: &PathVersions) -> bool {
    let [base, ours, theirs, result] = versions.each_ref().map(Option::as_ref);
    let expected = if is_same(ours, base) {
        theirs
    } else if is_same(theirs, base) || is_same(ours, theirs) {
        ours
    } else {
        return false;
    };
    is_same(expected, result)
}

/// The versions of one file, which may have another path in each tree.
#[derive(Debug, Clone)]
pub(crate) struct FileGroup {
    pub(crate) paths: [Option<RepoPath>; 4],
    pub(crate) versions: PathVersions,
}

impl FileGroup {
    /// Returns the path in a tree, or the nearest one that says where the file is.
    pub(crate) fn path_in(&self, version: usize) -> &RepoPath {
        let order = [version, BASE, RESULT, OURS, THEIRS];
        order.iter().find_map(|&at| self.paths[at].as_ref()).expect("a group has a path in some tree")
    }

    pub(crate) fn bytes(&self, version: usize) -> Option<&[u8]> {
        self.versions[version].as_ref()?.bytes.as_deref()
    }

    /// Returns true if a version exists, but its content was not read.
    pub(crate) fn lacks_content(&self) -> bool {
        self.versions.iter().flatten().any(|version| version.bytes.is_none() && !version.is_submodule())
    }
}

/// Returns a text with the line endings of Unix: line endings are no edit.
pub(crate) fn normalized(bytes: &[u8]) -> Cow<'_, [u8]> {
    if !bytes.windows(2).any(|two| two == b"\r\n") {
        return Cow::Borrowed(bytes);
    }
    let mut text = Vec::with_capacity(bytes.len());
    for (index, &byte) in bytes.iter().enumerate() {
        if byte != b'\r' || bytes.get(index + 1) != Some(&b'\n') {
            text.push(byte);
        }
    }
    Cow::Owned(text)
}
