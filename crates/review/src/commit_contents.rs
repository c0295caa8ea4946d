//! Contents of a commit at some paths, read with two processes of git however many paths there are.

use crate::file_sides::{commit_tree, n_changed_lines, present_content};
use probity_paths::RepoPath;
use probity_runner::recorded_contents::SideContent;
use probity_workspace::{ServiceError, Workspace, git};
use std::collections::BTreeMap;

/// More paths are not read ahead.
const MAX_PATHS: usize = 400;

#[derive(Debug, Default)]
pub(crate) struct CommitContents {
    contents: BTreeMap<RepoPath, SideContent>,
}

impl CommitContents {
    pub(crate) fn of_paths<'a>(
        workspace: &Workspace,
        commit: Option<&str>,
        paths: impl Iterator<Item = &'a RepoPath>,
    ) -> Result<Self, ServiceError> {
        let paths: Vec<&RepoPath> = paths.take(MAX_PATHS).collect();
        let (Some(layout), Some(commit), false) = (&workspace.git, commit, paths.is_empty()) else {
            return Ok(Self::default());
        };
        let tree = commit_tree(workspace, commit)?;
        let ids: Vec<String> =
            paths.iter().filter_map(|path| tree.get(*path)).map(|(_, id)| id.to_string()).collect();
        let blobs = if ids.is_empty() { BTreeMap::new() } else { git::present_blobs(layout, &ids)? };
        let content = |path: &RepoPath| match tree.get(path) {
            None => SideContent::Absent,
            Some((_, id)) => {
                blobs.get(&id.to_string()).map_or(SideContent::Lost, |it| SideContent::Content(it.clone()))
            }
        };
        Ok(Self { contents: paths.into_iter().map(|path| (path.clone(), content(path))).collect() })
    }

    /// Returns the committed content of a path.
    pub(crate) fn get(&self, path: &RepoPath) -> SideContent {
        self.contents.get(path).cloned().unwrap_or(SideContent::Lost)
    }

    /// Counts the lines that differ from the commit; `None` if a side is no text.
    pub(crate) fn changed_lines(&self, workspace: &Workspace, path: &RepoPath) -> Option<(usize, usize)> {
        let now = present_content(workspace, path);
        let sides = crate::file_sides::FileSides { before: self.get(path), after: now };
        let (before, after) = sides.texts().ok()?;
        Some(n_changed_lines(before, after))
    }
}
