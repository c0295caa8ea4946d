//! Makes the steps of a decided landing, or takes them back.
//!
//! Each step is one rename between the tree and a slot, so that it was made or was not. Whether it was is told by the
//! slot alone, which nobody else writes to: a step can be tried again after a kill. What a rename brings out of the tree
//! must be what was there when the landing was checked. If somebody changed it in between, everything is taken back.

use super::check::{ParentDirectory, describe};
use super::journal::{LandingJournal, LandingStep, StagedObject};
use super::stage::{MAX_SINGLE_FLUSHES, flush_file_system, slot_name};
use super::{LandingConflict, crash_point};
use probity_core::ReasonCode;
use probity_paths::RepoPath;
use probity_snapshot::tree_handle::{ObjectIdentity, TreeHandle, list_directory};
use probity_snapshot::{EntryState, SnapshotEntryKind};
use probity_workspace::ServiceError;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::io;

/// Why a landing cannot be completed.
pub(super) enum StepFailure {
    /// The tree changed since it was checked.
    Conflict(LandingConflict),
    System(ServiceError),
}

/// A landing in progress.
pub(super) struct LandingExecution<'a> {
    pub(super) tree: &'a TreeHandle,
    pub(super) slots: &'a TreeHandle,
    pub(super) journal: &'a LandingJournal,
}

impl LandingExecution<'_> {
    /// Makes every step that was not made yet. Everything is durable when this returns.
    pub(super) fn forward(&self) -> Result<(), StepFailure> {
        let mut parents = ParentDirectory::default();
        for step in &self.journal.steps {
            self.make(step, &mut parents)?;
            crash_point::pass();
        }
        self.flush().map_err(StepFailure::System)
    }

    /// Takes every step back that was made. Returns the paths that somebody else has changed since, which are left
    /// alone; what was there before the landing is then in their slots.
    pub(super) fn back(&self) -> Result<Vec<RepoPath>, ServiceError> {
        let mut left = Vec::new();
        let mut parents = ParentDirectory::default();
        for step in self.journal.steps.iter().rev() {
            let is_back = match self.unmake(step, &mut parents) {
                // A directory above it is gone, and the path with it.
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => false,
                unmade => unmade.map_err(|error| failure(step.path(), error))?,
            };
            if !is_back {
                left.push(step.path().clone());
            }
            crash_point::pass();
        }
        self.flush()?;
        Ok(left)
    }

    fn make(&self, step: &LandingStep, parents: &mut ParentDirectory) -> Result<(), StepFailure> {
        let path = step.path();
        match self.try_make(step, parents) {
            Ok(None) => Ok(()),
            Ok(Some(detail)) => Err(conflict(path, detail)),
            // Directories above the path are not there any more.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {
                Err(conflict(path, "a directory above it is gone"))
            }
            Err(error) => Err(StepFailure::System(failure(path, error))),
        }
    }

    /// Makes a step; returns what is wrong with the tree, if anything.
    fn try_make(&self, step: &LandingStep, parents: &mut ParentDirectory) -> Result<Option<String>, Errno> {
        let path = step.path();
        let name = path.file_name();
        match step {
            LandingStep::Remove { slot, before, .. } => {
                let slot = slot_name(*slot);
                // Made before a kill; the directory that held the entry may be gone since.
                if self.identity(&slot)?.is_some() {
                    return Ok(self.difference(&slot, before));
                }
                let flags = RenameFlags::NOREPLACE;
                let directory = parents.open(self.tree, path);
                match directory
                    .and_then(|from| rustix::fs::renameat_with(from, name, self.slots, &slot[..], flags))
                {
                    // Somebody else removed it, too.
                    Err(Errno::NOENT) => return Ok(None),
                    done => done?,
                }
                Ok(self.difference(&slot, before))
            }
            LandingStep::Replace { slot, staged, before, .. } => {
                let slot = slot_name(*slot);
                if self.identity(&slot)?.as_ref() == Some(staged) {
                    let directory = parents.open(self.tree, path)?;
                    rustix::fs::renameat_with(directory, name, self.slots, &slot[..], RenameFlags::EXCHANGE)?;
                    // The name of the directory may lead to another one now.
                    parents.forget();
                }
                Ok(self.difference(&slot, before))
            }
            LandingStep::Add { slot, .. } => {
                let slot = slot_name(*slot);
                if self.identity(&slot)?.is_none() {
                    return Ok(None);
                }
                let directory = parents.open(self.tree, path)?;
                match rustix::fs::renameat_with(
                    self.slots,
                    &slot[..],
                    directory,
                    name,
                    RenameFlags::NOREPLACE,
                ) {
                    Err(Errno::EXIST) => Ok(Some("somebody else made an entry of this name".to_owned())),
                    done => done.map(|()| None),
                }
            }
            LandingStep::MakeDirectory { .. } => {
                let directory = parents.open(self.tree, path)?;
                match rustix::fs::mkdirat(directory, name, Mode::from_raw_mode(0o700)) {
                    Err(Errno::EXIST) => match self.tree.directory(path) {
                        Ok(_) => Ok(None),
                        Err(_) => Ok(Some("somebody else made an entry of this name".to_owned())),
                    },
                    done => done.map(|()| None),
                }
            }
            LandingStep::RemoveDirectory { .. } => match self.remove_directory(path) {
                // Somebody put something into it: it stays. Or the directory above was replaced by a file and took it along.
                Ok(()) | Err(Errno::NOENT | Errno::NOTDIR | Errno::NOTEMPTY | Errno::EXIST | Errno::BUSY) => {
                    Ok(None)
                }
                Err(error) => Err(error),
            },
            LandingStep::OpenDirectory { mode, .. } | LandingStep::SetMode { mode, .. } => {
                self.set_mode(path, *mode).map(|()| None)
            }
        }
    }

    /// Takes a step back. Returns false if somebody else has changed the path since.
    fn unmake(&self, step: &LandingStep, parents: &mut ParentDirectory) -> Result<bool, Errno> {
        let path = step.path();
        let name = path.file_name();
        let flags = RenameFlags::NOREPLACE;
        match step {
            LandingStep::Remove { slot, .. } => {
                let slot = slot_name(*slot);
                if self.identity(&slot)?.is_none() {
                    return Ok(true);
                }
                let directory = parents.open(self.tree, path)?;
                match rustix::fs::renameat_with(self.slots, &slot[..], directory, name, flags) {
                    Err(Errno::EXIST) => Ok(false),
                    done => done.map(|()| true),
                }
            }
            LandingStep::Replace { slot, staged, after, .. } => {
                let slot = slot_name(*slot);
                if self.identity(&slot)?.as_ref() == Some(staged) {
                    return Ok(true);
                }
                let directory = parents.open(self.tree, path)?;
                rustix::fs::renameat_with(directory, name, self.slots, &slot[..], RenameFlags::EXCHANGE)?;
                let is_ours = self.identity(&slot)?.as_ref() == Some(staged)
                    && (after.kind == SnapshotEntryKind::Directory
                        || self.difference(&slot, after).is_none());
                if !is_ours {
                    // Somebody has changed what landed: theirs stays, and what was there before is kept in the slot.
                    rustix::fs::renameat_with(directory, name, self.slots, &slot[..], RenameFlags::EXCHANGE)?;
                }
                parents.forget();
                Ok(is_ours)
            }
            LandingStep::Add { slot, staged, after, .. } => {
                let slot = slot_name(*slot);
                if self.identity(&slot)?.is_some() {
                    return Ok(true);
                }
                let directory = parents.open(self.tree, path)?;
                match rustix::fs::renameat_with(directory, name, self.slots, &slot[..], flags) {
                    Err(Errno::NOENT) => return Ok(true),
                    done => done?,
                }
                let is_ours =
                    self.identity(&slot)?.as_ref() == Some(staged) && self.difference(&slot, after).is_none();
                if !is_ours {
                    rustix::fs::renameat_with(self.slots, &slot[..], directory, name, flags)?;
                }
                Ok(is_ours)
            }
            LandingStep::MakeDirectory { .. } => match self.remove_directory(path) {
                Err(Errno::NOENT) => Ok(true),
                Err(Errno::NOTEMPTY | Errno::EXIST | Errno::BUSY | Errno::NOTDIR) => Ok(false),
                done => done.map(|()| true),
            },
            LandingStep::RemoveDirectory { before, .. } => {
                let directory = match parents.open(self.tree, path) {
                    // A file stands in place of the directory above, which comes back with what was in it.
                    Err(Errno::NOTDIR) => return Ok(true),
                    opened => opened?,
                };
                match rustix::fs::mkdirat(directory, name, Mode::from_raw_mode(0o700)) {
                    Err(Errno::EXIST) => Ok(true),
                    done => {
                        done?;
                        self.set_mode(path, *before).map(|()| true)
                    }
                }
            }
            LandingStep::OpenDirectory { before, .. } => self.set_mode(path, *before).map(|()| true),
            // Writable until the steps before are taken back, too.
            LandingStep::SetMode { before: Some(before), mode, .. } => {
                let opened = if before & 0o300 == 0o300 { *before } else { mode | 0o700 };
                self.set_mode(path, opened).map(|()| true)
            }
            LandingStep::SetMode { before: None, .. } => {
                match self.set_mode(path, 0o700) {
                    // It was not made.
                    Err(Errno::NOENT | Errno::NOTDIR) => Ok(true),
                    done => done.map(|()| true),
                }
            }
        }
    }

    fn identity(&self, slot: &[u8]) -> Result<Option<StagedObject>, Errno> {
        Ok(ObjectIdentity::of(self.slots, slot)?.map(Into::into))
    }

    /// Returns how the entry in a slot differs from what was expected.
    fn difference(&self, slot: &[u8], expected: &EntryState) -> Option<String> {
        let found = match self.slots.state(self.slots, slot, None) {
            Ok(found) => found,
            Err(error) => return Some(error.to_string()),
        };
        if found.as_ref() != Some(expected) {
            return Some(describe(found.as_ref()));
        }
        let is_empty = expected.kind != SnapshotEntryKind::Directory || self.holds_directories_only(slot);
        (!is_empty).then(|| "somebody put something into this directory".to_owned())
    }

    fn holds_directories_only(&self, slot: &[u8]) -> bool {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let open =
            |from: &dyn AsFd, name: &[u8]| rustix::fs::openat(from.as_fd(), name, flags, Mode::empty());
        let mut waiting: Vec<OwnedFd> = match open(&self.slots.as_fd(), slot) {
            Ok(directory) => vec![directory],
            Err(_) => return false,
        };
        while let Some(directory) = waiting.pop() {
            let Ok(names) = list_directory(&directory) else { return false };
            for (name, is_directory) in names {
                match open(&directory.as_fd(), &name) {
                    Ok(child) if is_directory => waiting.push(child),
                    _ => return false,
                }
            }
        }
        true
    }

    fn remove_directory(&self, path: &RepoPath) -> Result<(), Errno> {
        rustix::fs::unlinkat(self.tree.parent_of(path)?, path.file_name(), AtFlags::REMOVEDIR)
    }

    fn set_mode(&self, path: &RepoPath, mode: u32) -> Result<(), Errno> {
        let bits = u16::try_from(mode & 0o7777).expect("twelve bits fit");
        // A directory without permission to read can still be reached by a path handle, but not be changed by it.
        match self.tree.directory(path) {
            Err(Errno::ACCESS) => {
                let parent = self.tree.parent_of(path)?;
                rustix::fs::chmodat(
                    parent,
                    path.file_name(),
                    Mode::from_raw_mode(bits.into()),
                    AtFlags::SYMLINK_NOFOLLOW,
                )
            }
            directory => rustix::fs::fchmod(directory?, Mode::from_raw_mode(bits.into())),
        }
    }

    /// Makes all renames durable.
    fn flush(&self) -> Result<(), ServiceError> {
        let failed = |error: io::Error| ServiceError::System {
            what: "cannot write the landed changes to disk".to_owned(),
            source: error,
        };
        let mut parents: BTreeSet<Option<RepoPath>> =
            self.journal.steps.iter().map(|step| step.path().parent()).collect();
        tracing::trace!(target: "probity::work", fsyncs = parents.len() as u64 + 1);
        if parents.len() > MAX_SINGLE_FLUSHES {
            return flush_file_system(self.tree).map_err(|error| failed(error.into()));
        }
        if parents.remove(&None) {
            rustix::fs::fsync(self.tree).map_err(|error| failed(error.into()))?;
        }
        for parent in parents.iter().flatten() {
            match self.tree.directory(parent) {
                Ok(directory) => rustix::fs::fsync(directory).map_err(|error| failed(error.into()))?,
                // It was removed, or nobody may read it: the directory above it is flushed as well.
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::ACCESS) => {}
                Err(error) => return Err(failed(error.into())),
            }
        }
        rustix::fs::fsync(self.slots).map_err(|error| failed(error.into()))
    }
}

fn conflict(path: &RepoPath, detail: impl Into<String>) -> StepFailure {
    let (path, detail) = (path.clone(), detail.into());
    StepFailure::Conflict(LandingConflict { path, reason: ReasonCode::LandConflict, detail })
}

fn failure(path: &RepoPath, error: Errno) -> ServiceError {
    ServiceError::System { what: format!("cannot land `{path}`"), source: error.into() }
}
