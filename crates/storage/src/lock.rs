//! Locks between processes.
//!
//! A lock is an advisory lock on a separate file, which the system releases however its holder ends. A holder that
//! keeps it for long writes its name into the file, for people; only the lock itself counts. A short-term holder does
//! not, because rewriting a file slows down every flush of other files; `/proc/locks` then identifies the process.

use crate::{StoreError, durable};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

const SHARER_POLL_INTERVAL: Duration = Duration::from_millis(5);

/// A held lock, released on drop.
#[derive(Debug)]
pub struct FileLock {
    _file: File,
}

#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("held by {holder}")]
    Held {
        /// The holder's own description.
        holder: String,
    },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl FileLock {
    /// Takes the lock at `path` if it is free, and records `holder` in the file.
    pub fn try_take(path: &Path, holder: &str) -> Result<Self, LockError> {
        let mut file = open(path)?;
        match file.try_lock() {
            Ok(()) => {
                write_holder(&mut file, holder).map_err(StoreError::io_error(path))?;
                Ok(Self { _file: file })
            }
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                // A holder that is still writing its name is a holder nonetheless, so a partial read is good enough.
                let _ = file.read_to_string(&mut holder);
                Err(LockError::Held { holder })
            }
            Err(TryLockError::Error(source)) => Err(StoreError::Io { path: path.to_owned(), source }.into()),
        }
    }

    /// Like [`FileLock::try_take`], but waits up to `wait` while the lock is only shared. Sharers need it briefly; an
    /// exclusive holder keeps it for long and is reported at once.
    pub fn take_from_sharers(path: &Path, holder: &str, wait: Duration) -> Result<Self, LockError> {
        let began = Instant::now();
        Self::take_from_sharers_while(path, holder, || {
            let is_waiting = began.elapsed() < wait;
            if is_waiting {
                std::thread::sleep(SHARER_POLL_INTERVAL);
            }
            is_waiting
        })
    }

    /// Calls `waits` after every attempt that found the lock shared.
    fn take_from_sharers_while(
        path: &Path,
        holder: &str,
        mut waits: impl FnMut() -> bool,
    ) -> Result<Self, LockError> {
        let mut wait = None;
        loop {
            match Self::try_take(path, holder) {
                // A shared attempt tells the two kinds of holders apart without trusting the name in the file, which
                // may be that of an earlier holder.
                Err(LockError::Held { holder }) if Self::try_share(path)?.is_none() => {
                    return Err(LockError::Held { holder });
                }
                Err(LockError::Held { .. }) => {
                    wait.get_or_insert_with(|| log_wait(path));
                    if !waits() {
                        return Err(LockError::Held { holder: holder_process(path) });
                    }
                }
                taken => return taken,
            }
        }
    }

    /// Takes a shared lock at `path` unless it is held exclusively.
    pub fn try_share(path: &Path) -> Result<Option<Self>, StoreError> {
        let file = open(path)?;
        match file.try_lock_shared() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(StoreError::Io { path: path.to_owned(), source }),
        }
    }

    /// Takes a shared lock at `path`, after waiting for an exclusive holder.
    pub fn share(path: &Path) -> Result<Self, StoreError> {
        if let Some(lock) = Self::try_share(path)? {
            return Ok(lock);
        }
        let file = open(path)?;
        let _wait = log_wait(path);
        file.lock_shared().map_err(StoreError::io_error(path))?;
        Ok(Self { _file: file })
    }

    /// Like [`FileLock::share`], but waits at most `wait`.
    pub fn share_within(path: &Path, wait: Duration) -> Result<Self, LockError> {
        match Self::try_share(path)? {
            Some(lock) => Ok(lock),
            None => Self::wait_for(path, wait, Self::share),
        }
    }

    /// Takes the lock at `path` if it is free, without recording a holder.
    pub fn poll(path: &Path) -> Result<Option<Self>, StoreError> {
        let file = open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(StoreError::Io { path: path.to_owned(), source }),
        }
    }

    /// Like [`FileLock::take`], but waits at most `wait`. Waiters are served in order of arrival.
    pub fn take_within(path: &Path, wait: Duration) -> Result<Self, LockError> {
        match Self::poll(path)? {
            Some(lock) => Ok(lock),
            None => Self::wait_for(path, wait, Self::take),
        }
    }

    /// Waits in the system's queue, which has no time limit, so the wait runs on a thread that can be abandoned. If
    /// that thread gets the lock too late, it releases it at once.
    fn wait_for(
        path: &Path,
        wait: Duration,
        take: fn(&Path) -> Result<Self, StoreError>,
    ) -> Result<Self, LockError> {
        let (served, turn) = mpsc::sync_channel(0);
        let waiting = path.to_owned();
        let span = tracing::Span::current();
        std::thread::spawn(move || {
            // The send fails if the caller has stopped waiting.
            let _ = served.send(span.in_scope(|| take(&waiting)));
        });
        match turn.recv_timeout(wait) {
            Ok(taken) => Ok(taken?),
            Err(_) => Err(LockError::Held { holder: holder_process(path) }),
        }
    }

    /// Takes the lock at `path`, after waiting for its holder.
    pub fn take(path: &Path) -> Result<Self, StoreError> {
        if let Some(lock) = Self::poll(path)? {
            return Ok(lock);
        }
        let file = open(path)?;
        let _wait = log_wait(path);
        file.lock().map_err(StoreError::io_error(path))?;
        Ok(Self { _file: file })
    }
}

/// Opens a span that lasts as long as the wait for the lock at `path`, and logs the holder.
fn log_wait(path: &Path) -> tracing::span::EnteredSpan {
    tracing::info_span!("wait for lock", path = ?path, holder = holder_process(path)).entered()
}

/// Returns the process that holds the lock at `path`, if the system reports it.
fn holder_process(path: &Path) -> String {
    let inode = std::fs::symlink_metadata(path).map(|facts| facts.ino());
    let table = std::fs::read_to_string("/proc/locks").unwrap_or_default();
    // Columns: number, kind, mode, access, process, device:inode, range. A waiter has an arrow after the number.
    let pid = table.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, "FLOCK", _, _, pid, place, ..] = words.as_slice() else { return None };
        let number = place.rsplit(':').next()?.parse::<u64>().ok()?;
        inode.as_ref().is_ok_and(|inode| *inode == number).then(|| (*pid).to_owned())
    });
    pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
}

fn open(path: &Path) -> Result<File, StoreError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    options.custom_flags(durable::NOFOLLOW_NONBLOCK);
    let file = match options.open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            durable::create_dir(durable::parent_directory(path))?;
            options.open(path)
        }
        opened => opened,
    };
    let file = file.map_err(StoreError::io_error(path))?;
    if file.metadata().map_err(StoreError::io_error(path))?.is_file() {
        Ok(file)
    } else {
        Err(StoreError::Damaged { path: path.to_owned(), why: "a lock must be a plain file".into() })
    }
}

fn write_holder(file: &mut File, holder: &str) -> std::io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(holder.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_holds_it_and_the_other_learns_who() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("tree.lock");
        let first = FileLock::try_take(&path, "run 1").expect("is free");
        match FileLock::try_take(&path, "run 2") {
            Err(LockError::Held { holder }) => assert_eq!(holder, "run 1"),
            other => panic!("two holders: {other:?}"),
        }
        drop(first);
        FileLock::try_take(&path, "run 2").expect("is free again");
    }

    #[test]
    fn many_may_share_it_and_nobody_has_it_alone_meanwhile() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("objects.lock");
        let shared = [FileLock::share(&path).expect("is shared"), FileLock::share(&path).expect("is shared")];
        assert!(matches!(FileLock::try_take(&path, "gc"), Err(LockError::Held { .. })));
        drop(shared);
        let alone = FileLock::try_take(&path, "gc").expect("is free");
        assert!(matches!(
            FileLock::share_within(&path, Duration::from_millis(20)),
            Err(LockError::Held { .. })
        ));
        drop(alone);
        FileLock::share_within(&path, Duration::ZERO).expect("is free");
    }

    #[test]
    fn who_shares_it_is_waited_for() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("tree.lock");
        // The name in the file does not matter: that run has ended.
        drop(FileLock::try_take(&path, "run 1").expect("is free"));
        let mut sharers =
            vec![FileLock::share(&path).expect("is shared"), FileLock::share(&path).expect("is shared")];
        let taken = FileLock::take_from_sharers_while(&path, "run 2", || sharers.pop().is_some());
        assert!(taken.is_ok(), "{taken:?}");
        assert!(sharers.is_empty(), "taken while it was shared");
        assert!(FileLock::try_share(&path).expect("is a lock").is_none());
    }

    #[test]
    fn who_shares_it_for_too_long_is_told() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("tree.lock");
        let _shared = FileLock::share(&path).expect("is shared");
        match FileLock::take_from_sharers(&path, "run 2", Duration::ZERO) {
            Err(LockError::Held { holder }) => assert_eq!(holder, format!("process {}", std::process::id())),
            other => panic!("taken while it was shared: {other:?}"),
        }
    }

    #[test]
    fn who_has_it_alone_is_not_waited_for() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("tree.lock");
        let _alone = FileLock::try_take(&path, "run 1").expect("is free");
        match FileLock::take_from_sharers_while(&path, "run 2", || panic!("waits")) {
            Err(LockError::Held { holder }) => assert_eq!(holder, "run 1"),
            other => panic!("two holders: {other:?}"),
        }
    }

    #[test]
    fn waiting_has_an_end_and_leaves_nobody_in_the_way() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("lock");
        let first = FileLock::take_within(&path, Duration::ZERO).expect("is free");
        let Err(LockError::Held { holder }) = FileLock::take_within(&path, Duration::from_millis(20)) else {
            panic!("two holders");
        };
        assert_eq!(holder, format!("process {}", std::process::id()));
        drop(first);
        // The abandoned thread gets the lock and releases it.
        FileLock::take_within(&path, probity_testkit::STUCK_TIMEOUT).expect("is free again");
    }
}
