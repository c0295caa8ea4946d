//! The answer of `probity run`, and the parts of it that other answers share.

use super::plan::{PlanWarning, ScopeCoverage};
use crate::document::Answer;
use crate::path_claim::PathClaim;
use crate::system_path::SystemPath;
use probity_core::{Digest, ReasonCode};
use probity_evidence::{Amendment, EnforcementLevel, GateResult, GlobList, RecognizedOutput, RunStatus};
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::Serialize;

/// What `probity run` answers.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RunAnswer {
    /// The root of the tree.
    pub root: SystemPath,
    /// The verdict.
    pub status: RunStatus,
    /// The first of `reasons`.
    pub reason: Option<ReasonCode>,
    /// The codes that fail the run, each once.
    pub reasons: Vec<ReasonCode>,
    /// The run.
    pub run_id: String,
    /// The sealed scope.
    pub scope: GlobList,
    /// What was added to the scope on the way.
    pub amendments: Vec<Amendment>,
    /// The hash of the sealed plan.
    pub plan_hash: Digest,
    /// The hash of the seal.
    pub seal_hash: Digest,
    /// How many files the scope covered.
    pub coverage: ScopeCoverage,
    /// What was doubtful about the scope.
    pub warnings: Vec<PlanWarning>,
    /// The changed paths that are judged by the scope.
    pub workspace_delta_paths: Vec<RepoPath>,
    /// Those of them that the scope does not let in.
    pub untracked_delta_paths: Vec<RepoPath>,
    /// Changed paths that are build outputs.
    pub exempt_delta_paths: Vec<RepoPath>,
    /// The directories that were recognized as build outputs by their content.
    pub recognized_outputs: Vec<RecognizedOutput>,
    /// The paths of the delta that were not changed before the gates ran.
    pub gate_delta_paths: Vec<RepoPath>,
    /// Everything that the judge has to say.
    pub findings: Vec<RunFinding>,
    /// What the gates answered.
    pub gate_results: Vec<GateResult>,
    /// Git references that moved.
    pub ref_movements: Vec<RefMovement>,
    /// Files that are gone from one path and there at another with the same content; both paths are in the delta.
    pub renames: Vec<FileRename>,
    /// Whether git's index changed.
    pub index_changed: bool,
    /// Where the evidence is.
    pub evidence_dir: SystemPath,
    /// The hash of the evidence.
    pub run_hash: Digest,
    /// The key that signed the evidence, if one did.
    pub signed_by: Option<String>,
    /// How strongly the scope was enforced while the run went on.
    pub enforcement: EnforcementLevel,
    /// How the command ended; null if it was not started or was ended by a signal.
    pub command_exit_code: Option<i32>,
    /// The caller's own intents that hold paths of the scope.
    pub own_claims: Vec<PathClaim>,
    /// The ways on after a violation.
    pub next_steps: Vec<NextCommand>,
}

impl Answer for RunAnswer {
    const SCHEMA: &'static str = "probity/run/v1";
}

probity_core::word_enum! {
    /// Whether a finding fails the run.
    pub enum FindingSeverity {
        /// It does.
        Error = "error",
        /// It is only reported.
        Note = "note",
    }
}

/// One thing that the judge has to say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RunFinding {
    /// Why.
    #[serde(rename = "code")]
    pub reason: ReasonCode,
    /// Where, if it has a place.
    pub path: Option<RepoPath>,
    /// More about it.
    pub detail: String,
    /// Whether it fails the run.
    pub severity: FindingSeverity,
}

/// A file that is gone from one path and there at another, with the same content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileRename {
    /// Where it was.
    pub from: RepoPath,
    /// Where it is.
    pub to: RepoPath,
}

probity_core::word_enum! {
    /// What happened to a git reference.
    pub enum RefChangeKind {
        /// It was not there before.
        Created = "created",
        /// It points elsewhere.
        Moved = "moved",
        /// It is no longer there.
        Deleted = "deleted",
    }
}

/// A git reference that moved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RefMovement {
    /// The submodule or nested repository that it belongs to; null for the repository of the tree itself.
    pub repository: Option<RepoPath>,
    /// The full name of the reference, or `HEAD`.
    pub name: String,
    /// What happened to it.
    pub change: RefChangeKind,
    /// Where it pointed to.
    pub before: Option<String>,
    /// Where it points to.
    pub after: Option<String>,
}

impl RefMovement {
    /// A movement from `before` to `after`; `None` is a reference that did not or does not exist.
    pub fn new(
        repository: Option<RepoPath>,
        name: impl Into<String>,
        before: Option<String>,
        after: Option<String>,
    ) -> Self {
        let change = match (&before, &after) {
            (None, _) => RefChangeKind::Created,
            (_, None) => RefChangeKind::Deleted,
            _ => RefChangeKind::Moved,
        };
        Self { repository, name: name.into(), change, before, after }
    }
}

probity_core::word_enum! {
    /// A way on after a violation.
    pub enum WayForward {
        /// Widen the scope on the record.
        Expand = "expand",
        /// Undo the changes that are out of scope.
        Revert = "revert",
        /// Make them in a run of their own.
        Split = "split",
        /// See a scope for them.
        Suggest = "suggest",
        /// Write a policy that exempts build outputs.
        Exempt = "exempt",
        /// Do what the reason says.
        Next = "next",
    }
}

/// A way on, as a command or sentence to follow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NextCommand {
    /// What it does.
    pub way: WayForward,
    /// The command; for `next`, a sentence.
    pub command: String,
}
