//! `cargo xtask bench`: measures Probity side by side with its alternatives, in one run on one machine.
//!
//! Only ratios taken back to back mean anything on a machine that does other work too; `BENCHMARKS.md` has the figures
//! with command and machine.

use crate::measure::median;
use crate::{ChoreResult, build, cargo};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 21;

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Benchmark {
    /// Governing `true` beside `true` itself
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

/// Measures governing `true` beside `true` itself, in a repository of 1,000 files.
fn whole_run() -> ChoreResult {
    let binary = build("release")?;
    let place = std::env::temp_dir().join(format!("probity-bench-{}", std::process::id()));
    let result = measure_runs(&binary, &place);
    let _ = fs::remove_dir_all(&place);
    result
}

fn measure_runs(binary: &Path, place: &Path) -> ChoreResult {
    for number in 0..1000 {
        let directory = place.join(format!("src/{:02}", number / 20));
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
    let mut alone = Vec::new();
    let mut governed = Vec::new();
    for _ in 0..ROUNDS {
        alone.push(time(&mut Command::new("true"))?);
        let mut run = Command::new(binary);
        governed.push(time(run.args(["run", "--scope", "src/**", "--", "true"]).current_dir(place))?);
    }
    let (alone, governed) = (median(alone).unwrap_or_default(), median(governed).unwrap_or_default());
    println!("`true` alone                              {:>8.1} ms", alone.as_secs_f64() * 1e3);
    println!("`probity run -- true`, 1,000 files        {:>8.1} ms", governed.as_secs_f64() * 1e3);
    println!("more                                      {:>8.1} ms", (governed - alone).as_secs_f64() * 1e3);
    Ok(())
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
