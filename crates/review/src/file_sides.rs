//! The two contents of a changed path, from layers, commits and the tree.

use crate::folded_files;
use probity_api::review::ReviewPath;
use probity_line_diff::{ChangedRegion, LineAlignment, is_binary, line_changes, split_lines};
use probity_paths::RepoPath;
use probity_runner::recorded_contents::{OpenLayer, SideContent, tree_content};
use probity_snapshot::git::HeadTree;
use probity_workspace::{ServiceError, Workspace, git};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Both sides of a changed path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSides {
    pub before: SideContent,
    pub after: SideContent,
}

impl FileSides {
    /// Returns both texts, or why they are not shown.
    pub fn texts(&self) -> Result<(&[u8], &[u8]), String> {
        let text = |side| match side {
            &SideContent::Absent => Ok(&b""[..]),
            SideContent::Content(bytes) if is_binary(bytes) => Err(format!("binary, {} bytes", bytes.len())),
            SideContent::Content(bytes) => Ok(bytes.as_slice()),
            SideContent::TooLarge(bytes) => Err(format!("too large to show: {bytes} bytes")),
            SideContent::Lost => Err("no copy of this content is left here".to_owned()),
            SideContent::Special(kind) => Err(format!("a {kind}, which has no text")),
        };
        Ok((text(&self.before)?, text(&self.after)?))
    }

    /// Writes counts and what folds the file into the row of its path.
    pub(crate) fn describe(&self, row: &mut ReviewPath) {
        let binary = |side: &SideContent| matches!(side, SideContent::Content(bytes) if is_binary(bytes));
        row.is_binary = binary(&self.before) || binary(&self.after);
        match self.texts() {
            Ok((before, after)) => {
                (row.lines_added, row.lines_removed) = n_changed_lines(before, after);
                let shown = if after.is_empty() { before } else { after };
                row.folded = folded_files::generated_because(&row.path, shown);
            }
            Err(why) => row.folded = Some(why),
        }
    }
}

/// Counts added and removed lines.
pub(crate) fn n_changed_lines(before: &[u8], after: &[u8]) -> (usize, usize) {
    let changes = line_changes(&split_lines(before), &split_lines(after), LineAlignment::Shortest);
    let add = |sum: (usize, usize), change: &ChangedRegion| {
        (sum.0 + change.after.len(), sum.1 + change.before.len())
    };
    changes.iter().fold((0, 0), add)
}

/// Returns the sides of a path in a layer that may still change. What is in neither place is absent there.
pub(crate) fn open_layer_sides(workspace: &Workspace, run_id: &str, path: &RepoPath) -> FileSides {
    let layer = OpenLayer::open(workspace, run_id);
    let absent = |side| if side == SideContent::Lost { SideContent::Absent } else { side };
    FileSides { before: absent(layer.before(path)), after: absent(layer.after(path)) }
}

/// Trees of commits that were read last. A commit never changes, so neither does its tree.
static KNOWN_TREES: Mutex<VecDeque<KnownTree>> = Mutex::new(VecDeque::new());

const MAX_KNOWN_TREES: usize = 6;

struct KnownTree {
    root: PathBuf,
    commit: String,
    tree: Arc<HeadTree>,
}

/// Returns the tree of a commit, given by its id.
pub(crate) fn commit_tree(workspace: &Workspace, commit: &str) -> Result<Arc<HeadTree>, ServiceError> {
    let known = || KNOWN_TREES.lock().unwrap_or_else(PoisonError::into_inner);
    let is_it = |known: &&KnownTree| known.root == workspace.root && known.commit == commit;
    if let Some(found) = known().iter().find(is_it) {
        return Ok(Arc::clone(&found.tree));
    }
    let tree = Arc::new(git::tree_of(workspace, commit)?);
    let entry =
        KnownTree { root: workspace.root.clone(), commit: commit.to_owned(), tree: Arc::clone(&tree) };
    let mut known = known();
    known.push_front(entry);
    known.truncate(MAX_KNOWN_TREES);
    Ok(tree)
}

/// Returns the content of a path in a commit, given by its id.
pub(crate) fn commit_content(
    workspace: &Workspace,
    commit: &str,
    path: &RepoPath,
) -> Result<SideContent, ServiceError> {
    let Some(layout) = &workspace.git else { return Ok(SideContent::Lost) };
    let tree = commit_tree(workspace, commit)?;
    Ok(match tree.get(path) {
        None => SideContent::Absent,
        Some((_, id)) => git::blob(layout, &id.to_string())?.map_or(SideContent::Lost, SideContent::Content),
    })
}

/// Returns whether the tree has a file at this path now.
pub fn is_file(workspace: &Workspace, path: &RepoPath) -> bool {
    matches!(present_content(workspace, path), SideContent::Content(_))
}

/// Reads a path of the tree as it is now; what is not there is absent.
pub(crate) fn present_content(workspace: &Workspace, path: &RepoPath) -> SideContent {
    match tree_content(&workspace.root, path) {
        SideContent::Lost => SideContent::Absent,
        found => found,
    }
}
