//! Attempts to bring something else into the tree than the changes of a run that were judged, or to bring them in without
//! evidence.

use crate::repo::{Outcome, Repo};
use probity_testkit::wait_until;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Stdio;

/// A repository with a held layer: `src/a.py` changed in the scope, and `docs/d.md` outside of it; `None` without views.
fn held() -> Option<(Repo, PathBuf)> {
    let repo = Repo::new();
    let options = ["--enforce", "overlay", "--scope", "src/**"];
    let outcome = repo.run_with(&options, "echo in > src/a.py; echo new > src/new.py; echo out > docs/d.md");
    if outcome.json["reason"] == "ENFORCE.UNAVAILABLE" {
        probity_testkit::skip!("this machine has no views");
        return None;
    }
    outcome.is_out(&["docs/d.md"]);
    let layers = fs::read_dir(repo.path().join(".git/probity/layers")).expect("lists");
    let layer = layers.flatten().map(|entry| entry.path().join("upper")).find(|upper| upper.is_dir());
    Some((repo, layer.expect("the layer is held")))
}

fn text(repo: &Repo, path: &str) -> String {
    fs::read_to_string(repo.path().join(path)).unwrap_or_default()
}

fn land_in_scope(repo: &Repo) -> Outcome {
    repo.ask(&["land", "last", "--in-scope"])
}

#[test]
fn a_layer_that_was_changed_after_its_judgment_does_not_land() {
    for script in [
        "echo tampered >> src/a.py",
        "rm src/a.py; ln -s /etc/passwd src/a.py",
        "rm src/a.py; mkfifo src/a.py",
        "rm src/a.py; mkdir src/a.py",
        "mv src ../elsewhere; echo tampered >> ../elsewhere/a.py; ln -s ../elsewhere src",
        "rm -rf src",
    ] {
        let Some((repo, layer)) = held() else { return };
        let before = text(&repo, "src/a.py");
        repo.sh(&format!("cd '{}'; {script}", layer.display()));
        let landed = land_in_scope(&repo);
        assert_ne!(landed.exit_code, Some(0), "{script}: {landed:#?}");
        assert_eq!(text(&repo, "src/a.py"), before, "{script}");
        assert!(!repo.path().join("src/new.py").exists(), "{script}: a part landed");
    }
}

#[test]
fn what_was_added_to_a_layer_after_its_judgment_stays_there() {
    let Some((repo, layer)) = held() else { return };
    fs::write(layer.join("src/extra.py"), "tampered\n").expect("writes");
    land_in_scope(&repo);
    assert!(!repo.path().join("src/extra.py").exists());
}

/// A kill between the last change of the tree and the evidence of it.
#[test]
fn a_part_that_landed_is_in_the_evidence_although_the_process_was_killed() {
    let Some((repo, _)) = held() else { return };
    let state = repo.path().join(".git/probity");
    let turn = File::options().write(true).create(true).truncate(false).open(state.join("evidence.lock"));
    let turn = turn.expect("opens");
    turn.lock().expect("is free");
    let mut command = repo.probity(&["land", "last", "--in-scope", "--json"]);
    let mut landing = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("probity starts");
    let has_landed = || {
        let landings = fs::read_dir(state.join("landings")).into_iter().flatten().flatten();
        landings.into_iter().any(|entry| entry.path().join("landed.json").exists())
    };
    wait_until("the changes have landed", has_landed);
    landing.kill().expect("is killed");
    landing.wait().expect("ends");
    drop(turn);
    assert_eq!(text(&repo, "src/a.py"), "in\n");
    repo.run_with(&["--enforce", "overlay", "--scope", "src/**"], "true").passes();
    let bundles = fs::read_dir(state.join("evidence")).expect("lists").flatten();
    let manifests = bundles.filter_map(|bundle| fs::read_to_string(bundle.path().join("manifest.json")).ok());
    let told = manifests.into_iter().find(|manifest| manifest.contains("RUN.INTERRUPTED"));
    let told = told.expect("the landing has evidence");
    for path in ["src/a.py", "src/new.py"] {
        assert!(told.contains(&format!("\"{path}\"")), "{path} is not named: {told}");
    }
    assert_eq!(repo.ask(&["evidence", "chain"]).exit_code, Some(0));
}
