//! `cargo xtask fuzz`: runs the fuzz targets with nothing installed but the project's compiler.

use crate::{ChoreResult, root};
use std::fs;
use std::process::Command;

/// Compiler flags that let libFuzzer see which code an input reaches.
const COVERAGE_FLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
                        -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
                        -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares";

/// Runs each target, or the named ones, for `seconds`.
pub fn fuzz(seconds: u32, wanted: &[String]) -> ChoreResult {
    let directory = root().join("fuzz");
    let host = host_triple()?;
    for entry in fs::read_dir(directory.join("fuzz_targets")).map_err(|error| error.to_string())? {
        let path = entry.map_err(|error| error.to_string())?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if !wanted.is_empty() && !wanted.contains(&name) {
            continue;
        }
        let corpus = directory.join("corpus").join(&name);
        fs::create_dir_all(&corpus).map_err(|error| error.to_string())?;
        eprintln!("── fuzz: {name}, {seconds} s");
        let mut command = Command::new("cargo");
        // With an explicit `--target`, cargo does not apply the flags to build scripts.
        command.args(["run", "--release", "--quiet", "--target", &host, "--bin", &name, "--"]);
        command.arg(&corpus).arg(format!("-max_total_time={seconds}"));
        let status = command
            .current_dir(&directory)
            .env_remove("RUSTC")
            .env_remove("CARGO")
            .env("RUSTFLAGS", COVERAGE_FLAGS)
            .status();
        if !status.is_ok_and(|status| status.success()) {
            return Err(format!("{name} found something, or could not be run: see above"));
        }
    }
    Ok(())
}

fn host_triple() -> Result<String, String> {
    let told = Command::new("rustc").arg("-vV").env_remove("RUSTC").output();
    let told = told.map_err(|error| format!("rustc: {error}"))?;
    let text = String::from_utf8_lossy(&told.stdout).into_owned();
    let line = text.lines().find_map(|line| line.strip_prefix("host: "));
    line.map(str::to_owned).ok_or_else(|| "rustc does not name its host".into())
}
