//! Files that git stores in another form than the working tree has: with a filter, other line ends, `$Id$` or another
//! encoding.
//!
//! Such a file is clean if git would store the committed blob. That is computed here; no filter is started (law 8). For
//! an unknown filter, git's index decides, and only if it recorded exactly this file with the committed blob.

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

/// Git LFS, whose pointers contain the digest of the file.
const LFS_FILTER: &str = "lfs";

/// A file whose bytes differ from the committed ones, possibly because of a filter or a conversion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FilteredFile {
    /// Git would store exactly the committed blob.
    Clean,
    /// Unknown filter; git's index recorded this very file as the committed one.
    CleanByIndex(String),
    /// Unknown filter, and git has not seen the file in its current state.
    Undecided(String),
}

/// Returns the files (each given with its committed blob) whose difference a filter or a conversion explains. Files
/// missing from the result are modified.
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
            // Nothing is converted, so different bytes are a different blob.
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

/// Returns the filter or encoding that cannot be computed here.
fn unknown_here(attributes: &FileAttributes) -> Option<String> {
    let is_known = |name: &str| {
        ["UTF-16", "UTF16", "UTF-16LE", "UTF-16BE", "UTF-16LE-BOM"]
            .iter()
            .any(|known| known.eq_ignore_ascii_case(name))
    };
    let encoding = || attributes.encoding().filter(|name| !is_known(name)).map(ToOwned::to_owned);
    attributes.filter().map(ToOwned::to_owned).or_else(encoding)
}

/// Converts a workspace path to one relative to the top of the working tree.
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

/// Reads a file; `None` if it no longer matches the snapshot.
fn content(workspace: &Workspace, path: &RepoPath, digest: Digest) -> Option<Vec<u8>> {
    let bytes = std::fs::read(workspace.root.join(OsStr::from_bytes(path.as_bytes()))).ok()?;
    (Digest::of(&bytes) == digest).then_some(bytes)
}
