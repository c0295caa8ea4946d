//! Reads small files of a git directory, without following links or waiting for pipes.

use crate::entry_record::{EntryStat, SnapshotEntryKind};
use crate::sys;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::{Errno, Result};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;

/// Reads the regular file at `path`, if it has at most `limit` bytes.
pub(super) fn read(path: &Path, limit: u64) -> Result<Vec<u8>> {
    read_at(CWD, path.as_os_str().as_bytes(), limit)
}

/// Reads the regular file `name` below `dir`, if it has at most `limit` bytes.
pub(super) fn read_at(dir: impl AsFd, name: &[u8], limit: u64) -> Result<Vec<u8>> {
    let file = sys::open_file(dir, name)?;
    let stat = sys::stat_fd(&file)?;
    if stat.kind != SnapshotEntryKind::File {
        return Err(Errno::INVAL);
    }
    if stat.size > limit {
        return Err(Errno::FBIG);
    }
    let mut bytes = vec![0; usize::try_from(stat.size).map_err(|_| Errno::FBIG)?];
    let mut filled = 0;
    while filled < bytes.len() {
        match rustix::io::read(&file, &mut bytes[filled..]) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

/// Opens the directory at `path`, which was already resolved and is trusted.
pub(super) fn open_dir(path: &Path) -> Result<OwnedFd> {
    rustix::fs::open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

/// Maximum depth of a git directory, far beyond what git itself creates.
const MAX_GIT_DIR_DEPTH: usize = 128;

/// One entry of a walk.
pub(super) struct VisitedEntry<'a> {
    pub(super) dir: &'a OwnedFd,
    pub(super) name: &'a [u8],
    /// Path from the top of the walk.
    pub(super) path: &'a [u8],
    pub(super) stat: EntryStat,
}

/// A directory that is still to be walked.
struct PendingDirectory {
    /// Open as long as directories in it are pending, so that each is opened by its own name alone.
    parent: Rc<OwnedFd>,
    /// Path from the top of the walk.
    path: Vec<u8>,
}

impl PendingDirectory {
    fn open(&self) -> Result<OwnedFd> {
        if self.path.iter().filter(|&&byte| byte == b'/').count() >= MAX_GIT_DIR_DEPTH {
            return Err(Errno::NAMETOOLONG);
        }
        let name = self.path.rsplit(|&byte| byte == b'/').next().filter(|name| !name.is_empty());
        sys::open_dir(&*self.parent, name.unwrap_or(b"."))
    }
}

/// Walks everything below `top`, parents first.
pub(super) fn walk<V: DirectoryVisitor>(top: OwnedFd, visit: &mut V) {
    let mut buffer = Vec::with_capacity(16 * 1024);
    let mut todo = vec![PendingDirectory { parent: Rc::new(top), path: Vec::new() }];
    while let Some(pending) = todo.pop() {
        if let Err(error) = walk_one(&pending, &mut buffer, &mut todo, visit) {
            visit.on_error(&pending.path, error);
        }
    }
}

/// Callbacks of a walk.
pub(super) trait DirectoryVisitor {
    /// Called with the names in a directory.
    fn on_directory(&mut self, path: &[u8], names: &[&[u8]]);
    /// Called with each name below `path`, and its type if the listing tells it. Returns whether to look at the entry.
    fn wants(&mut self, _path: &[u8], _name: &[u8], _kind: Option<SnapshotEntryKind>) -> bool {
        true
    }
    /// Called for each entry. For a directory, returns whether to enter it.
    fn on_entry(&mut self, seen: &VisitedEntry<'_>) -> bool;
    /// Called when something could not be read.
    fn on_error(&mut self, path: &[u8], error: Errno);
}

fn walk_one<V: DirectoryVisitor>(
    pending: &PendingDirectory,
    buffer: &mut Vec<u8>,
    todo: &mut Vec<PendingDirectory>,
    visit: &mut V,
) -> Result<()> {
    let dir = Rc::new(pending.open()?);
    let path = &pending.path[..];
    let names = sys::list(&dir, buffer)?;
    visit.on_directory(path, &names.listed.iter().map(|&listed| names.name(listed)).collect::<Vec<_>>());
    for &listed in &names.listed {
        let name = names.name(listed);
        if !visit.wants(path, name, listed.kind) {
            continue;
        }
        let path = if path.is_empty() { name.to_vec() } else { [path, name].join(&b'/') };
        match sys::stat_at(&*dir, name) {
            // It vanished since it was listed.
            Err(Errno::NOENT) => {}
            Err(error) => visit.on_error(&path, error),
            Ok(stat) => {
                if visit.on_entry(&VisitedEntry { dir: &dir, name, path: &path, stat })
                    && stat.kind == SnapshotEntryKind::Directory
                {
                    todo.push(PendingDirectory { parent: Rc::clone(&dir), path });
                }
            }
        }
    }
    Ok(())
}
