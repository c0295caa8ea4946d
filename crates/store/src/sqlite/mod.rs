//! The ports on SQLite: the embedded default, for many processes of one machine.
//!
//! * Durable: the write-ahead log is flushed before an append is answered.
//! * Fair: every write first takes a lock on a file of its own, in which waiting is first come, first served. SQLite's
//!   own waiting is not: one process can starve another for many seconds.
//! * Never emptied: a database is made complete and then put in place, so that a file that is there and empty, cut off
//!   or not ours is damage, and is said to be.

mod ports;
mod schema;

use crate::{Lock, LockError, StoreError, durable, local};
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a write waits for its turn. Whoever holds it longer is stopped or stuck, for a write takes a millisecond.
const TURN: Duration = Duration::from_secs(30);
/// How long SQLite itself waits: the second line, for processes that do not take the lock.
const BUSY: Duration = Duration::from_secs(10);

/// A database. Clones are the same connection.
#[derive(Debug, Clone)]
pub struct Sqlite {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    path: PathBuf,
    connection: Mutex<Connection>,
}

impl Sqlite {
    /// Opens the database at `path`, and makes it if there is none.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let folder = path.parent().unwrap_or(Path::new("."));
        durable::create_dir(folder)?;
        local::check(folder)?;
        if !is_there(path)? {
            create(path)?;
        }
        let mut connection = connect(path)?;
        let version = schema::check(&connection, path)?;
        if version < schema::VERSION {
            let _turn = turn(path)?;
            schema::migrate(&mut connection, schema::MIGRATIONS).map_err(StoreError::engine(path))?;
        }
        let shared = Shared { path: path.to_owned(), connection: Mutex::new(connection) };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Reads the whole database and says if any of it is damaged. Takes time in proportion to its size.
    pub fn check(&self) -> Result<(), StoreError> {
        let mut found = Vec::new();
        let read = self
            .connection()
            .pragma_query(None, "integrity_check", |row| row.get(0).map(|line: String| found.push(line)));
        read.map_err(self.engine())?;
        match found.as_slice() {
            [line] if line == "ok" => Ok(()),
            lines => Err(StoreError::Damaged { path: self.path().to_owned(), why: lines.join("; ") }),
        }
    }

    fn path(&self) -> &Path {
        &self.shared.path
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.shared.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn engine(&self) -> impl Fn(rusqlite::Error) -> StoreError + '_ {
        |error| StoreError::engine(self.path())(error)
    }

    fn damaged(&self, why: impl Into<String>) -> StoreError {
        StoreError::Damaged { path: self.path().to_owned(), why: why.into() }
    }

    fn unanswered(&self) -> StoreError {
        StoreError::Engine {
            path: self.path().to_owned(),
            why: "it is not known if the write was kept".into(),
        }
    }

    fn read<T>(&self, read: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        read(&self.connection()).map_err(self.engine())
    }

    /// One write transaction. `None`: it was to be committed, and it is not known whether it was.
    fn write<T>(
        &self,
        write: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        let _turn = turn(self.path())?;
        let mut connection = self.connection();
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(self.engine())?;
        let answer = write(&transaction).map_err(self.engine())?;
        Ok(transaction.commit().is_ok().then_some(answer))
    }
}

/// Waits for this process's turn to write.
fn turn(path: &Path) -> Result<Lock, StoreError> {
    let lock = path.with_extension("lock");
    Lock::take_within(&lock, TURN).map_err(|error| match error {
        LockError::Held { holder } => StoreError::Busy { path: path.to_owned(), holder },
        LockError::Store(error) => error,
    })
}

fn is_there(path: &Path) -> Result<bool, StoreError> {
    match std::fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(StoreError::Io { path: path.to_owned(), source }),
    }
}

/// Makes a new database aside and puts it in place when it is whole.
fn create(path: &Path) -> Result<(), StoreError> {
    let _turn = turn(path)?;
    if is_there(path)? {
        return Ok(());
    }
    let beside = |suffix: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    if is_there(&beside("-wal"))? {
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
    schema::create(&unfinished).map_err(StoreError::engine(&unfinished))?;
    std::fs::rename(&unfinished, path).map_err(StoreError::io(path))?;
    durable::sync_dir(path.parent().unwrap_or(Path::new(".")))
}

fn connect(path: &Path) -> Result<Connection, StoreError> {
    let facts = std::fs::symlink_metadata(path).map_err(StoreError::io(path))?;
    if !facts.is_file() || facts.len() < schema::LEAST_BYTES {
        let why = "it is no database: not a plain file, or cut off";
        return Err(StoreError::Damaged { path: path.to_owned(), why: why.into() });
    }
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let open = || {
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(BUSY)?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "trusted_schema", "OFF")?;
        connection.pragma_update(None, "cell_size_check", "ON")?;
        Ok(connection)
    };
    open().map_err(StoreError::engine(path))
}

#[cfg(test)]
mod tests;
