//! Probity's files on disk: locks, durable writes, logs, caches and databases, with the guarantees each one gives.
//!
//! Owns: locks, durable writes, the journal, objects, the database.
//! May use: core.
//! Must not know: what a run, a scope or a bundle proves.
//!
//! * [`ports`]: the four interfaces that the rules need from a database. [`memory_store`] and [`sqlite`] implement
//!   them, and [`conformance`] checks every engine against the same promises.
//! * [`ObjectFiles`]: content-addressed bytes, checked against their digest on every read.
//! * [`FileLock`]: exclusive to one living process or shared by several; the system releases it when they die.
//! * [`CacheFile`]: the file format of every cache.
//! * [`sqlite::merkle_log`]: every event of a SQLite store is a leaf of one append-only tree, whose head is noted elsewhere too.
//! * [`journal`]: an append-only log, framed and chained, that many processes append to.
//! * [`durable`]: writes that leave either the old file or the new one, even if the process is killed.

pub mod boot;
mod cache;
pub mod conformance;
pub mod database;
pub mod durable;
pub mod journal;
mod local_disk;
mod lock;
pub mod memory_store;
mod objects;
pub mod ports;
pub mod sqlite;

pub use cache::{CacheFile, CacheKind};
pub use journal::{Journal, JournalPosition, JournalWriter, TornTail};
pub use lock::{FileLock, LockError};
pub use objects::ObjectFiles;
pub use sqlite::merkle_log::{HeadNote, ListedLeaf, LogHead, NewEvent};

use std::io;
use std::path::{Path, PathBuf};

/// An error from the file system or from one of Probity's files, with its path.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: io::Error },
    /// The file's content is not what Probity wrote.
    #[error("{path} is damaged: {why}")]
    Damaged { path: PathBuf, why: String },
    /// A log is shorter than another place says it was.
    #[error("{path}: {why}")]
    Shortened { path: PathBuf, why: String },
    /// A log differs from what another place says about the same part of it.
    #[error("{path}: {why}")]
    Inconsistent { path: PathBuf, why: String },
    /// A newer version of Probity wrote the file.
    #[error("{path} has version {found}, and this program knows versions up to {known}")]
    Newer { path: PathBuf, found: i64, known: i64 },
    /// The directory is on a network file system, where locks of other machines are not visible.
    #[error(
        "{path} lies on a network file system ({kind}), where a database for several processes is not safe"
    )]
    Network { path: PathBuf, kind: String },
    /// Another process has held the write lock for too long.
    #[error("{path} cannot be written: {holder} has not let go of it")]
    Busy { path: PathBuf, holder: String },
    /// The database engine failed; nothing is known to be damaged.
    #[error("{path}: {why}")]
    Engine { path: PathBuf, why: String },
    /// A store of several machines did not answer in time; nothing is known about what was asked.
    #[error("{store} cannot be reached: {why}")]
    Unreachable { store: String, why: String },
    /// A store of several machines refused the caller's rights.
    #[error("{store} refuses: {why}")]
    Denied { store: String, why: String },
    /// A store of several machines has no space left; nothing was written.
    #[error("{store} is full: {why}")]
    Full { store: String, why: String },
    /// A store of several machines is not the one that this clone joined, or is too old to be trusted.
    #[error("{store}: {why}")]
    Unfit { store: String, why: String },
    /// The events that were asked for were cut off; a snapshot stands for them.
    #[error("the events up to {at} were cut off")]
    Cut { at: u64 },
    /// Larger than the limit that all engines share.
    #[error("{what} has {bytes} bytes, and at most {most} are taken")]
    TooLarge { what: &'static str, bytes: usize, most: usize },
}

impl StoreError {
    /// Wraps an I/O error about `path`.
    pub fn io_error(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }

    /// Wraps an engine error about the database at `path`, telling damage apart from other failures.
    pub fn engine_error(path: &Path) -> impl FnOnce(rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        let path = path.to_owned();
        move |error| match error.sqlite_error_code() {
            Some(DatabaseCorrupt | NotADatabase) => Self::Damaged { path, why: error.to_string() },
            _ => Self::Engine { path, why: error.to_string() },
        }
    }
}
