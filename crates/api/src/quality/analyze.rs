//! The analysis of a tree.

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
    /// The root of the tree.
    pub root: SystemPath,
    /// The run.
    #[serde(flatten)]
    pub run: RunSummary,
    /// Its files.
    pub files: TreeFileSummary,
    /// How many files were parsed for it; none, if the run or their facts were known.
    pub parsed: usize,
    /// Whether the very run was stored already.
    pub known: bool,
    /// What the baseline of the tree says about it.
    pub baseline: BaselineSummary,
    /// What the structural gates of the policy say.
    pub gates: GateReport,
    /// What changed since a revision; null if nobody asked.
    pub changed: Option<RevisionComparison>,
    /// The reports that were written.
    pub written: Vec<SystemPath>,
}

impl Answer for AnalyzeAnswer {
    const SCHEMA: &'static str = "probity/analyze/v1";
}

/// A finding in an answer.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ListedFinding {
    /// The finding.
    #[serde(flatten)]
    pub finding: Finding,
    /// How many places it has, where not all of them are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n_locations: Option<usize>,
}

impl ListedFinding {
    /// A finding with at most `max_locations` of its places.
    pub fn new(mut finding: Finding, max_locations: usize) -> Self {
        let n_locations = Some(finding.locations.len()).filter(|n| *n > max_locations);
        finding.locations.truncate(max_locations);
        Self { finding, n_locations }
    }
}

/// Which files of a tree a run is about.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TreeFileSummary {
    /// The files of the run.
    #[serde(flatten)]
    pub files: FileSummary,
    /// Directories that were left out whole: what builds and tools made.
    pub left_out: Vec<RepoPath>,
    /// Files that the system did not let be read.
    pub unreadable: Vec<RepoPath>,
}

/// What changed since a revision.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RevisionComparison {
    /// The runs compared.
    #[serde(flatten)]
    pub comparison: RunComparison,
    /// The revision as it was named.
    pub revision: String,
    /// The files that differ, are new or gone.
    pub changed_files: BTreeSet<RepoPath>,
}
