//! Answers of `probity plan`.

use crate::document::Answer;
use crate::system_path::SystemPath;
use probity_core::{Digest, ReasonCode};
use probity_evidence::{GlobList, Plan};
use schemars::JsonSchema;
use serde::Serialize;

/// What `probity plan` answers: what would be sealed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PlanAnswer {
    /// The root of the tree.
    pub root: SystemPath,
    /// The plan.
    pub plan: Plan,
    /// Its hash.
    pub plan_hash: Digest,
    /// How many files its scope covers.
    pub coverage: ScopeCoverage,
    /// What is doubtful about its scope.
    pub warnings: Vec<PlanWarning>,
    /// The build outputs of the policy.
    pub build_outputs: GlobList,
    /// Patterns for build outputs that the policy does not name but the tree suggests.
    pub proposed_build_outputs: Vec<String>,
}

impl Answer for PlanAnswer {
    const SCHEMA: &'static str = "probity/plan/v1";
}

/// What `probity plan --suggest` answers: a small scope for the paths.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ScopeSuggestion {
    /// The root of the tree.
    pub root: SystemPath,
    /// The patterns from the root, with bytes that are not shown escaped.
    pub scope: Vec<String>,
    /// How many changed paths were left out because they look like build outputs.
    pub outputs_left_out: usize,
}

impl Answer for ScopeSuggestion {
    const SCHEMA: &'static str = "probity/suggest/v1";
}

/// How much of a tree a scope covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ScopeCoverage {
    /// Judged files that the scope lets in.
    pub covered: usize,
    /// All files that are judged: build outputs are not counted.
    pub files: usize,
}

/// Something doubtful about the scope of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PlanWarning {
    /// What it is.
    pub code: ReasonCode,
    /// The pattern meant, if it is about one.
    pub pattern: Option<String>,
}
