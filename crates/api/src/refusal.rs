//! The answer of a command that gave no report.

use crate::document::Answer;
use crate::path_claim::PathClaim;
use crate::system_path::SystemPath;
use probity_core::ReasonCode;
use probity_intents::registry::{CommandRefusal as IntentRefusal, RefusalCode as IntentRefusalCode};
use schemars::JsonSchema;
use serde::Serialize;

/// What any command answers that was refused or failed before it had a report.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RefusalAnswer {
    /// That there is no report.
    pub status: RefusalStatus,
    /// Why.
    pub reason: RefusalReason,
    /// What happened, and where.
    pub message: String,
    /// What to do about it.
    pub next_step: String,
    /// What the registry of intents refused, in full.
    pub refusal: Option<IntentRefusal>,
    /// Where evidence was left, if the run had begun.
    pub evidence_dir: Option<SystemPath>,
    /// The claims of other agents that are in the way.
    pub claims: Option<Vec<PathClaim>>,
}

impl Answer for RefusalAnswer {
    const SCHEMA: &'static str = "probity/refusal/v1";
}

probity_core::word_enum! {
    /// The status of every refusal.
    pub enum RefusalStatus {
        /// Nothing was done, or not what was asked.
        Refused = "refused",
    }
}

/// The code of a refusal: of the registry of reasons, or of the registry of intents, which has words of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum RefusalReason {
    /// A reason.
    Reason(ReasonCode),
    /// A refusal of the registry of intents.
    Intent(IntentRefusalCode),
}

impl RefusalReason {
    /// The stable word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Reason(reason) => reason.as_str(),
            Self::Intent(code) => code.as_str(),
        }
    }
}
