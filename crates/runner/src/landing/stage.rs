//! Writes the new entries of a landing beside the tree, so that landing them is only renaming.
//!
//! Contents are copied, by reference where the file system can, and the layer is left as it is: a landing that is refused
//! afterwards can still be held, and nothing of what a view's kernel noted on its files (`user.overlay.*`) comes along.
//! What is written is compared with the digest that was judged. Owner, access lists and other extended attributes come
//! from the entry that is replaced, because nobody judged those in the layer; new entries have none.

use super::check::ParentDirectory;
use super::crash_point;
use super::journal::LandingStep;
use super::layer_view::{LayerView, open_file};
use probity_core::digest::DigestHasher;
use probity_core::{Digest, ReasonCode};
use probity_paths::RepoPath;
use probity_snapshot::tree_handle::{ObjectIdentity, TreeHandle};
use probity_snapshot::{EntryState, SnapshotEntryKind};
use probity_workspace::ServiceError;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Gid, Mode, OFlags, Uid, XattrFlags};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

const COPY_BUFFER_BYTES: usize = 128 * 1024;

/// Up to this many entries are flushed one by one; more are cheaper to flush with the whole file system.
pub(super) const MAX_SINGLE_FLUSHES: usize = 64;

/// Where the content of staged entries comes from.
pub(crate) trait EntrySource {
    /// Opens the directory that holds the new entry of `path`, and returns its name there.
    fn open(&self, path: &RepoPath) -> io::Result<(OwnedFd, Vec<u8>)>;
}

impl EntrySource for LayerView<'_> {
    fn open(&self, path: &RepoPath) -> io::Result<(OwnedFd, Vec<u8>)> {
        Ok((self.parent_of(path)?, path.file_name().to_vec()))
    }
}

/// Stages every new entry in `slots` and notes its identity in its step.
pub(super) fn stage(
    source: &dyn EntrySource,
    tree: &TreeHandle,
    slots: &TreeHandle,
    steps: &mut [LandingStep],
) -> Result<(), ServiceError> {
    let mut stager = EntryStager {
        source,
        tree,
        slots: slots.as_fd(),
        parents: ParentDirectory::default(),
        buffer: vec![0; COPY_BUFFER_BYTES],
        flushes: false,
    };
    let is_staged =
        |step: &&LandingStep| matches!(step, LandingStep::Add { .. } | LandingStep::Replace { .. });
    stager.flushes = steps.iter().filter(is_staged).count() <= MAX_SINGLE_FLUSHES;
    for step in steps {
        let (LandingStep::Add { path, slot, staged: object, after }
        | LandingStep::Replace { path, slot, staged: object, after, .. }) = step
        else {
            continue;
        };
        let name = slot_name(*slot);
        stager.stage_entry(path, &name, after)?;
        let identity = ObjectIdentity::of(slots, &name).and_then(|found| found.ok_or(Errno::NOENT));
        *object = identity.map_err(failed(path))?.into();
        crash_point::pass();
    }
    tracing::trace!(target: "probity::work", fsyncs = 1_u64);
    let flushed = if stager.flushes { rustix::fs::fsync(slots) } else { flush_file_system(slots) };
    flushed.map_err(|error| ServiceError::System {
        what: "cannot write the staged changes to disk".to_owned(),
        source: error.into(),
    })
}

/// Returns the name of a slot.
pub(super) fn slot_name(slot: u32) -> Vec<u8> {
    slot.to_string().into_bytes()
}

/// Flushes everything on the file system of `handle`.
pub(crate) fn flush_file_system(handle: impl AsFd) -> rustix::io::Result<()> {
    #[cfg(target_os = "linux")]
    return rustix::fs::syncfs(handle);
    #[cfg(not(target_os = "linux"))]
    {
        rustix::fs::sync();
        rustix::fs::fsync(handle)
    }
}

fn failed<E: Into<io::Error>>(path: &RepoPath) -> impl FnOnce(E) -> ServiceError {
    let what = format!("cannot stage `{path}`");
    move |error| ServiceError::System { what, source: error.into() }
}

struct EntryStager<'a> {
    source: &'a dyn EntrySource,
    tree: &'a TreeHandle,
    slots: BorrowedFd<'a>,
    parents: ParentDirectory,
    buffer: Vec<u8>,
    /// Whether every file is flushed by itself.
    flushes: bool,
}

impl EntryStager<'_> {
    fn stage_entry(&mut self, path: &RepoPath, slot: &[u8], after: &EntryState) -> Result<(), ServiceError> {
        match after.kind {
            SnapshotEntryKind::Directory => {
                rustix::fs::mkdirat(self.slots, slot, Mode::from_raw_mode(0o700)).map_err(failed(path))
            }
            SnapshotEntryKind::Symlink => {
                let (directory, name) = self.source.open(path).map_err(failed(path))?;
                let target =
                    rustix::fs::readlinkat(&directory, &name[..], Vec::new()).map_err(failed(path))?;
                require_content(path, after, Digest::of(target.as_bytes()))?;
                rustix::fs::symlinkat(&target, self.slots, slot).map_err(failed(path))
            }
            _ => self.stage_file(path, slot, after),
        }
    }

    fn stage_file(&mut self, path: &RepoPath, slot: &[u8], after: &EntryState) -> Result<(), ServiceError> {
        let (directory, name) = self.source.open(path).map_err(failed(path))?;
        let from = open_file(&directory, &name).map_err(failed(path))?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let to =
            rustix::fs::openat(self.slots, slot, flags, Mode::from_raw_mode(0o600)).map_err(failed(path))?;
        let mut to = File::from(to);
        crash_point::pass();
        let digest = copy_content(from, &mut to, &mut self.buffer).map_err(failed(path))?;
        require_content(path, after, digest)?;
        self.take_attributes_of_replaced(path, &to);
        let bits = u16::try_from(after.mode & 0o7777).expect("twelve bits fit");
        rustix::fs::fchmod(&to, Mode::from_raw_mode(bits.into())).map_err(failed(path))?;
        if self.flushes {
            probity_storage::durable::sync(&to).map_err(failed(path))?;
        }
        Ok(())
    }

    /// Gives a staged file the attributes of the file in the tree that it replaces.
    fn take_attributes_of_replaced(&mut self, path: &RepoPath, to: &File) {
        let Ok(directory) = self.parents.open(self.tree, path) else { return };
        let Ok(from) = open_file(directory, path.file_name()) else { return };
        take_attributes(&from, to);
    }
}

/// Copies a file and returns the digest of what was written.
fn copy_content(mut from: impl Read + AsFd, to: &mut File, buffer: &mut [u8]) -> io::Result<Digest> {
    #[cfg(target_os = "linux")]
    let is_cloned = rustix::fs::ioctl_ficlone(&*to, &from).is_ok();
    #[cfg(not(target_os = "linux"))]
    let is_cloned = false;
    let mut hasher = DigestHasher::default();
    let mut size = 0_u64;
    loop {
        let n = match from.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            n => n?,
        };
        let piece = &buffer[..n];
        hasher.update(piece);
        size += n as u64;
        if n == 0 {
            break;
        }
        // A sparse file stays sparse.
        if !is_cloned && n == buffer.len() && piece.iter().all(|byte| *byte == 0) {
            to.seek(SeekFrom::Start(size))?;
        } else if !is_cloned {
            to.write_all(piece)?;
        }
    }
    if !is_cloned {
        to.set_len(size)?;
    }
    Ok(hasher.finish())
}

/// Gives a file the owner and the extended attributes of another one. What this user may not set stays as for any new file:
/// the content does not depend on it.
fn take_attributes(from: &File, to: &File) {
    let (Ok(old), Ok(new)) = (rustix::fs::fstat(from), rustix::fs::fstat(to)) else { return };
    if old.st_mode & 0o170_000 != new.st_mode & 0o170_000 {
        return;
    }
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid) {
        let _ = rustix::fs::fchown(to, Some(Uid::from_raw(old.st_uid)), Some(Gid::from_raw(old.st_gid)));
    }
    let mut names = vec![0_u8; 4096];
    let Ok(n) = rustix::fs::flistxattr(from, &mut names[..]) else { return };
    for name in names[..n].split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let mut value = vec![0_u8; 4096];
        if let Ok(n) = rustix::fs::fgetxattr(from, name, &mut value[..]) {
            let _ = rustix::fs::fsetxattr(to, name, &value[..n], XattrFlags::empty());
        }
    }
}

/// Copies each file that came out of the tree and has other names there. Otherwise those names would have a hard link
/// outside of the tree, which no run accepts, and who writes to them would change what a revert restores.
///
/// A file that cannot be copied stays as it is: the changes are in the tree all the same.
pub(super) fn unlink_from_tree(slots: &TreeHandle, steps: &[LandingStep]) {
    let mut names: BTreeMap<_, Vec<Vec<u8>>> = BTreeMap::new();
    let mut n_links = BTreeMap::new();
    for (_, slot) in steps.iter().filter_map(LandingStep::taken_out) {
        let name = slot_name(slot);
        if let Ok(found) = rustix::fs::statat(slots, &name[..], AtFlags::SYMLINK_NOFOLLOW)
            && FileType::from_raw_mode(found.st_mode) == FileType::RegularFile
            && found.st_nlink > 1
        {
            let object = (found.st_dev, found.st_ino);
            n_links.insert(object, usize::try_from(found.st_nlink).unwrap_or(usize::MAX));
            names.entry(object).or_default().push(name);
        }
    }
    for (object, names) in names {
        if n_links.get(&object).is_some_and(|n_links| *n_links > names.len()) {
            for name in names {
                let _ = replace_by_copy(slots, &name);
            }
        }
    }
}

fn replace_by_copy(slots: &TreeHandle, slot: &[u8]) -> io::Result<()> {
    let copy = [slot, b".copy"].concat();
    let from = open_file(slots, slot)?;
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut to = File::from(rustix::fs::openat(slots, &copy[..], flags, Mode::from_raw_mode(0o600))?);
    copy_content(&from, &mut to, &mut vec![0; COPY_BUFFER_BYTES])?;
    take_attributes(&from, &to);
    rustix::fs::fchmod(&to, Mode::from_raw_mode(rustix::fs::fstat(&from)?.st_mode))?;
    probity_storage::durable::sync(&to)?;
    Ok(rustix::fs::renameat(slots, &copy[..], slots, slot)?)
}

/// Refuses a layer whose content is not the one that was judged.
fn require_content(path: &RepoPath, after: &EntryState, found: Digest) -> Result<(), ServiceError> {
    if after.digest == Some(found) {
        return Ok(());
    }
    let detail = format!("`{path}` in the layer is not what the run left; nothing landed");
    Err(ServiceError::refused(ReasonCode::LayerChanged, detail))
}
