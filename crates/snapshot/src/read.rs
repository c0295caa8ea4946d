//! Reads one entry consistently: it is checked before and after, and read again if it changed in between. Memory use
//! does not depend on the size of the file.

use crate::entry_record::{EntryStat, SnapshotEntryKind};
use crate::git_object::{BlobHasher, ObjectFormat};
use crate::sys;
use probity_core::digest::DigestHasher;
use probity_core::{Digest, ReasonCode};
use rustix::fd::AsFd;
use rustix::io::Errno;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Attempts to read an entry before it is reported as unstable.
pub(crate) const MAX_READ_ATTEMPTS: u32 = 4;

const BUFFER_BYTES: usize = 128 * 1024;

/// The reason an entry could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryReadError {
    Gone,
    /// It was replaced or written to.
    Changed,
    Refused(Errno),
}

impl EntryReadError {
    pub(crate) const fn reason(self) -> ReasonCode {
        match self {
            Self::Gone | Self::Changed => ReasonCode::TreeUnstable,
            Self::Refused(_) => ReasonCode::TreeUnavailable,
        }
    }
}

impl fmt::Display for EntryReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gone => f.write_str("it vanished while it was looked at"),
            Self::Changed => write!(f, "it changed during each of {MAX_READ_ATTEMPTS} attempts to read it"),
            Self::Refused(error) => fmt::Display::fmt(error, f),
        }
    }
}

impl From<Errno> for EntryReadError {
    /// A name that was listed a moment ago and is now missing, or something else, has changed.
    fn from(error: Errno) -> Self {
        match error {
            Errno::NOENT => Self::Gone,
            Errno::NOTDIR | Errno::ISDIR | Errno::LOOP | Errno::NXIO | Errno::NODEV => Self::Changed,
            refused => Self::Refused(refused),
        }
    }
}

/// The pauses that a whole walk may spend waiting for writers. The limit keeps a tree full of writers down to seconds.
pub(crate) struct RetryBudget(AtomicU32);

impl Default for RetryBudget {
    fn default() -> Self {
        Self(AtomicU32::new(500))
    }
}

impl RetryBudget {
    /// Waits, a little longer before each new attempt. Does nothing once the budget is used up.
    pub(crate) fn pause(&self, attempt: u32) {
        let spend = |left: u32| left.checked_sub(1);
        if self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend).is_ok() {
            std::thread::sleep(Duration::from_millis(1 << (2 * attempt.min(3))));
        }
    }

    /// Repeats `step` while its object changes, a bounded number of times.
    pub(crate) fn retry_while_changing<T>(
        &self,
        mut step: impl FnMut() -> Result<T, EntryReadError>,
    ) -> Result<T, EntryReadError> {
        for attempt in 0..MAX_READ_ATTEMPTS - 1 {
            match step() {
                Err(EntryReadError::Changed) => self.pause(attempt),
                done => return done,
            }
        }
        step()
    }
}

/// Reads files with one reusable buffer.
pub(crate) struct FileReader {
    buffer: Vec<u8>,
    git: Option<ObjectFormat>,
}

impl FileReader {
    pub(crate) fn new(git: Option<ObjectFormat>) -> Self {
        Self { buffer: vec![0; BUFFER_BYTES], git }
    }

    /// Hashes the file `name` below `dir` once. Appends the git blob id to `git_id` if ids are enabled.
    pub(crate) fn file(
        &mut self,
        dir: impl AsFd,
        name: &[u8],
        git_id: &mut Vec<u8>,
    ) -> Result<(EntryStat, Digest), EntryReadError> {
        let file = sys::open_file(dir, name)?;
        let before = sys::stat_fd(&file)?;
        if before.kind != SnapshotEntryKind::File {
            return Err(EntryReadError::Changed);
        }
        let mut hasher = DigestHasher::default();
        let mut blob = self.git.map(|format| BlobHasher::new(format, before.size));
        self.read_pieces(&file, before.size, |piece| {
            hasher.update(piece);
            if let Some(blob) = &mut blob {
                blob.update(piece);
            }
        })?;
        if sys::stat_fd(&file)? != before {
            return Err(EntryReadError::Changed);
        }
        if let Some(blob) = blob {
            blob.finish(git_id);
        }
        Ok((before, hasher.finish()))
    }

    /// Passes the `size` bytes of `file` to `take`, piece by piece.
    fn read_pieces(
        &mut self,
        file: impl AsFd,
        size: u64,
        mut take: impl FnMut(&[u8]),
    ) -> Result<(), EntryReadError> {
        let mut left = size;
        loop {
            let n = match rustix::io::read(&file, &mut self.buffer[..]) {
                Err(Errno::INTR) => continue,
                n => n?,
            };
            take(&self.buffer[..n]);
            left = left.checked_sub(n as u64).ok_or(EntryReadError::Changed)?;
            // A short read that ends exactly at the expected size needs no second read to find the end.
            if left == 0 && n < self.buffer.len() {
                return Ok(());
            }
            if n == 0 {
                return Err(EntryReadError::Changed);
            }
        }
    }
}

/// Reads the target of the link `name` below `dir` once.
pub(crate) fn link(dir: impl AsFd, name: &[u8]) -> Result<(EntryStat, Vec<u8>), EntryReadError> {
    let before = sys::stat_at(&dir, name)?;
    if before.kind != SnapshotEntryKind::Symlink {
        return Err(EntryReadError::Changed);
    }
    let target = sys::read_link(&dir, name).map_err(|error| match error {
        Errno::INVAL => EntryReadError::Changed,
        other => other.into(),
    })?;
    if sys::stat_at(&dir, name)? == before { Ok((before, target)) } else { Err(EntryReadError::Changed) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Retries something that changes `n_changes` times, and counts the attempts.
    fn settle(n_changes: u32) -> (Result<(), EntryReadError>, u32) {
        let mut n_attempts = 0;
        let result = RetryBudget::default().retry_while_changing(|| {
            n_attempts += 1;
            if n_attempts > n_changes { Ok(()) } else { Err(EntryReadError::Changed) }
        });
        (result, n_attempts)
    }

    #[test]
    fn what_comes_to_rest_is_read_and_what_does_not_is_given_up() {
        assert_eq!(settle(0), (Ok(()), 1));
        assert_eq!(settle(MAX_READ_ATTEMPTS - 1), (Ok(()), MAX_READ_ATTEMPTS));
        assert_eq!(settle(MAX_READ_ATTEMPTS), (Err(EntryReadError::Changed), MAX_READ_ATTEMPTS));
    }

    #[test]
    fn what_is_gone_or_refused_is_not_tried_again() {
        for trouble in [EntryReadError::Gone, EntryReadError::Refused(Errno::ACCESS)] {
            let mut n_attempts = 0;
            let result: Result<(), _> = RetryBudget::default().retry_while_changing(|| {
                n_attempts += 1;
                Err(trouble)
            });
            assert_eq!((result, n_attempts), (Err(trouble), 1));
        }
    }
}
