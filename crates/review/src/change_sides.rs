//! Both contents of one path of any change.

use crate::change_name::ChangeName;
use crate::file_sides::{FileSides, commit_content, open_layer_sides};
use crate::{intent_review, worktree_review};
use probity_core::ReasonCode;
use probity_paths::RepoPath;
use probity_quality::contract::receipts::ReceiptStore;
use probity_runner::recorded_contents::RecordedRun;
use probity_workspace::{ServiceError, Workspace};

/// Returns both contents of `path` in a change.
pub fn file_sides(
    workspace: &Workspace,
    name: &ChangeName,
    path: &RepoPath,
) -> Result<FileSides, ServiceError> {
    match name {
        ChangeName::Run(id) => {
            let run = RecordedRun::open(workspace, id)?;
            let change =
                run.changes.iter().find(|change| change.path == *path).ok_or_else(|| no_change(path))?;
            let (before, after) = (run.before(workspace, change), run.after(workspace, change));
            Ok(FileSides { before, after })
        }
        ChangeName::OpenRun(id) => Ok(open_layer_sides(workspace, id, path)),
        ChangeName::Intent(id) => intent_sides(workspace, id, path),
        ChangeName::Range { base, head } => {
            let side = |commit: &str| commit_content(workspace, commit, path);
            Ok(FileSides { before: side(base)?, after: side(head)? })
        }
        ChangeName::Worktree => worktree_review::sides(workspace, path),
    }
}

fn no_change(path: &RepoPath) -> ServiceError {
    ServiceError::refused(ReasonCode::PathInvalid, format!("`{path}` is no path of this change"))
}

/// Returns the sides of a path as the receipt of an intent names them, or of the uncommitted work of an open one.
fn intent_sides(workspace: &Workspace, id: &str, path: &RepoPath) -> Result<FileSides, ServiceError> {
    let Some(recorded) = intent_review::recorded_delta(&ReceiptStore::open(workspace), workspace, id)? else {
        return worktree_review::sides(workspace, path);
    };
    let entry = recorded.iter().find(|entry| entry.path == *path).ok_or_else(|| no_change(path))?;
    let base = intent_review::base_commit(workspace, id)?;
    Ok(intent_review::recorded_sides(workspace, base.as_deref(), entry))
}
