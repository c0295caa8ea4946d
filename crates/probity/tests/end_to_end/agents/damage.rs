//! A damaged registry is reported as damaged: it is never silently emptied or shortened.

use super::Agent;
use super::time::workspace;
use crate::repo::{Outcome, Repo};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

fn database(repo: &Repo) -> PathBuf {
    repo.path().join(".git/probity/store.sqlite")
}

fn with_claims() -> Repo {
    let repo = Repo::new();
    for (name, path) in [("a", "src/a.py"), ("b", "src/b.py"), ("c", "docs/d.md")] {
        Agent::new(&repo, name).begin(path, &[]);
    }
    repo
}

/// Puts everything into the file of the database: the last connection of a program that does not keep the log apart does so.
fn fold_log(repo: &Repo) {
    let script = "import sqlite3; c = sqlite3.connect('.git/probity/store.sqlite'); \
                  c.execute('SELECT count(*) FROM event').fetchone(); c.close()";
    repo.sh(&format!("python3 -c \"{script}\""));
    assert!(!database(repo).with_file_name("store.sqlite-wal").exists());
}

fn held(seen: &Outcome) -> Vec<&Value> {
    seen.json["intents"].as_array().into_iter().flatten().map(|line| &line["intent_id"]).collect()
}

/// Checks that the registry is either unchanged or refused with a next step.
fn is_whole_or_refused(repo: &Repo, before: &Outcome, what: &str) -> bool {
    let seen = repo.ask(&["status"]);
    if seen.exit_code == Some(0) {
        assert_eq!(held(&seen), held(before), "{what}: {seen:#?}");
        return true;
    }
    // A flipped version number looks like a file of a newer program, which is refused too.
    let reason = seen.json["reason"].as_str().unwrap_or_default();
    let is_of_log = ["LOG.SHORTENED", "LOG.INCONSISTENT"].contains(&reason);
    assert!(is_of_log || ["STATE.DAMAGED", "STATE.NEWER"].contains(&reason), "{what}: {seen:#?}");
    let advice = if reason == "STATE.NEWER" { "newer program" } else { "backup" };
    assert!(seen.json["next_step"].as_str().is_some_and(|words| words.contains(advice)), "{what}: {seen:#?}");
    // Meanwhile nothing is granted, and the doctor agrees.
    let start = Agent::new(repo, "d").start("src/a.py", &[]);
    let code = if is_of_log { 1 } else { 70 };
    assert_eq!((start.exit_code, &start.json["reason"]), (Some(code), &json!(reason)), "{what}: {start:#?}");
    let doctor = repo.ask(&["doctor"]);
    let store = doctor.json["checks"].as_array().into_iter().flatten().find(|check| check["name"] == "store");
    assert_eq!(store.map(|check| &check["status"]), Some(&json!("failed")), "{what}: {doctor:#?}");
    false
}

#[test]
fn flipped_bytes_are_noticed_or_do_no_harm() {
    let repo = with_claims();
    let before = repo.ask(&["status"]);
    fold_log(&repo);
    let whole = fs::read(database(&repo)).expect("reads");
    // The head of the file, and points spread over it.
    let places = [3, 18, 60, 101].into_iter().chain((0..24).map(|n| n * whole.len() / 24 + 37));
    let mut refused = 0;
    for at in places {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x41;
        fs::write(database(&repo), bytes).expect("writes");
        refused += usize::from(!is_whole_or_refused(&repo, &before, &format!("byte {at}")));
        for beside in ["store.sqlite-wal", "store.sqlite-shm"] {
            let _ = fs::remove_file(database(&repo).with_file_name(beside));
        }
    }
    assert!(refused >= 2, "no flip did any harm: the test flips in the wrong places");
    fs::write(database(&repo), whole).expect("writes");
    assert!(is_whole_or_refused(&repo, &before, "restored"));
}

#[test]
fn a_database_that_is_cut_emptied_or_gone_is_not_replaced() {
    for harm in ["cut", "emptied", "gone", "another"] {
        let repo = with_claims();
        let before = repo.ask(&["status"]);
        fold_log(&repo);
        let path = database(&repo);
        let whole = fs::read(&path).expect("reads");
        match harm {
            "cut" => fs::write(&path, &whole[..whole.len() / 2]).expect("writes"),
            "emptied" => fs::write(&path, b"").expect("writes"),
            "gone" => fs::remove_file(&path).expect("removes"),
            _ => {
                // A valid but empty database.
                let other = Repo::new();
                other.ask(&["status"]);
                fs::copy(database(&other), &path).expect("copies");
            }
        }
        assert!(!is_whole_or_refused(&repo, &before, harm), "{harm}");
        fs::write(&path, whole).expect("writes");
        assert!(is_whole_or_refused(&repo, &before, "restored"), "{harm}");
    }
}

#[test]
fn a_damaged_write_ahead_log_loses_nothing_in_silence() {
    let repo = with_claims();
    // While another connection is open, the last writes stay in the write-ahead log.
    let reader = workspace(&repo).state.store().expect("opens");
    Agent::new(&repo, "d").begin("more.txt", &[]);
    let before = repo.ask(&["status"]);
    let wal = database(&repo).with_file_name("store.sqlite-wal");
    let read = |path: &PathBuf| fs::read(path).expect("reads");
    let (pages, mut frames) = (read(&database(&repo)), read(&wal));
    drop(reader);
    // As if the machine had crashed there and the disk had lost flushed data.
    let restore = |frames: &[u8]| {
        fs::write(database(&repo), &pages).expect("writes");
        fs::write(&wal, frames).expect("writes");
        let _ = fs::remove_file(database(&repo).with_file_name("store.sqlite-shm"));
    };
    restore(&frames);
    assert!(is_whole_or_refused(&repo, &before, "nothing was harmed"));
    let at = frames.len() - 2000;
    frames[at] ^= 0x41;
    restore(&frames);
    assert!(!is_whole_or_refused(&repo, &before, "a frame of the write-ahead log"));
}

#[test]
fn a_person_can_begin_again_by_setting_the_state_aside() {
    let repo = with_claims();
    fs::write(database(&repo), b"").expect("writes");
    let refused = repo.ask(&["status"]);
    let advice = refused.json["next_step"].as_str().expect("advice").to_owned();
    assert!(advice.contains("move all of") && advice.contains("repo/.git/probity aside"), "{advice}");
    repo.sh("mv .git/probity ../aside");
    assert_eq!(repo.ask(&["status"]).json["intents"], json!([]));
    Agent::new(&repo, "d").begin("src/a.py", &[]);
}
