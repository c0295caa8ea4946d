//! The ports on SQLite: the embedded default, for many processes on one machine. See [`database`] for its guarantees.

pub mod merkle_log;
mod ports;
mod schema;

use crate::{StoreError, database};
use merkle_log::HeadNote;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A database. Clones share the connection.
#[derive(Debug, Clone)]
pub struct SqliteStore {
    shared: Arc<SharedConnection>,
}

#[derive(Debug)]
struct SharedConnection {
    path: PathBuf,
    connection: Mutex<Connection>,
    /// Where the head of the tree over all events is noted after every append.
    note: Option<Box<dyn HeadNote>>,
}

impl SqliteStore {
    /// Opens the database at `path`, creating it if it does not exist.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::open_noted(path, None)
    }

    /// Like [`Self::open`], with a second place that knows the head of the tree over all events.
    pub fn open_noted(path: &Path, note: Option<Box<dyn HeadNote>>) -> Result<Self, StoreError> {
        let connection = schema::PORTS_FORMAT.open_or_create(path)?;
        let shared = SharedConnection { path: path.to_owned(), connection: Mutex::new(connection), note };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Reads the whole database and reports damage. The cost is proportional to its size.
    pub fn check(&self) -> Result<(), StoreError> {
        database::check_pages(&self.connection(), self.path())
    }

    fn path(&self) -> &Path {
        &self.shared.path
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.shared.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn engine_error(&self) -> impl Fn(rusqlite::Error) -> StoreError + '_ {
        |error| StoreError::engine_error(self.path())(error)
    }

    fn damaged(&self, why: impl Into<String>) -> StoreError {
        StoreError::Damaged { path: self.path().to_owned(), why: why.into() }
    }

    fn note(&self) -> Option<&dyn HeadNote> {
        self.shared.note.as_deref()
    }

    fn unknown_outcome_error(&self) -> StoreError {
        StoreError::Engine {
            path: self.path().to_owned(),
            why: "it is not known if the write was kept".into(),
        }
    }

    fn read<T>(&self, read: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        read(&self.connection()).map_err(self.engine_error())
    }

    /// Runs one write transaction. `None` means that the commit failed, so it is unknown whether the write was kept.
    fn write<T>(
        &self,
        write: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        let _turn = database::lock_for_writing(self.path())?;
        self.write_in_turn(write)
    }

    /// Like [`Self::write`], for a caller that holds the write lock.
    fn write_in_turn<T>(
        &self,
        write: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        let mut connection = self.connection();
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(self.engine_error())?;
        let answer = write(&transaction).map_err(self.engine_error())?;
        tracing::trace!(target: "probity::work", database_commits = 1_u64);
        Ok(transaction.commit().is_ok().then_some(answer))
    }
}

#[cfg(test)]
mod tests;
