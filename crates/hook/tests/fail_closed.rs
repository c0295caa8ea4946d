//! The process itself: bad input, many at once, a termination signal, random payloads.

use probity_hook::payload::{AgentDialect, HookEvent};
use probity_hook::process::{HookArguments, answer};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

const HOOK: &str = env!("CARGO_BIN_EXE_probity-hook");

fn governed() -> (tempfile::TempDir, PathBuf) {
    let tree = tempfile::tempdir().expect("a directory");
    let root = tree.path().canonicalize().expect("a path");
    fs::create_dir(root.join(".git")).expect("creates");
    fs::write(root.join("probity.toml"), "").expect("writes");
    (tree, root)
}

fn start(agent: &str, event: &str) -> Child {
    Command::new(HOOK)
        .args([agent, event])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts")
}

fn call(agent: &str, event: &str, input: &[u8]) -> Output {
    in_time(|| {
        let mut child = start(agent, event);
        // A hook that refuses early may not read its input.
        let _ = child.stdin.take().expect("piped").write_all(input);
        child.wait_with_output().expect("ends")
    })
}

/// Calls the hook until it answers by itself: on a busy machine its deadline may refuse in its place.
fn in_time(call: impl Fn() -> Output) -> Output {
    let is_late = |output: &Output| {
        let words = [&output.stdout[..], &output.stderr].concat();
        String::from_utf8_lossy(&words).contains("it took too long")
    };
    probity_testkit::wait_for("the hook answers before its deadline", || {
        Some(call()).filter(|output| !is_late(output))
    })
}

fn write_payload(root: &Path, path: &str) -> Vec<u8> {
    json!({
        "session_id": "s", "cwd": root, "hook_event_name": "PreToolUse", "tool_name": "Write",
        "tool_input": {"file_path": root.join(path), "content": ""},
    })
    .to_string()
    .into_bytes()
}

#[test]
fn bad_input_is_refused_before_a_tool_and_silent_elsewhere() {
    let huge = vec![b' '; 8 * 1024 * 1024 + 2];
    let cases: [&[u8]; 7] = [
        b"",
        b"not json",
        b"[]",
        b"{}",
        br#"{"hook_event_name":"NewEvent","tool_name":"Write"}"#,
        b"{\"a\":",
        &huge,
    ];
    for agent in AgentDialect::WORDS {
        for input in cases {
            let refused = call(agent, "before", input);
            assert_eq!(refused.status.code(), Some(2), "{agent}");
            assert!(serde_json::from_slice::<Value>(&refused.stdout).is_ok(), "{agent}");
            assert_eq!(String::from_utf8_lossy(&refused.stderr).lines().count(), 1, "{agent}");
            for event in ["after", "stop", "session"] {
                let silent = call(agent, event, input);
                assert_eq!((silent.status.code(), silent.stdout.len()), (Some(0), 0), "{agent} {event}");
            }
        }
    }
}

#[test]
fn a_wrong_argument_refuses() {
    for words in [&[][..], &["nobody"], &["claude", "sometimes"], &["claude", "before", "more"]] {
        let output = Command::new(HOOK).args(words).stdin(Stdio::null()).output().expect("runs");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{words:?}");
    }
}

/// Returns an edit in the words of an agent.
fn edit_in(dialect: AgentDialect, root: &Path, path: &str) -> Vec<u8> {
    let file = root.join(path);
    let event = HookEvent::BeforeTool.name_in(dialect).unwrap_or_default();
    let payload = match dialect {
        AgentDialect::Copilot => json!({
            "sessionId": "s", "cwd": root, "toolName": "create", "toolArgs": {"path": file, "file_text": ""},
        }),
        AgentDialect::OpenCode => json!({
            "hook_event_name": event, "cwd": root, "tool_name": "write",
            "input": {"tool": "write", "sessionID": "s"}, "output": {"args": {"filePath": file}},
        }),
        AgentDialect::Codex => json!({
            "session_id": "s", "cwd": root, "hook_event_name": event, "tool_name": "apply_patch",
            "tool_input": {"command": format!(
                "*** Begin Patch\n*** Add File: {}\n+x\n*** End Patch\n", file.display()
            )},
        }),
        AgentDialect::Gemini | AgentDialect::Qwen => json!({
            "session_id": "s", "cwd": root, "hook_event_name": event, "tool_name": "write_file",
            "tool_input": {"file_path": file, "content": ""},
        }),
        AgentDialect::Claude | AgentDialect::Cursor => json!({
            "session_id": "s", "cwd": root, "hook_event_name": event, "tool_name": "Write",
            "tool_input": {"file_path": file, "content": ""},
        }),
    };
    payload.to_string().into_bytes()
}

#[test]
fn a_hundred_at_once_all_decide() {
    let (_tree, root) = governed();
    let each = 100_usize.div_ceil(AgentDialect::ALL.len());
    let children: Vec<(AgentDialect, Child)> = (0..each)
        .flat_map(|_| AgentDialect::ALL.iter().copied())
        .map(|dialect| {
            let mut child = start(dialect.as_str(), "before");
            let payload = edit_in(dialect, &root, "a.txt");
            child.stdin.take().expect("piped").write_all(&payload).expect("writes");
            (dialect, child)
        })
        .collect();
    assert!(children.len() >= 100);
    for (dialect, child) in children {
        let output = child.wait_with_output().expect("ends");
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{dialect}: {words}");
        // On a busy machine the deadline may end a call; it refuses, too.
        assert!(words.contains("no intent") || words.contains("took too long"), "{dialect}: {words}");
        assert!(serde_json::from_slice::<Value>(&output.stdout).is_ok(), "{dialect}");
    }
}

#[test]
fn an_input_that_never_ends_is_refused_at_the_deadline() {
    let child = start("gemini", "before");
    // Standard input stays open: only the watchdog can answer.
    let mut child = child;
    let input = child.stdin.take();
    let output = child.wait_with_output().expect("ends");
    drop(input);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stdout).contains("\"deny\""));
}

#[test]
fn a_damaged_snapshot_refuses() {
    let (_tree, root) = governed();
    fs::create_dir_all(root.join(".git/probity")).expect("creates");
    fs::write(root.join(".git/probity/guard.json"), "{\"schema\":").expect("writes");
    let output = call("claude", "before", &write_payload(&root, "a.txt"));
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("snapshot cannot be read"));
}

/// Edit tools of agents and of other servers do not lead around the guard either.
#[test]
fn other_tools_cannot_disarm_the_guard() {
    let (_tree, root) = governed();
    let settings = root.join(".claude/settings.json");
    fs::create_dir(root.join("links")).expect("creates");
    std::os::unix::fs::symlink(&settings, root.join("links/harmless.txt")).expect("links");
    for (tool, input) in [
        ("Write", json!({"file_path": settings, "content": "{}"})),
        ("Write", json!({"file_path": root.join("links/harmless.txt"), "content": "{}"})),
        ("Edit", json!({"file_path": root.join("src/../.mcp.json"), "old_string": "a", "new_string": "b"})),
        ("mcp__filesystem__write_file", json!({"path": settings, "content": "{}"})),
        ("mcp__filesystem__edit_file", json!({"path": ".codex/hooks.json", "edits": []})),
        ("mcp__filesystem__move_file", json!({"source": settings, "destination": "/tmp/off"})),
        ("Write", json!({"file_path": HOOK, "content": ""})),
    ] {
        let payload = json!({
            "session_id": "s", "cwd": root, "hook_event_name": "PreToolUse", "tool_name": tool,
            "tool_input": input,
        });
        let output = call("claude", "before", payload.to_string().as_bytes());
        assert_eq!(output.status.code(), Some(2), "{payload}");
    }
}

#[test]
fn a_session_outside_of_governed_trees_is_left_alone() {
    let tree = tempfile::tempdir().expect("a directory");
    fs::create_dir(tree.path().join(".git")).expect("creates");
    let home = std::env::var("HOME").unwrap_or_default();
    for command in [
        "rm -rf .claude".to_owned(),
        "echo x > a.txt".to_owned(),
        format!("echo '{{}}' > {home}/.claude/settings.json"),
        "this is ( not a command".to_owned(),
    ] {
        let payload = json!({
            "session_id": "s", "cwd": tree.path(), "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": {"command": command},
        });
        let output = call("claude", "before", payload.to_string().as_bytes());
        assert_eq!(
            (output.status.code(), output.stdout.len(), output.stderr.len()),
            (Some(0), 0, 0),
            "{command}"
        );
    }
}

/// An answer binds the session to the intents whose owner's handle it shows. Names alone do not: a blocked start names the
/// intent that stands in its way.
#[test]
fn an_answer_that_names_the_intent_of_another_binds_nothing() {
    let (_tree, root) = governed();
    fs::create_dir_all(root.join(".git/probity")).expect("creates");
    let intent = |id: &str, agent: &str, file: &str, handle: &str| {
        json!({
            "intent_id": id, "agent": agent, "owner": probity_guard::handle_digest(handle),
            "scope": {"allowed_files": [file], "allowed_related": [], "forbidden": []},
            "is_active": true, "started_at": 4_000_000_000_u64, "expires_at": 5_000_000_000_u64,
        })
    };
    let mut snapshot = json!(probity_guard::GuardSnapshot::new(probity_guard::GuardRules::default()));
    let (ann, own) = ("owner-00000000000000000000000000000001", "owner-00000000000000000000000000000002");
    snapshot["intents"] = json!([
        intent("intent-of-ann", "ann", "a.txt", ann),
        intent("intent-of-bob", "bob", "b.txt", "owner-00000000000000000000000000000003"),
        intent("own-intent", "eve", "c.txt", own),
    ]);
    fs::write(root.join(".git/probity").join(probity_guard::GUARD_FILE), snapshot.to_string())
        .expect("writes");
    let after = |tool: &str, input: Value, response: Value| {
        let payload = json!({
            "session_id": "s", "cwd": root, "hook_event_name": "PostToolUse", "tool_name": tool,
            "tool_input": input, "tool_response": response,
        });
        call("claude", "after", payload.to_string().as_bytes())
    };
    let writes = |path: &str| call("claude", "before", &write_payload(&root, path)).status.code();
    let start = "mcp__probity__start_controlled_change";
    let blocked = json!({"status": "blocked", "intent_id": null, "owner": own, "blocked_by": [{"intent_id": "intent-of-ann"}]});
    after(start, json!({}), json!([{"type": "text", "text": blocked.to_string()}]));
    after(
        "Bash",
        json!({"command": "probity start c.txt -m x; probity status"}),
        json!({"stdout": "intent-of-ann intent-of-bob"}),
    );
    for path in ["a.txt", "b.txt", "c.txt"] {
        assert_eq!(writes(path), Some(2), "{path}");
    }
    let told =
        format!("active\n  intent    own-intent\n  owner     {own}  stored for this intent\nintent-of-ann");
    after("Bash", json!({"command": "probity start c.txt -m x; probity status"}), json!({"stdout": told}));
    assert_eq!([writes("a.txt"), writes("b.txt"), writes("c.txt")], [Some(2), Some(2), Some(0)]);
}

#[test]
fn attempts_to_disarm_the_guard_are_refused() {
    let (_tree, root) = governed();
    for dir in [".claude", ".codex", ".gemini", ".git/probity"] {
        fs::create_dir_all(root.join(dir)).expect("creates");
    }
    // Everything else passes, so that only the guarded files refuse.
    let mut snapshot = json!(probity_guard::GuardSnapshot::new(probity_guard::GuardRules::default()));
    snapshot["rules"]["without_intent"] = "allow".into();
    fs::write(root.join(".git/probity").join(probity_guard::GUARD_FILE), snapshot.to_string())
        .expect("writes");
    let commands = [
        "echo '{}' > .claude/settings.json",
        "echo '{\"disableAllHooks\":true}' > .claude/settings.local.json",
        "cp /dev/null ~/.claude/settings.json",
        "rm -rf .claude",
        "mv .claude /tmp/x",
        "sed -i s/deny/allow/ probity.toml",
        "rm -rf .git/probity",
        "rm .git/probity/guard.json",
        "cd .git && rm -r probity",
        "for f in .claude/settings.json .codex/hooks.json; do [ -f $f ] && echo '{}' > $f; done",
        "bash -c 'echo {} > .claude/settings.json'",
        "cat > .claude/settings.json <<EOF\n{}\nEOF",
        "tee .codex/hooks.json < /dev/null",
        "git checkout -- .claude/settings.json",
        "ln -sf /dev/null .claude/settings.json",
        "find .claude -name '*.json' -delete",
        "truncate -s 0 ~/.codex/config.toml",
        "printf x >> .git/hooks/pre-commit",
        "D=.claude; echo '{}' > $D/settings.json",
        "echo e30= | base64 -d > .claude/settings.json",
        "cp /tmp/x .claude/settings.local.json",
        "install -m 644 /dev/null .codex/hooks.json",
        "dd if=/dev/null of=.gemini/settings.json",
        "perl -i -pe 's/deny/allow/' probity.toml",
        "sed -i.bak s/hooks/x/ .claude/settings.json",
        "jq '.hooks={}' .claude/settings.json | sponge .claude/settings.json",
        "git checkout HEAD~1 -- .claude/settings.json",
        "rsync -a /tmp/x/ .claude/",
        "tar -xf x.tar -C .claude",
        "unzip -o x.zip -d .claude",
        "patch .claude/settings.json < x.diff",
        "printf '%s' .claude/settings.json | xargs rm",
        "env -S 'rm .claude/settings.json'",
        "nohup rm .mcp.json &",
        "timeout 5 rm .mcp.json",
        "cat x > >(tee .mcp.json)",
        "rm .{claude,codex}/settings.json",
        "x=.mcp; rm ${x}.json",
        "f() { rm \"$1\"; }; f .mcp.json",
        "sh -c 'rm \"$1\"' _ .mcp.json",
        "rm opencode-probity.js",
        "ln -s .claude c && echo '{}' > c/settings.json",
        "ln .mcp.json innocent.txt",
        "echo '{}' > .Claude/Settings.json",
        "cd \"$(git rev-parse --show-toplevel)\" && echo '{}' > .claude/settings.json",
        "echo '{}' > ~+/.claude/settings.json",
        "awk 'BEGIN { print \"{}\" > \".claude/settings.json\" }'",
        "sed -n '$!d;w .claude/settings.json' /dev/null",
        "alias w='tee .claude/settings.json'\necho '{}' | w",
        ". <(echo 'rm .mcp.json')",
        "probity init --agent claude --uninstall",
        "claude mcp remove probity",
        "codex mcp add other -- true",
        "git config core.hooksPath /dev/null",
        "git -C . config alias.st '!rm .mcp.json'",
        "mount --bind /tmp .claude",
        "env HOME=/tmp unlink .mcp.json",
        "cpio -idm -D .claude < x.cpio",
        "ln -s .claude c && rm c/settings.json; rm .claude/settings.json",
    ];
    let programs = [
        format!("cp /bin/true {HOOK}"),
        format!("ln -sf /bin/true {HOOK}"),
        format!("mv {HOOK} /tmp/off"),
        format!("chmod -x {HOOK}"),
        format!("rm -rf {}", Path::new(HOOK).parent().expect("a directory").display()),
    ];
    for command in commands.iter().copied().chain(programs.iter().map(String::as_str)) {
        let payload = json!({
            "session_id": "s", "cwd": root, "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": {"command": command},
        });
        let output = call("claude", "before", payload.to_string().as_bytes());
        assert_eq!(output.status.code(), Some(2), "{command}");
        let reason = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(reason.contains("agents may not write it"), "{command}: {reason}");
    }
}

/// Calls the hook as it is called below a governed run.
fn call_in_run(guard: &str, event: &str, payload: &[u8]) -> Output {
    in_time(|| {
        let mut child = Command::new(HOOK)
            .args(["claude", event])
            .env("PROBITY_RUN_GUARD", guard)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("starts");
        let _ = child.stdin.take().expect("piped").write_all(payload);
        child.wait_with_output().expect("ends")
    })
}

#[test]
fn below_a_governed_run_the_sealed_scope_decides() {
    let (_tree, root) = governed();
    let guard = json!({
        "schema": "probity/run-guard/v1", "run_id": "run-1", "top": root, "prefix": "", "scope": ["a.txt"],
        "is_view": true,
        "rules": {"without_intent": "deny", "subagents": "parent", "build_outputs": [], "protected": []},
    })
    .to_string();
    let inside = call_in_run(&guard, "before", &write_payload(&root, "a.txt"));
    assert_eq!((inside.status.code(), inside.stdout.len()), (Some(0), 0));
    let outside = call_in_run(&guard, "before", &write_payload(&root, "b.txt"));
    assert_eq!(outside.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&outside.stderr).contains("outside the sealed scope of run run-1"));
    let session = json!({"session_id": "s", "cwd": root, "hook_event_name": "SessionStart"}).to_string();
    let told = call_in_run(&guard, "session", session.as_bytes());
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(told.contains("Only this may change: a.txt"), "{told}");
    for damaged in ["", "{}", "no json"] {
        let refused = call_in_run(damaged, "before", &write_payload(&root, "a.txt"));
        assert_eq!(refused.status.code(), Some(2), "{damaged:?}");
    }
}

#[test]
fn a_bare_interpreter_is_refused_where_keystrokes_bypass_hooks() {
    let (_tree, root) = governed();
    for (command, is_refused) in [
        ("bash --norc", true),
        ("python3", true),
        ("sh -i", true),
        ("bash -c 'ls'", false),
        ("python3 --version", false),
    ] {
        for (agent, applies) in [("codex", true), ("claude", false)] {
            let payload = json!({
                "session_id": "s", "cwd": root, "hook_event_name": "PreToolUse", "tool_name": "Bash",
                "tool_input": {"command": command},
            });
            let output = call(agent, "before", payload.to_string().as_bytes());
            let expected = if is_refused && applies { 2 } else { 0 };
            assert_eq!(output.status.code(), Some(expected), "{agent}: {command}");
        }
    }
}

#[test]
fn a_program_that_the_hook_cannot_see_through_is_noted_and_told_once() {
    let (_tree, root) = governed();
    let event = |event: &str, name: &str, agent: Option<&str>, command: &str| {
        let mut payload = json!({
            "session_id": "s", "cwd": root, "hook_event_name": name, "tool_name": "Bash",
            "tool_input": {"command": command}, "tool_response": {"stdout": ""},
        });
        if let Some(agent) = agent {
            payload["agent_id"] = agent.into();
        }
        let output = call("claude", event, payload.to_string().as_bytes());
        assert_eq!(output.status.code(), Some(0), "{command}");
        String::from_utf8(output.stdout).expect("is text")
    };
    let before = |agent, command| event("before", "PreToolUse", agent, command);
    let after = |agent, command| event("after", "PostToolUse", agent, command);
    assert_eq!(before(None, "cargo test | tail -3"), "");
    assert_eq!(after(None, "cargo test | tail -3"), "");
    assert_eq!(before(None, "python3 -c 'print(1)'"), "");
    let told = after(None, "python3 -c 'print(1)'");
    assert!(told.contains("what python3 wrote passed no hook"), "{told}");
    assert_eq!(before(None, "python3 -c 'print(2)'"), "");
    assert_eq!(after(None, "python3 -c 'print(2)'"), "", "it is told once");
    // What a sub-agent runs counts for its parent, too.
    assert_eq!(before(Some("sub"), "./build.sh"), "");
    let told = after(None, "ls");
    assert!(told.contains("what ./build.sh, python3 wrote"), "{told}");
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[ -~]{0,20}".prop_map(Value::from),
        "\\PC{0,10}".prop_map(Value::from),
        Just(Value::from("rm -rf $(cat <<'E'\nx\nE\n) > \"a")),
        Just(Value::from("*** Begin Patch\n*** Update File: a\n")),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(member_name(), inner, 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn member_name() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("tool_name".to_owned()),
        Just("tool_input".to_owned()),
        Just("toolArgs".to_owned()),
        Just("command".to_owned()),
        Just("file_path".to_owned()),
        Just("path".to_owned()),
        Just("cwd".to_owned()),
        Just("session_id".to_owned()),
        "[a-zA-Z_]{1,8}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_payload_is_refused_or_passes_in_silence(
        mut value in any_json(),
        dialect in prop::sample::select(AgentDialect::ALL),
        event in prop::sample::select(HookEvent::ALL),
        tool in prop::sample::select(vec!["Bash", "Write", "apply_patch", "shell", "mcp__x__write", "Odd"]),
        is_shaped in any::<bool>(),
    ) {
        if is_shaped && let Value::Object(members) = &mut value {
            members.insert("hook_event_name".into(), event.name_in(dialect).unwrap_or("none").into());
            for name in ["tool_name", "toolName"] {
                members.insert(name.into(), tool.into());
            }
            members.insert("cwd".into(), "/nowhere".into());
        }
        let found = answer(HookArguments { dialect, event }, value.to_string().as_bytes());
        match found.exit_code {
            // The script around the hook refuses what passes with words.
            0 if event == HookEvent::BeforeTool => prop_assert!(found.stdout.is_empty()),
            0 => prop_assert!(found.stdout.is_empty() || serde_json::from_str::<Value>(&found.stdout).is_ok()),
            code => {
                prop_assert_eq!(code, 2);
                prop_assert_eq!(event, HookEvent::BeforeTool);
                prop_assert!(serde_json::from_str::<Value>(&found.stdout).is_ok());
                prop_assert_eq!(found.stderr.lines().count(), 1);
            }
        }
    }

    #[test]
    fn any_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let arguments = HookArguments { dialect: AgentDialect::Claude, event: HookEvent::BeforeTool };
        prop_assert_eq!(answer(arguments, &bytes).exit_code, 2);
    }

    #[test]
    fn any_command_line_is_understood_or_refused(
        program in prop::sample::select(vec!["", "sed '", "awk '", "awk 'BEGIN { print ", "find . | xargs ", "alias a=", "ln -s a b; "]),
        rest in "[a-z <>|&;(){}$'\"`\\\\\n#=*/~-]{0,60}",
    ) {
        struct NoWorld;
        impl probity_guard::shell::ShellWorld for NoWorld {
            fn home(&self) -> &'static str { "/home/u" }
            fn is_directory(&self, _: &str) -> bool { false }
        }
        let _ = probity_guard::shell::effects(&(program.to_owned() + &rest), "/repo", &NoWorld);
    }
}
