//! The story of the manual as a repository, for tests.

use probity_merges::SurvivalRequest;
use probity_workspace::Workspace;
use std::path::Path;
use std::process::Command;

pub(crate) const MANUAL: &str = include_str!("../../../../docs/merges.md");

/// Runs a script in a repository; returns whether it succeeded, and what it printed.
pub(crate) fn sh(place: &Path, script: &str) -> (bool, String) {
    let output = Command::new("sh")
        .args(["-c", script])
        .current_dir(place)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", place)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .expect("sh starts");
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

pub(crate) fn done(place: &Path, script: &str) -> String {
    let (is_done, text) = sh(place, script);
    assert!(is_done, "{script}: {text}");
    text.trim().to_owned()
}

/// The blocks of the manual in one language.
fn blocks(language: &str) -> Vec<&'static str> {
    let fence = format!("```{language}\n");
    let parts = MANUAL.split(fence.as_str()).skip(1);
    parts.filter_map(|part| Some(part.split_once("```")?.0)).collect()
}

/// A repository in which the commands of the manual's story were run, up to the merge.
pub(crate) fn story() -> (tempfile::TempDir, Workspace) {
    let home = tempfile::tempdir().expect("a directory");
    let place = home.path();
    done(place, "git init -q -b main && git config user.name ben && git config user.email ben@example.org");
    std::fs::write(place.join("shop.py"), blocks("python")[0]).expect("the program is written");
    done(place, "git add shop.py && git commit -qm 'A shop'");
    let (_, told) = MANUAL.split_once("## Two agents").expect("the manual has the story");
    let (told, _) = told.split_once("\n## ").expect("the story ends");
    let commands = told.lines().filter_map(|line| line.strip_prefix("$ "));
    for command in commands.filter(|command| command.starts_with("git ") || command.starts_with("sed ")) {
        done(place, command);
    }
    let workspace = Workspace::find(Some(place), place).expect("a workspace");
    (home, workspace)
}

pub(crate) fn references(place: &Path) -> String {
    done(place, "git for-each-ref --format='%(refname) %(objectname)'; cat .git/HEAD; git status --porcelain")
}

pub(crate) fn restore_lost(skip_gates: bool) -> SurvivalRequest {
    SurvivalRequest {
        merge: "HEAD".to_owned(),
        findings: Vec::new(),
        subject: None,
        why: "dropped by mistake".to_owned(),
        author: Some("ann".to_owned()),
        dry_run: false,
        skip_gates,
    }
}
