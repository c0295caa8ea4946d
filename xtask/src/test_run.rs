//! Runs the whole test suite, passes its output through, and collects the failed and skipped tests.

use crate::root;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, PipeReader, Write};
use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// One seed for all property tests, so that the same code gives the same result every time.
const PROPERTY_SEED: &str = "20261116";

/// Names the file in which tests note that they could not run; see crate `testkit`.
const SKIPPED_TESTS_VARIABLE: &str = "PROBITY_SKIPPED_TESTS";

/// The variable by which `cargo test` takes the number of tests that run at once.
const TEST_THREADS_VARIABLE: &str = "RUST_TEST_THREADS";

/// Tests per core that run at once: most of the time a test waits for a process that it started or for the disk. Four
/// instead of two on two cores take a fifth off the long programs.
const N_TESTS_PER_CORE: usize = 2;

/// Time between two checks whether cargo has ended, while nothing is printed.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

pub struct TestRun {
    status: ExitStatus,
    output: TestOutput,
    /// `test: skipped: why`, for every test that could not run here.
    skipped: BTreeSet<String>,
}

impl TestRun {
    /// Runs every test with `cargo test`, prefixed with the words of `before`, such as `nice -n 19`.
    pub fn start(before: &[&str]) -> Result<Self, String> {
        let words = before.iter().copied().chain([env!("CARGO"), "test", "--workspace", "--no-fail-fast"]);
        let words: Vec<&OsStr> = words.map(OsStr::new).collect();
        let skipped_file = skipped_file()?;
        let (reader, writer) = std::io::pipe().map_err(|error| format!("tests: no pipe: {error}"))?;
        let same_writer = writer.try_clone().map_err(|error| format!("tests: no pipe: {error}"))?;
        // One pipe for both streams: cargo names on stderr the program that the next lines come from.
        let mut child = Command::new(words[0])
            .args(&words[1..])
            .env("PROPTEST_RNG_SEED", PROPERTY_SEED)
            .env(SKIPPED_TESTS_VARIABLE, &skipped_file)
            .env(TEST_THREADS_VARIABLE, n_test_threads())
            // A differing snapshot fails and stays unchanged: nobody reviews it here.
            .env("INSTA_UPDATE", "no")
            .current_dir(root())
            .stdout(writer)
            .stderr(same_writer)
            .spawn()
            .map_err(|error| format!("tests: {} could not be started: {error}", words[0].display()))?;
        let mut output = TestOutput::default();
        let mut terminal = std::io::stdout();
        let lines = lines_of(reader);
        let status = loop {
            match lines.recv_timeout(POLL_INTERVAL) {
                Ok(line) => {
                    // If nobody reads the output any more, testing continues.
                    let _ = terminal.write_all(&[&line, b"\n".as_slice()].concat());
                    output.read_line(&String::from_utf8_lossy(&line));
                }
                // A process left behind by a failed test keeps the pipe open, so the run ends with cargo.
                Err(RecvTimeoutError::Timeout) => {
                    if let Some(status) = child.try_wait().map_err(|error| format!("tests: {error}"))? {
                        break status;
                    }
                }
                Err(RecvTimeoutError::Disconnected) => {
                    break child.wait().map_err(|error| format!("tests: {error}"))?;
                }
            }
        };
        let noted = std::fs::read_to_string(&skipped_file)
            .map_err(|error| format!("tests: {}: {error}", skipped_file.display()))?;
        Ok(Self { status, output, skipped: noted.lines().map(str::to_owned).collect() })
    }

    /// Returns the seed, for repeating a failure.
    pub fn seed() -> &'static str {
        PROPERTY_SEED
    }

    pub fn n_passed(&self) -> usize {
        self.output.n_passed
    }

    /// Returns the failed tests, each with its program.
    pub fn failed(&self) -> Vec<&str> {
        self.output.failed.iter().map(String::as_str).collect()
    }

    /// Returns the tests that did not run: ignored ones, and those that cannot run on this machine.
    pub fn skipped(&self) -> Vec<String> {
        let ignored = self.output.ignored.iter().map(|name| format!("{name}: ignored"));
        ignored.chain(self.skipped.iter().cloned()).collect()
    }

    /// Describes all failures in one text; `None` if every test that ran passed.
    pub fn failure(&self) -> Option<String> {
        let failed = self.failed();
        match (self.status.success(), failed.is_empty()) {
            (true, true) => None,
            (_, false) => Some(format!("{} failed:\n    {}", n_tests(failed.len()), failed.join("\n    "))),
            (false, true) => {
                Some(format!("`cargo test` ended with {}, and no test failed: see its output", self.status))
            }
        }
    }
}

/// What the caller asked for, or some tests per core.
fn n_test_threads() -> OsString {
    let n_cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::env::var_os(TEST_THREADS_VARIABLE).unwrap_or_else(|| (n_cores * N_TESTS_PER_CORE).to_string().into())
}

/// Reads lines from a pipe until it is closed or fails.
fn lines_of(reader: PipeReader) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(reader).split(b'\n').map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

fn n_tests(n: usize) -> String {
    format!("{n} test{}", if n == 1 { "" } else { "s" })
}

/// Creates the empty file in which the tests note what they skip.
fn skipped_file() -> Result<PathBuf, String> {
    let file = crate::target().join("skipped-tests");
    let written = std::fs::create_dir_all(crate::target()).and_then(|()| std::fs::write(&file, ""));
    written.map_err(|error| format!("tests: {}: {error}", file.display()))?;
    file.canonicalize().map_err(|error| format!("tests: {}: {error}", file.display()))
}

/// The state of a parser for the output of `cargo test`.
#[derive(Default)]
struct TestOutput {
    /// The program whose tests run: `crates/process/tests/jobs.rs`.
    program: String,
    /// Whether the current lines are names of failed tests.
    is_listing_failures: bool,
    n_passed: usize,
    failed: BTreeSet<String>,
    ignored: BTreeSet<String>,
}

impl TestOutput {
    fn read_line(&mut self, line: &str) {
        let name = |test: &str, program: &str| format!("{test} ({program})");
        if let Some(program) = program_in(line) {
            program.clone_into(&mut self.program);
        } else if line == "failures:" {
            self.is_listing_failures = true;
        } else if let Some(test) = line.strip_prefix("    ").filter(|_| self.is_listing_failures) {
            self.failed.insert(name(test, &self.program));
        } else if let Some((test, result)) =
            line.strip_prefix("test ").and_then(|rest| rest.split_once(" ... "))
        {
            match result.split([' ', ',']).next() {
                Some("ok") => self.n_passed += 1,
                Some("FAILED") => drop(self.failed.insert(name(test, &self.program))),
                Some("ignored") => drop(self.ignored.insert(name(test, &self.program))),
                _ => {}
            }
        } else {
            // The first list holds outputs (`---- name stdout ----`), the second one names.
            self.is_listing_failures &= line.is_empty();
        }
        if let Some((_, target)) =
            line.split_once("test failed, to rerun pass ").filter(|_| line.starts_with("error: "))
        {
            // A program that died names no test.
            let is_named = self.failed.iter().any(|failed| failed.ends_with(&format!("({})", self.program)));
            if !is_named {
                self.failed.insert(name("the whole program", target));
            }
        }
    }
}

/// Parses the program that cargo announces.
fn program_in(line: &str) -> Option<&str> {
    let line = line.trim_start();
    if let Some(rest) = line.strip_prefix("Running ") {
        let (target, file) = rest.split_once(" (")?;
        // Every crate has `unittests src/lib.rs`: only the file name tells them apart.
        let file = file.strip_suffix(')')?.rsplit('/').next()?;
        let (program, _hash) = file.rsplit_once('-')?;
        return Some(if target.starts_with("unittests") { program } else { target });
    }
    line.strip_prefix("Doc-tests ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "   Compiling probity-process v0.1.0
     Running unittests src/lib.rs (target/debug/deps/probity_storage-5ccdb97eee1cd6d3)

running 4 tests
test lock::tests::many_may_share_it ... ok
test lock::tests::only_one_holds_it ... FAILED
test lock::tests::slow ... ignored, takes an hour
test lock::tests::other - should panic ... ok

failures:

---- lock::tests::only_one_holds_it stdout ----
    indented words of a test
thread 'lock::tests::only_one_holds_it' panicked at crates/storage/src/lock.rs:1:1:
two holders

failures:
    lock::tests::only_one_holds_it

test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s

error: test failed, to rerun pass `-p probity-storage --lib`
     Running tests/capture.rs (target/debug/deps/capture-0123456789abcdef)
test answers_are_whole ... noise of a child process
FAILED

failures:

failures:
    answers_are_whole

error: test failed, to rerun pass `-p probity-process --test capture`
     Running tests/as_a_program/main.rs (target/debug/deps/as_a_program-0123456789abcdef)
test control_z ...
error: test failed, to rerun pass `-p probity-process --test as_a_program`
   Doc-tests probity_storage
test crates/storage/src/lib.rs - journal (line 3) ... ok
";

    #[test]
    fn failed_and_ignored_tests_are_named_with_their_program() {
        let mut output = TestOutput::default();
        OUTPUT.lines().for_each(|line| output.read_line(line));
        let failed: Vec<&str> = output.failed.iter().map(String::as_str).collect();
        assert_eq!(
            failed,
            [
                "answers_are_whole (tests/capture.rs)",
                "lock::tests::only_one_holds_it (probity_storage)",
                "the whole program (`-p probity-process --test as_a_program`)",
            ]
        );
        assert_eq!(output.ignored.into_iter().collect::<Vec<_>>(), ["lock::tests::slow (probity_storage)"]);
        assert_eq!(output.n_passed, 3);
    }
}
