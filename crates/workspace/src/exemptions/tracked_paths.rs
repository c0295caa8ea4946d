//! What git tracked at the start of a run: committed or staged.

use crate::refs::NestedRepository;
use crate::{Workspace, git};
use probity_paths::RepoPath;
use probity_snapshot::Snapshot;
use probity_snapshot::git::HeadTree;
use std::collections::BTreeSet;

/// The paths that git tracks, with the directories above them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrackedPaths {
    /// These; without git none.
    Known(BTreeSet<RepoPath>),
    /// Git gave no answer. Then whatever was there at the start counts as tracked (law 13).
    Unknown,
}

impl Default for TrackedPaths {
    fn default() -> Self {
        Self::Known(BTreeSet::new())
    }
}

impl TrackedPaths {
    /// What is committed in HEAD or staged in the index of a workspace and of every repository inside it; `None` for
    /// `committed` says that git gave no answer.
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

    /// These paths, and the directories above them.
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

    /// Whether git tracks `path`, or something below it. `was_there` says that the path existed at the start.
    pub fn contains(&self, path: &RepoPath, was_there: bool) -> bool {
        match self {
            Self::Known(paths) => paths.contains(path),
            Self::Unknown => was_there,
        }
    }

    /// Whether git may track `path`, or something below it.
    pub fn may_contain(&self, path: &RepoPath) -> bool {
        self.contains(path, true)
    }
}
