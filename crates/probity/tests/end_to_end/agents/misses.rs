//! Cases that other systems miss: names with arbitrary bytes, new directories, ignored files, commits, roots, and
//! analyses of another tree.

use super::{Agent, is, verdict};
use crate::repo::{Repo, os};
use serde_json::json;
use std::fs;

const ODD: &[u8] = b"src/\xff\xfe odd\n\"name\".py";

#[test]
fn a_name_may_have_any_bytes_inside_the_scope_and_outside() {
    let repo = Repo::new();
    fs::write(repo.path().join(os(ODD)), "x = 1\n").expect("writes");
    repo.sh("git add . && git commit -q -m odd");
    let a = Agent::new(&repo, "a");
    let ask = |arguments: &[&str]| {
        let mut command = repo.probity(arguments);
        command.arg(os(ODD)).args(["--json", "--owner", &a.owner]);
        repo.outcome(&command.output().expect("starts"))
    };
    let started = ask(&["start", "--intent", "odd"]);
    assert_eq!(verdict(&started), is("active", "", 0), "{started:#?}");
    let intent = started.json["intent_id"].as_str().expect("an id");
    fs::write(repo.path().join(os(ODD)), "x = 2\n").expect("writes");
    fs::write(repo.path().join(os(b"\xfe outside")), "y\n").expect("writes");
    let missing = a.finish(intent, &["--changed", "src/b.py"]);
    let odd = json!([probity_core::bytes::to_json(ODD)]);
    assert_eq!(missing.json["workspace_hygiene_after"]["unacknowledged_dirty_in_scope"], odd, "{missing:#?}");
    let finished = ask(&["finish", intent, "--changed"]);
    assert_eq!(verdict(&finished), is("accepted_with_external_changes", "", 0), "{finished:#?}");
    let outside = json!([probity_core::bytes::to_json(b"\xfe outside")]);
    assert_eq!(finished.json["external_changes"]["paths"], outside);
}

#[test]
fn every_file_of_a_new_folder_is_named() {
    let repo = Repo::new();
    let a = Agent::new(&repo, "a");
    let intent = a.begin("src/a.py", &["--related", "src/new"]);
    repo.write("src/a.py", "print('a2')\n");
    for name in ["src/new/x.py", "src/new/deep/y.py", "other/z.txt"] {
        repo.write(name, "v = 1\n");
    }
    let missing = a.finish(&intent, &["--changed", "src/a.py"]);
    let hygiene = &missing.json["workspace_hygiene_after"];
    assert_eq!(
        hygiene["unacknowledged_dirty_in_scope"],
        json!(["src/new/deep/y.py", "src/new/x.py"]),
        "{missing:#?}"
    );
    assert_eq!(hygiene["unattributed_unscoped_dirty"], json!(["other/z.txt"]));
}

#[test]
fn an_ignored_file_that_changes_after_the_start_is_seen() {
    let repo = Repo::new();
    repo.write("ignored/old", "as it was\n");
    repo.write("ignored/edited", "before\n");
    let a = Agent::new(&repo, "a");
    let intent = a.begin("docs/d.md", &[]);
    repo.write("docs/d.md", "# D2\n");
    repo.write("ignored/edited", "after\n");
    repo.write("ignored/new", "new\n");
    // Hiding a file does not help either: ignore rules may change during the work.
    repo.write("hidden.txt", "x\n");
    repo.write(".gitignore", "ignored/\n*.log\nhidden.txt\n");
    let strict = a.finish(&intent, &["--changed", "docs/d.md", "--strict", "--detail-level", "full"]);
    let hygiene = &strict.json["workspace_hygiene_after"];
    assert_eq!(hygiene["finish_block_reason"], "own_unscoped_dirty", "{strict:#?}");
    assert_eq!(hygiene["modified_unattributed_unscoped_dirty"], json!(["ignored/edited"]), "{strict:#?}");
    assert_eq!(
        hygiene["new_unattributed_unscoped_dirty"],
        json!([".gitignore", "hidden.txt", "ignored/new"]),
        "{strict:#?}"
    );
}

#[test]
fn a_difference_from_a_commit_includes_untracked_files_and_later_commits() {
    let repo = Repo::new();
    let a = Agent::new(&repo, "a");
    let intent = a.begin("src/a.py", &["--related", "src/new.py", "src/b.py"]);
    repo.write("src/a.py", "print('a2')\n");
    repo.sh("git commit -qam committed");
    repo.write("src/b.py", "print('b2')\n");
    repo.write("src/new.py", "print('untracked')\n");
    let short = a.finish(&intent, &["--diff-ref", "HEAD"]);
    assert_eq!(
        short.json["workspace_hygiene_after"]["unacknowledged_dirty_in_scope"],
        json!(["src/a.py"]),
        "a commit since the start is a change: {short:#?}"
    );
    let finished = a.finish(&intent, &["--diff-ref", "HEAD~1", "--detail-level", "full"]);
    assert_eq!(verdict(&finished), is("accepted", "", 0), "{finished:#?}");
    assert_eq!(
        finished.json["workspace_hygiene_after"]["files_for_scope_check"],
        json!(["src/a.py", "src/b.py", "src/new.py"])
    );
    a.finish("no-such", &["--diff-ref", "HEAD"]).exit_code.filter(|&code| code == 2).expect("is refused");
}

#[test]
fn a_run_of_another_tree_is_no_after_run() {
    let repo = Repo::new();
    let a = Agent::new(&repo, "a");
    let intent = a.begin("src/a.py", &[]);
    repo.write("src/a.py", "print('a2')\n");
    let good = repo.ask(&["analyze"]).json["run_id"].as_str().expect("a run").to_owned();
    // One more edit after the analysis.
    repo.write("src/a.py", "def f(:\n");
    let stale = a.finish(&intent, &["--changed", "src/a.py", "--after-run", &good]);
    assert_eq!(verdict(&stale), is("unverified", "after_run_stale", 3), "{stale:#?}");
    assert_eq!(stale.json["intent_cleared"], false);
}
