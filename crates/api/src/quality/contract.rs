//! Verdicts on a change, what a change may cost, and what its author claims.

use crate::SystemPath;
use crate::document::Answer;
use probity_analysis::GateReport;
use probity_contract::claims::{ApiDelta, ClaimObjection, ClaimReport, ClaimVerdict, GateFact};
use probity_contract::outputs::NewFinding;
use probity_contract::{
    BaselineAbuse, ChangeBudget, CheckResult, ContractCheck, ContractReason, ContractStatus, DeltaSummary,
    HealthLoss, VerificationProfile,
};
use probity_core::{Digest, Language, Severity};
use probity_intents::ScopeCheck;
use probity_paths::RepoPath;
use probity_policy::Strictness;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

probity_core::word_enum! {
    /// What a contract was asked.
    pub enum ContractMode {
        /// What a change may cost.
        Budget = "budget",
        /// Whether a change kept its word.
        Verify = "verify",
    }
}

/// A verdict on the tree as it is now: the answer of `probity contract verify` and of the tools `check_patch_contract`
/// and `create_review_receipt`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ContractVerifyAnswer {
    /// The root of the tree.
    pub root: SystemPath,
    /// The verdict.
    #[serde(flatten)]
    pub verdict: PatchVerdict,
    /// The commit that the tree is held against, if it is one.
    pub base: Option<String>,
    /// What the reader should know besides.
    pub notes: Vec<String>,
    /// The receipt that was kept; null if nobody asked for one.
    pub receipt: Option<ReceiptReference>,
}

impl Answer for ContractVerifyAnswer {
    const SCHEMA: &'static str = "probity/contract-verify/v1";
}

/// A verdict with everything that it rests on. What was not evaluated is null.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PatchVerdict {
    /// What was asked.
    pub mode: ContractMode,
    /// The intent that the change belongs to.
    pub intent_id: Option<String>,
    /// The paths that changed.
    pub changed_files: BTreeSet<RepoPath>,
    /// Whether only declared paths changed; null where nothing was declared.
    pub scope_check: Option<ScopeCheck>,
    /// What was claimed, and what is true of it.
    pub claims: CheckedClaims,
    /// The verdict itself.
    #[serde(flatten)]
    pub facts: PatchFacts,
    /// What a summary leaves out.
    #[serde(flatten)]
    pub details: PatchDetails,
}

/// A verdict as a finish embeds it: without what stands elsewhere in its answer.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FinishVerification {
    /// The verdict itself.
    #[serde(flatten)]
    pub facts: PatchFacts,
    /// What a summary leaves out.
    #[serde(flatten)]
    pub details: Option<PatchDetails>,
}

impl PatchVerdict {
    /// The verdict as a finish embeds it: in a summary, with at most this many findings and without details.
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

/// What a verdict says. What was not evaluated is null.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PatchFacts {
    /// What the caller acts on.
    pub status: ContractStatus,
    /// Why, unless it is accepted.
    pub reason: Option<ContractReason>,
    /// What to do about it.
    pub next_step: Option<&'static str>,
    /// What the contract itself says, before strictness, gates and claims.
    pub verdict: VerdictWord,
    /// The run before the change.
    pub before: Option<ContractRun>,
    /// The run after it.
    pub after: Option<ContractRun>,
    /// How strictly the verdict was taken.
    pub strictness: Strictness,
    /// What the structural gates say before the change; null if the policy has none.
    pub before_gate: Option<GateReport>,
    /// What they say after it.
    pub gate_preview: Option<GateReport>,
    /// What the two runs say.
    pub structural_delta: Option<DeltaSummary>,
    /// New findings in scope, or without a path.
    pub intent_regressions: Option<BTreeSet<String>>,
    /// New findings entirely outside.
    pub external_regressions: Option<BTreeSet<String>>,
    /// Symbols in scope that got worse.
    pub intent_worsened: Option<BTreeSet<String>>,
    /// Symbols outside that got worse.
    pub external_worsened: Option<BTreeSet<String>>,
    /// Whether the structural gates passed before and fail now.
    pub gate_worsened: Option<bool>,
    /// Whether that is this change's doing.
    pub intent_caused_gate_failure: Option<bool>,
    /// Signs that the baseline was moved to hide something.
    pub baseline_abuse: Option<BaselineAbuse>,
    /// Every way in which the change breaks the contract.
    pub contract_violations: Vec<ContractReason>,
    /// The health that was lost although nothing is violated.
    pub health_regression_advisory: Option<HealthLoss>,
    /// What blocks.
    pub blocking_violations: Vec<ContractReason>,
    /// How the change is verified: what its files are.
    pub verification_profile: VerificationProfile,
    /// The languages of the changed source files.
    pub languages: BTreeSet<Language>,
    /// Whether a verdict needs a run of the tree after the change.
    pub after_run_required: bool,
    /// The checks that do not apply, as `checks` tells.
    pub checks_not_applicable: Vec<ContractCheck>,
    /// The new findings: what counts against the change first, then the most severe.
    pub new_findings: Vec<NewFinding>,
    /// How many more there are.
    pub new_findings_left_out: usize,
    /// Whether what an author writes about this change is worth checking.
    pub claim_validation_recommended: bool,
}

/// The long lists of a verdict.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PatchDetails {
    /// The gates of the policy that were run, or left out.
    pub gate_results: Vec<GateFact>,
    /// What would block under another strictness or policy, and is let through.
    pub let_through: Vec<ContractReason>,
    /// The new findings that are let through, with their severity.
    pub findings_let_through: BTreeMap<String, Severity>,
    /// The checks that were made, as `checks` tells.
    pub checks_performed: Vec<ContractCheck>,
    /// Every check with what became of it.
    pub checks: Vec<CheckResult>,
    /// What became of the public interface; null if the runs were not compared.
    pub api: Option<ApiDelta>,
}

/// A verdict in one word, and why.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct VerdictWord {
    /// The word.
    pub status: ContractStatus,
    /// Why, unless it is accepted.
    pub reason: Option<ContractReason>,
}

/// A run of one side of a change.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ContractRun {
    /// The first eight digits of the run's digest.
    pub run_id: String,
    /// The run's digest.
    pub digest: String,
    /// The health that it found.
    pub health: Option<i64>,
}

/// A receipt that was kept.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ReceiptReference {
    /// Its number, from 1.
    pub number: u64,
    /// Its digest.
    pub digest: Digest,
    /// Where it is.
    pub path: SystemPath,
    /// Whether it was signed.
    pub signed: bool,
}

/// What was claimed, and what is true of it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CheckedClaims {
    /// Whether every claim is proven.
    pub valid: bool,
    /// What the facts say to all claims together.
    pub verdict: ClaimVerdict,
    /// The claims, given and recognized.
    pub checked: Vec<ClaimReport>,
    /// What makes claims false or unproven.
    pub violations: BTreeSet<ClaimObjection>,
    /// What makes claims weaker than they sound.
    pub warnings: BTreeSet<ClaimObjection>,
    /// The claims that nobody made.
    pub not_made: Vec<&'static str>,
    /// How many sentences of the text assert nothing that could be checked.
    pub unchecked_sentences: usize,
    /// Those sentences, as far as they are listed.
    pub unchecked: Vec<String>,
}

/// What was claimed about the change in the tree: the answer of `probity claims check` and of the tool
/// `validate_review_claims`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ClaimsCheckAnswer {
    /// The verdict on the change.
    pub status: ContractStatus,
    /// The claims.
    #[serde(flatten)]
    pub claims: CheckedClaims,
    /// What the reader should know besides.
    pub notes: Vec<String>,
}

impl Answer for ClaimsCheckAnswer {
    const SCHEMA: &'static str = "probity/claims-check/v1";
}

/// What a change may cost before it starts: the answer of `probity contract budget` and of the tool
/// `check_patch_contract`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ContractBudgetAnswer {
    /// What was asked.
    pub mode: ContractMode,
    /// The budget.
    #[serde(flatten)]
    pub budget: ChangeBudget,
    /// What the reader should know besides.
    pub notes: Vec<String>,
}

impl Answer for ContractBudgetAnswer {
    const SCHEMA: &'static str = "probity/contract-budget/v1";
}
