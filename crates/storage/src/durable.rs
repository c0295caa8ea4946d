//! Atomic file replacement: even after a kill, a reader sees the old content or the new, never a part.

use crate::StoreError;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

/// Returns the directory that holds `path`; `.` for a bare name.
pub(crate) fn parent_directory(path: &Path) -> &Path {
    path.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Replaces the content of `path` atomically and durably. The file is readable by its owner only.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    replace(path, bytes, sync)?;
    sync_dir(parent_directory(path))
}

/// Replaces the content of `path` atomically, for content that its reader verifies. A kill leaves all of it or none;
/// a crash of the machine may damage it. Not waiting for the disk keeps writing many files cheap.
pub fn write_unsynced(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    replace(path, bytes, |_| Ok(()))
}

/// Like [`write_unsynced`], for content that is produced while it is written and may be large.
pub fn stream_unsynced(
    path: &Path,
    write: impl FnOnce(&mut File) -> std::io::Result<()>,
) -> Result<(), StoreError> {
    replace_with(path, write)
}

fn replace(path: &Path, bytes: &[u8], sync: fn(&File) -> std::io::Result<()>) -> Result<(), StoreError> {
    replace_with(path, |file| file.write_all(bytes).and_then(|()| sync(file)))
}

fn replace_with(path: &Path, write: impl FnOnce(&mut File) -> std::io::Result<()>) -> Result<(), StoreError> {
    let parent = parent_directory(path);
    create_dir(parent)?;
    let temporary = parent.join(temporary_name(path));
    // Anything at this name was left by a kill or planted: remove it, never write through it.
    remove(&temporary)?;
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&temporary)
        .map_err(StoreError::io_error(&temporary))?;
    let written = write(&mut file)
        .map_err(StoreError::io_error(&temporary))
        .and_then(|()| fs::rename(&temporary, path).map_err(StoreError::io_error(path)));
    if written.is_err() {
        // Ignored: the first error is the one to report.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Returns a name that no other process and no other thread of this one uses.
fn temporary_name(path: &Path) -> OsString {
    static N_WRITES: AtomicU32 = AtomicU32::new(0);
    let number = N_WRITES.fetch_add(1, Ordering::Relaxed);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}-{number}.tmp", std::process::id()));
    name
}

/// Creates a directory and its parents, accessible to the owner only.
pub fn create_dir(path: &Path) -> Result<(), StoreError> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(StoreError::io_error(path))
}

/// Makes creations, renames and removals in a directory durable.
pub fn sync_dir(path: &Path) -> Result<(), StoreError> {
    File::open(path).and_then(|dir| sync(&dir)).map_err(StoreError::io_error(path))
}

/// Waits until a file or directory is on the disk.
pub fn sync(file: &File) -> std::io::Result<()> {
    tracing::trace!(target: "probity::work", fsyncs = 1_u64);
    file.sync_all()
}

/// Removes a file if it exists.
pub fn remove(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
            Err(StoreError::Io { path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}

/// The largest file that is read whole. Nothing of ours comes near it; a sparse file that somebody planted may.
const MAX_READ_BYTES: u64 = 1 << 30;
/// The largest document that people write or that holds a few settings.
const MAX_SETTINGS_BYTES: u64 = 4 << 20;

/// Reads a plain file; `None` if it does not exist. Links are not followed, and pipes do not block.
pub fn read(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    read_at_most(path, MAX_READ_BYTES)
}

/// Like [`read`], for a policy, a key, a name and the like, which are small.
pub fn read_settings(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    read_at_most(path, MAX_SETTINGS_BYTES)
}

/// Like [`read`], but refuses a file of more than `max_bytes` unread: somebody else may have planted it.
pub fn read_at_most(path: &Path, max_bytes: u64) -> Result<Option<Vec<u8>>, StoreError> {
    let Some(file) = open(path)? else {
        return Ok(None);
    };
    let too_large =
        || StoreError::Damaged { path: path.to_owned(), why: format!("it has more than {max_bytes} bytes") };
    if file.metadata().map_err(StoreError::io_error(path))?.len() > max_bytes {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    // It may grow while it is read.
    let read = file.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes);
    let n_read = read.map_err(StoreError::io_error(path))? as u64;
    if n_read > max_bytes { Err(too_large()) } else { Ok(Some(bytes)) }
}

/// Reads a plain file of at most `max_bytes` that belongs to the user, who may have put a link in its place; `None` for
/// anything else. Pipes do not block.
pub fn read_users_file(path: &Path, max_bytes: u64) -> Option<Vec<u8>> {
    let nonblock = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(nonblock).open(path).ok()?;
    let facts = file.metadata().ok()?;
    if !facts.is_file() || facts.len() > max_bytes {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(max_bytes).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

pub(crate) fn open(path: &Path) -> Result<Option<File>, StoreError> {
    let opened = OpenOptions::new().read(true).custom_flags(NOFOLLOW_NONBLOCK).open(path);
    let file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(StoreError::Io { path: path.to_owned(), source }),
    };
    if !file.metadata().map_err(StoreError::io_error(path))?.is_file() {
        return Err(StoreError::Damaged { path: path.to_owned(), why: "it is no plain file".into() });
    }
    Ok(Some(file))
}

/// Open flags that follow no link and never block.
pub(crate) const NOFOLLOW_NONBLOCK: i32 =
    (rustix::fs::OFlags::NOFOLLOW.bits() | rustix::fs::OFlags::NONBLOCK.bits()).cast_signed();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_over_what_was_there_and_leaves_nothing_else() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("deep/er/file");
        write(&path, b"one").expect("writes");
        write(&path, b"two").expect("writes again");
        assert_eq!(read(&path).expect("reads"), Some(b"two".to_vec()));
        assert_eq!(fs::read_dir(path.parent().expect("a parent")).expect("lists").count(), 1);
    }

    #[test]
    fn neither_reads_nor_writes_through_a_planted_link() {
        let dir = tempfile::tempdir().expect("a directory");
        let (path, elsewhere) = (dir.path().join("file"), dir.path().join("elsewhere"));
        fs::write(&elsewhere, "untouched").expect("writes");
        // Other tests write at the same time, so one of the next names is this test's.
        for number in 0..1000 {
            let temporary = dir.path().join(format!("file.{}-{number}.tmp", std::process::id()));
            std::os::unix::fs::symlink(&elsewhere, temporary).expect("links");
        }
        write(&path, b"new").expect("writes");
        assert_eq!(fs::read(&elsewhere).expect("reads"), b"untouched");
        fs::remove_file(&path).expect("removes");
        std::os::unix::fs::symlink(&elsewhere, &path).expect("links");
        assert!(read(&path).is_err());
    }

    #[test]
    fn a_missing_file_is_no_fault() {
        let dir = tempfile::tempdir().expect("a directory");
        assert_eq!(read(&dir.path().join("none")).expect("reads"), None);
    }
}
