//! Content-addressed files: the name of an object is the digest of its content.
//!
//! An object is written atomically and verified when read. [`ObjectFiles::put`] also waits for the disk.
//! [`ObjectFiles::put_unsynced`] does not, and is for content that can be stored again: an object that a machine crash
//! cut short is rewritten the next time it is stored.

use crate::{StoreError, durable, ports};
use probity_core::Digest;
use std::fs::DirEntry;
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A directory of objects on this machine. [`ports::ObjectStore`] is the part that an engine shared by several
/// machines can offer too.
#[derive(Debug, Clone)]
pub struct ObjectFiles {
    dir: PathBuf,
}

impl ObjectFiles {
    /// Names the objects below `dir`, which need not exist yet.
    pub fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// Stores `bytes` durably; storing them twice is harmless.
    pub fn put(&self, bytes: &[u8]) -> Result<Digest, StoreError> {
        let digest = self.put_unsynced(bytes)?;
        let path = self.path(&digest);
        File::open(&path).and_then(|file| durable::sync(&file)).map_err(StoreError::io_error(&path))?;
        // The directory entries that lead to the object must be durable too, and may be as new as the object.
        for directory in path.ancestors().skip(1).take_while(|directory| directory.starts_with(&self.dir)) {
            durable::sync_dir(directory)?;
        }
        Ok(digest)
    }

    /// Stores `bytes` without waiting for the disk, unless they are there already.
    pub fn put_unsynced(&self, bytes: &[u8]) -> Result<Digest, StoreError> {
        let digest = Digest::of(bytes);
        if !self.has(&digest, bytes.len() as u64) {
            durable::write_unsynced(&self.path(&digest), bytes)?;
        }
        Ok(digest)
    }

    /// Tells whether an object of this name and size exists. The content is not read.
    pub fn has(&self, digest: &Digest, size_bytes: u64) -> bool {
        std::fs::metadata(self.path(digest)).is_ok_and(|facts| facts.len() == size_bytes)
    }

    /// Reads an object; `None` if it does not exist. Content that does not match its digest is an error.
    pub fn get(&self, digest: &Digest) -> Result<Option<Vec<u8>>, StoreError> {
        let path = self.path(digest);
        let Some(bytes) = durable::read(&path)? else {
            return Ok(None);
        };
        if Digest::of(&bytes) == *digest {
            Ok(Some(bytes))
        } else {
            Err(StoreError::Damaged { path, why: "its content does not have the digest of its name".into() })
        }
    }

    /// Lists all objects with their sizes, sorted. Files not named like an object are skipped.
    pub fn list(&self) -> Result<Vec<(Digest, u64)>, StoreError> {
        let mut objects = Vec::new();
        for directory in entries(&self.dir)? {
            let prefix = directory.file_name();
            for file in entries(&directory.path())? {
                let name = format!("sha256:{}{}", prefix.display(), file.file_name().display());
                let size = file.metadata().map_err(StoreError::io_error(&file.path()))?.len();
                objects.extend(name.parse().map(|digest: Digest| (digest, size)));
            }
        }
        objects.sort_unstable();
        Ok(objects)
    }

    /// Removes an object if it exists.
    pub fn remove(&self, digest: &Digest) -> Result<(), StoreError> {
        durable::remove(&self.path(digest))
    }

    fn path(&self, digest: &Digest) -> PathBuf {
        let name = digest.to_hex();
        self.dir.join(&name[..2]).join(&name[2..])
    }
}

impl ports::ObjectStore for ObjectFiles {
    fn put(&self, bytes: &[u8]) -> Result<Digest, StoreError> {
        self.put(bytes)
    }

    fn get(&self, digest: &Digest) -> Result<Option<Vec<u8>>, StoreError> {
        self.get(digest)
    }
}

/// Lists a directory; empty if it does not exist.
fn entries(dir: &Path) -> Result<Vec<DirEntry>, StoreError> {
    match std::fs::read_dir(dir) {
        Ok(entries) => entries.collect::<std::io::Result<_>>().map_err(StoreError::io_error(dir)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(Vec::new())
        }
        Err(source) => Err(StoreError::Io { path: dir.to_owned(), source }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_what_it_has_and_forgets_what_is_removed() {
        let dir = tempfile::tempdir().expect("a directory");
        let objects = ObjectFiles::new(dir.path().join("objects"));
        assert_eq!(objects.list().expect("lists"), []);
        let (one, other) = (objects.put(b"one").expect("keeps"), objects.put(b"other").expect("keeps"));
        std::fs::write(dir.path().join("objects/junk"), "x").expect("writes");
        let mut expected = [(one, 3), (other, 5)];
        expected.sort_unstable();
        assert_eq!(objects.list().expect("lists"), expected);
        objects.remove(&one).expect("removes");
        objects.remove(&one).expect("is gone already");
        assert_eq!(objects.list().expect("lists"), [(other, 5)]);
    }

    #[test]
    fn gives_back_what_was_put_and_nothing_else() {
        let dir = tempfile::tempdir().expect("a directory");
        let objects = ObjectFiles::new(dir.path().to_owned());
        let digest = objects.put(b"content").expect("keeps");
        assert_eq!(objects.get(&digest).expect("reads"), Some(b"content".to_vec()));
        assert_eq!(objects.get(&Digest::of(b"other")).expect("reads"), None);
    }

    #[test]
    fn what_was_cut_short_is_kept_again() {
        let dir = tempfile::tempdir().expect("a directory");
        let objects = ObjectFiles::new(dir.path().to_owned());
        let digest = objects.put(b"content").expect("keeps");
        std::fs::write(objects.path(&digest), b"").expect("is cut short");
        objects.put(b"content").expect("keeps");
        assert_eq!(objects.get(&digest).expect("reads"), Some(b"content".to_vec()));
    }

    #[test]
    fn a_changed_object_is_damage() {
        let dir = tempfile::tempdir().expect("a directory");
        let objects = ObjectFiles::new(dir.path().to_owned());
        let digest = objects.put(b"content").expect("keeps");
        std::fs::write(objects.path(&digest), b"c0ntent").expect("is changed");
        assert!(matches!(objects.get(&digest), Err(StoreError::Damaged { .. })));
    }
}
