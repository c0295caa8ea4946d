//! Snapshots of the book: a cache that makes opening fast. The log is the truth.
//!
//! A snapshot is used only if it is whole (it ends with its own digest), was written by this version, and names a
//! position that the log has. Everything else is ignored, and the log is read from its beginning.
//!
//! ```text
//! position (bytes, frame bytes: u64 LE; chain: 32 bytes), book (see probity_ledger::snapshot), SHA-256 of all before it
//! ```

use super::fault::OrFault as _;
use probity_core::Digest;
use probity_core::digest::Hasher;
use probity_ledger::{Book, snapshot};
use probity_storage::{Journal, Position, StoreError, durable};
use probity_workspace::Fault;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// How much is logged between two snapshots. Reading this much takes about a tenth of a second.
pub(super) const EVERY_BYTES: u64 = 8 << 20;

const DIGEST_BYTES: u64 = 32;

fn path(folder: &Path) -> PathBuf {
    folder.join("snapshot")
}

/// Keeps a snapshot of `book`, which is the state at `position`.
pub(super) fn save(folder: &Path, book: &Book, position: &Position) -> Result<(), StoreError> {
    durable::stream_unsynced(&path(folder), |file| {
        let mut hashing = Hashing { inner: file, hasher: Hasher::default() };
        hashing.write_all(&position.bytes.to_le_bytes())?;
        hashing.write_all(&position.frame_bytes.to_le_bytes())?;
        hashing.write_all(position.chain.as_bytes())?;
        snapshot::write(book, &mut hashing)?;
        let Hashing { inner, hasher } = hashing;
        inner.write_all(hasher.finish().as_bytes())
    })
}

/// The newest snapshot, if it can be used.
pub(super) fn load(folder: &Path, journal: &Journal) -> Result<Option<(Book, Position)>, Fault> {
    let Ok(file) = File::open(path(folder)) else {
        return Ok(None);
    };
    match read(file) {
        Ok((book, position)) if journal.has(&position)? => Ok(Some((book, position))),
        _ => Ok(None),
    }
}

/// Whether the snapshot says what the log says; `None` when there is none that would be used.
pub(super) fn agrees(folder: &Path, journal: &Journal) -> Result<Option<bool>, Fault> {
    let Some((kept, position)) = load(folder, journal)? else {
        return Ok(None);
    };
    let mut book = Book::new();
    journal.read_after(&Position::start(), |payload, at| -> Result<(), Fault> {
        if at.bytes <= position.bytes { Ok(book.replay(payload).or_fault()?) } else { Ok(()) }
    })?;
    Ok(Some(book.digest() == kept.digest()))
}

fn read(mut file: File) -> Result<(Book, Position), snapshot::NotThis> {
    let length = file.metadata()?.len().checked_sub(DIGEST_BYTES).ok_or(snapshot::NotThis::Form)?;
    let mut hashing = Hashing { inner: (&mut file).take(length), hasher: Hasher::default() };
    let (mut bytes, mut frame_bytes, mut chain) = ([0; 8], [0; 8], [0; 32]);
    hashing.read_exact(&mut bytes)?;
    hashing.read_exact(&mut frame_bytes)?;
    hashing.read_exact(&mut chain)?;
    let book = snapshot::read(&mut hashing)?;
    let digest = hashing.hasher.finish();
    let mut trailer = [0; 32];
    file.seek(SeekFrom::Start(length))?;
    file.read_exact(&mut trailer)?;
    if digest != Digest::from_bytes(trailer) {
        return Err(snapshot::NotThis::Form);
    }
    let position = Position {
        bytes: u64::from_le_bytes(bytes),
        frame_bytes: u64::from_le_bytes(frame_bytes),
        chain: Digest::from_bytes(chain),
    };
    Ok((book, position))
}

/// Hashes what passes through.
struct Hashing<T> {
    inner: T,
    hasher: Hasher,
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.inner.write(bytes)?;
        self.hasher.update(&bytes[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(bytes)?;
        self.hasher.update(&bytes[..n]);
        Ok(n)
    }
}
