//! The ports on SQLite. Every write is one transaction of one port.

use super::SqliteStore;
use super::merkle_log::{self, NewEvent};
use crate::ports::{
    AppendOutcome, EventLog, EventRecord, LeaseStore, MAX_EVENTS_PER_READ, MAX_NEWS_EVENTS, ObjectStore,
    RefStore, StorageEngine, SwapOutcome, check_sizes,
};
use crate::{ObjectFiles, StoreError, boot};
use rusqlite::{Connection, OptionalExtension, params};
use std::time::{Duration, Instant};

const FIRST_POLL_INTERVAL: Duration = Duration::from_millis(2);
const MAX_POLL_INTERVAL: Duration = Duration::from_millis(50);

impl StorageEngine for SqliteStore {
    fn log(&self, name: &str) -> Box<dyn EventLog> {
        Box::new(self.port(name))
    }

    fn refs(&self, space: &str) -> Box<dyn RefStore> {
        Box::new(self.port(space))
    }

    fn leases(&self, space: &str) -> Option<Box<dyn LeaseStore>> {
        Some(Box::new(self.port(space)))
    }

    /// Uses files beside the database, because objects are large and SQLite is slow with large values.
    fn objects(&self) -> Box<dyn ObjectStore> {
        Box::new(ObjectFiles::new(self.path().with_file_name("objects")))
    }
}

/// One log or one namespace of the database.
struct SqlitePort {
    db: SqliteStore,
    name: String,
}

impl SqliteStore {
    fn port(&self, name: &str) -> SqlitePort {
        SqlitePort { db: self.clone(), name: name.to_owned() }
    }
}

pub(super) fn head(connection: &Connection, log: &str) -> rusqlite::Result<u64> {
    connection
        .prepare_cached("SELECT coalesce(max(seq), 0) FROM event WHERE log = ?")?
        .query_row([log], |row| row.get(0))
}

fn find(connection: &Connection, log: &str, command: &str) -> rusqlite::Result<Option<u64>> {
    connection
        .prepare_cached("SELECT seq FROM event WHERE log = ? AND command = ?")?
        .query_row([log, command], |row| row.get(0))
        .optional()
}

fn read_after(
    connection: &Connection,
    log: &str,
    seq: u64,
    limit: usize,
) -> rusqlite::Result<Vec<EventRecord>> {
    let sql = "SELECT seq, command, event FROM event WHERE log = ? AND seq > ? ORDER BY seq LIMIT ?";
    connection
        .prepare_cached(sql)?
        .query_map(params![log, seq, limit.min(MAX_EVENTS_PER_READ)], |row| {
            Ok(EventRecord { seq: row.get(0)?, command: row.get(1)?, event: row.get(2)? })
        })?
        .collect()
}

impl EventLog for SqlitePort {
    fn head(&self) -> Result<u64, StoreError> {
        self.db.read(|connection| head(connection, &self.name))
    }

    fn append(&self, expected_head: u64, command: &str, event: &[u8]) -> Result<AppendOutcome, StoreError> {
        let event = NewEvent { log: &self.name, command, event };
        event.check()?;
        let written = self.db.append_noted(|transaction| {
            if let Some(at) = find(transaction, &self.name, command)? {
                return Ok(AppendOutcome::Known { at });
            }
            let head = head(transaction, &self.name)?;
            if head != expected_head {
                let news = read_after(transaction, &self.name, expected_head, MAX_NEWS_EVENTS)?;
                return Ok(AppendOutcome::Moved { head, news });
            }
            merkle_log::insert(transaction, &event, head + 1)?;
            Ok(AppendOutcome::At(head + 1))
        })?;
        Ok(written.unwrap_or(AppendOutcome::Unknown))
    }

    fn read_after(&self, seq: u64, limit: usize) -> Result<Vec<EventRecord>, StoreError> {
        let records = self.db.read(|connection| read_after(connection, &self.name, seq, limit))?;
        match records.iter().zip(seq + 1..).find(|(record, expected)| record.seq != *expected) {
            Some((_, missing)) => Err(self.db.damaged(format!("event {missing} of `{}` is gone", self.name))),
            None => Ok(records),
        }
    }

    fn find(&self, command: &str) -> Result<Option<u64>, StoreError> {
        self.db.read(|connection| find(connection, &self.name, command))
    }

    /// No write is on its way once a commit has failed: the file belongs to this machine.
    fn void(&self, command: &str) -> Result<Option<u64>, StoreError> {
        self.find(command)
    }

    fn watch(&self, seq: u64, wait: Duration) -> Result<u64, StoreError> {
        let end = Instant::now() + wait;
        let mut pause = FIRST_POLL_INTERVAL;
        loop {
            let head = self.head()?;
            let left = end.saturating_duration_since(Instant::now());
            if head > seq || left.is_zero() {
                return Ok(head);
            }
            std::thread::sleep(pause.min(left));
            pause = (pause * 2).min(MAX_POLL_INTERVAL);
        }
    }
}

fn get(connection: &Connection, space: &str, name: &str) -> rusqlite::Result<Option<Vec<u8>>> {
    connection
        .prepare_cached("SELECT value FROM ref WHERE space = ? AND name = ?")?
        .query_row([space, name], |row| row.get(0))
        .optional()
}

impl RefStore for SqlitePort {
    fn get(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.db.read(|connection| get(connection, &self.name, name))
    }

    fn compare_and_set(
        &self,
        name: &str,
        expected: Option<&[u8]>,
        value: Option<&[u8]>,
    ) -> Result<SwapOutcome, StoreError> {
        check_sizes(name, value.unwrap_or_default())?;
        let written = self.db.write(|transaction| {
            let found = get(transaction, &self.name, name)?;
            if found.as_deref() != expected {
                return Ok(SwapOutcome::Moved { found });
            }
            match value {
                Some(value) => transaction
                    .prepare_cached("INSERT OR REPLACE INTO ref (space, name, value) VALUES (?, ?, ?)")?
                    .execute(params![self.name, name, value])?,
                None => transaction
                    .prepare_cached("DELETE FROM ref WHERE space = ? AND name = ?")?
                    .execute([&self.name, name])?,
            };
            Ok(SwapOutcome::Done)
        })?;
        Ok(written.unwrap_or(SwapOutcome::Unknown))
    }

    fn list(&self) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        self.db.read(|connection| {
            connection
                .prepare_cached("SELECT name, value FROM ref WHERE space = ? ORDER BY name")?
                .query_map([&self.name], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        })
    }
}

/// Leases run on the time since boot, which setting the wall clock does not move. Leases of an earlier boot have ended,
/// because no process survives a reboot.
impl LeaseStore for SqlitePort {
    fn renew(&self, owner: &str, lasts: Duration) -> Result<(), StoreError> {
        check_sizes(owner, &[])?;
        let ends = boot::since_boot().saturating_add(lasts);
        let ends_ms = i64::try_from(ends.as_millis()).unwrap_or(i64::MAX);
        let now_ms = i64::try_from(boot::since_boot().as_millis()).unwrap_or(i64::MAX);
        let written = self.db.write(|transaction| {
            // Expired leases are removed here because nothing else removes them.
            transaction
                .prepare_cached("DELETE FROM lease WHERE space = ? AND (boot <> ? OR ends_ms <= ?)")?
                .execute(params![self.name, boot::boot_id(), now_ms])?;
            let sql = "INSERT OR REPLACE INTO lease (space, owner, boot, ends_ms) VALUES (?, ?, ?, ?)";
            transaction.prepare_cached(sql)?.execute(params![self.name, owner, boot::boot_id(), ends_ms])
        })?;
        written.map(drop).ok_or_else(|| self.db.unknown_outcome_error())
    }

    fn end(&self, owner: &str) -> Result<(), StoreError> {
        let written = self.db.write(|transaction| {
            transaction
                .prepare_cached("DELETE FROM lease WHERE space = ? AND owner = ?")?
                .execute([&self.name, owner])
        })?;
        written.map(drop).ok_or_else(|| self.db.unknown_outcome_error())
    }

    fn running(&self) -> Result<Vec<(String, Duration)>, StoreError> {
        let now_ms = i64::try_from(boot::since_boot().as_millis()).unwrap_or(i64::MAX);
        self.db.read(|connection| {
            let sql = "SELECT owner, ends_ms - ? FROM lease
                WHERE space = ? AND boot = ? AND ends_ms > ? ORDER BY owner";
            connection
                .prepare_cached(sql)?
                .query_map(params![now_ms, self.name, boot::boot_id(), now_ms], |row| {
                    Ok((row.get(0)?, Duration::from_millis(row.get(1)?)))
                })?
                .collect()
        })
    }
}
