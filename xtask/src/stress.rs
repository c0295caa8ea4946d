//! `cargo xtask stress`: looks for tests that depend on speed, by running all of them on a busy machine, with the
//! lowest priority, and with slow disk flushes.

use crate::test_run::TestRun;
use crate::{ChoreResult, cargo};
use std::process::{Child, Command, Stdio};

/// Number of busy processes beside the tests.
const N_BUSY_LOOPS: usize = 2;

/// Delays every flush to disk by 5 ms. With `--seccomp-bpf` a process stops only at these calls.
const SLOW_FLUSHES: &[&str] = &[
    "strace",
    "--follow-forks",
    "--seccomp-bpf",
    "--quiet=all",
    "--output=/dev/null",
    "--trace=fsync,fdatasync,sync_file_range,msync",
    "--inject=fsync,fdatasync,sync_file_range,msync:delay_exit=5000",
];

/// A process that only computes, until this is dropped.
struct BusyLoop(Child);

impl BusyLoop {
    fn start() -> Result<Self, String> {
        let started = Command::new("sh").args(["-c", "while :; do :; done"]).stdin(Stdio::null()).spawn();
        started.map(Self).map_err(|error| format!("no busy loop could be started: {error}"))
    }
}

impl Drop for BusyLoop {
    fn drop(&mut self) {
        // Nothing else ends it; failing because it has already ended is fine.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs the tests `rounds` times beside busy loops, once niced, and once with slow flushes if strace is installed.
pub fn stress(rounds: usize) -> ChoreResult {
    cargo("build", &["test", "--workspace", "--no-run", "--quiet"], &[])?;
    let mut counts = Vec::new();
    {
        let _busy: Vec<BusyLoop> = (0..N_BUSY_LOOPS).map(|_| BusyLoop::start()).collect::<Result<_, _>>()?;
        for round in 1..=rounds {
            counts
                .push(TestCount::of(&format!("beside {N_BUSY_LOOPS} busy loops, {round} of {rounds}"), &[])?);
        }
    }
    counts.push(TestCount::of("niced", &["nice", "-n", "19"])?);
    let has_strace =
        Command::new("strace").arg("--version").output().is_ok_and(|output| output.status.success());
    if has_strace {
        counts.push(TestCount::of("with slow flushes", SLOW_FLUSHES)?);
    } else {
        eprintln!("── with slow flushes: not tried, because there is no strace");
    }
    for count in &counts {
        eprintln!(
            "── {}: {} passed, {} failed, {} skipped",
            count.condition,
            count.passed,
            count.failed.len(),
            count.skipped
        );
        for test in &count.failed {
            eprintln!("    {test}");
        }
    }
    let n_bad = counts.iter().filter(|count| !count.failed.is_empty()).count();
    if n_bad == 0 { Ok(()) } else { Err(format!("the tests failed in {n_bad} of {} runs", counts.len())) }
}

struct TestCount {
    condition: String,
    passed: usize,
    /// The failed tests; if none is named, the error of the run.
    failed: Vec<String>,
    skipped: usize,
}

impl TestCount {
    fn of(condition: &str, before: &[&str]) -> Result<Self, String> {
        eprintln!("── {condition}");
        let run = TestRun::start(before)?;
        let mut failed: Vec<String> = run.failed().into_iter().map(str::to_owned).collect();
        if failed.is_empty() {
            failed.extend(run.failure());
        }
        Ok(Self { condition: condition.into(), passed: run.n_passed(), failed, skipped: run.skipped().len() })
    }
}
