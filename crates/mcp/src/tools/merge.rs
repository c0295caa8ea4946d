//! Tools for merges, of typed documents and of git: find lost intents and make them survive.

use super::change::usage_error;
use super::{ToolDefinition, ToolEffect};
use crate::call::ToolCall;
use probity_api::Answer;
use probity_api::merges::MergeHeadsAnswer;
use probity_document_store::merge::{self, MergeSelector, ReconcileRequest};
use probity_document_store::{CommitMetadata, CommitStore, locate, open};
use probity_documents::{ChosenState, ConflictChoice, GivenResolution};
use probity_merges::MergeQuestion;
use probity_workspace::ServiceError;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;

const DEFAULT_LISTED_CONFLICTS: usize = 10;

pub(super) fn tools() -> Vec<ToolDefinition> {
    vec![
        ToolDefinition::new(
            "analyze_merge",
            ToolEffect::Reads,
            "Whose intent a merge of the commit store lost: a written merge, ours with theirs, or without arguments all \
             heads together.",
            analyze_merge,
        ),
        ToolDefinition::new(
            "reconcile_merge",
            ToolEffect::Records,
            "Decide about what a merge lost; what is chosen survives in a commit of its own, on the record with why.",
            reconcile_merge,
        ),
        ToolDefinition::new(
            "audit_merge",
            ToolEffect::Reads,
            "Whose edit a git merge does not have: a merge commit, a range A..B, or without revision the merge in progress.",
            audit_merge,
        ),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AnalyzeMergeArgs {
    root: Option<String>,
    /// File of the commit store [the tree's own]
    store: Option<String>,
    /// A written merge: id, ref, or @
    merge: Option<String>,
    /// For a merge that is not written: the parent
    ours: Option<String>,
    /// And the target
    theirs: Option<String>,
    /// Conflicts to list [10]
    limit: Option<usize>,
}

fn analyze_merge(call: &ToolCall, args: AnalyzeMergeArgs) -> Result<Value, ServiceError> {
    let store = open_store(call, args.root.as_deref(), args.store.as_deref())?;
    let limit = args.limit.unwrap_or(DEFAULT_LISTED_CONFLICTS);
    let which = match (args.merge, args.ours, args.theirs) {
        (Some(merge), None, None) => MergeSelector::Written(merge),
        (None, Some(ours), Some(theirs)) => MergeSelector::Virtual { ours, theirs },
        (None, None, None) => {
            let found = merge::analyze_heads(&store)?;
            let merges = found.iter().map(|merge| merge.to_answer().shortened(limit)).collect();
            return Ok(MergeHeadsAnswer::new(false, merges).to_document());
        }
        _ => return Err(usage_error("give merge, or ours and theirs, or neither")),
    };
    Ok(merge::analyze(&store, &which)?.to_answer().shortened(limit).to_document())
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReconcileMergeArgs {
    root: Option<String>,
    store: Option<String>,
    merge: String,
    /// Decisions, for example {"conflict": "1f2e…", "choose": "ours"}
    #[serde(default)]
    resolutions: Vec<GivenResolution>,
    /// What decides the rest
    rest: Option<ChosenState>,
    /// Decide again as before about the same values
    #[serde(default)]
    repeat: bool,
    /// Decide also what the policy refuses
    #[serde(default)]
    override_policy: bool,
    #[serde(default)]
    dry_run: bool,
    author: Option<String>,
    why: String,
}

fn reconcile_merge(call: &ToolCall, args: ReconcileMergeArgs) -> Result<Value, ServiceError> {
    let store = open_store(call, args.root.as_deref(), args.store.as_deref())?;
    let request = ReconcileRequest {
        merge: args.merge,
        resolutions: args.resolutions,
        rest: args.rest.map(ConflictChoice::from),
        repeat: args.repeat,
        override_policy: args.override_policy,
        dry_run: args.dry_run,
        by: CommitMetadata { author: args.author, label: None },
        why: args.why,
    };
    Ok(merge::reconcile(&store, &request)?.to_answer().shortened(DEFAULT_LISTED_CONFLICTS).to_document())
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AuditMergeArgs {
    root: Option<String>,
    /// A merge commit, or a range A..B [the merge in progress]
    revision: Option<String>,
    /// Findings to list per merge [10]
    limit: Option<usize>,
}

fn audit_merge(call: &ToolCall, args: AuditMergeArgs) -> Result<Value, ServiceError> {
    let workspace = call.workspace(args.root.as_deref())?;
    let limit = args.limit.unwrap_or(DEFAULT_LISTED_CONFLICTS);
    if let Some((from, to)) = args.revision.as_deref().and_then(|revision| revision.split_once("..")) {
        let to = if to.is_empty() { "HEAD" } else { to };
        let found = probity_merges::audit_range(&workspace, Some(from).filter(|from| !from.is_empty()), to)?;
        return Ok(found.shortened(limit).to_document());
    }
    let question = args.revision.map_or(MergeQuestion::Working { theirs: None }, MergeQuestion::Commit);
    Ok(probity_merges::audit(&workspace, &question)?.shortened(limit).to_document())
}

fn open_store(call: &ToolCall, root: Option<&str>, given: Option<&str>) -> Result<CommitStore, ServiceError> {
    open(&locate(|| call.workspace(root), given.map(Path::new))?)
}
