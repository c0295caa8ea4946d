//! The baseline of a tree.

use crate::document::Answer;
use probity_analysis::{BaselineHistoryEntry, FindingId};
use probity_core::{Digest, ReasonCode};
use schemars::JsonSchema;
use serde::Serialize;

probity_core::word_enum! {
    /// Whether a run could be compared with the baseline of its tree.
    pub enum BaselineStatus {
        /// There is no baseline.
        Missing = "missing",
        /// The run was compared with it.
        Held = "held",
        /// There is one, but it cannot be trusted.
        Untrusted = "untrusted",
    }
}

/// The comparison of a run with the baseline of its tree.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BaselineSummary {
    pub status: BaselineStatus,
    /// Why it cannot be trusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Findings that are not in the baseline, or that are worse than recorded there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<Vec<FindingId>>,
    /// The number of findings that are in the baseline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n_known: Option<u32>,
    /// The number of baseline findings that are gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n_gone: Option<u32>,
    /// The digest of its content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// Every capture, oldest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history: Option<Vec<BaselineHistoryEntry>>,
}

/// The baseline of the tree: the answer of `probity analyze baseline`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BaselineAnswer {
    /// The first eight digits of the digest of the run compared with it.
    pub run_id: String,
    #[serde(flatten)]
    pub baseline: BaselineSummary,
    /// The code for a baseline that cannot be trusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<ReasonCode>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_step: Option<String>,
}

impl Answer for BaselineAnswer {
    const SCHEMA: &'static str = "probity/analyze-baseline/v1";
}
