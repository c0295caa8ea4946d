//! Tools about the origin of code.

use super::{ToolDefinition, ToolEffect};
use crate::call::ToolCall;
use probity_api::Answer;
use probity_core::ReasonCode;
use probity_paths::RepoPath;
use probity_workspace::ServiceError;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

pub(super) fn tools() -> Vec<ToolDefinition> {
    vec![ToolDefinition::new(
        "why_line",
        ToolEffect::Reads,
        "Why a line is there: commit, run or intent, clause of the scope, amendment, gates, entry of the log.",
        why_line,
    )]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WhyLineArgs {
    root: Option<String>,
    /// From the root
    path: String,
    line: usize,
    /// Revision [the files as they are]
    at: Option<String>,
}

fn why_line(call: &ToolCall, args: WhyLineArgs) -> Result<Value, ServiceError> {
    let WhyLineArgs { root, path, line, at } = args;
    let workspace = call.workspace(root.as_deref())?;
    let path = RepoPath::parse(path.as_bytes())
        .map_err(|error| ServiceError::refused(ReasonCode::PathInvalid, error.to_string()))?;
    Ok(probity_review::line_origin(&workspace, at.as_deref(), &path, line)?.to_document())
}
