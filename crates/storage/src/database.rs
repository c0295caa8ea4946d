//! Opening databases of ours, whatever is in them.
//!
//! * Durable: the write-ahead log is flushed before a write is answered.
//! * Fair: every write first takes a lock on a file of its own, in which waiting is first come, first served. SQLite's
//!   own waiting is not: one process can starve another for many seconds.
//! * Never emptied: a database is made complete and then put in place, so that a file that is there and empty, cut off
//!   or not ours is damage, and is said to be.

use crate::{FileLock, LockError, StoreError, durable, local_disk};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a write waits for its turn. Whoever holds it longer is stopped or stuck, for a write takes a millisecond.
const WRITE_LOCK_TIMEOUT: Duration = Duration::from_secs(30);
/// How long SQLite itself waits: the second line, for processes that do not take the lock.
const SQLITE_BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// A database has at least one page.
const MIN_DATABASE_BYTES: u64 = 512;

/// What a kind of database is made of.
pub struct DatabaseFormat {
    /// Marks a database as one of this kind.
    pub application: i64,
    /// What it is called.
    pub what: &'static str,
    /// What brings a database from one version to the next. The version is the number of those that were carried out.
    pub migrations: &'static [&'static str],
}

impl DatabaseFormat {
    /// Opens the database at `path`, and makes it if there is none.
    pub fn open_or_create(&self, path: &Path) -> Result<Connection, StoreError> {
        let folder = durable::parent_directory(path);
        durable::create_dir(folder)?;
        local_disk::check(folder)?;
        if !exists(path)? {
            self.create(path)?;
        }
        self.open(path)
    }

    /// Opens the database at `path`, which must be there.
    pub fn open(&self, path: &Path) -> Result<Connection, StoreError> {
        let mut connection = connect(path)?;
        if self.check(&connection, path)? < self.version() {
            let _turn = lock_for_writing(path)?;
            migrate(&mut connection, self.migrations).map_err(StoreError::engine_error(path))?;
        }
        Ok(connection)
    }

    fn version(&self) -> i64 {
        i64::try_from(self.migrations.len()).unwrap_or(i64::MAX)
    }

    /// The version of a database that is ours and not newer than this program.
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

    /// Makes a new database aside and puts it in place when it is whole.
    fn create(&self, path: &Path) -> Result<(), StoreError> {
        let _turn = lock_for_writing(path)?;
        if exists(path)? {
            return Ok(());
        }
        let beside = |suffix: &str| {
            let mut name = path.as_os_str().to_owned();
            name.push(suffix);
            PathBuf::from(name)
        };
        if exists(&beside("-wal"))? {
            // It would be replayed into the new one.
            let why = "it is gone, but its write-ahead log is still there";
            return Err(StoreError::Damaged { path: path.to_owned(), why: why.into() });
        }
        let unfinished = beside(".new");
        for suffix in [".new", ".new-journal", ".new-wal", ".new-shm"] {
            durable::remove(&beside(suffix))?;
        }
        // An empty file that its owner alone can read is what SQLite fills; its own would be readable for others.
        durable::write(&unfinished, b"")?;
        self.fill(&unfinished).map_err(StoreError::engine_error(&unfinished))?;
        std::fs::rename(&unfinished, path).map_err(StoreError::io_error(path))?;
        durable::sync_dir(durable::parent_directory(path))
    }

    /// Fills a new file.
    fn fill(&self, path: &Path) -> rusqlite::Result<()> {
        let mut connection = Connection::open(path)?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "application_id", self.application)?;
        migrate(&mut connection, self.migrations)?;
        // Kept in the file: whoever opens it writes ahead.
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
        connection.close().map_err(|(_, error)| error)
    }
}

/// Reads the whole database and says if any of it is damaged. Takes time in proportion to its size.
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

/// Waits for this process's turn to write.
pub fn lock_for_writing(path: &Path) -> Result<FileLock, StoreError> {
    let lock = path.with_extension("lock");
    FileLock::take_within(&lock, WRITE_LOCK_TIMEOUT).map_err(|error| match error {
        LockError::Held { holder } => StoreError::Busy { path: path.to_owned(), holder },
        LockError::Store(error) => error,
    })
}

/// Whether there is something at `path`.
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
        let why = "it is no database: not a plain file, or cut off";
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
        // Otherwise a statement is planned again whenever it is used with other values, in the hope of a better plan.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        Ok(connection)
    };
    open().map_err(StoreError::engine_error(path))
}

/// Brings a database up to date, all of it or nothing. Another process may have done so meanwhile.
pub fn migrate(connection: &mut Connection, migrations: &[&str]) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    for migration in migrations.iter().skip(usize::try_from(version).unwrap_or(0)) {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "user_version", migrations.len())?;
    transaction.commit()
}
