//! Installs the programs that tests drive and a bare machine may lack.

use crate::ChoreResult;
use std::path::Path;
use std::process::Command;

/// Programs that tests start, each with the Debian package that has it.
const TEST_PROGRAMS: &[(&str, &str)] = &[
    ("bash", "bash"),
    ("chromedriver", "chromium-driver"),
    ("chromium", "chromium"),
    ("curl", "curl"),
    ("mount", "mount"),
    ("npm", "npm"),
    ("openssl", "openssl"),
    ("python3", "python3"),
    ("setpriv", "util-linux"),
];

/// Seconds to wait while another installation holds dpkg's lock.
const DPKG_LOCK_TIMEOUT: &str = "DPkg::Lock::Timeout=600";

/// Installs what is missing. Does nothing where all is there.
pub(crate) fn install() -> ChoreResult {
    install_packages()?;
    // A distribution without a fit version is no reason to run no test: those of teams name themselves as skipped, and fail
    // in CI.
    if let Err(why) = crate::team::install() {
        eprintln!("── test tools: {why}");
    }
    Ok(())
}

fn install_packages() -> ChoreResult {
    let missing: Vec<&str> = TEST_PROGRAMS
        .iter()
        .filter(|(program, _)| !is_on_path(program))
        .map(|(_, package)| *package)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    eprintln!("── test tools: apt-get install {}", missing.join(" "));
    let install = ["install", "-y", "-qq", "--no-install-recommends"];
    // Package lists of a machine image are often old, so that a listed version is gone. If they cannot be fetched, the
    // install decides.
    apt_get(&["update", "-qq"]).or_else(|why| {
        eprintln!("{why}");
        Ok::<(), String>(())
    })?;
    apt_get(&[&install[..], &missing].concat())
}

fn apt_get(words: &[&str]) -> ChoreResult {
    let mut command = Command::new("apt-get");
    command.args(["-o", DPKG_LOCK_TIMEOUT]).args(words).env("DEBIAN_FRONTEND", "noninteractive");
    let status = command.status().map_err(|error| format!("apt-get could not be started: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("`apt-get {}` failed with {status}", words.join(" "))) }
}

fn is_on_path(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|directory| is_file(&directory.join(program))))
}

fn is_file(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file())
}
