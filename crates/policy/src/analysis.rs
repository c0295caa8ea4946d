//! What `[analysis]` of a policy says about structural analysis. What it does not say is the analyser's own choice.

use probity_core::Severity;
use serde::{Deserialize, Serialize};

/// The limits and thresholds of an analysis, under the names of the analyser's settings.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AnalysisRules {
    /// Patterns of files that are not to be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exclude: Option<Vec<String>>,
    /// Patterns of files that a program wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generated: Option<Vec<String>>,
    /// Names of directories of other people's code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vendored: Option<Vec<String>>,
    /// Files above this size are not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_file_bytes: Option<u64>,
    /// Decisions in one callable, plus one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cyclomatic: Option<u32>,
    /// Cognitive complexity of one callable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cognitive: Option<u32>,
    /// Lines of one callable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<u32>,
    /// Parameters of one callable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<u32>,
    /// Nesting of control flow in one callable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nesting: Option<u32>,
    /// Other project files that one file depends on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coupling: Option<u32>,
    /// Other project classes that one class names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class_coupling: Option<u32>,
    /// Groups of methods in one class that have nothing in common.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lcom4: Option<u32>,
    /// Lines of a callable with many decisions that tests must run, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hot_spot_coverage: Option<u32>,
    /// Tokens below which a copied callable says nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clone_tokens: Option<u32>,
    /// Tokens below which copied statements say nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_tokens: Option<u32>,
    /// Statements that may be added, removed or changed in one place of a copy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clone_gap: Option<u32>,
    /// How alike two pieces must be, in percent of their tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clone_similarity: Option<u32>,
    /// What a run must not have.
    #[serde(skip_serializing_if = "AnalysisGates::is_silent")]
    pub gates: AnalysisGates,
}

/// Limits that a run must keep; a limit that is not set is none.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AnalysisGates {
    /// New findings of at least `severity`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_findings: Option<u32>,
    /// The least severity that counts as new: `info`, `warning` or `critical`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// The least health, from 0 to 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub health: Option<u32>,
    /// Cyclomatic complexity of any callable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cyclomatic: Option<u32>,
    /// Cognitive complexity of any callable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cognitive: Option<u32>,
    /// Nesting of any callable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nesting: Option<u32>,
    /// Lines of any callable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<u32>,
    /// Parameters of any callable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<u32>,
    /// Groups of methods of any class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lcom4: Option<u32>,
    /// Copies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clones: Option<u32>,
    /// Dependency cycles that matter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycles: Option<u32>,
    /// Unused code that is surely unused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dead_code: Option<u32>,
    /// Files with places that cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parse_errors: Option<u32>,
    /// Callables with many decisions that tests hardly run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub untested_hotspots: Option<u32>,
}

impl AnalysisGates {
    fn is_silent(&self) -> bool {
        *self == Self::default()
    }
}

impl AnalysisRules {
    /// Whether nothing is said: then the policy is the same as one that was written before there was analysis.
    pub(crate) fn is_silent(&self) -> bool {
        *self == Self::default()
    }
}
