//! The answer of an analysis.

use super::{BaselineSummary, FileSummary, RunComparison, RunSummary};
use crate::SystemPath;
use crate::document::Answer;
use probity_analysis::{Finding, GateReport};
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// An analysis of the tree: the answer of `probity analyze` and of the tool `analyze_repository`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AnalyzeAnswer {
    pub root: SystemPath,
    #[serde(flatten)]
    pub run: RunSummary,
    pub files: TreeFileSummary,
    /// The number of files parsed; 0 if the run or all facts were already known.
    pub parsed: usize,
    /// Whether this exact run was already stored.
    pub known: bool,
    /// The comparison with the baseline of the tree.
    pub baseline: BaselineSummary,
    /// The result of the policy's structural gates.
    pub gates: GateReport,
    /// The changes since a revision; null if none was requested.
    pub changed: Option<RevisionComparison>,
    /// The reports that were written.
    pub written: Vec<SystemPath>,
}

impl Answer for AnalyzeAnswer {
    const SCHEMA: &'static str = "probity/analyze/v1";
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ListedFinding {
    #[serde(flatten)]
    pub finding: Finding,
    /// The number of its locations, if not all of them are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n_locations: Option<usize>,
}

impl ListedFinding {
    /// Keeps at most `max_locations` locations of a finding.
    pub fn new(mut finding: Finding, max_locations: usize) -> Self {
        let n_locations = Some(finding.locations.len()).filter(|n| *n > max_locations);
        finding.locations.truncate(max_locations);
        Self { finding, n_locations }
    }
}

/// The files of a tree covered by a run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TreeFileSummary {
    #[serde(flatten)]
    pub files: FileSummary,
    /// Directories skipped as a whole, because builds or tools generate them.
    pub left_out: Vec<RepoPath>,
    /// Files that could not be read.
    pub unreadable: Vec<RepoPath>,
}

/// The changes since a revision.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RevisionComparison {
    #[serde(flatten)]
    pub comparison: RunComparison,
    /// The revision as given.
    pub revision: String,
    /// The files that differ, are new, or are gone.
    pub changed_files: BTreeSet<RepoPath>,
}
