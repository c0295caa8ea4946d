//! Remembers the content of finished but uncommitted work, to tell it from unattributed changes.

use super::RootMapping;
use probity_core::bytes::{bare_shell_word, shell_word};
use probity_intents::hygiene::{DirtyEntry, DirtyStatus};
use probity_intents::registry::{Intent, IntentRegistry};
use probity_intents::{IntentId, IntentStatus, ScopeEntrySet};
use probity_paths::RepoPath;
use probity_storage::ports::{RefStore, StorageEngine, SwapOutcome};
use probity_workspace::worktree::StartRecord;
use probity_workspace::worktree::WorktreeStatus;
use probity_workspace::{ServiceError, Workspace};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// Refs from an intent to the content that its finish saw.
const FINISHED_CONTENT_SPACE: &str = "finished-content";
/// A command with more paths is not suggested.
const MAX_COMMAND_PATHS: usize = 8;
const MAX_SUBJECT_CHARS: usize = 71;

/// Returns the paths of a finished change that differ from the commit.
pub(super) fn of_change(look: &WorktreeStatus, evidence: &ScopeEntrySet) -> BTreeMap<RepoPath, DirtyEntry> {
    let is_changed = |path: &RepoPath| evidence.contains(path.as_bytes());
    look.state
        .dirty
        .iter()
        .filter(|(path, _)| is_changed(path))
        .map(|(p, e)| (p.clone(), e.clone()))
        .collect()
}

pub(super) fn save_finished_content(
    workspace: &Workspace,
    intent_id: &IntentId,
    paths: BTreeMap<RepoPath, DirtyEntry>,
) -> Result<(), ServiceError> {
    if paths.is_empty() {
        return Ok(());
    }
    let record = StartRecord { dirty: paths, ..StartRecord::default() };
    let kept = workspace.state.objects().put_unsynced(&record.to_bytes())?.to_string();
    let refs = refs(workspace)?;
    let mut found = refs.get(intent_id.as_str())?;
    // Only the holder of the claim gets here, so this ends after one or two attempts.
    while let SwapOutcome::Moved { found: other } =
        refs.compare_and_set(intent_id.as_str(), found.as_deref(), Some(kept.as_bytes()))?
    {
        found = other;
    }
    Ok(())
}

/// Attributes changed paths to the finished intents whose work they still are.
pub(super) struct FinishedWork<'a> {
    workspace: &'a Workspace,
    frame: &'a RootMapping,
    /// The finished intents of this root, latest first.
    finished: Vec<&'a Intent>,
    records: BTreeMap<IntentId, Option<StartRecord>>,
}

impl<'a> FinishedWork<'a> {
    pub(super) fn of(workspace: &'a Workspace, registry: &'a IntentRegistry, frame: &'a RootMapping) -> Self {
        let is_of_this_root =
            |intent: &&Intent| intent.base.tree.as_ref().is_some_and(|tree| *tree == frame.root_name());
        let released = registry
            .intents()
            .filter(|intent| matches!(intent.status, IntentStatus::Released | IntentStatus::Landing));
        let mut finished: Vec<&Intent> = released.filter(is_of_this_root).collect();
        finished.sort_by_key(|intent| {
            std::cmp::Reverse((intent.closed_at.unwrap_or(intent.expires_at), &intent.id))
        });
        Self { workspace, frame, finished, records: BTreeMap::new() }
    }

    /// Returns the latest finished intent whose scope holds a path, if the path still has the content that its finish saw.
    pub(super) fn of_path(&mut self, entry: &DirtyEntry) -> Option<&'a Intent> {
        let name = self.frame.to_repo_path(&entry.path);
        let intent =
            self.finished.iter().copied().find(|intent| intent.scope.holds(name.as_bytes()).is_some())?;
        let workspace = self.workspace;
        let record =
            self.records.entry(intent.id.clone()).or_insert_with(|| load(workspace, &intent.id)).as_ref()?;
        is_same(record.dirty.get(&entry.path)?, entry).then_some(intent)
    }
}

fn is_same(then: &DirtyEntry, now: &DirtyEntry) -> bool {
    let is_gone = |entry: &DirtyEntry| entry.status == DirtyStatus::Deleted;
    (is_gone(then) && is_gone(now)) || (then.digest.is_some() && then.digest == now.digest)
}

fn load(workspace: &Workspace, intent_id: &IntentId) -> Option<StartRecord> {
    let pointer = refs(workspace).ok()?.get(intent_id.as_str()).ok()??;
    let digest = String::from_utf8(pointer).ok()?.parse().ok()?;
    StartRecord::parse(&workspace.state.objects().get(&digest).ok()??)
}

fn refs(workspace: &Workspace) -> Result<Box<dyn RefStore>, ServiceError> {
    Ok(workspace.state.store()?.refs(FINISHED_CONTENT_SPACE))
}

/// Returns the first line of a description as a commit subject, with deceptive characters escaped.
fn commit_subject(description: &str) -> String {
    let line = probity_core::bytes::escape(description.lines().next().unwrap_or_default().trim().as_bytes());
    match line.char_indices().nth(MAX_SUBJECT_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Returns the command that commits exactly these paths under `message`; `None` if there are none or too many, or no
/// repository. The message keeps Git from opening an editor, which an agent could not leave.
pub fn commit_command<'p>(
    workspace: &Workspace,
    paths: impl ExactSizeIterator<Item = &'p RepoPath>,
    message: &str,
) -> Option<String> {
    if paths.len() == 0 || paths.len() > MAX_COMMAND_PATHS || workspace.git.is_none() {
        return None;
    }
    let git = git_program(workspace);
    let (mut added, mut all) = (Vec::new(), Vec::new());
    for path in paths {
        let words = path_word(path);
        // `git add` refuses a path that is neither in the tree nor in the index; `git commit` records its removal.
        if workspace.root.join(OsStr::from_bytes(path.as_bytes())).symlink_metadata().is_ok() {
            added.push(words.clone());
        }
        all.push(words);
    }
    // The commit names the paths again, so that it leaves out anything else that is staged.
    let message = shell_word(commit_subject(message).as_bytes());
    let commit = format!("{git} commit -m {message} -- {}", all.join(" "));
    Some(if added.is_empty() { commit } else { format!("{git} add -- {} && {commit}", added.join(" ")) })
}

/// Returns the start of a Git command that works in the tree from the caller's current directory.
pub fn git_program(workspace: &Workspace) -> String {
    let is_here = std::env::current_dir().is_ok_and(|here| here == workspace.root);
    if is_here {
        "git".to_owned()
    } else {
        format!("git -C {}", bare_shell_word(workspace.root.as_os_str().as_bytes()))
    }
}

/// Returns a path from the root as a shell word for [`git_program`].
pub fn path_word(path: &RepoPath) -> String {
    bare_shell_word(&pathspec(path.as_bytes()))
}

/// Returns a pathspec that Git takes literally.
fn pathspec(path: &[u8]) -> Vec<u8> {
    let is_special = path.starts_with(b":") || path.iter().any(|byte| b"*?[\\".contains(byte));
    if is_special { [b":(literal)", path].concat() } else { path.to_vec() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_literal_for_git_and_one_word_for_the_shell() {
        let shown = |path: &[u8]| bare_shell_word(&pathspec(path));
        assert_eq!(shown(b"src/a.py"), "src/a.py");
        assert_eq!(shown(b"a b"), "'a b'");
        assert_eq!(shown(b"[x]*.py"), "':(literal)[x]*.py'");
        assert_eq!(shown(b":top"), "':(literal):top'");
    }
}
