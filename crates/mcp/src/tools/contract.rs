//! Tools of the patch contract: the budget of a change, the verdict on it, and its receipt.

use super::change::{into_byte_strings, usage_error};
use super::{ToolDefinition, ToolEffect};
use crate::call::ToolCall;
use probity_api::Answer;
use probity_contract::claims::Claim;
use probity_policy::StrictnessProfile;
use probity_quality::contract as patch;
use probity_quality::contract::tree_verification::{self, ComparisonBase, VerifyOptions};
use probity_workspace::{ServiceError, Workspace};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

pub(super) fn tools() -> Vec<ToolDefinition> {
    vec![
        ToolDefinition::new(
            "check_patch_contract",
            ToolEffect::Records,
            "mode budget: what headroom a change has. mode verify: did the tree get worse since before_run_id or base, \
             inside the declared files? Needs no intent.",
            check_patch_contract,
        ),
        ToolDefinition::new(
            "validate_review_claims",
            ToolEffect::Records,
            "Check what is said about the change (text, or structured claims) against what the tree shows.",
            validate_review_claims,
        ),
        ToolDefinition::new(
            "create_review_receipt",
            ToolEffect::Records,
            "Verify the tree and keep a chained receipt for reviewers. finish_controlled_change leaves one by itself.",
            create_review_receipt,
        ),
    ]
}

/// What a change is held against.
/// At most this many merges, and findings of each, are listed beside a verdict.
const MAX_LISTED_MERGE_FINDINGS: usize = 10;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum PatchContractMode {
    Budget,
    #[default]
    Verify,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PatchContractArgs {
    root: Option<String>,
    #[serde(default)]
    mode: PatchContractMode,
    /// Stored run to hold the tree against
    before_run_id: Option<String>,
    /// Or a commit [HEAD]
    base: Option<String>,
    after_run_id: Option<String>,
    #[serde(default)]
    allowed_files: Vec<String>,
    #[serde(default)]
    allowed_related: Vec<String>,
    #[serde(default)]
    forbidden: Vec<String>,
    strictness: Option<StrictnessProfile>,
}

fn check_patch_contract(call: &ToolCall, args: PatchContractArgs) -> Result<Value, ServiceError> {
    let workspace = call.workspace(args.root.as_deref())?;
    if let PatchContractMode::Budget = args.mode {
        let step = |progress| call.analysis_step(progress);
        return Ok(patch::budget_contract(&workspace, args.before_run_id.as_deref(), &step)?.to_document());
    }
    let options = VerifyOptions {
        against: comparison_base(args.base, args.before_run_id)?,
        after: args.after_run_id,
        scope: tree_verification::scope(
            &workspace,
            &into_byte_strings(args.allowed_files),
            &into_byte_strings(args.allowed_related),
            &into_byte_strings(args.forbidden),
        )?,
        strictness: args.strictness,
        ..VerifyOptions::default()
    };
    verify(call, &workspace, &options, false)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ValidateClaimsArgs {
    root: Option<String>,
    /// Text to search for claims
    text: Option<String>,
    /// Structured claims, for example `{"claim": "docs_only"}`
    #[serde(default)]
    #[schemars(with = "Vec<serde_json::Map<String, Value>>")]
    claims: Vec<Claim>,
    before_run_id: Option<String>,
    base: Option<String>,
    after_run_id: Option<String>,
}

fn validate_review_claims(call: &ToolCall, args: ValidateClaimsArgs) -> Result<Value, ServiceError> {
    let workspace = call.workspace(args.root.as_deref())?;
    let options = VerifyOptions {
        against: comparison_base(args.base, args.before_run_id)?,
        after: args.after_run_id,
        claims: args.claims,
        text: args.text,
        ..VerifyOptions::default()
    };
    let checked = patch::check_claims(&workspace, &options, &|progress| call.analysis_step(progress))?;
    Ok(checked.answer.to_document())
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReviewReceiptArgs {
    root: Option<String>,
    before_run_id: Option<String>,
    base: Option<String>,
    after_run_id: Option<String>,
    /// Text to search for claims
    claims_text: Option<String>,
}

fn create_review_receipt(call: &ToolCall, args: ReviewReceiptArgs) -> Result<Value, ServiceError> {
    let workspace = call.workspace(args.root.as_deref())?;
    let options = VerifyOptions {
        against: comparison_base(args.base, args.before_run_id)?,
        after: args.after_run_id,
        text: args.claims_text,
        ..VerifyOptions::default()
    };
    verify(call, &workspace, &options, true)
}

fn verify(
    call: &ToolCall,
    workspace: &Workspace,
    options: &VerifyOptions,
    keeps_receipt: bool,
) -> Result<Value, ServiceError> {
    let step = |progress| call.analysis_step(progress);
    let mut answer = patch::verify_contract(workspace, options, keeps_receipt, &step)?.answer;
    if let Some(base) = answer.base.as_deref() {
        answer.merges = probity_merges::audit_since(workspace, base)?
            .map(|merges| merges.shortened(MAX_LISTED_MERGE_FINDINGS));
    }
    Ok(answer.to_document())
}

fn comparison_base(
    base: Option<String>,
    run: Option<String>,
) -> Result<Option<ComparisonBase>, ServiceError> {
    match (base, run) {
        (Some(_), Some(_)) => Err(usage_error("give base or before_run_id, not both")),
        (Some(revision), None) => Ok(Some(ComparisonBase::Revision(revision))),
        (None, Some(run)) => Ok(Some(ComparisonBase::Run(run))),
        (None, None) => Ok(None),
    }
}
