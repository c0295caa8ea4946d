//! One flush for all who wait for it, whichever process they are in.
//!
//! A write is first added to the log of the database, by one writer after the other, and then flushed. A flush takes all
//! of the log with it: so whoever comes to flush looks first if somebody else has flushed as far already. Two numbers in a
//! file beside the database tell: how many writes were added, and how many of them are flushed. The file holds nothing
//! that must survive: numbers that were lost only lead to a flush too many.

use super::lock;
use crate::{StoreError, durable};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Flushes the log of one database.
#[derive(Debug)]
pub(super) struct Flush {
    path: PathBuf,
    numbers: File,
    /// The log, once it was needed. Whoever holds this flushes.
    log: Mutex<Option<File>>,
}

/// A write that was added to the log, by its number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Added(u64);

/// Where in the file the two numbers are.
const ADDED: u64 = 0;
const FLUSHED: u64 = 8;

impl Flush {
    /// Prepares for the database at `path`.
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        let beside = path.with_extension("flush");
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).custom_flags(durable::NO_TRICKS);
        let numbers = options.open(&beside).map_err(StoreError::io(&beside))?;
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        Ok(Self { path: log.into(), numbers, log: Mutex::new(None) })
    }

    /// Counts a write that has just been added to the log. Only whoever has the turn to write may do so.
    pub(super) fn added(&self) -> io::Result<Added> {
        // Greater than both, so that nothing that was flushed before can be taken for it.
        let last = self.number(ADDED)?.max(self.number(FLUSHED)?);
        let number =
            last.checked_add(1).ok_or_else(|| io::Error::other("the numbers of writes are damaged"))?;
        self.numbers.write_all_at(&number.to_le_bytes(), ADDED)?;
        Ok(Added(number))
    }

    /// Returns when the write is on disk.
    pub(super) fn until(&self, write: Added) -> io::Result<()> {
        let mut log = lock(&self.log);
        if self.is_flushed(write)? {
            return Ok(());
        }
        // The system frees the lock at the latest when its holder ends.
        self.numbers.lock()?;
        let flushed = self.flush(&mut log, write);
        let unlocked = self.numbers.unlock();
        flushed.and(unlocked)
    }

    fn is_flushed(&self, write: Added) -> io::Result<bool> {
        Ok(self.number(FLUSHED)? >= write.0)
    }

    fn flush(&self, log: &mut Option<File>, write: Added) -> io::Result<()> {
        if self.is_flushed(write)? {
            return Ok(());
        }
        // Everything that was counted before the flush begins is in the log, and so goes with it.
        let added = self.number(ADDED)?;
        // As long as the database is open here, its log stays the same file.
        let file = match log.take() {
            Some(file) => file,
            None => File::open(&self.path)?,
        };
        file.sync_data()?;
        *log = Some(file);
        self.numbers.write_all_at(&added.to_le_bytes(), FLUSHED)
    }

    /// One of the numbers; none is nought.
    fn number(&self, at: u64) -> io::Result<u64> {
        let mut bytes = [0; 8];
        match self.numbers.read_exact_at(&mut bytes, at) {
            Ok(()) => Ok(u64::from_le_bytes(bytes)),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
            Err(error) => Err(error),
        }
    }
}
