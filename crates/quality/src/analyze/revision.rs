//! What changed since a git revision: the tree of that revision is analysed like any other, and the runs compared.

use super::{AnalyzeOptions, Analyzed, analyze_commit};
use crate::runs::{Runs, Stored};
use probity_analysis::Comparison;
use probity_core::Digest;
use probity_paths::RepoPath;
use probity_policy::Policy;
use probity_workspace::progress::Progress;
use probity_workspace::{Fault, Workspace};
use std::collections::{BTreeMap, BTreeSet};

/// What changed since a revision.
#[derive(Debug)]
pub struct ChangedSince {
    /// The revision as it was named.
    pub revision: String,
    /// Its run.
    pub before: Stored,
    /// The difference.
    pub comparison: Comparison,
    /// The files that differ, are new or gone, sorted.
    pub changed: BTreeSet<RepoPath>,
}

/// Compares a run of the tree with the tree of a git revision.
pub fn changed_since(
    workspace: &Workspace,
    policy: &Policy,
    options: &AnalyzeOptions,
    revision: &str,
    after: &Analyzed,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<ChangedSince, Fault> {
    let Analyzed { run, report_digest, .. } = analyze_commit(workspace, revision, policy, options, progress)?;
    let before = Stored::whole(run, report_digest);
    // What is in the tree now stays the newest run.
    Runs::open(workspace).touch(after.run.id);
    let comparison = probity_analysis::compare(&before.run, &after.run);
    let changed = changed(&before, &after.run);
    Ok(ChangedSince { revision: revision.to_owned(), before, comparison, changed })
}

fn changed(before: &Stored, after: &probity_analysis::Run) -> BTreeSet<RepoPath> {
    let contents = |run: &probity_analysis::Run| -> BTreeMap<RepoPath, Digest> {
        run.files.iter().map(|file| (file.path.clone(), file.content)).collect()
    };
    let (old, new) = (contents(&before.run), contents(after));
    old.keys().chain(new.keys()).filter(|path| old.get(path) != new.get(path)).cloned().collect()
}
