//! Answers of `probity plan`.

use crate::document::Answer;
use crate::system_path::SystemPath;
use probity_core::{Digest, ReasonCode};
use probity_evidence::{GlobList, Plan};
use schemars::JsonSchema;
use serde::Serialize;

/// The answer of `probity plan`: the plan that would be sealed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PlanAnswer {
    pub root: SystemPath,
    pub plan: Plan,
    pub plan_hash: Digest,
    /// The part of the tree that its scope covers.
    pub coverage: ScopeCoverage,
    /// Doubts about its scope.
    pub warnings: Vec<PlanWarning>,
    /// The build outputs of the policy.
    pub build_outputs: GlobList,
    /// Patterns for build outputs that the tree suggests and the policy lacks.
    pub proposed_build_outputs: Vec<String>,
}

impl Answer for PlanAnswer {
    const SCHEMA: &'static str = "probity/plan/v1";
}

/// The answer of `probity plan --suggest`: a small scope for the given paths.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ScopeSuggestion {
    pub root: SystemPath,
    /// Patterns relative to the root; unprintable bytes are escaped.
    pub scope: Vec<String>,
    /// The number of changed paths omitted because they look like build outputs.
    pub outputs_left_out: usize,
}

impl Answer for ScopeSuggestion {
    const SCHEMA: &'static str = "probity/suggest/v1";
}

/// The part of a tree that a scope covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ScopeCoverage {
    /// Judged files inside the scope.
    pub covered: usize,
    /// All judged files; build outputs are not counted.
    pub files: usize,
}

/// A doubt about the scope of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PlanWarning {
    pub code: ReasonCode,
    /// The pattern in question, if it is about one.
    pub pattern: Option<String>,
}
