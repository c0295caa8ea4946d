//! Receipts of finished changes.

use super::ReceiptReference;
use crate::document::Answer;
use probity_contract::ContractStatus;
use probity_core::{Digest, ReasonCode};
use probity_intents::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// The receipts of the repository, newest last: the answer of `probity receipt list`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ReceiptListAnswer {
    pub receipts: Vec<ReceiptSummary>,
    /// Problems in the chain of receipts; empty if it is intact.
    pub broken_links: Vec<String>,
}

impl Answer for ReceiptListAnswer {
    const SCHEMA: &'static str = "probity/receipt-list/v1";
}

/// A receipt in the list of receipts.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ReceiptSummary {
    /// Its number, counted from 1.
    pub number: u64,
    pub digest: Digest,
    /// The digest of the receipt before it.
    pub previous: Option<Digest>,
    /// The time of the finish, in seconds since 1970.
    pub at: Timestamp,
    /// The intent of the change.
    pub intent_id: Option<String>,
    /// The verdict on the change.
    pub status: ContractStatus,
    pub signed: bool,
}

/// One receipt: the answer of `probity receipt show`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ReceiptShowAnswer {
    #[serde(flatten)]
    pub reference: ReceiptReference,
    /// The stored document, in the schema that it names. Its digest covers exactly these members.
    pub receipt: Value,
    /// The receipt as an in-toto statement, in its signed envelope if it has one; null if not requested.
    pub attestation: Option<Value>,
}

impl Answer for ReceiptShowAnswer {
    const SCHEMA: &'static str = "probity/receipt-show/v1";
}

probity_core::word_enum! {
    /// The outcome of an offline check of a receipt.
    pub enum ReceiptOutcome {
        /// Every check that was made passed.
        Pass = "PASS",
        /// At least one check failed.
        Fail = "FAIL",
    }
}

probity_core::word_enum! {
    /// The result of one check of a receipt.
    pub enum ReceiptCheckStatus {
        /// It was made and found nothing.
        Passed = "passed",
        /// It was made and found something.
        Failed = "failed",
        /// It was not made.
        Skipped = "skipped",
    }
}

/// The result of an offline check of a receipt: the answer of `probity receipt verify`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ReceiptVerifyAnswer {
    pub outcome: ReceiptOutcome,
    /// The codes of the failed checks.
    pub codes: Vec<ReasonCode>,
    pub checks: Vec<ReceiptCheckReport>,
    /// The verdict on the change, if the document states one.
    pub status: Option<ContractStatus>,
}

impl Answer for ReceiptVerifyAnswer {
    const SCHEMA: &'static str = "probity/receipt-verify/v1";
}

/// One check of a receipt.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ReceiptCheckReport {
    pub name: &'static str,
    pub status: ReceiptCheckStatus,
    pub code: Option<ReasonCode>,
    pub detail: String,
}
