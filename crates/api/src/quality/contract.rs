//! Verdicts on a change, the budget of a change, and the author's claims.

use crate::SystemPath;
use crate::document::Answer;
use crate::exit_code::ExitCode;
use crate::merge_audit::MergeAuditRangeAnswer;
use probity_analysis::{GateReport, SafeguardLoss};
use probity_contract::claims::{ApiDelta, ClaimObjection, ClaimReport, ClaimVerdict, GateFact};
use probity_contract::outputs::NewFinding;
use probity_contract::{
    BaselineAbuse, ChangeBudget, CheckResult, ContractCheck, ContractReason, ContractStatus, DeltaSummary,
    HealthLoss, VerificationProfile,
};
use probity_core::{Digest, Severity};
use probity_intents::ScopeCheck;
use probity_languages::Language;
use probity_paths::RepoPath;
use probity_policy::Strictness;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

probity_core::word_enum! {
    /// The question put to a contract.
    pub enum ContractMode {
        /// What a change may cost.
        Budget = "budget",
        /// Whether a change respects the contract.
        Verify = "verify",
    }
}

/// A verdict on the present tree: the answer of `probity contract verify` and of the tools `check_patch_contract` and
/// `create_review_receipt`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ContractVerifyAnswer {
    pub root: SystemPath,
    #[serde(flatten)]
    pub verdict: PatchVerdict,
    /// The commit that the tree is compared with, if it is a commit.
    pub base: Option<String>,
    /// Remarks for the reader.
    pub notes: Vec<String>,
    /// The stored receipt; null if none was requested.
    pub receipt: Option<ReceiptReference>,
    /// The merges between the base and the last commit; absent if the tree is not compared with another commit, or if this
    /// clone lacks their history.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merges: Option<MergeAuditRangeAnswer>,
}

impl ContractVerifyAnswer {
    /// Returns the code of the verdict; a lost edit fails a change that is accepted otherwise.
    pub fn exit_code(&self) -> ExitCode {
        let merges = self.merges.as_ref().map_or(ExitCode::Ok, MergeAuditRangeAnswer::exit_code);
        match ExitCode::from(self.verdict.facts.status) {
            ExitCode::Ok => merges,
            code => code,
        }
    }
}

impl Answer for ContractVerifyAnswer {
    const SCHEMA: &'static str = "probity/contract-verify/v1";
}

/// A verdict with its grounds. Members that were not evaluated are null.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PatchVerdict {
    pub mode: ContractMode,
    /// The intent of the change.
    pub intent_id: Option<String>,
    /// The paths that changed.
    pub changed_files: BTreeSet<RepoPath>,
    /// Whether only declared paths changed; null if nothing was declared.
    pub scope_check: Option<ScopeCheck>,
    /// The author's claims, checked against the facts.
    pub claims: CheckedClaims,
    /// The verdict.
    #[serde(flatten)]
    pub facts: PatchFacts,
    /// Members omitted from a summary.
    #[serde(flatten)]
    pub details: PatchDetails,
}

/// A verdict as embedded in the answer of a finish: without members found elsewhere in it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FinishVerification {
    /// The verdict.
    #[serde(flatten)]
    pub facts: PatchFacts,
    /// Members omitted from a summary.
    #[serde(flatten)]
    pub details: Option<PatchDetails>,
}

impl PatchVerdict {
    /// Embeds the verdict in a finish. A summary has at most this many findings and no details.
    pub fn embedded(self, summary_findings: Option<usize>) -> FinishVerification {
        let Self { mut facts, details, .. } = self;
        match summary_findings {
            None => FinishVerification { facts, details: Some(details) },
            Some(n_findings) => {
                facts.new_findings.truncate(n_findings);
                FinishVerification { facts, details: None }
            }
        }
    }
}

/// The content of a verdict. Members that were not evaluated are null.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PatchFacts {
    /// The status to act on.
    pub status: ContractStatus,
    pub reason: Option<ContractReason>,
    pub next_step: Option<&'static str>,
    /// The contract's own verdict, before strictness, gates and claims.
    pub verdict: VerdictWord,
    /// The run before the change.
    pub before: Option<ContractRun>,
    /// The run after the change.
    pub after: Option<ContractRun>,
    /// The strictness applied.
    pub strictness: Strictness,
    /// The structural gates before the change; null if the policy has none.
    pub before_gate: Option<GateReport>,
    /// The structural gates after the change.
    pub gate_preview: Option<GateReport>,
    /// The difference between the two runs.
    pub structural_delta: Option<DeltaSummary>,
    /// New findings in scope, or without a path.
    pub intent_regressions: Option<BTreeSet<String>>,
    /// New findings entirely outside the scope.
    pub external_regressions: Option<BTreeSet<String>>,
    /// Symbols in scope that got worse.
    pub intent_worsened: Option<BTreeSet<String>>,
    /// Symbols outside the scope that got worse.
    pub external_worsened: Option<BTreeSet<String>>,
    /// Whether the structural gates passed before and fail now.
    pub gate_worsened: Option<bool>,
    /// Whether this change caused that.
    pub intent_caused_gate_failure: Option<bool>,
    /// Signs that the baseline was moved to hide something.
    pub baseline_abuse: Option<BaselineAbuse>,
    /// Every way in which the change breaks the contract.
    pub contract_violations: Vec<ContractReason>,
    /// The health lost although nothing is violated.
    pub health_regression_advisory: Option<HealthLoss>,
    /// The violations that block the change.
    pub blocking_violations: Vec<ContractReason>,
    /// How the change is verified, depending on the kinds of its files.
    pub verification_profile: VerificationProfile,
    /// The languages of the changed source files.
    pub languages: BTreeSet<Language>,
    /// Whether a verdict needs a run of the tree after the change.
    pub after_run_required: bool,
    /// The checks that do not apply; see `checks`.
    pub checks_not_applicable: Vec<ContractCheck>,
    /// The new findings: those that count against the change first, then by severity.
    pub new_findings: Vec<NewFinding>,
    /// The number of new findings that are not listed.
    pub new_findings_left_out: usize,
    /// Whether claims about this change should be validated.
    pub claim_validation_recommended: bool,
}

/// The long lists of a verdict.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PatchDetails {
    /// The gates of the policy that ran or were skipped.
    pub gate_results: Vec<GateFact>,
    /// Violations that are tolerated here, but would block under another strictness or policy.
    pub let_through: Vec<ContractReason>,
    /// The new findings that are tolerated, with their severity.
    pub findings_let_through: BTreeMap<String, Severity>,
    /// The checks that were made; see `checks`.
    pub checks_performed: Vec<ContractCheck>,
    /// Every check with its result.
    pub checks: Vec<CheckResult>,
    /// The changes of the public interface; null if the runs were not compared.
    pub api: Option<ApiDelta>,
    /// Tests and error handlers that are gone or do nothing now. They are told and do not block.
    pub safeguard_losses: Vec<SafeguardLoss>,
}

/// A verdict and its reason.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct VerdictWord {
    pub status: ContractStatus,
    /// Why, unless it is accepted.
    pub reason: Option<ContractReason>,
}

/// The run of one side of a change.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ContractRun {
    /// The first eight digits of the run's digest.
    pub run_id: String,
    pub digest: String,
    pub health: Option<i64>,
}

/// A stored receipt.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ReceiptReference {
    /// Its number, counted from 1.
    pub number: u64,
    pub digest: Digest,
    pub path: SystemPath,
    pub signed: bool,
}

/// The author's claims, checked against the facts.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CheckedClaims {
    /// Whether every claim is proven.
    pub valid: bool,
    /// The verdict on all claims together.
    pub verdict: ClaimVerdict,
    /// The claims, both given and recognized in the text.
    pub checked: Vec<ClaimReport>,
    /// Objections that make claims false or unproven.
    pub violations: BTreeSet<ClaimObjection>,
    /// Objections that weaken claims.
    pub warnings: BTreeSet<ClaimObjection>,
    /// Claims that were not made.
    pub not_made: Vec<&'static str>,
    /// The number of sentences that assert nothing checkable.
    pub unchecked_sentences: usize,
    /// The first of those sentences.
    pub unchecked: Vec<String>,
}

/// The claims about the change in the tree: the answer of `probity claims check` and of the tool
/// `validate_review_claims`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ClaimsCheckAnswer {
    /// The verdict on the change.
    pub status: ContractStatus,
    #[serde(flatten)]
    pub claims: CheckedClaims,
    /// Remarks for the reader.
    pub notes: Vec<String>,
}

impl Answer for ClaimsCheckAnswer {
    const SCHEMA: &'static str = "probity/claims-check/v1";
}

/// What a change may cost before it starts: the answer of `probity contract budget` and of the tool
/// `check_patch_contract`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ContractBudgetAnswer {
    pub mode: ContractMode,
    #[serde(flatten)]
    pub budget: ChangeBudget,
    /// Remarks for the reader.
    pub notes: Vec<String>,
}

impl Answer for ContractBudgetAnswer {
    const SCHEMA: &'static str = "probity/contract-budget/v1";
}
