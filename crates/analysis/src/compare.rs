//! Compares two runs: what became worse, what became better, and what only moved.
//!
//! [`FindingMatcher`] finds the findings that both runs have. An unmatched finding of the later run is a regression
//! if the change can have caused it, one of the earlier run an improvement.

use crate::api::{self, ApiBreak};
use crate::finding::{Finding, FindingFamily, FindingId, Severity};
use crate::finding_matcher::{FindingMatcher, MovedFiles};
use crate::regression_cause::{ChangedNeighbors, CodeIndex, FindingRegression, regression};
use crate::removed_references;
use crate::run::{AnalysisRun, UnitMeasurements};
use crate::safeguards::{self, SafeguardLoss};
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The overall result of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ComparisonVerdict {
    /// Only better.
    Improved,
    /// Only worse.
    Regressed,
    /// Better in some ways, worse in others.
    Mixed,
    /// Neither better nor worse.
    Stable,
    /// The runs cannot be compared.
    Incomparable,
}

/// Why two runs cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunMismatch {
    /// The settings differ.
    DifferentSettings,
    /// The analyzers differ.
    DifferentAnalyser,
}

probity_core::word_enum! {
    /// A metric of a symbol.
    pub enum UnitMetric {
        /// Decisions plus one.
        Cyclomatic = "cyclomatic",
        Cognitive = "cognitive",
        /// Nesting of control flow.
        Nesting = "nesting",
        /// Lines, only above the threshold.
        Lines = "lines",
        Parameters = "parameters",
        /// Groups of methods with nothing in common.
        Lcom4 = "lcom4",
        /// Other classes that a class names, only above the threshold.
        Coupling = "coupling",
    }
}

/// A symbol that measures worse than before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MetricRegression {
    /// The file in the later run.
    pub path: RepoPath,
    /// The symbol in the later run.
    pub symbol: String,
    /// The metric.
    pub metric: UnitMetric,
    /// The value before.
    pub before: u32,
    /// The value after.
    pub after: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnalysisComparison {
    pub verdict: ComparisonVerdict,
    /// Empty if the runs can be compared.
    pub incomparable_because: Vec<RunMismatch>,
    pub same_run: bool,
    /// After minus before, from −100 to 100.
    pub health_delta: Option<i32>,
    /// After minus before, in thousandths.
    pub health_delta_milli: Option<i32>,
    pub regressions: Vec<FindingRegression>,
    pub improvements: Vec<Finding>,
    /// Number of findings in both.
    pub unchanged: u32,
    /// Findings in both with different ids: (before, after).
    pub renamed: Vec<(FindingId, FindingId)>,
    /// All symbols that measure worse, by path and symbol.
    pub worsened: Vec<MetricRegression>,
    pub api_breaks: Vec<ApiBreak>,
    /// Tests and error handlers that the later run lost.
    pub safeguards: Vec<SafeguardLoss>,
}

pub fn compare(before: &AnalysisRun, after: &AnalysisRun) -> AnalysisComparison {
    let mut because = Vec::new();
    if before.settings != after.settings {
        because.push(RunMismatch::DifferentSettings);
    }
    if before.analyser != after.analyser {
        because.push(RunMismatch::DifferentAnalyser);
    }
    let same_run = before.id == after.id;
    if !because.is_empty() {
        return incomparable(because, same_run);
    }
    let (moves, stay) = MovedFiles::of(before, after);
    let matches = FindingMatcher::new(before, after, &moves, &stay).run();
    let delta =
        |(before, after): (u32, u32)| i32::try_from(i64::from(after) - i64::from(before)).unwrap_or_default();
    let places: BTreeSet<&RepoPath> = matches
        .only_after
        .iter()
        .flat_map(|&index| &after.findings[index].locations)
        .map(|place| &place.path)
        .collect();
    let (old_code, new_code) = (CodeIndex::of(before, &moves, &places), CodeIndex::of(after, &stay, &places));
    let neighbors = ChangedNeighbors::of(before, after);
    let worsened = worsened(before, after, &moves);
    let mut regressions: Vec<FindingRegression> = matches
        .only_after
        .iter()
        .filter_map(|&index| regression(&after.findings[index], &old_code, &new_code, &neighbors))
        .collect();
    let after_told = regressions.clone();
    regressions.extend(removed_references::find(before, after, &moves).into_iter().filter(|new| {
        // An import that dangles is told as such.
        let place = |finding: &Finding| {
            finding.locations.first().map(|place| (place.path.clone(), place.range.start_line))
        };
        let is_same = |told: &FindingRegression| {
            told.finding.family == FindingFamily::DanglingImport
                && place(&told.finding) == place(&new.finding)
        };
        !after_told.iter().any(is_same)
    }));
    for new in &mut regressions {
        excuse_small_growth(&mut new.finding, &worsened);
    }
    let improvements: Vec<Finding> =
        matches.only_before.iter().map(|&index| before.findings[index].clone()).collect();
    let health_delta = before.health.score().zip(after.health.score()).map(delta);
    let health_delta_milli = before.health.known_milli().zip(after.health.known_milli()).map(delta);
    let is_worse = !regressions.is_empty() || health_delta.is_some_and(|delta| delta < 0);
    let is_better = !improvements.is_empty() || health_delta.is_some_and(|delta| delta > 0);
    AnalysisComparison {
        verdict: verdict(is_worse, is_better),
        incomparable_because: Vec::new(),
        same_run,
        health_delta,
        health_delta_milli,
        improvements,
        unchanged: crate::facts::count(after.findings.len() - after_told.len()),
        regressions,
        renamed: renamed(before, after, &matches.both),
        worsened,
        // A moved file breaks its importers, so moves are not applied here.
        api_breaks: api::find_api_breaks(&before.api, &after.api),
        safeguards: safeguards::losses(before, after),
    }
}

const fn verdict(is_worse: bool, is_better: bool) -> ComparisonVerdict {
    match (is_worse, is_better) {
        (true, true) => ComparisonVerdict::Mixed,
        (true, false) => ComparisonVerdict::Regressed,
        (false, true) => ComparisonVerdict::Improved,
        (false, false) => ComparisonVerdict::Stable,
    }
}

const fn incomparable(incomparable_because: Vec<RunMismatch>, same_run: bool) -> AnalysisComparison {
    AnalysisComparison {
        verdict: ComparisonVerdict::Incomparable,
        incomparable_because,
        same_run,
        health_delta: None,
        health_delta_milli: None,
        regressions: Vec::new(),
        improvements: Vec::new(),
        unchanged: 0,
        renamed: Vec::new(),
        worsened: Vec::new(),
        api_breaks: Vec::new(),
        safeguards: Vec::new(),
    }
}

fn renamed(
    before: &AnalysisRun,
    after: &AnalysisRun,
    both: &[(usize, usize)],
) -> Vec<(FindingId, FindingId)> {
    let ids = both.iter().map(|&(old, new)| (&before.findings[old].id, &after.findings[new].id));
    ids.filter(|(old, new)| old != new).map(|(old, new)| (old.clone(), new.clone())).collect()
}

/// Makes the complexity of a callable a matter of taste if the change added little to it: one branch more does not
/// make a callable complex.
fn excuse_small_growth(finding: &mut Finding, worsened: &[MetricRegression]) {
    const MAX_SMALL_GROWTH: u32 = 5;
    let Some(place) = finding.locations.first() else { return };
    let growth = worsened
        .iter()
        .filter(|worse| worse.path == place.path && worse.symbol == place.symbol)
        .filter(|worse| matches!(worse.metric, UnitMetric::Cyclomatic | UnitMetric::Cognitive))
        .map(|worse| worse.after - worse.before)
        .max();
    let is_small = growth.is_some_and(|growth| growth <= MAX_SMALL_GROWTH);
    if finding.family == FindingFamily::Complexity && is_small {
        finding.severity = Severity::Info;
    }
}

/// Returns all symbols that measure worse, without a limit.
fn worsened(before: &AnalysisRun, after: &AnalysisRun, moves: &MovedFiles) -> Vec<MetricRegression> {
    let old: BTreeMap<&RepoPath, &[UnitMeasurements]> = before
        .files
        .iter()
        .zip(units_by_file(before))
        .map(|(file, units)| (moves.apply(&file.path), units))
        .collect();
    let mut worsened = Vec::new();
    for (file, units) in after.files.iter().zip(units_by_file(after)) {
        // Skips the many files whose units did not change.
        if let Some(earlier) = old.get(&file.path).filter(|earlier| **earlier != units) {
            worsened_in(&file.path, earlier, units, after, &mut worsened);
        }
    }
    worsened
}

/// Splits the units, which are in file order, by file.
fn units_by_file(run: &AnalysisRun) -> Vec<&[UnitMeasurements]> {
    let mut rest = run.units.as_slice();
    let mut units = |file: usize| {
        let n_own = rest.iter().take_while(|unit| unit.file as usize == file).count();
        let (own, others) = rest.split_at(n_own);
        rest = others;
        own
    };
    (0..run.files.len()).map(&mut units).collect()
}

fn worsened_in(
    path: &RepoPath,
    before: &[UnitMeasurements],
    after: &[UnitMeasurements],
    run: &AnalysisRun,
    found: &mut Vec<MetricRegression>,
) {
    let mut old: BTreeMap<&str, Vec<&UnitMeasurements>> = BTreeMap::new();
    for unit in before.iter().rev() {
        old.entry(unit.symbol.as_str()).or_default().push(unit);
    }
    for unit in after {
        let earlier = old.get_mut(unit.symbol.as_str()).and_then(Vec::pop);
        let Some(earlier) = earlier.filter(|earlier| earlier.kind == unit.kind) else { continue };
        let changes = measures(earlier, run).into_iter().zip(measures(unit, run));
        found.extend(changes.filter(|((_, before), (_, after))| after > before).map(
            |((metric, before), (_, after))| MetricRegression {
                path: path.clone(),
                symbol: unit.symbol.clone(),
                metric,
                before,
                after,
            },
        ));
    }
}

fn measures(unit: &UnitMeasurements, run: &AnalysisRun) -> [(UnitMetric, u32); 7] {
    [
        (UnitMetric::Cyclomatic, unit.cyclomatic),
        (UnitMetric::Cognitive, unit.cognitive),
        (UnitMetric::Nesting, unit.nesting),
        (UnitMetric::Lines, if unit.kind.is_callable() { unit.lines.max(run.settings.lines) } else { 0 }),
        (UnitMetric::Parameters, unit.parameters),
        (UnitMetric::Lcom4, unit.lcom4.unwrap_or(1)),
        (UnitMetric::Coupling, unit.coupling.unwrap_or(0).max(run.settings.class_coupling)),
    ]
}
