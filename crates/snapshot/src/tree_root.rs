//! The root directory of a tree, held open.
//!
//! Every snapshot through the same handle sees the same directory, whatever is put in its place meanwhile.

use crate::entry_record::EntryStat;
use crate::sys;
use probity_core::ReasonCode;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{CWD, Mode, OFlags};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Why there is no snapshot at all.
#[derive(Debug, thiserror::Error)]
#[error("cannot see the tree `{}`: {detail}", root.display())]
pub struct TreeError {
    /// The root of the tree.
    pub root: PathBuf,
    /// `TREE.UNAVAILABLE` or `TREE.UNSTABLE`.
    pub reason: ReasonCode,
    /// What the system says.
    pub detail: String,
}

/// Which directory a root is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RootIdentity {
    pub device: u64,
    pub inode: u64,
    /// Its ctime, in nanoseconds since 1970.
    pub changed_ns: i64,
}

/// A directory that is held open, and the path where it was found.
#[derive(Debug)]
pub struct TreeRoot {
    path: PathBuf,
    directory: OwnedFd,
}

impl TreeRoot {
    /// Opens the directory at `path`; the path is resolved first.
    pub fn open(path: &Path) -> Result<Self, TreeError> {
        let refused = |error: std::io::Error| TreeError {
            root: path.to_owned(),
            reason: ReasonCode::TreeUnavailable,
            detail: error.to_string(),
        };
        let real = path.canonicalize().map_err(refused)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory =
            rustix::fs::open(&real, flags, Mode::empty()).map_err(|error| refused(error.into()))?;
        Ok(Self { path: real, directory })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns another handle of the same directory, whose reading position is its own.
    pub(crate) fn reopen(&self) -> rustix::io::Result<OwnedFd> {
        sys::open_dir(&self.directory, b".")
    }

    /// Returns whether the path still leads to this directory itself, and not to a link or to another directory.
    pub fn is_in_place(&self) -> bool {
        let identity = |stat: EntryStat| (stat.kind, stat.device, stat.inode, stat.born_ns);
        let here = sys::stat_fd(&self.directory).map(identity);
        let there = sys::stat_at(CWD, self.path.as_os_str().as_bytes()).map(identity);
        matches!((here, there), (Ok(here), Ok(there)) if here == there)
    }

    /// Returns the device and inode of the directory, and when it last changed.
    pub fn identity(&self) -> Option<RootIdentity> {
        let stat = sys::stat_fd(&self.directory).ok()?;
        Some(RootIdentity { device: stat.device, inode: stat.inode, changed_ns: stat.ctime_ns })
    }

    /// Returns whether every change of an entry, also a rename, shows in its ctime.
    pub fn changes_show_in_times(&self) -> bool {
        sys::renames_are_stamped(&self.directory)
    }

    /// Returns the twelve permission bits of the directory.
    pub fn mode(&self) -> Option<u32> {
        sys::stat_fd(&self.directory).ok().map(|stat| stat.mode.into())
    }
}

impl AsFd for TreeRoot {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }
}
