//! Compares the tree with a Git revision by analyzing the revision's tree.

use super::{AnalysisResult, AnalyzeOptions, analyze_commit};
use crate::analysis_store::{AnalysisStore, StoredAnalysis};
use probity_analysis::AnalysisComparison;
use probity_core::Digest;
use probity_paths::RepoPath;
use probity_policy::Policy;
use probity_workspace::progress::ProgressStep;
use probity_workspace::{ServiceError, Workspace};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug)]
pub struct ChangedSince {
    /// The revision as the caller named it.
    pub revision: String,
    pub before: StoredAnalysis,
    pub comparison: AnalysisComparison,
    /// Files that were changed, added or removed.
    pub changed: BTreeSet<RepoPath>,
}

/// Compares an analysis of the tree with a Git revision.
pub fn changed_since(
    workspace: &Workspace,
    policy: &Policy,
    options: &AnalyzeOptions,
    revision: &str,
    after: &AnalysisResult,
    progress: &(dyn Fn(ProgressStep) + Sync),
) -> Result<ChangedSince, ServiceError> {
    let AnalysisResult { run, report_digest, .. } =
        analyze_commit(workspace, revision, policy, options, progress)?;
    let before = StoredAnalysis::whole(run, report_digest);
    // The current tree's analysis must stay the newest.
    AnalysisStore::open(workspace).touch(after.run.id);
    let comparison = probity_analysis::compare(&before.run, &after.run);
    let changed = changed(&before, &after.run);
    Ok(ChangedSince { revision: revision.to_owned(), before, comparison, changed })
}

fn changed(before: &StoredAnalysis, after: &probity_analysis::AnalysisRun) -> BTreeSet<RepoPath> {
    let contents = |run: &probity_analysis::AnalysisRun| -> BTreeMap<RepoPath, Digest> {
        run.files.iter().map(|file| (file.path.clone(), file.content)).collect()
    };
    let (old, new) = (contents(&before.run), contents(after));
    old.keys().chain(new.keys()).filter(|path| old.get(path) != new.get(path)).cloned().collect()
}
