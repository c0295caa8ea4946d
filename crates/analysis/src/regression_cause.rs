//! Finds the cause of a new finding: the changed code that it is about, or, if its own location did not change, the
//! changed files around it: an imported module was deleted, or the only caller of its function is gone.

use crate::finding::{CodeLocation, Finding, FindingFamily, Severity};
use crate::finding_matcher::{MovedFiles, is_copy};
use crate::run::AnalysisRun;
use probity_core::Digest;
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

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

/// For each file, those of its dependencies and dependents that changed between the runs.
pub(crate) struct ChangedNeighbors(BTreeMap<RepoPath, BTreeSet<RepoPath>>);

impl ChangedNeighbors {
    pub(crate) fn of(before: &AnalysisRun, after: &AnalysisRun) -> Self {
        let now: BTreeMap<&RepoPath, _> = after.files.iter().map(|file| (&file.path, file.content)).collect();
        let changed: Vec<bool> =
            before.files.iter().map(|file| now.get(&file.path) != Some(&file.content)).collect();
        let mut neighbors: BTreeMap<RepoPath, BTreeSet<RepoPath>> = BTreeMap::new();
        for edge in &before.dependencies {
            for (file, other) in [(edge.from, edge.to), (edge.to, edge.from)] {
                if changed[other as usize] {
                    let path = |index: u32| before.files[index as usize].path.clone();
                    neighbors.entry(path(file)).or_default().insert(path(other));
                }
            }
        }
        Self(neighbors)
    }

    /// Returns the changed neighbors of all these files.
    pub(crate) fn around<'a>(&self, files: impl Iterator<Item = &'a RepoPath>) -> BTreeSet<RepoPath> {
        files.filter_map(|path| self.0.get(path)).flatten().cloned().collect()
    }
}

/// A unit by its later path and name, with its content.
type UnitCode<'a> = (&'a RepoPath, &'a str, &'a str);

/// The contents of the units and the whole files of some paths, sorted. Moved files have their later paths.
pub(crate) struct CodeIndex<'a> {
    units: Vec<UnitCode<'a>>,
    files: Vec<(&'a RepoPath, Digest)>,
}

impl<'a> CodeIndex<'a> {
    pub(crate) fn of(run: &'a AnalysisRun, moves: &'a MovedFiles, wanted: &BTreeSet<&RepoPath>) -> Self {
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

/// Returns the regression that a new finding is, or `None` if the change cannot have caused it.
pub(crate) fn regression(
    finding: &Finding,
    old: &CodeIndex<'_>,
    new: &CodeIndex<'_>,
    neighbors: &ChangedNeighbors,
) -> Option<FindingRegression> {
    let is_old = |place: &CodeLocation| {
        new.files_at(place).any(|file| old.files.binary_search(file).is_ok())
            || (!place.symbol.is_empty()
                && new.units_at(place).any(|unit| old.units.binary_search(unit).is_ok()))
    };
    let mut finding = finding.clone();
    let changed: BTreeSet<RepoPath> =
        finding.locations.iter().filter(|place| !is_old(place)).map(|place| place.path.clone()).collect();
    if changed.is_empty() && depends_on_its_code_alone(finding.family) {
        return None;
    }
    let is_first_old = finding.locations.first().is_some_and(is_old);
    if is_copy(&finding)
        && is_first_old
        && let Some(copy) = finding.locations.iter().position(|place| !is_old(place))
    {
        tell_of_copy(&mut finding, copy);
    } else if is_first_old && finding.family == FindingFamily::DeadCode {
        // The author of a change that removes the last use need not know the code that is left.
        finding.severity = finding.severity.min(Severity::Info);
    }
    let places = || finding.locations.iter().map(|place| &place.path);
    let around = || Some(neighbors.around(places())).filter(|found| !found.is_empty());
    let caused_in = Some(changed).filter(|changed| !changed.is_empty()).or_else(around);
    let caused_in = caused_in.unwrap_or_else(|| places().cloned().collect());
    Some(FindingRegression { finding, caused_in })
}

/// Makes the copy at `index` the one that the finding is about, and says so.
fn tell_of_copy(finding: &mut Finding, index: usize) {
    let original = finding.locations[0].clone();
    finding.locations.swap(0, index);
    let copy = &finding.locations[0];
    // The message has the form `what repeats where (how much)`.
    let Some((verb_at, verb)) = ["nearly repeats ", "repeats, with other names, ", "repeats "]
        .into_iter()
        .find_map(|verb| Some((finding.message.find(verb)?, verb)))
    else {
        return;
    };
    let Some(measure_at) = finding.message.rfind(" (") else { return };
    let what = match copy.symbol.as_str() {
        _ if finding.family == FindingFamily::CloneBlock => "a block",
        "" => "the file",
        symbol => symbol,
    };
    let measure = finding.message[measure_at.max(verb_at)..].to_owned();
    finding.message = format!("{what} {verb}{}{measure}", original.path);
}

/// Returns true if unchanged code cannot have a new finding of the family, whatever else changed.
const fn depends_on_its_code_alone(family: FindingFamily) -> bool {
    matches!(
        family,
        FindingFamily::Clone
            | FindingFamily::CloneBlock
            | FindingFamily::Complexity
            | FindingFamily::Length
            | FindingFamily::Parameters
            | FindingFamily::Nesting
            | FindingFamily::Cohesion
            | FindingFamily::DuplicatedBranches
            | FindingFamily::ParseError
    )
}
