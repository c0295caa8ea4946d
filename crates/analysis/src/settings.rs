//! Settings of an analysis. They are part of a run's identity: runs with different settings cannot be compared.

use serde::{Deserialize, Serialize};

/// Version of the analyzer. It changes whenever the same bytes could give another run.
pub const ANALYZER: &str = concat!("probity-analysis/", env!("CARGO_PKG_VERSION"), "+7");

/// Limits and thresholds. A value above a threshold is a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AnalysisSettings {
    /// Larger files are not read.
    pub max_file_bytes: u64,
    /// Names of directories with third-party code, which is not read.
    pub vendored: Vec<String>,
    /// Patterns (globs) of generated files, which are not read.
    pub generated: Vec<String>,
    /// Patterns (globs) of files to exclude.
    pub exclude: Vec<String>,
    /// Decisions in one callable, plus one.
    pub cyclomatic: u32,
    /// Cognitive complexity of one callable.
    pub cognitive: u32,
    /// Lines of one callable.
    pub lines: u32,
    /// Parameters of one callable.
    pub parameters: u32,
    /// Nesting of control flow in one callable.
    pub nesting: u32,
    /// Other project files that one file depends on.
    pub coupling: u32,
    /// Other project classes that one class names.
    pub class_coupling: u32,
    /// Groups of methods in one class that have nothing in common.
    pub lcom4: u32,
    /// Minimum share of the lines of a complex callable that tests must cover, in percent.
    pub hot_spot_coverage: u32,
    /// Smaller copied callables are not reported, in tokens.
    pub clone_tokens: u32,
    /// Smaller copied blocks inside callables are not reported, in tokens.
    pub block_tokens: u32,
    /// Statements that may be added, removed or changed in one place of a copy.
    pub clone_gap: u32,
    /// Minimum similarity of two fragments, in percent of their tokens.
    pub clone_similarity: u32,
}

impl Default for AnalysisSettings {
    fn default() -> Self {
        let vendored = ["node_modules", "site-packages", "third_party", "vendor"];
        Self {
            max_file_bytes: 4 << 20,
            vendored: vendored.map(str::to_owned).to_vec(),
            generated: Vec::new(),
            exclude: Vec::new(),
            cyclomatic: 15,
            cognitive: 20,
            lines: 100,
            parameters: 7,
            nesting: 4,
            coupling: 25,
            class_coupling: 14,
            lcom4: 3,
            hot_spot_coverage: 50,
            clone_tokens: 50,
            block_tokens: 70,
            clone_gap: 3,
            clone_similarity: 70,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_setting_is_refused() {
        assert!(serde_json::from_str::<AnalysisSettings>(r#"{"cyclomatic": 3}"#).is_ok());
        assert!(serde_json::from_str::<AnalysisSettings>(r#"{"cyclomatik": 3}"#).is_err());
    }
}
