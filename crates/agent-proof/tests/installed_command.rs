//! The command that `probity init` installs, run by the shells that agents start: only silence and exit code 0 pass.

use probity_api::govern::setup::CodingAgent;
use probity_changes::agents::{HookProgram, RegistrationWish, register};
use probity_workspace::Workspace;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Shells that people use; agents may start the user's own.
const SHELLS: [&str; 5] = ["/bin/sh", "bash", "dash", "zsh", "fish"];

fn installed_command(program: &Path) -> String {
    let tree = tempfile::tempdir().expect("a directory");
    let workspace = Workspace::find(Some(tree.path()), tree.path()).expect("is found");
    let hook = HookProgram::small(program);
    register(&workspace, CodingAgent::Claude, &hook, RegistrationWish::Register, false).expect("registers");
    let text = fs::read(tree.path().join(".claude/settings.json")).expect("reads");
    let settings: Value = serde_json::from_slice(&text).expect("is JSON");
    let command = &settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"];
    command.as_str().expect("a command").to_owned()
}

/// Runs the installed command with a script in the place of the hook; `None` without that shell.
fn run(shell: &str, script: Option<&str>) -> Option<Output> {
    // A name that has to be quoted.
    let dir = tempfile::Builder::new().prefix("pro bity$").tempdir().expect("a directory");
    let program = dir.path().join("probity-hook");
    if let Some(script) = script {
        fs::write(&program, format!("#!/bin/sh\ncat > /dev/null\n{script}\n")).expect("writes");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("is set");
    }
    let mut command = Command::new(shell);
    command.arg("-c").arg(installed_command(&program)).stdin(Stdio::null());
    command.output().ok()
}

#[test]
fn only_silence_passes() {
    let mut n_shells = 0;
    for shell in SHELLS {
        let Some(passed) = run(shell, Some("exit 0")) else {
            println!("skipped: {shell} is not installed");
            continue;
        };
        n_shells += 1;
        let silence = (Some(0), &b""[..], &b""[..]);
        assert_eq!((passed.status.code(), &passed.stdout[..], &passed.stderr[..]), silence, "{shell}");
        let denial = r#"printf '{"a":"\\n %s"}'; echo 'why not' >&2; exit 2"#;
        let denied = run(shell, Some(denial)).expect("runs");
        assert_eq!(denied.status.code(), Some(2), "{shell}");
        assert_eq!(denied.stdout, br#"{"a":"\n "}"#, "{shell}");
        assert_eq!(denied.stderr, b"why not\n", "{shell}");
        for (failure, script) in [
            ("crash", Some("exit 1")),
            ("other code", Some("exit 77")),
            ("kill", Some("kill -KILL $$")),
            ("missing", None),
            ("text", Some("echo this is no answer")),
            ("allow", Some("echo '{\"decision\":\"allow\"}'")),
        ] {
            let refused = run(shell, script).expect("runs");
            let words = String::from_utf8_lossy(&refused.stderr).into_owned();
            assert_eq!(refused.status.code(), Some(2), "{shell}, {failure}: {words}");
            assert!(words.contains("did not answer; refused"), "{shell}, {failure}: {words}");
            assert!(refused.stdout.is_empty(), "{shell}, {failure}");
        }
    }
    assert!(n_shells > 0);
}
