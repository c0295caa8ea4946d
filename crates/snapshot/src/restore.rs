//! Writes an entry back, or removes it, for `probity revert`.
//!
//! Every step goes from handle to handle and follows no link, so nothing outside the tree can be written. The current
//! entry is first compared with what the caller expects; if it differs, someone has changed it since, and nothing is
//! done (`REVERT.CHANGED_SINCE`). A file is written next to its destination, synced, and moved there atomically. Owners
//! and extended attributes are not restored.

use crate::delta::EntryState;
use crate::entry_record::SnapshotEntryKind;
use crate::read::EntryReadError;
use crate::{sys, tree_handle};
use probity_core::ReasonCode;
use probity_paths::RepoPath;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::{Errno, Result as SysResult};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

/// The desired state of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WantedEntry<'a> {
    Nothing,
    File {
        bytes: &'a [u8],
        /// The twelve permission bits.
        mode: u32,
    },
    Symlink {
        target: &'a [u8],
    },
    Directory {
        /// The twelve permission bits.
        mode: u32,
    },
}

/// The reason an entry was not restored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{path}` was not restored: {detail}")]
pub struct RestoreError {
    pub path: RepoPath,
    /// `REVERT.CHANGED_SINCE` or `TREE.UNAVAILABLE`.
    pub reason: ReasonCode,
    /// Details for a person.
    pub detail: String,
}

/// A tree that can be written to.
pub struct TreeRestorer<'a> {
    root: OwnedFd,
    /// The earlier permission bits of directories; `None` for those that did not exist.
    dir_mode: &'a dyn Fn(&RepoPath) -> Option<u32>,
}

/// The reason a step failed.
enum RestoreFailure {
    Changed(String),
    System(Errno),
}

impl From<Errno> for RestoreFailure {
    fn from(error: Errno) -> Self {
        Self::System(error)
    }
}

impl From<EntryReadError> for RestoreFailure {
    fn from(trouble: EntryReadError) -> Self {
        match trouble {
            EntryReadError::Refused(error) => Self::System(error),
            changed => Self::Changed(changed.to_string()),
        }
    }
}

impl<'a> TreeRestorer<'a> {
    /// Opens the tree at `root`. `dir_mode` returns the permission bits of the directories that existed: missing ones
    /// are created again, and those that did not exist are removed once they are empty.
    pub fn open(root: &Path, dir_mode: &'a dyn Fn(&RepoPath) -> Option<u32>) -> std::io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self { root: rustix::fs::open(root, flags, Mode::empty())?, dir_mode })
    }

    /// Turns `path` into `wanted` if it currently is `present` (`None`: nothing). A directory can only be replaced if
    /// it is empty.
    pub fn restore(
        &self,
        path: &RepoPath,
        present: Option<&EntryState>,
        wanted: &WantedEntry<'_>,
    ) -> Result<(), RestoreError> {
        self.try_restore(path, present, wanted).map_err(|failure| {
            let (reason, detail) = match failure {
                RestoreFailure::Changed(detail) => (ReasonCode::RevertChangedSince, detail),
                RestoreFailure::System(error) => (ReasonCode::TreeUnavailable, error.to_string()),
            };
            RestoreError { path: path.clone(), reason, detail }
        })
    }

    fn try_restore(
        &self,
        path: &RepoPath,
        present: Option<&EntryState>,
        wanted: &WantedEntry<'_>,
    ) -> Result<(), RestoreFailure> {
        let Some(parent) = self.parent(path, *wanted != WantedEntry::Nothing)? else {
            return if present.is_none() {
                Ok(())
            } else {
                Err(RestoreFailure::Changed("it is gone".to_owned()))
            };
        };
        let name = path.file_name();
        let found = current_state(&parent, name)?;
        // A missing directory took nothing with it: it may just have been pruned.
        let was_dir = present.is_some_and(|side| side.kind == SnapshotEntryKind::Directory);
        let present = if found.is_none() && was_dir { None } else { present };
        if found.as_ref() != present {
            return Err(RestoreFailure::Changed(describe(found.as_ref())));
        }
        match *wanted {
            WantedEntry::Nothing => remove_entry(&parent, name, present)?,
            WantedEntry::Directory { mode } => {
                if present.is_none_or(|side| side.kind != SnapshotEntryKind::Directory) {
                    remove_entry(&parent, name, present)?;
                    rustix::fs::mkdirat(&parent, name, Mode::from_raw_mode(0o700))?;
                }
                set_mode(&sys::open_dir(&parent, name)?, mode)?;
            }
            WantedEntry::File { bytes, mode } => {
                let draft = write_draft(&parent, bytes, mode)?;
                move_into_place(&parent, &draft, name, present)?;
            }
            WantedEntry::Symlink { target } => {
                let draft = draft_name();
                rustix::fs::symlinkat(target, &parent, &draft[..])?;
                move_into_place(&parent, &draft, name, present)?;
            }
        }
        rustix::fs::fsync(&parent)?;
        if *wanted == WantedEntry::Nothing {
            self.prune(path)?;
        }
        Ok(())
    }

    /// Opens the directory that contains `path`. If it is missing, creates it if `make` is set, otherwise returns
    /// `None`.
    fn parent(&self, path: &RepoPath, make: bool) -> Result<Option<OwnedFd>, RestoreFailure> {
        let mut dir = sys::open_dir(&self.root, b".")?;
        let Some(parent) = path.parent() else { return Ok(Some(dir)) };
        let mut end = 0;
        for name in parent.segments() {
            end += name.len() + usize::from(end > 0);
            dir = match sys::open_dir(&dir, name) {
                Ok(below) => below,
                Err(Errno::NOENT) if !make => return Ok(None),
                Err(Errno::NOENT) => self.make_dir(&dir, name, &parent.as_bytes()[..end])?,
                Err(Errno::NOTDIR | Errno::LOOP) => {
                    return Err(RestoreFailure::Changed(
                        "a directory above it is no directory any more".to_owned(),
                    ));
                }
                Err(error) => return Err(error.into()),
            };
        }
        Ok(Some(dir))
    }

    fn make_dir(&self, dir: &OwnedFd, name: &[u8], path: &[u8]) -> SysResult<OwnedFd> {
        rustix::fs::mkdirat(dir, name, Mode::from_raw_mode(0o700))?;
        let new = sys::open_dir(dir, name)?;
        let mode = RepoPath::parse(path).ok().and_then(|path| (self.dir_mode)(&path));
        set_mode(&new, mode.unwrap_or(0o755))?;
        rustix::fs::fsync(dir)?;
        Ok(new)
    }

    /// Removes the directories above `path` that did not exist before and are empty now.
    fn prune(&self, path: &RepoPath) -> Result<(), RestoreFailure> {
        let mut above = path.parent();
        while let Some(dir) = above.filter(|dir| (self.dir_mode)(dir).is_none()) {
            let Some(parent) = self.parent(&dir, false)? else { return Ok(()) };
            match rustix::fs::unlinkat(&parent, dir.file_name(), AtFlags::REMOVEDIR) {
                Ok(()) => rustix::fs::fsync(&parent)?,
                Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOENT) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
            above = dir.parent();
        }
        Ok(())
    }
}

/// Returns the current state of `name`.
fn current_state(dir: &OwnedFd, name: &[u8]) -> Result<Option<EntryState>, RestoreFailure> {
    match sys::stat_at(dir, name) {
        Err(Errno::NOENT) => Ok(None),
        stat => Ok(Some(tree_handle::read_state(dir, name, stat?)?)),
    }
}

fn describe(found: Option<&EntryState>) -> String {
    match found {
        None => "it is gone".to_owned(),
        Some(side) => {
            format!("it is now a {} with mode {:04o} and other content", side.kind.name(), side.mode)
        }
    }
}

/// Removes the entry at `name`.
fn remove_entry(dir: &OwnedFd, name: &[u8], present: Option<&EntryState>) -> SysResult<()> {
    match present {
        None => Ok(()),
        Some(side) if side.kind == SnapshotEntryKind::Directory => {
            rustix::fs::unlinkat(dir, name, AtFlags::REMOVEDIR)
        }
        Some(_) => rustix::fs::unlinkat(dir, name, AtFlags::empty()),
    }
}

/// Writes a new file next to its destination; returns its name.
fn write_draft(dir: &OwnedFd, bytes: &[u8], mode: u32) -> SysResult<Vec<u8>> {
    let name = draft_name();
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(dir, &name[..], flags, Mode::from_raw_mode(0o600))?;
    let written =
        write_all(&file, bytes).and_then(|()| set_mode(&file, mode)).and_then(|()| rustix::fs::fsync(&file));
    if let Err(error) = written {
        // The first error is the one that matters.
        let _ = rustix::fs::unlinkat(dir, &name[..], AtFlags::empty());
        return Err(error);
    }
    Ok(name)
}

fn write_all(file: &OwnedFd, mut bytes: &[u8]) -> SysResult<()> {
    while !bytes.is_empty() {
        match rustix::io::write(file, bytes) {
            Ok(n) => bytes = &bytes[n..],
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Moves the draft into place. A directory is removed first, because nothing can be renamed over one.
fn move_into_place(dir: &OwnedFd, draft: &[u8], name: &[u8], present: Option<&EntryState>) -> SysResult<()> {
    let is_dir = present.is_some_and(|side| side.kind == SnapshotEntryKind::Directory);
    let room = if is_dir { remove_entry(dir, name, present) } else { Ok(()) };
    let placed = room.and_then(|()| rustix::fs::renameat(dir, draft, dir, name));
    if placed.is_err() {
        // The first error is the one that matters.
        let _ = rustix::fs::unlinkat(dir, draft, AtFlags::empty());
    }
    placed
}

fn set_mode(fd: &OwnedFd, mode: u32) -> SysResult<()> {
    let bits = u16::try_from(mode & 0o7777).expect("twelve bits fit");
    // The type of the raw mode differs between systems.
    rustix::fs::fchmod(fd, Mode::from_raw_mode(bits.into()))
}

/// Returns a name that nobody else uses.
fn draft_name() -> Vec<u8> {
    static N_DRAFTS: AtomicU32 = AtomicU32::new(0);
    let number = N_DRAFTS.fetch_add(1, Ordering::Relaxed);
    format!(".probity-{}-{number}.draft", std::process::id()).into_bytes()
}
