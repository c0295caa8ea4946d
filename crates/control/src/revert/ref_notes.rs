//! What a revert leaves: the commits, branches and submodules that a run moved. Files are put back in the working tree;
//! history is a person's to rewrite, so for each reference it is said how.

use crate::refs::{HEAD, RefFacts, describe_movement, shown_name, shown_value};
use crate::{Workspace, git};
use probity_api::govern::revert::RefNote;
use probity_api::govern::run::{RefChangeKind, RefMovement};
use probity_core::bytes::bare_shell_word;
use probity_evidence::RefChange;
use probity_paths::RepoPath;
use probity_snapshot::git::GitLayout;

/// The movements that a manifest records.
pub(super) fn recorded(refs: &[RefChange]) -> Vec<RefMovement> {
    let movement = |change: &RefChange| {
        let repository = match &change.repository {
            Some(path) => Some(RepoPath::parse(path.as_bytes()).ok()?),
            None => None,
        };
        let name = String::from_utf8_lossy(change.name.as_bytes());
        Some(RefMovement::new(repository, name, change.before.clone(), change.after.clone()))
    };
    refs.iter().filter_map(movement).collect()
}

/// What is to be said about the references of the tree's own repository that a run moved.
pub(super) fn notes(workspace: &Workspace, movements: &[RefMovement]) -> Vec<RefNote> {
    let Some(layout) = &workspace.git else { return Vec::new() };
    let now = RefFacts::gather(layout);
    let own = movements.iter().filter(|movement| movement.repository.is_none());
    own.map(|movement| note(layout, &now, movement)).collect()
}

fn note(layout: &GitLayout, now: &RefFacts, movement: &RefMovement) -> RefNote {
    let (before, after) = (movement.before.as_deref(), movement.after.as_deref());
    let name = shown_name(&movement.name);
    let is_as_left = now.get(&movement.name) == after;
    let is_checked_out = movement.name == HEAD || now.branch() == Some(&movement.name);
    let moved_again = || match now.get(&movement.name) {
        Some(value) if is_checked_out => {
            format!(
                "; it is at {} by now: commit the restored files to undo the change there",
                shown_value(value)
            )
        }
        Some(value) => format!("; it is at {} by now", shown_value(value)),
        None => "; it is gone by now".to_owned(),
    };
    let mut detail = describe_movement(movement);
    let mut command = None;
    match (movement.change, before, after) {
        (RefChangeKind::Moved, Some(before), Some(after)) if is_symbolic(before) || is_symbolic(after) => {
            command = is_as_left.then(|| check_out(before));
        }
        (RefChangeKind::Moved, Some(before), Some(after)) => {
            let (from, to) = (shown_value(before), shown_value(after));
            let (history, holder) = history(layout, before, after);
            detail = format!(
                "{name} moved from {from} to {to} during the run{history}; the files are restored in the working tree, \
                 {holder} the change"
            );
            command = is_as_left.then(|| take_back(&movement.name, before, is_checked_out)).flatten();
        }
        (RefChangeKind::Created, _, Some(_)) if is_as_left => {
            command = remove(&movement.name, is_checked_out);
        }
        (RefChangeKind::Deleted, Some(before), _) if is_as_left => {
            command = bring_back(&movement.name, before);
        }
        _ => {}
    }
    if !is_as_left {
        detail.push_str(&moved_again());
    }
    RefNote { movement: movement.clone(), detail, command }
}

/// How many commits came, and how many went; nothing if git does not say. And what still holds the change.
fn history(layout: &GitLayout, before: &str, after: &str) -> (String, &'static str) {
    let commits = |n: u64| if n == 1 { "1 commit".to_owned() } else { format!("{n} commits") };
    let counted = git::count_commits(layout, before, after)
        .and_then(|came| Ok((came, git::count_commits(layout, after, before)?)));
    let holder = match counted {
        Ok((1, _)) => "the commit still contains",
        _ => "the commits still contain",
    };
    let history = match counted {
        Ok((came, 0)) => format!(" ({})", commits(came)),
        Ok((came, gone)) => format!(" ({} came, {} went)", commits(came), commits(gone)),
        Err(_) => String::new(),
    };
    (history, holder)
}

/// Only the index and the reference move: `--mixed` keeps the files. (`--soft` would leave the change staged.)
fn take_back(name: &str, before: &str, is_checked_out: bool) -> Option<String> {
    if is_checked_out {
        return Some(format!("git reset --mixed {before}"));
    }
    let branch = name.strip_prefix("refs/heads/")?;
    Some(format!("git branch --force {} {before}", bare_shell_word(branch.as_bytes())))
}

/// Sets HEAD to what it was, and keeps the files.
fn check_out(before: &str) -> String {
    match before.strip_prefix("ref: ") {
        Some(name) => {
            format!("git symbolic-ref HEAD {} && git reset --mixed", bare_shell_word(name.as_bytes()))
        }
        None => format!("git update-ref --no-deref HEAD {before} && git reset --mixed"),
    }
}

fn remove(name: &str, is_checked_out: bool) -> Option<String> {
    if let Some(tag) = name.strip_prefix("refs/tags/") {
        return Some(format!("git tag --delete {}", bare_shell_word(tag.as_bytes())));
    }
    let branch = name.strip_prefix("refs/heads/").filter(|_| !is_checked_out)?;
    Some(format!("git branch -D {}", bare_shell_word(branch.as_bytes())))
}

fn bring_back(name: &str, before: &str) -> Option<String> {
    if let Some(tag) = name.strip_prefix("refs/tags/") {
        return Some(format!("git tag {} {before}", bare_shell_word(tag.as_bytes())));
    }
    Some(format!("git branch {} {before}", bare_shell_word(name.strip_prefix("refs/heads/")?.as_bytes())))
}

fn is_symbolic(value: &str) -> bool {
    value.starts_with("ref: ")
}
