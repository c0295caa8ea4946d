//! `cargo xtask bench contract`: measures a verdict on two stored analyses through the binary, loading included; then
//! the pure verdict, and checking the claims of a large text.
//!
//! The analyses are real: a tree of functions with one finding each, before and after an edit. Times are those of whole
//! processes, the fifth fastest of many rounds: other work on the machine only ever adds time.

use crate::{ChoreResult, build, cargo};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const ROUNDS: usize = 25;
const FUNCTIONS_PER_FILE: usize = 200;

pub fn contract() -> ChoreResult {
    let binary = build("release")?;
    let place = std::env::temp_dir().join(format!("probity-contract-{}", std::process::id()));
    let result = stored_runs(&binary, &place);
    let _ = fs::remove_dir_all(&place);
    result?;
    cargo("contract", &["bench", "--quiet", "--package", "probity-contract"], &[])
}

fn stored_runs(binary: &Path, place: &Path) -> ChoreResult {
    println!("verify two stored runs, loading included");
    for n_files in [125, 250, 500] {
        let bench = ContractBench { binary, tree: place.join(n_files.to_string()), n_files };
        fs::create_dir_all(&bench.tree).map_err(|error| error.to_string())?;
        answer(&bench.tree, Command::new("git").args(["init", "-q"]))?;
        bench.write(n_files, 0)?;
        let before = bench.analyze()?;
        for (n_edited, n_new) in [(1, 50), (n_files, FUNCTIONS_PER_FILE)] {
            bench.write(n_edited, n_new)?;
            let time = bench.verdict(&before, n_edited * n_new)?;
            let (n_findings, n_new) = (n_files * FUNCTIONS_PER_FILE, n_edited * n_new);
            println!(
                "  {n_findings:>6} findings each, {n_new:>6} of them new {:>8.1} ms",
                time.as_secs_f64() * 1e3
            );
        }
    }
    Ok(())
}

/// A tree in which every file has the same number of functions, with one finding each.
struct ContractBench<'a> {
    binary: &'a Path,
    tree: std::path::PathBuf,
    n_files: usize,
}

impl ContractBench<'_> {
    /// Writes all files; in the first `n_edited` of them, `n_new` functions differ from before.
    fn write(&self, n_edited: usize, n_new: usize) -> ChoreResult {
        for file in 0..self.n_files {
            let function = |n: usize| {
                let word = if file < n_edited && n < n_new { "fresh" } else { "kept" };
                let name = format!("{word}_{file}_{n}");
                format!("def {name}(a, b, c, d, e, f, g, h):\n    return a.{name}(b)\n\n\n")
            };
            let text: String = (0..FUNCTIONS_PER_FILE).map(function).collect();
            fs::write(self.tree.join(format!("part{file}.py")), text).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// Analyzes the tree; returns the id of the analysis.
    fn analyze(&self) -> Result<String, String> {
        let document = answer(&self.tree, Command::new(self.binary).args(["analyze", "--json"]))?;
        field(&document, "run_id").ok_or_else(|| "the analysis names no run".into())
    }

    /// Measures a verdict on the tree, which must report exactly `n_new` new findings.
    fn verdict(&self, before: &str, n_new: usize) -> Result<Duration, String> {
        let after = self.analyze()?;
        let arguments = ["contract", "verify", "--before", before, "--after", &after, "--json"];
        let mut times = Vec::new();
        for _ in 0..ROUNDS {
            let began = Instant::now();
            let document = answer(&self.tree, Command::new(self.binary).args(arguments))?;
            times.push(began.elapsed());
            let regressions = document.split("\"intent_regressions\":").nth(1).unwrap_or_default();
            let n_found = regressions.split(']').next().unwrap_or_default().matches("parameters:").count();
            if n_found != n_new {
                return Err(format!("{n_found} new findings instead of {n_new}"));
            }
        }
        times.sort();
        Ok(times[4])
    }
}

fn field(document: &str, name: &str) -> Option<String> {
    let (_, rest) = document.split_once(&format!("\"{name}\":"))?;
    let (_, rest) = rest.split_once('"')?;
    Some(rest.chars().take_while(|it| *it != '"').collect())
}

/// Runs a command and returns its output; exit code 1 is allowed, since a verdict may be `violated`.
fn answer(tree: &Path, command: &mut Command) -> Result<String, String> {
    let output = command.current_dir(tree).output().map_err(|error| error.to_string())?;
    if !matches!(output.status.code(), Some(0 | 1)) {
        return Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
