//! Finds reverted paths whose changes are still staged. A revert restores files and leaves the index alone, because
//! staging is the user's decision; so it reports what is staged and how to unstage it.

use probity_api::govern::delta::RecordedChange;
use probity_api::govern::revert::{PathRevert, RevertAction, StagedChanges};
use probity_changes::uncommitted_work;
use probity_paths::RepoPath;
use probity_snapshot::git::IndexEntries;
use probity_workspace::worktree::from_top;
use probity_workspace::{Workspace, git};
use std::collections::{BTreeMap, BTreeSet};

/// A command with more paths is too long to copy.
const MAX_COMMAND_PATHS: usize = 20;

/// Returns the staged changes of paths that are now as before the run.
pub(super) fn find(
    workspace: &Workspace,
    changes: &[&RecordedChange],
    undone: &[PathRevert],
) -> StagedChanges {
    let Some(layout) = &workspace.git else { return StagedChanges::default() };
    let is_back: BTreeSet<&RepoPath> =
        undone.iter().filter(|one| one.action != RevertAction::Refused).map(|one| &one.path).collect();
    // Without an index, nothing is staged.
    if is_back.is_empty() || !layout.git_dir.join("index").exists() {
        return StagedChanges::default();
    }
    let (Some(index), Ok(head)) = (IndexEntries::read(layout), git::head(workspace)) else {
        return StagedChanges { unknown: true, ..StagedChanges::default() };
    };
    let Ok(committed) = head.as_ref().map(|head| git::tree_of(workspace, head)).transpose() else {
        return StagedChanges { unknown: true, ..StagedChanges::default() };
    };
    let committed = committed.unwrap_or_default();
    let before: BTreeMap<&RepoPath, Option<&str>> = changes
        .iter()
        .map(|change| (&change.path, change.before.as_ref().and_then(|side| side.git_id.as_deref())))
        .collect();
    let is_staged = |path: &RepoPath| {
        let staged = from_top(workspace, path).and_then(|top| Some(index.get(top.as_bytes())?.id.clone()));
        let in_commit = committed.get(path).map(|(_, id)| id.clone());
        let was = before.get(path).copied().flatten();
        staged != in_commit && staged.map(|id| id.to_string()).as_deref() != was
    };
    let paths: Vec<RepoPath> = is_back.into_iter().filter(|path| is_staged(path)).cloned().collect();
    let command = unstage_command(workspace, &paths, head.is_some());
    StagedChanges { paths, command, unknown: false }
}

fn unstage_command(workspace: &Workspace, paths: &[RepoPath], has_commit: bool) -> Option<String> {
    if paths.is_empty() || paths.len() > MAX_COMMAND_PATHS {
        return None;
    }
    let git = uncommitted_work::git_program(workspace);
    let words: Vec<String> = paths.iter().map(uncommitted_work::path_word).collect();
    // Without a commit, there is nothing to restore an entry from.
    let verb = if has_commit { "restore --staged" } else { "rm --cached" };
    Some(format!("{git} {verb} -- {}", words.join(" ")))
}
