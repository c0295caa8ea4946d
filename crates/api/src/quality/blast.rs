//! Who would notice a change.

use crate::document::Answer;
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Who would notice a change of some files: the answer of `probity analyze blast` and of the tool `get_blast_radius`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BlastRadiusAnswer {
    /// The run that says so: the first eight digits of its digest.
    pub run_id: String,
    /// The files.
    pub paths: BTreeSet<RepoPath>,
    /// Files that need them.
    pub direct_dependents: BTreeSet<RepoPath>,
    /// Files that need them, directly or through others.
    pub transitive_dependents: BTreeSet<RepoPath>,
    /// Files that share a clone with them: a change may be due there, too.
    pub clone_siblings: BTreeSet<RepoPath>,
    /// The cycles that they are part of.
    pub cycles: Vec<BTreeSet<RepoPath>>,
    /// For each file, its names and the files that use them.
    pub symbols: BTreeMap<String, BTreeMap<String, BTreeSet<RepoPath>>>,
    /// Those of the paths that the run knows nothing of. A question about such paths alone is refused.
    pub unknown: BTreeSet<RepoPath>,
}

impl Answer for BlastRadiusAnswer {
    const SCHEMA: &'static str = "probity/blast-radius/v1";
}
