//! Ways to name four trees: a merge commit, a merge in progress, a squash, a rebase, a cherry-pick, or the trees themselves.

use probity_core::ReasonCode;
use probity_snapshot::GitId;
use probity_snapshot::git::GitLayout;
use probity_workspace::{ServiceError, Workspace, git, git_history};

/// What to audit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeQuestion {
    /// A merge commit.
    Commit(String),
    /// The merge in progress: the working tree, before it is committed. Git tells its hooks the other side of a merge
    /// that has no conflict; otherwise `MERGE_HEAD` does.
    Working { theirs: Option<String> },
    /// A commit that holds a whole branch: its parent, and the tip of the branch.
    Squash { squash: String, tip: String },
    /// A branch before and after it was moved onto another commit.
    Rebase { old: String, new: String },
    /// A commit that applies another one to its parent.
    CherryPick { picked: String, source: String },
    /// A commit that takes another one back.
    Revert { revert: String, source: String },
    /// Base, ours, theirs, result: commits or trees.
    Trees([String; 4]),
}

/// Where the result of a merge is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ResultTree {
    Object(GitId),
    /// The files on disk.
    Working,
}

/// Four trees with names.
#[derive(Debug, Clone)]
pub(crate) struct NamedMerge {
    /// The commit that made the result.
    pub(crate) merge: Option<GitId>,
    /// Merge bases; several are merged, none makes the audit two-way.
    pub(crate) bases: Vec<GitId>,
    pub(crate) ours: GitId,
    pub(crate) theirs: GitId,
    pub(crate) result: ResultTree,
}

fn missing(name: &str) -> ServiceError {
    probity_workspace::git::unknown_commit(name)
}

pub(crate) fn object_id(layout: &GitLayout, name: &str) -> Result<GitId, ServiceError> {
    git_history::find_tree_or_commit(layout, name)?.ok_or_else(|| missing(name))
}

/// Returns the parents of a commit.
pub(crate) fn parents_of(layout: &GitLayout, commit: &GitId) -> Result<Vec<GitId>, ServiceError> {
    Ok(git_history::parents(layout, commit)?)
}

fn first_parent(layout: &GitLayout, commit: &GitId) -> Result<GitId, ServiceError> {
    parents_of(layout, commit)?.into_iter().next().ok_or_else(|| {
        ServiceError::refused(
            ReasonCode::InputInvalid,
            format!("commit {commit} has no parent, so nothing was merged"),
        )
    })
}

/// Returns the merges that a question means: one, or one per further parent of an octopus merge.
pub(crate) fn named_merges(
    workspace: &Workspace,
    layout: &GitLayout,
    question: &MergeQuestion,
) -> Result<Vec<NamedMerge>, ServiceError> {
    let id = |name: &str| object_id(layout, name);
    let bases = |left: &GitId, right: &GitId| git::merge_bases(layout, &[left.clone(), right.clone()]);
    let one = |merge: Option<GitId>, bases: Vec<GitId>, ours: GitId, theirs: GitId, result: GitId| {
        Ok(vec![NamedMerge { merge, bases, ours, theirs, result: ResultTree::Object(result) }])
    };
    match question {
        MergeQuestion::Commit(name) => {
            let merge = id(name)?;
            let parents = parents_of(layout, &merge)?;
            if parents.len() < 2 {
                let why = format!("{merge} is not a merge: it has {} parent", parents.len());
                return Err(ServiceError::refused(ReasonCode::InputInvalid, why));
            }
            merges_of_commit(layout, &merge, &parents)
        }
        MergeQuestion::Working { theirs } => {
            let ours = id("HEAD")?;
            let name = theirs.as_deref().unwrap_or("MERGE_HEAD");
            let theirs = git_history::find_tree_or_commit(layout, name)?.ok_or_else(|| {
                let why = format!("no merge is in progress in {}", workspace.root.display());
                ServiceError::refused(ReasonCode::InputInvalid, why)
            })?;
            let bases = bases(&ours, &theirs)?;
            Ok(vec![NamedMerge { merge: None, bases, ours, theirs, result: ResultTree::Working }])
        }
        MergeQuestion::Squash { squash, tip } => {
            let (squash, tip) = (id(squash)?, id(tip)?);
            let ours = first_parent(layout, &squash)?;
            one(Some(squash.clone()), bases(&ours, &tip)?, ours, tip, squash)
        }
        MergeQuestion::Rebase { old, new } => {
            let (old, new) = (id(old)?, id(new)?);
            // The new base is the newest commit of the new branch that the old one's commits do not come after: what
            // the rewritten commits stand on.
            let onto = rebase_target(layout, &old, &new)?;
            one(Some(new.clone()), bases(&old, &onto)?, onto, old, new)
        }
        MergeQuestion::CherryPick { picked, source } => {
            let (picked, source) = (id(picked)?, id(source)?);
            let (ours, base) = (first_parent(layout, &picked)?, first_parent(layout, &source)?);
            one(Some(picked.clone()), vec![base], ours, source, picked)
        }
        MergeQuestion::Revert { revert, source } => {
            let (revert, source) = (id(revert)?, id(source)?);
            let (ours, theirs) = (first_parent(layout, &revert)?, first_parent(layout, &source)?);
            one(Some(revert.clone()), vec![source], ours, theirs, revert)
        }
        MergeQuestion::Trees([base, ours, theirs, result]) => {
            one(None, vec![id(base)?], id(ours)?, id(theirs)?, id(result)?)
        }
    }
}

/// Returns the pairs of parents of a merge: of two parents one, of an octopus merge each parent with each other.
pub(crate) fn merges_of_commit(
    layout: &GitLayout,
    merge: &GitId,
    parents: &[GitId],
) -> Result<Vec<NamedMerge>, ServiceError> {
    let mut merges = Vec::new();
    for (ours, theirs) in parent_pairs(parents) {
        merges.push(NamedMerge {
            merge: Some(merge.clone()),
            bases: git::merge_bases(layout, &[ours.clone(), theirs.clone()])?,
            ours: ours.clone(),
            theirs: theirs.clone(),
            result: ResultTree::Object(merge.clone()),
        });
    }
    Ok(merges)
}

pub(crate) fn parent_pairs(parents: &[GitId]) -> impl Iterator<Item = (&GitId, &GitId)> {
    let with_later = |(at, ours)| parents.iter().skip(at + 1).map(move |theirs| (ours, theirs));
    parents.iter().enumerate().flat_map(with_later)
}

/// Returns the commit below the rewritten ones: as many commits below the new tip as the old tip has of its own.
fn rebase_target(layout: &GitLayout, old: &GitId, new: &GitId) -> Result<GitId, ServiceError> {
    let n_old = git::count_commits(layout, &new.to_string(), &old.to_string())?;
    let mut at = new.clone();
    let n_new = git::count_commits(layout, &old.to_string(), &new.to_string())?;
    for _ in 0..n_old.min(n_new) {
        at = first_parent(layout, &at)?;
    }
    Ok(at)
}
