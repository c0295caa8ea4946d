//! Finds the cause of a new finding whose own location did not change: an imported module was deleted, or the
//! only caller of its function is gone.

use crate::run::AnalysisRun;
use probity_paths::RepoPath;
use std::collections::{BTreeMap, BTreeSet};

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
