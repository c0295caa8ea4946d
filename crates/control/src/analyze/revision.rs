//! What changed since a git revision: the tree of that revision is analysed like any other, and the runs compared.
//!
//! Git is asked for the list of the revision's files and for the contents that the tree does not have any more. Which
//! contents the tree has is decided by their blob ids, which the snapshot computed from the bytes.

use super::files::{Files, Seen};
use super::{AnalyzeOptions, Analyzed, Progress, Work};
use crate::observe::Observer;
use crate::runs::{Runs, Stored};
use crate::{Fault, Workspace, before};
use analysis::{Comparison, Part, Selection};
use canon::Digest;
use contract::FileClass;
use paths::RepoPath;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use tree::git::{GitLayout, HeadTree};
use tree::{GitId, Kind, Snapshot};

/// The bits of a mode that tell what an entry is, and those of a plain file.
const KIND_BITS: u32 = 0o170_000;
const PLAIN_FILE: u32 = 0o100_000;

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
    options: &AnalyzeOptions,
    revision: &str,
    after: &Analyzed,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<ChangedSince, Fault> {
    let unknown = || Fault::Missing(format!("git knows no revision `{revision}` here"));
    let tree = before::tree_of(workspace, revision).ok_or_else(unknown)?;
    let git = workspace.git.as_ref().ok_or_else(unknown)?;
    let work = Work::new(workspace, options, progress)?;
    let before = work.install(|work| work.of_revision(git, &tree))?;
    // What is in the tree now stays the newest run.
    Runs::open(workspace).touch(after.run.id);
    let comparison = analysis::compare(&before.run, &after.run);
    let changed = changed(&before, &after.run);
    Ok(ChangedSince { revision: revision.to_owned(), before, comparison, changed })
}

fn changed(before: &Stored, after: &analysis::Run) -> BTreeSet<RepoPath> {
    let contents = |run: &analysis::Run| -> BTreeMap<RepoPath, Digest> {
        run.files.iter().map(|file| (file.path.clone(), file.content)).collect()
    };
    let (old, new) = (contents(&before.run), contents(after));
    old.keys().chain(new.keys()).filter(|path| old.get(path) != new.get(path)).cloned().collect()
}

impl Work<'_> {
    fn of_revision(&self, git: &GitLayout, tree: &HeadTree) -> Result<Stored, Fault> {
        (self.progress)(Progress::Looking);
        let selection = Selection::new(&self.settings)?;
        let snapshot = Observer::new(self.workspace).content(None)?;
        let here = by_git_id(&snapshot);
        let blobs = fetch(git, tree, &here, &selection)?;
        let files = Files::sort(&seen(tree, &here, &blobs), &self.outputs, &selection);
        let runs = Runs::open(self.workspace);
        if let Some(stored) = runs.recall(files.run_id(&self.settings)) {
            return Ok(stored);
        }
        let contents = |path: &RepoPath, digest: Digest| match blobs.get(path) {
            Some(bytes) => Some(bytes.clone()),
            None => super::content(&self.workspace.root, &here.get(&tree.get(path)?.1)?.0, digest),
        };
        let (run, _) = self.analysis(&files, &contents).map_err(|changed| {
            Fault::refused(canon::Reason::TreeUnstable, format!("`{}` changes while it is read", changed.0))
        })?;
        runs.save(run)
    }
}

/// Where in the tree each content is: path, digest and size.
type Here = BTreeMap<GitId, (RepoPath, Digest, u64)>;

fn by_git_id(snapshot: &Snapshot) -> Here {
    let files = snapshot.entries().filter(|entry| entry.kind() == Kind::File);
    files
        .filter_map(|entry| Some((entry.git_id()?, (entry.path().clone(), entry.digest()?, entry.size()))))
        .collect()
}

/// The plain files of a revision.
fn plain(tree: &HeadTree) -> impl Iterator<Item = (&RepoPath, &GitId)> {
    tree.iter().filter(|(_, (mode, _))| mode & KIND_BITS == PLAIN_FILE).map(|(path, (_, id))| (path, id))
}

/// The contents that an analysis needs and that the tree does not have any more.
fn fetch(
    git: &GitLayout,
    tree: &HeadTree,
    here: &Here,
    selection: &Selection<'_>,
) -> Result<BTreeMap<RepoPath, Vec<u8>>, Fault> {
    let is_needed = |path: &RepoPath| {
        contract::classify(path.as_bytes()) == FileClass::Governance
            || matches!(selection.part(path), Part::Source(_) | Part::NotRead(_))
    };
    let missing: Vec<(&RepoPath, &GitId)> =
        plain(tree).filter(|(path, id)| !here.contains_key(id) && is_needed(path)).collect();
    let fetched = missing.par_iter().map(|(path, id)| {
        let bytes = before::blob(git, &id.to_string());
        let bytes =
            bytes.ok_or_else(|| Fault::Missing(format!("git does not give the content of `{path}`")))?;
        Ok(((*path).clone(), bytes))
    });
    fetched.collect()
}

/// The files of a revision as an analysis sees them. What nobody reads needs no content.
fn seen(tree: &HeadTree, here: &Here, blobs: &BTreeMap<RepoPath, Vec<u8>>) -> Vec<Seen> {
    let one = |(path, id): (&RepoPath, &GitId)| {
        let (content, size_bytes) = match (here.get(id), blobs.get(path)) {
            (Some((_, digest, size_bytes)), _) => (Some(*digest), *size_bytes),
            (None, Some(bytes)) => (Some(Digest::of(bytes)), bytes.len() as u64),
            (None, None) => (None, 0),
        };
        Seen { path: path.clone(), content, size_bytes }
    };
    plain(tree).map(one).collect()
}
