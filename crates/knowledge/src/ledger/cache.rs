//! Snapshots of the project ledger: a cache that makes opening fast. The log is authoritative.
//!
//! A snapshot is used only if it names a position that the log has. Its body is that position (bytes, frame bytes: u64
//! LE; chain: 32 bytes) and the project ledger (see `probity_ledger::snapshot`), written and read in chunks: the ledger
//! of a long project is large and must not be in memory twice.

use super::fault::OrFault as _;
use probity_core::Digest;
use probity_ledger::{ProjectLedger, snapshot};
use probity_storage::{CacheFile, CacheKind, Journal, JournalPosition, StoreError};
use probity_workspace::ServiceError;
use std::io::Read;
use std::path::Path;

const LEDGER_CACHE: CacheKind = CacheKind { name: "ledger", version: 1 };

/// Bytes logged between two snapshots. Replaying this much takes about a tenth of a second.
pub(super) const SNAPSHOT_INTERVAL_BYTES: u64 = 8 << 20;

fn cache_file(directory: &Path) -> CacheFile {
    CacheFile::new(directory.join("snapshot"), LEDGER_CACHE)
}

/// Saves a snapshot of `book`, the state at `position`.
pub(super) fn save(
    directory: &Path,
    book: &ProjectLedger,
    position: &JournalPosition,
) -> Result<(), StoreError> {
    cache_file(directory).write(position.bytes, |mut file| {
        file.write_all(&position.bytes.to_le_bytes())?;
        file.write_all(&position.frame_bytes.to_le_bytes())?;
        file.write_all(position.chain.as_bytes())?;
        snapshot::write(book, &mut file)
    })
}

/// Loads the newest snapshot, if it is usable.
pub(super) fn load(
    directory: &Path,
    journal: &Journal,
) -> Result<Option<(ProjectLedger, JournalPosition)>, ServiceError> {
    match cache_file(directory).read(read) {
        Some((book, position)) if journal.has(&position)? => Ok(Some((book, position))),
        _ => Ok(None),
    }
}

/// Returns whether the snapshot agrees with the log; `None` if there is no usable snapshot.
pub(super) fn snapshot_agrees(directory: &Path, journal: &Journal) -> Result<Option<bool>, ServiceError> {
    let Some((kept, position)) = load(directory, journal)? else {
        return Ok(None);
    };
    let mut book = ProjectLedger::new();
    journal.read_after(&JournalPosition::start(), |payload, at| -> Result<(), ServiceError> {
        if at.bytes <= position.bytes { Ok(book.replay(payload).or_fault()?) } else { Ok(()) }
    })?;
    Ok(Some(book.digest() == kept.digest()))
}

fn read(mut file: &mut dyn Read) -> Option<(ProjectLedger, JournalPosition)> {
    let (mut bytes, mut frame_bytes, mut chain) = ([0; 8], [0; 8], [0; 32]);
    file.read_exact(&mut bytes).ok()?;
    file.read_exact(&mut frame_bytes).ok()?;
    file.read_exact(&mut chain).ok()?;
    let position = JournalPosition {
        bytes: u64::from_le_bytes(bytes),
        frame_bytes: u64::from_le_bytes(frame_bytes),
        chain: Digest::from_bytes(chain),
    };
    Some((snapshot::read(&mut file).ok()?, position))
}
