//! The answers of `probity land`, `discard`, `diff` and `enter`: decisions about changes that wait in a layer.

use super::enforcement::LandingObstacle;
use crate::document::Answer;
use crate::exit_code::ExitCode;
use crate::system_path::SystemPath;
use probity_core::ReasonCode;
use probity_evidence::{ChangeKind, GateResult, LandingState};
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::Serialize;

/// The answer of `probity land`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LandAnswer {
    pub root: SystemPath,
    /// The run whose changes were to land.
    pub run_id: String,
    /// What became of them: `landed`, `conflict`, or `held` because a gate did not pass.
    pub state: LandingState,
    /// The first of `reasons`.
    pub reason: Option<ReasonCode>,
    /// Why nothing landed.
    pub reasons: Vec<ReasonCode>,
    /// The paths that landed, or were to land.
    pub paths: Vec<RepoPath>,
    /// Changed paths of the run that are still held.
    pub left: Vec<RepoPath>,
    /// Paths whose content was merged with the tree's.
    pub merged: Vec<RepoPath>,
    pub conflicts: Vec<LandingObstacle>,
    pub gate_results: Vec<GateResult>,
    /// The directory of the evidence; null if the attempt ended before there was any.
    pub evidence_dir: Option<SystemPath>,
}

impl Answer for LandAnswer {
    const SCHEMA: &'static str = "probity/land/v1";
}

impl LandAnswer {
    pub fn exit_code(&self) -> ExitCode {
        match self.state {
            LandingState::Landed | LandingState::None => ExitCode::Ok,
            LandingState::Conflict => ExitCode::Conflict,
            LandingState::Held => ExitCode::Failed,
        }
    }
}

/// The answer of `probity discard`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DiscardAnswer {
    pub root: SystemPath,
    pub run_id: String,
    pub dry_run: bool,
    /// The entries that the layer held, deletions included.
    pub n_entries: u64,
    /// The space that they took.
    pub bytes: u64,
}

impl Answer for DiscardAnswer {
    const SCHEMA: &'static str = "probity/discard/v1";
}

/// The answer of `probity diff`: what a layer changes in the tree as it is now.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LayerDiffAnswer {
    pub root: SystemPath,
    pub run_id: String,
    /// Whether the run goes on, so that the layer may change again.
    pub is_open: bool,
    /// The changed paths; build outputs only if the caller named them.
    pub changes: Vec<LayerChange>,
    /// Changed build outputs that are not among `changes`.
    pub n_outputs_left_out: usize,
}

impl Answer for LayerDiffAnswer {
    const SCHEMA: &'static str = "probity/diff/v1";
}

/// One path that a layer changes.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LayerChange {
    pub path: RepoPath,
    pub change: ChangeKind,
    /// For an added file: the deleted path that had the same content.
    pub renamed_from: Option<RepoPath>,
    /// Type and permission bits before, such as `file 0644`; null if there was nothing.
    pub before: Option<String>,
    /// Type and permission bits after; null if there is nothing.
    pub after: Option<String>,
    /// Whether one side is no text.
    pub is_binary: bool,
    pub lines_added: usize,
    pub lines_removed: usize,
    /// The hunks in unified format; null for what is no text, is too large, or has the same content.
    pub hunks: Option<String>,
}

/// The answer of `probity enter`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EnterAnswer {
    pub root: SystemPath,
    pub run_id: String,
    /// The exit code of the command; null if it was not started.
    pub command_exit_code: Option<i32>,
}

impl Answer for EnterAnswer {
    const SCHEMA: &'static str = "probity/enter/v1";
}
