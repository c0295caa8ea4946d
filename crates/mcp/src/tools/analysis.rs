//! Tools that analyze code: runs, their comparison, and the files that a change may affect.

use super::{ToolDefinition, ToolEffect};
use crate::call::ToolCall;
use probity_api::Answer;
use probity_quality::analyze::{
    self, AnalyzeOptions, AnalyzeRequest, FindingLimits, ReportFiles, analyze_tree,
};
use probity_workspace::ServiceError;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// An agent pays for every line, so the default is small.
const MAX_LISTED_FINDINGS: usize = 10;

/// The run itself has all locations.
const MAX_LISTED_LOCATIONS: usize = 3;

pub(super) fn tools() -> Vec<ToolDefinition> {
    vec![
        ToolDefinition::new(
            "analyze_repository",
            ToolEffect::Records,
            "Analyze the tree as it is and keep the run: health, findings, gates. Do it before a start and after the edit.",
            analyze_repository,
        ),
        ToolDefinition::new(
            "compare_runs",
            ToolEffect::Reads,
            "What got worse and what better between two stored runs.",
            compare_runs,
        ),
        ToolDefinition::new(
            "get_blast_radius",
            ToolEffect::Reads,
            "Who would notice a change of these files: dependents, copies, cycles, symbols in use.",
            blast_radius,
        ),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AnalyzeRepositoryArgs {
    root: Option<String>,
    /// Findings to list, most severe first [10]
    limit: Option<usize>,
}

fn analyze_repository(
    call: &ToolCall,
    AnalyzeRepositoryArgs { root, limit }: AnalyzeRepositoryArgs,
) -> Result<Value, ServiceError> {
    let workspace = call.workspace(root.as_deref())?;
    let max_findings = limit.unwrap_or(MAX_LISTED_FINDINGS);
    let request = AnalyzeRequest {
        options: AnalyzeOptions::default(),
        changed_since: None,
        reports: Vec::new(),
        report_files: ReportFiles::default(),
        limits: FindingLimits { max_findings, max_locations: MAX_LISTED_LOCATIONS },
    };
    Ok(analyze_tree(&workspace, &request, &|progress| call.analysis_step(progress))?.answer.to_document())
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CompareRunsArgs {
    root: Option<String>,
    /// Run id or a beginning of it
    before: String,
    /// The same [last]
    after: Option<String>,
}

fn compare_runs(
    call: &ToolCall,
    CompareRunsArgs { root, before, after }: CompareRunsArgs,
) -> Result<Value, ServiceError> {
    let workspace = call.workspace(root.as_deref())?;
    Ok(analyze::compare_runs(&workspace, &before, after.as_deref().unwrap_or("last"))?.to_document())
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BlastRadiusArgs {
    root: Option<String>,
    files: Vec<String>,
}

fn blast_radius(
    call: &ToolCall,
    BlastRadiusArgs { root, files }: BlastRadiusArgs,
) -> Result<Value, ServiceError> {
    let workspace = call.workspace(root.as_deref())?;
    let files: Vec<Vec<u8>> = files.into_iter().map(String::into_bytes).collect();
    let answer = analyze::blast_radius(&workspace, &files, &|progress| call.analysis_step(progress))?;
    Ok(answer.to_document())
}
