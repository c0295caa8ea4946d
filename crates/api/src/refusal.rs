//! The answer of a command that produced no report.

use crate::document::Answer;
use crate::path_claim::PathClaim;
use crate::system_path::SystemPath;
use probity_core::ReasonCode;
use probity_intents::registry::{CommandRefusal as IntentRefusal, RefusalCode as IntentRefusalCode};
use schemars::JsonSchema;
use serde::Serialize;

/// The answer of any command that was refused or failed before it produced a report.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RefusalAnswer {
    pub status: RefusalStatus,
    pub reason: RefusalReason,
    /// What happened, and where.
    pub message: String,
    /// What to do about it.
    pub next_step: String,
    /// The full refusal of the registry of intents, if it refused.
    pub refusal: Option<IntentRefusal>,
    /// The directory with evidence, if the run had begun.
    pub evidence_dir: Option<SystemPath>,
    /// The claims of other agents that block the command.
    pub claims: Option<Vec<PathClaim>>,
}

impl Answer for RefusalAnswer {
    const SCHEMA: &'static str = "probity/refusal/v1";
}

probity_core::word_enum! {
    /// The status of every refusal.
    pub enum RefusalStatus {
        /// Nothing was done, or not what was requested.
        Refused = "refused",
    }
}

/// The code of a refusal: from the registry of reasons or from the registry of intents, which has its own codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum RefusalReason {
    Reason(ReasonCode),
    Intent(IntentRefusalCode),
}

impl RefusalReason {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Reason(reason) => reason.as_str(),
            Self::Intent(code) => code.as_str(),
        }
    }
}
