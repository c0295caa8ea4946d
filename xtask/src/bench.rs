//! `cargo xtask bench`: measures Probity side by side with its alternatives, in one run on one machine.
//!
//! Only ratios taken back to back mean anything on a machine that does other work too; `BENCHMARKS.md` has the figures
//! with command and machine.

use crate::measure::median;
use crate::{ChoreResult, build, cargo};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 21;

const ROUNDS_ON_LARGE_TREE: usize = 9;

/// Runs that a repository with a history has seen.
const OLD_BUNDLES: usize = 1_000;

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Benchmark {
    /// Governing `true` beside `true` itself and `git status`
    Run,
    /// Snapshots beside `git status` and plain reading
    Tree,
    /// The pure crates
    Engines,
    /// The ledger on disk
    Ledger,
    /// How snapshots grow with the tree; with `commits` also a large store
    Large,
    /// The document store
    Commits,
}

/// Measures audits of git merges beside `git log --remerge-diff`, over the newest merges of each clone.
pub fn merges(clones: &[PathBuf], n_merges: usize) -> ChoreResult {
    let bench = ["bench", "--quiet", "--package", "probity-merges", "--bench", "merges", "--"];
    let mut arguments: Vec<String> = bench.iter().map(|&word| word.to_owned()).collect();
    arguments.push(format!("merges={n_merges}"));
    arguments.extend(clones.iter().map(|clone| clone.display().to_string()));
    cargo("merges", &arguments.iter().map(String::as_str).collect::<Vec<_>>(), &[])
}

/// Plants losses in clean merges of clones, and counts what an audit finds and restores.
pub fn merge_quality(clones: &[PathBuf], n_merges: usize) -> ChoreResult {
    let bench = ["bench", "--quiet", "--package", "probity-merges", "--bench", "planted_losses", "--"];
    let mut arguments: Vec<String> = bench.iter().map(|&word| word.to_owned()).collect();
    arguments.push(format!("merges={n_merges}"));
    arguments.extend(clones.iter().map(|clone| clone.display().to_string()));
    cargo("merge quality", &arguments.iter().map(String::as_str).collect::<Vec<_>>(), &[])
}

/// Runs the named benchmarks, or all but the large one.
pub fn bench(which: &[Benchmark]) -> ChoreResult {
    let wants = |benchmark| which.is_empty() || which.contains(&benchmark);
    if wants(Benchmark::Run) {
        whole_run()?;
    }
    if wants(Benchmark::Tree) {
        // Average file sizes of a few hundred bytes and of a few kilobytes.
        for lines in ["30", "500"] {
            bench_snapshot(&["100000", lines])?;
        }
    }
    if wants(Benchmark::Commits) {
        let bench = ["bench", "--quiet", "--package", "probity-document-store", "--bench", "commits"];
        let large: &[&str] = if which.contains(&Benchmark::Large) { &["--", "large"] } else { &[] };
        cargo("commits", &[&bench, large].concat(), &[])?;
    }
    if wants(Benchmark::Engines) {
        for package in ["paths", "documents", "ledger", "contract", "analysis"] {
            let package = format!("probity-{package}");
            cargo(&package, &["bench", "--quiet", "--package", &package], &[])?;
        }
    }
    if wants(Benchmark::Ledger) {
        cargo("ledger", &["bench", "--quiet", "--package", "probity-knowledge", "--bench", "ledger"], &[])?;
    }
    if which.contains(&Benchmark::Large) {
        cargo("growth", &["bench", "--quiet", "--package", "probity-snapshot", "--bench", "growth"], &[])?;
    }
    Ok(())
}

/// Measures snapshots beside `git status` and plain reading.
fn bench_snapshot(size: &[&str]) -> ChoreResult {
    let bench = ["bench", "--quiet", "--package", "probity-snapshot", "--bench", "snapshot", "--"];
    cargo("tree", &[&bench, size].concat(), &[])
}

/// Measures governing `true` beside `true` itself and `git status`, in repositories of 1,000 and 100,000 files.
fn whole_run() -> ChoreResult {
    let binary = build("release")?;
    for (n_files, n_rounds) in [(1_000, ROUNDS), (100_000, ROUNDS_ON_LARGE_TREE)] {
        let place = std::env::temp_dir().join(format!("probity-bench-{}-{n_files}", std::process::id()));
        let result = measure_runs(&binary, &place, n_files, n_rounds);
        let _ = fs::remove_dir_all(&place);
        result?;
    }
    Ok(())
}

fn measure_runs(binary: &Path, place: &Path, n_files: usize, n_rounds: usize) -> ChoreResult {
    for number in 0..n_files {
        let directory = place.join(format!("src/{:03}/{:02}", number / 2000, number / 100 % 20));
        fs::create_dir_all(&directory).map_err(|error| error.to_string())?;
        fs::write(directory.join(format!("{number}.txt")), format!("file {number}\n").repeat(40))
            .map_err(|error| error.to_string())?;
    }
    shell(
        place,
        "git init -q && git add . && git -c user.name=b -c user.email=b@example.org commit -qm files",
    )?;
    // Recently written files are always read again, so wait until the cache trusts them.
    std::thread::sleep(Duration::from_secs(3));
    println!("{n_files} files, medians of {n_rounds} rounds, one after the other");
    measure_round(binary, place, n_rounds)?;
    if n_files <= OLD_BUNDLES {
        for _ in 0..OLD_BUNDLES {
            time(&mut governed(binary, place, "observe"))?;
        }
        println!("the same with {OLD_BUNDLES} old bundles");
        measure_round(binary, place, n_rounds)?;
    }
    Ok(())
}

fn measure_round(binary: &Path, place: &Path, n_rounds: usize) -> ChoreResult {
    let git_status = || {
        let mut command = Command::new("git");
        command.args(["status", "--porcelain"]).current_dir(place);
        command
    };
    let commands: [(&str, &dyn Fn() -> Command); 4] = [
        ("`true` alone", &|| Command::new("true")),
        ("`git status`", &git_status),
        ("`probity run --enforce observe -- true`", &|| governed(binary, place, "observe")),
        ("`probity run --enforce overlay -- true`", &|| governed(binary, place, "overlay")),
    ];
    let mut times = [const { Vec::new() }; 4];
    for round in 0..=n_rounds {
        for ((_, command), times) in commands.iter().zip(&mut times) {
            let passed = time(&mut command())?;
            // The first round fills the caches.
            if round > 0 {
                times.push(passed);
            }
        }
    }
    for ((name, _), times) in commands.iter().zip(times) {
        println!("  {name:<42}{:>8.1} ms", median(times).unwrap_or_default().as_secs_f64() * 1e3);
    }
    Ok(())
}

fn governed(binary: &Path, place: &Path, level: &str) -> Command {
    let mut run = Command::new(binary);
    run.args(["run", "--enforce", level, "--scope", "src/**", "--", "true"]).current_dir(place);
    run
}

pub fn shell(place: &Path, script: &str) -> ChoreResult {
    let status = Command::new("sh").arg("-ec").arg(script).current_dir(place).status();
    if status.is_ok_and(|status| status.success()) { Ok(()) } else { Err(format!("`{script}` failed")) }
}

pub fn time(command: &mut Command) -> Result<Duration, String> {
    let began = Instant::now();
    let status =
        command.stdout(Stdio::null()).stderr(Stdio::null()).status().map_err(|error| error.to_string())?;
    if status.success() { Ok(began.elapsed()) } else { Err(format!("{command:?} failed")) }
}
