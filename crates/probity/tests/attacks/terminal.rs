//! Untrusted text that reaches a terminal, through every command.

use crate::command_list::working_commands;
use crate::repo::Repo;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Stdio};

/// A window title, blinking magenta, the same by a C1 control, a right-to-left override, an isolate, a zero-width space
/// and a tag character.
const HOSTILE: &str = "h\u{1b}]0;owned\u{7}\u{1b}[5;35mo\u{9b}5;35m\u{202e}\u{2066}\u{200b}\u{e0041}s";

/// The characters of [`HOSTILE`] that git and file systems take in names of branches.
const HOSTILE_NAME: &str = "h\u{202e}\u{2066}\u{200b}s";

const OWNER: &str = "handle-of-ann-0123456789";

/// What `probity run` writes itself when the command has ended.
const RESET_PREFIX: &str = "\u{18}\u{1b}\\\u{f}\u{1b}(B\u{1b}[0m\u{1b}[!p";

/// Runs a command on a terminal of its own and returns everything shown. `keys` are typed once `text` is shown; without
/// them `input` is on stdin.
fn on_terminal(command: &mut Command, input: &str, typing: Option<(&str, &str)>) -> String {
    let near = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("there are pseudo-terminals");
    grantpt(&near).expect("the terminal can be used");
    unlockpt(&near).expect("the terminal can be opened");
    let name = ptsname(&near, Vec::new()).expect("the terminal has a name");
    tcsetwinsize(&near, Winsize { ws_row: 50, ws_col: 200, ws_xpixel: 0, ws_ypixel: 0 }).expect("has a size");
    let far = || {
        let path = OsStr::from_bytes(name.as_bytes());
        Stdio::from(OpenOptions::new().read(true).write(true).open(path).expect("the far end opens"))
    };
    let stdin = if typing.is_some() { far() } else { Stdio::from(file_with(input)) };
    // Keys reach a program only on the terminal of its session.
    let mut session;
    let command = if typing.is_some() {
        session = Command::new("setsid");
        session.args(["-c", "-w"]).arg(command.get_program()).args(command.get_args());
        session.current_dir(command.get_current_dir().expect("a directory"));
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => session.env(name, value),
                None => session.env_remove(name),
            };
        }
        &mut session
    } else {
        command
    };
    command.env("TERM", "xterm").env("USER", "ann");
    let mut child = command.stdin(stdin).stdout(far()).stderr(far()).spawn().expect("probity starts");
    // The command holds copies of the far end; without ours the near end sees when the child has closed it.
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut terminal = File::from(near);
    let mut shown = Vec::new();
    let mut typing = typing;
    let mut buffer = [0; 4096];
    // The last far end to be closed is an error of the near one.
    while let Ok(count @ 1..) = terminal.read(&mut buffer) {
        shown.extend_from_slice(&buffer[..count]);
        if let Some((text, keys)) = typing
            && String::from_utf8_lossy(&shown).contains(text)
        {
            terminal.write_all(keys.as_bytes()).expect("the terminal takes keys");
            typing = None;
        }
    }
    child.wait().expect("ends");
    String::from_utf8(shown).expect("the terminal gets text")
}

fn file_with(text: &str) -> File {
    let mut file = tempfile::tempfile().expect("a file");
    file.write_all(text.as_bytes()).expect("writes");
    std::io::Seek::rewind(&mut file).expect("rewinds");
    file
}

/// Asserts that nothing of [`HOSTILE`] is raw, nor any other character that moves, hides or reorders.
fn is_harmless(what: &[&str], shown: &str) {
    for raw in ["\u{1b}]", "\u{1b}[5;35m", "\u{7}"] {
        assert!(!shown.contains(raw), "{what:?} shows {raw:?}: {shown:?}");
    }
    let is_raw =
        |character: char| !"\u{1b}\r\n\t".contains(character) && probity_core::bytes::is_deceptive(character);
    let without_reset = shown.replace(RESET_PREFIX, "");
    let raw: Vec<char> = without_reset.chars().filter(|character| is_raw(*character)).collect();
    assert!(raw.is_empty(), "{what:?} shows {raw:?}: {shown:?}");
}

/// A repository in whose every store somebody left hostile text.
fn hostile_repo() -> (Repo, Value) {
    let repo = Repo::new();
    let started = repo.ask(&[
        "start",
        "src/a.py",
        "-m",
        HOSTILE,
        "--effect",
        HOSTILE,
        "--owner",
        OWNER,
        "--agent",
        HOSTILE_NAME,
    ]);
    assert_eq!(started.json["status"], "active", "{started:#?}");
    repo.write(
        "probity.toml",
        &format!(
            "[[gate]]\nid = {}\nrun = [\"sh\", \"-c\", {}]\n",
            json!(HOSTILE),
            json!(format!("printf '%s\\n' '{HOSTILE}'; exit 1"))
        )
        // TOML has its own escape for characters beyond the first plane, and no raw control characters.
        .replace('\u{9b}', "\\u009b")
        .replace('\u{7f}', "\\u007f"),
    );
    let script = format!(
        "git checkout -q -b '{HOSTILE_NAME}'\ngit add -A\nGIT_AUTHOR_NAME='{HOSTILE}' git commit -q -m '{HOSTILE}'"
    );
    repo.sh(&script);
    repo.write(&format!("src/{HOSTILE_NAME}.py"), &format!("def f():\n    \"{HOSTILE_NAME}\"\n"));
    repo.run_with(&["--scope", "src/b.py"], "echo >> src/b.py; echo > out.txt; git tag 't\u{202e}'");
    repo.ask(&["amend", "last", "--add", "out.txt", "--why", HOSTILE, "--by", HOSTILE]);
    repo.ask(&["analyze"]);
    repo.ask(&["analyze", "baseline", "capture", "--why", HOSTILE, "--by", HOSTILE]);
    repo.ask(&["contract", "verify", "--receipt"]);
    let deltas = json!([
        { "kind": "decision_made", "handle": "db", "summary": format!("Use {HOSTILE}"), "confidence": "high" },
        { "kind": "constraint_added", "handle": "no-gpl", "summary": format!("No {HOSTILE}"), "hard": true },
        { "kind": "task_opened", "handle": HOSTILE, "summary": HOSTILE },
        { "kind": HOSTILE },
    ]);
    for stream in [&[][..], &["--stream", "night"]] {
        let file = repo.outside().join("deltas.json");
        std::fs::write(&file, deltas.to_string()).expect("writes");
        let propose =
            ["ledger", "propose", file.to_str().expect("text"), "--said", HOSTILE, "--author", HOSTILE];
        repo.ask(&[&propose[..], stream].concat());
    }
    repo.write(
        "t.schema",
        "struct Ticket {\n    title: string\n    rank: int64\n}\nattachment ticket: Ticket\n",
    );
    repo.ask(&["commits", "init", "--schema", "t.schema"]);
    let value = json!({ "title": HOSTILE, "rank": 0 }).to_string();
    let key = format!("ticket/{HOSTILE}");
    repo.ask(&["commits", "put", &key, &value, "--author", HOSTILE, "-m", HOSTILE]);
    repo.ask(&["commits", "ref", "start", "@"]);
    repo.ask(&["commits", "ref", HOSTILE_NAME, "@"]);
    let update = |title: &str| {
        let title = json!(title).to_string();
        let commit = ["commits", "update", &key, "title", &title, "--on", "start", "--author", HOSTILE];
        let answer = repo.ask(&commit);
        assert_eq!(answer.exit_code, Some(0), "{answer:#?}");
        answer.json["commit"]["id"].clone()
    };
    let (ours, theirs) = (update(&format!("{HOSTILE}1")), update(&format!("{HOSTILE}2")));
    let merged = repo.ask(&[
        "commits",
        "merge",
        ours.as_str().expect("an id"),
        theirs.as_str().expect("an id"),
        "--author",
        HOSTILE,
    ]);
    let names = json!({
        "intent": started.json["intent_id"],
        "merge": merged.json["merge"],
        "ours": ours,
        "theirs": theirs,
        "key": key,
    });
    (repo, names)
}

/// The commands whose answers, filled with hostile text, must be harmless. `@x` is a name that the repository gave.
const CASES: &[&[&str]] = &[
    &["diff", HOSTILE],
    &["discard", HOSTILE],
    &["enter", HOSTILE],
    &["hook", HOSTILE],
    &["land", HOSTILE, "--only", HOSTILE],
    &["merge", "audit", HOSTILE],
    &["merge", "audit", "HEAD", "--restore", HOSTILE, "--why", HOSTILE],
    &["amend", "last", "--add", "src/b.py", "--why", HOSTILE, "--by", HOSTILE],
    &["amend", "--intent", "@intent", "--add", HOSTILE, "--why", HOSTILE, "--owner", OWNER],
    &["analyze"],
    &["analyze", "--changed", HOSTILE],
    &["analyze", "baseline", "capture", "--why", HOSTILE, "--by", HOSTILE],
    &["analyze", "baseline", "show"],
    &["analyze", "blast", HOSTILE],
    &["ci", "--base", HOSTILE],
    &["ci", "--base", "HEAD", "--skip-gates"],
    &["lsp", HOSTILE],
    &["merge", "hook", "--remove"],
    &["review", "export", HOSTILE, "-o", "review.html"],
    &["review", "findings", HOSTILE],
    &["review", "show", "last"],
    &["review", "show", HOSTILE],
    &["review", "verify", HOSTILE],
    &["team", "accept-log", HOSTILE, "--why", HOSTILE],
    &["team", "init", "--git", HOSTILE],
    &["team", "join"],
    &["team", "landed"],
    &["team", "leave"],
    &["team", "status"],
    &["ui", "--port", HOSTILE],
    &["uninstall", "--dry-run"],
    &["why", HOSTILE],
    &["why", "src/a.py:1"],
    &["claims", "check", "--claim", HOSTILE],
    &["claims", "check", "--text", "-"],
    &["commits", "blob", HOSTILE],
    &["commits", "blob", "t.schema"],
    &["commits", "check"],
    &["commits", "diff", "@ours", "@theirs"],
    &["commits", "disable", "@ours", "-m", HOSTILE, "--author", HOSTILE],
    &["commits", "enable", "@ours", "-m", HOSTILE, "--author", HOSTILE],
    &["commits", "export", HOSTILE],
    &["commits", "flatten", "@", "--into", HOSTILE, "--author", HOSTILE],
    &["commits", "heads"],
    &["commits", "import", HOSTILE],
    &["commits", "init", "--schema", HOSTILE],
    &["commits", "log"],
    &["commits", "merge", "@ours", "@theirs", "--dry-run"],
    &["commits", "put", "@key", HOSTILE, "--author", HOSTILE],
    &["commits", "put", HOSTILE, "{}", "--author", HOSTILE],
    &["commits", "reduce", "--dry-run"],
    &["commits", "ref"],
    &["commits", "ref", HOSTILE, "@"],
    &["commits", "schema"],
    &["commits", "show", "@ours"],
    &["commits", "show", HOSTILE],
    &["commits", "state", "--why", "--document", "@key"],
    &["commits", "state"],
    &["commits", "sync", HOSTILE],
    &["commits", "update", "@key", HOSTILE, "1", "--author", HOSTILE],
    &["completions", HOSTILE],
    &["conformance", HOSTILE],
    &["contract", "budget", "--run", HOSTILE],
    &["contract", "verify"],
    &["contract", "verify", "--github"],
    &["contract", "verify", "--markdown"],
    &["contract", "verify", "--base", HOSTILE],
    &["contract", "verify", "--profile", HOSTILE],
    &["doctor"],
    &["evidence", "chain"],
    &["evidence", "export", "last"],
    &["evidence", "prove", "last"],
    &["log", "show"],
    &["log", "restart", "--why", HOSTILE, "--by", HOSTILE],
    &["log", "checkpoint"],
    &["log", "consistency", "1", "2"],
    &["log", "witness", "--key", "w.key", "--memory", "w.checkpoint"],
    &["evidence", "gc", "--older-than", HOSTILE],
    &["evidence", "list"],
    &["evidence", "show", "last"],
    &["evidence", "show", HOSTILE],
    &["evidence", "verify", "last"],
    &["evidence", "verify", HOSTILE],
    &["explain", HOSTILE],
    &["finish", "@intent", "--owner", OWNER, "--claims-text", HOSTILE],
    &["init", "--agent", HOSTILE],
    &["init", "--dry-run"],
    &["intent", "clear", HOSTILE],
    &["intent", "gc"],
    &["intent", "list"],
    &["intent", "promote", "@intent", "--owner", OWNER],
    &["intent", "recover", "@intent", "--owner", OWNER],
    &["intent", "renew", "@intent", "--owner", OWNER],
    &["intent", "reset"],
    &["intent", "show", "@intent"],
    &["intent", "show", HOSTILE],
    &["keys", "generate"],
    &["keys", "show"],
    &["ledger", "as-of", "2"],
    &["ledger", "changed", "--since", "0"],
    &["ledger", "cite", HOSTILE, "db", "--author", HOSTILE],
    &["ledger", "explain", HOSTILE],
    &["ledger", "explain", "db"],
    &["ledger", "export"],
    &["ledger", "export", "--page", "decisions"],
    &["ledger", "export", "--query", HOSTILE],
    &["ledger", "guard", HOSTILE, "--by", HOSTILE],
    &["ledger", "history", "db"],
    &["ledger", "ingest", "--user", HOSTILE],
    &["ledger", "ingest", HOSTILE],
    &["ledger", "merge", "night", "--dry-run"],
    &["ledger", "merge", HOSTILE],
    &["ledger", "propose", "--said", HOSTILE, "--author", HOSTILE],
    &["ledger", "replay", "--since", "0"],
    &["ledger", "scores"],
    &["ledger", "show", "--all"],
    &["ledger", "show", "--stream", HOSTILE],
    &["ledger", "suggest"],
    &["log"],
    &["man"],
    &["mcp", "--tools"],
    &["mcp", "--http", HOSTILE],
    &["merge", "analyze", "@merge"],
    &["merge", "decisions"],
    &["merge", "policy"],
    &["merge", "policy", "--set", "-"],
    &["merge", "reconcile", "@merge", "--all", "ours", "--why", HOSTILE, "--author", HOSTILE, "--dry-run"],
    &["plan", "--scope", "src/a.py"],
    &["plan", "--pack", HOSTILE],
    &["receipt", "list"],
    &["receipt", "show"],
    &["receipt", "verify", HOSTILE],
    &["revert", "last", "--dry-run"],
    &["run", "--scope", "src/a.py", "--", "sh", "-c", "echo >> src/a.py; echo > out.txt"],
    &["run", "-vv", "--scope", HOSTILE, "--", HOSTILE],
    &["run", "-vv", "--scope", "src/a.py", "--", HOSTILE],
    &["runs", "compare", HOSTILE],
    &["runs", "gc"],
    &["runs", "list"],
    &["runs", "show", HOSTILE],
    &["start", "src/a.py", "-m", "mine", "--agent", HOSTILE],
    &["start", HOSTILE, "-m", HOSTILE, "--agent", HOSTILE],
    &["status"],
    &["status", "-vv"],
    &["help", HOSTILE],
    &[HOSTILE],
];

/// Standard input for the commands that read it.
fn input_of(case: &[&str]) -> String {
    match case {
        ["ledger", "ingest", ..] => {
            let turn = |id: &str, text: &str| json!({ "id": id, "role": "user", "text": text }).to_string();
            format!(
                "{}\n{}\n",
                turn(HOSTILE, &format!("We decided to use {HOSTILE}. Never {HOSTILE}.")),
                turn("2", HOSTILE)
            )
        }
        ["ledger", "propose", ..] => {
            json!([{ "kind": "task_opened", "handle": HOSTILE, "summary": HOSTILE }, { "kind": HOSTILE }])
                .to_string()
        }
        ["claims", ..] => format!("No regressions. {HOSTILE} passes. All {HOSTILE} tests pass."),
        ["merge", "policy", ..] => json!({ HOSTILE: HOSTILE }).to_string(),
        _ => String::new(),
    }
}

#[test]
fn no_command_lets_text_of_others_control_the_terminal() {
    let (repo, names) = hostile_repo();
    for case in CASES {
        let words: Vec<&str> = case
            .iter()
            .map(|word| word.strip_prefix('@').and_then(|name| names[name].as_str()).unwrap_or(word))
            .collect();
        is_harmless(&words, &on_terminal(&mut repo.probity(&words), &input_of(case), None));
    }
}

#[test]
fn every_command_quotes_its_arguments_harmlessly_and_has_a_case() {
    let repo = Repo::new();
    for command in &working_commands(&|path| repo.probity(path)) {
        let path: Vec<&str> = command.split(' ').collect();
        assert!(
            CASES.iter().any(|case| case.starts_with(&path)),
            "`{command}` has no case with hostile text: add one to CASES"
        );
        for word in [HOSTILE.to_owned(), format!("--{HOSTILE}"), format!("--json={HOSTILE}")] {
            // A server or a watch would wait for its clients.
            if ["mcp"].contains(&command.as_str()) && word == HOSTILE {
                continue;
            }
            let words = [&path[..], &[word.as_str(), HOSTILE]].concat();
            is_harmless(&words, &on_terminal(&mut repo.probity(&words), "", None));
        }
    }
}

#[test]
fn a_pipe_into_a_pager_gets_no_escape_either() {
    let (repo, names) = hostile_repo();
    let intent = names["intent"].as_str().expect("an intent");
    for words in [
        &["status"][..],
        &["intent", "show", intent],
        &["intent", "show", intent, "--json"],
        &["ledger", "show", "--all"],
        &["ledger", "show", "--all", "--json"],
        &["commits", "log"],
        &["evidence", "show", "last", "--json"],
        &["evidence", "export", "last"],
    ] {
        for color in ["0", "1"] {
            let output = repo.probity(words).env("CLICOLOR_FORCE", color).output().expect("probity starts");
            is_harmless(words, &String::from_utf8_lossy(&output.stdout));
            is_harmless(words, &String::from_utf8_lossy(&output.stderr));
            if words.contains(&"--json") {
                serde_json::from_slice::<Value>(&output.stdout).expect("JSON all the same");
            }
        }
    }
}

#[test]
fn a_policy_cannot_speak_through_its_errors() {
    let repo = Repo::new();
    let key = format!("{:?}", HOSTILE.replace(['\u{9b}', '\u{7}', '\u{1b}'], "\u{202e}"));
    for policy in [
        format!("{key} = 1\n"),
        format!("[workspace]\n{key} = 1\n"),
        "[workspace]\n\"a\\u001b[5;35m\\u0007\\u202e\" = 1\n".to_owned(),
        format!("[[gate]]\nid = \"a\"\nrun = {HOSTILE}\n"),
        "[[gate]]\nid = \"\\u001b]0;x\\u0007\"\nrun = []\n".to_owned(),
    ] {
        repo.write("probity.toml", &policy);
        for words in [&["plan", "--scope", "src/a.py"][..], &["doctor"], &["analyze"]] {
            is_harmless(words, &on_terminal(&mut repo.probity(words), "", None));
        }
    }
}

#[test]
fn a_watched_status_and_a_review_show_text_of_others_harmlessly() {
    let (repo, names) = hostile_repo();
    let watched = on_terminal(&mut repo.probity(&["status", "--watch"]), "", Some(("q to quit", "q")));
    assert!(watched.contains("\u{1b}[?1049h"), "{watched:?}");
    is_harmless(&["status", "--watch"], &watched);
    let merge = names["merge"].as_str().expect("a merge");
    let words = ["merge", "reconcile", merge, "--author", "dee"];
    let reviewed = on_terminal(&mut repo.probity(&words), "", Some(("q leave", "q")));
    assert!(reviewed.contains("open: stays as merged"), "{reviewed:?}");
    is_harmless(&words, &reviewed);
}

#[test]
fn the_command_cannot_make_the_verdict_unreadable() {
    let repo = Repo::new();
    // An unfinished title swallows what follows; line drawing replaces letters; the alternate screen vanishes.
    let script = r"printf '\033(0\033[8m\033[?25l\033[?1049h\033]0;'; echo > out.txt";
    let words = ["run", "--scope", "src/a.py", "--", "sh", "-c", script];
    let shown = on_terminal(&mut repo.probity(&words), "", None);
    let (agent, after) = shown.split_once(RESET_PREFIX).expect("the terminal is reset");
    assert!(agent.contains("\u{1b}(0"), "{shown:?}");
    assert!(after.contains("FAIL"), "{shown:?}");
    for mode in ["\u{1b}[?25h", "\u{1b}[?7h", "\u{1b}[?47l", "\u{1b}[?2026l"] {
        assert!(after.contains(mode), "{mode:?}: {shown:?}");
    }
}

#[test]
fn without_a_terminal_nothing_is_reset() {
    let repo = Repo::new();
    let output =
        repo.probity(&["run", "--scope", "src/a.py", "--", "true"]).output().expect("probity starts");
    assert!(!output.stdout.contains(&0x1b) && !output.stderr.contains(&0x1b));
}
