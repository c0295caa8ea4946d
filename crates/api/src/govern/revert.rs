//! The answer of `probity revert`.

use super::run::RefMovement;
use crate::document::Answer;
use crate::exit_code::ExitCode;
use crate::system_path::SystemPath;
use probity_core::ReasonCode;
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RevertAnswer {
    pub root: SystemPath,
    /// The run whose changes were reverted.
    pub run_id: String,
    pub dry_run: bool,
    /// Whether the changes of the run had landed from a view, so that all of them are reverted.
    pub landed: bool,
    /// The selected paths, sorted.
    pub paths: Vec<PathRevert>,
    /// In-scope changes of the run that are still in the tree: they are reverted only if they are named.
    pub kept: Vec<RepoPath>,
    /// Protected paths that the run changed. They are not restored; a person must decide.
    pub left: Vec<RepoPath>,
    /// Git references that the run moved. History is left to a person, too.
    pub refs: Vec<RefNote>,
    /// Staged content of the reverted paths in git's index.
    pub staged: StagedChanges,
    /// The directory of the evidence of the revert, if there was anything to do.
    pub evidence_dir: Option<SystemPath>,
}

impl Answer for RevertAnswer {
    const SCHEMA: &'static str = "probity/revert/v1";
}

impl RevertAnswer {
    /// Counts the paths with this action.
    pub fn n_with(&self, action: RevertAction) -> usize {
        self.paths.iter().filter(|path| path.action == action).count()
    }

    /// Returns `Failed` if a path could not be reverted.
    pub fn exit_code(&self) -> ExitCode {
        if self.n_with(RevertAction::Refused) == 0 { ExitCode::Ok } else { ExitCode::Failed }
    }
}

/// The result for one path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PathRevert {
    pub path: RepoPath,
    /// The action taken, or planned in a dry run.
    pub action: RevertAction,
    /// Why it was refused.
    pub reason: Option<ReasonCode>,
    pub detail: String,
}

probity_core::word_enum! {
    /// The action on a path.
    pub enum RevertAction {
        /// Content, type and permission bits were restored.
        Restored = "restored",
        /// It had been added, and was removed.
        Removed = "removed",
        /// Nothing: it is already as it was before the run.
        AlreadyUndone = "already_undone",
        /// Nothing: it could not be reverted safely.
        Refused = "refused",
    }
}

/// A git reference that the run changed, and how to undo that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RefNote {
    pub movement: RefMovement,
    /// The present consequence, in a sentence.
    pub detail: String,
    /// The command that undoes it and keeps the files; null if no command is safe.
    pub command: Option<String>,
}

/// Staged changes of reverted paths.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StagedChanges {
    /// Paths whose staged content is neither the committed content nor that from before the run, sorted.
    pub paths: Vec<RepoPath>,
    /// The command that unstages them; null if there are none or too many.
    pub command: Option<String>,
    /// Whether git's index or commit could not be read, so that staged changes are unknown.
    pub unknown: bool,
}
