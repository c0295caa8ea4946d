//! Removing old evidence: the chain stays intact, needed bundles stay, and `gc` cannot hide a gap.

use crate::repo::{Outcome, Repo};
use serde_json::{Value, json};
use std::fs;

/// Creates a repository with five runs; the last one changed a file that git does not track.
fn with_runs() -> Repo {
    let repo = Repo::new();
    for round in 0..4 {
        repo.write("notes", &format!("notes {round}\n"));
        repo.run("true").passes();
    }
    repo.run("echo x >> notes").is_out(&["notes"]);
    repo
}

fn gc(repo: &Repo, arguments: &[&str]) -> Outcome {
    let outcome = repo.ask(&[&["evidence", "gc"], arguments].concat());
    assert_eq!(outcome.exit_code, Some(0), "{outcome:#?}");
    outcome
}

fn bundles(repo: &Repo) -> usize {
    fs::read_dir(repo.path().join(".git/probity/evidence")).expect("lists").count()
}

fn images(repo: &Repo) -> usize {
    let folders = fs::read_dir(repo.path().join(".git/probity/before")).expect("lists");
    folders.map(|folder| fs::read_dir(folder.expect("an entry").path()).expect("lists").count()).sum()
}

fn chain_is_whole(repo: &Repo, links: usize, pruned: usize) {
    let chain = repo.ask(&["evidence", "chain"]);
    let found = chain.json["links"].as_array().map(Vec::len);
    assert_eq!(
        (&chain.json["outcome"], found, &chain.json["pruned"]),
        (&json!("PASS"), Some(links), &json!(pruned)),
        "{chain:#?}"
    );
}

#[test]
fn old_bundles_go_on_the_record_and_the_chain_stays_whole() {
    let repo = with_runs();
    let kept_before = images(&repo);
    let dry = gc(&repo, &["--keep", "2", "--dry-run"]);
    assert_eq!((dry.json["bundles"].as_array().map(Vec::len), bundles(&repo)), (Some(3), 5), "{dry:#?}");
    chain_is_whole(&repo, 5, 0);
    let done = gc(&repo, &["--keep", "2"]);
    assert_eq!(done.json["bundles"], dry.json["bundles"]);
    assert_eq!((&done.json["kept"], bundles(&repo)), (&json!(2), 3), "{done:#?}");
    chain_is_whole(&repo, 3, 3);
    assert!(images(&repo) < kept_before, "no before-image went");
    // The remaining runs can be reverted, `last` still means the run, and the chain can grow and shrink again.
    assert_eq!(repo.ask(&["revert", "last"]).exit_code, Some(0));
    assert_eq!(fs::read_to_string(repo.path().join("notes")).expect("reads"), "notes 3\n");
    repo.run("true").passes();
    gc(&repo, &["--keep", "1"]);
    assert_eq!(bundles(&repo), 2);
    chain_is_whole(&repo, 2, 4);
}

#[test]
fn age_counts_from_the_old_end() {
    let repo = with_runs();
    assert_eq!(gc(&repo, &["--older-than", "1d"]).json["bundles"], json!([]));
    chain_is_whole(&repo, 5, 0);
    probity_testkit::wait_until("all are older than that", || {
        gc(&repo, &["--older-than", "10ms", "--dry-run"]).json["kept"] == 0
    });
    assert_eq!(gc(&repo, &["--older-than", "10ms"]).json["kept"], 0);
    chain_is_whole(&repo, 1, 5);
}

#[test]
fn a_gap_cannot_be_tidied_away() {
    let repo = with_runs();
    let oldest = repo.ask(&["evidence", "list"]).json["runs"][0]["run_id"].clone();
    let oldest = repo.path().join(".git/probity/evidence").join(oldest.as_str().expect("an id"));
    fs::remove_dir_all(&oldest).expect("is removed");
    repo.ask(&["evidence", "gc", "--keep", "1"]).refused_with("EVIDENCE.CHAIN_BROKEN");
    assert_eq!(bundles(&repo), 4);
}

#[test]
fn a_gc_that_was_killed_is_gone_on_with() {
    let repo = with_runs();
    let id = repo.ask(&["evidence", "list"]).json["runs"][0]["run_id"].as_str().expect("an id").to_owned();
    let oldest = repo.path().join(".git/probity/evidence").join(&id);
    let aside = repo.outside().join("aside");
    repo.sh(&format!("cp -r .git/probity/evidence/{id} ../aside"));
    gc(&repo, &["--keep", "2"]);
    // As if the kill had come before the last bundle was removed.
    fs::rename(&aside, &oldest).expect("is there again");
    chain_is_whole(&repo, 3, 3);
    assert_eq!(gc(&repo, &["--keep", "9"]).json["bundles"].as_array().map(Vec::len), Some(1));
    assert!(!oldest.exists());
    chain_is_whole(&repo, 3, 3);
}

#[test]
fn nothing_is_removed_while_a_run_goes_on_elsewhere() {
    let repo = with_runs();
    repo.sh("git worktree add -q ../other -b other");
    let binary = env!("CARGO_BIN_EXE_probity");
    let script = format!("cd ../repo && '{binary}' evidence gc --keep 1 --json > ../answer || true");
    let mut command = repo.probity(&["run", "--json", "--scope", "src/**", "--", "sh", "-c", &script]);
    repo.outcome(&command.current_dir(repo.outside().join("other")).output().expect("starts")).passes();
    let answer = fs::read(repo.outside().join("answer")).expect("an answer");
    let answer: Value = serde_json::from_slice(&answer).expect("JSON");
    assert_eq!(answer["reason"], "RUN.LOCKED", "{answer:#}");
    assert_eq!(bundles(&repo), 6);
}
