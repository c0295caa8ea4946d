//! One append-only Merkle tree over the events of all logs of a SQLite store.
//!
//! An event and its leaf are one transaction, so a leaf costs no flush of its own. After every append the head is noted
//! in a second place ([`HeadNote`]), and no append is taken while the store is shorter than that place says, or differs
//! from it: a store that was cut, replaced by an older copy or rewritten is noticed by the next command (law 10).
//!
//! A leaf's row keeps the hashes of all subtrees that it completes: subtree `position` of `level` is hash number `level`
//! of leaf `(position + 1) * 2^level - 1`. Roots and proofs of any size then need as many rows as the tree has levels.

use super::{SqliteStore, ports};
use crate::ports::check_sizes;
use crate::{StoreError, database};
use probity_core::Digest;
use probity_core::merkle::{self, LogLeaf, TreeHead};
use rusqlite::{Connection, OptionalExtension, Transaction, params};
use std::fmt::Debug;
use std::path::PathBuf;

/// The second place that knows the head.
pub trait HeadNote: Send + Sync + Debug {
    /// Returns the noted head; `None` if nothing was ever noted.
    fn read(&self) -> Result<Option<LogHead>, StoreError>;

    /// Notes a head. It is only a lower bound, so a failure is ignored.
    fn write(&self, head: &LogHead);

    fn path(&self) -> PathBuf;
}

/// The head of the tree and the identity of its log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogHead {
    /// Names the log in checkpoints.
    pub origin: String,
    pub tree: TreeHead,
}

/// An event to be appended.
#[derive(Debug, Clone, Copy)]
pub struct NewEvent<'a> {
    pub log: &'a str,
    pub command: &'a str,
    pub event: &'a [u8],
}

impl NewEvent<'_> {
    /// Refuses values that are too large, and names that would make two leaves look alike.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        check_sizes(self.command, self.event)?;
        if [self.log, self.command].iter().any(|name| name.contains('\n')) {
            let why = "the name of an event has a line break".into();
            return Err(StoreError::Engine { path: self.log.into(), why });
        }
        Ok(())
    }
}

/// A leaf as listed: its number (from 0) and which event it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedLeaf {
    pub number: u64,
    pub leaf: LogLeaf<Vec<u8>>,
}

/// Inserts an event as number `seq` of its log, and its leaf.
pub(crate) fn insert(transaction: &Transaction<'_>, event: &NewEvent<'_>, seq: u64) -> rusqlite::Result<()> {
    transaction
        .prepare_cached("INSERT INTO event (log, seq, command, event) VALUES (?, ?, ?, ?)")?
        .execute(params![event.log, seq, event.command, event.event])?;
    insert_leaf(transaction, event, seq)
}

fn insert_leaf(transaction: &Transaction<'_>, event: &NewEvent<'_>, seq: u64) -> rusqlite::Result<()> {
    let number = size(transaction)?;
    let NewEvent { log, command, event } = *event;
    let leaf = LogLeaf { log: log.to_owned(), seq, name: command.to_owned(), event };
    let hashes = merkle::completed_subtrees(number, leaf.hash(), |level, position| {
        subtree(transaction, level, position)
    })?;
    let bytes = hashes.iter().flat_map(|hash| *hash.as_bytes()).collect::<Vec<u8>>();
    transaction
        .prepare_cached("INSERT INTO leaf (number, log, seq, hashes) VALUES (?, ?, ?, ?)")?
        .execute(params![number, log, seq, bytes])?;
    Ok(())
}

fn size(connection: &Connection) -> rusqlite::Result<u64> {
    connection
        .prepare_cached("SELECT coalesce(max(number) + 1, 0) FROM leaf")?
        .query_row([], |row| row.get(0))
}

fn subtree(connection: &Connection, level: u32, position: u64) -> rusqlite::Result<Digest> {
    let bytes: Vec<u8> = connection
        .prepare_cached("SELECT hashes FROM leaf WHERE number = ?")?
        .query_row([((position + 1) << level) - 1], |row| row.get(0))?;
    let hash = bytes.chunks_exact(32).nth(level as usize).and_then(|hash| <[u8; 32]>::try_from(hash).ok());
    hash.map(Digest::from_bytes).ok_or(rusqlite::Error::QueryReturnedNoRows)
}

fn head_at(connection: &Connection, size: u64) -> rusqlite::Result<TreeHead> {
    merkle::head(size, |level, position| subtree(connection, level, position))
}

impl SqliteStore {
    /// Runs a transaction that may append, and notes the new head before another writer has its turn.
    pub(crate) fn append_noted<T>(
        &self,
        write: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        let _turn = database::lock_for_writing(self.path())?;
        self.check_note_in_turn()?;
        let before = self.read(size)?;
        let written = self.write_in_turn(write)?;
        if let Some(note) = self.note()
            && self.read(size)? > before
            && let Some(head) = self.log_head()?
        {
            note.write(&head);
        }
        Ok(written)
    }

    /// Begins the tree, unless it has begun: `first` becomes its first leaf, then come the events that the store has
    /// from before it had a tree, then `adopted`.
    pub fn begin_log(&self, first: &NewEvent<'_>, adopted: &[NewEvent<'_>]) -> Result<(), StoreError> {
        [first].into_iter().chain(adopted).try_for_each(NewEvent::check)?;
        let written = self.append_noted(|transaction| {
            if size(transaction)? > 0 {
                return Ok(());
            }
            let mut statement =
                transaction.prepare("SELECT log, seq, command, event FROM event ORDER BY log, seq")?;
            let old = statement
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?
                .collect::<rusqlite::Result<Vec<(String, u64, String, Vec<u8>)>>>()?;
            insert(transaction, first, 1)?;
            for (log, seq, command, event) in &old {
                insert_leaf(transaction, &NewEvent { log, command, event }, *seq)?;
            }
            for event in adopted {
                insert(transaction, event, ports::head(transaction, event.log)? + 1)?;
            }
            Ok(())
        })?;
        written.ok_or_else(|| self.unknown_outcome_error())
    }

    /// Returns the number of leaves.
    pub fn log_size(&self) -> Result<u64, StoreError> {
        self.read(size)
    }

    /// Returns the head of the tree; `None` if it has not begun.
    pub fn log_head(&self) -> Result<Option<LogHead>, StoreError> {
        self.read(|connection| {
            let size = size(connection)?;
            if size == 0 {
                return Ok(None);
            }
            let origin = merkle::log_origin(&subtree(connection, 0, 0)?);
            Ok(Some(LogHead { origin, tree: head_at(connection, size)? }))
        })
    }

    /// Returns the head of the tree of the first `size` leaves; `None` if there are fewer.
    pub fn log_head_at(&self, size: u64) -> Result<Option<TreeHead>, StoreError> {
        let has_it = self.log_size()? >= size;
        has_it.then(|| self.read(|connection| head_at(connection, size))).transpose()
    }

    /// Compares the tree with a head that `place` knows.
    pub fn check_head(&self, known: &TreeHead, place: &str) -> Result<(), StoreError> {
        let found = self.log_head_at(known.size)?;
        let path = self.path().to_owned();
        match found {
            Some(head) if head == *known => Ok(()),
            Some(_) => {
                let why = format!("its first {} log entries are not those that {place} knows", known.size);
                Err(StoreError::Inconsistent { path, why })
            }
            None => {
                let (size, known) = (self.log_size()?, known.size);
                let why = format!("the log has {size} entries, but {place} has {known}");
                Err(StoreError::Shortened { path, why })
            }
        }
    }

    /// Compares the tree with the noted head.
    pub fn check_note(&self) -> Result<(), StoreError> {
        self.check_note_in_turn().or_else(|_| {
            // The note is replaced in place, so it may have been read while it was written.
            let _turn = database::lock_for_writing(self.path())?;
            self.check_note_in_turn()
        })
    }

    fn check_note_in_turn(&self) -> Result<(), StoreError> {
        let Some(note) = self.note() else { return Ok(()) };
        let Some(noted) = note.read()? else { return Ok(()) };
        let place = note.path().file_name().map_or_else(String::new, |name| name.display().to_string());
        self.check_head(&noted.tree, &place)?;
        match self.log_head()? {
            Some(head) if head.origin == noted.origin => Ok(()),
            _ => {
                let why = format!("it is another log than the one that {place} knows");
                Err(StoreError::Inconsistent { path: self.path().to_owned(), why })
            }
        }
    }

    /// Computes the leaves from number `from` on, and what they complete, again from the events.
    pub fn check_leaves(&self, from: u64) -> Result<(), StoreError> {
        let size = self.log_size()?;
        let n_events: u64 =
            self.read(|connection| connection.query_row("SELECT count(*) FROM event", [], |row| row.get(0)))?;
        if n_events != size && size > 0 {
            return Err(self.damaged(format!("it has {n_events} events, but {size} log entries")));
        }
        for listed in self.leaves_after(from, usize::MAX)? {
            let number = listed.number;
            let stored: Vec<u8> = self.read(|connection| {
                connection.query_row("SELECT hashes FROM leaf WHERE number = ?", [number], |row| row.get(0))
            })?;
            let computed = self.read(|connection| {
                merkle::completed_subtrees(number, listed.leaf.hash(), |level, position| {
                    subtree(connection, level, position)
                })
            })?;
            if stored != computed.iter().flat_map(|hash| *hash.as_bytes()).collect::<Vec<u8>>() {
                let why = format!("log entry {number} is not what was written");
                return Err(StoreError::Inconsistent { path: self.path().to_owned(), why });
            }
        }
        Ok(())
    }

    /// Returns the leaves from number `from` on, at most `limit`.
    pub fn leaves_after(&self, from: u64, limit: usize) -> Result<Vec<ListedLeaf>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let leaves: Vec<(u64, Option<ListedLeaf>)> = self.read(|connection| {
            let sql = "SELECT number, leaf.log, leaf.seq, command, event FROM leaf
                LEFT JOIN event ON event.log = leaf.log AND event.seq = leaf.seq
                WHERE number >= ? ORDER BY number LIMIT ?";
            connection
                .prepare_cached(sql)?
                .query_map(params![from, limit], |row| {
                    let (number, name): (u64, Option<String>) = (row.get(0)?, row.get(3)?);
                    let listed = name.map(|name| {
                        let (log, seq, event) = (row.get(1)?, row.get(2)?, row.get(4)?);
                        Ok::<_, rusqlite::Error>(ListedLeaf {
                            number,
                            leaf: LogLeaf { log, seq, name, event },
                        })
                    });
                    Ok((number, listed.transpose()?))
                })?
                .collect()
        })?;
        let complete = |(expected, (number, listed)): (u64, (u64, Option<ListedLeaf>))| match listed {
            Some(listed) if number == expected => Ok(listed),
            _ => {
                let why = format!("log entry {expected} is gone");
                Err(StoreError::Shortened { path: self.path().to_owned(), why })
            }
        };
        (from..).zip(leaves).map(complete).collect()
    }

    /// Returns the number of the leaf of an event; `None` if it has none.
    pub fn leaf_number(&self, log: &str, seq: u64) -> Result<Option<u64>, StoreError> {
        self.read(|connection| {
            connection
                .query_row("SELECT number FROM leaf WHERE log = ? AND seq = ?", params![log, seq], |row| {
                    row.get(0)
                })
                .optional()
        })
    }

    /// Proves that leaf `number` is among the first `size`; `None` if it is not.
    pub fn inclusion_proof(&self, number: u64, size: u64) -> Result<Option<Vec<Digest>>, StoreError> {
        self.read(|connection| {
            merkle::inclusion_proof(number, size, |level, position| subtree(connection, level, position))
        })
    }

    /// Proves that the first `new` leaves begin with the first `old`; `None` if there are fewer.
    pub fn consistency_proof(&self, old: u64, new: u64) -> Result<Option<Vec<Digest>>, StoreError> {
        if new > self.log_size()? {
            return Ok(None);
        }
        self.read(|connection| {
            merkle::consistency_proof(old, new, |level, position| subtree(connection, level, position))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::{AppendOutcome, StorageEngine};
    use std::sync::{Arc, Mutex};

    #[derive(Debug, Clone, Default)]
    struct RememberedHead(Arc<Mutex<Option<LogHead>>>);

    impl HeadNote for RememberedHead {
        fn read(&self) -> Result<Option<LogHead>, StoreError> {
            Ok(self.0.lock().expect("is free").clone())
        }

        fn write(&self, head: &LogHead) {
            *self.0.lock().expect("is free") = Some(head.clone());
        }

        fn path(&self) -> PathBuf {
            "memory".into()
        }
    }

    fn event(store: &SqliteStore, log: &str, n: u64) {
        let appended = store.log(log).append(n - 1, &format!("{log} {n}"), &[7]).expect("appends");
        assert_eq!(appended, AppendOutcome::At(n));
    }

    #[test]
    fn every_event_of_every_log_is_a_leaf_in_order() {
        let dir = tempfile::tempdir().expect("a directory");
        let note = RememberedHead::default();
        let path = dir.path().join("store.sqlite");
        let store = SqliteStore::open_noted(&path, Some(Box::new(note.clone()))).expect("opens");
        for n in 1..=9 {
            event(&store, "a", n);
            event(&store, "b", n);
        }
        let head = store.log_head().expect("reads").expect("has begun");
        assert_eq!((head.tree.size, note.read().expect("reads")), (18, Some(head.clone())));
        store.check_leaves(0).expect("is whole");
        let leaves = store.leaves_after(0, 99).expect("lists");
        assert_eq!(leaves[3].leaf.name, "b 2");
        let number = store.leaf_number("b", 2).expect("reads").expect("is there");
        let proof = store.inclusion_proof(number, 18).expect("reads").expect("is in it");
        assert!(merkle::verify_inclusion(&leaves[3].leaf.hash(), 3, &head.tree, &proof));
        let old = store.log_head_at(11).expect("reads").expect("was");
        let proof = store.consistency_proof(11, 18).expect("reads").expect("grew");
        assert!(merkle::verify_consistency(&old, &head.tree, &proof));
    }

    #[test]
    fn what_was_cut_or_rewritten_is_noticed_and_takes_no_append() {
        for (sql, shortened) in [
            ("DELETE FROM leaf WHERE number = 3; DELETE FROM event WHERE seq = 4", true),
            ("UPDATE leaf SET hashes = zeroblob(96) WHERE number = 3", false),
        ] {
            let dir = tempfile::tempdir().expect("a directory");
            let note = RememberedHead::default();
            let path = dir.path().join("store.sqlite");
            let store = SqliteStore::open_noted(&path, Some(Box::new(note))).expect("opens");
            (1..=4).for_each(|n| event(&store, "a", n));
            store.connection().execute_batch(sql).expect("changes");
            let head = store.log("a").head().expect("reads");
            match store.log("a").append(head, "next", &[]) {
                Err(StoreError::Shortened { .. }) => assert!(shortened),
                Err(StoreError::Inconsistent { .. }) => assert!(!shortened),
                other => panic!("taken: {other:?}"),
            }
        }
    }

    #[test]
    fn a_rewritten_event_is_found_by_computing_the_leaves_again() {
        let dir = tempfile::tempdir().expect("a directory");
        let store = SqliteStore::open(&dir.path().join("store.sqlite")).expect("opens");
        (1..=4).for_each(|n| event(&store, "a", n));
        store.connection().execute_batch("UPDATE event SET event = x'00' WHERE seq = 2").expect("changes");
        assert!(matches!(store.check_leaves(0), Err(StoreError::Inconsistent { .. })));
    }

    #[test]
    fn a_tree_begins_once_with_what_was_there() {
        let dir = tempfile::tempdir().expect("a directory");
        let store = SqliteStore::open(&dir.path().join("store.sqlite")).expect("opens");
        (1..=2).for_each(|n| event(&store, "a", n));
        store.connection().execute_batch("DELETE FROM leaf").expect("as before the tree");
        let first = NewEvent { log: "log", command: "begin", event: b"x" };
        let adopted = [
            NewEvent { log: "b", command: "b1", event: b"1" },
            NewEvent { log: "b", command: "b2", event: b"2" },
        ];
        store.begin_log(&first, &adopted).expect("begins");
        store.begin_log(&first, &adopted).expect("has begun");
        let names: Vec<_> =
            store.leaves_after(0, 9).expect("lists").into_iter().map(|it| it.leaf.name).collect();
        assert_eq!(names, ["begin", "a 1", "a 2", "b1", "b2"]);
        store.check_leaves(0).expect("is whole");
    }
}
