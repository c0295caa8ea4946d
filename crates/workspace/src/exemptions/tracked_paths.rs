//! The paths git tracked at the start of a run, committed or staged.

use crate::refs::NestedRepository;
use crate::{Workspace, git};
use probity_paths::RepoPath;
use probity_snapshot::Snapshot;
use probity_snapshot::git::HeadTree;
use std::collections::BTreeSet;

/// Tracked paths and the directories above them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrackedPaths {
    /// Empty without git.
    Known(BTreeSet<RepoPath>),
    /// Git gave no answer. Everything that existed at the start then counts as tracked (law 13).
    Unknown,
}

impl Default for TrackedPaths {
    fn default() -> Self {
        Self::Known(BTreeSet::new())
    }
}

impl TrackedPaths {
    /// Collects the paths that are committed in HEAD or staged, in the workspace and every repository inside it.
    /// `committed` is `None` if git gave no answer.
    pub fn of(workspace: &Workspace, committed: Option<&HeadTree>, start: &Snapshot) -> Self {
        let nested: Result<Vec<_>, _> = NestedRepository::find_all(workspace, start)
            .iter()
            .map(|repository| git::tracked_paths(repository.layout(), repository.path()))
            .collect();
        match (committed, git::staged_paths(workspace), nested) {
            (Some(committed), Ok(staged), Ok(nested)) => {
                Self::with_directories(staged.iter().chain(committed.keys()).chain(nested.iter().flatten()))
            }
            _ => Self::Unknown,
        }
    }

    pub fn with_directories<'a>(paths: impl IntoIterator<Item = &'a RepoPath>) -> Self {
        let mut all = BTreeSet::new();
        for path in paths {
            let mut next = Some(path.clone());
            while let Some(path) = next {
                next = path.parent();
                if !all.insert(path) {
                    break;
                }
            }
        }
        Self::Known(all)
    }

    /// Returns whether git tracks `path` or something below it. `was_there` means that the path existed at the start.
    pub fn contains(&self, path: &RepoPath, was_there: bool) -> bool {
        match self {
            Self::Known(paths) => paths.contains(path),
            Self::Unknown => was_there,
        }
    }

    /// Like [`Self::contains`] for a path that may have existed at the start.
    pub fn may_contain(&self, path: &RepoPath) -> bool {
        self.contains(path, true)
    }
}
