//! `cargo xtask audit`: what comes into the house from outside. Licences, sources, bans and known holes (cargo-deny), and
//! dependencies that nothing uses (cargo-machete).

use crate::{ChoreResult, root};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Checks everything; `offline` leaves out the known holes, whose list comes from the network.
pub fn audit(offline: bool) -> ChoreResult {
    let deny = tool("cargo-deny")?;
    run("unused dependencies", &tool("cargo-machete")?, &["crates", "xtask"])?;
    run("licences, bans, sources", &deny, &["check", "licenses", "bans", "sources"])?;
    if offline {
        eprintln!("── known holes: not checked, because that needs the network");
        return Ok(());
    }
    run("known holes", &deny, &["check", "advisories"])
}

/// The tool, installed below `target` when it is not there yet: nobody's own set of tools is touched.
fn tool(name: &str) -> Result<PathBuf, String> {
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
