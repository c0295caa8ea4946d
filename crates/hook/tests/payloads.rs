//! Golden tests on payloads as the real programs sent them, one directory for each agent and version.

use probity_hook::answer::HookAnswer;
use probity_hook::payload::{self, AgentDialect, HookEvent};
use probity_hook::process::{HookArguments, answer};
use probity_hook::tool_call::{ToolAction, tool_action};
use serde_json::{Map, Value};
use std::fs;
use std::path::{Path, PathBuf};

struct RecordedPayload {
    name: String,
    arguments: HookArguments,
    bytes: Vec<u8>,
}

fn event_of(file: &str) -> Option<HookEvent> {
    let event = file.split(['-', '.']).next()?;
    Some(match event {
        "PreToolUse" | "BeforeTool" | "preToolUse" | "tool_execute_before" => HookEvent::BeforeTool,
        "PostToolUse" | "AfterTool" | "postToolUse" | "tool_execute_after" => HookEvent::AfterTool,
        "Stop" | "agentStop" => HookEvent::Stop,
        "SessionStart" | "sessionStart" => HookEvent::SessionStart,
        _ => return None,
    })
}

/// Returns every recorded payload of an event at which the hook is installed.
fn recorded() -> Vec<RecordedPayload> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/payloads");
    let list = |dir: &Path| -> Vec<PathBuf> {
        let mut paths: Vec<_> =
            fs::read_dir(dir).expect("lists").map(|entry| entry.expect("reads").path()).collect();
        paths.sort();
        paths
    };
    let mut found = Vec::new();
    for dir in list(&top) {
        let version = dir.file_name().expect("a name").to_string_lossy().into_owned();
        let dialect: AgentDialect =
            version.split('-').next().expect("an agent").parse().expect("a known agent");
        for path in list(&dir) {
            let file = path.file_name().expect("a name").to_string_lossy().into_owned();
            let Some(event) = event_of(&file) else { continue };
            let bytes = fs::read(&path).expect("reads");
            let arguments = HookArguments { dialect, event };
            found.push(RecordedPayload { name: format!("{version}/{file}"), arguments, bytes });
        }
    }
    assert!(found.len() >= 75, "{} payloads", found.len());
    found
}

#[test]
fn every_recorded_payload_is_read() {
    for recorded in recorded() {
        let HookArguments { dialect, event } = recorded.arguments;
        let payload = payload::parse(dialect, event, &recorded.bytes);
        let payload = payload.unwrap_or_else(|why| panic!("{}: {why}", recorded.name));
        assert!(!payload.session.is_empty(), "{}", recorded.name);
        assert_eq!(payload.subagent.is_some(), recorded.name.contains("subagent"), "{}", recorded.name);
    }
}

#[test]
fn every_recorded_tool_is_known() {
    for recorded in recorded() {
        let HookArguments { dialect, event } = recorded.arguments;
        if !matches!(event, HookEvent::BeforeTool | HookEvent::AfterTool) {
            continue;
        }
        let payload = payload::parse(dialect, event, &recorded.bytes).expect("is read");
        let action = tool_action(dialect, &payload);
        let tool = payload.tool.to_lowercase();
        let is_expected = match tool.as_str() {
            "write" | "edit" | "write_file" | "replace" | "create" | "apply_patch" => {
                matches!(&action, ToolAction::Writes(paths) if !paths.is_empty())
            }
            "bash" | "run_shell_command" => matches!(&action, ToolAction::Shell { .. }),
            "read" | "read_file" | "view" => matches!(&action, ToolAction::Reads(paths) if !paths.is_empty()),
            "agent" | "task" | "invoke_agent" | "spawn_agent" | "collaborationspawn_agent" => {
                action == ToolAction::Harmless
            }
            _ => matches!(&action, ToolAction::Probity(_)),
        };
        assert!(is_expected, "{}: {action:?}", recorded.name);
    }
}

/// Makes a tree with a policy and no intent, and puts it where the payload says `/repo`.
fn in_tree(bytes: &[u8], root: &Path) -> Vec<u8> {
    let root = root.to_str().expect("text");
    String::from_utf8(bytes.to_vec())
        .expect("text")
        .replace("\"/repo", &format!("\"{root}"))
        .replace(": /repo", &format!(": {root}"))
        .into_bytes()
}

#[test]
fn writes_are_refused_in_a_governed_tree_and_everything_else_passes_in_silence() {
    let tree = tempfile::tempdir().expect("a directory");
    let root = tree.path().canonicalize().expect("a path");
    fs::create_dir(root.join(".git")).expect("creates");
    fs::write(root.join("probity.toml"), "").expect("writes");
    for recorded in recorded().iter().filter(|recorded| recorded.arguments.event == HookEvent::BeforeTool) {
        // Our plugin for OpenCode adds the directory, which the recorded callback does not have.
        let mut bytes = in_tree(&recorded.bytes, &root);
        if recorded.arguments.dialect == AgentDialect::OpenCode {
            let text = String::from_utf8(bytes).expect("text");
            bytes = text
                .replacen('{', &format!("{{\"cwd\": {:?},", root.to_str().expect("text")), 1)
                .into_bytes();
        }
        let found = answer(recorded.arguments, &bytes);
        let name = recorded.name.to_lowercase();
        let edits = ["-write", "-edit", "-replace", "-create", "-apply_patch"];
        // Some recorded command lines only read.
        let text = String::from_utf8_lossy(&recorded.bytes);
        let is_shell_write = text.contains("sed -i") || text.contains(" > ");
        let writes = edits.iter().any(|word| name.contains(word))
            || ["-bash", "-run_shell"].iter().any(|word| name.contains(word)) && is_shell_write;
        if writes {
            assert_eq!(found.exit_code, 2, "{}: {found:?}", recorded.name);
            assert!(
                found.stderr.contains("no intent of this session covers"),
                "{}: {found:?}",
                recorded.name
            );
            assert!(found.stdout.contains("deny"), "{}", recorded.name);
        } else {
            assert_eq!(found, HookAnswer::default(), "{}", recorded.name);
        }
    }
}

#[test]
fn outside_a_governed_tree_the_hook_says_nothing() {
    let tree = tempfile::tempdir().expect("a directory");
    let root = tree.path().canonicalize().expect("a path");
    for recorded in recorded() {
        let found = answer(recorded.arguments, &in_tree(&recorded.bytes, &root));
        assert_eq!(found, HookAnswer::default(), "{}", recorded.name);
    }
}

/// Damages a payload in every simple way: each member taken out or of another type, and the text cut off.
fn damaged(bytes: &[u8]) -> Vec<Vec<u8>> {
    let Ok(Value::Object(members)) = serde_json::from_slice::<Value>(bytes) else {
        panic!("a payload is an object")
    };
    let mut found = Vec::new();
    let mut push = |members: Map<String, Value>| found.push(Value::Object(members).to_string().into_bytes());
    for name in members.keys() {
        let mut without = members.clone();
        without.remove(name);
        push(without);
        for odd in [
            Value::Null,
            Value::from(7),
            Value::from("odd"),
            Value::from(vec![1, 2]),
            Value::from("x".repeat(10_000)),
            Value::Object(Map::new()),
        ] {
            let mut changed = members.clone();
            changed.insert(name.clone(), odd);
            push(changed);
        }
    }
    found.extend((1..8).map(|part| bytes[..bytes.len() * part / 8].to_vec()));
    found
}

#[test]
fn a_damaged_payload_is_refused_or_passes_in_silence() {
    let tree = tempfile::tempdir().expect("a directory");
    let root = tree.path().canonicalize().expect("a path");
    fs::create_dir(root.join(".git")).expect("creates");
    fs::write(root.join("probity.toml"), "").expect("writes");
    let mut n_damaged = 0;
    for recorded in recorded() {
        let event = recorded.arguments.event;
        // What comes before a tool and at the end of a turn starts no other program.
        if event == HookEvent::SessionStart {
            continue;
        }
        for bytes in damaged(&in_tree(&recorded.bytes, &root)) {
            n_damaged += 1;
            let found = answer(recorded.arguments, &bytes);
            let name = &recorded.name;
            match (event, found.exit_code) {
                (HookEvent::BeforeTool, 0) => assert_eq!(found, HookAnswer::default(), "{name}"),
                (HookEvent::BeforeTool, 2) => {
                    assert!(found.stdout.contains("deny"), "{name}: {found:?}");
                    assert_eq!(found.stderr.lines().count(), 1, "{name}: {found:?}");
                }
                (_, code) => {
                    assert_eq!(code, 0, "{name}: {found:?}");
                    let is_json = serde_json::from_str::<Value>(&found.stdout).is_ok();
                    assert!(found.stdout.is_empty() || is_json, "{name}: {found:?}");
                }
            }
        }
    }
    assert!(n_damaged > 3_000, "{n_damaged}");
}

#[test]
fn a_subagent_of_opencode_acts_for_the_session_that_it_began_in() {
    let read = |parent: &str| {
        let payload = format!(
            r#"{{"hook_event_name":"tool.execute.before","cwd":"/repo","tool_name":"write"{parent},
                "input":{{"tool":"write","sessionID":"ses_2","callID":"c"}},"output":{{"args":{{"filePath":"/repo/a"}}}}}}"#
        );
        let read = payload::parse(AgentDialect::OpenCode, HookEvent::BeforeTool, payload.as_bytes());
        read.map(|it| (it.session, it.subagent)).expect("is read")
    };
    assert_eq!(read(""), ("ses_2".into(), None));
    assert_eq!(read(r#","parent_session":"ses_1""#), ("ses_1".into(), Some("ses_2".into())));
}

#[test]
fn copilot_says_when_it_goes_on_after_a_stop() {
    for continued in [false, true] {
        let payload = format!(r#"{{"sessionId":"s","cwd":"/repo","stop_hook_active":{continued}}}"#);
        let read = payload::parse(AgentDialect::Copilot, HookEvent::Stop, payload.as_bytes());
        assert_eq!(read.expect("is read").is_continued_stop, continued);
    }
}
