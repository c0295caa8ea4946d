//! `cargo xtask corpus CLONE…`: how often `contract verify` calls merged commits of real projects violated.
//!
//! Replays the newest first-parent commits of each clone that change source files, each against its parent, in a copy
//! that shares the clone's objects. Rules are tuned by the findings of some projects and
//! scored on other ones.

use crate::{ChoreResult, build};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Commits that touch none of these files are not judged by their structure.
const SOURCE_ENDINGS: [&str; 22] = [
    ".py", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".go", ".rs", ".java", ".kt", ".cs", ".c", ".h",
    ".cc", ".cpp", ".hpp", ".cxx", ".rb", ".php", ".sh", ".bash",
];

/// Commits without source files may lie between those that are replayed.
const MAX_SEARCHED_COMMITS: &str = "2000";

/// One commit and what was said about it.
struct ReplayedCommit {
    id: String,
    status: String,
    /// The findings that count against the change and block it.
    blocking: Vec<BlockingFinding>,
}

struct BlockingFinding {
    rule: String,
    line: String,
    is_in_test: bool,
    /// False if the commit does not touch the file of the finding.
    is_touched: bool,
}

pub fn corpus(clones: &[PathBuf], n_commits: usize, profile: &str) -> ChoreResult {
    let binary = build(profile)?;
    let place = std::env::temp_dir().join(format!("probity-corpus-{}", std::process::id()));
    let result = replay_all(&binary, clones, n_commits, &place);
    let _ = fs::remove_dir_all(&place);
    result
}

fn replay_all(binary: &Path, clones: &[PathBuf], n_commits: usize, place: &Path) -> ChoreResult {
    fs::create_dir_all(place).map_err(|error| format!("{}: {error}", place.display()))?;
    let mut all = Vec::new();
    for clone in clones {
        let name = clone.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let copy = place.join(&name);
        let (from, to) = (clone.display().to_string(), copy.display().to_string());
        git(place, &["clone", "--quiet", "--shared", "--no-checkout", &from, &to])?;
        let commits = replay(binary, &copy, n_commits)?;
        let _ = fs::remove_dir_all(&copy);
        println!("{name}: {}", counts(&commits));
        for commit in commits.iter().filter(|commit| commit.status == "violated") {
            println!("  {}", &commit.id[..commit.id.len().min(12)]);
            commit.blocking.iter().for_each(|finding| println!("    {}", finding.line));
        }
        all.extend(commits);
    }
    summarize(&all);
    Ok(())
}

fn counts(commits: &[ReplayedCommit]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for commit in commits {
        *counts.entry(&commit.status).or_default() += 1;
    }
    let words: Vec<String> = counts.iter().map(|(status, n)| format!("{n} {status}")).collect();
    words.join(", ")
}

fn summarize(all: &[ReplayedCommit]) {
    let violated: Vec<&ReplayedCommit> = all.iter().filter(|commit| commit.status == "violated").collect();
    let of = |is_in: &dyn Fn(&ReplayedCommit) -> bool| violated.iter().filter(|commit| is_in(commit)).count();
    let percent = |n: usize| if all.is_empty() { 0.0 } else { n as f64 * 100.0 / all.len() as f64 };
    println!("\nall {}: {}", all.len(), counts(all));
    println!("violated {:.1} %", percent(violated.len()));
    let only_tests = of(&|commit| commit.blocking.iter().all(|finding| finding.is_in_test));
    let untouched = of(&|commit| commit.blocking.iter().any(|finding| !finding.is_touched));
    println!("  {only_tests} because of tests alone, {untouched} with a file that the commit does not touch");
    let rules: BTreeSet<&str> =
        violated.iter().flat_map(|commit| &commit.blocking).map(|finding| finding.rule.as_str()).collect();
    for rule in rules {
        let has = |commit: &ReplayedCommit| commit.blocking.iter().any(|finding| finding.rule == rule);
        println!("  {} with {rule}", of(&has));
    }
}

fn replay(binary: &Path, copy: &Path, n_commits: usize) -> Result<Vec<ReplayedCommit>, String> {
    let log = git(copy, &["log", "--first-parent", "--format=%H", "-n", MAX_SEARCHED_COMMITS, "HEAD"])?;
    let mut replayed = Vec::new();
    for id in log.lines() {
        // The first commit has no parent.
        let Ok(changed) = git(copy, &["diff", "--name-only", &format!("{id}^1"), id]) else { continue };
        let changed: BTreeSet<&str> = changed.lines().collect();
        if changed.iter().any(|path| SOURCE_ENDINGS.iter().any(|ending| path.ends_with(ending))) {
            replayed.push(verdict(binary, copy, id, &changed)?);
        }
        if replayed.len() == n_commits {
            break;
        }
    }
    Ok(replayed)
}

fn verdict(binary: &Path, copy: &Path, id: &str, changed: &BTreeSet<&str>) -> Result<ReplayedCommit, String> {
    git(copy, &["checkout", "--quiet", "--force", "--detach", id])?;
    let output = Command::new(binary)
        .args(["contract", "verify", "--skip-gates", "--json", "--base", &format!("{id}^1")])
        .current_dir(copy)
        .output()
        .map_err(|error| format!("{}: {error}", binary.display()))?;
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let findings = answer["new_findings"].as_array().into_iter().flatten();
    let blocking = findings
        .filter(|finding| finding["in_scope"] == true && finding["let_through"] == false)
        .map(|finding| {
            let path = text(&finding["path"]);
            let (severity, rule) = (text(&finding["severity"]), text(&finding["rule"]));
            let line = format!("{severity} {rule} {path}:{} {}", finding["line"], text(&finding["message"]));
            BlockingFinding {
                rule,
                line,
                is_in_test: path.to_lowercase().contains("test"),
                is_touched: changed.contains(path.as_str()),
            }
        })
        .collect();
    let status = answer["status"].as_str().unwrap_or("refused").to_owned();
    Ok(ReplayedCommit { id: id.to_owned(), status, blocking })
}

fn git(directory: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("git")
        .arg("-C")
        .arg(directory)
        .args(arguments)
        .output()
        .map_err(|error| format!("git could not be started: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(format!("git {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim()))
    }
}
