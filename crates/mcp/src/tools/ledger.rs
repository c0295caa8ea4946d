//! Tools of the ledger: propose and query what agents know and decided.

use super::change::usage_error;
use super::{ToolDefinition, ToolEffect};
use crate::call::ToolCall;
use probity_api::Answer;
use probity_api::ledger::{ProposalFile, ProposeRequest, TurnInput};
use probity_knowledge::ledger::{self, ExportRequest, ItemFilter};
use probity_ledger::{CandidateDelta, ItemKind, ItemStatus};
use probity_workspace::ServiceError;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

const DEFAULT_LISTED_ITEMS: usize = 15;
const DEFAULT_CONTEXT_TOKENS: usize = 1_500;

pub(super) fn tools() -> Vec<ToolDefinition> {
    vec![
        ToolDefinition::new(
            "ledger_propose",
            ToolEffect::Records,
            "Propose deltas to the shared ledger, for example {\"kind\": \"decision_made\", \"handle\": \"db\", \
             \"summary\": \"…\", \"confidence\": \"high\"}. The reconciler accepts, merges or rejects each.",
            propose,
        ),
        ToolDefinition::new(
            "ledger_query",
            ToolEffect::Reads,
            "Items of the ledger as they are, at a position (as_of), changed since one, or one item with why it holds.",
            query,
        ),
        ToolDefinition::new(
            "ledger_export",
            ToolEffect::Reads,
            "A context for the next prompt within a budget of tokens: constraints first, then what fits the query.",
            export,
        ),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LedgerProposeArgs {
    root: Option<String>,
    /// Who proposes
    author: String,
    /// A stream of one's own [the ledger itself]
    stream: Option<String>,
    deltas: Vec<CandidateDelta>,
    /// What was said; deltas name it in sources
    #[serde(default)]
    turns: Vec<TurnInput>,
    /// What was said, as the source of all deltas without one
    said: Option<String>,
    /// All or nothing
    #[serde(default)]
    atomic: bool,
    #[serde(default)]
    dry_run: bool,
}

fn propose(call: &ToolCall, args: LedgerProposeArgs) -> Result<Value, ServiceError> {
    let workspace = call.workspace(args.root.as_deref())?;
    let request = ProposeRequest {
        author: args.author,
        stream: args.stream,
        dry_run: args.dry_run,
        said: args.said,
        proposal: ProposalFile { deltas: args.deltas, turns: args.turns, atomic: args.atomic },
    };
    Ok(ledger::propose(&workspace, &request)?.shortened(DEFAULT_LISTED_ITEMS).to_document())
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LedgerQueryArgs {
    root: Option<String>,
    stream: Option<String>,
    /// Only this item, with why it holds
    item: Option<String>,
    /// With item: all its versions
    #[serde(default)]
    history: bool,
    /// Only what changed after this position
    since: Option<i64>,
    /// The ledger as it was at this position
    as_of: Option<i64>,
    kind: Option<ItemKind>,
    status: Option<ItemStatus>,
    /// Superseded and resolved ones too
    #[serde(default)]
    all: bool,
    /// Items to list [15]
    limit: Option<usize>,
}

fn query(call: &ToolCall, args: LedgerQueryArgs) -> Result<Value, ServiceError> {
    let workspace = call.workspace(args.root.as_deref())?;
    let stream = args.stream;
    let limit = args.limit.unwrap_or(DEFAULT_LISTED_ITEMS);
    Ok(match (&args.item, args.since, args.as_of) {
        (Some(item), None, None) if args.history => {
            ledger::history(&workspace, item, stream.as_deref())?.shortened(limit).to_document()
        }
        (Some(item), None, None) => ledger::explain(&workspace, item, stream.as_deref())?.to_document(),
        (None, Some(since), None) => {
            ledger::changed(&workspace, Some(since), stream.as_deref())?.shortened(limit).to_document()
        }
        (None, None, at) => {
            let filter = ItemFilter { stream, kind: args.kind, status: args.status, all: args.all };
            let list = match at {
                Some(position) => ledger::as_of(&workspace, position, &filter)?,
                None => ledger::show(&workspace, &filter)?,
            };
            list.shortened(limit).to_document()
        }
        _ => return Err(usage_error("give one of item, since and as_of")),
    })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LedgerExportArgs {
    root: Option<String>,
    stream: Option<String>,
    /// Tokens that the text may have [1500]
    budget: Option<usize>,
    /// What the next prompt is about
    query: Option<String>,
    /// Only what changed after this position
    since: Option<i64>,
}

fn export(call: &ToolCall, args: LedgerExportArgs) -> Result<Value, ServiceError> {
    let workspace = call.workspace(args.root.as_deref())?;
    let request = ExportRequest {
        stream: args.stream,
        budget: args.budget.unwrap_or(DEFAULT_CONTEXT_TOKENS),
        query: args.query,
        since: args.since,
        page: None,
    };
    Ok(ledger::export(&workspace, &request)?.shortened(DEFAULT_LISTED_ITEMS).to_document())
}
