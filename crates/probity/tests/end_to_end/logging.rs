//! The diagnostic log: only on stderr, only on request, and early enough to find a step that hangs.

use crate::repo::Repo;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::process::{Output, Stdio};

fn run(repo: &Repo, options: &[&str]) -> (String, String) {
    let mut command = repo.probity(&["run", "--scope", "src/a.py", "--json"]);
    command.args(options).args(["--", "sh", "-c", "echo 'print(1)' > src/a.py"]);
    let Output { status, stdout, stderr } = command.output().expect("probity starts");
    let [stdout, stderr] = [stdout, stderr].map(|bytes| String::from_utf8(bytes).expect("text"));
    assert!(status.success(), "{stderr}");
    (stdout, stderr)
}

/// Returns the steps of a log, in the order in which they began.
fn steps(log: &str) -> Vec<&str> {
    log.lines().filter_map(|line| line.strip_suffix(": new")?.rsplit(':').next()).map(last_words).collect()
}

/// Strips the time and the level before an outermost step.
fn last_words(step: &str) -> &str {
    step.split_once("INFO ").map_or(step, |(_, step)| step)
}

#[test]
fn a_run_logs_each_of_its_steps_to_stderr_and_answers_as_without() {
    let repo = Repo::new();
    let (_, silent) = run(&repo, &[]);
    assert!(steps(&silent).is_empty(), "{silent}");
    let (answer, log) = run(&repo, &["-v"]);
    let answer: serde_json::Value = serde_json::from_str(&answer).expect("stdout is one document");
    assert_eq!(answer["status"], "pass", "{answer}");
    let steps = steps(&log);
    let mut rest = steps.iter();
    for step in
        ["find root", "run", "lock tree", "observe", "plan", "seal", "command", "observe", "judge", "attest"]
    {
        assert!(rest.any(|found| *found == step), "{step} is missing or too early: {log}");
    }
    assert!(!log.contains("helper"), "git is logged by -vv: {log}");
    assert!(!log.contains('\u{1b}'), "{log}");
    // Stored files do not mention the log.
    let evidence = answer["evidence_dir"].as_str().expect("a directory");
    for entry in fs::read_dir(evidence).expect("is there").flatten() {
        let bytes = fs::read(entry.path()).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&bytes).contains("time.busy"), "{:?}", entry.path());
    }
}

#[test]
fn git_commands_are_logged_with_arguments_time_and_outcome() {
    let repo = Repo::new();
    let mut command = repo.probity(&["status"]);
    let output = command.env("PROBITY_LOG", "debug").output().expect("probity starts");
    let log = String::from_utf8(output.stderr).expect("text");
    let starts = log.lines().find(|line| line.contains("helper starts")).expect(&log);
    assert!(starts.contains("/git\"") && starts.contains("argv="), "{starts}");
    let ended = log.lines().find(|line| line.contains("helper ended")).expect(&log);
    assert!(ended.contains("elapsed=") && ended.contains("Exited(0)"), "{ended}");
    let output = repo.probity(&["status"]).env("PROBITY_LOG", "loud").output().expect("probity starts");
    assert!(output.status.success());
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(words.contains("PROBITY_LOG is no filter"), "{words}");
}

#[test]
fn a_start_that_waits_says_for_which_lock() {
    let repo = Repo::new();
    assert_eq!(repo.ask(&["start", "src/b.py", "--intent", "first"]).json["status"], "active");
    let lock = repo.path().join(".git/probity/runs/lock");
    let held = File::options().write(true).open(&lock).expect("stored analyses have a lock");
    held.lock().expect("is free");
    let mut command = repo.probity(&["start", "src/a.py", "--intent", "second", "-v"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("probity starts");
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
    let wait = lines.find(|line| line.contains("wait for lock")).expect("says that it waits");
    assert!(wait.contains("start:") && wait.contains("runs/lock"), "{wait}");
    assert!(wait.contains(&format!("process {}", std::process::id())), "{wait}");
    drop(held);
    assert!(lines.any(|line| line.contains("wait for lock") && line.contains("close")));
    assert!(child.wait().expect("ends").success());
}
