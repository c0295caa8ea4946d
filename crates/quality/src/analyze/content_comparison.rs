//! Says what a change does to the analysis of the tree, from the contents of its paths alone: the tree as it is, once with
//! the old contents and once with the new ones.
//!
//! Nothing is stored but the facts of files, so that a look at a change is no entry among the analyses of the tree.

use super::files::{ClassifiedFiles, TreeEntry};
use super::{AnalyzeOptions, TreeAnalyzer, read_content};
use probity_analysis::{AnalysisComparison, AnalysisRun, SourceSelection};
use probity_core::Digest;
use probity_paths::RepoPath;
use probity_policy::Policy;
use probity_snapshot::{Snapshot, SnapshotEntryKind};
use probity_workspace::observe::WorkspaceObserver;
use probity_workspace::{ServiceError, Workspace};
use std::collections::BTreeMap;

/// Both contents of a changed path; `None` where there is no file.
#[derive(Debug, Clone)]
pub struct ChangedContent {
    pub path: RepoPath,
    pub before: Option<Vec<u8>>,
    pub after: Option<Vec<u8>>,
}

/// What a change does to an analysis.
#[derive(Debug)]
pub struct ContentComparison {
    pub comparison: AnalysisComparison,
    /// Before and after, in points; `None` without an analyzed file.
    pub health: Option<(u32, u32)>,
}

/// Analyzes the tree with the old and with the new contents of a change, and compares.
#[tracing::instrument(name = "compare contents", skip_all)]
pub fn compare_contents(
    workspace: &Workspace,
    policy: &Policy,
    changes: &[ChangedContent],
) -> Result<ContentComparison, ServiceError> {
    let snapshot = WorkspaceObserver::new(workspace).content(None)?;
    let options = AnalyzeOptions::default();
    TreeAnalyzer::new(workspace, policy, &options, &|_| {})?.run_on_pool(|work| {
        let before = analyze_with(work, &snapshot, changes, |change| change.before.as_deref())?;
        let after = analyze_with(work, &snapshot, changes, |change| change.after.as_deref())?;
        let points = |run: &AnalysisRun| run.health.score();
        Ok(ContentComparison {
            comparison: probity_analysis::compare(&before, &after),
            health: points(&before).zip(points(&after)),
        })
    })
}

fn analyze_with<'c>(
    work: &TreeAnalyzer<'_>,
    snapshot: &Snapshot,
    changes: &'c [ChangedContent],
    side: impl Fn(&'c ChangedContent) -> Option<&'c [u8]>,
) -> Result<AnalysisRun, ServiceError> {
    let replaced: BTreeMap<&RepoPath, Option<&[u8]>> =
        changes.iter().map(|change| (&change.path, side(change))).collect();
    let is_file = |kind: SnapshotEntryKind| kind == SnapshotEntryKind::File;
    let kept =
        snapshot.entries().filter(|entry| is_file(entry.kind()) && !replaced.contains_key(entry.path()));
    let mut entries: Vec<TreeEntry> = kept
        .map(|entry| TreeEntry {
            path: entry.path().clone(),
            content: entry.digest(),
            size_bytes: entry.size(),
        })
        .collect();
    entries.extend(replaced.iter().filter_map(|(path, content)| {
        let content = (*content)?;
        let digest = Some(Digest::of(content));
        Some(TreeEntry { path: (*path).clone(), content: digest, size_bytes: content.len() as u64 })
    }));
    entries.sort_by(|one, other| one.path.cmp(&other.path));
    let files = ClassifiedFiles::classify(&entries, &work.outputs, &SourceSelection::new(&work.settings)?);
    let contents = |path: &RepoPath, digest| match replaced.get(path) {
        Some(content) => content.map(<[u8]>::to_vec),
        None => read_content(&work.workspace.root, path, digest),
    };
    let (run, _) = work.analysis(&files, work.cache(), &contents)?;
    Ok(run)
}
