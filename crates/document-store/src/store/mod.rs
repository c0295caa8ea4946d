//! Commits in a file: the storage of the crate `documents`, for many processes of one machine.
//!
//! * Acknowledged is durable: [`CommitStore::append`] answers when the commit is on disk, as SQLite with a write-ahead log
//!   and `synchronous=FULL` promises. Whoever has several commits shares one flush with [`CommitStore::append_all`].
//! * What is read is checked: a commit whose bytes do not have its hash is named, never used.
//! * Reading costs what was written since the nearest kept state, and for one document only what touched it. The
//!   memory of an open store does not grow with its history.
//!
//! ```
//! use probity_documents::{DocumentEngine, MutationBuilder, DocumentSchema, CommitStamp};
//! use probity_document_store::store::CommitStore;
//! use serde_json::json;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("tickets.db");
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

/// Why a commit store did not do what was asked. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum CommitsError {
    /// The file could not be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The history could not be read.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// The commit cannot be appended.
    #[error(transparent)]
    Append(AppendError),
    /// The commit names a blob that is not there.
    #[error("commit {commit} names the blob {blob}, which is not there")]
    MissingBlob {
        /// The commit.
        commit: CommitId,
        /// The blob.
        blob: probity_core::Digest,
    },
    /// There is a store already.
    #[error("{0} is there already")]
    Exists(PathBuf),
    /// The schema is none, or no successor of the present one.
    #[error("the schema does not fit: {0}")]
    Schema(#[from] SchemaError),
    /// Another process has changed the schema since this one opened the store.
    #[error("the schema has become version {now} meanwhile: open the store again")]
    SchemaMoved {
        /// The version now.
        now: i64,
    },
    /// The name is none.
    #[error(transparent)]
    Name(#[from] BadRefName),
    /// A ref no longer names what was expected.
    #[error("the ref `{name}` has moved: it names {}", now.map_or("nothing".into(), |id| id.to_string()))]
    RefMoved {
        /// The ref.
        name: probity_documents::RefName,
        /// What it names now.
        now: Option<CommitId>,
    },
    /// A line of a bundle is not what it should be.
    #[error("line {line}: {why}")]
    Bundle {
        /// The number of the line, from 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
    /// A document does not fit the schema.
    #[error(transparent)]
    Misfit(#[from] TypeMismatch),
    /// It is not known whether a write was kept. Commits can be appended again: what is there is left alone.
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

/// A store of commits in a file.
#[derive(Debug)]
pub struct CommitStore {
    path: PathBuf,
    schema: DocumentSchema,
    writer: Mutex<Connection>,
    reader: Mutex<Connection>,
    recent: CommitCache,
}

impl CommitStore {
    /// Makes a store at `path`, where there must be none yet.
    pub fn create(path: &Path, schema: &DocumentSchema) -> Result<Self, CommitsError> {
        if database::exists(path)? {
            return Err(CommitsError::Exists(path.to_owned()));
        }
        let connection = schema::COMMIT_STORE_FORMAT.open_or_create(path)?;
        let json = probity_core::json::canonical(&schema.to_json());
        let version = i64::from(schema.version());
        // Whoever is first decides; a second maker opens what the first one made.
        let first =
            "INSERT INTO schema_version SELECT ?1, ?2 WHERE NOT EXISTS (SELECT 1 FROM schema_version)";
        connection.execute(first, (version, json)).map_err(StoreError::engine_error(path))?;
        drop(connection);
        Self::open(path)
    }

    /// Opens the store at `path`.
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

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The schema that documents follow.
    pub const fn schema(&self) -> &DocumentSchema {
        &self.schema
    }

    /// Gives the store a newer schema, which may only add to the present one.
    pub fn evolve(&mut self, newer: &DocumentSchema) -> Result<(), CommitsError> {
        let json = probity_core::json::canonical(&newer.to_json());
        self.write(|writing| {
            let present = read_schema(writing.connection(), &self.path)?;
            present.check_successor(newer)?;
            let row = (i64::from(newer.version()), json);
            writing.execute("INSERT INTO schema_version VALUES (?1, ?2)", row)
        })?;
        self.schema = newer.clone();
        // Commits that were read under the old schema lack the new fields.
        self.recent = CommitCache::default();
        Ok(())
    }

    /// Reads: everything that the closure sees is of one instant.
    pub fn read<T>(&self, read: impl FnOnce(&CommitView<'_>) -> T) -> Result<T, CommitsError> {
        let connection = lock(&self.reader);
        let _transaction = SqlTransaction::begin(&connection, "BEGIN").map_err(self.engine())?;
        let view = CommitView::new(self, &connection, false)?;
        let answer = read(&view);
        self.recent.add(view.into_decoded());
        Ok(answer)
    }

    /// Writes: all that the closure does, or nothing if it fails. It is on disk when this returns.
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
        // Only now do the numbers belong to these commits for good.
        self.recent.add(decoded);
        Ok(answer)
    }

    fn engine(&self) -> impl Fn(rusqlite::Error) -> CommitsError + '_ {
        |error| StoreError::engine_error(&self.path)(error).into()
    }
}

/// A transaction whose words are prepared once, and not each time: for small ones that is a good part of the work. It is
/// taken back unless it is kept.
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
            // What cannot be taken back now is when the file is closed or opened next.
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

/// The newest schema of the store.
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
