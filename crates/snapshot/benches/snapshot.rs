//! Speed of snapshots compared with the alternatives: `git status` for a second scan, and reading every file for a
//! first one. All measurements of a round are taken back to back, since only their ratios are meaningful on a machine
//! that does other work too.
//!
//! `cargo bench -p probity-snapshot -- [number of files] [longest file in lines]`

#![allow(clippy::print_stdout, clippy::float_arithmetic, reason = "it prints times and their ratios")]

mod made;

use probity_snapshot::{ObjectFormat, Snapshot, SnapshotOptions, delta};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

const ROUNDS: usize = 5;

type Step<'a> = (&'static str, Box<dyn Fn() + 'a>);

fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|arg| arg.parse().ok());
    let n_files = numbers.next().unwrap_or(100_000);
    let max_lines = numbers.next().unwrap_or(500);
    let home = tempfile::tempdir().expect("a temporary directory");
    let root = home.path().join("tree");
    make_tree(&root, n_files, max_lines);
    let cache_file = home.path().join("cache");
    // Writing the tree to disk must not overlap with the scans, and recently written files are always read again.
    Command::new("sync").status().expect("sync runs");
    std::thread::sleep(Duration::from_secs(3));
    let plain = SnapshotOptions::default();
    let with_ids = SnapshotOptions { git_ids: Some(ObjectFormat::Sha1), ..SnapshotOptions::default() };
    let first = Snapshot::take(&root, &with_ids, None).expect("a snapshot");
    made::store(&cache_file, &first);
    println!("{} entries, {n_files} files, root {}", first.n_entries(), first.root());
    let take = |options: &SnapshotOptions| drop(Snapshot::take(&root, options, None).expect("a snapshot"));
    let steps: Vec<Step<'_>> = vec![
        ("git status --porcelain", Box::new(|| git(&root, &["status", "--porcelain"]))),
        ("store cache", Box::new(|| made::store(&cache_file, &first))),
        ("load cache", Box::new(|| drop(made::load(&cache_file)))),
        ("warm: load cache, snapshot, delta", Box::new(|| warm(&root, &cache_file, &with_ids))),
        ("warm: snapshot, delta in one process", Box::new(|| again(&root, &first, &with_ids))),
        ("read every file, one thread per core", Box::new(|| read_all(&root))),
        ("cold: snapshot", Box::new(|| take(&plain))),
        ("cold: snapshot with git ids", Box::new(|| take(&with_ids))),
    ];
    let times = measure(&steps);
    for ((name, _), times) in steps.iter().zip(&times) {
        println!("{name:40} {:>7.1} ms", median(times.iter().map(|time| time * 1000.0).collect()));
    }
    for (what, to) in [(3, 0), (4, 0), (6, 5), (7, 5)] {
        let ratios = (0..ROUNDS).map(|round| times[what][round] / times[to][round]).collect();
        println!("{:40} {:>7.2} x {}", steps[what].0, median(ratios), steps[to].0);
    }
}

/// Returns the seconds that each step takes in each round.
fn measure(steps: &[Step<'_>]) -> Vec<Vec<f64>> {
    let mut times = vec![Vec::new(); steps.len()];
    for round in 0..=ROUNDS {
        for ((_, step), times) in steps.iter().zip(&mut times) {
            let start = Instant::now();
            step();
            // The first round only warms up.
            if round > 0 {
                times.push(start.elapsed().as_secs_f64());
            }
        }
    }
    times
}

fn warm(root: &Path, cache_file: &Path, options: &SnapshotOptions) {
    let known = made::load(cache_file);
    again(root, &known, options);
}

fn again(root: &Path, known: &Snapshot, options: &SnapshotOptions) {
    let now = Snapshot::take(root, options, Some(known)).expect("a snapshot");
    assert_eq!(delta(known, &now), []);
}

/// Reads every file as a plain program would: directories from a shared list, one buffer per thread.
fn read_all(root: &Path) {
    let dirs = Mutex::new((vec![root.to_owned()], 0_usize));
    let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..n_threads {
            scope.spawn(|| read_some(&dirs));
        }
    });
}

fn read_some(dirs: &Mutex<(Vec<PathBuf>, usize)>) {
    let mut buffer = Vec::with_capacity(1 << 20);
    loop {
        let dir = {
            let mut todo = dirs.lock().expect("no panic");
            match todo.0.pop() {
                Some(dir) => {
                    todo.1 += 1;
                    Some(dir)
                }
                None if todo.1 == 0 => return,
                None => None,
            }
        };
        let Some(dir) = dir else {
            std::thread::yield_now();
            continue;
        };
        for entry in fs::read_dir(&dir).expect("a directory").flatten() {
            if entry.file_name() == ".git" {
                continue;
            }
            if entry.file_type().expect("a type").is_dir() {
                dirs.lock().expect("no panic").0.push(entry.path());
                continue;
            }
            buffer.clear();
            let mut file = fs::File::open(entry.path()).expect("a file");
            file.read_to_end(&mut buffer).expect("read");
        }
        dirs.lock().expect("no panic").1 -= 1;
    }
}

/// Creates a tree of files that git knows.
fn make_tree(root: &Path, n_files: usize, max_lines: usize) {
    made::files(root, n_files, max_lines);
    git(root, &["init", "-q", "."]);
    git(root, &["-c", "core.looseCompression=0", "-c", "gc.auto=0", "add", "."]);
    let author = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"];
    git(root, &[&author[..], &["commit", "-q", "-m", "start"]].concat());
}

fn git(root: &Path, args: &[&str]) {
    let done = Command::new("git").arg("-C").arg(root).args(args).output().expect("git runs");
    assert!(done.status.success(), "git {args:?}");
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
