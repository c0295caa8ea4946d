//! Tests the supervisor inside a whole program: signals from outside, a real terminal, a shell with job control.
//!
//! This test starts itself again in two other roles, `--supervise COMMAND…` and `--in-terminal PROGRAM…`, so it has its
//! own `main` instead of the usual harness. It takes the names of the cases to run, or runs all.

mod roles;
mod signals;
mod terminal;

use rustix::process::Signal;
use std::process::{Command, ExitCode};
use std::time::Instant;

type Case = (&'static str, fn());

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.split_first() {
        Some((role, command)) if role == "--supervise" => roles::supervise(command),
        Some((role, command)) if role == "--in-terminal" => roles::in_terminal(command),
        _ => {
            let is_deaf = [Signal::INT, Signal::HUP].into_iter().any(is_ignored);
            if let Some(code) = is_deaf.then(|| run_again_with_signals(&arguments)).flatten() {
                return code;
            }
            return run_cases(&arguments);
        }
    }
    ExitCode::SUCCESS
}

/// Returns true if this program was started with a signal ignored, by `nohup` or as a shell's background job.
/// Everything it starts inherits that.
fn is_ignored(signal: Signal) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal.as_raw() - 1) & 1 == 1
}

/// Runs the cases with the signal settings of a program in a terminal; `None` where `env` cannot do that.
fn run_again_with_signals(arguments: &[String]) -> Option<ExitCode> {
    let own = std::env::current_exe().expect("this test knows where it is");
    let again = Command::new("env").arg("--default-signal=INT,HUP").arg(own).args(arguments).status();
    // Codes from 125 on mean that `env` itself failed.
    let code = again.ok()?.code().filter(|code| *code < 125)?;
    u8::try_from(code).ok().map(ExitCode::from)
}

#[expect(clippy::print_stdout, reason = "this is a test harness")]
fn run_cases(arguments: &[String]) -> ExitCode {
    let wanted: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with("--")).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|part| name.contains(*part));
    let cases: Vec<&Case> =
        signals::CASES.iter().chain(terminal::CASES).filter(|(name, _)| is_wanted(name)).collect();
    if arguments.iter().any(|argument| argument == "--list") {
        for (name, _) in &cases {
            println!("{name}: test");
        }
        return ExitCode::SUCCESS;
    }
    let mut failed = Vec::new();
    for (name, case) in &cases {
        println!("test {name} ...");
        let begun = Instant::now();
        let result = if std::panic::catch_unwind(case).is_ok() { "ok" } else { "FAILED" };
        println!("test {name} ... {result} ({} ms)", begun.elapsed().as_millis());
        if result == "FAILED" {
            failed.push(*name);
        }
    }
    let n_passed = cases.len() - failed.len();
    if failed.is_empty() {
        println!("test result: ok. {n_passed} passed");
        return ExitCode::SUCCESS;
    }
    println!("\nfailures:\n    {}\n", failed.join("\n    "));
    println!("test result: FAILED. {n_passed} passed; {} failed", failed.len());
    ExitCode::from(101)
}
