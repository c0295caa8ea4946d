//! Law 11: a sealed run leaves evidence, whatever the agent or a gate does to Probity's own files, and wherever the
//! tree is.

use crate::repo::{Repo, os};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

fn with_gate(run: &str) -> Repo {
    let repo = Repo::new();
    repo.write(
        "probity.toml",
        &format!("[[gate]]\nid = \"check\"\ntier = \"T0\"\nrun = [\"sh\", \"-c\", \"{run}\"]\n"),
    );
    repo
}

#[test]
fn a_destroyed_key_prevents_nothing_and_the_old_one_signs() {
    let repo = Repo::new();
    let key = repo.ask(&["keys", "generate"]).json["key_id"].clone();
    let outcome = repo.run("echo forged > .git/probity/keys/signing.json");
    outcome.finds("PROTECTED.CHANGED", ".git/probity/keys/signing.json");
    assert_eq!((outcome.exit_code, &outcome.json["signed_by"]), (Some(1), &key), "{outcome:#?}");
    assert!(outcome.evidence_dir().join("manifest.json").exists());
}

#[test]
fn a_gate_cannot_take_its_words_away() {
    let repo = with_gate("echo said; rm -rf .git/probity/open/*/logs; mkfifo .git/probity/open/x");
    let outcome = repo.run("mkfifo .git/probity/open/*/logs");
    let log = outcome.evidence_dir().join("logs/001-check.stdout");
    assert_eq!(std::fs::read_to_string(log).expect("a log"), "said\n");
}

#[test]
fn a_state_directory_that_is_none_any_more_prevents_neither_gates_nor_evidence() {
    let repo = with_gate("echo said");
    let outcome = repo.run("rm -rf .git/probity; echo x > .git/probity");
    outcome.fails_with("PROTECTED.CHANGED");
    assert_eq!(outcome.json["gate_results"][0]["status"], "pass", "{outcome:#?}");
    // The evidence is elsewhere, in a directory with an unpredictable name that only the user can read.
    let folder = outcome.evidence_dir().parent().expect("a parent").to_owned();
    let name = folder.file_name().and_then(|name| name.to_str()).expect("text").to_owned();
    assert!(name.strip_prefix("probity-evidence-").is_some_and(|rest| rest.len() >= 6), "{name}");
    assert_eq!(std::fs::metadata(&folder).expect("is there").permissions().mode() & 0o777, 0o700);
    std::fs::remove_dir_all(folder).expect("is removed");
}

#[test]
fn a_tree_that_is_gone_is_a_failed_run_with_evidence() {
    let repo = Repo::new();
    let outcome = repo.run("mv \"$PWD\" ../gone; echo x >> ../gone/docs/d.md");
    // The tree is held open, so it is judged where it went.
    outcome.is_out(&["docs/d.md"]).fails_with("PROTECTED.CHANGED");
    assert!(outcome.json["findings"].to_string().contains("was moved away"), "{outcome:#?}");
}

#[test]
fn a_root_whose_name_is_no_text_gets_an_answer() {
    let repo = Repo::new();
    let root: PathBuf = repo.outside().join(os(b"r\xff"));
    std::fs::rename(repo.path(), &root).expect("renames");
    let output = Command::new(env!("CARGO_BIN_EXE_probity"))
        .args(["run", "--json", "--scope", "src/a.py", "--", "true"])
        .current_dir(&root)
        .output()
        .expect("starts");
    let outcome = repo.outcome(&output);
    assert_eq!((outcome.exit_code, &outcome.json["status"]), (Some(0), &"pass".into()), "{outcome:#?}");
    assert!(outcome.json["evidence_dir"]["bytes_hex"].is_string(), "{outcome:#?}");
}

#[test]
fn a_planted_policy_further_down_is_a_protected_change() {
    let repo = Repo::new();
    let outcome = repo.run_with(&["--scope", "src/**"], "echo > src/probity.toml");
    outcome.fails_with("PROTECTED.CHANGED").finds("PROTECTED.CHANGED", "src/probity.toml");
}

#[test]
fn a_forged_stat_cache_is_a_protected_change() {
    let repo = Repo::new();
    repo.run("true").passes();
    repo.run("for cache in .git/probity/cache/*; do echo forged > $cache; done")
        .fails_with("PROTECTED.CHANGED");
    repo.run("true").passes();
}
