//! The references of a repository as git tells them, for storage formats whose files are not read here (reftable).

use crate::git;
use crate::git_failure::GitFailure;
use probity_core::bytes::escape;
use probity_process::JobOutcome;
use probity_snapshot::git::{GitLayout, git_command};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A reference whose reflog lists more commits than it leads to.
const STASH_REF: &str = "refs/stash";

/// What git tells about references.
#[derive(Debug, Default)]
pub(crate) struct ToldRefs {
    /// The content of `HEAD`: `ref: refs/heads/…`, or an id; `None` if it leads nowhere.
    pub(crate) head: Option<String>,
    /// An id, or `ref: …`, by name.
    pub(crate) refs: BTreeMap<String, String>,
    pub(crate) stashes: BTreeSet<String>,
    /// By path of another worktree outside of this tree, the branch that is checked out there.
    pub(crate) elsewhere: BTreeMap<String, Option<String>>,
    /// By path of such a worktree, the commit that is checked out there without a branch.
    pub(crate) detached: BTreeMap<String, String>,
}

impl ToldRefs {
    pub(crate) fn ask(layout: &GitLayout) -> Result<Self, GitFailure> {
        let refs = listed_refs(layout)?;
        let stashes = if refs.contains_key(STASH_REF) { stashes(layout)? } else { BTreeSet::new() };
        let mut told = Self { head: head(layout)?, refs, stashes, ..Self::default() };
        told.add_other_worktrees(layout)?;
        Ok(told)
    }

    /// Parses records of lines like `worktree <path>`, `HEAD <id>` and `branch <name>` or `detached`, the main worktree
    /// first.
    fn add_other_worktrees(&mut self, layout: &GitLayout) -> Result<(), GitFailure> {
        let command = git_command(layout, &["worktree", "list", "--porcelain", "-z"]);
        let answer = git::run_git(layout, &command)?;
        let mut current: Option<String> = None;
        for (at, line) in answer.split(|&byte| byte == 0).enumerate() {
            if let Some(path) = line.strip_prefix(b"worktree ") {
                let is_own = !layout.is_linked() && at == 0;
                current = Some(escape(path)).filter(|_| !is_own && !is_within(layout, path));
                self.elsewhere.extend(current.clone().map(|name| (name, None)));
            }
            let Some(name) = &current else { continue };
            if let Some(id) = line.strip_prefix(b"HEAD ") {
                self.detached.insert(name.clone(), escape(id));
            } else if let Some(branch) = line.strip_prefix(b"branch ") {
                self.detached.remove(name);
                self.elsewhere.insert(name.clone(), Some(escape(branch)));
            }
        }
        Ok(())
    }
}

fn listed_refs(layout: &GitLayout) -> Result<BTreeMap<String, String>, GitFailure> {
    let format = "--format=%(objectname) %(refname) %(symref)";
    let command = git_command(layout, &["for-each-ref", format]);
    let answer = git::run_git(layout, &command)?;
    let parse = |line: &[u8]| {
        let mut words = line.splitn(3, |&byte| byte == b' ').map(escape);
        let (id, name, target) = (words.next()?, words.next()?, words.next()?);
        Some((name, if target.is_empty() { id } else { format!("ref: {target}") }))
    };
    let lines = answer.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let refs: Option<BTreeMap<_, _>> = lines.map(parse).collect();
    refs.ok_or_else(|| GitFailure::bad_answer(&command, "it is no list of references"))
}

fn head(layout: &GitLayout) -> Result<Option<String>, GitFailure> {
    let command = git_command(layout, &["symbolic-ref", "--quiet", "HEAD"]);
    let captured = git::attempt(layout, &command, None)?;
    match captured.outcome {
        JobOutcome::Exited(0) => Ok(Some(format!("ref: {}", escape(captured.stdout.trim_ascii_end())))),
        // It is detached.
        JobOutcome::Exited(1) => git::find_commit_in(layout, "HEAD"),
        _ => Err(git::git_failure(&command, &captured)),
    }
}

fn stashes(layout: &GitLayout) -> Result<BTreeSet<String>, GitFailure> {
    let command = git_command(layout, &["rev-list", "--walk-reflogs", STASH_REF]);
    let answer = git::run_git(layout, &command)?;
    Ok(answer.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).map(escape).collect())
}

fn is_within(layout: &GitLayout, path: &[u8]) -> bool {
    let path = Path::new(OsStr::from_bytes(path));
    path.canonicalize().unwrap_or_else(|_| path.to_owned()).starts_with(&layout.root)
}
