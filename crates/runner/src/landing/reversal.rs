//! A landing in reverse: what it took out of the tree goes back, with the same steps and checks.

use super::check::{DirectoryFacts, check_changes};
use super::journal::{LandingDirectory, LandingJournal, LandingProgress, LandingStep};
use super::stage::{EntrySource, slot_name};
use super::{LandingOutcome, exchange, open, recovery};
use probity_core::ChangeKind;
use probity_paths::RepoPath;
use probity_snapshot::tree_handle::TreeHandle;
use probity_snapshot::{EntryState, Snapshot, SnapshotEntryKind, TreeChange};
use probity_storage::FileLock;
use probity_workspace::{ServiceError, Workspace};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// The changes that undo a landing.
#[derive(Debug)]
pub(crate) struct LandingReversal {
    pub(crate) changes: Vec<TreeChange>,
    slots: TreeHandle,
    contents: BTreeMap<RepoPath, u32>,
    /// Directories that the landing made.
    made: BTreeSet<RepoPath>,
    /// Directories that it removed, with their permission bits.
    removed: BTreeMap<RepoPath, u32>,
}

impl LandingReversal {
    /// Reads what the run landed on this tree; `None` if it did not land here.
    pub(crate) fn find(workspace: &Workspace, run_id: &str) -> Result<Option<Self>, ServiceError> {
        let directory = LandingDirectory::at(workspace.state.landing(run_id, &workspace.root));
        if directory.progress() != LandingProgress::Landed {
            return Ok(None);
        }
        let journal = directory.read()?;
        let mut reversal = Self {
            changes: Vec::new(),
            slots: open(&directory.exchange())?,
            contents: BTreeMap::new(),
            made: BTreeSet::new(),
            removed: BTreeMap::new(),
        };
        let explicit: BTreeSet<&RepoPath> = journal.paths.iter().collect();
        for step in &journal.steps {
            reversal.add(step, explicit.contains(step.path()), &journal);
        }
        reversal.changes.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(Some(reversal))
    }

    fn add(&mut self, step: &LandingStep, is_explicit: bool, journal: &LandingJournal) {
        let path = step.path().clone();
        let directory =
            |mode: u32| EntryState { kind: SnapshotEntryKind::Directory, mode, size: 0, digest: None };
        match step {
            LandingStep::Remove { slot, before, .. } => {
                self.contents.insert(path.clone(), *slot);
                self.changes.push(change(path, None, Some(*before)));
            }
            LandingStep::Replace { slot, before, after, .. } => {
                self.contents.insert(path.clone(), *slot);
                self.changes.push(change(path, Some(*after), Some(*before)));
            }
            LandingStep::Add { after, .. } => self.changes.push(change(path, Some(*after), None)),
            LandingStep::MakeDirectory { .. } => {
                let mode = journal.steps.iter().find_map(|step| match step {
                    LandingStep::SetMode { path: of, mode, .. } if *of == path => Some(*mode),
                    _ => None,
                });
                if is_explicit {
                    self.changes.push(change(path, mode.map(directory), None));
                } else {
                    self.made.insert(path);
                }
            }
            LandingStep::RemoveDirectory { before, .. } if is_explicit => {
                self.changes.push(change(path, None, Some(directory(*before))));
            }
            LandingStep::RemoveDirectory { before, .. } => drop(self.removed.insert(path, *before)),
            LandingStep::SetMode { before: Some(before), mode, .. } => {
                self.changes.push(change(path, Some(directory(*mode)), Some(directory(*before))));
            }
            LandingStep::SetMode { before: None, .. } | LandingStep::OpenDirectory { .. } => {}
        }
    }

    /// Lands the reversal as the landing `run_id`, at `paths` or everywhere if that is empty.
    pub(crate) fn land(
        &mut self,
        workspace: &Workspace,
        run_id: &str,
        now: &Snapshot,
        paths: &[RepoPath],
    ) -> Result<LandingOutcome, ServiceError> {
        let _alone = FileLock::take(&workspace.state.landing_lock(&workspace.root))?;
        recovery::recover_locked(workspace)?;
        let tree = open(&workspace.root)?;
        let is_meant = |change: &&TreeChange| paths.is_empty() || paths.contains(&change.path);
        let changes: Vec<TreeChange> = self.changes.iter().filter(is_meant).cloned().collect();
        let steps = match check_changes(&tree, self, now, &changes)? {
            Ok(steps) => steps,
            Err(conflicts) => return Ok(LandingOutcome::Conflict { conflicts }),
        };
        let paths = changes.into_iter().map(|change| change.path).collect();
        exchange(workspace, &tree, &*self, LandingJournal { run_id: run_id.to_owned(), paths, steps })
    }
}

fn change(path: RepoPath, before: Option<EntryState>, after: Option<EntryState>) -> TreeChange {
    let change = match (before.is_some(), after.is_some()) {
        (false, _) => ChangeKind::Added,
        (true, false) => ChangeKind::Deleted,
        (true, true) => ChangeKind::Modified,
    };
    TreeChange { path, change, before, after }
}

impl DirectoryFacts for LandingReversal {
    fn has_directory(&mut self, path: &RepoPath) -> rustix::io::Result<bool> {
        Ok(!self.made.contains(path))
    }

    fn directory_mode(&self, path: &RepoPath) -> rustix::io::Result<u32> {
        if let Some(mode) = self.removed.get(path) {
            return Ok(*mode);
        }
        // It left the tree inside of a directory that was replaced.
        let mut above = path.parent();
        while let Some(directory) = above {
            if let Some(slot) = self.contents.get(&directory) {
                let below = &path.as_bytes()[directory.as_bytes().len()..];
                let inside =
                    RepoPath::parse(&[&slot_name(*slot), below].concat()).map_err(|_| Errno::INVAL)?;
                return match self.slots.kind_and_mode(&inside)? {
                    Some((SnapshotEntryKind::Directory, mode)) => Ok(mode),
                    _ => Err(Errno::NOENT),
                };
            }
            above = directory.parent();
        }
        Err(Errno::NOENT)
    }
}

impl EntrySource for LandingReversal {
    fn open(&self, path: &RepoPath) -> io::Result<(OwnedFd, Vec<u8>)> {
        let slot = self.contents.get(path).ok_or(io::ErrorKind::NotFound)?;
        Ok((self.slots.as_fd().try_clone_to_owned()?, slot_name(*slot)))
    }
}
