//! Analyzes a commit without checking it out: its files are read from Git by their object ids.
//!
//! Files that belong to no commit (ignored ones, nested repositories) are in the tree regardless of the commit, so
//! they count with their current content. Otherwise everything ignored would seem to be new.

use super::files::{ClassifiedFiles, TreeEntry};
use super::{AnalysisResult, AnalyzeOptions, TreeAnalyzer, analysis_result, read_content};
use crate::analysis_store::AnalysisStore;
use probity_analysis::SourceSelection;
use probity_core::Digest;
use probity_paths::RepoPath;
use probity_policy::Policy;
use probity_snapshot::SnapshotEntryKind;
use probity_snapshot::git::HeadTree;
use probity_workspace::progress::ProgressStep;
use probity_workspace::worktree::WorktreeStatus;
use probity_workspace::{ServiceError, Workspace, git};
use std::collections::BTreeMap;

const PLAIN_FILE_MODES: [u32; 2] = [0o100_644, 0o100_755];

/// Analyzes the tree of a commit under a policy and stores the result.
pub fn analyze_commit(
    workspace: &Workspace,
    revision: &str,
    policy: &Policy,
    options: &AnalyzeOptions,
    progress: &(dyn Fn(ProgressStep) + Sync),
) -> Result<AnalysisResult, ServiceError> {
    let tree = git::tree_of(workspace, &git::commit_id(workspace, revision)?)?;
    let worktree = WorktreeStatus::observe(workspace, policy)?;
    let fetched = fetch_missing_contents(workspace, &tree, &worktree)?;
    let seen = tree_entries(&tree, &worktree, &fetched);
    TreeAnalyzer::new(workspace, policy, options, progress)?.run_on_pool(|work| run(work, &seen, &fetched))
}

fn run(
    work: &TreeAnalyzer<'_>,
    seen: &[TreeEntry],
    fetched: &BTreeMap<RepoPath, Vec<u8>>,
) -> Result<AnalysisResult, ServiceError> {
    let runs = AnalysisStore::open(work.workspace);
    let files = ClassifiedFiles::classify(seen, &work.outputs, &SourceSelection::new(&work.settings)?);
    let contents = |path: &RepoPath, digest| match fetched.get(path) {
        Some(bytes) => Some(bytes.clone()),
        None => read_content(&work.workspace.root, path, digest),
    };
    Ok(analysis_result(work.find_or_analyze(&files, work.cache(), &runs, &contents)?, files))
}

/// Returns the committed contents that the current tree does not have.
fn fetch_missing_contents(
    workspace: &Workspace,
    tree: &HeadTree,
    worktree: &WorktreeStatus,
) -> Result<BTreeMap<RepoPath, Vec<u8>>, ServiceError> {
    let is_here = |path: &RepoPath| worktree_content(tree, worktree, path).is_some();
    let missing: Vec<(&RepoPath, String)> = tree
        .iter()
        .filter(|(path, (mode, _))| {
            PLAIN_FILE_MODES.contains(mode) && !worktree.leaves_out(path) && !is_here(path)
        })
        .map(|(path, (_, id))| (path, id.to_string()))
        .collect();
    let Some(git) = &workspace.git else { return Ok(BTreeMap::new()) };
    let blobs = git::blobs(git, &missing)?;
    Ok(missing.into_iter().filter_map(|(path, id)| Some((path.clone(), blobs.get(&id)?.clone()))).collect())
}

/// Returns the digest and size of a committed file if the tree has the same content at its path.
fn worktree_content(tree: &HeadTree, worktree: &WorktreeStatus, path: &RepoPath) -> Option<(Digest, u64)> {
    let (_, id) = tree.get(path)?;
    let entry = worktree.snapshot.get(path).filter(|entry| entry.kind() == SnapshotEntryKind::File)?;
    (entry.git_id()? == *id || worktree.is_stored_as(path, id)).then_some(())?;
    Some((entry.digest()?, entry.size()))
}

/// Returns every file of the commit and every file that belongs to no commit, sorted by path.
fn tree_entries(
    tree: &HeadTree,
    worktree: &WorktreeStatus,
    fetched: &BTreeMap<RepoPath, Vec<u8>>,
) -> Vec<TreeEntry> {
    // An analysis of the tree lacks what a sparse checkout leaves out, so it would seem to be removed.
    let is_read = |path: &RepoPath, mode: &u32| PLAIN_FILE_MODES.contains(mode) && !worktree.leaves_out(path);
    let committed = tree.iter().filter(|(path, (mode, _))| is_read(path, mode)).map(|(path, _)| {
        let known = fetched.get(path).map(|bytes| (Digest::of(bytes), bytes.len() as u64));
        let (content, size_bytes) = known.or_else(|| worktree_content(tree, worktree, path)).unzip();
        TreeEntry { path: path.clone(), content, size_bytes: size_bytes.unwrap_or(0) }
    });
    let aside = worktree.state.aside.keys().filter(|path| !tree.contains_key(path)).filter_map(|path| {
        let entry = worktree.snapshot.get(path).filter(|entry| entry.kind() == SnapshotEntryKind::File)?;
        Some(TreeEntry { path: path.clone(), content: entry.digest(), size_bytes: entry.size() })
    });
    let mut all: Vec<TreeEntry> = committed.chain(aside).collect();
    all.sort_by(|a, b| a.path.cmp(&b.path));
    all
}
