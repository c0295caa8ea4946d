//! The answer of `probity amend` for a run.

use crate::document::Answer;
use crate::exit_code::ExitCode;
use crate::system_path::SystemPath;
use probity_core::{Digest, ReasonCode};
use probity_evidence::Amendment;
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::Serialize;

/// What `probity amend` answers for a run: a run that goes on took the amendment (`amended`), or a finished one was
/// judged again.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AmendAnswer {
    /// The root of the tree.
    pub root: SystemPath,
    /// What the amendment did.
    pub status: AmendStatus,
    /// The run that took it, or the id of the new judgement.
    pub run_id: String,
    /// The amendment as a run that goes on granted it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amendment: Option<Amendment>,
    /// The new judgement of a finished run.
    #[serde(flatten)]
    pub judgement: Option<AmendedRunJudgment>,
}

impl Answer for AmendAnswer {
    const SCHEMA: &'static str = "probity/amend/v1";
}

impl AmendAnswer {
    /// Failed if the wider scope does not let the run pass.
    pub fn exit_code(&self) -> ExitCode {
        match self.status {
            AmendStatus::Amended | AmendStatus::Pass => ExitCode::Ok,
            AmendStatus::Fail => ExitCode::Failed,
        }
    }
}

probity_core::word_enum! {
    /// What an amendment did.
    pub enum AmendStatus {
        /// A run that goes on has a wider scope.
        Amended = "amended",
        /// A finished run passes now.
        Pass = "pass",
        /// A finished run fails all the same.
        Fail = "fail",
    }
}

/// The new judgement of a finished run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AmendedRunJudgment {
    /// The first of `reasons`.
    pub reason: Option<ReasonCode>,
    /// The codes that still fail the run.
    pub reasons: Vec<ReasonCode>,
    /// The run that was judged again.
    pub amended_from: String,
    /// All amendments of the run.
    pub amendments: Vec<Amendment>,
    /// The changed paths that the wider scope does not let in either.
    pub untracked_delta_paths: Vec<RepoPath>,
    /// Where the new evidence is.
    pub evidence_dir: SystemPath,
    /// The hash of the new evidence.
    pub run_hash: Digest,
}
