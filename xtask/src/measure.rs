//! Measures a program: its time, and the memory of all of its processes together.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Runs a command and prints its milliseconds, its memory in kilobytes, and its exit code. In memory mode it adds up
/// the proportional set sizes of the command and its descendants every few milliseconds and keeps the highest sum; the
/// time is then distorted and not worth reporting.
const MEASURE_SCRIPT: &str = r#"
import os, subprocess, sys, time
wants_memory, command = sys.argv[1] == "memory", sys.argv[2:]

def below(root):
    parents = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as stat:
                parents[int(name)] = int(stat.read().rsplit(")", 1)[1].split()[1])
        except OSError:
            pass
    found = [root]
    for process in found:
        found += [child for child, parent in parents.items() if parent == process]
    return found

def held(process):
    try:
        with open(f"/proc/{process}/smaps_rollup") as rollup:
            return next(int(line.split()[1]) for line in rollup if line.startswith("Pss:"))
    except (OSError, StopIteration):
        return 0

began, highest = time.monotonic(), 0
child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
while wants_memory and child.poll() is None:
    highest = max(highest, sum(map(held, below(child.pid))))
    time.sleep(0.003)
code = child.wait()
print(int((time.monotonic() - began) * 1000), highest, code)
"#;

pub type CommandLine = Vec<String>;

/// Runs a command in a directory and returns its milliseconds.
pub fn milliseconds(command: &[String], directory: &Path) -> Result<u64, String> {
    Ok(run(command, directory, "time")?.0)
}

/// Runs a command in a directory and returns the peak memory of its processes together, in kilobytes.
pub fn kilobytes(command: &[String], directory: &Path) -> Result<u64, String> {
    Ok(run(command, directory, "memory")?.1)
}

fn run(command: &[String], directory: &Path, what: &str) -> Result<(u64, u64), String> {
    let output = Command::new("python3")
        .args(["-c", MEASURE_SCRIPT, what])
        .args(command)
        .current_dir(directory)
        .stderr(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let numbers: Vec<u64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    // Exit codes by which analyzers report findings count as success; usage errors do not.
    match numbers.as_slice() {
        &[milliseconds, kilobytes, 0 | 1 | 3] => Ok((milliseconds, kilobytes)),
        _ => Err(format!("`{}` failed: {text}", command.join(" "))),
    }
}

pub fn median<T: Ord + Copy>(mut figures: Vec<T>) -> Option<T> {
    figures.sort_unstable();
    figures.get(figures.len() / 2).copied()
}

/// Formats a ratio with one decimal.
pub fn ratio(part: u64, whole: u64) -> String {
    let tenths = (part * 10).checked_div(whole.max(1)).unwrap_or(0);
    format!("{}.{}", tenths / 10, tenths % 10)
}

pub fn append(path: &Path, text: &str) -> Result<(), String> {
    let old = fs::read(path).map_err(|error| error.to_string())?;
    fs::write(path, [&old, text.as_bytes()].concat()).map_err(|error| error.to_string())
}

/// Lists the files below a directory whose names end with one of `endings`, with their sizes, sorted by path.
pub fn files(directory: &Path, endings: &[&str]) -> Vec<(PathBuf, u64)> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        let Ok(entries) = fs::read_dir(directory) else { continue };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            match entry.metadata() {
                Ok(facts) if facts.is_dir() => open.push(entry.path()),
                Ok(facts) if facts.is_file() && endings.iter().any(|ending| name.ends_with(ending)) => {
                    found.push((entry.path(), facts.len()));
                }
                _ => {}
            }
        }
    }
    found.sort();
    found
}

/// Returns the largest file below a directory whose name ends with one of `endings`.
pub fn largest(directory: &Path, endings: &[&str]) -> Result<PathBuf, String> {
    let largest = files(directory, endings).into_iter().max_by_key(|(_, size)| *size);
    largest.map(|(path, _)| path).ok_or_else(|| format!("nothing to edit in {}", directory.display()))
}

/// Copies a tree without its history, so that measuring leaves nothing behind in the original.
pub fn copy(tree: &Path, place: &Path) -> Result<(), String> {
    let _ = fs::remove_dir_all(place);
    let script = "cp -r --no-preserve=timestamps \"$0\" \"$1\" && rm -rf \"$1/.git\" \"$1/.probity\"";
    let status = Command::new("sh").args(["-ec", script]).arg(tree).arg(place).status();
    if status.is_ok_and(|status| status.success()) {
        Ok(())
    } else {
        Err(format!("{} could not be copied", tree.display()))
    }
}
