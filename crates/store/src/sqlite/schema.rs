//! The tables, their version, and how an older database becomes a newer one.

use crate::StoreError;
use rusqlite::{Connection, TransactionBehavior};
use std::path::Path;

/// Marks a database as ours: `Prob` in ASCII.
const APPLICATION: i64 = 0x5072_6f62;
/// A database has at least one page.
pub(super) const LEAST_BYTES: u64 = 512;

/// What brings a database from one version to the next. The version is the number of those that were carried out.
/// One that has been published is never changed again.
pub(super) const MIGRATIONS: &[&str] = &["
    CREATE TABLE event (
        log TEXT NOT NULL, seq INTEGER NOT NULL, command TEXT NOT NULL, event BLOB NOT NULL,
        PRIMARY KEY (log, seq), UNIQUE (log, command)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE ref (
        space TEXT NOT NULL, name TEXT NOT NULL, value BLOB NOT NULL,
        PRIMARY KEY (space, name)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE lease (
        space TEXT NOT NULL, owner TEXT NOT NULL, boot TEXT NOT NULL, ends_ms INTEGER NOT NULL,
        PRIMARY KEY (space, owner)
    ) STRICT, WITHOUT ROWID;
"];
/// The version that this program reads and writes.
pub(super) const VERSION: i64 = 1;
const _: () = assert!(VERSION.unsigned_abs() == MIGRATIONS.len() as u64, "each version has its migration");

/// Fills a new file.
pub(super) fn create(path: &Path) -> rusqlite::Result<()> {
    let mut connection = Connection::open(path)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "application_id", APPLICATION)?;
    migrate(&mut connection, MIGRATIONS)?;
    // Kept in the file: whoever opens it writes ahead.
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    connection.close().map_err(|(_, error)| error)
}

/// The version of a database that is ours and not newer than this program.
pub(super) fn check(connection: &Connection, path: &Path) -> Result<i64, StoreError> {
    let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let application = number("application_id").map_err(StoreError::engine(path))?;
    if application != APPLICATION {
        let why = "it is a database, but not one of Probity's";
        return Err(StoreError::Damaged { path: path.to_owned(), why: why.into() });
    }
    let found = number("user_version").map_err(StoreError::engine(path))?;
    if found > VERSION {
        return Err(StoreError::Newer { path: path.to_owned(), found, known: VERSION });
    }
    Ok(found)
}

/// Brings a database up to date, all of it or nothing. Another process may have done so meanwhile.
pub(super) fn migrate(connection: &mut Connection, migrations: &[&str]) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    for migration in migrations.iter().skip(usize::try_from(version).unwrap_or(0)) {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "user_version", migrations.len())?;
    transaction.commit()
}
