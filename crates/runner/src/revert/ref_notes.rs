//! Describes what a revert leaves: the commits, branches and submodules that a run moved. Files are restored in the
//! working tree, but rewriting history is up to the user, so each reference gets a note on how to do it.

use probity_api::govern::revert::RefNote;
use probity_api::govern::run::{RefChangeKind, RefMovement};
use probity_core::bytes::bare_shell_word;
use probity_paths::RepoPath;
use probity_snapshot::git::GitLayout;
use probity_workspace::refs::{
    HEAD, RefFacts, SYMBOLIC_REF_PREFIX, describe_movement, shown_name, shown_value,
};
use probity_workspace::{Workspace, git};
use std::collections::BTreeSet;

/// Returns a note for each reference of the tree's own repository that a run moved. A commit that contains none of the
/// `undone` paths need not be taken back.
pub(super) fn notes(
    workspace: &Workspace,
    movements: &[RefMovement],
    undone: &BTreeSet<RepoPath>,
) -> Vec<RefNote> {
    let Some(layout) = &workspace.git else { return Vec::new() };
    let now = RefFacts::gather(layout);
    let own = || movements.iter().filter(|movement| movement.repository.is_none());
    // The commands are meant to be typed in order, HEAD first: the others assume the branch it leads back to.
    let head = own().find(|movement| movement.name == HEAD && now.get(HEAD) == movement.after.as_deref());
    let branch = match head.and_then(|movement| movement.before.as_deref()) {
        Some(before) => before.strip_prefix(SYMBOLIC_REF_PREFIX),
        None => now.branch(),
    };
    let holds_change = |before: &str, after: &str| holds_change(workspace, [before, after], undone);
    own().map(|movement| ref_note(layout, (&now, branch), movement, &holds_change)).collect()
}

/// Returns whether the commits changed one of the paths; true if git does not say.
fn holds_change(workspace: &Workspace, commits: [&str; 2], paths: &BTreeSet<RepoPath>) -> bool {
    let trees = commits.map(|commit| git::tree_of(workspace, &git::commit_id(workspace, commit)?));
    let [Ok(before), Ok(after)] = trees else { return true };
    paths.iter().any(|path| before.get(path) != after.get(path))
}

/// `branch` is the one checked out when the command of this note is typed.
fn ref_note(
    layout: &GitLayout,
    (now, branch): (&RefFacts, Option<&str>),
    movement: &RefMovement,
    holds_change: &dyn Fn(&str, &str) -> bool,
) -> RefNote {
    let (before, after) = (movement.before.as_deref(), movement.after.as_deref());
    let name = shown_name(&movement.name);
    let is_as_left = now.get(&movement.name) == after;
    let is_checked_out = movement.name == HEAD || branch == Some(&movement.name);
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
        (RefChangeKind::Moved, Some(before), Some(after)) if !holds_change(before, after) => {
            detail.push_str("; nothing of what is undone was committed there");
        }
        (RefChangeKind::Moved, Some(before), Some(after)) => {
            let (from, to) = (shown_value(before), shown_value(after));
            let (history, holder) = describe_history(layout, before, after);
            detail = format!(
                "{name} moved from {from} to {to} during the run{history}; the files are restored in the working tree, \
                 {holder} the change: commit the restored files on top, or take it back"
            );
            command = is_as_left.then(|| take_back(&movement.name, before, is_checked_out)).flatten();
        }
        (RefChangeKind::Created, _, Some(_)) if is_as_left => {
            command = delete_command(&movement.name, is_checked_out);
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

/// Counts the commits that were added and removed (empty if git does not say), and names what still holds the change.
fn describe_history(layout: &GitLayout, before: &str, after: &str) -> (String, &'static str) {
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

/// `--mixed` moves the reference and the index but keeps the files; `--soft` would leave the change staged.
fn take_back(name: &str, before: &str, is_checked_out: bool) -> Option<String> {
    if is_checked_out {
        return Some(format!("git reset --mixed {before}"));
    }
    let branch = name.strip_prefix("refs/heads/")?;
    Some(format!("git branch --force {} {before}", bare_shell_word(branch.as_bytes())))
}

/// Restores HEAD and keeps the files.
fn check_out(before: &str) -> String {
    match before.strip_prefix(SYMBOLIC_REF_PREFIX) {
        Some(name) => {
            format!("git symbolic-ref HEAD {} && git reset --mixed", bare_shell_word(name.as_bytes()))
        }
        None => format!("git update-ref --no-deref HEAD {before} && git reset --mixed"),
    }
}

fn delete_command(name: &str, is_checked_out: bool) -> Option<String> {
    if let Some(tag) = name.strip_prefix("refs/tags/") {
        return Some(format!("git tag --delete {}", bare_shell_word(tag.as_bytes())));
    }
    if is_checked_out {
        // Git does not delete a checked-out branch; removing the reference makes it unborn again.
        return Some(format!("git update-ref -d {}", bare_shell_word(name.as_bytes())));
    }
    Some(format!("git branch -D {}", bare_shell_word(name.strip_prefix("refs/heads/")?.as_bytes())))
}

fn bring_back(name: &str, before: &str) -> Option<String> {
    if let Some(tag) = name.strip_prefix("refs/tags/") {
        return Some(format!("git tag {} {before}", bare_shell_word(tag.as_bytes())));
    }
    Some(format!("git branch {} {before}", bare_shell_word(name.strip_prefix("refs/heads/")?.as_bytes())))
}

fn is_symbolic(value: &str) -> bool {
    value.starts_with(SYMBOLIC_REF_PREFIX)
}
