//! `cargo xtask audit`: checks the dependencies. Licenses, sources, bans and advisories by cargo-deny, unused
//! dependencies by cargo-machete.

use crate::{ChoreResult, root};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs every check; `offline` leaves out the advisories, which come from the network.
pub fn audit(offline: bool) -> ChoreResult {
    let deny = tool("cargo-deny")?;
    run("unused dependencies", &tool("cargo-machete")?, &["crates", "xtask"])?;
    run("licenses, bans, sources", &deny, &["check", "licenses", "bans", "sources"])?;
    if offline {
        eprintln!("── known holes: not checked, because that needs the network");
        return Ok(());
    }
    run("known holes", &deny, &["check", "advisories"])
}

/// Returns the tool, installed below `target` if it is missing: the user's own tools stay untouched.
pub(crate) fn tool(name: &str) -> Result<PathBuf, String> {
    let tools = root().join("target").join("tools");
    let program = tools.join("bin").join(name);
    if !program.exists() {
        eprintln!("── install {name} below target/tools (some minutes, once)");
        let mut install = Command::new(env!("CARGO"));
        install.args(["install", "--locked", "--quiet", "--root"]).arg(&tools).arg(name);
        finish(name, install.arg("--target-dir").arg(tools.join("build")))?;
    }
    Ok(program)
}

fn run(what: &str, program: &Path, arguments: &[&str]) -> ChoreResult {
    eprintln!("── {what}: {} {}", program.file_name().unwrap_or_default().display(), arguments.join(" "));
    finish(what, Command::new(program).args(arguments))
}

fn finish(what: &str, command: &mut Command) -> ChoreResult {
    let status = command.current_dir(root()).status().map_err(|error| format!("{what}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{what}: not clean, see above")) }
}
