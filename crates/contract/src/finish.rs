//! The finish pipeline: its fixed order of steps, and the status it leads to.
//!
//! hygiene → scope check → verify → receipt. The first step that stops decides; later steps are reported as
//! not reached, never as passed (law 6).

use crate::status::{ContractReason, ContractStatus};
use probity_intents::hygiene::FinishBlockReason;
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The outcome of writing the receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReceiptOutcome {
    /// The receipt was created.
    Created,
    /// The receipt could not be created.
    Failed,
    /// No receipt was requested.
    Skipped,
}

/// How far a finish came, and what its last step said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PipelineOutcome {
    /// The intent is still waiting; no step was taken.
    Queued,
    HygieneBlocks(FinishBlockReason),
    ScopeCheckExpired,
    ScopeCheckViolated,
    NotAccepted {
        /// Violated, unverified or expired.
        status: ContractStatus,
        reason: Option<ContractReason>,
    },
    Accepted {
        /// True if the verdict saw changes that are not part of this one.
        externally_changed: bool,
        receipt: ReceiptOutcome,
        /// Every uncommitted path outside the scope, attributed or not.
        dirty_outside_scope: BTreeSet<RepoPath>,
    },
}

/// A step of the finish pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FinishStep {
    /// Attributes the uncommitted changes.
    Hygiene,
    /// Checks that only declared paths changed.
    ScopeCheck,
    /// Checks the patch contract.
    Verify,
    /// Writes the receipt.
    Receipt,
}

const FINISH_STEPS: [FinishStep; 4] =
    [FinishStep::Hygiene, FinishStep::ScopeCheck, FinishStep::Verify, FinishStep::Receipt];

/// What the caller should do next.
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
    RebaseThenFinish,
    FixOrWidenScope,
    RetryReceipt,
    ClearIntent,
    ReportExternalChanges,
    /// Used if an accepted change is not committed yet; set by the caller, because these rules do not know
    /// about commits.
    CommitChange,
}

/// Uncommitted changes outside the scope of an accepted change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExternalChanges {
    pub count: usize,
    pub paths: BTreeSet<RepoPath>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FinishStatus {
    pub status: ContractStatus,
    pub reason: Option<ContractReason>,
    /// True if the claim is free again.
    pub intent_cleared: bool,
    /// Uncommitted changes outside the scope, if the change was accepted.
    pub external_changes: Option<ExternalChanges>,
    /// Steps that were not taken.
    pub not_reached: Vec<FinishStep>,
    pub next_step: Option<FinishNextStep>,
}

pub fn finish_status(pipeline: &PipelineOutcome, auto_clear: bool) -> FinishStatus {
    match pipeline {
        PipelineOutcome::Queued => stopped_status(
            0,
            ContractStatus::Unverified,
            Some(ContractReason::IntentNotActive),
            FinishNextStep::PromoteThenFinish,
        ),
        PipelineOutcome::HygieneBlocks(why) => stopped_status(
            1,
            ContractStatus::Unverified,
            Some(ContractReason::WorkspaceHygiene),
            match why {
                FinishBlockReason::MissingEvidence => FinishNextStep::ListMissingEvidence,
                FinishBlockReason::ForeignDirtyOverlap => FinishNextStep::CoordinateWithOwner,
                FinishBlockReason::OwnUnscopedDirty => FinishNextStep::ReconcileUnscopedDirty,
            },
        ),
        PipelineOutcome::ScopeCheckExpired => stopped_status(
            2,
            ContractStatus::Expired,
            Some(ContractReason::ReportDigestMismatch),
            FinishNextStep::AnalyzeThenStart,
        ),
        PipelineOutcome::ScopeCheckViolated => stopped_status(
            2,
            ContractStatus::Violated,
            Some(ContractReason::ScopeViolation),
            FinishNextStep::RevertOrWidenScope,
        ),
        PipelineOutcome::NotAccepted { status, reason } => {
            let next_step = match status {
                ContractStatus::Expired => FinishNextStep::AnalyzeThenStart,
                ContractStatus::Violated => FinishNextStep::FixOrWidenScope,
                _ if *reason == Some(ContractReason::BaseMoved) => FinishNextStep::RebaseThenFinish,
                _ => FinishNextStep::AnalyzeThenFinish,
            };
            stopped_status(3, *status, *reason, next_step)
        }
        PipelineOutcome::Accepted { externally_changed, receipt, dirty_outside_scope } => {
            accepted(*externally_changed, *receipt, dirty_outside_scope, auto_clear)
        }
    }
}

fn stopped_status(
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
        not_reached: FINISH_STEPS[taken..].to_vec(),
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
