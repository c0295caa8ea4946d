//! Prints what an agent's real program does when its hook fails: `hook_failures AGENT PROGRAM SERVER [FAILURE…]`.
//!
//! Fails if a cell is open that Probity's installation closes.

#![expect(clippy::print_stdout, reason = "a table for people")]

use probity_agent_proof::{HookFailure, hook_failure};
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> Result<ExitCode, String> {
    let mut words = std::env::args().skip(1);
    let mut word = || words.next().ok_or("usage: hook_failures AGENT PROGRAM SERVER [FAILURE…]");
    let agent = word()?.parse().map_err(|error| format!("{error}"))?;
    let (program, server) = (PathBuf::from(word()?), PathBuf::from(word()?));
    let named: Result<Vec<HookFailure>, String> =
        words.map(|word| word.parse().map_err(|error| format!("{error}"))).collect();
    let named = Some(named?).filter(|named| !named.is_empty());
    let mut n_open = 0;
    for failure in named.unwrap_or_else(|| HookFailure::ALL.to_vec()) {
        let cell = hook_failure(agent, &program, &server, failure).map_err(|error| error.to_string())?;
        let Some(cell) = cell else { return Err(format!("{agent} cannot be driven")) };
        let word = match (cell.is_blocked, failure.is_closed(agent)) {
            (true, _) => "blocked",
            (false, false) => "open, by the agent's design",
            (false, true) => {
                n_open += 1;
                "OPEN"
            }
        };
        println!("  {:<8} {word:<28} {}", failure.as_str(), cell.told);
    }
    Ok(if n_open == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
