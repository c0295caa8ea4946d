//! The patch contract: what a change may cost, whether it kept its word, and a receipt for it.

use super::change::{bytes, claim, usage};
use super::words::{Strictness, optional_rule};
use super::{Effect, Tool};
use crate::call::Call;
use control::contract::present::{self, Against, Options};
use control::contract::{self as patch, Verified};
use control::{Fault, Workspace};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// The tools of this module.
pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::new(
            "check_patch_contract",
            Effect::Records,
            "mode budget: what headroom a change has. mode verify: did the tree get worse since before_run_id or base, \
             inside the declared files? Needs no intent.",
            check_patch_contract,
        ),
        Tool::new(
            "validate_review_claims",
            Effect::Records,
            "Check what is said about the change (text, or structured claims) against what the tree shows.",
            validate_review_claims,
        ),
        Tool::new(
            "create_review_receipt",
            Effect::Records,
            "Verify the tree and keep a chained receipt for reviewers. finish_controlled_change leaves one by itself.",
            create_review_receipt,
        ),
    ]
}

/// What a change is held against.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Budget,
    #[default]
    Verify,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Check {
    root: Option<String>,
    #[serde(default)]
    mode: Mode,
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
    strictness: Option<Strictness>,
}

fn check_patch_contract(call: &Call, args: Check) -> Result<Value, Fault> {
    let workspace = call.workspace(args.root.as_deref())?;
    if let Mode::Budget = args.mode {
        let (budget, notes) = present::budget_of(&workspace, args.before_run_id.as_deref(), &|progress| {
            call.analysis_step(progress);
        })?;
        let mut document = json!(budget);
        document["mode"] = "budget".into();
        document["notes"] = json!(notes);
        return Ok(super::named("contract-budget", document));
    }
    let options = Options {
        against: against(args.base, args.before_run_id)?,
        after: args.after_run_id,
        scope: present::scope(
            &bytes(args.allowed_files),
            &bytes(args.allowed_related),
            &bytes(args.forbidden),
        )?,
        strictness: optional_rule(args.strictness),
        ..Options::default()
    };
    let verified = verify(call, &workspace, &options)?;
    Ok(super::named("contract-verify", document(&verified)))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Validate {
    root: Option<String>,
    /// Text in which claims are looked for
    text: Option<String>,
    /// Structured claims, for example `{"claim": "docs_only"}`
    #[serde(default)]
    claims: Vec<Value>,
    before_run_id: Option<String>,
    base: Option<String>,
    after_run_id: Option<String>,
}

fn validate_review_claims(call: &Call, args: Validate) -> Result<Value, Fault> {
    let workspace = call.workspace(args.root.as_deref())?;
    let options = Options {
        against: against(args.base, args.before_run_id)?,
        after: args.after_run_id,
        claims: args.claims.into_iter().map(claim).collect::<Result<_, _>>()?,
        text: args.text,
        ..Options::default()
    };
    let verified = verify(call, &workspace, &options)?;
    Ok(super::named("claims-check", verified.claims_document()))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Receipt {
    root: Option<String>,
    before_run_id: Option<String>,
    base: Option<String>,
    after_run_id: Option<String>,
    /// Text in which claims are looked for
    claims_text: Option<String>,
}

fn create_review_receipt(call: &Call, args: Receipt) -> Result<Value, Fault> {
    let workspace = call.workspace(args.root.as_deref())?;
    let options = Options {
        against: against(args.base, args.before_run_id)?,
        after: args.after_run_id,
        text: args.claims_text,
        ..Options::default()
    };
    let verified = verify(call, &workspace, &options)?;
    let kept = patch::keep(&workspace, &verified)?;
    let mut document = document(&verified);
    document["receipt"] = json!({
        "number": kept.number,
        "digest": kept.digest,
        "path": canon::bytes::to_json(kept.path.as_os_str().as_encoded_bytes()),
        "signed": kept.envelope.is_some(),
    });
    Ok(super::named("contract-verify", document))
}

fn verify(call: &Call, workspace: &Workspace, options: &Options) -> Result<Verified, Fault> {
    present::verify_tree(workspace, options, &|progress| call.analysis_step(progress))
}

fn document(verified: &Verified) -> Value {
    let mut document = verified.answer.to_json();
    document["base"] = json!(verified.revision);
    document["notes"] = json!(verified.notes);
    document
}

fn against(base: Option<String>, run: Option<String>) -> Result<Option<Against>, Fault> {
    match (base, run) {
        (Some(_), Some(_)) => Err(usage("give base or before_run_id, not both")),
        (Some(revision), None) => Ok(Some(Against::Revision(revision))),
        (None, Some(run)) => Ok(Some(Against::Run(run))),
        (None, None) => Ok(None),
    }
}
