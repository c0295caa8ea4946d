//! Helpers shared by the tests of several crates.
//!
//! Owns: waiting, tests that cannot run here, copies of programs, members of etcd to hurt, judges of histories.
//! May use: no other crate of ours.
//! Must not know: what any crate that is tested does.
//!
//! * [`wait_until`], [`wait_for`], [`skip!`], [`copy_program`].
//! * [`etcd_cluster`], [`member_network`], [`lossy_proxy`]: real members of etcd, cut networks, and replies that are lost. [`history`]: two judges of claims.

#![expect(clippy::print_stdout, reason = "a test that cannot run says so where its output is read")]

pub mod etcd_cluster;
pub mod history;
pub mod lossy_proxy;
pub mod member_network;

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Time after which an unmet condition counts as stuck. Generous, for busy machines with slow disks: a passing test
/// never waits this long.
pub const STUCK_TIMEOUT: Duration = Duration::from_mins(5);

const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// Names the file that collects the tests that could not run, one line each. `cargo xtask test` sets it.
pub const SKIPPED_TESTS_VARIABLE: &str = "PROBITY_SKIPPED_TESTS";

/// Waits until `condition` holds; panics if it does not within [`STUCK_TIMEOUT`].
#[track_caller]
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    wait_for(what, || condition().then_some(()));
}

/// Waits until `value` returns a value; panics if it does not within [`STUCK_TIMEOUT`].
#[track_caller]
pub fn wait_for<T>(what: &str, mut value: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(value) = value() {
            return value;
        }
        assert!(
            began.elapsed() < STUCK_TIMEOUT,
            "waited {} s without success: {what}",
            STUCK_TIMEOUT.as_secs()
        );
        sleep(POLL_INTERVAL);
    }
}

/// Copies a program so that it can be started at once.
///
/// Another process copies it. If this one did, a process that another thread starts meanwhile would inherit the open file
/// for a moment, and starting the copy would fail because it is "busy".
#[track_caller]
pub fn copy_program(from: impl AsRef<Path>, to: impl AsRef<Path>) {
    let (from, to) = (from.as_ref(), to.as_ref());
    let copied = Command::new("cp").arg(from).arg(to).status().expect("`cp` starts");
    assert!(copied.success(), "`cp {} {}` failed", from.display(), to.display());
}

/// Reports the running test as skipped, and why. In CI the test fails instead: there everything must run.
///
/// ```no_run
/// # fn a_socket_is_found() {
/// if std::process::Command::new("python3").arg("--version").output().is_err() {
///     return probity_testkit::skip!("python3 is not installed");
/// }
/// # }
/// # use probity_testkit as testkit;
/// ```
#[macro_export]
macro_rules! skip {
    ($($why:tt)+) => {{
        fn here() {}
        $crate::skip_test(::std::any::type_name_of_val(&here), &::std::format!($($why)+))
    }};
}

/// Implements [`skip!`] for the function at `path`.
#[track_caller]
pub fn skip_test(path: &str, why: &str) {
    let name = path.trim_end_matches("::here").trim_end_matches("::{{closure}}");
    let is_ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false");
    assert!(!is_ci, "{name} cannot run here, and in CI every test must run: {why}");
    // A reason quoted from a program may have several lines; the note is one.
    let why = why.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = format!("{name}: skipped: {why}\n");
    print!("{line}");
    if let Some(file) = std::env::var_os(SKIPPED_TESTS_VARIABLE).filter(|file| !file.is_empty()) {
        let opened = OpenOptions::new().append(true).create(true).open(&file);
        // One write per line, so that the lines of concurrent tests do not mix.
        let written = opened.and_then(|mut opened| opened.write_all(line.as_bytes()));
        written.unwrap_or_else(|error| panic!("cannot note in {} that {line}{error}", file.display()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// Makes the child process skip; its environment does the rest.
    const SKIPS: &str = "PROBITY_TESTKIT_SKIPS";

    /// Runs the next test again as a child that skips; returns whether it passed, and what it noted.
    fn skipping(ci: Option<&str>) -> (bool, String) {
        let dir = tempfile::tempdir().expect("a directory");
        let noted = dir.path().join("skipped");
        let mut child = Command::new(std::env::current_exe().expect("this test"));
        child.args(["--exact", "tests::a_test_that_cannot_run_is_named_and_fails_in_ci"]);
        child.env(SKIPS, "1").env(SKIPPED_TESTS_VARIABLE, &noted).env_remove("CI");
        child.envs(ci.map(|value| ("CI", value)));
        let output = child.output().expect("starts");
        (output.status.success(), std::fs::read_to_string(noted).unwrap_or_default())
    }

    #[test]
    fn a_test_that_cannot_run_is_named_and_fails_in_ci() {
        if std::env::var_os(SKIPS).is_some() {
            return crate::skip!("there is no {}\n", "moon");
        }
        let line = "probity_testkit::tests::a_test_that_cannot_run_is_named_and_fails_in_ci: skipped: there is no moon\n";
        for not_ci in [None, Some(""), Some("false")] {
            assert_eq!(skipping(not_ci), (true, line.to_owned()), "{not_ci:?}");
        }
        assert_eq!(skipping(Some("true")), (false, String::new()));
    }

    #[test]
    fn waiting_ends_with_the_condition() {
        let mut looks = 0;
        let seen = wait_for("the third look", || {
            looks += 1;
            (looks == 3).then_some(looks)
        });
        assert_eq!(seen, 3);
    }
}
