//! Speed of audits beside `git log --remerge-diff`, which merges again and compares, over the same merges.
//!
//! Processor time of the program and of the git processes it starts is what counts: wall time says little on a machine
//! that does other work too. The two are taken back to back.
//!
//! `cargo bench -p probity-merges -- CLONE… [merges=2000] [findings=FILE]`

#![allow(clippy::print_stdout, clippy::float_arithmetic, reason = "it prints times and their ratios")]

use probity_merges::{MergeQuestion, audit, audit_merges};
use probity_snapshot::GitId;
use probity_workspace::Workspace;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// The unit of `/proc/self/stat`.
const TICKS_PER_SECOND: f64 = 100.0;
/// Merges that are audited one by one, to find the slowest.
const MAX_SINGLE_MERGES: usize = 400;

fn main() {
    let mut n_merges = 2_000;
    let mut findings: Option<std::fs::File> = None;
    let mut clones = Vec::new();
    for argument in std::env::args().skip(1).filter(|argument| argument != "--bench") {
        match argument.split_once('=') {
            Some(("merges", number)) => n_merges = number.parse().expect("a number of merges"),
            Some(("findings", file)) => {
                findings = Some(std::fs::File::create(file).expect("a file to write"));
            }
            _ => clones.push(argument),
        }
    }
    if clones.is_empty() {
        println!("name clones to measure: cargo bench -p probity-merges -- CLONE…");
    }
    for clone in clones {
        measure_clone(Path::new(&clone), n_merges, findings.as_mut());
    }
}

/// Returns the seconds of processor time of this process and of its children that have ended.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("this process has a state");
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
    // utime, stime, cutime, cstime are the 12th to 15th field after the name.
    let ticks: f64 = fields.skip(11).take(4).filter_map(|field| field.parse::<f64>().ok()).sum();
    ticks / TICKS_PER_SECOND
}

fn peak_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) / 1024
}

fn git(clone: &Path, arguments: &[&str], input: &str) -> String {
    let mut child = Command::new("git")
        .arg("-C")
        .arg(clone)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("git starts");
    let mut stdin = child.stdin.take().expect("an input");
    let text = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output().expect("git ends");
    let _ = writer.join();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Runs something and returns its seconds of processor time, its seconds, and what it returns.
fn timed<T>(what: impl FnOnce() -> T) -> (f64, f64, T) {
    let (busy, begun) = (processor_seconds(), Instant::now());
    let value = what();
    (processor_seconds() - busy, begun.elapsed().as_secs_f64(), value)
}

fn replay(clone: &Path, ids: &str) -> String {
    let log = ["log", "--no-walk=unsorted", "--remerge-diff", "--format=%x00%H", "--stdin"];
    git(clone, &log, ids)
}

/// Returns the merges whose replay differs from what was committed.
fn differing(replayed: &str) -> Vec<String> {
    let merges = replayed.split('\0').filter_map(|part| part.split_once('\n'));
    merges.filter(|(_, rest)| !rest.trim().is_empty()).map(|(id, _)| id.to_owned()).collect()
}

fn ids_of(names: &[String]) -> Vec<GitId> {
    names.iter().filter_map(|name| GitId::from_hex(name.as_bytes())).collect()
}

fn measure_clone(clone: &Path, n_merges: usize, findings: Option<&mut std::fs::File>) {
    let workspace = Workspace::find(Some(clone), clone).expect("a repository");
    let limit = format!("--max-count={n_merges}");
    let listed = git(clone, &["rev-list", "--merges", "--max-parents=2", &limit, "HEAD"], "");
    let names: Vec<String> = listed.lines().map(str::to_owned).collect();
    let (git_busy, git_wall, replayed) = timed(|| replay(clone, &listed));
    let conflicted = differing(&replayed);
    let clean: Vec<String> = names.iter().filter(|name| !conflicted.contains(name)).cloned().collect();
    println!(
        "{}: {} merges, {} of them conflicted or changed by hand",
        clone.display(),
        names.len(),
        conflicted.len()
    );
    let (busy, wall, answer) = timed(|| audit_merges(&workspace, &ids_of(&names)).expect("an audit"));
    print_ratio("all", names.len(), (busy, wall), (git_busy, git_wall));
    for (what, part) in [("clean", &clean), ("conflicted", &conflicted)] {
        let lines = part.join("\n");
        let (git_busy, git_wall, _) = timed(|| replay(clone, &lines));
        let (busy, wall, _) = timed(|| audit_merges(&workspace, &ids_of(part)).expect("an audit"));
        print_ratio(what, part.len(), (busy, wall), (git_busy, git_wall));
    }
    let mut single: Vec<(f64, f64, String)> = conflicted
        .iter()
        .take(MAX_SINGLE_MERGES)
        .map(|name| {
            let (busy, wall, _) = timed(|| audit(&workspace, &MergeQuestion::Commit(name.clone())));
            (busy, wall, name.clone())
        })
        .collect();
    single.sort_by(|left, right| right.0.total_cmp(&left.0));
    for (busy, wall, name) in single.iter().take(3) {
        println!("  slowest alone    {:>7.0} ms processor, {:>7.0} ms  {name}", busy * 1e3, wall * 1e3);
    }
    let hard =
        answer.audits.iter().flat_map(|audit| &audit.findings).filter(|finding| finding.is_open()).count();
    println!(
        "  peak memory {} MB; {} merges with findings, {hard} hard findings",
        peak_megabytes(),
        answer.audits.len()
    );
    if let Some(file) = findings {
        for audit in &answer.audits {
            serde_json::to_writer(&mut *file, audit).expect("an answer is JSON");
            writeln!(file).expect("the findings are written");
        }
    }
}

fn print_ratio(what: &str, n_merges: usize, ours: (f64, f64), git: (f64, f64)) {
    let n_each = f64::from(u32::try_from(n_merges.max(1)).unwrap_or(u32::MAX));
    let each = |seconds: f64| seconds * 1e3 / n_each;
    println!(
        "  {what:<10} {n_merges:>6} merges  probity {:>7.2} ms each ({:.1} s)  git log --remerge-diff {:>7.2} ms ({:.1} s)  {:.2} x",
        each(ours.0),
        ours.1,
        each(git.0),
        git.1,
        ours.0 / git.0.max(0.01)
    );
}
