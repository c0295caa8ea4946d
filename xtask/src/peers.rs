//! `cargo xtask bench analyze-peers TREE…`: `probity analyze` beside the analysers one would use instead.
//!
//! Everything runs one after the other on the same copies of the same trees, so that the ratios mean something even on a
//! machine that does other work. Peers are installed below `target/`; one that cannot be installed is named as missing.
//! Memory is the largest resident set of any one process: a peer with workers needs more than that.

use crate::{Chore, build, root};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const ROUNDS: usize = 3;

/// Runs a command and prints its milliseconds, the largest resident set of a process in kilobytes, and its exit code.
const MEASURE: &str = "import resource, subprocess, sys, time
began = time.monotonic()
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(int((time.monotonic() - began) * 1000), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, done.returncode)";

/// What one kind of run took.
#[derive(Clone, Copy)]
struct Cost {
    milliseconds: u64,
    kilobytes: u64,
}

/// What a program took: from nothing, again, and after an edit of one file.
struct Costs {
    name: &'static str,
    cold: Cost,
    warm: Option<Cost>,
    edited: Option<Cost>,
}

/// An analyser: how it is called in a tree, and what it keeps there.
struct Program {
    name: &'static str,
    command: Vec<String>,
    keeps: &'static [&'static str],
    is_incremental: bool,
}

/// Measures every analyser on every tree.
pub fn peers(trees: &[&str]) -> Chore {
    if trees.is_empty() {
        return Err("usage: cargo xtask bench analyze-peers TREE…".into());
    }
    let probity = build("release")?;
    let programs = programs(&probity, &root().join("target/peers"));
    for tree in trees {
        let copy = std::env::temp_dir().join(format!("probity-peers-{}", std::process::id()));
        let result = measure(Path::new(tree), &copy, &programs);
        let _ = fs::remove_dir_all(&copy);
        show(tree, &result?);
    }
    Ok(())
}

fn programs(probity: &Path, place: &Path) -> Vec<Program> {
    let own = Program {
        name: "probity",
        command: [&probity.to_string_lossy(), "analyze", "--json"].map(str::to_owned).to_vec(),
        keeps: &[".probity"],
        is_incremental: true,
    };
    let mut programs = vec![own];
    let python = place.join("venv/bin");
    let venv = format!(
        "python3 -m venv '{}' && '{}/pip' install -q codeclone==2.1.0a1 lizard",
        venv(place),
        python.display()
    );
    if is_there(&python.join("codeclone"), &venv) {
        programs.push(Program {
            name: "codeclone",
            command: words(&python.join("codeclone"), &["--no-progress", "--quiet", "."]),
            keeps: &[".codeclone", ".cache"],
            is_incremental: true,
        });
        programs.push(Program {
            name: "lizard (complexity only)",
            command: words(&python.join("lizard"), &["-i", "-1", "."]),
            keeps: &[],
            is_incremental: false,
        });
    }
    let jscpd = place.join("node_modules/.bin/jscpd");
    if is_there(&jscpd, &format!("npm install --silent --prefix '{}' jscpd", place.display())) {
        programs.push(Program {
            name: "jscpd (clones only)",
            command: words(&jscpd, &["--silent", "--reporters", "silent", "."]),
            keeps: &[],
            is_incremental: false,
        });
    }
    programs
}

fn venv(place: &Path) -> String {
    place.join("venv").display().to_string()
}

fn words(program: &Path, arguments: &[&str]) -> Vec<String> {
    std::iter::once(program.to_string_lossy().into_owned())
        .chain(arguments.iter().map(|&word| word.into()))
        .collect()
}

/// Whether a program is there, after an attempt to install it.
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

fn measure(tree: &Path, copy: &Path, programs: &[Program]) -> Result<Vec<Costs>, String> {
    let _ = fs::remove_dir_all(copy);
    let script = "cp -r --no-preserve=timestamps \"$0\" \"$1\" && rm -rf \"$1/.git\"";
    let status = Command::new("sh").args(["-ec", script]).arg(tree).arg(copy).status();
    if !status.is_ok_and(|status| status.success()) {
        return Err(format!("{} could not be copied", tree.display()));
    }
    let edited = largest_source(copy).ok_or("no Python file to edit")?;
    programs.iter().map(|program| costs(program, copy, &edited)).collect()
}

fn costs(program: &Program, copy: &Path, edited: &Path) -> Result<Costs, String> {
    let forget = || program.keeps.iter().for_each(|name| drop(fs::remove_dir_all(copy.join(name))));
    let mut cold = Vec::new();
    for _ in 0..ROUNDS {
        forget();
        cold.push(once(program, copy)?);
    }
    let (mut warm, mut after_edit) = (Vec::new(), Vec::new());
    if program.is_incremental {
        for round in 0..ROUNDS {
            warm.push(once(program, copy)?);
            append(edited, &format!("\nEDITED_{round} = {round}\n"))?;
            after_edit.push(once(program, copy)?);
        }
    }
    forget();
    let cold = median(cold).ok_or("nothing was measured")?;
    Ok(Costs { name: program.name, cold, warm: median(warm), edited: median(after_edit) })
}

fn once(program: &Program, folder: &Path) -> Result<Cost, String> {
    let output = Command::new("python3")
        .args(["-c", MEASURE])
        .args(&program.command)
        .current_dir(folder)
        .stderr(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let numbers: Vec<u64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    // Findings are no failure, whatever a program's exit code says of them; wrong usage is.
    match numbers.as_slice() {
        &[milliseconds, kilobytes, 0 | 1 | 3] => Ok(Cost { milliseconds, kilobytes }),
        _ => Err(format!("`{}` failed: {text}", program.command.join(" "))),
    }
}

fn median(mut costs: Vec<Cost>) -> Option<Cost> {
    costs.sort_by_key(|cost| cost.milliseconds);
    costs.get(costs.len() / 2).copied()
}

fn append(path: &Path, text: &str) -> Chore {
    let old = fs::read_to_string(path).map_err(|error| error.to_string())?;
    fs::write(path, old + text).map_err(|error| error.to_string())
}

fn largest_source(folder: &Path) -> Option<PathBuf> {
    let mut sources = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).ok()?.flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(entry.path()),
                Ok(kind) if kind.is_file() && entry.file_name().to_string_lossy().ends_with(".py") => {
                    sources.push((entry.metadata().ok()?.len(), entry.path()));
                }
                _ => {}
            }
        }
    }
    sources.into_iter().max().map(|(_, path)| path)
}

fn show(tree: &str, costs: &[Costs]) {
    println!("\n{tree}\n");
    println!("| | Cold | × | Warm | × | One file edited | × | Memory | × |");
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|");
    let Some(own) = costs.first() else { return };
    let tenths = |part: u64, whole: u64| {
        let tenths = (part * 10).checked_div(whole.max(1)).unwrap_or(0);
        format!("{}.{}", tenths / 10, tenths % 10)
    };
    let cells = |cost: Option<Cost>, own: Option<Cost>| match (cost, own) {
        (Some(cost), Some(own)) => {
            format!("{} ms | {}", cost.milliseconds, tenths(cost.milliseconds, own.milliseconds))
        }
        _ => "– | –".to_owned(),
    };
    for cost in costs {
        println!(
            "| {} | {} | {} | {} | {} MB | {} |",
            cost.name,
            cells(Some(cost.cold), Some(own.cold)),
            cells(cost.warm, own.warm),
            cells(cost.edited, own.edited),
            cost.cold.kilobytes / 1024,
            tenths(cost.cold.kilobytes, own.cold.kilobytes),
        );
    }
}
