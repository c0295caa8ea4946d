//! Secrets in evidence, and files that others can read.

use crate::repo::Repo;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns every file and directory below `place`, with its mode.
fn modes_below(place: &Path) -> Vec<(PathBuf, u32)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(place).expect("is there").flatten() {
        let facts = entry.path().symlink_metadata().expect("is there");
        if facts.is_dir() {
            found.extend(modes_below(&entry.path()));
        }
        if !facts.is_symlink() {
            found.push((entry.path(), facts.permissions().mode() & 0o777));
        }
    }
    found
}

/// Returns whether a file below `place` contains `word`.
fn holds(place: &Path, word: &str) -> bool {
    modes_below(place).iter().any(|(path, _)| {
        fs::read(path).is_ok_and(|bytes| bytes.windows(word.len()).any(|window| window == word.as_bytes()))
    })
}

#[test]
fn what_is_kept_is_private_whatever_the_umask() {
    let repo = Repo::new();
    repo.write("t.schema", "struct Ticket {\n    title: string\n}\nattachment ticket: Ticket\n");
    repo.write("turns.jsonl", "{\"id\": \"1\", \"role\": \"user\", \"text\": \"We decided to use tabs.\"}\n");
    let probity = env!("CARGO_BIN_EXE_probity");
    let commands = [
        "keys generate",
        "start src/b.py -m x --owner handle-of-ann-0123456789",
        "run --scope src/a.py -- true",
        "analyze",
        "contract verify --receipt",
        "ledger ingest turns.jsonl --user ann",
        "commits init --schema t.schema",
        "status",
    ];
    for command in commands {
        let script = format!("umask 000; exec {probity} {command}");
        // The command's own verdict is not the subject here.
        let mut shell = Command::new("sh");
        let like = repo.probity(&[]);
        for (name, value) in like.get_envs() {
            if let Some(value) = value {
                shell.env(name, value);
            }
        }
        shell.args(["-c", &script]).current_dir(repo.path()).output().expect("sh starts");
    }
    let open: Vec<_> = modes_below(&repo.path().join(".git/probity"))
        .into_iter()
        .filter(|(_, mode)| mode & 0o077 != 0)
        .map(|(path, mode)| format!("{mode:04o} {}", path.display()))
        .collect();
    assert!(open.is_empty(), "{open:#?}");
}

#[test]
fn a_key_that_others_can_read_is_refused() {
    let repo = Repo::new();
    repo.ask(&["keys", "generate"]);
    let state = repo.path().join(".git/probity");
    let key = modes_below(&state)
        .into_iter()
        .map(|(path, _)| path)
        .find(|path| path.to_string_lossy().contains("key") && path.is_file())
        .expect("a key");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).expect("opens it");
    repo.run("true").refused_with("KEY.EXPOSED");
    repo.ask(&["keys", "show"]).refused_with("KEY.EXPOSED");
    let doctor = repo.ask(&["doctor"]);
    assert_eq!(doctor.exit_code, Some(1), "{doctor:#?}");
    assert!(doctor.json.to_string().contains("chmod 600"), "{doctor:#?}");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).expect("closes it");
    repo.run("true").passes();
}

#[test]
fn a_handle_that_others_can_read_is_refused() {
    let repo = Repo::new();
    let started = repo.ask(&["start", "src/a.py", "-m", "x"]);
    let intent = started.json["intent_id"].as_str().expect("an id").to_owned();
    let handles: Vec<PathBuf> = modes_below(&repo.path().join(".git/probity"))
        .into_iter()
        .map(|(path, _)| path)
        .filter(|path| path.is_file() && path.to_string_lossy().contains("/handles/"))
        .collect();
    assert!(!handles.is_empty(), "a handle is kept");
    for handle in &handles {
        fs::set_permissions(handle, fs::Permissions::from_mode(0o640)).expect("opens it");
    }
    repo.ask(&["intent", "renew", &intent]).refused_with("KEY.EXPOSED");
    assert_eq!(repo.ask(&["doctor"]).exit_code, Some(1));
}

#[test]
fn a_secret_on_the_command_line_is_in_no_evidence() {
    let repo = Repo::new();
    let command = [
        "run",
        "--json",
        "--scope",
        "src/a.py",
        "--",
        "sh",
        "-c",
        "true",
        "sh",
        "--token=hunter2token",
        "--password",
        "hunter2password",
        "API_KEY=hunter2key",
        "ghp_hunter2hunter2hunter2",
        "https://ann:hunter2url@example.org/x",
    ];
    let mut verbose = vec!["-vv"];
    verbose.extend(command);
    let output = repo.probity(&verbose).output().expect("probity starts");
    let state = repo.path().join(".git/probity");
    for secret in ["hunter2token", "hunter2password", "hunter2key", "ghp_hunter2", "hunter2url"] {
        assert!(!holds(&state, secret), "{secret} is in the state");
        assert!(!String::from_utf8_lossy(&output.stderr).contains(secret), "{secret} is in the log");
        assert!(!String::from_utf8_lossy(&output.stdout).contains(secret), "{secret} is in the answer");
    }
    assert!(holds(&state, "--token=***"), "that there was one is recorded");
    assert_eq!(repo.ask(&["evidence", "verify", "last"]).json["outcome"], "PASS");
}

#[test]
fn the_password_of_a_proxy_reaches_no_gate() {
    let repo = Repo::new();
    repo.write("probity.toml", "[[gate]]\nid = \"env\"\nrun = [\"env\"]\n");
    repo.sh("git add -A; git commit -q -m policy");
    let mut command = repo.probity(&["run", "--json", "--scope", "src/a.py", "--", "true"]);
    command.env("HTTPS_PROXY", "http://ann:hunter2proxy@proxy.example:3128");
    command.env("http_proxy", "ann:hunter2plain@proxy.example:3128");
    let output = command.output().expect("probity starts");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let state = repo.path().join(".git/probity");
    assert!(!holds(&state, "hunter2"), "a password is in the evidence");
    assert!(holds(&state, "HTTPS_PROXY=http://proxy.example:3128"), "the gate has the proxy");
}
