//! The stat cache: the last snapshot, kept in a file, so that the next one need not read what did not change.
//!
//! It is only a cache. Deleted, damaged or of another version, it is as if there were none, and the result is the
//! same. An entry is taken from it only if type, permission bits, size, mtime, ctime, link count, inode and device
//! are what they were, and if it was last written two seconds or more before that snapshot began: what was written
//! later, or carries a time in the future, is read again.
//!
//! What it cannot see: content that changed although none of these did. For that one must write to the disk below
//! the file system, set the machine's clock back to a chosen nanosecond, keep a writable memory map of the file from
//! before the last snapshot, or forge the cache itself (its checksum is against accidents). It is kept with
//! Probity's state, which agents may not write, and a snapshot without it reads everything.

use crate::snapshot::Snapshot;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Reads the cache at `path`; `None` if there is none that can be used.
pub fn load(path: &Path) -> Option<Snapshot> {
    Snapshot::from_bytes(&fs::read(path).ok()?).ok()
}

/// Replaces the cache at `path` in one step: a reader finds the old one or the new one, whole. It is not synced to
/// the disk, since a lost cache costs only time.
pub fn store(path: &Path, snapshot: &Snapshot) -> io::Result<()> {
    let draft = draft(path);
    // A draft that is there already was planted: it is not written through.
    let written = File::create_new(&draft)
        .and_then(|mut file| file.write_all(&snapshot.to_bytes()))
        .and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        // The first error is the one that matters.
        let _ = fs::remove_file(&draft);
    }
    written
}

/// A name beside `path` that nobody else writes to.
fn draft(path: &Path) -> PathBuf {
    static N_DRAFTS: AtomicU32 = AtomicU32::new(0);
    let number = N_DRAFTS.fetch_add(1, Ordering::Relaxed);
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}-{number}.draft", std::process::id()));
    name.into()
}
