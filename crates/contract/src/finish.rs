//! The end of a finish: one pipeline in a fixed order, and what its answer is.
//!
//! hygiene → scope check → verify → receipt. The first step that stops decides; what comes after it is named as not
//! reached, and never as passed (law 6).

use crate::words::{ContractReason, ContractStatus};
use probity_intents::hygiene::FinishBlockReason;
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What became of the receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReceiptOutcome {
    /// It was made.
    Created,
    /// It could not be made.
    Failed,
    /// It was not asked for.
    Skipped,
}

/// What the steps of a finish said. A step after one that stopped was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pipeline {
    /// The intent waits; nothing was done.
    Queued,
    /// Hygiene blocks.
    HygieneBlocks(FinishBlockReason),
    /// The scope check stops.
    ScopeCheckExpired,
    /// The scope check stops.
    ScopeCheckViolated,
    /// The verdict stops, with its reason.
    NotAccepted {
        /// Violated, unverified or expired.
        status: ContractStatus,
        /// Why.
        reason: Option<ContractReason>,
    },
    /// Everything was accepted.
    Accepted {
        /// Whether the verdict saw changes that are not part of this one.
        externally_changed: bool,
        /// What became of the receipt.
        receipt: ReceiptOutcome,
        /// Every dirty path outside the scope, whosever it is.
        dirty_outside_scope: BTreeSet<RepoPath>,
    },
}

/// A step of the pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FinishStep {
    /// Whose the uncommitted changes are.
    Hygiene,
    /// Whether only declared paths changed.
    ScopeCheck,
    /// The patch contract.
    Verify,
    /// The review summary.
    Receipt,
}

const STEPS: [FinishStep; 4] =
    [FinishStep::Hygiene, FinishStep::ScopeCheck, FinishStep::Verify, FinishStep::Receipt];

/// What the one who finishes should do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words are the advice")]
pub enum FinishNextStep {
    PromoteThenFinish,
    ListMissingEvidence,
    CoordinateWithOwner,
    ReconcileUnscopedDirty,
    AnalyzeThenStart,
    RevertOrWidenScope,
    AnalyzeThenFinish,
    FixOrWidenScope,
    RetryReceipt,
    ClearIntent,
    ReportExternalChanges,
    /// Said where an accepted change is not committed yet; the rules here know no commits.
    CommitChange,
}

/// Uncommitted changes outside the scope of an accepted change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExternalChanges {
    /// How many paths.
    pub count: usize,
    /// Which.
    pub paths: BTreeSet<RepoPath>,
}

/// The answer to a finish.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FinishStatus {
    /// In one word.
    pub status: ContractStatus,
    /// Why.
    pub reason: Option<ContractReason>,
    /// Whether the claim is free again.
    pub intent_cleared: bool,
    /// Uncommitted changes that are not this change's, if it was accepted.
    pub external_changes: Option<ExternalChanges>,
    /// The steps that were not taken.
    pub not_reached: Vec<FinishStep>,
    /// What to do next.
    pub next_step: Option<FinishNextStep>,
}

/// Turns what the steps said into the answer.
pub fn finish_status(pipeline: &Pipeline, auto_clear: bool) -> FinishStatus {
    match pipeline {
        Pipeline::Queued => stopped(
            0,
            ContractStatus::Unverified,
            Some(ContractReason::IntentNotActive),
            FinishNextStep::PromoteThenFinish,
        ),
        Pipeline::HygieneBlocks(why) => stopped(
            1,
            ContractStatus::Unverified,
            Some(ContractReason::WorkspaceHygiene),
            match why {
                FinishBlockReason::MissingEvidence => FinishNextStep::ListMissingEvidence,
                FinishBlockReason::ForeignDirtyOverlap => FinishNextStep::CoordinateWithOwner,
                FinishBlockReason::OwnUnscopedDirty => FinishNextStep::ReconcileUnscopedDirty,
            },
        ),
        Pipeline::ScopeCheckExpired => stopped(
            2,
            ContractStatus::Expired,
            Some(ContractReason::ReportDigestMismatch),
            FinishNextStep::AnalyzeThenStart,
        ),
        Pipeline::ScopeCheckViolated => stopped(
            2,
            ContractStatus::Violated,
            Some(ContractReason::ScopeViolation),
            FinishNextStep::RevertOrWidenScope,
        ),
        Pipeline::NotAccepted { status, reason } => {
            let next_step = match status {
                ContractStatus::Expired => FinishNextStep::AnalyzeThenStart,
                ContractStatus::Violated => FinishNextStep::FixOrWidenScope,
                _ => FinishNextStep::AnalyzeThenFinish,
            };
            stopped(3, *status, *reason, next_step)
        }
        Pipeline::Accepted { externally_changed, receipt, dirty_outside_scope } => {
            accepted(*externally_changed, *receipt, dirty_outside_scope, auto_clear)
        }
    }
}

fn stopped(
    taken: usize,
    status: ContractStatus,
    reason: Option<ContractReason>,
    next_step: FinishNextStep,
) -> FinishStatus {
    FinishStatus {
        status,
        reason,
        intent_cleared: false,
        external_changes: None,
        not_reached: STEPS[taken..].to_vec(),
        next_step: Some(next_step),
    }
}

fn accepted(
    externally_changed: bool,
    receipt: ReceiptOutcome,
    dirt: &BTreeSet<RepoPath>,
    auto_clear: bool,
) -> FinishStatus {
    let status = if externally_changed || !dirt.is_empty() {
        ContractStatus::AcceptedWithExternalChanges
    } else {
        ContractStatus::Accepted
    };
    let receipt_failed = receipt == ReceiptOutcome::Failed;
    let next_step = if receipt_failed {
        Some(FinishNextStep::RetryReceipt)
    } else if !auto_clear {
        Some(FinishNextStep::ClearIntent)
    } else if status == ContractStatus::AcceptedWithExternalChanges {
        Some(FinishNextStep::ReportExternalChanges)
    } else {
        None
    };
    FinishStatus {
        status,
        reason: receipt_failed.then_some(ContractReason::ReceiptFailed),
        intent_cleared: auto_clear && !receipt_failed,
        external_changes: (!dirt.is_empty())
            .then(|| ExternalChanges { count: dirt.len(), paths: dirt.clone() }),
        not_reached: Vec::new(),
        next_step,
    }
}
