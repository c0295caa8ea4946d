//! Gates: limits of the policy that a run must keep. Without limits nothing fails.
//!
//! A gate that cannot be evaluated (no coverage was given, the baseline is damaged) fails and says so. Only
//! the health gate is left out if nothing was analyzed: not applicable is not passed (law 6).

use crate::baseline::BaselineComparison;
use crate::finding::{Confidence, Finding, FindingFamily, FindingId, Severity};
use crate::run::{AnalysisRun, UnitMeasurements};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The limits of a policy. A value above its limit fails; health fails below its minimum.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GateRules {
    /// Maximum number of new findings of at least `severity`.
    pub new_findings: Option<u32>,
    /// Minimum severity of findings that count as new: `info`, `warning` (the default) or `critical`.
    pub severity: Option<Severity>,
    /// Minimum health, from 0 to 100.
    pub health: Option<u32>,
    pub cyclomatic: Option<u32>,
    pub cognitive: Option<u32>,
    pub nesting: Option<u32>,
    pub lines: Option<u32>,
    pub parameters: Option<u32>,
    /// Groups of methods with nothing in common, in any class.
    pub lcom4: Option<u32>,
    pub clones: Option<u32>,
    /// Dependency cycles that matter.
    pub cycles: Option<u32>,
    /// Certainly unused code.
    pub dead_code: Option<u32>,
    /// Files with syntax errors.
    pub parse_errors: Option<u32>,
    /// Callables with many decisions that tests hardly cover.
    pub untested_hotspots: Option<u32>,
}

/// The reference for new findings.
#[derive(Debug, Clone, Copy)]
pub enum GateBaseline<'a> {
    /// There is no baseline: every finding is new.
    Nothing,
    Baseline(&'a BaselineComparison),
    /// The baseline cannot be relied on, for this reason.
    Untrusted(&'a str),
}

/// A gate that fails.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GateFailure {
    /// The gate's name in the policy.
    pub gate: &'static str,
    /// Its limit.
    pub limit: u32,
    /// The value of the run; null if it is unknown.
    pub value: Option<u32>,
    /// The failure, in a sentence.
    pub message: String,
    /// The findings that cause it; at most twenty.
    pub findings: Vec<FindingId>,
}

/// The results of all gates.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GateReport {
    /// True if any gate fails.
    pub would_fail: bool,
    /// The gates that fail.
    pub reasons: Vec<GateFailure>,
    /// The gates that pass.
    pub passed: Vec<&'static str>,
}

const MAX_FINDINGS_PER_GATE: usize = 20;

impl GateReport {
    fn add(&mut self, gate: &'static str, failure: Option<GateFailure>) {
        match failure {
            Some(failure) => self.reasons.push(failure),
            None => self.passed.push(gate),
        }
        self.would_fail = !self.reasons.is_empty();
    }
}

/// Checks a run against the gates of a policy.
pub fn check_gates(run: &AnalysisRun, rules: &GateRules, known: GateBaseline<'_>) -> GateReport {
    let mut report = GateReport::default();
    if let Some(limit) = rules.new_findings {
        report.add("new_findings", new_findings(run, rules, limit, known));
    }
    // A tree without analyzed code has no health: the gate does not apply, which is not the same as passed (law 6).
    if let (Some(floor), Some(score)) = (rules.health, run.health.score()) {
        report.add("health", health(score, floor));
    }
    for (gate, limit, measure) in measures(rules) {
        if let Some(limit) = limit {
            report.add(gate, worst_unit(run, gate, limit, measure));
        }
    }
    for (gate, limit, counts) in counts(rules) {
        if let Some(limit) = limit {
            let found: Vec<&Finding> = run.findings.iter().filter(|finding| counts(finding)).collect();
            report.add(gate, limit_failure(gate, limit, &found, "are in the tree"));
        }
    }
    if let Some(limit) = rules.untested_hotspots {
        report.add("untested_hotspots", untested(run, limit));
    }
    report
}

type MetricFn = fn(&UnitMeasurements) -> u32;

fn measures(rules: &GateRules) -> [(&'static str, Option<u32>, MetricFn); 6] {
    [
        ("cyclomatic", rules.cyclomatic, |unit| unit.cyclomatic),
        ("cognitive", rules.cognitive, |unit| unit.cognitive),
        ("nesting", rules.nesting, |unit| unit.nesting),
        ("lines", rules.lines, |unit| if unit.kind.is_callable() { unit.lines } else { 0 }),
        ("parameters", rules.parameters, |unit| unit.parameters),
        ("lcom4", rules.lcom4, |unit| unit.lcom4.unwrap_or(0)),
    ]
}

type FindingFilter = fn(&Finding) -> bool;

fn counts(rules: &GateRules) -> [(&'static str, Option<u32>, FindingFilter); 4] {
    [
        ("clones", rules.clones, |finding| {
            matches!(finding.family, FindingFamily::Clone | FindingFamily::CloneBlock)
        }),
        // A harmless cycle is reported as information and does not count.
        ("cycles", rules.cycles, |finding| {
            finding.family == FindingFamily::Cycle && finding.severity > Severity::Info
        }),
        ("dead_code", rules.dead_code, |finding| {
            finding.family == FindingFamily::DeadCode && finding.confidence == Confidence::High
        }),
        ("parse_errors", rules.parse_errors, |finding| finding.family == FindingFamily::ParseError),
    ]
}

fn new_findings(
    run: &AnalysisRun,
    rules: &GateRules,
    limit: u32,
    known: GateBaseline<'_>,
) -> Option<GateFailure> {
    let least = rules.severity.unwrap_or(Severity::Warning);
    let is_new = |finding: &Finding| match known {
        GateBaseline::Baseline(novelty) => novelty.new.binary_search(&finding.id).is_ok(),
        GateBaseline::Nothing | GateBaseline::Untrusted(_) => true,
    };
    if let GateBaseline::Untrusted(why) = known {
        return Some(GateFailure {
            gate: "new_findings",
            limit,
            value: None,
            message: format!("which findings are new cannot be told: {why}"),
            findings: Vec::new(),
        });
    }
    let found: Vec<&Finding> =
        run.findings.iter().filter(|finding| finding.severity >= least && is_new(finding)).collect();
    limit_failure("new_findings", limit, &found, "are new")
}

fn health(score: u32, floor: u32) -> Option<GateFailure> {
    (score < floor).then(|| GateFailure {
        gate: "health",
        limit: floor,
        value: Some(score),
        message: format!("health is {score}, and the least is {floor}"),
        findings: Vec::new(),
    })
}

fn worst_unit(run: &AnalysisRun, gate: &'static str, limit: u32, measure: MetricFn) -> Option<GateFailure> {
    let above = || run.units.iter().filter(|unit| measure(unit) > limit);
    let worst = above().max_by_key(|unit| measure(unit))?;
    let (n_above, value) = (above().count(), measure(worst));
    let path = &run.files[worst.file as usize].path;
    let symbol = if worst.symbol.is_empty() { "the file itself" } else { &worst.symbol };
    Some(GateFailure {
        gate,
        limit,
        value: Some(value),
        message: format!("{n_above} above {limit}, the worst with {value}: {symbol} in {path}"),
        findings: Vec::new(),
    })
}

fn limit_failure(gate: &'static str, limit: u32, found: &[&Finding], what: &str) -> Option<GateFailure> {
    let value = crate::facts::count(found.len());
    (value > limit).then(|| GateFailure {
        gate,
        limit,
        value: Some(value),
        message: format!("{value} {what}, and {limit} may be"),
        findings: found.iter().take(MAX_FINDINGS_PER_GATE).map(|finding| finding.id.clone()).collect(),
    })
}

fn untested(run: &AnalysisRun, limit: u32) -> Option<GateFailure> {
    let has_coverage = run.joined.iter().any(|joined| joined.format != crate::run::ReportFormat::Sarif);
    if !has_coverage {
        return Some(GateFailure {
            gate: "untested_hotspots",
            limit,
            value: None,
            message: "no coverage was given: use `--coverage FILE`".to_owned(),
            findings: Vec::new(),
        });
    }
    let found: Vec<&Finding> =
        run.findings.iter().filter(|finding| finding.family == FindingFamily::Untested).collect();
    limit_failure("untested_hotspots", limit, &found, "are in the tree")
}
