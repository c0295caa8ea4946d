//! Commits in a file: storage for the crate `documents`, shared by many processes on one machine.
//!
//! * Acknowledged means durable: [`CommitStore::append`] returns when the commit is on disk (SQLite with a write-ahead
//!   log and `synchronous=FULL`). [`CommitStore::append_all`] shares one flush among several commits.
//! * Reads are verified: a commit whose bytes do not match its hash is reported, never used.
//! * Reading costs only what was written since the nearest snapshot, and for one document only what touched it.
//!   Memory use does not grow with the history.
//!
//! ```
//! use probity_documents::{CommitStamp, DocumentEngine, DocumentSchema, MutationBuilder};
//! use probity_document_store::store::CommitStore;
//! use serde_json::json;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("tickets.db");
//! let schema = DocumentSchema::parse("attachment count: int64")?;
//! let store = CommitStore::create(&path, &schema)?;
//! let mut first = MutationBuilder::new(store.schema());
//! first.document("count", "visits").set(&json!(1))?;
//! let id = store.append(first.commit(None, CommitStamp::new("ann", "create", 1000)?))?;
//!
//! // Another process, later.
//! let store = CommitStore::open(&path)?;
//! assert_eq!(store.heads()?, [id]);
//! let state = store.read(|view| DocumentEngine::new(view).state(&id))??;
//! assert_eq!(state.to_json(store.schema()), json!({"count": {"visits": 1}}));
//! # Ok(())
//! # }
//! ```

#![expect(
    clippy::redundant_closure_for_method_calls,
    reason = "a method of a view of one lifetime does not take a view of any lifetime"
)]

mod append;
mod batch_read;
mod check;
mod commit_cache;
mod commit_view;
mod exchange;
mod metadata;
mod schema;
mod snapshots;

pub use append::WriteTransaction;
pub use check::{StoreCheckReport, StoreFinding};
pub use commit_view::CommitView;
pub use exchange::{SyncDirection, SyncSummary, TransferSummary};
pub use metadata::MAX_BLOB_BYTES;

use commit_cache::CommitCache;
use probity_documents::{
    AppendError, BadRefName, CommitId, DocumentSchema, HistoryError, SchemaError, TypeMismatch,
};
use probity_storage::{StoreError, database};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Errors of a commit store. In every case but [`CommitsError::Unknown`], the transaction wrote nothing.
#[derive(Debug, thiserror::Error)]
pub enum CommitsError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    History(#[from] HistoryError),
    #[error(transparent)]
    Append(AppendError),
    #[error("commit {commit} names the blob {blob}, which is not there")]
    MissingBlob { commit: CommitId, blob: probity_core::Digest },
    #[error("{0} is there already")]
    Exists(PathBuf),
    /// The schema is invalid, or not a compatible successor of the present one.
    #[error("the schema does not fit: {0}")]
    Schema(#[from] SchemaError),
    /// Another process changed the schema after this one opened the store.
    #[error("the schema has become version {now} meanwhile: open the store again")]
    SchemaMoved { now: i64 },
    #[error(transparent)]
    Name(#[from] BadRefName),
    /// The ref no longer names the expected commit.
    #[error("the ref `{name}` has moved: it names {}", now.map_or("nothing".into(), |id| id.to_string()))]
    RefMoved { name: probity_documents::RefName, now: Option<CommitId> },
    #[error("line {line}: {why}")]
    Bundle {
        /// Counted from 1.
        line: usize,
        why: String,
    },
    #[error(transparent)]
    Misfit(#[from] TypeMismatch),
    /// It is unknown whether the write was kept. Repeating it is safe: existing commits are left alone.
    #[error("it is not known if the write was kept; repeat it, nothing is written twice")]
    Unknown,
}

impl From<AppendError> for CommitsError {
    fn from(error: AppendError) -> Self {
        match error {
            AppendError::History(error) => Self::History(error),
            refused => Self::Append(refused),
        }
    }
}

#[derive(Debug)]
pub struct CommitStore {
    path: PathBuf,
    schema: DocumentSchema,
    writer: Mutex<Connection>,
    reader: Mutex<Connection>,
    recent: CommitCache,
}

impl CommitStore {
    /// Creates a store at `path`, where none may exist yet.
    pub fn create(path: &Path, schema: &DocumentSchema) -> Result<Self, CommitsError> {
        if database::exists(path)? {
            return Err(CommitsError::Exists(path.to_owned()));
        }
        let connection = schema::COMMIT_STORE_FORMAT.open_or_create(path)?;
        let json = probity_core::json::canonical(&schema.to_json());
        let version = i64::from(schema.version());
        // The first creator's schema wins; a concurrent one opens that store.
        let first =
            "INSERT INTO schema_version SELECT ?1, ?2 WHERE NOT EXISTS (SELECT 1 FROM schema_version)";
        connection.execute(first, (version, json)).map_err(StoreError::engine_error(path))?;
        drop(connection);
        Self::open(path)
    }

    pub fn open(path: &Path) -> Result<Self, CommitsError> {
        let connect = || {
            let connection = schema::COMMIT_STORE_FORMAT.open(path)?;
            set_pragmas(&connection).map_err(StoreError::engine_error(path))?;
            Ok::<_, StoreError>(connection)
        };
        let (writer, reader) = (connect()?, connect()?);
        let schema = read_schema(&reader, path)?;
        Ok(Self {
            path: path.to_owned(),
            schema,
            writer: Mutex::new(writer),
            reader: Mutex::new(reader),
            recent: CommitCache::default(),
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub const fn schema(&self) -> &DocumentSchema {
        &self.schema
    }

    /// Replaces the schema with a newer one, which may only add to the present one.
    pub fn evolve(&mut self, newer: &DocumentSchema) -> Result<(), CommitsError> {
        let json = probity_core::json::canonical(&newer.to_json());
        self.write(|writing| {
            let present = read_schema(writing.connection(), &self.path)?;
            present.check_successor(newer)?;
            let row = (i64::from(newer.version()), json);
            writing.execute("INSERT INTO schema_version VALUES (?1, ?2)", row)
        })?;
        self.schema = newer.clone();
        // Commits read under the old schema lack the new fields.
        self.recent = CommitCache::default();
        Ok(())
    }

    /// Reads from one consistent snapshot of the database.
    pub fn read<T>(&self, read: impl FnOnce(&CommitView<'_>) -> T) -> Result<T, CommitsError> {
        let connection = lock(&self.reader);
        let _transaction = SqlTransaction::begin(&connection, "BEGIN").map_err(self.engine())?;
        let view = CommitView::new(self, &connection, false)?;
        let answer = read(&view);
        self.recent.add(view.into_decoded());
        Ok(answer)
    }

    /// Runs `write` in one transaction, committed and on disk when this returns; nothing is written if it fails.
    pub fn write<T>(
        &self,
        write: impl FnOnce(&mut WriteTransaction<'_>) -> Result<T, CommitsError>,
    ) -> Result<T, CommitsError> {
        let connection = lock(&self.writer);
        // SQLite alone would let one process starve another under contention.
        let _turn = database::lock_for_writing(&self.path)?;
        let transaction = SqlTransaction::begin(&connection, "BEGIN IMMEDIATE").map_err(self.engine())?;
        let mut writing = WriteTransaction::new(CommitView::new(self, &connection, true)?)?;
        let answer = write(&mut writing)?;
        let decoded = writing.into_view().into_decoded();
        transaction.commit().map_err(|_| CommitsError::Unknown)?;
        // Only after the commit do the numbers belong to these commits permanently.
        self.recent.add(decoded);
        Ok(answer)
    }

    fn engine(&self) -> impl Fn(rusqlite::Error) -> CommitsError + '_ {
        |error| StoreError::engine_error(&self.path)(error).into()
    }
}

/// A transaction with cached statements, because preparing them is a good part of the cost of a small one. It is
/// rolled back unless committed.
struct SqlTransaction<'c>(Option<&'c Connection>);

impl<'c> SqlTransaction<'c> {
    fn begin(connection: &'c Connection, words: &str) -> rusqlite::Result<Self> {
        connection.prepare_cached(words)?.execute([])?;
        Ok(Self(Some(connection)))
    }

    fn commit(mut self) -> rusqlite::Result<()> {
        let Some(connection) = self.0 else { return Ok(()) };
        connection.prepare_cached("COMMIT")?.execute([])?;
        self.0 = None;
        Ok(())
    }
}

impl Drop for SqlTransaction<'_> {
    fn drop(&mut self) {
        if let Some(connection) = self.0 {
            // If this fails, SQLite rolls back when the file is closed or next opened.
            let _ = connection.prepare_cached("ROLLBACK").and_then(|mut words| words.execute([]));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn set_pragmas(connection: &Connection) -> rusqlite::Result<()> {
    // The indexes of a long history do not fit into the small default.
    connection.pragma_update(None, "cache_size", -16_000)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(())
}

fn read_schema(connection: &Connection, path: &Path) -> Result<DocumentSchema, CommitsError> {
    let newest = "SELECT json FROM schema_version ORDER BY version DESC LIMIT 1";
    let bytes: Vec<u8> =
        connection.query_row(newest, [], |row| row.get(0)).map_err(StoreError::engine_error(path))?;
    let damaged =
        |why: String| StoreError::Damaged { path: path.to_owned(), why: format!("its schema: {why}") };
    let json = probity_core::json::parse(&bytes).map_err(|error| damaged(error.to_string()))?;
    Ok(DocumentSchema::from_json(&json).map_err(|error| damaged(error.to_string()))?)
}

#[cfg(test)]
mod tests;
