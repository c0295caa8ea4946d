//! Compares files of a commit with a tree that was looked at.

use super::filters::{self, FilteredFile};
use super::status::{is_committed, may_be_filtered};
use crate::{ServiceError, Workspace};
use probity_paths::RepoPath;
use probity_snapshot::git::{GITLINK_MODE, HeadTree};
use probity_snapshot::{GitId, Snapshot, SnapshotEntry, SnapshotEntryKind};

/// Returns the first of `paths` at which `committed` holds something else than `tree`. All paths begin at the top of the
/// working tree. A file that git stores in another form is equal if that form can be computed here.
pub(crate) fn first_difference(
    workspace: &Workspace,
    committed: &HeadTree,
    tree: &Snapshot,
    paths: &[&RepoPath],
) -> Result<Option<RepoPath>, ServiceError> {
    let mut converted: Vec<(SnapshotEntry<'_>, GitId)> = Vec::new();
    for path in paths {
        let below_root = below_root(workspace, path);
        let entry = below_root.as_ref().and_then(|path| tree.get(path));
        let is_equal = match (committed.get(*path), entry) {
            (None, None) => true,
            (None, Some(entry)) => entry.kind() == SnapshotEntryKind::Directory,
            (Some((GITLINK_MODE, _)), _) | (Some(_), None) => false,
            (Some(held), Some(entry)) if is_committed(&entry, held) => true,
            (Some(held), Some(entry)) => {
                let may_be_equal = may_be_filtered(&entry, held);
                converted.extend(may_be_equal.then(|| (entry, held.1.clone())));
                may_be_equal
            }
        };
        if !is_equal {
            return Ok(Some((*path).clone()));
        }
    }
    let explained = filters::explain(workspace, &converted)?;
    let different = converted
        .iter()
        .map(|(entry, _)| entry.path())
        .find(|path| !matches!(explained.get(*path), Some(FilteredFile::Clean)));
    Ok(different.and_then(|path| filters::from_top(workspace, path)))
}

fn below_root(workspace: &Workspace, path: &RepoPath) -> Option<RepoPath> {
    let prefix = workspace.below_top();
    if prefix.is_empty() {
        return Some(path.clone());
    }
    RepoPath::parse(path.as_bytes().strip_prefix(&*prefix)?.strip_prefix(b"/")?).ok()
}
