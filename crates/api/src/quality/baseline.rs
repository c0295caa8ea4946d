//! The baseline of a tree.

use crate::document::Answer;
use probity_analysis::{BaselineHistoryEntry, FindingId};
use probity_core::{Digest, ReasonCode};
use schemars::JsonSchema;
use serde::Serialize;

probity_core::word_enum! {
    /// Whether a run could be held against the baseline of its tree.
    pub enum BaselineStatus {
        /// There is no baseline.
        Missing = "missing",
        /// The run was held against it.
        Held = "held",
        /// There is one that cannot be relied on.
        Untrusted = "untrusted",
    }
}

/// What the baseline of a tree says about a run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BaselineSummary {
    /// Whether there is one that can be relied on.
    pub status: BaselineStatus,
    /// Why it cannot be relied on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The findings that it does not know, or that measure worse than it knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<Vec<FindingId>>,
    /// How many findings it knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n_known: Option<u32>,
    /// How many of its findings are gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n_gone: Option<u32>,
    /// The digest of everything in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// Every capture, the oldest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history: Option<Vec<BaselineHistoryEntry>>,
}

/// The baseline of the tree: the answer of `probity analyze baseline`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BaselineAnswer {
    /// The run that was held against it: the first eight digits of its digest.
    pub run_id: String,
    /// What it says.
    #[serde(flatten)]
    pub baseline: BaselineSummary,
    /// The code for a baseline that cannot be relied on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<ReasonCode>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_step: Option<String>,
}

impl Answer for BaselineAnswer {
    const SCHEMA: &'static str = "probity/analyze-baseline/v1";
}
