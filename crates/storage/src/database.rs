//! Opens Probity's SQLite databases, whatever tables they hold.
//!
//! * Durable: the write-ahead log is flushed before a write returns.
//! * Fair: every write first takes a lock on a separate file, which serves waiters in order. SQLite's own waiting
//!   does not: one process can starve another for many seconds.
//! * Never silently emptied: a database is built aside and renamed into place, so an existing file that is empty,
//!   truncated or foreign is reported as damage.

use crate::{FileLock, LockError, StoreError, durable, local_disk};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A write takes a millisecond, so a holder that keeps the lock longer than this is stopped or stuck.
const WRITE_LOCK_TIMEOUT: Duration = Duration::from_secs(30);
/// SQLite's own wait: the fallback for processes that do not take the lock.
const SQLITE_BUSY_TIMEOUT: Duration = Duration::from_secs(10);
const MIN_DATABASE_BYTES: u64 = 512;
/// Length of the write-ahead log up to which it is kept when everybody has closed the database. The next to open it
/// reads the log.
const MAX_KEPT_LOG_BYTES: u64 = 400_000;

/// The identity and the migrations of one kind of database.
pub struct DatabaseFormat {
    /// SQLite's `application_id`, which marks a database as one of this kind.
    pub application: i64,
    /// The name used in error messages.
    pub what: &'static str,
    /// Whether the last writes may stay in a short write-ahead log when everybody has closed the database. Folding the log
    /// into it flushes three times, which commands that write little would wait for each time; but then a copy of the file
    /// alone lacks those writes.
    pub keeps_log: bool,
    /// SQL steps from each version to the next. The version is the number of steps applied.
    pub migrations: &'static [&'static str],
}

impl DatabaseFormat {
    /// Opens the database at `path`, creating it if it does not exist.
    pub fn open_or_create(&self, path: &Path) -> Result<Connection, StoreError> {
        let directory = durable::parent_directory(path);
        durable::create_dir(directory)?;
        local_disk::check(directory)?;
        if !exists(path)? {
            self.create(path)?;
        }
        self.open(path)
    }

    /// Opens the database at `path`, which must exist.
    pub fn open(&self, path: &Path) -> Result<Connection, StoreError> {
        let mut connection = connect(path)?;
        if self.keeps_log && log_bytes(path) <= MAX_KEPT_LOG_BYTES {
            let kept = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
            kept.map_err(StoreError::engine_error(path))?;
        }
        if self.check(&connection, path)? < self.version() {
            let _turn = lock_for_writing(path)?;
            migrate(&mut connection, self.migrations).map_err(StoreError::engine_error(path))?;
        }
        Ok(connection)
    }

    fn version(&self) -> i64 {
        i64::try_from(self.migrations.len()).unwrap_or(i64::MAX)
    }

    /// Returns the version of a database that is of this kind and not newer than this program.
    fn check(&self, connection: &Connection, path: &Path) -> Result<i64, StoreError> {
        let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        let application = number("application_id").map_err(StoreError::engine_error(path))?;
        if application != self.application {
            let why = format!("it is a database, but no {} of Probity's", self.what);
            return Err(StoreError::Damaged { path: path.to_owned(), why });
        }
        let found = number("user_version").map_err(StoreError::engine_error(path))?;
        if found > self.version() {
            return Err(StoreError::Newer { path: path.to_owned(), found, known: self.version() });
        }
        Ok(found)
    }

    /// Builds a new database aside and renames it into place when it is complete.
    fn create(&self, path: &Path) -> Result<(), StoreError> {
        let _turn = lock_for_writing(path)?;
        if exists(path)? {
            return Ok(());
        }
        let beside = |suffix: &str| path_beside(path, suffix);
        if exists(&beside("-wal"))? {
            // SQLite would replay the stale log into the new database.
            let why = "it is gone, but its write-ahead log is still there";
            return Err(StoreError::Damaged { path: path.to_owned(), why: why.into() });
        }
        let unfinished = beside(".new");
        for suffix in [".new", ".new-journal", ".new-wal", ".new-shm"] {
            durable::remove(&beside(suffix))?;
        }
        // SQLite fills an existing file, readable by its owner only; one that it created would be readable by others.
        durable::write(&unfinished, b"")?;
        self.fill(&unfinished).map_err(StoreError::engine_error(&unfinished))?;
        std::fs::rename(&unfinished, path).map_err(StoreError::io_error(path))?;
        durable::sync_dir(durable::parent_directory(path))
    }

    fn fill(&self, path: &Path) -> rusqlite::Result<()> {
        let mut connection = Connection::open(path)?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "application_id", self.application)?;
        migrate(&mut connection, self.migrations)?;
        // This mode is stored in the file, so every later connection uses it.
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
        connection.close().map_err(|(_, error)| error)
    }
}

/// Reads the whole database and reports damage. The cost is proportional to its size.
pub fn check_pages(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let mut found = Vec::new();
    let read = connection
        .pragma_query(None, "integrity_check", |row| row.get(0).map(|line: String| found.push(line)));
    read.map_err(StoreError::engine_error(path))?;
    match found.as_slice() {
        [line] if line == "ok" => Ok(()),
        lines => Err(StoreError::Damaged { path: path.to_owned(), why: lines.join("; ") }),
    }
}

pub fn lock_for_writing(path: &Path) -> Result<FileLock, StoreError> {
    let lock = path.with_extension("lock");
    FileLock::take_within(&lock, WRITE_LOCK_TIMEOUT).map_err(|error| match error {
        LockError::Held { holder } => StoreError::Busy { path: path.to_owned(), holder },
        LockError::Store(error) => error,
    })
}

/// Tells whether anything exists at `path`, without following a link.
pub fn exists(path: &Path) -> Result<bool, StoreError> {
    match std::fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(StoreError::Io { path: path.to_owned(), source }),
    }
}

fn connect(path: &Path) -> Result<Connection, StoreError> {
    let facts = std::fs::symlink_metadata(path).map_err(StoreError::io_error(path))?;
    if !facts.is_file() || facts.len() < MIN_DATABASE_BYTES {
        let why = "it is not a database: not a plain file, or cut off";
        return Err(StoreError::Damaged { path: path.to_owned(), why: why.into() });
    }
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let open = || {
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(SQLITE_BUSY_TIMEOUT)?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "trusted_schema", "OFF")?;
        connection.pragma_update(None, "cell_size_check", "ON")?;
        // Without this, SQLite plans a statement again when it is used with other values.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        Ok(connection)
    };
    open().map_err(StoreError::engine_error(path))
}

/// Returns the length of the write-ahead log of a database.
fn log_bytes(path: &Path) -> u64 {
    std::fs::metadata(path_beside(path, "-wal")).map_or(0, |facts| facts.len())
}

/// Returns the path of a file that belongs to a database.
fn path_beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Applies the missing migrations in one transaction; another process may already have done so.
pub fn migrate(connection: &mut Connection, migrations: &[&str]) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    for migration in migrations.iter().skip(usize::try_from(version).unwrap_or(0)) {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "user_version", migrations.len())?;
    transaction.commit()
}
