//! Takes commits over from another object store of the same repository, without reading anything else of it.
//!
//! Every command works on the own git directory, with its settings and none of its hooks; the other store only lends
//! its objects. What is taken over is packed, and checked as a pack from a stranger is.
//!
//! Names and ids of branches are words of a stranger, too: git takes a word that begins with a hyphen for an option, and
//! some options write files.

use crate::git::{self, output_of_file, output_of_lines, run_git};
use crate::worktree::first_difference;
use crate::{ServiceError, Workspace};
use probity_paths::RepoPath;
use probity_snapshot::git::{GitCommand, GitLayout, git_command};
use probity_snapshot::{GitId, Snapshot};
use std::collections::BTreeSet;
use std::path::Path;

/// More new commits than this are not looked at.
const MAX_IMPORTED_COMMITS: usize = 1_000;

/// More moved branches than this are not looked at.
pub const MAX_IMPORTED_BRANCHES: usize = 32;

/// A branch that moved in the other store.
#[derive(Debug, Clone, Copy)]
pub struct MovedBranch<'a> {
    /// Its full name.
    pub name: &'a str,
    /// The commit that it must still name; `None` if it must not exist.
    pub before: Option<&'a str>,
    pub after: &'a str,
}

/// What became of a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BranchImport {
    Imported {
        n_commits: usize,
        /// Why the index is not that of the new commit, if it should be.
        index_kept: Option<&'static str>,
    },
    /// Nothing was taken over; completes "not imported: …".
    Refused(String),
}

/// The tree that a branch must agree with, and what it may change.
pub struct ImportRules<'a> {
    /// The tree that was judged, as it is after its changes landed.
    pub tree: &'a Snapshot,
    /// Whether new commits may change a path, which begins at the top of the working tree.
    pub may_change: &'a dyn Fn(&RepoPath) -> bool,
}

/// Takes over a branch if it only grew, every new commit changes only what the rules allow, and its last commit holds what
/// the judged tree holds wherever it brings something new. `objects` is the other store; `None` if it has no objects of
/// its own.
pub fn import_branch(
    workspace: &Workspace,
    layout: &GitLayout,
    objects: Option<&Path>,
    branch: MovedBranch<'_>,
    rules: &ImportRules<'_>,
) -> Result<BranchImport, ServiceError> {
    if objects.is_some_and(|objects| !is_plain_store(objects)) {
        return Ok(BranchImport::Refused("its object store refers to other stores".into()));
    }
    if !is_plain_name(branch.name) {
        return Ok(BranchImport::Refused("git does not make branches of this name".into()));
    }
    let tip = object_id(layout, branch.after);
    let Some(tip) = tip.filter(|_| branch.before.is_none_or(|id| object_id(layout, id).is_some())) else {
        return Ok(BranchImport::Refused("it holds no id".into()));
    };
    let may_change = rules.may_change;
    let own = |words: &[&str]| git_command(layout, words);
    let lent = |words: &[&str]| {
        let mut command = git_command(layout, words);
        command.env.extend(objects.map(|store| ("GIT_ALTERNATE_OBJECT_DIRECTORIES".into(), store.into())));
        command
    };
    // Looked at first as the other store tells it, so that nothing of a branch that is out of scope is stored.
    let n_commits = match check(layout, &lent, branch, may_change)? {
        Ok(changed) => changed.n_commits,
        Err(why) => return Ok(BranchImport::Refused(why)),
    };
    let after = branch.after;
    if n_commits > 0 {
        let listed = lines(&run_git(layout, &lent(&["rev-list", "--objects", after, "--not", "--all"]))?);
        let pack = output_of_lines(layout, &lent(&["pack-objects", "--stdout", "-q"]), &listed)?;
        output_of_file(layout, &own(&["index-pack", "--strict", "--stdin"]), &pack)?;
    }
    // What counts is what arrived: the other store can show any content under any id.
    let changed = match check(layout, &own, branch, may_change)? {
        Ok(changed) => changed,
        Err(why) => return Ok(BranchImport::Refused(why)),
    };
    if let Some(path) = unjudged_path(workspace, layout, &tip, &changed, rules.tree)? {
        let why = format!("its last commit holds `{path}` otherwise than the tree that was judged");
        return Ok(BranchImport::Refused(why));
    }
    let head = run_git(layout, &own(&["rev-parse", "--symbolic-full-name", "HEAD"]));
    let is_checked_out = head.is_ok_and(|head| head.trim_ascii_end() == branch.name.as_bytes());
    let worktree = own(&["for-each-ref", "--format=%(worktreepath)", branch.name]);
    if !is_checked_out && !run_git(layout, &worktree)?.trim_ascii().is_empty() {
        // Its index and files would be those of the former commit, so that the next commit there takes this one back.
        return Ok(BranchImport::Refused("another worktree has it checked out".into()));
    }
    let has_staged = match branch.before.filter(|_| is_checked_out) {
        Some(before) => {
            let command = own(&["diff-index", "--cached", "--name-only", before]);
            !run_git(layout, &command)?.is_empty()
        }
        None => false,
    };
    let none = "0".repeat(layout.object_format.id_len() * 2);
    let before = branch.before.unwrap_or(&none);
    let message = "probity: commits of a governed run";
    let moved = own(&["update-ref", "-m", message, branch.name, after, before]);
    if let Err(failure) = run_git(layout, &moved) {
        return Ok(BranchImport::Refused(format!("it moved here, too: {failure}")));
    }
    let mut index_kept = has_staged.then_some("something was staged in the index");
    if is_checked_out && !has_staged && run_git(layout, &own(&["read-tree", after])).is_err() {
        index_kept = Some("the index could not be written");
    }
    Ok(BranchImport::Imported { n_commits, index_kept })
}

/// The new commits of a branch.
struct NewCommits {
    n_commits: usize,
    /// What they change, and what the branch brings from commits that other branches lead to.
    changed_paths: BTreeSet<RepoPath>,
}

/// Returns the new commits of a branch, or why it is refused, as the commands of `git` see it.
fn check(
    layout: &GitLayout,
    git: &dyn Fn(&[&str]) -> GitCommand,
    branch: MovedBranch<'_>,
    may_change: &dyn Fn(&RepoPath) -> bool,
) -> Result<Result<NewCommits, String>, ServiceError> {
    if let Some(before) = branch.before
        && !run_git(layout, &git(&["rev-list", "--max-count=1", before, "--not", branch.after]))?.is_empty()
    {
        return Ok(Err("its history was rewritten".into()));
    }
    let limit = format!("--max-count={}", MAX_IMPORTED_COMMITS + 1);
    let commits = lines(&run_git(layout, &git(&["rev-list", &limit, branch.after, "--not", "--all"]))?);
    if commits.len() > MAX_IMPORTED_COMMITS {
        return Ok(Err(format!("it has more than {MAX_IMPORTED_COMMITS} new commits")));
    }
    let mut compared: Vec<String> = commits.clone();
    // The branch may have moved to a commit that is not new, or merged one.
    compared.extend(branch.before.map(|before| format!("{} {before}", branch.after)));
    let changed = changed_paths(layout, git, &compared)?;
    Ok(match changed.iter().find(|path| !may_change(path)) {
        Some(path) => Err(format!("a commit changes `{path}`, which is out of scope")),
        None => Ok(NewCommits { n_commits: commits.len(), changed_paths: changed }),
    })
}

/// Returns a path at which the last commit of a branch holds something that neither the checked-out commit nor the
/// judged tree does.
fn unjudged_path(
    workspace: &Workspace,
    layout: &GitLayout,
    tip: &GitId,
    new: &NewCommits,
    tree: &Snapshot,
) -> Result<Option<RepoPath>, ServiceError> {
    if new.changed_paths.is_empty() {
        return Ok(None);
    }
    let committed = git::files_of(layout, tip)?;
    let checked_out = match git::head(workspace)? {
        Some(head) => git::tree_of_head(workspace, &head)?,
        None => probity_snapshot::git::HeadTree::new(),
    };
    let is_new = |path: &&RepoPath| committed.get(*path) != checked_out.get(*path);
    let paths: Vec<&RepoPath> = new.changed_paths.iter().filter(is_new).collect();
    first_difference(workspace, &committed, tree, &paths)
}

/// Returns whether git would make a branch of this full name; the rest of its rules are checked by git.
fn is_plain_name(name: &str) -> bool {
    let short = name.strip_prefix("refs/heads/").unwrap_or_default();
    !short.is_empty() && !short.starts_with('-') && short != "HEAD"
}

fn object_id(layout: &GitLayout, word: &str) -> Option<GitId> {
    let is_whole = word.len() == layout.object_format.id_len() * 2;
    GitId::from_hex(word.as_bytes()).filter(|_| is_whole)
}

/// Returns whether a store is a directory that lends objects of no further store.
fn is_plain_store(objects: &Path) -> bool {
    let is_directory = objects.symlink_metadata().is_ok_and(|facts| facts.is_dir());
    let lends =
        ["info/alternates", "info/http-alternates"].map(|name| objects.join(name).symlink_metadata().is_ok());
    is_directory && lends == [false, false]
}

/// Returns every path that differs between one of the commits and a parent of it. A line of two commits compares the
/// first with the second as if that were its parent.
fn changed_paths(
    layout: &GitLayout,
    git: &dyn Fn(&[&str]) -> GitCommand,
    commits: &[String],
) -> Result<BTreeSet<RepoPath>, ServiceError> {
    if commits.is_empty() {
        return Ok(BTreeSet::new());
    }
    let words =
        ["diff-tree", "--stdin", "-r", "-m", "--root", "--no-commit-id", "--no-renames", "--name-only", "-z"];
    let command = git(&words);
    let answer = output_of_lines(layout, &command, commits)?;
    let names = answer.split(|&byte| byte == 0).filter(|name| !name.is_empty());
    names
        .map(|name| {
            RepoPath::parse(name).map_err(|error| {
                let detail = format!("a commit has a path that is none: {error}");
                ServiceError::refused(probity_core::ReasonCode::PathInvalid, detail)
            })
        })
        .collect()
}

fn lines(answer: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(answer).lines().map(str::to_owned).collect()
}
