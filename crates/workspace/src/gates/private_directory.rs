//! A private, empty directory for one gate, for the files that Python would otherwise write into the tree, or for the
//! temporary files of a command that may not write elsewhere.
//!
//! It is removed on drop. A killed supervisor cannot do that, so it locks the directory for its lifetime, and the next
//! gates of the same user remove every such directory that is not locked. A lock is used rather than a process id
//! because ids are reused.

use rustix::fs::{FlockOperation, Mode, OFlags, flock, fstat, open};
use rustix::io::Errno;
use std::fs::{Metadata, Permissions, read_dir, remove_dir_all};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use tempfile::TempDir;

const NAME_PREFIX: &str = "probity-gate-";

/// Attempts to create a directory when a concurrent cleanup removes it before it is locked.
const MAX_LOST_RACES: usize = 8;

/// A locked directory, removed on drop.
#[derive(Debug)]
pub struct PrivateDirectory {
    directory: TempDir,
    /// Closed after the directory is removed, and not inherited by the gate. `None` where the file system has no locks:
    /// nobody can then tell that the owner is gone, so nobody removes the directory.
    _held: Option<OwnedFd>,
}

impl PrivateDirectory {
    /// Creates a directory outside the tree: in the system's temporary directory, or in `fallback` if that is inside
    /// the tree.
    pub fn create(root: &Path, fallback: &Path) -> io::Result<Self> {
        let place = std::env::temp_dir();
        let is_in_tree = place.canonicalize().is_ok_and(|place| place.starts_with(root));
        Self::create_in(if is_in_tree { fallback } else { &place })
    }

    fn create_in(place: &Path) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(NAME_PREFIX).permissions(Permissions::from_mode(0o700));
        for _ in 0..MAX_LOST_RACES {
            let directory = builder.tempdir_in(place)?;
            match hold(directory.path()) {
                Ok(DirectoryHold::Held(held)) => return Ok(Self { directory, _held: Some(held) }),
                Ok(DirectoryHold::Lost) => {}
                Err(_) => return Ok(Self { directory, _held: None }),
            }
        }
        Err(io::Error::other("new directories for gates are taken away at once"))
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }
}

enum DirectoryHold {
    Held(OwnedFd),
    /// Not a directory of this user, locked by another process, or gone.
    Lost,
}

/// Locks a directory of this user. An error means that locks do not work there.
fn hold(path: &Path) -> io::Result<DirectoryHold> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Ok(held) = open(path, flags, Mode::empty()) else { return Ok(DirectoryHold::Lost) };
    let facts = fstat(&held)?;
    if facts.st_uid != rustix::process::geteuid().as_raw() {
        return Ok(DirectoryHold::Lost);
    }
    match flock(&held, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(Errno::WOULDBLOCK) => return Ok(DirectoryHold::Lost),
        Err(error) => return Err(error.into()),
    }
    // The previous holder may have removed it, and the name may refer to a new directory now.
    let is_same = |now: Metadata| now.ino() == facts.st_ino && now.dev() == facts.st_dev;
    Ok(if path.symlink_metadata().is_ok_and(is_same) {
        DirectoryHold::Held(held)
    } else {
        DirectoryHold::Lost
    })
}

/// Removes the directories in `place` whose owners are gone. Failures are ignored: leftovers do no harm.
pub(super) fn remove_abandoned(place: &Path) {
    let Ok(entries) = read_dir(place) else { return };
    let is_ours = |name: &[u8]| name.starts_with(NAME_PREFIX.as_bytes());
    for entry in entries.flatten().filter(|entry| is_ours(entry.file_name().as_bytes())) {
        let path = entry.path();
        if let Ok(DirectoryHold::Held(_held)) = hold(&path) {
            let _ = remove_dir_all(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_nobody_holds_is_removed_and_nothing_else() {
        let place = tempfile::tempdir().expect("a directory");
        let live = PrivateDirectory::create_in(place.path()).expect("creates");
        let at = |name: &str| place.path().join(name);
        fs::create_dir_all(at("probity-gate-dead/deep")).expect("creates");
        fs::create_dir(at("elsewhere")).expect("creates");
        fs::write(at("elsewhere/kept"), "").expect("writes");
        std::os::unix::fs::symlink(at("elsewhere"), at("probity-gate-link")).expect("links");
        fs::write(at("probity-gate-file"), "").expect("writes");
        remove_abandoned(place.path());
        assert!(live.path().exists(), "its owner lives");
        assert!(!at("probity-gate-dead").exists());
        for kept in ["elsewhere/kept", "probity-gate-link", "probity-gate-file"] {
            assert!(at(kept).symlink_metadata().is_ok(), "{kept} is not ours to remove");
        }
        let path = live.path().to_owned();
        drop(live);
        assert!(!path.exists());
    }
}
