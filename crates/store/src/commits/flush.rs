//! One flush for all who wait for it, whichever process they are in.
//!
//! A write is first added to the log of the database, by one writer after the other, and then flushed. A flush takes all
//! of the log with it: so whoever comes to flush looks first if somebody else has flushed as far already. Numbers in a
//! file beside the database tell: how many writes were added, how many of them are flushed, and how many are likely to
//! come together next. The file holds nothing that must survive: numbers that were lost only lead to a flush too many.
//!
//! Whoever is alone flushes before it gives its turn back, and counts nothing.

use super::lock;
use crate::{StoreError, durable};
use std::fs::{File, OpenOptions, TryLockError};
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

/// A write that was added to the log.
#[derive(Debug, Clone, Copy)]
pub(super) enum Added {
    /// It is on disk: nobody else was likely to share its flush.
    Flushed,
    /// It is to be flushed with those of others; its number is how many were added then.
    Counted(Numbers),
}

/// The numbers as they stand in the file, one after the other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Numbers {
    added: u64,
    flushed: u64,
    /// How many writes were added by those who are likely to write again: those whom the last flush let go on, and those
    /// who waited then.
    expected: u64,
}

impl Numbers {
    /// Whether some are likely to come who have not yet.
    const fn lacks_some(&self) -> bool {
        self.added.saturating_sub(self.flushed) < self.expected
    }
}

/// Where in the file the numbers are; whoever flushes writes the last two together.
const ADDED: u64 = 0;
const FLUSHED: u64 = 8;
const EXPECTED: u64 = 16;

/// How long the log is made for whoever goes on writing: as long as it gets before it is folded into the database, and
/// begins anew. Flushing what lies within a file costs half of flushing what makes it longer.
const LOG_BYTES: u64 = 4 * 1024 * 1024 + 128 * 1024;
/// From when on a flush takes longer than it takes to go to sleep and wake up.
const LONG: Duration = Duration::from_micros(400);
/// How long others are waited for at most.
const LONGEST_WAIT: Duration = Duration::from_millis(2);
/// After so long, whoever flushes is stopped or stuck. The lock saves flushes and nothing else: then everybody flushes.
const STUCK: Duration = Duration::from_millis(500);
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

    /// Counts a write that has just been added to the log, or flushes it where nobody is likely to share the flush. Only
    /// whoever has the turn to write may do so.
    pub(super) fn added(&self) -> io::Result<Added> {
        let numbers = self.numbers()?;
        if numbers.expected <= 1 {
            self.sync(&mut lock(&self.log))?;
            return Ok(Added::Flushed);
        }
        // Greater than both, so that nothing that was flushed before can be taken for it.
        let number = numbers.added.max(numbers.flushed).checked_add(1);
        let added = number.ok_or_else(|| io::Error::other("the numbers of writes are damaged"))?;
        self.numbers.write_all_at(&added.to_le_bytes(), ADDED)?;
        Ok(Added::Counted(Numbers { added, ..numbers }))
    }

    /// Says that this process has to wait for another one's turn to write: from now on they share flushes.
    pub(super) fn announce(&self) -> io::Result<()> {
        if self.numbers()?.expected <= 1 {
            self.numbers.write_all_at(&2_u64.to_le_bytes(), EXPECTED)?;
        }
        Ok(())
    }

    /// Returns when the write is on disk.
    pub(super) fn until(&self, write: Added) -> io::Result<()> {
        let Added::Counted(mut numbers) = write else { return Ok(()) };
        let write = numbers.added;
        let mut log = lock(&self.log);
        let begun = Instant::now();
        let mut last_flush = begun;
        while numbers.flushed < write {
            if begun.elapsed() >= STUCK {
                return self.flush(&mut log, write);
            }
            if !numbers.lacks_some() || last_flush.elapsed() >= self.patience() {
                // The system frees the lock at the latest when its holder ends.
                match self.numbers.try_lock() {
                    Ok(()) => {
                        let flushed = self.flush(&mut log, write);
                        return flushed.and(self.numbers.unlock());
                    }
                    Err(TryLockError::WouldBlock) => {}
                    Err(TryLockError::Error(error)) => return Err(error),
                }
            }
            self.pause(begun.elapsed());
            let before = std::mem::replace(&mut numbers, self.numbers()?);
            if numbers.flushed != before.flushed {
                // Those whom a flush has just let go on are worth waiting for.
                last_flush = Instant::now();
            }
        }
        Ok(())
    }

    fn flush(&self, log: &mut Option<File>, write: u64) -> io::Result<()> {
        // Everything that was counted before the flush begins is in the log, and so goes with it.
        let Numbers { added, flushed, .. } = self.numbers()?;
        if flushed >= write {
            return Ok(());
        }
        self.sync(log)?;
        let expected = self.numbers()?.added.saturating_sub(flushed);
        self.numbers.write_all_at([added, expected].map(u64::to_le_bytes).as_flattened(), FLUSHED)
    }

    fn sync(&self, log: &mut Option<File>) -> io::Result<()> {
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
        Ok(())
    }

    /// Lets others work, the longer the longer this has been waiting.
    fn pause(&self, waited: Duration) {
        if waited.max(self.took()) < LONG {
            std::thread::yield_now();
        } else {
            std::thread::sleep((waited / 8).clamp(LONG / 8, LONGEST_WAIT));
        }
    }

    /// How long the last flush took.
    fn took(&self) -> Duration {
        Duration::from_nanos(self.took.load(Ordering::Relaxed))
    }

    /// How long it pays to wait for others who would share a flush.
    pub(super) fn patience(&self) -> Duration {
        (self.took() / 4).min(LONGEST_WAIT)
    }

    /// The numbers; what is not there is nought.
    fn numbers(&self) -> io::Result<Numbers> {
        let mut bytes = [[0; 8]; 3];
        self.numbers.read_at(bytes.as_flattened_mut(), 0)?;
        let [added, flushed, expected] = bytes.map(u64::from_le_bytes);
        Ok(Numbers { added, flushed, expected })
    }
}
