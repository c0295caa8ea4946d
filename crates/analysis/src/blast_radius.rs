//! Blast radius: the files that a change of some files would affect.

use crate::graph;
use crate::run::AnalysisRun;
use probity_paths::RepoPath;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlastRadius {
    /// Files that depend directly on the changed ones.
    pub direct: BTreeSet<RepoPath>,
    /// Files that depend on them directly or transitively.
    pub transitive: BTreeSet<RepoPath>,
    /// Files that share a clone with them and may need the same change.
    pub clone_siblings: BTreeSet<RepoPath>,
    /// Dependency cycles they belong to.
    pub cycles: Vec<BTreeSet<RepoPath>>,
    /// For each changed file, its names and the files that use them.
    pub symbols: BTreeMap<String, BTreeMap<String, BTreeSet<RepoPath>>>,
    /// Paths that are not in the run.
    pub unknown: BTreeSet<RepoPath>,
}

/// Computes the files that a change of `paths` would affect.
pub fn blast_radius(run: &AnalysisRun, paths: &BTreeSet<RepoPath>) -> BlastRadius {
    let index: BTreeMap<&RepoPath, u32> =
        (0..).zip(&run.files).map(|(index, file)| (&file.path, index)).collect();
    let changed: BTreeSet<u32> = paths.iter().filter_map(|path| index.get(path).copied()).collect();
    let path = |file: &u32| run.files[*file as usize].path.clone();
    let edges: Vec<(u32, u32)> = run.dependencies.iter().map(|edge| (edge.from, edge.to)).collect();
    let (transitive, direct) = graph::dependents(&edges, &changed);
    let siblings = run.siblings.iter().flat_map(|&(a, b)| [(a, b), (b, a)]);
    let siblings = siblings.filter(|(own, other)| changed.contains(own) && !changed.contains(other));
    let cycles = run.cycles.iter().filter(|cycle| cycle.iter().any(|file| changed.contains(file)));
    let mut symbols: BTreeMap<String, BTreeMap<String, BTreeSet<RepoPath>>> = BTreeMap::new();
    for edge in run.dependencies.iter().filter(|edge| changed.contains(&edge.to)) {
        for name in &edge.names {
            let uses = symbols.entry(path(&edge.to).to_string()).or_default();
            uses.entry(name.clone()).or_default().insert(path(&edge.from));
        }
    }
    BlastRadius {
        direct: direct.iter().map(path).collect(),
        transitive: transitive.iter().map(path).collect(),
        clone_siblings: siblings.map(|(_, other)| path(&other)).collect(),
        cycles: cycles.map(|cycle| cycle.iter().map(path).collect()).collect(),
        symbols,
        unknown: paths.iter().filter(|path| !index.contains_key(path)).cloned().collect(),
    }
}
