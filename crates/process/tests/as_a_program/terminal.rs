//! A job on a real terminal: it gets the keyboard, and the supervisor gets it back.

use crate::{Case, roles};
use probity_testkit::STUCK_TIMEOUT;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::{Child, Command};
use std::time::Instant;

pub(crate) const CASES: &[Case] = &[
    ("a_job_reads_the_keyboard", a_job_reads_the_keyboard),
    ("the_terminal_comes_back_as_it_was", the_terminal_comes_back_as_it_was),
    (
        "the_terminal_comes_back_from_a_job_that_was_killed",
        the_terminal_comes_back_from_a_job_that_was_killed,
    ),
    ("control_c_reaches_the_job_and_the_run_goes_on", control_c_reaches_the_job_and_the_run_goes_on),
    ("control_z_suspends_the_run_and_fg_resumes_it", control_z_suspends_the_run_and_fg_resumes_it),
    ("a_run_in_the_background_gets_the_terminal_with_fg", a_run_in_the_background_gets_the_terminal_with_fg),
    ("control_z_without_a_shell_changes_nothing", control_z_without_a_shell_changes_nothing),
];

/// A program on a terminal of its own; this test holds the other end.
struct Session {
    keyboard_and_screen: File,
    shown: String,
    child: Child,
}

impl Session {
    fn start(command: &[String]) -> Self {
        let near = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("there are pseudo-terminals");
        grantpt(&near).expect("the terminal can be used");
        unlockpt(&near).expect("the terminal can be opened");
        let name = ptsname(&near, Vec::new()).expect("the terminal has a name");
        let path = std::ffi::OsStr::from_bytes(name.as_bytes());
        let far = OpenOptions::new().read(true).write(true).open(path).expect("the far end opens");
        let end = || far.try_clone().expect("a handle can be doubled");
        let child = Command::new(std::env::current_exe().expect("this test has a path"))
            .arg("--in-terminal")
            .args(command)
            .env("PS1", "$ ")
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .spawn()
            .expect("this test can start itself");
        Self { keyboard_and_screen: File::from(near), shown: String::new(), child }
    }

    fn supervising(script: &str) -> Self {
        Self::start(&roles::supervisor_of(script))
    }

    fn types(&mut self, keys: &str) {
        self.keyboard_and_screen.write_all(keys.as_bytes()).expect("the terminal takes keys");
    }

    /// Reads until `text` has been shown, and discards what came before it.
    fn shows(&mut self, text: &str) {
        let until = Instant::now() + STUCK_TIMEOUT;
        loop {
            if let Some(at) = self.shown.find(text) {
                self.shown.drain(..at + text.len());
                return;
            }
            let left = until.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "waited for {text:?} without success; shown: {:?}", self.shown);
            let wait = Timespec::try_from(left).expect("some minutes fit");
            let mut ends = [PollFd::new(&self.keyboard_and_screen, PollFlags::IN)];
            if poll(&mut ends, Some(&wait)) == Ok(0) {
                continue;
            }
            let mut buffer = [0; 4096];
            let count = self.keyboard_and_screen.read(&mut buffer).unwrap_or(0);
            assert!(count > 0, "the terminal closed before {text:?}; shown: {:?}", self.shown);
            self.shown.push_str(&String::from_utf8_lossy(&buffer[..count]));
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Changing the terminal's modes makes a script wait until it is in the foreground.
const READER: &str = "stty echo; echo ready; read -r line; echo \"got:$line\"; exit 6";

fn a_job_reads_the_keyboard() {
    let mut session = Session::supervising(READER);
    session.shows("ready");
    session.types("hello\n");
    session.shows("got:hello");
    session.shows("outcome=Exited(6) gone=true");
    session.shows("mine=true echo=true");
    session.shows("evidence written");
}

fn the_terminal_comes_back_as_it_was() {
    let mut session = Session::supervising("stty raw -echo; echo ready; exit 0");
    session.shows("ready");
    session.shows("outcome=Exited(0)");
    session.shows("mine=true echo=true");
}

fn the_terminal_comes_back_from_a_job_that_was_killed() {
    let mut session = Session::supervising("stty raw -echo; sleep 3600 & kill -9 $$");
    session.shows("outcome=Signalled(9) gone=true");
    session.shows("mine=true echo=true");
    session.shows("evidence written");
}

fn control_c_reaches_the_job_and_the_run_goes_on() {
    let mut session = Session::supervising(
        "trap 'echo interrupted; exit 9' INT; stty echo; echo ready; while :; do sleep 0.02; done",
    );
    session.shows("ready");
    session.types("\x03");
    session.shows("interrupted");
    session.shows("outcome=Exited(9) gone=true");
    session.shows("cancelled=None");
    session.shows("evidence written");
}

/// Starts an interactive shell; `None` where there is no shell with job control.
fn shell() -> Option<Session> {
    Command::new("bash").arg("--version").output().ok()?;
    let command = ["bash", "--norc", "--noprofile", "--noediting", "-i"].map(str::to_owned);
    let mut session = Session::start(&command);
    session.types("stty -echo; PS1='$ '; echo shell is $((40 + 2))\n");
    session.shows("shell is 42");
    Some(session)
}

/// Returns a shell command line that supervises `script`.
fn line(script: &str) -> String {
    let quoted =
        roles::supervisor_of(script).into_iter().map(|word| format!("'{}'", word.replace('\'', r"'\''")));
    quoted.collect::<Vec<_>>().join(" ")
}

fn control_z_suspends_the_run_and_fg_resumes_it() {
    let Some(mut session) = shell() else { return probity_testkit::skip!("bash is not installed") };
    session.types(&format!("{}\n", line(READER)));
    session.shows("ready");
    session.types("\x1a");
    session.shows("Stopped");
    session.types("echo the shell answers\n");
    session.shows("the shell answers");
    session.types("fg\n");
    session.types("hello\n");
    session.shows("got:hello");
    session.shows("outcome=Exited(6) gone=true");
    session.shows("evidence written");
}

fn a_run_in_the_background_gets_the_terminal_with_fg() {
    let Some(mut session) = shell() else { return probity_testkit::skip!("bash is not installed") };
    session.types(&format!("{} &\n", line(READER)));
    session.types("while [ -z \"$(jobs -s)\" ]; do sleep 0.02; done; echo it waits\n");
    session.shows("it waits");
    session.types("fg\n");
    session.shows("ready");
    session.types("hello\n");
    session.shows("got:hello");
    session.shows("evidence written");
}

fn control_z_without_a_shell_changes_nothing() {
    let mut session = Session::supervising(READER);
    session.shows("ready");
    session.types("\x1a");
    session.types("hello\n");
    session.shows("got:hello");
    session.shows("evidence written");
}
