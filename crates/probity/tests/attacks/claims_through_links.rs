//! Attempts to hold one file twice, through symbolic or hard links.

use crate::repo::{Outcome, Repo};

const ANN: &str = "handle-of-ann-0123456789";
const BO: &str = "handle-of-bo-0123456789";

fn start(repo: &Repo, path: &str, owner: &str) -> Outcome {
    repo.ask(&["start", path, "-m", "a change", "--owner", owner])
}

fn linked_repo() -> Repo {
    let repo = Repo::new();
    repo.sh("ln -s . src/alias; ln -s src also; ln -s ../elsewhere out; git add -A; git commit -q -m links");
    repo
}

#[test]
fn a_path_beyond_a_symbolic_link_is_refused_with_its_real_name() {
    let repo = linked_repo();
    assert_eq!(start(&repo, "src/a.py", ANN).json["status"], "active");
    for path in ["src/alias/a.py", "also/a.py", "also/alias/a.py", "also/new.py"] {
        let refused = start(&repo, path, BO);
        refused.refused_with("SCOPE.BEYOND_LINK");
        let message = refused.json["message"].as_str().expect("a message");
        let real = if path.ends_with("new.py") { "`src/new.py`" } else { "`src/a.py`" };
        assert!(message.contains(real) || path.contains("also/alias"), "{refused:#?}");
    }
    start(&repo, "out/a.py", BO).refused_with("SCOPE.BEYOND_LINK");
    let related = repo.ask(&["start", "src/b.py", "--related", "also/a.py", "-m", "x", "--owner", BO]);
    related.refused_with("SCOPE.BEYOND_LINK");
    // The link itself is a file like any other.
    assert_eq!(start(&repo, "also", BO).json["status"], "active");
}

#[test]
fn a_hard_link_is_claimed_with_all_its_names() {
    let repo = Repo::new();
    repo.sh("ln src/a.py src/hard.py; git add -A; git commit -q -m links");
    start(&repo, "src/hard.py", ANN).refused_with("SCOPE.HARD_LINK");
    let both = repo.ask(&["start", "src/a.py", "src/hard.py", "-m", "x", "--owner", ANN]);
    assert_eq!(both.json["status"], "active", "{both:#?}");
    for path in ["src/a.py", "src/hard.py"] {
        let second = start(&repo, path, BO);
        assert_ne!(second.json["status"], "active", "{second:#?}");
    }
    // A link from outside of the tree is no second name in it.
    repo.sh("ln src/b.py ../b-outside.py");
    assert_eq!(start(&repo, "src/b.py", BO).json["status"], "active");
}

#[test]
fn an_amendment_adds_no_second_name() {
    let repo = linked_repo();
    repo.sh("ln src/a.py src/hard.py; git add -A; git commit -q -m more");
    let held = repo.ask(&["start", "src/a.py", "src/hard.py", "-m", "x", "--owner", ANN]);
    assert_eq!(held.json["status"], "active", "{held:#?}");
    let started = start(&repo, "src/b.py", BO);
    let intent = started.json["intent_id"].as_str().expect("an id");
    let amend =
        |path: &str| repo.ask(&["amend", "--intent", intent, "--add", path, "--why", "x", "--owner", BO]);
    amend("also/a.py").refused_with("SCOPE.BEYOND_LINK");
    amend("src/alias/d.py").refused_with("SCOPE.BEYOND_LINK");
    // A new name of the held file, made after the claim.
    repo.sh("ln src/a.py src/later.py");
    amend("src/later.py").refused_with("SCOPE.HARD_LINK");
}

#[test]
fn a_run_is_judged_by_the_file_and_not_by_the_name_it_was_written_through() {
    let repo = linked_repo();
    repo.sh("ln src/a.py src/hard.py; git add -A; git commit -q -m more");
    repo.run_with(&["--scope", "also/a.py"], "echo >> also/a.py").refused_with("SCOPE.COVERS_NOTHING");
    repo.run_with(&["--scope", "src/b.py"], "echo >> also/a.py").is_out(&["src/a.py", "src/hard.py"]);
    repo.sh("git checkout -q . && ln -f src/a.py src/hard.py");
    repo.run_with(&["--scope", "src/hard.py"], "echo >> src/hard.py").is_out(&["src/a.py"]);
}
