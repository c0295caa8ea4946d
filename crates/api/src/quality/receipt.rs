//! Receipts: what finished changes left.

use super::ReceiptReference;
use crate::document::Answer;
use probity_contract::ContractStatus;
use probity_core::{Digest, ReasonCode};
use probity_intents::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// The receipts of the repository, the newest last: the answer of `probity receipt list`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ReceiptListAnswer {
    /// The receipts.
    pub receipts: Vec<ReceiptSummary>,
    /// What is wrong with the chain of receipts; nothing, if it is whole.
    pub broken_links: Vec<String>,
}

impl Answer for ReceiptListAnswer {
    const SCHEMA: &'static str = "probity/receipt-list/v1";
}

/// A receipt in the list of receipts.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ReceiptSummary {
    /// Its number, from 1.
    pub number: u64,
    /// Its digest.
    pub digest: Digest,
    /// The digest of the receipt before it.
    pub previous: Option<Digest>,
    /// When the change was finished, in seconds since 1970.
    pub at: Timestamp,
    /// The intent that the change belonged to.
    pub intent_id: Option<String>,
    /// What became of the change.
    pub status: ContractStatus,
    /// Whether it was signed.
    pub signed: bool,
}

/// One receipt: the answer of `probity receipt show`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ReceiptShowAnswer {
    /// Which one.
    #[serde(flatten)]
    pub reference: ReceiptReference,
    /// The document as it was kept, of the schema that it names itself: its digest is over these very members.
    pub receipt: Value,
    /// The same as an in-toto statement, in its signed envelope if it has one; null if nobody asked.
    pub attestation: Option<Value>,
}

impl Answer for ReceiptShowAnswer {
    const SCHEMA: &'static str = "probity/receipt-show/v1";
}

probity_core::word_enum! {
    /// What an offline check of a receipt says.
    pub enum ReceiptOutcome {
        /// Nothing speaks against it.
        Pass = "PASS",
        /// Something does.
        Fail = "FAIL",
    }
}

probity_core::word_enum! {
    /// How one check of a receipt ended.
    pub enum ReceiptCheckStatus {
        /// It was made and found nothing.
        Passed = "passed",
        /// It was made and found something.
        Failed = "failed",
        /// It was not made.
        Skipped = "skipped",
    }
}

/// What an offline check of a receipt says: the answer of `probity receipt verify`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ReceiptVerifyAnswer {
    /// In one word.
    pub outcome: ReceiptOutcome,
    /// The codes of what failed.
    pub codes: Vec<ReasonCode>,
    /// Every check.
    pub checks: Vec<ReceiptCheckReport>,
    /// What became of the change, if the document says so.
    pub status: Option<ContractStatus>,
}

impl Answer for ReceiptVerifyAnswer {
    const SCHEMA: &'static str = "probity/receipt-verify/v1";
}

/// One question that was put to a receipt.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ReceiptCheckReport {
    /// What was asked.
    pub name: &'static str,
    /// What came of it.
    pub status: ReceiptCheckStatus,
    /// The code, if it failed.
    pub code: Option<ReasonCode>,
    /// In words.
    pub detail: String,
}
