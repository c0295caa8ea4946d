//! Durable commits beside plain SQLite inserts, and reads of long histories: `cargo xtask bench commits`.
//!
//! Both sides write to files in one folder, one after the other, with the same durability: write-ahead log, full sync,
//! one transaction a row. Only the ratios mean anything on a machine that does other work too.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::float_arithmetic,
    clippy::cast_precision_loss
)]

use commit::{Commit, CommitId, DocumentId, Engine, Mutations, Schema, Stamp};
use probity_store::commits::CommitStore;
use rusqlite::Connection;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

const DURABLE: usize = 2000;
const WRITERS: usize = 8;
const PORTION: usize = 1000;

fn schema() -> Schema {
    Schema::from_json(&json!({
        "structs": {"Ticket": [["title", "string"], ["rank", "int64"]]},
        "attachments": {"ticket": "Ticket", "tags": "set<string>"},
    }))
    .unwrap()
}

fn create(schema: &Schema) -> Commit {
    let mut mutations = Mutations::new(schema);
    for number in 0..100 {
        mutations
            .document("ticket", &format!("t{number}"))
            .set(&json!({"title": "first", "rank": 0}))
            .unwrap();
    }
    mutations.commit(None, Stamp::new("ann", "create", 0).unwrap())
}

fn update(schema: &Schema, parent: CommitId, number: usize) -> Commit {
    let mut mutations = Mutations::new(schema);
    let path = json!([{"field": "rank"}]);
    mutations.document("ticket", &format!("t{}", number % 100)).update(&path, &json!(number)).unwrap();
    mutations.commit(Some(parent), Stamp::new("ann", "bench", i64::try_from(number).unwrap()).unwrap())
}

fn rate(count: usize, time: Duration) -> f64 {
    count as f64 / time.as_secs_f64()
}

/// Single-row inserts of as many bytes as a commit has.
fn plain(folder: &Path) -> f64 {
    let db = Connection::open(folder.join("plain.db")).unwrap();
    db.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())).unwrap();
    db.pragma_update(None, "synchronous", "FULL").unwrap();
    db.execute("CREATE TABLE row (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL)", []).unwrap();
    let bytes = vec![7_u8; 280];
    let start = Instant::now();
    for _ in 0..DURABLE {
        db.prepare_cached("INSERT INTO row (bytes) VALUES (?1)").unwrap().execute([&bytes]).unwrap();
    }
    rate(DURABLE, start.elapsed())
}

fn one_writer(folder: &Path, name: &str) -> f64 {
    let schema = schema();
    let store = CommitStore::create(&folder.join(name), &schema).unwrap();
    let mut head = store.append(create(&schema)).unwrap();
    let start = Instant::now();
    for number in 0..DURABLE {
        head = store.append(update(&schema, head, number)).unwrap();
    }
    rate(DURABLE, start.elapsed())
}

fn many_writers(folder: &Path, name: &str) -> f64 {
    let schema = schema();
    let store = Arc::new(CommitStore::create(&folder.join(name), &schema).unwrap());
    let root = store.append(create(&schema)).unwrap();
    let start = Instant::now();
    let threads: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let (store, schema) = (Arc::clone(&store), schema.clone());
            std::thread::spawn(move || {
                let mut head = root;
                for number in 0..DURABLE {
                    head = store.append(update(&schema, head, writer * DURABLE + number)).unwrap();
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    rate(WRITERS * DURABLE, start.elapsed())
}

fn long(path: &Path, length: usize) -> CommitId {
    let schema = schema();
    let store = CommitStore::create(path, &schema).unwrap();
    let mut head = store.append(create(&schema)).unwrap();
    let start = Instant::now();
    for portion in 0..length / PORTION {
        let mut commits = Vec::with_capacity(PORTION);
        for number in 0..PORTION {
            commits.push(update(&schema, head, portion * PORTION + number));
            head = commits.last().unwrap().id();
        }
        store.append_all(commits).unwrap();
    }
    println!("  {length} commits written in portions of {PORTION}: {:.0}/s", rate(length, start.elapsed()));
    head
}

fn millis(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

fn resident_mb() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0 kB");
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap_or(0) / 1024
}

fn reads(folder: &Path, length: usize) {
    let path = folder.join(format!("long{length}.db"));
    let head = long(&path, length);
    let start = Instant::now();
    let store = CommitStore::open(&path).unwrap();
    assert_eq!(store.heads().unwrap(), [head]);
    println!("  reopened with its heads: {:.1} ms", millis(start));
    let start = Instant::now();
    let document = DocumentId::new("ticket", "t42");
    store.read(|view| Engine::new(view).document(&head, &document)).unwrap().unwrap().unwrap();
    println!("  cold read of one document: {:.2} ms", millis(start));
    drop(store);
    let store = CommitStore::open(&path).unwrap();
    let start = Instant::now();
    let state = store.read(|view| Engine::new(view).state(&head)).unwrap().unwrap();
    assert_eq!(state.documents().count(), 100);
    println!("  cold state of 100 documents: {:.2} ms; resident {} MB", millis(start), resident_mb());
}

fn unions(folder: &Path) {
    let schema = schema();
    let path = folder.join("unions.db");
    let store = CommitStore::create(&path, &schema).unwrap();
    let mut commits: Vec<Commit> = Vec::new();
    for number in 0..=10_000_usize {
        let mut mutations = Mutations::new(&schema);
        let mut document = mutations.document("tags", "k");
        match number {
            0 => document.set(&json!([])).unwrap(),
            _ => document.union_in_set(&json!([]), &json!([format!("tag {number}")])).unwrap(),
        };
        let parent = commits.last().map(Commit::id);
        commits.push(mutations.commit(parent, Stamp::new("ann", "tag", 0).unwrap()));
    }
    let head = *store.append_all(commits).unwrap().last().unwrap();
    drop(store);
    let store = CommitStore::open(&path).unwrap();
    let start = Instant::now();
    store
        .read(|view| Engine::new(view).document(&head, &DocumentId::new("tags", "k")))
        .unwrap()
        .unwrap()
        .unwrap();
    println!("  cold read after 10000 set unions: {:.2} ms", millis(start));
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --benches` only wants to know that it builds and starts.
    if wanted.iter().any(|argument| argument == "--test") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for round in 0..3 {
        std::fs::remove_file(folder.path().join("plain.db")).ok();
        let plain = plain(folder.path());
        let one = one_writer(folder.path(), &format!("one{round}.db"));
        let many = many_writers(folder.path(), &format!("many{round}.db"));
        println!(
            "durable: plain inserts {plain:.0}/s, one writer {one:.0}/s = {:.2} ×, {WRITERS} writers {many:.0}/s = {:.2} ×",
            one / plain,
            many / plain
        );
    }
    println!("100,000 commits:");
    reads(folder.path(), 100_000);
    unions(folder.path());
    if wanted.iter().any(|argument| argument == "large") {
        println!("1,000,000 commits:");
        reads(folder.path(), 1_000_000);
    }
}
