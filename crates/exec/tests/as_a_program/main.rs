//! The supervisor as a whole program meets it: signals from outside, a real terminal, a shell with job control.
//!
//! This test starts itself again in two other roles, `--supervise COMMAND…` and `--in-terminal PROGRAM…`; hence its own
//! `main` instead of the usual harness. It takes the names of the cases to run, or runs all.

mod roles;
mod signals;
mod terminal;

use std::time::{Duration, Instant};

/// No case needs more than a fraction of this; who waits longer waits in vain.
const PATIENCE: Duration = Duration::from_secs(10);

type Case = (&'static str, fn());

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.split_first() {
        Some((role, command)) if role == "--supervise" => roles::supervise(command),
        Some((role, command)) if role == "--in-terminal" => roles::in_terminal(command),
        _ => run_cases(&arguments),
    }
}

#[expect(clippy::print_stdout, reason = "this is a test harness")]
fn run_cases(arguments: &[String]) {
    let wanted: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with("--")).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|part| name.contains(*part));
    let cases: Vec<&Case> =
        signals::CASES.iter().chain(terminal::CASES).filter(|(name, _)| is_wanted(name)).collect();
    if arguments.iter().any(|argument| argument == "--list") {
        return cases.iter().for_each(|(name, _)| println!("{name}: test"));
    }
    for (name, case) in &cases {
        println!("test {name} ...");
        let begun = Instant::now();
        case();
        println!("test {name} ... ok ({} ms)", begun.elapsed().as_millis());
    }
    println!("test result: ok. {} passed", cases.len());
}
