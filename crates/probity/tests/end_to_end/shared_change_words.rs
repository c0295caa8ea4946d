//! The text output of `start`, `finish`, `status`, `intent` and `amend` without `--json`.

use crate::agents::Agent;
use crate::mcp::client::Client;
use crate::repo::Repo;
use serde_json::json;

/// A command's stdout, stderr and exit code.
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
    // Committed meanwhile: changed since the start, but clean now.
    repo.write("src/b.py", "print('b2')\n");
    repo.sh("git add src/b.py && git commit -q -m b");
    let finished = words(&repo, &["finish"]);
    assert_eq!(finished.exit_code, Some(0), "{}", finished.diagnostics);
    for line in [
        "accepted, with changes outside the scope\n",
        "  changed   ~ src/a.py  in scope\n",
        "  outside   ~ docs/d.md  held by ben\n",
        "  outside   + old.txt  there before the start\n",
        "  outside   + new.txt  changed since the start, author unknown\n",
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

#[test]
fn a_declared_path_that_does_not_exist_is_named_with_the_one_that_was_meant() {
    let repo = Repo::new();
    repo.write("ignored/parser.py", "print('ignored')\n");
    let started = words(&repo, &["start", "src/aa.py", "src/parser.py", "src/{a,b}.py", "-m", "x"]);
    for line in [
        "  new       src/aa.py does not exist yet: it will be created; did you mean 'src/a.py'?\n",
        "  new       src/parser.py does not exist yet: it will be created\n",
        "  new       src/{a,b}.py does not exist yet: it will be created; `{a,b}` is not expanded: ",
    ] {
        assert!(started.answer.contains(line), "no `{line}` in {}", started.answer);
    }
}

#[test]
fn a_misspelled_scope_of_a_run_gets_the_near_match_and_braces_a_hint() {
    let repo = Repo::new();
    repo.sh("mv src/a.py src/utils.py");
    let misspelled = words(&repo, &["run", "--scope", "src/utlis.py", "--", "true"]);
    assert!(
        misspelled.diagnostics.contains("did you mean `src/utils.py` (1 file)?"),
        "{}",
        misspelled.diagnostics
    );
    let braces = words(&repo, &["run", "--scope", "lib/{x,y}.js", "--", "true"]);
    assert!(braces.diagnostics.contains("`{a,b}` is not expanded"), "{}", braces.diagnostics);
}

#[test]
fn a_word_too_many_in_front_of_the_command_is_explained() {
    let repo = Repo::new();
    let expanded = words(&repo, &["run", "--scope", "src/a.py", "src/b.py", "--", "true"]);
    assert!(
        expanded.diagnostics.contains("hint: if the shell expanded a pattern, quote it"),
        "{}",
        expanded.diagnostics
    );
    let bare = words(&repo, &["run", "--scope", "src/**", "make", "fmt"]);
    assert!(bare.diagnostics.contains("hint: put the command after `--`"), "{}", bare.diagnostics);
}

#[test]
fn a_start_on_paths_of_an_interrupted_change_says_how_to_go_on() {
    let repo = Repo::new();
    // The shell ended, but its handle is still stored in this worktree.
    let intent = begin(&repo, "src/a.py");
    let short = &intent[..13];
    let again = words(&repo, &["start", "src/a.py", "-m", "once more"]);
    assert_eq!(again.exit_code, Some(2), "{}", again.answer);
    assert!(
        again.answer.starts_with("blocked: your own intent holds these paths [coordination]\n"),
        "{}",
        again.answer
    );
    assert!(again.answer.contains(&format!("`probity finish {short}`")), "{}", again.answer);
    repo.ask(&["intent", "clear", &intent]);
    // Another agent's process ended.
    let mut client = Client::start(&repo);
    let wish = json!({ "intent": "x", "agent": "ann", "allowed_files": ["src/b.py"], "analyze": true });
    let gone = client.call("start_controlled_change", &wish).json;
    let gone = gone["intent_id"].as_str().expect("an id").to_owned();
    drop(client);
    repo.write("src/b.py", "print('half done')\n");
    let blocked = words(&repo, &["start", "src/b.py", "-m", "go on"]);
    assert!(
        blocked.answer.contains("start with `--continue-own-wip` if they are yours"),
        "{}",
        blocked.answer
    );
    assert!(
        blocked.answer.contains(&format!("`probity intent recover {}`", &gone[..13])),
        "{}",
        blocked.answer
    );
    let recovered = words(&repo, &["intent", "recover", &gone[..13]]);
    assert_eq!(recovered.exit_code, Some(0), "{}", recovered.diagnostics);
    assert!(recovered.answer.contains("owner-"), "the handle is shown: {}", recovered.answer);
}

#[test]
fn who_waits_is_told_the_command_with_the_id() {
    let repo = Repo::new();
    Agent::new(&repo, "ben").begin("src/a.py", &["--agent", "ben"]);
    let queued = words(&repo, &["start", "src/a.py", "-m", "mine", "--queue"]);
    assert_eq!(queued.exit_code, Some(5), "{}", queued.diagnostics);
    let listed = repo.ask(&["intent", "list"]).json;
    let intents = listed["intents"].as_array().expect("intents");
    let own = intents.iter().find(|intent| intent["handle_kept"] == true).expect("my own");
    let id = own["intent_id"].as_str().expect("an id");
    let command = format!("`probity intent promote {}`", &id[..13]);
    assert!(queued.answer.contains(&command), "{}", queued.answer);
    let status = words(&repo, &["status"]);
    assert!(status.answer.contains(&command), "{}", status.answer);
}

#[test]
fn lists_say_whose_an_intent_is_and_fit_into_eighty_columns() {
    let repo = Repo::new();
    Agent::new(&repo, "ben").begin("src/b.py", &["--agent", "ben"]);
    begin(&repo, "src/a.py");
    repo.run_with(&["--scope", "docs/d.md"], "echo more >> docs/d.md").passes();
    let list = words(&repo, &["intent", "list"]);
    let line = |path: &str| list.answer.lines().find(|line| line.contains(path)).unwrap_or_default();
    assert!(line("src/a.py").contains("active, yours"), "{}", list.answer);
    assert!(line("src/b.py").contains("active, another agent"), "{}", list.answer);
    let json = repo.ask(&["intent", "list"]).json;
    assert_eq!(json["intents"][0]["ownership"], "foreign_active", "words of the wire stay: {json:#}");
    for arguments in [&["log"][..], &["intent", "list"], &["evidence", "list"]] {
        let shown = words(&repo, arguments).answer;
        assert!(!shown.is_empty() && shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    }
}

#[test]
fn a_refusal_about_an_intent_says_whose_it_is_and_what_to_give() {
    let repo = Repo::new();
    let intent = Agent::new(&repo, "ben").begin("src/b.py", &["--agent", "ben"]);
    let finished = words(&repo, &["finish", &intent]);
    assert_eq!(finished.exit_code, Some(5), "{}", finished.diagnostics);
    assert!(finished.diagnostics.contains("belongs to ben"), "{}", finished.diagnostics);
    assert!(finished.diagnostics.contains("pass its handle with `--owner`"), "{}", finished.diagnostics);
    let lease = words(&repo, &["start", "src/a.py", "-m", "x", "--lease", "soon"]);
    assert!(lease.diagnostics.contains("as `300`, or a time with its unit"), "{}", lease.diagnostics);
    let short = words(&repo, &["start", "src/a.py", "-m", "x", "--lease", "1s"]);
    assert!(
        short.diagnostics.contains("the lease (`--lease`, in seconds) must be between"),
        "{}",
        short.diagnostics
    );
    let minutes = words(&repo, &["start", "src/a.py", "-m", "x", "--lease", "5m"]);
    assert_eq!(minutes.exit_code, Some(0), "{}", minutes.diagnostics);
}

#[test]
fn an_amendment_that_does_not_help_shows_what_it_meant_and_the_ways_forward() {
    let repo = Repo::new();
    let failed = repo.run("echo 1 > new.txt");
    let split = failed.json["next_steps"].as_array().expect("ways").iter().find(|way| way["way"] == "split");
    let command = split.expect("a way")["command"].as_str().expect("a command");
    assert!(command.ends_with(" && probity run --scope 'new.txt' --creates -- …"), "{command}");
    let amended = words(&repo, &["amend", "last", "--add", "other/**", "--why", "x"]);
    assert_eq!(amended.exit_code, Some(1), "{}", amended.diagnostics);
    assert!(
        amended.answer.contains("  added     other/**  covers 0 changed paths of the run\n"),
        "{}",
        amended.answer
    );
    for way in ["  expand    probity amend ", "  revert    probity revert ", "  split     probity revert "] {
        assert!(amended.answer.contains(way), "no `{way}` in {}", amended.answer);
    }
    let bundles = repo.ask(&["evidence", "list"]).json["runs"].as_array().map(Vec::len);
    let wrong = words(&repo, &["amend", "last", "--add", "a[", "--why", "x"]);
    assert_eq!(wrong.exit_code, Some(2), "{}", wrong.answer);
    assert!(wrong.diagnostics.contains("SCOPE.UNCLOSED_CLASS"), "{}", wrong.diagnostics);
    assert_eq!(repo.ask(&["evidence", "list"]).json["runs"].as_array().map(Vec::len), bundles);
}
