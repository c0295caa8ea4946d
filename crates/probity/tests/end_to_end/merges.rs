//! Audits of git merges with the program itself: the story of the manual word by word, kills, hooks, and the contract of a change.

use crate::repo::{Repo, isolate};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const MANUAL: &str = include_str!("../../../../docs/merges.md");

/// A repository with the program of the manual's story.
fn shop() -> Repo {
    let repo = Repo::new();
    let (_, program) = MANUAL.split_once("```python\n").expect("the manual shows a program");
    let (program, _) = program.split_once("```").expect("the program ends");
    repo.write("shop.py", program);
    repo.sh("git add shop.py && git commit -qm 'A shop'");
    repo
}

/// Commands with what they print, as the story tells them.
fn story() -> Vec<(&'static str, Vec<&'static str>)> {
    let (_, told) = MANUAL.split_once("## Two agents").expect("the manual has the story");
    let (told, _) = told.split_once("\n## ").expect("the story ends");
    let mut steps: Vec<(&str, Vec<&str>)> = Vec::new();
    for block in told.split("```console\n").skip(1) {
        let (block, _) = block.split_once("```").expect("a block ends");
        for line in block.lines() {
            match (line.strip_prefix("$ "), steps.last_mut()) {
                (Some(command), _) => steps.push((command, Vec::new())),
                (None, Some((_, printed))) => printed.push(line),
                (None, None) => panic!("{line}"),
            }
        }
    }
    steps
}

/// Runs a script with `probity` on the path.
fn run(repo: &Repo, script: &str) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_probity"));
    let mut places = vec![program.parent().expect("it is in a directory").to_owned()];
    places.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let mut command = Command::new("sh");
    isolate(command.args(["-c", script]).current_dir(repo.path()), repo.outside());
    for (name, value) in [("NAME", "ben"), ("EMAIL", "ben@example.org")] {
        command.env(format!("GIT_AUTHOR_{name}"), value).env(format!("GIT_COMMITTER_{name}"), value);
    }
    command.env("PATH", std::env::join_paths(places).expect("a search path"));
    command.env("NO_COLOR", "1").env("COLUMNS", "80").output().expect("sh starts")
}

/// Ids differ in every repository.
fn without_ids(text: &str) -> String {
    let mut masked = String::new();
    let is_digit = |letter: char| letter.is_ascii_digit() || ('a'..='f').contains(&letter);
    for word in text.split_inclusive(|letter: char| !letter.is_ascii_alphanumeric()) {
        let digits = word.trim_end_matches(|letter: char| !letter.is_ascii_alphanumeric());
        let is_id = digits.len() >= 6
            && digits.chars().all(is_digit)
            && digits.contains(|c: char| c.is_ascii_digit());
        masked.push_str(if is_id { "ID" } else { digits });
        masked.push_str(&word[digits.len()..]);
    }
    masked
}

#[test]
fn the_story_of_the_manual_is_what_the_program_prints() {
    let repo = shop();
    for (command, printed) in story() {
        let output = run(&repo, command);
        if !command.starts_with("probity ") {
            assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
            continue;
        }
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<String> = text.lines().map(|line| without_ids(line.trim_end())).collect();
        let told: Vec<String> = printed.iter().map(|line| without_ids(line.trim_end())).collect();
        assert_eq!(lines, told, "{command} prints:\n{text}");
    }
    let branches =
        run(&repo, "git merge -q --ff-only $(git branch --list 'probity/*' --format '%(refname)')");
    assert!(branches.status.success(), "{}", String::from_utf8_lossy(&branches.stderr));
    let text = std::fs::read_to_string(repo.path().join("shop.py")).expect("the program");
    assert!(text.contains("round(total, 2)") && text.contains("insure(parcel)"), "{text}");
}

/// A repository at the end of a merge that lost an edit.
fn lossy_merge() -> Repo {
    let repo = shop();
    for (command, _) in story().into_iter().filter(|(command, _)| !command.starts_with("probity ")) {
        let output = run(&repo, command);
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    }
    repo
}

fn references(repo: &Repo) -> String {
    let output = run(repo, "git for-each-ref; git rev-parse HEAD; git status --porcelain");
    assert!(output.status.success());
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn git_program() -> PathBuf {
    let found = Command::new("sh").args(["-c", "command -v git"]).output().expect("sh starts");
    PathBuf::from(String::from_utf8_lossy(&found.stdout).trim())
}

#[test]
fn a_restoration_that_is_killed_at_any_git_command_leaves_no_reference() {
    let repo = lossy_merge();
    let before = references(&repo);
    let tools = repo.outside().join("tools");
    std::fs::create_dir(&tools).expect("a directory");
    let count = tools.join("count");
    let mut n_kills = 0;
    for number in 1.. {
        // Stands for git: the command with this number ends the program that asks, before it does anything.
        let script = format!(
            "#!/bin/sh\nn=$(cat '{count}')\nn=$((n + 1))\necho $n > '{count}'\n\
             [ $n = {number} ] && kill -9 $PPID && exit 1\nexec '{git}' \"$@\"\n",
            count = count.display(),
            git = git_program().display()
        );
        std::fs::write(&count, "0\n").expect("a number");
        std::fs::write(tools.join("git"), script).expect("a program");
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(tools.join("git"), executable).expect("it can be run");
        let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap_or_default());
        let mut command =
            repo.probity(&["merge", "audit", "HEAD", "--restore", "lost", "--why", "a mistake"]);
        let output = command.env("PATH", path).output().expect("probity starts");
        if output.status.success() {
            break;
        }
        assert_eq!(output.status.code(), None, "it was killed: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(references(&repo), before, "killed at git command {number}");
        n_kills += 1;
    }
    assert!(n_kills > 5, "a restoration asks git several times, not {n_kills} times");
    let after = references(&repo);
    let added: Vec<&str> = after.lines().filter(|line| !before.contains(line)).collect();
    assert_eq!(added.len(), 1, "then the branch is there: {added:?}");
}

#[test]
fn the_contract_of_a_change_counts_the_merges_on_its_way() {
    let repo = lossy_merge();
    let base = "HEAD^1";
    let judged = repo.ask(&["contract", "verify", "--base", base, "--skip-gates"]);
    assert_eq!(judged.json["merges"]["outcome"], "lost", "{}", judged.json);
    assert_eq!(judged.exit_code, Some(1));
    let without = repo.ask(&["contract", "verify", "--base", base, "--skip-gates", "--skip-merges"]);
    assert!(without.json["merges"].is_null(), "{}", without.json);
    let last = repo.ask(&["contract", "verify", "--skip-gates"]);
    assert!(last.json["merges"].is_null(), "the last commit has no merges after it: {}", last.json);
}

#[test]
fn a_policy_decides_before_a_person_is_asked() {
    let repo = lossy_merge();
    let set = |json: &str| {
        repo.write("../rules.json", json);
        repo.ask(&["merge", "policy", "--git", "--set", "../rules.json"])
    };
    let audited = || repo.ask(&["merge", "audit", "HEAD"]);
    assert_eq!(audited().json["outcome"], "lost");
    set(r#"{"rules": [{"path": "*.py", "entity": "pri*", "class": "lost", "decide": "ours"}]}"#);
    let settled = audited();
    assert_eq!(
        (settled.json["outcome"].as_str(), settled.exit_code),
        (Some("clean"), Some(0)),
        "{}",
        settled.json
    );
    assert_eq!(settled.json["findings"][0]["ruling"]["choose"], "merged");
    set(r#"{"rules": [{"path": "docs/**", "decide": "ours"}, {"decide": "refuse"}]}"#);
    let refused = repo.ask(&["merge", "audit", "HEAD", "--accept", "all", "--why", "fine"]);
    assert_eq!(refused.json["code"], "MERGE.REFUSED_BY_POLICY", "{}", refused.json);
    set(r#"{"rules": [{"entity": "price", "decide": "theirs"}]}"#);
    let restored = repo.ask(&["merge", "audit", "HEAD", "--restore", "policy", "--why", "it is theirs"]);
    assert_eq!(restored.json["restored"].as_array().map(Vec::len), Some(1), "{}", restored.json);
    let wrong = set(r#"{"rules": [{"decide": "max"}]}"#);
    assert_eq!(wrong.json["code"], "MERGE.POLICY_INVALID", "{}", wrong.json);
}
