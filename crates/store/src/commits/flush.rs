//! One flush for all who wait for it, whichever process they are in.
//!
//! A write is first added to the log of the database, by one writer after the other, and then flushed. A flush takes all
//! of the log with it: so whoever comes to flush looks first if somebody else has flushed as far already. Two numbers in a
//! file beside the database tell: how many writes were added, and how many of them are flushed. The file holds nothing
//! that must survive: numbers that were lost only lead to a flush too many.

use super::lock;
use crate::{StoreError, durable};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Flushes the log of one database.
#[derive(Debug)]
pub(super) struct Flush {
    path: PathBuf,
    numbers: File,
    /// The log, once it was needed. Whoever holds this flushes.
    log: Mutex<Option<File>>,
    /// How many nanoseconds the last flush took.
    took: AtomicU64,
}

/// A write that was added to the log, by its number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Added(u64);

/// The two numbers as they stand in the file, one after the other.
#[derive(Debug, Clone, Copy)]
struct Numbers {
    added: u64,
    flushed: u64,
}

/// Where in the file the two numbers are.
const ADDED: u64 = 0;
const FLUSHED: u64 = 8;

/// How long the log is made for whoever goes on writing: as long as it gets before it is folded into the database, and
/// begins anew. Flushing what lies within a file costs half of flushing what makes it longer.
const LOG_BYTES: u64 = 4 * 1024 * 1024 + 128 * 1024;
/// From when on a flush takes long beside the work for what it flushes.
const LONG: Duration = Duration::from_micros(400);
/// How long others are waited for at most.
const LONGEST_WAIT: Duration = Duration::from_millis(2);
/// What the log is made longer by at once.
static ZEROS: [u8; 64 * 1024] = [0; 64 * 1024];

impl Flush {
    /// Prepares for the database at `path`.
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        let beside = path.with_extension("flush");
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).custom_flags(durable::NO_TRICKS);
        let numbers = options.open(&beside).map_err(StoreError::io(&beside))?;
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        Ok(Self { path: log.into(), numbers, log: Mutex::new(None), took: AtomicU64::new(0) })
    }

    /// Makes room in the log for whoever goes on writing. Only whoever is writing to the database may do so.
    ///
    /// SQLite takes what follows the last write in the log for nothing unless it has the marks of a write, and zeros
    /// have not.
    pub(super) fn make_room(&self) -> io::Result<()> {
        let log = OpenOptions::new().append(true).custom_flags(durable::NO_TRICKS).open(&self.path)?;
        let mut length = log.metadata()?.len();
        while length < LOG_BYTES {
            (&log).write_all(&ZEROS)?;
            length += ZEROS.len() as u64;
        }
        Ok(())
    }

    /// Counts a write that has just been added to the log. Only whoever has the turn to write may do so.
    pub(super) fn added(&self) -> io::Result<Added> {
        // Greater than both, so that nothing that was flushed before can be taken for it.
        let Numbers { added, flushed } = self.numbers()?;
        let number = added.max(flushed).checked_add(1);
        let number = number.ok_or_else(|| io::Error::other("the numbers of writes are damaged"))?;
        self.numbers.write_all_at(&number.to_le_bytes(), ADDED)?;
        Ok(Added(number))
    }

    /// Returns when the write is on disk.
    pub(super) fn until(&self, write: Added) -> io::Result<()> {
        let mut log = lock(&self.log);
        if self.numbers()?.flushed >= write.0 {
            return Ok(());
        }
        // The system frees the lock at the latest when its holder ends.
        self.numbers.lock()?;
        let flushed = self.flush(&mut log, write);
        let unlocked = self.numbers.unlock();
        flushed.and(unlocked)
    }

    fn flush(&self, log: &mut Option<File>, write: Added) -> io::Result<()> {
        // Everything that was counted before the flush begins is in the log, and so goes with it.
        let Numbers { added, flushed } = self.numbers()?;
        if flushed >= write.0 {
            return Ok(());
        }
        // As long as the database is open here, its log stays the same file.
        let file = match log.take() {
            Some(file) => file,
            None => File::open(&self.path)?,
        };
        let begun = Instant::now();
        file.sync_data()?;
        let took = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.took.store(took, Ordering::Relaxed);
        *log = Some(file);
        self.numbers.write_all_at(&added.to_le_bytes(), FLUSHED)
    }

    /// Where a flush takes long, waits for the present one, and a moment for those whom it lets go on.
    pub(super) fn gather(&self) {
        let took = Duration::from_nanos(self.took.load(Ordering::Relaxed));
        if took < LONG {
            return std::thread::yield_now();
        }
        drop(lock(&self.log));
        std::thread::sleep((took / 16).min(LONGEST_WAIT));
    }

    /// Both numbers; what is not there is nought.
    fn numbers(&self) -> io::Result<Numbers> {
        let mut bytes = [[0; 8]; 2];
        self.numbers.read_at(bytes.as_flattened_mut(), 0)?;
        let [added, flushed] = bytes.map(u64::from_le_bytes);
        Ok(Numbers { added, flushed })
    }
}
