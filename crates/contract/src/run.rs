//! An analysis run as the contract sees it: what one structural analysis of a tree found.

use probity_paths::RepoPath;
use probity_policy::Severity;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// One finding, identified by its id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContractFinding {
    /// Stable across runs.
    pub id: String,
    pub severity: Severity,
    /// Empty if the finding has no location.
    pub paths: BTreeSet<RepoPath>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunFacts {
    /// Hash of the analyzed content.
    pub run_id: String,
    pub report_digest: Option<String>,
    /// Identifies the settings of the analysis.
    pub settings: String,
    /// Version of the analyzer.
    pub analyser: String,
    /// Health of the tree, if known.
    pub health: Option<i64>,
    /// Digest of the tree's baseline, if it has one.
    pub baseline_digest: Option<String>,
    pub findings: Vec<ContractFinding>,
}

/// A symbol with a worse metric in the second of two runs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct WorsenedSymbol {
    pub symbol: String,
    pub metric: String,
    pub path: Option<RepoPath>,
    pub before: i64,
    pub after: i64,
}

/// What the structural gates would say about a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct GatePreview {
    pub would_fail: bool,
}
