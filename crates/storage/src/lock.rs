//! Locks between processes.
//!
//! A lock is an advisory lock on a file of its own: the system frees it when its holder ends, however it ends. Who holds
//! a lock for long writes that into the file, for people; the lock itself is what counts. Who takes it for a moment does
//! not: a file that is written again and again makes every flush of other files slower. Then the system tells who it is.

use crate::{StoreError, durable};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// How long to wait between two looks at a lock that is shared.
const SHARER_POLL_INTERVAL: Duration = Duration::from_millis(5);

/// A held lock; dropping it frees it.
#[derive(Debug)]
pub struct FileLock {
    _file: File,
}

/// Why a lock was not given.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process holds it.
    #[error("held by {holder}")]
    Held {
        /// What the holder wrote about itself.
        holder: String,
    },
    /// The lock's file could not be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl FileLock {
    /// Takes the lock at `path` if it is free, and notes `holder` in it.
    pub fn try_take(path: &Path, holder: &str) -> Result<Self, LockError> {
        let mut file = open(path)?;
        match file.try_lock() {
            Ok(()) => {
                write_holder(&mut file, holder).map_err(StoreError::io_error(path))?;
                Ok(Self { _file: file })
            }
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                // A holder that is just writing its name is still a holder: whatever can be read is good enough.
                let _ = file.read_to_string(&mut holder);
                Err(LockError::Held { holder })
            }
            Err(TryLockError::Error(source)) => Err(StoreError::Io { path: path.to_owned(), source }.into()),
        }
    }

    /// Like [`FileLock::try_take`], but waits at most for `wait` while the lock is only shared: whoever shares it needs it for
    /// a moment, whoever has it alone keeps it for long and is told to the caller at once.
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

    /// Asks `waits` after every look that found the lock shared.
    fn take_from_sharers_while(
        path: &Path,
        holder: &str,
        mut waits: impl FnMut() -> bool,
    ) -> Result<Self, LockError> {
        let mut wait = None;
        loop {
            match Self::try_take(path, holder) {
                // Sharing tells the two kinds of holders apart without trusting what is written in the file: that may
                // still be the name of a holder who is gone.
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

    /// Takes a part of the lock at `path` if nobody has all of it.
    pub fn try_share(path: &Path) -> Result<Option<Self>, StoreError> {
        let file = open(path)?;
        match file.try_lock_shared() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(StoreError::Io { path: path.to_owned(), source }),
        }
    }

    /// Takes a part of the lock at `path`, which any number of processes may hold at once as long as nobody has all of it;
    /// waits for whoever has.
    pub fn share(path: &Path) -> Result<Self, StoreError> {
        if let Some(lock) = Self::try_share(path)? {
            return Ok(lock);
        }
        let file = open(path)?;
        let _wait = log_wait(path);
        file.lock_shared().map_err(StoreError::io_error(path))?;
        Ok(Self { _file: file })
    }

    /// Takes a part of the lock at `path` for a moment, waiting at most for `wait`.
    pub fn share_within(path: &Path, wait: Duration) -> Result<Self, LockError> {
        match Self::try_share(path)? {
            Some(lock) => Ok(lock),
            None => Self::wait_for(path, wait, Self::share),
        }
    }

    /// Takes the lock at `path` for a moment if it is free.
    pub fn poll(path: &Path) -> Result<Option<Self>, StoreError> {
        let file = open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(StoreError::Io { path: path.to_owned(), source }),
        }
    }

    /// Takes the lock at `path` for a moment, waiting at most for `wait`. Those who wait are served in the order in which
    /// they came.
    pub fn take_within(path: &Path, wait: Duration) -> Result<Self, LockError> {
        match Self::poll(path)? {
            Some(lock) => Ok(lock),
            None => Self::wait_for(path, wait, Self::take),
        }
    }

    /// Waits in the system's own queue, which has no time limit: hence on a thread that can be left behind. If it is
    /// served too late, it gives the lock back at once.
    fn wait_for(
        path: &Path,
        wait: Duration,
        take: fn(&Path) -> Result<Self, StoreError>,
    ) -> Result<Self, LockError> {
        let (served, turn) = mpsc::sync_channel(0);
        let waiting = path.to_owned();
        let span = tracing::Span::current();
        std::thread::spawn(move || {
            // Nobody listens any more who has waited too long.
            let _ = served.send(span.in_scope(|| take(&waiting)));
        });
        match turn.recv_timeout(wait) {
            Ok(taken) => Ok(taken?),
            Err(_) => Err(LockError::Held { holder: holder_process(path) }),
        }
    }

    /// Takes the lock at `path`, waiting for whoever holds it.
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

/// A span for as long as the lock at `path` is waited for; the log then tells who is in the way.
fn log_wait(path: &Path) -> tracing::span::EnteredSpan {
    tracing::info_span!("wait for lock", path = ?path, holder = holder_process(path)).entered()
}

/// Who holds the lock at `path`, as far as the system tells.
fn holder_process(path: &Path) -> String {
    let inode = std::fs::symlink_metadata(path).map(|facts| facts.ino());
    let table = std::fs::read_to_string("/proc/locks").unwrap_or_default();
    // A line: number, kind, how, access, process, device and inode, range. Who waits has an arrow behind the number.
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
    options.read(true).write(true).create(true).truncate(false).custom_flags(durable::NOFOLLOW_NONBLOCK);
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
        // What the file says does not matter: this run has ended.
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
        // The thread that was left behind is served and lets go.
        FileLock::take_within(&path, probity_testkit::STUCK_TIMEOUT).expect("is free again");
    }
}
