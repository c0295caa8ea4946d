//! SQLite beyond the common suite: creation, damage, versions, several connections.

use super::*;
use crate::conformance;
use crate::ports::{AppendOutcome, StorageEngine};
use crate::{FileLock, LockError};
use std::time::Duration;

fn temporary() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("state/store.sqlite");
    (dir, path)
}

#[test]
fn keeps_every_promise() {
    let (_dir, path) = temporary();
    let store = SqliteStore::open(&path).expect("opens");
    conformance::check(&store, "t").expect("keeps them");
    store.check().expect("is whole");
}

#[test]
fn what_was_appended_is_there_after_opening_again() {
    let (_dir, path) = temporary();
    SqliteStore::open(&path).expect("opens").log("l").append(0, "a", b"event").expect("appends");
    let log = SqliteStore::open(&path).expect("opens").log("l");
    assert_eq!(log.read_after(0, 9).expect("reads")[0].event, b"event");
}

#[test]
fn a_short_write_ahead_log_stays_when_all_is_closed_and_a_long_one_does_not() {
    let (_dir, path) = temporary();
    let wal = path.with_file_name("store.sqlite-wal");
    let (mut longest, mut n_folded) = (0, 0);
    for n in 0..60 {
        let log = SqliteStore::open(&path).expect("opens").log("l");
        log.append(n, &n.to_string(), &[7; 1000]).expect("appends");
        drop(log);
        match std::fs::metadata(&wal) {
            Ok(facts) => longest = longest.max(facts.len()),
            Err(_) => n_folded += 1,
        }
    }
    assert!((1..1_000_000).contains(&longest) && (1..30).contains(&n_folded), "{longest}, {n_folded}");
    let store = SqliteStore::open(&path).expect("opens");
    assert_eq!(store.log("l").head().expect("reads"), 60);
    store.check().expect("is whole");
}

#[test]
fn two_connections_are_one_log() {
    let (_dir, path) = temporary();
    let (one, two) = (SqliteStore::open(&path).expect("opens"), SqliteStore::open(&path).expect("opens"));
    assert_eq!(one.log("l").append(0, "a", b"1").expect("appends"), AppendOutcome::At(1));
    let moved = two.log("l").append(0, "b", b"2").expect("appends");
    assert!(matches!(&moved, AppendOutcome::Moved { head: 1, news } if news.len() == 1), "{moved:?}");
    assert_eq!(two.log("l").append(1, "b", b"2").expect("appends"), AppendOutcome::At(2));
}

#[test]
fn many_may_make_it_at_once() {
    let (_dir, path) = temporary();
    let append = |n: u64| SqliteStore::open(&path)?.log(&format!("l{n}")).append(0, "a", b"1");
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..6).map(|n| scope.spawn(move || append(n))).collect();
        for one in all {
            assert_eq!(one.join().expect("ends").expect("appends"), AppendOutcome::At(1));
        }
    });
}

#[test]
fn only_its_owner_can_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let (_dir, path) = temporary();
    let store = SqliteStore::open(&path).expect("opens");
    store.log("l").append(0, "a", b"1").expect("appends");
    for name in ["store.sqlite", "store.sqlite-wal"] {
        let facts = std::fs::metadata(path.with_file_name(name)).expect("is there");
        assert_eq!(facts.permissions().mode() & 0o077, 0, "{name}");
    }
}

/// Opens a database after `harm` was done to its file.
fn reopened_after(harm: impl FnOnce(&Path)) -> Result<(), StoreError> {
    let (_dir, path) = temporary();
    let store = SqliteStore::open(&path).expect("opens");
    for seq in 0..20 {
        store.log("l").append(seq, &format!("c{seq}"), &[7; 3000]).expect("appends");
    }
    drop(store);
    let db = Connection::open(&path).expect("opens");
    // The last connection of a program that does not keep the log puts everything into the database.
    let n_events: u64 = db.query_row("SELECT count(*) FROM event", [], |row| row.get(0)).expect("reads");
    assert_eq!(n_events, 20);
    drop(db);
    harm(&path);
    let store = SqliteStore::open(&path)?;
    store.check()?;
    store.log("l").read_after(0, 500).map(drop)
}

type Harm = (&'static str, fn(&Path));

#[test]
fn damage_is_said_to_be_damage() {
    let harms: [Harm; 6] = [
        ("emptied", |path| std::fs::write(path, b"").expect("writes")),
        ("cut off", |path| {
            std::fs::File::options().write(true).open(path).expect("opens").set_len(8192).expect("cuts");
        }),
        ("not a database", |path| std::fs::write(path, [b'x'; 9000]).expect("writes")),
        ("overwritten inside", |path| {
            let mut bytes = std::fs::read(path).expect("reads");
            let len = bytes.len();
            bytes[4096..len].fill(0x5a);
            std::fs::write(path, bytes).expect("writes");
        }),
        ("an event removed", |path| {
            let db = Connection::open(path).expect("opens");
            db.execute("DELETE FROM event WHERE seq = 10", []).expect("deletes");
        }),
        ("a link", |path| {
            std::fs::rename(path, path.with_extension("moved")).expect("moves");
            std::os::unix::fs::symlink(path.with_extension("moved"), path).expect("links");
        }),
    ];
    for (name, harm) in harms {
        let result = reopened_after(harm);
        assert!(matches!(result, Err(StoreError::Damaged { .. })), "{name}: {result:?}");
    }
    reopened_after(|_| {}).expect("is whole without harm");
}

#[test]
fn a_lost_database_is_not_replaced_while_its_log_is_there() {
    let (_dir, path) = temporary();
    let store = SqliteStore::open(&path).expect("opens");
    store.log("l").append(0, "a", b"1").expect("appends");
    std::fs::remove_file(&path).expect("removes");
    assert!(matches!(SqliteStore::open(&path), Err(StoreError::Damaged { .. })));
}

#[test]
fn a_newer_database_and_a_foreign_one_are_left_alone() {
    let harm = |pragma: &'static str| {
        move |path: &Path| {
            Connection::open(path).expect("opens").execute_batch(pragma).expect("is set");
        }
    };
    let newer = reopened_after(harm("PRAGMA user_version = 99"));
    assert!(matches!(newer, Err(StoreError::Newer { found: 99, .. })), "{newer:?}");
    let foreign = reopened_after(harm("PRAGMA application_id = 1"));
    assert!(matches!(foreign, Err(StoreError::Damaged { .. })), "{foreign:?}");
}

#[test]
fn migrations_go_on_where_they_stopped_and_all_or_none() {
    let mut db = Connection::open_in_memory().expect("opens");
    let version = |db: &Connection| -> i64 {
        db.pragma_query_value(None, "user_version", |row| row.get(0)).expect("has one")
    };
    database::migrate(&mut db, &["CREATE TABLE a (x)"]).expect("migrates");
    database::migrate(&mut db, &["CREATE TABLE a (x)", "CREATE TABLE b (x)"]).expect("migrates on");
    assert_eq!(version(&db), 2);
    let broken = ["", "", "CREATE TABLE c (x)", "nonsense"];
    database::migrate(&mut db, &broken).expect_err("is refused");
    assert_eq!(version(&db), 2);
    assert!(db.prepare("SELECT * FROM c").is_err());
}

#[test]
fn leases_of_an_earlier_start_of_the_machine_are_over() {
    let (_dir, path) = temporary();
    let store = SqliteStore::open(&path).expect("opens");
    let leases = store.leases("l").expect("a clock");
    leases.renew("me", Duration::from_mins(10)).expect("renews");
    store.connection().execute("UPDATE lease SET boot = 'earlier'", []).expect("changes");
    assert_eq!(leases.running().expect("reads"), []);
}

#[test]
fn who_holds_the_turn_too_long_is_named() {
    let (_dir, path) = temporary();
    SqliteStore::open(&path).expect("opens");
    let lock = path.with_extension("lock");
    let _held = FileLock::poll(&lock).expect("works").expect("is free");
    let refused = FileLock::take_within(&lock, Duration::from_millis(10));
    let me = format!("process {}", std::process::id());
    assert!(matches!(refused, Err(LockError::Held { holder }) if holder == me));
}
