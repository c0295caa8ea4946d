//! No command is silent for longer than a second.

use crate::repo::Repo;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

/// Runs a command with a git that waits, and returns the first line of progress; git goes on once it is shown.
fn first_progress(repo: &Repo, arguments: &[&str]) -> String {
    let bin = repo.outside().join("bin");
    fs::create_dir_all(&bin).expect("creates");
    let real = std::env::split_paths(&std::env::var_os("PATH").expect("a PATH"))
        .map(|directory| directory.join("git"))
        .find(|git| git.is_file())
        .expect("git is installed");
    let go = repo.outside().join("go");
    let _ = fs::remove_file(&go);
    let script = format!(
        "#!/bin/sh\nwhile [ ! -e {} ]; do sleep 0.02; done\nexec {} \"$@\"\n",
        go.display(),
        real.display()
    );
    fs::write(bin.join("git"), script).expect("writes");
    fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).expect("changes the mode");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").expect("a PATH"));
    let mut command = repo.probity(arguments);
    command.env("PATH", path).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("probity starts");
    let lines = BufReader::new(child.stderr.take().expect("stderr")).lines();
    let mut shown = Vec::new();
    for line in lines {
        let line = line.expect("it is text");
        if line.starts_with("probity: ") && line.ends_with(" s)") && shown.is_empty() {
            shown.push(line);
            fs::write(&go, "").expect("writes");
        }
    }
    assert!(child.wait().expect("ends").success(), "{arguments:?}");
    shown.pop().unwrap_or_else(|| panic!("{arguments:?}: nothing was shown"))
}

#[test]
fn a_command_that_waits_for_git_says_what_it_does() {
    let repo = Repo::new();
    repo.run("echo x >> src/a.py").passes();
    for (arguments, words) in [
        (&["why", "src/a.py:1"][..], "looking for the origin of the line"),
        (&["review", "show", "main~0..main"], "reading the change"),
    ] {
        let shown = first_progress(&repo, arguments);
        assert!(shown.starts_with(&format!("probity: {words} (")), "{shown}");
    }
}
