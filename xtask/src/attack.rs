//! `cargo xtask attack`: runs every attack through the binary, the slow ones too, and prints one line per case.

use crate::{ChoreResult, root};
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

/// Runs the attacks whose name contains `filter`, or all of them.
pub fn attack(filter: Option<&str>) -> ChoreResult {
    let mut command = isolated_cargo();
    command.args(["test", "--quiet", "--package", "probity", "--test", "attacks", "--"]);
    command.args(filter).args(["--include-ignored", "--format=pretty"]);
    let mut child = command
        .current_dir(root())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("attack: cargo could not be started: {error}"))?;
    let output = child.stdout.take().ok_or("attack: cargo has no output")?;
    let (mut n_held, mut broken) = (0, Vec::new());
    for line in BufReader::new(output).lines().map_while(Result::ok) {
        match attack_result(&line) {
            Some((case, true)) => {
                n_held += 1;
                println!("held    {case}");
            }
            Some((case, false)) => {
                println!("broken  {case}");
                broken.push(case.to_owned());
            }
            None if !broken.is_empty() => println!("{line}"),
            None => {}
        }
    }
    let status = child.wait().map_err(|error| format!("attack: {error}"))?;
    println!("{n_held} held, {} broken", broken.len());
    match (broken.is_empty(), status.success()) {
        (true, true) => Ok(()),
        (true, false) => Err(format!("attack: the tests ended with {status}")),
        (false, _) => Err(format!("attack: broken: {}", broken.join(", "))),
    }
}

/// Returns cargo in a private mount namespace where that is possible, so that an attack that mounts over something
/// hurts nobody else. Without root a process cannot mount here at all.
fn isolated_cargo() -> Command {
    if !is_root() {
        return Command::new(env!("CARGO"));
    }
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private", env!("CARGO")]);
    command
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// Reads `test CASE ... ok` or `test CASE ... FAILED`.
fn attack_result(line: &str) -> Option<(&str, bool)> {
    let (case, result) = line.strip_prefix("test ")?.split_once(" ... ")?;
    match result {
        "ok" => Some((case, true)),
        "FAILED" => Some((case, false)),
        _ => None,
    }
}
