//! The files that a change may affect.

use crate::document::Answer;
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The files that a change may affect: the answer of `probity analyze blast` and of the tool `get_blast_radius`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BlastRadiusAnswer {
    /// The first eight digits of the digest of the run used.
    pub run_id: String,
    /// The files in question.
    pub paths: BTreeSet<RepoPath>,
    /// Files that depend on them directly.
    pub direct_dependents: BTreeSet<RepoPath>,
    /// Files that depend on them directly or transitively.
    pub transitive_dependents: BTreeSet<RepoPath>,
    /// Files that share a clone with them, and may need the same change.
    pub clone_siblings: BTreeSet<RepoPath>,
    /// Dependency cycles that contain them.
    pub cycles: Vec<BTreeSet<RepoPath>>,
    /// For each file, its symbols and the files that use them.
    pub symbols: BTreeMap<String, BTreeMap<String, BTreeSet<RepoPath>>>,
    /// Paths that are not in the run. A query about such paths only is refused.
    pub unknown: BTreeSet<RepoPath>,
}

impl Answer for BlastRadiusAnswer {
    const SCHEMA: &'static str = "probity/blast-radius/v1";
}
