//! A run as the contract sees it: what one structural analysis of a tree found.

use probity_paths::RepoPath;
use probity_policy::Severity;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// One finding. Two findings are the same when their ids are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Its identity, stable across runs.
    pub id: String,
    /// How bad it is.
    pub severity: Severity,
    /// Where it is; possibly nowhere.
    pub paths: BTreeSet<RepoPath>,
}

/// One structural analysis of a tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Its identity: a hash of the content that was analysed.
    pub run_id: String,
    /// The digest of its report.
    pub report_digest: Option<String>,
    /// What the analysis was asked to do.
    pub settings: String,
    /// The version of the analysis.
    pub analyser: String,
    /// The health of the tree, if it could be told.
    pub health: Option<i64>,
    /// The digest of the baseline that the tree carries, if any.
    pub baseline_digest: Option<String>,
    /// What was found.
    pub findings: Vec<Finding>,
}

/// A symbol whose metric got worse between two runs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct WorsenedSymbol {
    /// The symbol.
    pub symbol: String,
    /// The metric.
    pub metric: String,
    /// Where it is, if that is known.
    pub path: Option<RepoPath>,
    /// The value before.
    pub before: i64,
    /// The value after.
    pub after: i64,
}

/// What the gates would say of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct GatePreview {
    /// Whether a gate would fail.
    pub would_fail: bool,
}
