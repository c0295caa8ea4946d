//! Probity on a real terminal: keys leave a watch, the terminal is restored, and text is wrapped.

use crate::repo::Repo;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;

/// Watches the status, types `keys` once it is shown, and returns everything shown.
fn watched(keys: &str) -> String {
    let script = format!(
        "{} status --watch; echo left $?; stty -a | grep -o -e ' -*icanon' -e ' -*echo ' -e ' -*isig'",
        env!("CARGO_BIN_EXE_probity")
    );
    on_terminal(&Repo::new(), &script, ("declares a change", keys))
}

/// Runs a shell script on a separate terminal, types `keys` once `text` is shown, and returns everything shown.
fn on_terminal(repo: &Repo, script: &str, (text, keys): (&str, &str)) -> String {
    let near = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("there are pseudo-terminals");
    grantpt(&near).expect("the terminal can be used");
    unlockpt(&near).expect("the terminal can be opened");
    let name = ptsname(&near, Vec::new()).expect("the terminal has a name");
    let far = std::ffi::OsStr::from_bytes(name.as_bytes()).to_owned();
    // Kept open until the end, so that the near end reads everything before it sees the end of file.
    let _far = OpenOptions::new().read(true).write(true).open(&far).expect("the far end opens");
    let script = format!("{script}; echo the end");
    // A separate session, whose terminal is the far end.
    let mut command = std::process::Command::new("setsid");
    command.args(["-c", "-w", "sh", "-c", &script]).current_dir(repo.path());
    // Independent of where the tests run, this terminal can be drawn on.
    command.env("TERM", "xterm");
    let end =
        || Stdio::from(OpenOptions::new().read(true).write(true).open(&far).expect("the far end opens"));
    let mut child = command.stdin(end()).stdout(end()).stderr(end()).spawn().expect("setsid starts");
    let mut terminal = File::from(near);
    let mut shown = String::new();
    let mut typed = false;
    while !shown.contains("the end") {
        let mut buffer = [0; 4096];
        let count = terminal.read(&mut buffer).expect("the terminal shows something");
        shown.push_str(&String::from_utf8_lossy(&buffer[..count]));
        if !typed && shown.contains(text) {
            terminal.write_all(keys.as_bytes()).expect("the terminal takes keys");
            typed = true;
        }
    }
    child.wait().expect("ends");
    shown
}

#[test]
fn q_escape_and_control_c_leave_the_watch_and_give_the_terminal_back() {
    for keys in ["q", "\u{1b}", "\u{3}"] {
        let shown = watched(keys);
        assert!(shown.contains("left 0"), "{keys:?}: {shown}");
        let modes = shown.split("left 0").nth(1).expect("modes").replace('\r', "");
        assert!(!modes.contains('-'), "{keys:?}: {shown}");
        // The status was drawn on the alternate screen, which is closed; the last state is printed after it.
        let (page, rest) = shown.split_once("\u{1b}[?1049l").expect("the page is left");
        assert!(page.contains("\u{1b}[?1049h") && page.contains("\u{1b}[H"), "{keys:?}: {shown}");
        assert!(rest.contains("no change is open"), "{keys:?}: {shown}");
    }
}

#[test]
fn words_are_wrapped_at_80_columns_and_commands_are_not() {
    let repo = Repo::new();
    let owner = "handle-of-ann-0123456789";
    let started = repo.ask(&["start", "src/a.py", "--intent", "a long change", "--owner", owner]);
    assert_eq!(started.json["status"], "active", "{started:#?}");
    let probity = env!("CARGO_BIN_EXE_probity");
    let script = format!(
        "stty cols 80 rows 24; {probity} start src/a.py --intent mine; {probity} run --scope src/b.py -- sh -c 'echo > new.md'"
    );
    let shown = on_terminal(&repo, &script, ("the end", ""));
    let text = anstream::adapter::strip_str(&shown).to_string();
    assert!(text.lines().any(|line| line.starts_with("            ")), "{text}");
    let is_command = |line: &str| {
        ["  expand ", "  split ", "  evidence ", "  sealed ", "probity run "]
            .iter()
            .any(|it| line.starts_with(it))
    };
    for line in text.lines().map(str::trim_end) {
        assert!(line.chars().count() <= 80 || line.contains(" in /") || is_command(line), "{line}\n{text}");
    }
    assert!(text.contains(" --add 'new.md' --why '…'"), "in one line: {text}");
}

#[test]
fn without_a_terminal_each_status_follows_a_separator() {
    let repo = Repo::new();
    let mut command = repo.probity(&["status", "--watch"]);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("declares a change")), "the first status is shown");
    assert_eq!(repo.ask(&["start", "src/a.py", "--intent", "a change"]).json["status"], "active");
    let second: Vec<String> = lines.by_ref().take(2).collect();
    assert!(second[0].starts_with("───") && second[1].ends_with("holds src/a.py"), "{second:?}");
    assert!(second.iter().all(|line| !line.contains('\u{1b}')), "{second:?}");
    child.kill().expect("ends");
    child.wait().expect("ends");
}
