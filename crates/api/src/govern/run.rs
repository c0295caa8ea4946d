//! The answer of `probity run`, and parts of it that other answers share.

use super::enforcement::{ConfinementReport, LandingReport};
use super::plan::{PlanWarning, ScopeCoverage};
use crate::document::Answer;
use crate::path_claim::PathClaim;
use crate::system_path::SystemPath;
use probity_core::{Digest, ReasonCode};
use probity_evidence::{
    Amendment, ChangePlace, EnforcementLevel, GateResult, GlobList, RecognizedOutput, RunStatus,
};
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RunAnswer {
    pub root: SystemPath,
    pub status: RunStatus,
    /// The first of `reasons`.
    pub reason: Option<ReasonCode>,
    /// The codes that fail the run, each once.
    pub reasons: Vec<ReasonCode>,
    pub run_id: String,
    /// The intent that the run carries out; null if it names none.
    pub intent_id: Option<String>,
    /// The sealed scope.
    pub scope: GlobList,
    /// Extensions of the scope during the run.
    pub amendments: Vec<Amendment>,
    /// The hash of the sealed plan.
    pub plan_hash: Digest,
    /// The hash of the seal.
    pub seal_hash: Digest,
    /// The part of the tree that the scope covers; null if the tree was not walked.
    pub coverage: Option<ScopeCoverage>,
    /// Doubts about the scope.
    pub warnings: Vec<PlanWarning>,
    /// The changed paths that the scope must cover.
    pub workspace_delta_paths: Vec<RepoPath>,
    /// The paths of `workspace_delta_paths` that are outside the scope.
    pub untracked_delta_paths: Vec<RepoPath>,
    /// Changed paths that are build outputs.
    pub exempt_delta_paths: Vec<RepoPath>,
    /// Directories recognized as build outputs by their content.
    pub recognized_outputs: Vec<RecognizedOutput>,
    /// The changes of the delta that the working tree does not show: in commits and in git's index.
    pub outgoing_changes: Vec<OutgoingChange>,
    /// Paths of the delta that were unchanged before the gates ran.
    pub gate_delta_paths: Vec<RepoPath>,
    /// All findings of the judge.
    pub findings: Vec<RunFinding>,
    /// The results of the gates.
    pub gate_results: Vec<GateResult>,
    /// Git references that moved.
    pub ref_movements: Vec<RefMovement>,
    /// Files that moved to another path with the same content; both paths are in the delta.
    pub renames: Vec<FileRename>,
    /// Whether git's index changed.
    pub index_changed: bool,
    /// The directory of the evidence.
    pub evidence_dir: SystemPath,
    /// The hash of the evidence.
    pub run_hash: Digest,
    /// The key that signed the evidence, if any.
    pub signed_by: Option<String>,
    /// How strongly the scope was enforced during the run.
    pub enforcement: EnforcementLevel,
    /// What confined the command, and the known limits of that.
    pub confinement: ConfinementReport,
    /// What became of the changes.
    pub landing: LandingReport,
    /// The exit code of the command; null if it was not started or was ended by a signal.
    pub command_exit_code: Option<i32>,
    /// The caller's own intents that hold paths of the scope.
    pub own_claims: Vec<PathClaim>,
    /// Ways to proceed after a violation.
    pub next_steps: Vec<NextCommand>,
    /// What the ledger learned from the session of an agent that the run started itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ledger: Option<RunLedger>,
}

/// What the ledger learned from the sessions of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RunLedger {
    pub sessions: usize,
    /// The number of turns that were new.
    pub turns: usize,
    /// The number of statements that were accepted.
    pub accepted: usize,
    /// Why nothing was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl Answer for RunAnswer {
    const SCHEMA: &'static str = "probity/run/v1";
}

probity_core::word_enum! {
    /// Whether a finding fails the run.
    pub enum FindingSeverity {
        /// It fails the run.
        Error = "error",
        /// It is only reported.
        Note = "note",
    }
}

/// A finding of the judge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RunFinding {
    #[serde(rename = "code")]
    pub reason: ReasonCode,
    pub path: Option<RepoPath>,
    pub detail: String,
    pub severity: FindingSeverity,
}

/// A change that is only committed or only staged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OutgoingChange {
    pub path: RepoPath,
    pub place: ChangePlace,
}

/// A file that moved to another path with the same content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileRename {
    pub from: RepoPath,
    pub to: RepoPath,
}

probity_core::word_enum! {
    /// The change of a git reference.
    pub enum RefChangeKind {
        /// It did not exist before.
        Created = "created",
        /// It points elsewhere.
        Moved = "moved",
        /// It no longer exists.
        Deleted = "deleted",
    }
}

/// A git reference that moved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RefMovement {
    /// The submodule or nested repository that contains it; null for the repository of the tree.
    pub repository: Option<RepoPath>,
    /// The full name of the reference, or `HEAD`.
    pub name: String,
    pub change: RefChangeKind,
    /// Its previous target.
    pub before: Option<String>,
    /// Its new target.
    pub after: Option<String>,
}

impl RefMovement {
    /// Describes a movement from `before` to `after`; `None` means that the reference did not or does not exist.
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
    /// A way to proceed after a violation.
    pub enum WayForward {
        /// Widen the scope on the record.
        Expand = "expand",
        /// Land the changes that are in scope, and leave the others held.
        Part = "part",
        /// Drop all changes of the run; the tree does not have them.
        Discard = "discard",
        /// Look at the changes that are held.
        Look = "look",
        /// Revert the changes that are out of scope.
        Revert = "revert",
        /// Make them in a separate run.
        Split = "split",
        /// Ask for a scope that covers them.
        Suggest = "suggest",
        /// Write a policy that exempts build outputs.
        Exempt = "exempt",
        /// Follow the advice of the reason.
        Next = "next",
    }
}

/// A way to proceed, as a command or sentence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NextCommand {
    pub way: WayForward,
    /// The command; for `next`, a sentence.
    pub command: String,
}
