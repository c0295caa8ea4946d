//! Growth of time and memory with the tree: 10,000, 100,000 and 1,000,000 files, each scanned in a process of its own,
//! so that peak memory is that of a single scan.
//!
//! `cargo bench -p probity-snapshot --bench growth -- [number of files …]`

#![allow(clippy::print_stdout, clippy::float_arithmetic, reason = "it prints times and memory")]

mod made;

use probity_snapshot::{ObjectFormat, Snapshot, SnapshotOptions, delta};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const ROUNDS: usize = 3;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    if let [word, step, place] = &arguments[..]
        && word == "look"
    {
        return look(step, Path::new(place));
    }
    let sizes: Vec<usize> = arguments.iter().filter_map(|arg| arg.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![10_000, 100_000, 1_000_000] } else { sizes };
    println!(
        "{:>10} {:>22} {:>22} {:>12}",
        "files", "cold, git ids: ms, MB", "warm + delta: ms, MB", "cache MB"
    );
    for n_files in sizes {
        let home = tempfile::tempdir().expect("a temporary directory");
        made::files(&home.path().join("tree"), n_files, 30);
        // Writing the tree to disk must not overlap with the scans, and recently written files are always read again.
        Command::new("sync").status().expect("sync runs");
        std::thread::sleep(Duration::from_secs(3));
        let (cold_time, cold_memory) = best_of("cold", home.path());
        let (warm_time, warm_memory) = best_of("warm", home.path());
        let cache_mb = fs::metadata(home.path().join("cache")).map_or(0, |file| file.len() / 1_000_000);
        println!(
            "{n_files:>10} {cold_time:>14.0} {cold_memory:>7} {warm_time:>14.0} {warm_memory:>7} {cache_mb:>12}"
        );
    }
}

/// Returns the shortest time and the largest memory of several scans, each in a process of its own.
fn best_of(step: &str, place: &Path) -> (f64, u64) {
    let me = std::env::current_exe().expect("the path of this program");
    let looks = (0..ROUNDS).map(|_| {
        let output = Command::new(&me).args(["look", step]).arg(place).output().expect("starts");
        let text = String::from_utf8(output.stdout).expect("text");
        let mut numbers = text.split_whitespace().map(|word| word.parse::<f64>().expect("a number"));
        (numbers.next().expect("a time"), numbers.next().expect("a size"))
    });
    looks.fold((f64::MAX, 0), |(ms, mb), (this_ms, this_mb)| (ms.min(this_ms), mb.max(whole(this_mb))))
}

/// Scans the tree once and prints the cost.
fn look(step: &str, place: &Path) {
    let (root, cache_file) = (place.join("tree"), place.join("cache"));
    let options = SnapshotOptions { git_ids: Some(ObjectFormat::Sha1), ..SnapshotOptions::default() };
    let start = Instant::now();
    let known = (step == "warm").then(|| made::load(&cache_file));
    let now = Snapshot::take(&root, &options, known.as_ref()).expect("a snapshot");
    if let Some(known) = &known {
        assert_eq!(delta(known, &now), []);
    }
    let ms = start.elapsed().as_secs_f64() * 1000.0;
    if known.is_none() {
        made::store(&cache_file, &now);
    }
    println!("{ms} {}", peak_mb());
}

/// Returns the peak resident memory of this process on Linux; 0 elsewhere.
fn peak_mb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = peak.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) / 1000
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some megabytes")]
fn whole(number: f64) -> u64 {
    number as u64
}
