//! Before-images: copies of content that a run could destroy and nobody else keeps.
//!
//! Git holds the committed content. Content that is dirty or untracked at the start is copied, so that an out-of-scope
//! change can be undone exactly. Whether git holds a content is decided by the blob id computed from the bytes, never
//! by the index or stat information.

use probity_paths::RepoPath;
use probity_snapshot::git::HeadTree;
use probity_snapshot::{Snapshot, SnapshotEntry, SnapshotEntryKind};
use probity_storage::ObjectFiles;
use probity_workspace::exemptions::Exemptions;
use probity_workspace::{ServiceError, Workspace, git};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// Larger files are not copied; undoing a change to one needs the user's own copy.
pub(crate) const MAX_KEPT_BYTES: u64 = 256 * 1024 * 1024;

/// Copies the content git does not hold. Returns the paths that could not be copied because they are too large or
/// changed meanwhile. Disposable paths are skipped: they can be built or installed again.
#[tracing::instrument(name = "keep before-images", skip_all)]
pub(crate) fn keep_before_images(
    workspace: &Workspace,
    committed: HeadTree,
    snapshot: &Snapshot,
    exemptions: &Exemptions,
) -> Result<BTreeSet<RepoPath>, ServiceError> {
    let phase = workspace.progress.begin("copying what git does not hold");
    // If git gives no answer, nothing counts as held and everything is copied.
    let held = held_contents(workspace, committed, snapshot).unwrap_or_default();
    let mut held = held.iter().peekable();
    let objects = workspace.state.before_images();
    let mut not_kept = BTreeSet::new();
    for entry in snapshot.entries() {
        // Both are sorted by path, so they are compared in step.
        while held.next_if(|(path, _)| *path < entry.path()).is_some() {}
        let committed = held.next_if(|(path, _)| *path == entry.path()).map(|(_, (_, id))| id);
        let is_held = committed.is_some() && entry.git_id().as_ref() == committed;
        if is_held || exemptions.is_disposable(entry.path()) {
            continue;
        }
        if !keep_entry(workspace, &objects, &entry, MAX_KEPT_BYTES)? {
            not_kept.insert(entry.into_path());
        }
        phase.advance();
    }
    Ok(not_kept)
}

/// Returns the committed contents git can restore. A partial clone may know an id without having the content.
fn held_contents(
    workspace: &Workspace,
    committed: HeadTree,
    snapshot: &Snapshot,
) -> Result<HeadTree, ServiceError> {
    let mut held = committed;
    let Some(layout) = workspace.git.as_ref().filter(|layout| layout.is_partial()) else { return Ok(held) };
    held.retain(|path, (_, id)| snapshot.get(path).and_then(|entry| entry.git_id()).as_ref() == Some(id));
    let ids: Vec<String> = held.values().map(|(_, id)| id.to_string()).collect();
    let absent: BTreeSet<String> = git::absent_blobs(layout, &ids)?.into_iter().collect();
    held.retain(|_, (_, id)| !absent.contains(&id.to_string()));
    Ok(held)
}

/// Copies one entry of up to `limit` bytes; returns whether its content is safe.
fn keep_entry(
    workspace: &Workspace,
    objects: &ObjectFiles,
    entry: &SnapshotEntry<'_>,
    limit: u64,
) -> Result<bool, ServiceError> {
    let Some(digest) = entry.digest() else {
        return Ok(true);
    };
    if objects.has(&digest, entry.size()) {
        return Ok(true);
    }
    let bytes = match entry.kind() {
        SnapshotEntryKind::Symlink => entry.link_target().map(<[u8]>::to_vec),
        SnapshotEntryKind::File if entry.size() <= limit => {
            // The bytes are checked against the digest, so a swapped parent directory cannot smuggle anything in.
            std::fs::read(workspace.root.join(OsStr::from_bytes(entry.path().as_bytes()))).ok()
        }
        _ => None,
    };
    match bytes {
        // A file that changed since the snapshot no longer has the wanted content.
        Some(bytes) if probity_core::Digest::of(&bytes) == digest => {
            objects.put_unsynced(&bytes)?;
            Ok(true)
        }
        _ => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use probity_snapshot::SnapshotOptions;
    use std::fs;

    #[test]
    fn a_file_is_kept_up_to_the_limit_and_a_larger_one_is_said_not_to_be() {
        let dir = tempfile::tempdir().expect("a directory");
        for size in [9, 10, 11] {
            fs::write(dir.path().join(size.to_string()), vec![b'x'; size]).expect("writes");
        }
        let workspace = Workspace::find(Some(dir.path()), dir.path()).expect("is found");
        let snapshot = Snapshot::take(dir.path(), &SnapshotOptions::default(), None).expect("is seen");
        let objects = workspace.state.before_images();
        for entry in snapshot.entries() {
            let is_kept = keep_entry(&workspace, &objects, &entry, 10).expect("keeps");
            let copy = entry.digest().and_then(|digest| objects.get(&digest).expect("reads"));
            assert_eq!(
                (is_kept, copy.is_some()),
                (entry.size() <= 10, entry.size() <= 10),
                "{}",
                entry.path()
            );
        }
    }

    #[test]
    fn what_changed_since_the_snapshot_is_not_kept_under_its_digest() {
        let dir = tempfile::tempdir().expect("a directory");
        fs::write(dir.path().join("a"), "then").expect("writes");
        let workspace = Workspace::find(Some(dir.path()), dir.path()).expect("is found");
        let snapshot = Snapshot::take(dir.path(), &SnapshotOptions::default(), None).expect("is seen");
        fs::write(dir.path().join("a"), "now!").expect("writes");
        let not_kept = keep_before_images(&workspace, HeadTree::new(), &snapshot, &Exemptions::default())
            .expect("keeps");
        assert_eq!(not_kept.len(), 1);
        assert_eq!(workspace.state.before_images().list().expect("lists"), []);
    }
}
