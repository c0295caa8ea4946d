//! The answer of `probity revert`.

use super::run::RefMovement;
use crate::document::Answer;
use crate::exit_code::ExitCode;
use crate::system_path::SystemPath;
use probity_core::ReasonCode;
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::Serialize;

/// What `probity revert` answers.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RevertAnswer {
    /// The root of the tree.
    pub root: SystemPath,
    /// The run whose changes were undone.
    pub run_id: String,
    /// Whether nothing was done but told.
    pub dry_run: bool,
    /// The paths that were meant, sorted.
    pub paths: Vec<PathRevert>,
    /// Protected paths that the run changed: they lie outside of the content, and are left to a person.
    pub left: Vec<RepoPath>,
    /// Git references that the run moved: history is left to a person too.
    pub refs: Vec<RefNote>,
    /// What git's index still holds of the undone paths.
    pub staged: StagedChanges,
    /// Where the evidence of the revert is, if anything was to be done.
    pub evidence_dir: Option<SystemPath>,
}

impl Answer for RevertAnswer {
    const SCHEMA: &'static str = "probity/revert/v1";
}

impl RevertAnswer {
    /// How many paths ended so.
    pub fn n_with(&self, action: RevertAction) -> usize {
        self.paths.iter().filter(|path| path.action == action).count()
    }

    /// Failed if a path could not be undone.
    pub fn exit_code(&self) -> ExitCode {
        if self.n_with(RevertAction::Refused) == 0 { ExitCode::Ok } else { ExitCode::Failed }
    }
}

/// What became of one path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PathRevert {
    /// The path.
    pub path: RepoPath,
    /// What was done, or would be.
    pub action: RevertAction,
    /// Why it was refused.
    pub reason: Option<ReasonCode>,
    /// More about it.
    pub detail: String,
}

probity_core::word_enum! {
    /// What was done to a path.
    pub enum RevertAction {
        /// The content, type and permission bits of before are back.
        Restored = "restored",
        /// It had been added, and is gone.
        Removed = "removed",
        /// Nothing: it is as it was before the run already.
        AlreadyUndone = "already_undone",
        /// Nothing: it could not be undone safely.
        Refused = "refused",
    }
}

/// A git reference that the run changed, and how to take that back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RefNote {
    /// What the run did to it.
    pub movement: RefMovement,
    /// What that means now, in words.
    pub detail: String,
    /// The command that takes it back and keeps the files as they are; null where none is safe.
    pub command: Option<String>,
}

/// Staged changes of undone paths.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StagedChanges {
    /// The paths whose staged content is neither the committed one nor what was there before the run, sorted.
    pub paths: Vec<RepoPath>,
    /// The command that unstages them; null if there are none or too many to name.
    pub command: Option<String>,
    /// Whether git's index or commit could not be read, so that nobody knows.
    pub unknown: bool,
}
