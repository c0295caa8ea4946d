//! The answer of `probity amend` for a run.

use super::enforcement::LandingReport;
use crate::document::Answer;
use crate::exit_code::ExitCode;
use crate::system_path::SystemPath;
use probity_core::{Digest, ReasonCode};
use probity_evidence::{Amendment, LandingState};
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::Serialize;

/// The answer of `probity amend` for a run: a running run took the amendment (`amended`), or a finished run was
/// judged again.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AmendAnswer {
    pub root: SystemPath,
    /// The effect of the amendment.
    pub status: AmendStatus,
    /// The run that was amended, or the id of the new judgment.
    pub run_id: String,
    /// The amendment granted to a running run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amendment: Option<Amendment>,
    /// The new judgment of a finished run.
    #[serde(flatten)]
    pub judgment: Option<AmendedRunJudgment>,
}

impl Answer for AmendAnswer {
    const SCHEMA: &'static str = "probity/amend/v1";
}

impl AmendAnswer {
    /// Returns `Failed` if the run still fails with the wider scope.
    pub fn exit_code(&self) -> ExitCode {
        match self.status {
            AmendStatus::Amended => ExitCode::Ok,
            AmendStatus::Pass => {
                let landing = self.judgment.as_ref().and_then(|judgment| judgment.landing.as_ref());
                match landing.map(|landing| landing.state) {
                    None | Some(LandingState::Landed | LandingState::None) => ExitCode::Ok,
                    Some(LandingState::Held) => ExitCode::Failed,
                    Some(LandingState::Conflict) => ExitCode::Conflict,
                }
            }
            AmendStatus::Fail => ExitCode::Failed,
        }
    }
}

probity_core::word_enum! {
    /// The effect of an amendment.
    pub enum AmendStatus {
        /// A running run has a wider scope.
        Amended = "amended",
        /// A finished run passes now.
        Pass = "pass",
        /// A finished run still fails.
        Fail = "fail",
    }
}

/// The new judgment of a finished run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AmendedRunJudgment {
    /// The first of `reasons`.
    pub reason: Option<ReasonCode>,
    /// The codes that still fail the run.
    pub reasons: Vec<ReasonCode>,
    /// The run that was judged again.
    pub amended_from: String,
    pub amendments: Vec<Amendment>,
    /// The changed paths that are still outside the wider scope.
    pub untracked_delta_paths: Vec<RepoPath>,
    /// The directory of the new evidence.
    pub evidence_dir: SystemPath,
    /// The hash of the new evidence.
    pub run_hash: Digest,
    /// What became of the held changes of a run that passes now; null if none were held.
    pub landing: Option<LandingReport>,
}
