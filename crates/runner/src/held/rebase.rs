//! Merges the changes of a run with a tree that changed meanwhile, file by file: the base is the content from the start of
//! the run, one side the tree, the other the layer. Edits that overlap, a deletion against an edit, and files that are no
//! text are conflicts.

use super::{HeldRun, entry_state};
use crate::landing::{LandingConflict, LayerView, landed_content, open_layer_file};
use probity_core::{ChangeKind, Digest, ReasonCode};
use probity_line_diff::{LineAlignment, MergeConflict, is_binary, merge};
use probity_paths::RepoPath;
use probity_snapshot::tree_handle::TreeHandle;
use probity_snapshot::{EntryState, Snapshot, SnapshotEntryKind, TreeChange};
use probity_workspace::{ServiceError, Workspace, git};
use std::collections::BTreeMap;
use std::io::Read;

/// Changes that fit the tree as it is now.
#[derive(Default)]
pub(super) struct RebasedChanges {
    pub(super) changes: Vec<TreeChange>,
    /// Merged contents by path.
    pub(super) merged: BTreeMap<RepoPath, Vec<u8>>,
    pub(super) conflicts: Vec<LandingConflict>,
}

/// Merges `changes` of `held` with the tree `now`.
pub(super) fn rebase(
    workspace: &Workspace,
    held: &HeldRun,
    layer: &LayerView<'_>,
    now: &Snapshot,
    changes: &[TreeChange],
) -> Result<RebasedChanges, ServiceError> {
    let tree = TreeHandle::open(&workspace.root).map_err(ServiceError::system("cannot open the tree"))?;
    let mut rebased = RebasedChanges::default();
    for change in changes {
        let current = entry_state(now, &change.path);
        if current == change.before || current == change.after {
            rebased.changes.push(change.clone());
            continue;
        }
        match merge_change(workspace, held, layer, &tree, change, current) {
            Ok((after, bytes)) => {
                rebased.merged.insert(change.path.clone(), bytes);
                let (before, after) = (current, Some(after));
                rebased.changes.push(TreeChange {
                    path: change.path.clone(),
                    change: ChangeKind::Modified,
                    before,
                    after,
                });
            }
            Err(detail) => rebased.conflicts.push(LandingConflict {
                path: change.path.clone(),
                reason: ReasonCode::LandConflict,
                detail,
            }),
        }
    }
    Ok(rebased)
}

/// Merges one file; returns why it cannot be.
fn merge_change(
    workspace: &Workspace,
    held: &HeldRun,
    layer: &LayerView<'_>,
    tree: &TreeHandle,
    change: &TreeChange,
    current: Option<EntryState>,
) -> Result<(EntryState, Vec<u8>), String> {
    let file = |state: Option<EntryState>| state.filter(|state| state.kind == SnapshotEntryKind::File);
    let (before, ours, theirs) = match (file(change.before), file(current), file(change.after)) {
        (Some(before), Some(ours), Some(theirs)) => (before, ours, theirs),
        (_, None, Some(_)) if current.is_none() => {
            return Err("the run edited it, and the tree deleted it".into());
        }
        (_, Some(_), None) if change.after.is_none() => {
            return Err("the run deleted it, and the tree edited it".into());
        }
        (None, ..) => return Err("both made an entry of this name".into()),
        _ => return Err("its type changed on one side".into()),
    };
    let base = before.digest.and_then(|digest| base_content(workspace, held, &change.path, &digest));
    let base = base.ok_or("its content from the start of the run is not kept anywhere")?;
    let read = |from: &rustix::fd::OwnedFd| -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        let mut file = open_layer_file(from, change.path.file_name()).map_err(|error| error.to_string())?;
        file.read_to_end(&mut bytes).map_err(|error| error.to_string())?;
        Ok(bytes)
    };
    let our_bytes = read(&tree.parent_of(&change.path).map_err(|error| error.to_string())?)?;
    let their_bytes = read(&layer.parent_of(&change.path).map_err(|error| error.to_string())?)?;
    if ours.digest != Some(Digest::of(&our_bytes)) || theirs.digest != Some(Digest::of(&their_bytes)) {
        return Err("it changed while it was read".into());
    }
    let contents = [&base, &our_bytes, &their_bytes];
    if contents.iter().any(|content| is_binary(content)) {
        return Err("both changed it, and it is no text".into());
    }
    let merged = merge(&base, &our_bytes, &their_bytes, LineAlignment::Shortest)
        .map_err(|conflicts| describe(&conflicts))?;
    let mode = match (ours.mode == before.mode, theirs.mode == before.mode) {
        (true, _) => theirs.mode,
        (false, true) => ours.mode,
        (false, false) if ours.mode == theirs.mode => ours.mode,
        (false, false) => return Err("both changed its permission bits".into()),
    };
    let after = EntryState {
        kind: SnapshotEntryKind::File,
        mode,
        size: merged.len() as u64,
        digest: Some(Digest::of(&merged)),
    };
    Ok((after, merged))
}

fn describe(conflicts: &[MergeConflict]) -> String {
    let line = |conflict: &MergeConflict| (conflict.ours.start + 1).to_string();
    let lines: Vec<String> = conflicts.iter().take(5).map(line).collect();
    let more = if conflicts.len() > 5 { ", …" } else { "" };
    format!("both changed the same lines, in the tree at line {}{more}", lines.join(", "))
}

/// Returns the content that a path had at the start of the run: from the before-images, from git, or from another landing,
/// which took it out of the tree.
fn base_content(workspace: &Workspace, held: &HeldRun, path: &RepoPath, digest: &Digest) -> Option<Vec<u8>> {
    let is_it = |bytes: &Vec<u8>| Digest::of(bytes) == *digest;
    let kept = || workspace.state.before_images().get(digest).ok().flatten();
    let committed = || git::blob(workspace.git.as_ref()?, held.git_id(path)?).ok().flatten().filter(is_it);
    kept().or_else(committed).or_else(|| landed_content(workspace, digest).filter(is_it))
}
