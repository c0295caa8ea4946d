//! The upper layer of an overlay, read without mounting it.

use probity_paths::RepoPath;
use probity_snapshot::tree_handle::TreeHandle;
use probity_snapshot::{Snapshot, SnapshotEntryKind};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, Result as SysResult};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::Path;

const OPAQUE_ATTRIBUTE: &str = "user.overlay.opaque";

/// The part of a layer that belongs to a tree, above the tree as it was at the start.
pub(crate) struct LayerView<'a> {
    /// `None` if nothing below the root was changed.
    upper: Option<TreeHandle>,
    start: &'a Snapshot,
    directories: BTreeMap<RepoPath, DirectoryOrigin>,
}

/// What a directory of the view is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DirectoryOrigin {
    /// There is no directory of this name.
    None,
    /// The directory of the start alone.
    Below,
    /// Both, laid over each other.
    Merged,
    /// The layer alone.
    Layer,
}

impl<'a> LayerView<'a> {
    pub(crate) fn open(upper: &Path, start: &'a Snapshot) -> io::Result<Self> {
        let upper = match TreeHandle::open(upper) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            upper => Some(upper?),
        };
        Ok(Self { upper, start, directories: BTreeMap::new() })
    }

    /// Returns whether the view has a directory at `path`.
    pub(crate) fn has_directory(&mut self, path: &RepoPath) -> SysResult<bool> {
        Ok(self.origin(path)? != DirectoryOrigin::None)
    }

    fn origin(&mut self, path: &RepoPath) -> SysResult<DirectoryOrigin> {
        if let Some(origin) = self.directories.get(path) {
            return Ok(*origin);
        }
        let parent = match path.parent() {
            Some(parent) => self.origin(&parent)?,
            None => self.root_origin()?,
        };
        let was_directory =
            || self.start.get(path).is_some_and(|entry| entry.kind() == SnapshotEntryKind::Directory);
        let below = |is_seen: bool| {
            if is_seen && was_directory() { DirectoryOrigin::Below } else { DirectoryOrigin::None }
        };
        let origin = match parent {
            DirectoryOrigin::None => DirectoryOrigin::None,
            DirectoryOrigin::Below => below(true),
            DirectoryOrigin::Merged | DirectoryOrigin::Layer => match self.kind(path)? {
                None => below(parent == DirectoryOrigin::Merged),
                Some(SnapshotEntryKind::Directory) => {
                    let merges = parent == DirectoryOrigin::Merged && was_directory();
                    if merges && !self.is_opaque(path)? {
                        DirectoryOrigin::Merged
                    } else {
                        DirectoryOrigin::Layer
                    }
                }
                // A whiteout, or another entry in its place.
                Some(_) => DirectoryOrigin::None,
            },
        };
        self.directories.insert(path.clone(), origin);
        Ok(origin)
    }

    fn root_origin(&self) -> SysResult<DirectoryOrigin> {
        Ok(match &self.upper {
            None => DirectoryOrigin::Below,
            Some(upper) if is_opaque(upper)? => DirectoryOrigin::Layer,
            Some(_) => DirectoryOrigin::Merged,
        })
    }

    fn kind(&self, path: &RepoPath) -> SysResult<Option<SnapshotEntryKind>> {
        Ok(match &self.upper {
            None => None,
            Some(upper) => upper.kind_and_mode(path)?.map(|(kind, _)| kind),
        })
    }

    fn is_opaque(&self, path: &RepoPath) -> SysResult<bool> {
        match &self.upper {
            None => Ok(false),
            Some(upper) => is_opaque(&upper.directory(path)?),
        }
    }

    fn upper(&self) -> SysResult<&TreeHandle> {
        self.upper.as_ref().ok_or(Errno::NOENT)
    }

    /// Returns the permission bits of a directory of the layer.
    pub(crate) fn directory_mode(&self, path: &RepoPath) -> SysResult<u32> {
        match self.upper()?.kind_and_mode(path)? {
            Some((SnapshotEntryKind::Directory, mode)) => Ok(mode),
            _ => Err(Errno::NOTDIR),
        }
    }

    /// Opens the directory of the layer that contains `path`.
    pub(crate) fn parent_of(&self, path: &RepoPath) -> SysResult<OwnedFd> {
        self.upper()?.parent_of(path)
    }
}

/// Opens a file for reading, without following a link or waiting for a pipe.
pub(crate) fn open_file(directory: impl AsFd, name: &[u8]) -> SysResult<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    rustix::fs::openat(directory, name, flags, Mode::empty()).map(File::from)
}

fn is_opaque(directory: impl rustix::fd::AsFd) -> SysResult<bool> {
    let mut value = [0_u8; 1];
    match rustix::fs::fgetxattr(directory, OPAQUE_ATTRIBUTE, &mut value) {
        Ok(n) => Ok(n == 1 && value == *b"y"),
        Err(Errno::NODATA | Errno::RANGE | Errno::OPNOTSUPP) => Ok(false),
        Err(error) => Err(error),
    }
}
