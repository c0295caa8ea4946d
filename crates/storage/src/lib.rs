//! Probity's own files on disk, its store, and what can be relied on about them.
//!
//! Owns: locks, durable writes, the journal, objects, the database.
//! May use: core.
//! Must not know: what a run, a scope or a bundle proves.
//!
//! * [`ports`]: the four things that the rules ask of a database; [`memory_store`] and [`sqlite`] are its engines, and
//!   [`conformance`] holds every engine to the same promises.
//! * [`ObjectFiles`]: content-addressed bytes (before-images, records of intents), checked against their digest when read.
//! * [`FileLock`]: held by at most one living process; the system frees it when the process dies.
//! * [`CacheFile`]: the container of every cache.
//! * [`HashChain`]: the head of a hash chain (evidence, receipts), moved under its lock.
//! * [`journal`]: an append-only log, framed and chained, that many processes append to.
//! * [`durable`]: writing so that a kill at any instant leaves the old file or the new one.
//!
//! Nothing here knows what a run, a scope or a bundle is.

pub mod boot;
mod cache;
mod chain_head;
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
pub use chain_head::HashChain;
pub use journal::{Journal, JournalPosition, JournalWriter, TornTail};
pub use lock::{FileLock, LockError};
pub use objects::ObjectFiles;

use std::io;
use std::path::{Path, PathBuf};

/// A fault of the file system or of our own files, with the place where it happened.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The system refused.
    #[error("{path}: {source}")]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file of ours is not what was written.
    #[error("{path} is damaged: {why}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A newer program wrote it.
    #[error("{path} has version {found}, and this program knows versions up to {known}")]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The newest version that this program knows.
        known: i64,
    },
    /// The folder can be reached by other machines, whose locks do not count here.
    #[error(
        "{path} lies on a network file system ({kind}), where a database for several processes is not safe"
    )]
    Network {
        /// The folder.
        path: PathBuf,
        /// The kind of file system.
        kind: String,
    },
    /// Somebody keeps the right to write and does not give it back.
    #[error("{path} cannot be written: {holder} has not let go of it")]
    Busy {
        /// The file.
        path: PathBuf,
        /// Who.
        holder: String,
    },
    /// The engine failed, and nothing is known to be damaged.
    #[error("{path}: {why}")]
    Engine {
        /// The database.
        path: PathBuf,
        /// What the engine said.
        why: String,
    },
    /// Larger than every engine takes.
    #[error("{what} has {bytes} bytes, and at most {most} are taken")]
    TooLarge {
        /// What.
        what: &'static str,
        /// Its size.
        bytes: usize,
        /// The bound.
        most: usize,
    },
}

impl StoreError {
    /// What the system said about `path`.
    pub fn io_error(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }

    /// What the engine said about the database at `path`.
    pub fn engine_error(path: &Path) -> impl FnOnce(rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        let path = path.to_owned();
        move |error| match error.sqlite_error_code() {
            Some(DatabaseCorrupt | NotADatabase) => Self::Damaged { path, why: error.to_string() },
            _ => Self::Engine { path, why: error.to_string() },
        }
    }
}
