//! What was committed since a change was started in a shared tree, and that neither the tree nor the checked-out branch
//! shows: commits on other branches, tags and stashes.
//!
//! Several agents may work in one repository, so less is judged than after a governed run: a branch that another
//! worktree has checked out is never counted against this tree (law 5). If that worktree was not there at the start, its
//! commits are told.

use super::{MovedRefs, commit_rule::CommittedChange};
use crate::git_failure::GitFailure;
use crate::refs::{RefFacts, WORKTREE_PREFIX};
use probity_paths::RepoPath;
use probity_snapshot::GitId;
use probity_snapshot::git::{GitLayout, TreeDiffEntry};
use std::collections::{BTreeMap, BTreeSet};

/// A path that a commit changes which is not part of the checked-out branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AsideChange {
    pub change: CommittedChange,
    /// Whether the commit is only on branches that worktrees made since the start have checked out.
    pub is_in_other_worktree: bool,
}

/// Returns what commits change that references came to lead to since `start`, and `HEAD` does not, by path from the top
/// of the repository.
pub fn committed_aside(
    layout: &GitLayout,
    start: &RefFacts,
    now: &RefFacts,
) -> Result<BTreeMap<RepoPath, AsideChange>, GitFailure> {
    let elsewhere = now.all_branches_elsewhere();
    let checked_out = now.commit().and_then(|id| GitId::from_hex(id.as_bytes()));
    let is_elsewhere = |name: &str| elsewhere.contains(name) || name.starts_with(WORKTREE_PREFIX);
    let mut here = MovedRefs::between(start, now, &elsewhere);
    here.tips.retain(|(name, _)| !is_elsewhere(name));
    here.senseless.retain(|(name, _)| !is_elsewhere(name));
    here.know(checked_out.iter());
    let known_elsewhere = now.branches_elsewhere(start);
    let mut there = MovedRefs::between(start, now, &known_elsewhere);
    let tips: Vec<GitId> = here.tips.iter().map(|(_, id)| id.clone()).collect();
    there.tips.retain(|(name, _)| is_elsewhere(name));
    there.senseless.retain(|(name, _)| is_elsewhere(name));
    there.know(checked_out.iter().chain(&tips));
    let mut found = BTreeMap::new();
    for (moved, is_in_other_worktree) in [(here, false), (there, true)] {
        for (name, _) in &moved.senseless {
            found.extend(reference_itself(layout, name, None, is_in_other_worktree));
        }
        if moved.tips.is_empty() {
            continue;
        }
        let (changes, dead_ends) = moved.examine(layout)?;
        for (name, _) in dead_ends {
            let id = moved.tips.iter().find(|(tip, _)| *tip == name).map(|(_, id)| id.clone());
            found.extend(reference_itself(layout, &name, id, is_in_other_worktree));
        }
        for change in changes {
            let path = change.entry.path.clone();
            found.entry(path).or_insert(AsideChange { change, is_in_other_worktree });
        }
    }
    Ok(found)
}

/// Describes a reference that leads to no commit, such as a tag of a file, as a change of its file: what it leads to can be
/// pushed, and has no path that could be held against a scope.
fn reference_itself(
    layout: &GitLayout,
    name: &str,
    id: Option<GitId>,
    is_in_other_worktree: bool,
) -> Option<(RepoPath, AsideChange)> {
    let path = RepoPath::parse(format!(".git/{name}").as_bytes()).ok()?;
    let commit = id.or_else(|| GitId::from_hex("0".repeat(layout.object_format.id_len() * 2).as_bytes()))?;
    let entry = TreeDiffEntry { path: path.clone(), before: None, after: Some((0o100_644, commit.clone())) };
    let change = CommittedChange { entry, commit, reference: name.to_owned() };
    Some((path, AsideChange { change, is_in_other_worktree }))
}

impl MovedRefs {
    /// Leaves out what these commits lead to.
    fn know<'a>(&mut self, commits: impl Iterator<Item = &'a GitId>) {
        self.known.extend(commits.cloned());
        let known: &BTreeSet<GitId> = &self.known;
        self.tips.retain(|(_, id)| !known.contains(id));
    }
}
