//! Lets an agent's real program work below `probity run --agent --task`: `governed_run AGENT PROGRAM SERVER`.
//!
//! Leads Codex to the scripted model with a file in its home directory, so HOME must be one of its own.

#![expect(clippy::print_stdout, reason = "rows for people")]

use probity_agent_proof::governed_run;
use probity_changes::agents::HookProgram;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> Result<ExitCode, String> {
    let mut words = std::env::args().skip(1);
    let mut word = || words.next().ok_or("usage: governed_run AGENT PROGRAM SERVER");
    let agent = word()?.parse().map_err(|error| format!("{error}"))?;
    let (program, server) = (PathBuf::from(word()?), PathBuf::from(word()?));
    let home = std::env::var_os("HOME").map(PathBuf::from).ok_or("HOME is not set")?;
    let hook = HookProgram::small(&server.with_file_name("probity-hook"));
    let done = governed_run(agent, &program, &server, &hook, &home).map_err(|error| error.to_string())?;
    let outside = done.log.results.get(1).map(String::as_str).unwrap_or_default();
    let rows = [
        ("sealed", done.answer["run_id"].is_string(), "the scope was sealed before the agent started"),
        ("told", done.log.last_request.contains("governed run"), "the agent was told the sealed scope"),
        ("hook", outside.contains("sealed scope of run"), "a write outside was refused by the hook"),
        (
            "verdict",
            done.answer["status"].as_str().is_some_and(|it| it.eq_ignore_ascii_case("pass")),
            "every change was in scope",
        ),
        ("landed", done.declared == "governed\n", "the declared file landed"),
        ("tree", !done.has_outside, "nothing else is in the tree"),
        ("evidence", done.answer["run_hash"].is_string(), "a bundle of evidence was written"),
        ("ledger", done.answer["ledger"]["turns"].as_u64() > Some(0), "the ledger read the session"),
    ];
    let mut is_good = true;
    for (name, is_met, what) in rows {
        is_good &= is_met || name == "told" || name == "ledger";
        println!("  {name:<10} {:<8} {what}", if is_met { "ok" } else { "MISSING" });
    }
    if rows.iter().any(|(_, is_met, _)| !is_met) {
        println!("{}\n{}", done.words.trim_end(), done.answer["ledger"]);
        println!("  the model was told: {outside}");
    }
    Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
