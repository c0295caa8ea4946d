//! Converts analyses to the contract's view of them.
//!
//! The contract compares findings by id. The analyzer knows better which findings of two analyses are the same
//! (renamed or moved code keeps its findings), so only findings that it could not match are passed on.

use super::AnalysisSide;
use probity_analysis::{AnalysisComparison, AnalysisRun, ApiItem, Finding};
use probity_contract::claims::ApiDelta;
use probity_contract::receipt::RunRef;
use probity_core::Digest;
use probity_paths::RepoPath;
use std::collections::BTreeSet;

/// Converts both sides without the findings they share; a finding of the later side is placed where it was caused.
pub(super) fn runs(
    before: Option<&AnalysisSide>,
    after: Option<&AnalysisSide>,
    comparison: Option<&AnalysisComparison>,
) -> (Option<probity_contract::RunFacts>, Option<probity_contract::RunFacts>) {
    let gone = comparison.iter().flat_map(|it| &it.improvements);
    let gone = gone.map(|finding| self::finding(finding, BTreeSet::new())).collect();
    let new = comparison.iter().flat_map(|it| &it.regressions);
    let new = new.map(|new| finding(&new.finding, new.caused_in.clone())).collect();
    (before.map(|side| run(side, gone)), after.map(|side| run(side, new)))
}

fn finding(finding: &Finding, paths: BTreeSet<RepoPath>) -> probity_contract::ContractFinding {
    probity_contract::ContractFinding { id: finding.id.to_string(), severity: finding.severity, paths }
}

fn run(side: &AnalysisSide, findings: Vec<probity_contract::ContractFinding>) -> probity_contract::RunFacts {
    let settings = serde_json::to_value(&side.run.settings).expect("settings are text and whole numbers");
    probity_contract::RunFacts {
        run_id: side.run.id.0.to_string(),
        report_digest: Some(side.report_digest.to_string()),
        settings: Digest::of_json(&settings).to_string(),
        analyser: side.run.analyser.clone(),
        health: side.run.health.score().map(Into::into),
        baseline_digest: side.baseline.as_ref().map(|file| file.digest.to_string()),
        findings,
    }
}

/// Returns the reference to an analysis for receipts and answers.
pub(super) fn run_ref(side: &AnalysisSide) -> RunRef {
    RunRef {
        run_id: side.run.id.0.to_string(),
        report_digest: Some(side.report_digest.to_string()),
        health: side.run.health.score().map(Into::into),
    }
}

pub(super) fn api_delta(
    comparison: &AnalysisComparison,
    before: &AnalysisRun,
    after: &AnalysisRun,
) -> ApiDelta {
    let is_new = |item: &&ApiItem| before.api.binary_search_by(|old| old.key().cmp(&item.key())).is_err();
    ApiDelta {
        breaks: comparison.api_breaks.iter().map(|it| format!("{}::{}", it.path, it.symbol)).collect(),
        additions: after
            .api
            .iter()
            .filter(is_new)
            .map(|item| format!("{}::{}", item.path, item.symbol))
            .collect(),
    }
}
