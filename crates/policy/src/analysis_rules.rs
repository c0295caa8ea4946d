//! The `[analysis]` section of a policy: settings of structural analysis. Whatever is not set is the
//! analyzer's default.

use probity_core::Severity;
use serde::{Deserialize, Serialize};

/// Limits and thresholds of an analysis, named like the analyzer's settings.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AnalysisRules {
    /// Patterns of files that are not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exclude: Option<Vec<String>>,
    /// Patterns of generated files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generated: Option<Vec<String>>,
    /// Names of directories with third-party code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vendored: Option<Vec<String>>,
    /// Larger files are not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_file_bytes: Option<u64>,
    /// Maximum decisions in one callable, plus one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cyclomatic: Option<u32>,
    /// Maximum cognitive complexity of one callable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cognitive: Option<u32>,
    /// Maximum lines of one callable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<u32>,
    /// Maximum parameters of one callable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<u32>,
    /// Maximum nesting of control flow in one callable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nesting: Option<u32>,
    /// Maximum number of other project files that one file depends on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coupling: Option<u32>,
    /// Maximum number of other project classes that one class names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class_coupling: Option<u32>,
    /// Maximum number of groups of methods in one class that have nothing in common.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lcom4: Option<u32>,
    /// Minimum share of the lines of a complex callable that tests must cover, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hot_spot_coverage: Option<u32>,
    /// Smaller copied callables are not reported, in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clone_tokens: Option<u32>,
    /// Smaller copied blocks of statements are not reported, in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_tokens: Option<u32>,
    /// Statements that may be added, removed or changed in one place of a copy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clone_gap: Option<u32>,
    /// Minimum similarity of two fragments, in percent of their tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clone_similarity: Option<u32>,
    /// Limits that fail an analysis run.
    #[serde(skip_serializing_if = "AnalysisGates::is_silent")]
    pub gates: AnalysisGates,
}

/// Limits that a run must keep. A limit that is not set does not apply.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AnalysisGates {
    /// Maximum number of new findings of at least `severity`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_findings: Option<u32>,
    /// Minimum severity of findings that count as new: `info`, `warning` or `critical`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// Minimum health, from 0 to 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub health: Option<u32>,
    /// Maximum cyclomatic complexity of any callable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cyclomatic: Option<u32>,
    /// Maximum cognitive complexity of any callable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cognitive: Option<u32>,
    /// Maximum nesting of any callable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nesting: Option<u32>,
    /// Maximum lines of any callable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<u32>,
    /// Maximum parameters of any callable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<u32>,
    /// Maximum number of unrelated method groups of any class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lcom4: Option<u32>,
    /// Maximum number of clones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clones: Option<u32>,
    /// Maximum number of dependency cycles that matter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycles: Option<u32>,
    /// Maximum number of certainly unused code units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dead_code: Option<u32>,
    /// Maximum number of files with syntax errors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parse_errors: Option<u32>,
    /// Maximum number of complex callables that tests hardly cover.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub untested_hotspots: Option<u32>,
}

impl AnalysisGates {
    fn is_silent(&self) -> bool {
        *self == Self::default()
    }
}

impl AnalysisRules {
    /// Returns true if the section says nothing. It is then omitted, so that the policy keeps the digest it
    /// had before the section existed.
    pub(crate) fn is_silent(&self) -> bool {
        *self == Self::default()
    }
}
