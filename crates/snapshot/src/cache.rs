//! The stat cache: the last snapshot in a file, so that the next one need not read unchanged files.
//!
//! It is only a cache. If it is missing, damaged or of another version, the result is the same, only slower. An entry
//! is reused only if type, permission bits, size, mtime, ctime, link count, inode and device are unchanged, and if it
//! was last written at least two seconds before that snapshot began. An entry written later, or with a time in the
//! future, is read again.
//!
//! The cache cannot notice content that changed although none of these did. That takes writing to the disk below the
//! file system, setting the machine's clock back to a chosen nanosecond, keeping a writable memory map of the file from
//! before the last snapshot, or forging the cache itself (its checksum only detects accidents). The cache is stored
//! with Probity's state, which agents may not write, and a snapshot without it reads everything.

use crate::snapshot::Snapshot;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Reads the cache at `path`; `None` if there is no usable one.
pub fn load(path: &Path) -> Option<Snapshot> {
    Snapshot::from_bytes(&fs::read(path).ok()?).ok()
}

/// Replaces the cache at `path` atomically: a reader finds the old one or the new one, complete. It is not synced to
/// disk, since a lost cache costs only time.
pub fn store(path: &Path, snapshot: &Snapshot) -> io::Result<()> {
    let draft = draft(path);
    // An existing draft was planted: never write through it.
    let written = File::create_new(&draft)
        .and_then(|mut file| file.write_all(&snapshot.to_bytes()))
        .and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        // The first error is the one that matters.
        let _ = fs::remove_file(&draft);
    }
    written
}

/// Returns a name next to `path` that nobody else writes to.
fn draft(path: &Path) -> PathBuf {
    static N_DRAFTS: AtomicU32 = AtomicU32::new(0);
    let number = N_DRAFTS.fetch_add(1, Ordering::Relaxed);
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}-{number}.draft", std::process::id()));
    name.into()
}
