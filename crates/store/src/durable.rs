//! Files that survive a kill: whoever reads sees the old content or the new one, never a part.

use crate::StoreError;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// Puts `bytes` at `path` atomically and durably. The file is readable for its owner only.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    replace(path, bytes, File::sync_all)?;
    sync_dir(path.parent().unwrap_or(Path::new(".")))
}

/// Puts `bytes` at `path` atomically, for content that its reader checks: a kill leaves all of it or none, but if the
/// machine itself goes down it may be damaged. Not waiting for the disk is what makes keeping many files cheap.
pub fn write_unsynced(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    replace(path, bytes, |_| Ok(()))
}

fn replace(path: &Path, bytes: &[u8], sync: fn(&File) -> std::io::Result<()>) -> Result<(), StoreError> {
    let parent = path.parent().unwrap_or(Path::new("."));
    create_dir(parent)?;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    // The process id keeps two writers of one file from sharing a temporary one.
    name.push(format!(".{}.tmp", std::process::id()));
    let temporary = parent.join(name);
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&temporary)
        .map_err(StoreError::io(&temporary))?;
    file.write_all(bytes).and_then(|()| sync(&file)).map_err(StoreError::io(&temporary))?;
    fs::rename(&temporary, path).map_err(StoreError::io(path))
}

/// Makes a directory and its parents, for its owner only.
pub fn create_dir(path: &Path) -> Result<(), StoreError> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(StoreError::io(path))
}

/// Makes what was created, renamed or removed in a directory durable.
pub fn sync_dir(path: &Path) -> Result<(), StoreError> {
    File::open(path).and_then(|dir| dir.sync_all()).map_err(StoreError::io(path))
}

/// Removes a file that may be there.
pub fn remove(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
            Err(StoreError::Io { path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}

/// Reads a file, or `None` when there is none.
pub fn read(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(StoreError::Io { path: path.to_owned(), source }),
    }
}

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
    fn a_missing_file_is_no_fault() {
        let dir = tempfile::tempdir().expect("a directory");
        assert_eq!(read(&dir.path().join("none")).expect("reads"), None);
    }
}
