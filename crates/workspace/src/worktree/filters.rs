//! Files that git stores in another form than they have in the working tree: behind a filter, with other line ends, with
//! `$Id$`, in another encoding.
//!
//! Such a file is clean if git would store what the commit holds. That is computed here; no filter is started (law 8).
//! Behind a filter that is not known here, git's own last look counts, which its index keeps: only if that was the very
//! same file, and the blob is the committed one.

use crate::{ServiceError, Workspace, git};
use probity_core::Digest;
use probity_paths::RepoPath;
use probity_snapshot::git::{
    AutoCrlf, FileAttributes, GitLayout, IndexEntries, LfsPointer, WorktreeAttributes, WorktreeSettings,
    stored_id,
};
use probity_snapshot::{GitId, ObjectFormat, SnapshotEntry};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// The filter of large-file storage, whose pointers say what the file holds.
const LFS_FILTER: &str = "lfs";

/// A file whose bytes are not the committed ones, and a filter or a conversion may be why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FilteredFile {
    /// Git would store exactly what the commit holds.
    Clean,
    /// It is behind a filter that is not known here; git saw this very file and took it for the committed one.
    CleanByIndex(String),
    /// It is behind a filter that is not known here, and git has not seen it as it is now.
    Undecided(String),
}

/// Which of these files (each with the blob that the commit holds) a filter or a conversion explains. What is not in the
/// answer is changed.
pub(super) fn explain(
    workspace: &Workspace,
    files: &[(SnapshotEntry<'_>, GitId)],
) -> Result<BTreeMap<RepoPath, FilteredFile>, ServiceError> {
    let Some(layout) = workspace.git.as_ref().filter(|_| !files.is_empty()) else {
        return Ok(BTreeMap::new());
    };
    let settings = WorktreeSettings::read(layout);
    let mut attributes = WorktreeAttributes::new(layout);
    let mut explained = BTreeMap::new();
    let mut filtered: Vec<FilteredEntry<'_>> = Vec::new();
    for (entry, id) in files {
        let Some(from_top) = from_top(workspace, entry.path()) else { continue };
        let found = attributes.of(&from_top);
        match unknown_here(&found) {
            // Nothing is converted, so other bytes are another blob.
            None if !found.converts() && settings.auto_crlf == AutoCrlf::Off => {}
            None => {
                let format = format_of(id);
                let content = entry.digest().and_then(|digest| content(workspace, entry.path(), digest));
                let stored = content.and_then(|it| stored_id(&it, &found, settings.auto_crlf, format));
                if stored.as_ref() == Some(id) {
                    explained.insert(entry.path().clone(), FilteredFile::Clean);
                }
            }
            Some(filter) => filtered.push(FilteredEntry { entry, id, from_top, filter }),
        }
    }
    if !filtered.is_empty() {
        explain_filtered(layout, &filtered, &mut explained)?;
    }
    Ok(explained)
}

/// A file behind a filter.
struct FilteredEntry<'a> {
    entry: &'a SnapshotEntry<'a>,
    id: &'a GitId,
    from_top: RepoPath,
    filter: String,
}

fn explain_filtered(
    layout: &GitLayout,
    files: &[FilteredEntry<'_>],
    explained: &mut BTreeMap<RepoPath, FilteredFile>,
) -> Result<(), ServiceError> {
    let lfs = files.iter().filter(|file| file.filter == LFS_FILTER);
    let pointers = git::present_blobs(layout, &lfs.map(|file| file.id.to_string()).collect::<Vec<_>>())?;
    let index = IndexEntries::read(layout).unwrap_or_default();
    for file in files {
        let pointer = pointers.get(&file.id.to_string()).and_then(|blob| LfsPointer::parse(blob));
        let verdict = match pointer {
            Some(LfsPointer { sha256, size }) => {
                if file.entry.digest() != Some(sha256) || file.entry.size() != size {
                    continue;
                }
                FilteredFile::Clean
            }
            None => by_index(&index, file),
        };
        explained.insert(file.entry.path().clone(), verdict);
    }
    Ok(())
}

fn by_index(index: &IndexEntries, file: &FilteredEntry<'_>) -> FilteredFile {
    let path = file.from_top.as_bytes();
    let is_committed = index.get(path).is_some_and(|entry| entry.id == *file.id);
    let filter = file.filter.clone();
    if is_committed && index.has_seen(path, file.entry) {
        FilteredFile::CleanByIndex(filter)
    } else {
        FilteredFile::Undecided(filter)
    }
}

/// The filter or encoding whose work cannot be computed here.
fn unknown_here(attributes: &FileAttributes) -> Option<String> {
    let is_known = |name: &str| {
        ["UTF-16", "UTF16", "UTF-16LE", "UTF-16BE", "UTF-16LE-BOM"]
            .iter()
            .any(|known| known.eq_ignore_ascii_case(name))
    };
    let encoding = || attributes.encoding().filter(|name| !is_known(name)).map(ToOwned::to_owned);
    attributes.filter().map(ToOwned::to_owned).or_else(encoding)
}

/// A path of the workspace, from the top of the working tree.
pub fn from_top(workspace: &Workspace, path: &RepoPath) -> Option<RepoPath> {
    let prefix = workspace.below_top();
    if prefix.is_empty() {
        return Some(path.clone());
    }
    RepoPath::parse(&[prefix.as_slice(), path.as_bytes()].join(&b'/')).ok()
}

fn format_of(id: &GitId) -> ObjectFormat {
    if id.as_bytes().len() == ObjectFormat::Sha1.id_len() { ObjectFormat::Sha1 } else { ObjectFormat::Sha256 }
}

/// The bytes of a file, if they are still what the snapshot saw.
fn content(workspace: &Workspace, path: &RepoPath, digest: Digest) -> Option<Vec<u8>> {
    let bytes = std::fs::read(workspace.root.join(OsStr::from_bytes(path.as_bytes()))).ok()?;
    (Digest::of(&bytes) == digest).then_some(bytes)
}
