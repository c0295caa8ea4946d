//! What people read of shared changes: the words of `start`, `finish`, `status`, `intent` and `amend` without `--json`.

use crate::agents::Agent;
use crate::repo::Repo;
use serde_json::json;

/// What a command printed to stdout and to stderr, and its exit code.
struct Words {
    answer: String,
    diagnostics: String,
    exit_code: Option<i32>,
}

fn words(repo: &Repo, arguments: &[&str]) -> Words {
    let output = repo.probity(arguments).output().expect("probity starts");
    Words {
        answer: String::from_utf8_lossy(&output.stdout).into_owned(),
        diagnostics: String::from_utf8_lossy(&output.stderr).into_owned(),
        exit_code: output.status.code(),
    }
}

fn begin(repo: &Repo, path: &str) -> String {
    let started = repo.ask(&["start", path, "--intent", "a change"]);
    assert_eq!(started.json["status"], "active", "{started:#?}");
    started.json["intent_id"].as_str().expect("an id").to_owned()
}

#[test]
fn answers_go_to_stdout_and_the_root_to_stderr() {
    let repo = Repo::new();
    let started = words(&repo, &["start", "src/a.py", "-m", "a change"]);
    assert!(started.answer.starts_with("active\n"), "{}", started.answer);
    assert!(started.diagnostics.starts_with("probity start  in "), "{}", started.diagnostics);
    assert_eq!(started.diagnostics.lines().count(), 1, "{}", started.diagnostics);
    let listed = words(&repo, &["intent", "list"]);
    assert!(listed.answer.contains("src/a.py"), "{}", listed.answer);
    let finished = words(&repo, &["finish"]);
    assert!(finished.answer.starts_with("accepted"), "{}", finished.answer);
    assert_eq!(finished.diagnostics.lines().count(), 1, "{}", finished.diagnostics);
}

#[test]
fn a_finish_without_a_change_says_so() {
    let repo = Repo::new();
    begin(&repo, "src/a.py");
    let finished = words(&repo, &["finish"]);
    assert!(
        finished.answer.starts_with("accepted: nothing changed since the start\n"),
        "{}",
        finished.answer
    );
    assert!(!finished.answer.contains("changed   "), "{}", finished.answer);
}

#[test]
fn a_finish_lists_what_changed_and_the_uncommitted_changes_outside_with_whose_they_are() {
    let repo = Repo::new();
    repo.write("old.txt", "there before\n");
    let ben = Agent::new(&repo, "ben");
    ben.begin("docs/d.md", &["--agent", "ben"]);
    begin(&repo, "src/a.py");
    repo.write("src/a.py", "print('a2')\n");
    repo.write("docs/d.md", "# by ben\n");
    repo.write("new.txt", "by somebody\n");
    // Committed meanwhile: changed since the start, and clean now.
    repo.write("src/b.py", "print('b2')\n");
    repo.sh("git add src/b.py && git commit -q -m b");
    let finished = words(&repo, &["finish"]);
    assert_eq!(finished.exit_code, Some(0), "{}", finished.diagnostics);
    for line in [
        "accepted with external changes\n",
        "  changed   ~ src/a.py  in scope\n",
        "  outside   ~ docs/d.md  held by ben\n",
        "  outside   + old.txt  there before the start\n",
        "  outside   + new.txt  changed since the start by somebody unknown\n",
        "  committed src/b.py  outside the scope, committed since the start\n",
    ] {
        assert!(finished.answer.contains(line), "no `{line}` in {}", finished.answer);
    }
    assert!(!finished.answer.contains("outside   ~ src/b.py"), "{}", finished.answer);
}

#[test]
fn what_was_committed_outside_the_scope_is_no_external_change() {
    let repo = Repo::new();
    let intent = begin(&repo, "src/a.py");
    repo.write("src/a.py", "print('a2')\n");
    repo.write("docs/d.md", "# committed\n");
    repo.sh("git add docs && git commit -q -m docs");
    let finished = repo.ask(&["finish", &intent]);
    assert_eq!(finished.json["status"], "accepted", "{finished:#?}");
    assert!(finished.json["external_changes"].is_null(), "{finished:#?}");
    assert_eq!(finished.json["committed_outside_scope"], json!(["docs/d.md"]));
    let change = json!([{ "path": "src/a.py", "change": "modified", "since_start": true }]);
    assert_eq!(finished.json["changes"], change);
}
