//! The comparison of two runs.

use crate::document::Answer;
use probity_analysis::{
    AnalysisComparison, AnalysisRun, ApiBreak, ComparisonVerdict, Finding, FindingId, FindingRegression,
    MetricRegression, RunId, RunMismatch,
};
use schemars::JsonSchema;
use serde::Serialize;

/// What got worse and what got better between two runs: the answer of `probity runs compare` and of the tool
/// `compare_runs`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RunComparison {
    pub before: ComparedRun,
    pub after: ComparedRun,
    pub verdict: ComparisonVerdict,
    /// Why the runs cannot be compared; empty if they can.
    pub incomparable_because: Vec<RunMismatch>,
    /// Whether both are the same run.
    pub same_run: bool,
    /// After minus before, from −100 to 100.
    pub health_delta: Option<i32>,
    /// After minus before, in thousandths.
    pub health_delta_milli: Option<i32>,
    /// The ids of new findings.
    pub regressions: Vec<FindingId>,
    /// The ids of findings that are gone.
    pub improvements: Vec<FindingId>,
    /// The number of findings in both runs.
    pub unchanged: u32,
    /// Findings in both runs whose ids differ: before and after.
    pub renamed: Vec<(FindingId, FindingId)>,
    /// New findings, with the files that caused them.
    pub regression_findings: Vec<FindingRegression>,
    /// Findings that are gone.
    pub improvement_findings: Vec<Finding>,
    /// Symbols with a worse metric.
    pub worsened_symbols: Vec<MetricRegression>,
    /// Breaking changes of the public interface.
    pub api_breaks: Vec<ApiBreak>,
}

/// One of the two compared runs.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ComparedRun {
    /// The first eight digits of the run's digest.
    pub run_id: String,
    pub run_digest: RunId,
    /// From 0 to 100; null if no file was analyzed.
    pub health: Option<u32>,
}

impl ComparedRun {
    fn new(run: &AnalysisRun) -> Self {
        Self { run_id: run.id.short(), run_digest: run.id, health: run.health.score() }
    }
}

impl RunComparison {
    pub fn new(before: &AnalysisRun, after: &AnalysisRun, comparison: AnalysisComparison) -> Self {
        Self {
            before: ComparedRun::new(before),
            after: ComparedRun::new(after),
            verdict: comparison.verdict,
            incomparable_because: comparison.incomparable_because,
            same_run: comparison.same_run,
            health_delta: comparison.health_delta,
            health_delta_milli: comparison.health_delta_milli,
            regressions: comparison.regressions.iter().map(|new| new.finding.id.clone()).collect(),
            improvements: comparison.improvements.iter().map(|gone| gone.id.clone()).collect(),
            unchanged: comparison.unchanged,
            renamed: comparison.renamed,
            regression_findings: comparison.regressions,
            improvement_findings: comparison.improvements,
            worsened_symbols: comparison.worsened,
            api_breaks: comparison.api_breaks,
        }
    }
}

impl Answer for RunComparison {
    const SCHEMA: &'static str = "probity/runs-compare/v1";
}
