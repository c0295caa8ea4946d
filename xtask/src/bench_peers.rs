//! `cargo xtask bench analyze-peers TREE…`: measures `probity analyze` beside other analyzers.
//!
//! Programs run one after the other on the same copies of the same trees, so that the ratios are meaningful even on a
//! machine that does other work. Peers are installed below `target/`; one that cannot be installed is named as missing.
//! Memory is the peak over all processes of a program together, in a separate cold run.

use crate::measure::{CommandLine, append, copy, kilobytes, largest, median, milliseconds, ratio};
use crate::{ChoreResult, build, root};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Number of rounds, unless `PROBITY_ROUNDS` is set.
const ROUNDS: usize = 3;

/// Costs of a program: milliseconds from scratch, repeated, and after editing one file; kilobytes of memory.
struct ProgramCosts {
    name: &'static str,
    cold: u64,
    warm: Option<u64>,
    edited: Option<u64>,
    memory: u64,
}

/// An analyzer: its command line, and the files that it leaves in a tree.
struct AnalyzerProgram {
    name: &'static str,
    command: CommandLine,
    keeps: &'static [&'static str],
    is_incremental: bool,
}

pub fn peers(trees: &[PathBuf]) -> ChoreResult {
    let probity = build("release")?;
    let programs = programs(&probity, &root().join("target/peers"));
    for tree in trees {
        let copy = std::env::temp_dir().join(format!("probity-peers-{}", std::process::id()));
        let result = measure(tree, &copy, &programs);
        let _ = fs::remove_dir_all(&copy);
        show(&tree.to_string_lossy(), &result?);
    }
    Ok(())
}

fn programs(probity: &Path, place: &Path) -> Vec<AnalyzerProgram> {
    let own = AnalyzerProgram {
        name: "probity",
        command: [&probity.to_string_lossy(), "analyze", "--json"].map(str::to_owned).to_vec(),
        keeps: &[".probity"],
        is_incremental: true,
    };
    let mut programs = vec![own];
    let python = place.join("venv/bin");
    if is_there(&python.join("codeclone"), &install(place)) {
        programs.push(AnalyzerProgram {
            name: "codeclone",
            command: command_line(
                &python.join("codeclone"),
                &["--no-progress", "--quiet", "--no-skip-metrics", "."],
            ),
            keeps: &[".codeclone", ".cache"],
            is_incremental: true,
        });
        programs.push(AnalyzerProgram {
            name: "lizard (complexity only)",
            command: command_line(&python.join("lizard"), &["-i", "-1", "."]),
            keeps: &[],
            is_incremental: false,
        });
    }
    let jscpd = place.join("node_modules/.bin/jscpd");
    if is_there(&jscpd, &format!("npm install --silent --prefix '{}' jscpd", place.display())) {
        programs.push(AnalyzerProgram {
            name: "jscpd (clones only)",
            command: command_line(&jscpd, &["--silent", "--reporters", "silent", "."]),
            keeps: &[],
            is_incremental: false,
        });
    }
    programs
}

/// Returns the command that installs the analyzers that are Python packages.
fn install(place: &Path) -> String {
    let venv = place.join("venv").display().to_string();
    format!("python3 -m venv '{venv}' && '{venv}/bin/pip' install -q 'codeclone[mcp]==2.1.0a1' lizard")
}

/// Returns codeclone's MCP server, if it can be installed.
pub fn codeclone_mcp() -> Option<PathBuf> {
    let place = root().join("target/peers");
    let program = place.join("venv/bin/codeclone-mcp");
    is_there(&program, &install(&place)).then_some(program)
}

fn command_line(program: &Path, arguments: &[&str]) -> CommandLine {
    std::iter::once(program.to_string_lossy().into_owned())
        .chain(arguments.iter().map(|&word| word.into()))
        .collect()
}

/// Returns whether a program exists, after trying to install it.
fn is_there(program: &Path, install: &str) -> bool {
    if !program.exists() {
        eprintln!("── {install}");
        let _ = Command::new("sh").arg("-ec").arg(install).current_dir(root()).status();
    }
    if !program.exists() {
        eprintln!("not measured, because it could not be installed: {}", program.display());
    }
    program.exists()
}

fn measure(tree: &Path, place: &Path, programs: &[AnalyzerProgram]) -> Result<Vec<ProgramCosts>, String> {
    copy(tree, place)?;
    // Recently written files are always read again, so wait until the cache trusts them.
    std::thread::sleep(Duration::from_secs(3));
    let edited = largest(place, &[".py"])?;
    programs.iter().map(|program| costs(program, place, &edited)).collect()
}

fn costs(program: &AnalyzerProgram, tree: &Path, edited: &Path) -> Result<ProgramCosts, String> {
    let rounds =
        std::env::var("PROBITY_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(ROUNDS);
    let forget = || program.keeps.iter().for_each(|name| drop(fs::remove_dir_all(tree.join(name))));
    let mut cold = Vec::new();
    for _ in 0..rounds {
        forget();
        cold.push(milliseconds(&program.command, tree)?);
    }
    let (mut warm, mut after_edit) = (Vec::new(), Vec::new());
    if program.is_incremental {
        for round in 0..rounds {
            warm.push(milliseconds(&program.command, tree)?);
            append(edited, &format!("\nEDITED_{round} = {round}\n"))?;
            after_edit.push(milliseconds(&program.command, tree)?);
        }
    }
    forget();
    let memory = kilobytes(&program.command, tree)?;
    forget();
    let cold = median(cold).ok_or("nothing was measured")?;
    Ok(ProgramCosts { name: program.name, cold, warm: median(warm), edited: median(after_edit), memory })
}

fn show(tree: &str, costs: &[ProgramCosts]) {
    println!("\n{tree}\n");
    println!("| | Cold | × | Warm | × | One file edited | × | Memory | × |");
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|");
    let Some(own) = costs.first() else { return };
    let cells = |cost: Option<u64>, own: Option<u64>| match (cost, own) {
        (Some(cost), Some(own)) => format!("{cost} ms | {}", ratio(cost, own)),
        _ => "– | –".to_owned(),
    };
    for cost in costs {
        println!(
            "| {} | {} | {} | {} | {} MB | {} |",
            cost.name,
            cells(Some(cost.cold), Some(own.cold)),
            cells(cost.warm, own.warm),
            cells(cost.edited, own.edited),
            cost.memory / 1024,
            ratio(cost.memory, own.memory),
        );
    }
}
