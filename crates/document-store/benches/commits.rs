//! Durable commits beside plain SQLite inserts, and reads of long histories: `cargo xtask bench commits`.
//!
//! Both sides write to files in one directory, one after the other, with the same durability: write-ahead log, full
//! sync, one transaction per row. On a machine that does other work too, only the ratios are meaningful.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::float_arithmetic,
    clippy::cast_precision_loss
)]

use probity_document_store::store::CommitStore;
use probity_documents::{
    Commit, CommitId, CommitStamp, DocumentEngine, DocumentId, DocumentSchema, MergeAnalyzer, MutationBuilder,
};
use rusqlite::Connection;
use serde_json::json;
use std::path::Path;
use std::time::{Duration, Instant};

const DURABLE: usize = 2000;
const WRITERS: usize = 8;
const SLICE: usize = 200;
const ROUNDS: usize = 41;
const BATCH: usize = 100;
const PORTION: usize = 1000;

fn schema() -> DocumentSchema {
    DocumentSchema::from_json(&json!({
        "structs": {"Ticket": [["title", "string"], ["rank", "int64"]]},
        "attachments": {"ticket": "Ticket", "tags": "set<string>"},
    }))
    .unwrap()
}

fn create(schema: &DocumentSchema) -> Commit {
    let mut mutations = MutationBuilder::new(schema);
    for number in 0..100 {
        mutations
            .document("ticket", &format!("t{number}"))
            .set(&json!({"title": "first", "rank": 0}))
            .unwrap();
    }
    mutations.commit(None, CommitStamp::new("ann", "create", 0).unwrap())
}

fn update(schema: &DocumentSchema, parent: CommitId, number: usize) -> Commit {
    let mut mutations = MutationBuilder::new(schema);
    let path = json!([{"field": "rank"}]);
    mutations.document("ticket", &format!("t{}", number % 100)).update(&path, &json!(number)).unwrap();
    mutations.commit(Some(parent), CommitStamp::new("ann", "bench", i64::try_from(number).unwrap()).unwrap())
}

fn rate(count: usize, time: Duration) -> f64 {
    count as f64 / time.as_secs_f64()
}

/// Single-row inserts of the same size as a commit.
struct Plain(Connection);

impl Plain {
    fn new(directory: &Path) -> Self {
        let db = Connection::open(directory.join("plain.db")).unwrap();
        db.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())).unwrap();
        db.pragma_update(None, "synchronous", "FULL").unwrap();
        db.execute("CREATE TABLE row (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL)", []).unwrap();
        Self(db)
    }

    fn slice(&self) -> f64 {
        let bytes = vec![7_u8; 280];
        let start = Instant::now();
        for _ in 0..SLICE {
            self.0.prepare_cached("INSERT INTO row (bytes) VALUES (?1)").unwrap().execute([&bytes]).unwrap();
        }
        rate(SLICE, start.elapsed())
    }
}

/// Threads that each append to a stream of their own.
struct Writers {
    store: CommitStore,
    schema: DocumentSchema,
    heads: Vec<CommitId>,
    n_commits: usize,
}

impl Writers {
    fn new(path: &Path, n_writers: usize) -> Self {
        let schema = schema();
        let store = CommitStore::create(path, &schema).unwrap();
        let root = store.append(create(&schema)).unwrap();
        Self { store, schema, heads: vec![root; n_writers], n_commits: 0 }
    }

    fn slice(&mut self) -> f64 {
        let Self { store, schema, heads, n_commits } = self;
        let each = SLICE;
        let n_heads = heads.len();
        let write = |writer: usize, head: &mut CommitId| {
            let first = *n_commits + writer * each;
            for number in first..first + each {
                *head = store.append(update(schema, *head, number)).unwrap();
            }
        };
        let start = Instant::now();
        if let [head] = heads.as_mut_slice() {
            // Runs on this thread, as the plain inserts do: a separate thread may be woken more slowly.
            write(0, head);
        } else {
            std::thread::scope(|scope| {
                for (writer, head) in heads.iter_mut().enumerate() {
                    scope.spawn(move || write(writer, head));
                }
            });
        }
        *n_commits += n_heads * each;
        rate(n_heads * each, start.elapsed())
    }
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

fn reads(directory: &Path, length: usize) {
    let path = directory.join(format!("long{length}.db"));
    let head = long(&path, length);
    let start = Instant::now();
    let store = CommitStore::open(&path).unwrap();
    assert_eq!(store.heads().unwrap(), [head]);
    println!("  reopened with its heads: {:.1} ms", millis(start));
    let start = Instant::now();
    let document = DocumentId::new("ticket", "t42");
    store.read(|view| DocumentEngine::new(view).document(&head, &document)).unwrap().unwrap().unwrap();
    println!("  cold read of one document: {:.2} ms", millis(start));
    drop(store);
    let store = CommitStore::open(&path).unwrap();
    let start = Instant::now();
    let state = store.read(|view| DocumentEngine::new(view).state(&head)).unwrap().unwrap();
    assert_eq!(state.documents().count(), 100);
    println!("  cold state of 100 documents: {:.2} ms; resident {} MB", millis(start), resident_mb());
}

fn unions(directory: &Path) {
    let schema = schema();
    let path = directory.join("unions.db");
    let store = CommitStore::create(&path, &schema).unwrap();
    let mut commits: Vec<Commit> = Vec::new();
    for number in 0..=10_000_usize {
        let mut mutations = MutationBuilder::new(&schema);
        let mut document = mutations.document("tags", "k");
        match number {
            0 => document.set(&json!([])).unwrap(),
            _ => document.union_in_set(&json!([]), &json!([format!("tag {number}")])).unwrap(),
        };
        let parent = commits.last().map(Commit::id);
        commits.push(mutations.commit(parent, CommitStamp::new("ann", "tag", 0).unwrap()));
    }
    let head = *store.append_all(commits).unwrap().last().unwrap();
    drop(store);
    let store = CommitStore::open(&path).unwrap();
    let start = Instant::now();
    store
        .read(|view| DocumentEngine::new(view).document(&head, &DocumentId::new("tags", "k")))
        .unwrap()
        .unwrap()
        .unwrap();
    println!("  cold read after 10000 set unions: {:.2} ms", millis(start));
}

/// Runs one writer per process, on one database with separate heads.
fn many_processes(directory: &Path, name: &str) -> f64 {
    let schema = schema();
    let path = directory.join(name);
    let store = CommitStore::create(&path, &schema).unwrap();
    let root = store.append(create(&schema)).unwrap().to_string();
    let start = Instant::now();
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let mut command = std::process::Command::new(std::env::current_exe().unwrap());
            command.arg("writer").arg(&path).arg(&root).arg(writer.to_string()).spawn().unwrap()
        })
        .collect();
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    let time = start.elapsed();
    assert_eq!(store.heads().unwrap().len(), WRITERS);
    rate(WRITERS * DURABLE, time)
}

/// The child process of [`many_processes`].
fn writer(path: &str, root: &str, number: &str) {
    let store = CommitStore::open(Path::new(path)).unwrap();
    let first = number.parse::<usize>().unwrap() * DURABLE;
    let mut head: CommitId = root.parse().unwrap();
    for number in first..first + DURABLE {
        head = store.append(update(store.schema(), head, number)).unwrap();
    }
}

/// Appends several commits of one caller at once.
fn batches(directory: &Path) -> f64 {
    let schema = schema();
    let store = CommitStore::create(&directory.join("batches.db"), &schema).unwrap();
    let mut head = store.append(create(&schema)).unwrap();
    let start = Instant::now();
    for batch in 0..SLICE {
        let mut commits = Vec::with_capacity(BATCH);
        for number in 0..BATCH {
            let commit = update(&schema, head, batch * BATCH + number);
            head = commit.id();
            commits.push(commit);
        }
        store.append_all(commits).unwrap();
    }
    rate(SLICE * BATCH, start.elapsed())
}

/// Measures in turns, so that a slow second of the disk affects every side.
fn durable(directory: &Path) {
    let plain = Plain::new(directory);
    let mut one = Writers::new(&directory.join("one.db"), 1);
    let mut many = Writers::new(&directory.join("many.db"), WRITERS);
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        rounds.push([plain.slice(), one.slice(), many.slice()]);
    }
    let median = |of: &dyn Fn(&[f64; 3]) -> f64| {
        let mut all: Vec<f64> = rounds.iter().map(of).collect();
        all.sort_by(f64::total_cmp);
        (all[all.len() / 4], all[all.len() / 2], all[all.len() * 3 / 4])
    };
    let (_, plain, _) = median(&|round| round[0]);
    println!(
        "durable, {ROUNDS} rounds: plain inserts {plain:.0}/s; of the ratios first quartile, median, third:"
    );
    for (at, name) in [(1, "one writer"), (2, "8 threads")] {
        let (_, rate, _) = median(&|round| round[at]);
        let (low, middle, high) = median(&|round| round[at] / round[0]);
        println!("  {name} {rate:.0}/s = {low:.2}, {middle:.2}, {high:.2} ×");
    }
    println!("  one writer, {BATCH} commits a transaction: {:.0}/s", batches(directory));
    let processes = many_processes(directory, "processes.db");
    println!("  {WRITERS} processes, {DURABLE} commits each: {processes:.0}/s");
}

/// Builds a store whose two heads both wrote 10,000 documents, 1,000 of them in the same field.
fn two_streams(path: &Path, n_documents: usize, portion: usize) -> [CommitId; 2] {
    let schema = schema();
    let store = CommitStore::create(path, &schema).unwrap();
    let mut root = None;
    let append = |parent: Option<CommitId>,
                  numbers: std::ops::Range<usize>,
                  write: &dyn Fn(&mut MutationBuilder<'_>, usize)| {
        let mut mutations = MutationBuilder::new(&schema);
        let time = i64::try_from(numbers.start).unwrap();
        numbers.for_each(|number| write(&mut mutations, number));
        let commit = mutations.commit(parent, CommitStamp::new("ann", "bench", time).unwrap());
        let id = commit.id();
        (id, commit)
    };
    for first in (0..n_documents).step_by(1000) {
        let (id, commit) = append(root, first..first + 1000, &|mutations, number| {
            let ticket = json!({"title": "first", "rank": 0});
            mutations.document("ticket", &format!("t{number}")).set(&ticket).unwrap();
        });
        store.append_all(vec![commit]).unwrap();
        root = Some(id);
    }
    [1, 2].map(|side| {
        let mut head = root;
        let mut commits = Vec::new();
        for first in (0..10_000).step_by(portion) {
            let (id, commit) = append(head, first..first + portion, &|mutations, number| {
                let (field, value) = if side == 1 || number < 1000 {
                    ("rank", json!(side))
                } else {
                    ("title", json!("theirs"))
                };
                let path = json!([{"field": field}]);
                mutations.document("ticket", &format!("t{number}")).update(&path, &value).unwrap();
            });
            commits.push(commit);
            head = Some(id);
        }
        store.append_all(commits).unwrap();
        head.unwrap()
    })
}

/// Merge benchmarks: the name that selects one, the number of documents, and the documents per commit.
const MERGES: [(&str, usize, usize); 4] = [
    ("merge-single", 10_000, 1),
    ("merge-large-single", 200_000, 1),
    ("merge-once", 10_000, 100),
    ("merge-large", 200_000, 100),
];

fn merge(directory: &Path, n_documents: usize, portion: usize) {
    let path = directory.join(format!("merge-{n_documents}-{portion}.db"));
    let [ours, theirs] = two_streams(&path, n_documents, portion);
    let mut times = Vec::new();
    for round in 0..5 {
        let store = CommitStore::open(&path).unwrap();
        let start = Instant::now();
        let merge = Commit::merge(ours, theirs, CommitStamp::new("ann", "merge", round).unwrap());
        let merge = store.append(merge).unwrap();
        let appended = millis(start);
        let analysis = store
            .read(|view| MergeAnalyzer::new(store.schema(), view).analyze_merge(&merge))
            .unwrap()
            .unwrap();
        times.push((millis(start), appended));
        assert_eq!(analysis.conflicts().len(), 1000);
    }
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (whole, appended) = times[2];
    println!(
        "  {n_documents} documents, 10000 written by both in commits of {portion}: merge {appended:.1} ms, with \
             analysis {whole:.1} ms, cold"
    );
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let wanted: Vec<&str> = wanted.iter().map(String::as_str).filter(|word| *word != "--bench").collect();
    if let ["writer", path, root, number] = wanted.as_slice() {
        return writer(path, root, number);
    }
    // `cargo test --benches` only checks that it builds and starts.
    if wanted.contains(&"--test") {
        return;
    }
    let is_wanted = |name: &str| wanted.is_empty() || wanted.contains(&name);
    let directory = tempfile::tempdir().unwrap();
    if is_wanted("durable") {
        durable(directory.path());
    }
    for (name, n_writers) in
        [("one", 1), ("threads", WRITERS)].into_iter().filter(|mode| wanted.contains(&mode.0))
    {
        let mut writers = Writers::new(&directory.path().join(format!("{name}.db")), n_writers);
        let rates: Vec<f64> = (0..ROUNDS).map(|_| writers.slice()).collect();
        println!("{n_writers} threads: {:.0}/s", rates.iter().sum::<f64>() / rates.len() as f64);
    }
    if wanted.contains(&"processes") {
        println!("{WRITERS} processes: {:.0}/s", many_processes(directory.path(), "processes.db"));
    }
    if is_wanted("reads") {
        println!("100,000 commits:");
        reads(directory.path(), 100_000);
        unions(directory.path());
    }
    for (name, n_documents, portion) in MERGES.into_iter().filter(|merge| wanted.contains(&merge.0)) {
        println!("{name}:");
        merge(directory.path(), n_documents, portion);
    }
    if is_wanted("merge") {
        println!("merge and analysis, 1,000 conflicts:");
        for (_, n_documents, portion) in MERGES {
            merge(directory.path(), n_documents, portion);
        }
    }
    if wanted.contains(&"large") {
        println!("1,000,000 commits:");
        reads(directory.path(), 1_000_000);
    }
}
