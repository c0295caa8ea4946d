//! An empty directory for one gate, for its owner only: what Python would write into the tree goes there.
//!
//! It is removed with its value. A supervisor that is killed cannot do that, so it holds a lock on the directory as long as
//! it lives, and the next gates of the same user remove every directory of that name that nobody holds. The lock is the
//! proof: a process id may belong to another process by now.

use rustix::fs::{FlockOperation, Mode, OFlags, flock, fstat, open};
use rustix::io::Errno;
use std::fs::{Metadata, Permissions, read_dir, remove_dir_all};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use tempfile::TempDir;

/// How the names of these directories begin.
const NAME_PREFIX: &str = "probity-gate-";

/// How often somebody who cleans up may take a new directory away before it is held.
const MAX_LOST_RACES: usize = 8;

/// A directory that is held and removed with the value.
#[derive(Debug)]
pub(super) struct PrivateDirectory {
    directory: TempDir,
    /// Closed after the directory is removed, and not inherited by what a gate starts. `None` where the file system has no
    /// locks: then nobody can tell that the owner is gone, and nobody removes it.
    _held: Option<OwnedFd>,
}

impl PrivateDirectory {
    /// Makes one outside of the tree: in the system's place for such, or in `fallback` where that is part of the tree.
    pub(super) fn create(root: &Path, fallback: &Path) -> io::Result<Self> {
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

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        self.directory.path()
    }
}

/// Whether a directory is held now.
enum DirectoryHold {
    /// By us.
    Held(OwnedFd),
    /// It is no directory of this user, another process holds it, or it is gone.
    Lost,
}

/// Holds a directory of this user. An error says that nothing can be held there.
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
    // Its holder before may have removed it, and the name may mean another one by now.
    let is_same = |now: Metadata| now.ino() == facts.st_ino && now.dev() == facts.st_dev;
    Ok(if path.symlink_metadata().is_ok_and(is_same) {
        DirectoryHold::Held(held)
    } else {
        DirectoryHold::Lost
    })
}

/// Removes the directories in `place` whose owners are gone. They are in nobody's way, so failing to is no reason to stop.
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
