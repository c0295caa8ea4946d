//! Compares two runs: what became worse, what became better, and what only moved.
//!
//! Findings are matched like lines in a diff, the most certain way first: by id; by content, for renamed
//! code; by file and symbol, for edited code; by the set of files and symbols, for copies edited together;
//! cycles by common members. Files moved without a change are recognized by their content. An unmatched
//! finding of the later run is a regression, one of the earlier run an improvement.

use crate::api::{self, ApiBreak};
use crate::finding::{CodeLocation, Finding, FindingFamily, FindingId};
use crate::hash;
use crate::regression_cause::ChangedNeighbors;
use crate::run::{AnalysisRun, UnitMeasurements};
use probity_core::Digest;
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};

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

/// A finding that only the later run has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FindingRegression {
    /// The finding.
    #[serde(flatten)]
    pub finding: Finding,
    /// Those of its files whose code is new or changed at the finding's location; if there are none, the
    /// changed files that its files depend on or that depend on them; if there are none either, its files.
    pub caused_in: BTreeSet<RepoPath>,
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
    let (moves, stay) = (MovedFiles::of(before, after), MovedFiles::default());
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
    let regressions: Vec<FindingRegression> = matches
        .only_after
        .iter()
        .map(|&index| regression(&after.findings[index], &old_code, &new_code, &neighbors))
        .collect();
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
        regressions,
        improvements,
        unchanged: crate::facts::count(matches.both.len()),
        renamed: renamed(before, after, &matches.both),
        worsened: worsened(before, after, &moves),
        // A moved file breaks its importers, so moves are not applied here.
        api_breaks: api::find_api_breaks(&before.api, &after.api),
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

/// Files moved without a change: from the earlier path to the later.
#[derive(Default)]
struct MovedFiles(BTreeMap<RepoPath, RepoPath>);

impl MovedFiles {
    fn of(before: &AnalysisRun, after: &AnalysisRun) -> Self {
        let paths = |run: &AnalysisRun| -> BTreeSet<RepoPath> {
            run.files.iter().map(|file| file.path.clone()).collect()
        };
        let (old, new) = (paths(before), paths(after));
        let mut arrived: BTreeMap<Digest, Vec<&RepoPath>> = BTreeMap::new();
        for file in after.files.iter().rev().filter(|file| !old.contains(&file.path)) {
            arrived.entry(file.content).or_default().push(&file.path);
        }
        let gone = before.files.iter().filter(|file| !new.contains(&file.path));
        let moved = gone.filter_map(|file| {
            let to = arrived.get_mut(&file.content)?.pop()?;
            Some((file.path.clone(), to.clone()))
        });
        Self(moved.collect())
    }

    /// Returns the later path of an earlier one.
    fn apply<'a>(&'a self, path: &'a RepoPath) -> &'a RepoPath {
        self.0.get(path).unwrap_or(path)
    }
}

struct FindingMatcher<'a> {
    before: &'a AnalysisRun,
    after: &'a AnalysisRun,
    moves: &'a MovedFiles,
    stay: &'a MovedFiles,
    only_before: Vec<usize>,
    only_after: Vec<usize>,
    both: Vec<(usize, usize)>,
}

impl<'a> FindingMatcher<'a> {
    fn new(
        before: &'a AnalysisRun,
        after: &'a AnalysisRun,
        moves: &'a MovedFiles,
        stay: &'a MovedFiles,
    ) -> Self {
        let only_before = (0..before.findings.len()).collect();
        let only_after = (0..after.findings.len()).collect();
        Self { before, after, moves, stay, only_before, only_after, both: Vec::new() }
    }

    fn run(mut self) -> Self {
        self.side_by_side();
        self.match_by_key(|finding, _| Some(finding.id.as_str()));
        self.match_by_key(|finding, _| Some((finding.family, finding.content)));
        self.match_by_key(|finding, moves| {
            let is_copy = matches!(
                finding.family,
                FindingFamily::Clone | FindingFamily::CloneBlock | FindingFamily::Cycle
            );
            let place = finding.locations.first().filter(|_| !is_copy)?;
            Some((finding.family, name(place, moves)))
        });
        self.match_by_key(|finding, moves| {
            let mut places: Vec<_> = finding.locations.iter().map(|place| name(place, moves)).collect();
            places.sort_unstable();
            places.dedup();
            Some((finding.family, places))
        });
        self.cycles();
        self
    }

    /// Matches equal ids in one walk along both runs. Both are sorted by family and location, so this finds
    /// nearly all of them without lookups.
    fn side_by_side(&mut self) {
        let (old, new) = (&self.before.findings, &self.after.findings);
        let (mut at_old, mut at_new) = (0, 0);
        while let (Some(earlier), Some(later)) = (old.get(at_old), new.get(at_new)) {
            if earlier.id == later.id {
                self.both.push((at_old, at_new));
                (at_old, at_new) = (at_old + 1, at_new + 1);
            } else if (earlier.family, &earlier.locations) <= (later.family, &later.locations) {
                at_old += 1;
            } else {
                at_new += 1;
            }
        }
        let mut matched = vec![false; old.len()];
        self.both.iter().for_each(|&(old, _)| matched[old] = true);
        self.only_before.retain(|&old| !matched[old]);
        self.drop_matched();
    }

    /// Matches the remaining findings by a key; equal keys in order of location.
    fn match_by_key<K: Ord + Hash>(&mut self, key: impl Fn(&'a Finding, &'a MovedFiles) -> Option<K>) {
        let (findings, stay) = (&self.after.findings, self.stay);
        let keys = self.only_after.iter().filter_map(|&new| Some((key(&findings[new], stay)?, new)));
        let mut waiting = UnmatchedIndex::new(keys);
        let (both, before) = (&mut self.both, self.before);
        self.only_before.retain(|&old| {
            let found = key(&before.findings[old], self.moves).and_then(|key| waiting.take(&key));
            both.extend(found.map(|new| (old, new)));
            found.is_none()
        });
        self.drop_matched();
    }

    /// Matches cycles: one that gained or lost a file is still the same cycle.
    fn cycles(&mut self) {
        let members = |finding: &Finding, moves: &MovedFiles| -> BTreeSet<RepoPath> {
            finding.locations.iter().map(|place| moves.apply(&place.path).clone()).collect()
        };
        let is_cycle = |finding: &Finding| finding.family == FindingFamily::Cycle;
        let mut later: Vec<(usize, BTreeSet<RepoPath>)> = self
            .only_after
            .iter()
            .filter(|&&new| is_cycle(&self.after.findings[new]))
            .map(|&new| (new, members(&self.after.findings[new], self.stay)))
            .collect();
        let both = &mut self.both;
        self.only_before.retain(|&old| {
            let finding = &self.before.findings[old];
            if !is_cycle(finding) {
                return true;
            }
            let own = members(finding, self.moves);
            let closest = later
                .iter()
                .enumerate()
                .max_by_key(|(at, (_, other))| (own.intersection(other).count(), usize::MAX - at));
            let Some(at) = closest.filter(|(_, (_, other))| !own.is_disjoint(other)).map(|(at, _)| at) else {
                return true;
            };
            both.push((old, later.remove(at).0));
            false
        });
        self.drop_matched();
    }

    fn drop_matched(&mut self) {
        let mut matched = vec![false; self.after.findings.len()];
        self.both.iter().for_each(|&(_, new)| matched[new] = true);
        self.only_after.retain(|&new| !matched[new]);
    }
}

/// Identifies a location by its later path and its symbol.
fn name<'a>(place: &'a CodeLocation, moves: &'a MovedFiles) -> (&'a RepoPath, &'a str) {
    (moves.apply(&place.path), &place.symbol)
}

/// Unmatched findings of the later run, sorted by a fingerprint of their keys. That is quick to compare; the
/// keys themselves are compared only if the fingerprints are equal.
struct UnmatchedIndex<K>(Vec<UnmatchedFinding<K>>);

struct UnmatchedFinding<K> {
    key: (u64, K),
    index: usize,
    /// In the first of several equal keys: how many of them are taken.
    n_taken: usize,
}

impl<K: Ord + Hash> UnmatchedIndex<K> {
    fn new(keys: impl Iterator<Item = (K, usize)>) -> Self {
        let waiter = |(key, index)| UnmatchedFinding { key: (fingerprint(&key), key), index, n_taken: 0 };
        let mut all: Vec<UnmatchedFinding<K>> = keys.map(waiter).collect();
        all.sort_unstable_by(|one, other| (&one.key, one.index).cmp(&(&other.key, other.index)));
        Self(all)
    }

    /// Takes the next finding with this key, in order of location.
    fn take(&mut self, key: &K) -> Option<usize> {
        let print = fingerprint(key);
        let of = |waiter: &UnmatchedFinding<K>| waiter.key.0.cmp(&print).then_with(|| waiter.key.1.cmp(key));
        let first = self.0.partition_point(|waiter| of(waiter).is_lt());
        let next = first + self.0.get(first)?.n_taken;
        let index = self.0.get(next).filter(|waiter| of(waiter).is_eq())?.index;
        self.0[first].n_taken += 1;
        Some(index)
    }
}

fn fingerprint(key: &impl Hash) -> u64 {
    let mut hasher = FingerprintHasher(0);
    key.hash(&mut hasher);
    hasher.0
}

struct FingerprintHasher(u64);

impl Hasher for FingerprintHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = hash::mix(self.0, hash::of_bytes(bytes));
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// A unit by its later path and name, with its content.
type UnitCode<'a> = (&'a RepoPath, &'a str, &'a str);

/// The contents of the units and the whole files of some paths, sorted. Moved files have their later paths.
struct CodeIndex<'a> {
    units: Vec<UnitCode<'a>>,
    files: Vec<(&'a RepoPath, Digest)>,
}

impl<'a> CodeIndex<'a> {
    fn of(run: &'a AnalysisRun, moves: &'a MovedFiles, wanted: &BTreeSet<&RepoPath>) -> Self {
        let names: Vec<Option<&RepoPath>> = run
            .files
            .iter()
            .map(|file| Some(moves.apply(&file.path)).filter(|path| wanted.contains(path)))
            .collect();
        let units = run.units.iter().filter_map(|unit| {
            Some((names[unit.file as usize]?, unit.symbol.as_str(), unit.content.as_str()))
        });
        let files = run.files.iter().zip(&names).filter_map(|(file, name)| Some(((*name)?, file.content)));
        let (mut units, mut files): (Vec<_>, Vec<_>) = (units.collect(), files.collect());
        units.sort_unstable();
        files.sort_unstable();
        Self { units, files }
    }

    /// Returns the units at a location; overloads give several.
    fn units_at(&self, place: &CodeLocation) -> impl Iterator<Item = &UnitCode<'a>> {
        let key = (&place.path, place.symbol.as_str());
        let from = self.units.partition_point(|unit| (unit.0, unit.1) < key);
        self.units[from..].iter().take_while(move |unit| (unit.0, unit.1) == key)
    }

    fn files_at(&self, place: &CodeLocation) -> impl Iterator<Item = &(&'a RepoPath, Digest)> {
        let from = self.files.partition_point(|file| *file.0 < place.path);
        self.files[from..].iter().take_while(|file| *file.0 == place.path)
    }
}

fn regression(
    finding: &Finding,
    old: &CodeIndex<'_>,
    new: &CodeIndex<'_>,
    neighbors: &ChangedNeighbors,
) -> FindingRegression {
    let is_old = |place: &CodeLocation| {
        if place.symbol.is_empty() {
            new.files_at(place).any(|file| old.files.binary_search(file).is_ok())
        } else {
            new.units_at(place).any(|unit| old.units.binary_search(unit).is_ok())
        }
    };
    let changed: BTreeSet<RepoPath> =
        finding.locations.iter().filter(|place| !is_old(place)).map(|place| place.path.clone()).collect();
    let places = || finding.locations.iter().map(|place| &place.path);
    let around = || Some(neighbors.around(places())).filter(|found| !found.is_empty());
    let caused_in = Some(changed).filter(|changed| !changed.is_empty()).or_else(around);
    let caused_in = caused_in.unwrap_or_else(|| places().cloned().collect());
    FindingRegression { finding: finding.clone(), caused_in }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnalysisInput, AnalysisSettings, SourceInput, analyze};
    use std::cell::Cell;

    fn run(text: &str) -> AnalysisRun {
        let path = RepoPath::parse(b"a.py").expect("a path");
        let sources = BTreeMap::from([(path, SourceInput::Bytes(text.as_bytes()))]);
        analyze(&AnalysisInput { sources, ..AnalysisInput::default() }, &AnalysisSettings::default()).run
    }

    #[test]
    fn a_finding_is_looked_at_once_for_each_way_of_matching() {
        let text = |word: &str| -> String {
            let function = |n| format!("def {word}{n}(a, b, c, d, e, f, g, h):\n    return a.m{n}(b)\n\n\n");
            (0..300).map(function).collect::<Vec<_>>().concat()
        };
        let (before, after) = (run(&text("f")), run(&text("g")));
        let moves = MovedFiles::of(&before, &after);
        let stay = MovedFiles::default();
        let mut matcher = FindingMatcher::new(&before, &after, &moves, &stay);
        let n_looks = Cell::new(0);
        matcher.match_by_key(|finding, _| {
            n_looks.set(n_looks.get() + 1);
            Some(finding.content.to_string())
        });
        assert_eq!((n_looks.get(), matcher.both.len()), (600, 300));
    }
}
