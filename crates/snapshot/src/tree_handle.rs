//! A tree whose entries are reached through handles, for writing to it.
//!
//! Every path is resolved below the root, through real directories only: a link on the way is refused, so that nothing
//! outside the tree can be read or written however the tree changes meanwhile.

use crate::delta::EntryState;
use crate::entry_record::{EntryContent, EntryFacts, EntryRecord, EntryStat, SnapshotEntryKind};
use crate::read::{self, EntryReadError, FileReader};
use crate::snapshot::Snapshot;
use crate::sys;
use probity_core::Digest;
use probity_paths::RepoPath;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, Result as SysResult};
use std::io;
use std::path::Path;

/// The root directory of a tree, held open.
#[derive(Debug)]
pub struct TreeHandle {
    root: OwnedFd,
    mount: Option<u64>,
    device: u64,
    times_tell: bool,
}

/// An object of the file system, whatever its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObjectIdentity {
    pub device: u64,
    pub inode: u64,
}

impl TreeHandle {
    pub fn open(root: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::open(root, flags, Mode::empty())?;
        let stat = sys::stat_fd(&root)?;
        let times_tell = sys::times_tell(&root);
        Ok(Self { root, mount: stat.mount, device: stat.device, times_tell })
    }

    /// Returns whether entries can be renamed between the two trees.
    pub fn shares_mount_with(&self, other: &Self) -> bool {
        (self.mount, self.device) == (other.mount, other.device)
    }

    /// Opens the directory that contains `path`.
    pub fn parent_of(&self, path: &RepoPath) -> SysResult<OwnedFd> {
        match path.parent() {
            Some(parent) => self.directory(&parent),
            None => sys::open_dir(&self.root, b"."),
        }
    }

    /// Opens the directory at `path`. A link, or a mount point, on the way or at its end is an error.
    pub fn directory(&self, path: &RepoPath) -> SysResult<OwnedFd> {
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::ResolveFlags;
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let resolve = ResolveFlags::BENEATH
                | ResolveFlags::NO_SYMLINKS
                | ResolveFlags::NO_MAGICLINKS
                | ResolveFlags::NO_XDEV;
            match rustix::fs::openat2(&self.root, path.as_bytes(), flags, Mode::empty(), resolve) {
                // Old kernels do not have the call, and long paths do not fit into it.
                Err(Errno::NOSYS | Errno::NAMETOOLONG) => {}
                opened => return opened,
            }
        }
        let mut directory = sys::open_dir(&self.root, b".")?;
        for name in path.segments() {
            directory = sys::open_dir(&directory, name)?;
        }
        if sys::stat_fd(&directory)?.mount == self.mount { Ok(directory) } else { Err(Errno::XDEV) }
    }

    /// Returns the state of `name` in `directory`, or `None` if there is no such entry. The content is not read if
    /// `known` has the entry at `path` and nothing about it changed since.
    pub fn state(
        &self,
        directory: impl AsFd,
        name: &[u8],
        known: Option<(&Snapshot, &RepoPath)>,
    ) -> io::Result<Option<EntryState>> {
        let stat = match sys::stat_at(&directory, name) {
            Err(Errno::NOENT) => return Ok(None),
            stat => stat?,
        };
        if let Some((snapshot, path)) = known.filter(|_| self.times_tell)
            && let Some((dir, place)) = snapshot.find(path.segments())
            && let record = &dir.records[place]
            && record.held.digest().is_some()
            && record.held.kind() == stat.kind
            && record.facts == EntryFacts::from(&stat)
            && record.is_older_than(snapshot.settled_ns())
        {
            return Ok(Some(EntryState::of(record)));
        }
        match read_state(directory, name, stat) {
            Ok(state) => Ok(Some(state)),
            Err(EntryReadError::Refused(error)) => Err(error.into()),
            Err(changed) => Err(io::Error::other(changed.to_string())),
        }
    }

    /// Returns the permission bits and type of the entry at `path` without reading it; `None` if there is none.
    pub fn kind_and_mode(&self, path: &RepoPath) -> SysResult<Option<(SnapshotEntryKind, u32)>> {
        let parent = match self.parent_of(path) {
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
            parent => parent?,
        };
        match sys::stat_at(&parent, path.file_name()) {
            Err(Errno::NOENT) => Ok(None),
            stat => stat.map(|stat| Some((stat.kind, stat.mode.into()))),
        }
    }
}

impl AsFd for TreeHandle {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.root.as_fd()
    }
}

impl ObjectIdentity {
    /// Returns the identity of `name` in `directory`; `None` if there is no such entry.
    pub fn of(directory: impl AsFd, name: &[u8]) -> SysResult<Option<Self>> {
        match sys::stat_at(directory, name) {
            Err(Errno::NOENT) => Ok(None),
            stat => stat.map(|stat| Some(Self { device: stat.device, inode: stat.inode })),
        }
    }
}

/// Returns the names in a directory without `.` and `..`, sorted, each with whether it is a directory.
pub fn list_directory(directory: &OwnedFd) -> SysResult<Vec<(Vec<u8>, bool)>> {
    let names = sys::list_again(directory, &mut Vec::with_capacity(32 * 1024))?;
    let with_kind = |listed: &sys::ListedName| {
        let name = names.name(*listed).to_vec();
        let kind = match listed.kind {
            Some(kind) => kind,
            None => sys::stat_at(directory, &name)?.kind,
        };
        Ok((name, kind == SnapshotEntryKind::Directory))
    };
    names.listed.iter().map(with_kind).collect()
}

/// Reads the entry `name`, whose metadata is `stat`.
pub(crate) fn read_state(
    directory: impl AsFd,
    name: &[u8],
    stat: EntryStat,
) -> Result<EntryState, EntryReadError> {
    let (stat, held) = match stat.kind {
        SnapshotEntryKind::File => {
            let (stat, digest) = FileReader::new(None).file(directory, name, &mut Vec::new())?;
            (stat, EntryContent::File(Some(digest)))
        }
        SnapshotEntryKind::Symlink => {
            let (stat, target) = read::link(directory, name)?;
            (stat, EntryContent::Symlink(Some(Digest::of(&target))))
        }
        _ => (stat, EntryContent::unread(&stat)),
    };
    Ok(EntryState::of(&EntryRecord { name: (0, 0), facts: EntryFacts::from(&stat), held }))
}
