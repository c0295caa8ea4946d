//! Signals to the supervisor: the job ends, and the evidence is still written.

use crate::{Case, roles};
use probity_testkit::STUCK_TIMEOUT;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Instant;

pub(crate) const CASES: &[Case] = &[
    (
        "a_request_to_stop_ends_the_job_and_not_the_supervisor",
        a_request_to_stop_ends_the_job_and_not_the_supervisor,
    ),
    ("every_request_is_passed_on_as_it_came", every_request_is_passed_on_as_it_came),
    ("a_job_that_does_not_listen_is_forced", a_job_that_does_not_listen_is_forced),
    ("a_second_request_shortens_the_wait", a_second_request_shortens_the_wait),
    ("a_signal_that_was_ignored_before_stays_ignored", a_signal_that_was_ignored_before_stays_ignored),
];

/// A supervisor whose job has printed `ready`.
struct Running {
    child: Child,
    words: BufReader<ChildStdout>,
}

impl Running {
    fn start(command: &[String]) -> Self {
        let mut child = Command::new(&command[0])
            .args(&command[1..])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this test can start itself");
        let mut words = BufReader::new(child.stdout.take().expect("its output is piped"));
        let mut line = String::new();
        words.read_line(&mut line).expect("its output is text");
        assert_eq!(line, "ready\n");
        Self { child, words }
    }

    fn says(&mut self, expected: &str) {
        let mut line = String::new();
        self.words.read_line(&mut line).expect("its output is text");
        assert_eq!(line.trim_end(), expected);
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("the supervisor still runs");
    }

    /// Returns everything printed since, once the supervisor has exited successfully.
    fn rest(mut self) -> String {
        let mut rest = String::new();
        self.words.read_to_string(&mut rest).expect("its output is text");
        assert!(self.child.wait().expect("it is a child").success());
        assert!(rest.ends_with("evidence written\n"), "{rest}");
        rest
    }
}

fn a_request_to_stop_ends_the_job_and_not_the_supervisor() {
    let begun = Instant::now();
    let running = Running::start(&roles::supervisor_of(
        "trap 'echo asked; exit 5' TERM; sleep 3600 & echo ready; while :; do sleep 0.02; done",
    ));
    running.signal(Signal::TERM);
    let rest = running.rest();
    assert!(rest.starts_with("asked\noutcome=Cancelled(15) gone=true\ncancelled=Some(15)\n"), "{rest}");
    assert!(rest.contains("next=Cancelled(15)\n"), "no further job starts: {rest}");
    assert!(begun.elapsed() < STUCK_TIMEOUT);
}

fn every_request_is_passed_on_as_it_came() {
    for (name, signal) in [("HUP", Signal::HUP), ("INT", Signal::INT)] {
        let script = format!("trap 'echo {name}; exit' {name}; echo ready; while :; do sleep 0.02; done");
        let running = Running::start(&roles::supervisor_of(&script));
        running.signal(signal);
        let rest = running.rest();
        assert!(rest.starts_with(&format!("{name}\noutcome=Cancelled({})", signal.as_raw())), "{rest}");
    }
}

fn a_job_that_does_not_listen_is_forced() {
    let mut command: Vec<String> = vec!["env".to_owned(), format!("{}=1", roles::USUAL_GRACE)];
    command.extend(roles::supervisor_of("trap '' TERM; echo ready; while :; do sleep 0.02; done"));
    let running = Running::start(&command);
    running.signal(Signal::TERM);
    let rest = running.rest();
    assert!(rest.starts_with("outcome=Cancelled(15) gone=true\n"), "{rest}");
}

fn a_second_request_shortens_the_wait() {
    let begun = Instant::now();
    let script =
        "trap 'echo asked; sleep 3600; echo too late' TERM; echo ready; while :; do sleep 0.02; done";
    let mut running = Running::start(&roles::supervisor_of(script));
    running.signal(Signal::TERM);
    running.says("asked");
    running.signal(Signal::TERM);
    let rest = running.rest();
    assert!(rest.starts_with("outcome=Cancelled(15) gone=true\n"), "{rest}");
    assert!(begun.elapsed() < STUCK_TIMEOUT, "the second request was not heard");
}

fn a_signal_that_was_ignored_before_stays_ignored() {
    let place = tempfile::tempdir().expect("a directory");
    let go = place.path().join("go");
    let script = format!("echo ready; while ! [ -e '{}' ]; do sleep 0.02; done; exit 3", go.display());
    let supervisor = roles::supervisor_of(&script);
    let mut command: Vec<String> = ["sh", "-c", "trap '' HUP; exec \"$@\"", "sh"].map(str::to_owned).to_vec();
    command.extend(supervisor);
    let running = Running::start(&command);
    running.signal(Signal::HUP);
    std::fs::write(go, "").expect("the directory is there");
    let rest = running.rest();
    assert!(rest.starts_with("outcome=Exited(3) gone=true\ncancelled=None\nnext=Exited(0)\n"), "{rest}");
}
