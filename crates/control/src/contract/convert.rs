//! From runs of the analyser to runs as the contract sees them.
//!
//! The contract compares findings by their ids. The analyser knows better which findings of two runs are the same (code
//! that was renamed or moved keeps its findings), so the earlier run speaks of them under their later names.

use super::Side;
use analysis::{Comparison, Finding, Run};
use canon::Digest;
use contract::Severity;
use contract::claims::ApiDelta;
use contract::receipt::RunRef;
use paths::RepoPath;
use std::collections::{BTreeMap, BTreeSet};

/// Both runs, with findings matched as the comparison has matched them.
pub(super) fn runs(
    before: Option<&Side>,
    after: Option<&Side>,
    comparison: Option<&Comparison>,
) -> (Option<contract::Run>, Option<contract::Run>) {
    let later: BTreeMap<&str, &str> =
        comparison.iter().flat_map(|it| &it.renamed).map(|(old, new)| (old.as_str(), new.as_str())).collect();
    let causes: BTreeMap<&str, &BTreeSet<RepoPath>> = comparison
        .iter()
        .flat_map(|it| &it.regressions)
        .map(|new| (new.finding.id.as_str(), &new.caused_in))
        .collect();
    let name = |finding: &Finding| {
        let id = finding.id.as_str();
        later.get(id).copied().unwrap_or(id).to_owned()
    };
    let cause = |finding: &Finding| match causes.get(finding.id.as_str()) {
        Some(cause) => (*cause).clone(),
        None => places(finding),
    };
    let before = before.map(|side| run(side, name, |_| BTreeSet::new()));
    let after = after.map(|side| run(side, |finding| finding.id.to_string(), cause));
    (before, after)
}

/// A run by itself.
pub(super) fn plain_run(side: &Side) -> contract::Run {
    run(side, |finding| finding.id.to_string(), places)
}

fn run(
    side: &Side,
    name: impl Fn(&Finding) -> String,
    paths: impl Fn(&Finding) -> BTreeSet<RepoPath>,
) -> contract::Run {
    let finding = |finding: &Finding| contract::Finding {
        id: name(finding),
        severity: severity(finding.severity),
        paths: paths(finding),
    };
    let settings = serde_json::to_value(&side.run.settings).expect("settings are text and whole numbers");
    contract::Run {
        run_id: side.run.id.0.to_string(),
        report_digest: Some(side.report_digest.to_string()),
        settings: Digest::of_json(&settings).to_string(),
        analyser: side.run.analyser.clone(),
        health: Some(side.run.health.score().into()),
        baseline_digest: side.baseline.map(|digest| digest.to_string()),
        findings: side.run.findings.iter().map(finding).collect(),
    }
}

fn places(finding: &Finding) -> BTreeSet<RepoPath> {
    finding.locations.iter().map(|place| place.path.clone()).collect()
}

pub(super) const fn severity(severity: analysis::Severity) -> Severity {
    match severity {
        analysis::Severity::Info => Severity::Info,
        analysis::Severity::Warning => Severity::Warning,
        analysis::Severity::Critical => Severity::Critical,
    }
}

/// A run, as receipts and answers name it.
pub(super) fn run_ref(side: &Side) -> RunRef {
    RunRef {
        run_id: side.run.id.0.to_string(),
        report_digest: Some(side.report_digest.to_string()),
        health: Some(side.run.health.score().into()),
    }
}

/// What became of the public interface.
pub(super) fn api_delta(comparison: &Comparison, before: &Run, after: &Run) -> ApiDelta {
    let symbols = |run: &Run| -> BTreeSet<String> {
        run.api.iter().map(|item| format!("{}::{}", item.path, item.symbol)).collect()
    };
    ApiDelta {
        breaks: comparison
            .api_breaks
            .iter()
            .map(|found| format!("{}::{}", found.path, found.symbol))
            .collect(),
        additions: symbols(after).difference(&symbols(before)).cloned().collect(),
    }
}
