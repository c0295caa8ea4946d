//! The hook follows the registry: start, amend and finish decide what an agent may write.

use crate::repo::Repo;
use serde_json::{Value, json};
use std::io::Write as _;
use std::process::{Output, Stdio};

/// Asks the hook until it answers by itself: on a busy machine its deadline may refuse in its place.
fn call(repo: &Repo, event: &str, payload: &Value) -> Output {
    probity_testkit::wait_for("the hook answers before its deadline", || {
        let output = call_once(repo, event, payload);
        let is_late = String::from_utf8_lossy(&output.stderr).contains("it took too long");
        (!is_late).then_some(output)
    })
}

fn call_once(repo: &Repo, event: &str, payload: &Value) -> Output {
    let mut command = repo.probity(&["hook", "claude", event]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("starts");
    child.stdin.take().expect("piped").write_all(payload.to_string().as_bytes()).expect("writes");
    child.wait_with_output().expect("ends")
}

fn payload(repo: &Repo, session: &str, tool: &str, input: &Value) -> Value {
    json!({
        "session_id": session, "cwd": repo.path(), "hook_event_name": "PreToolUse", "tool_name": tool,
        "tool_input": input,
    })
}

/// Returns the exit code and the line for the agent.
fn shell(repo: &Repo, session: &str, command: &str) -> (i32, String) {
    let output = call(repo, "before", &payload(repo, session, "Bash", &json!({ "command": command })));
    (output.status.code().expect("exits"), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Starts an intent and tells the hook that `session` did, as an agent's shell would.
fn start(repo: &Repo, session: &str, agent: &str, path: &str) -> String {
    let started = repo.ask(&["start", path, "--intent", "a change", "--agent", agent]);
    let intent_id = started.json["intent_id"].as_str().expect("an intent").to_owned();
    let mut after = payload(repo, session, "Bash", &json!({ "command": "probity start x" }));
    after["hook_event_name"] = "PostToolUse".into();
    let owner = started.json["owner"].as_str().expect("a handle");
    let told = format!("active\n  intent    {intent_id}\n  owner     {owner}  stored for this intent");
    after["tool_response"] = json!({ "stdout": told });
    assert_eq!(call(repo, "after", &after).status.code(), Some(0));
    intent_id
}

#[test]
fn start_amend_and_finish_decide_what_passes() {
    let repo = Repo::new();
    repo.ask(&["init", "--agent", "claude"]);
    repo.sh("git add -A && git commit -qm probity");
    assert_eq!(shell(&repo, "s1", "echo x >> src/a.py").0, 2);
    let intent = start(&repo, "s1", "ann", "src/a.py");
    assert_eq!(shell(&repo, "s1", "echo x >> src/a.py"), (0, String::new()));
    let (code, why) = shell(&repo, "s1", "echo x >> docs/d.md");
    assert!(code == 2 && why.contains("amend") && why.contains(&intent), "{why}");
    let (code, why) = shell(&repo, "s2", "echo x >> src/a.py");
    assert!(code == 2 && why.contains("held by ann"), "{why}");
    repo.ask(&["amend", "--intent", &intent, "--add", "docs/d.md", "--why", "it belongs to it"]);
    assert_eq!(shell(&repo, "s1", "echo x >> docs/d.md").0, 0);
    repo.sh("echo '# x' >> src/a.py");
    let finished = repo.ask(&["finish", &intent]);
    assert_eq!(finished.json["enforcement"], "hook_held", "{}", finished.json);
    assert_eq!(shell(&repo, "s1", "echo x >> src/a.py").0, 2, "the intent is closed");
}

#[test]
fn programs_that_the_hook_could_not_see_through_are_named_by_finish_and_receipt() {
    let repo = Repo::new();
    repo.ask(&["init", "--agent", "claude"]);
    repo.sh("git add -A && git commit -qm probity");
    let intent = start(&repo, "s1", "ann", "src/a.py");
    let write = "python3 -c \"open('src/a.py', 'a').write('# x\\n')\"";
    assert_eq!(shell(&repo, "s1", write), (0, String::new()));
    assert_eq!(shell(&repo, "s2", "./scripts/other.sh"), (0, String::new()), "another session");
    repo.sh("echo '# x' >> src/a.py");
    let finished = repo.ask(&["finish", &intent]);
    assert_eq!(finished.json["enforcement"], "hook_held", "{}", finished.json);
    assert_eq!(finished.json["unproven_programs"], json!(["python3"]), "{}", finished.json);
    let shown = repo.ask(&["receipt", "show"]);
    assert_eq!(shown.json["receipt"]["unproven_programs"], json!(["python3"]), "{}", shown.json);
}

#[test]
fn a_guard_that_was_disarmed_is_named_at_the_finish() {
    let repo = Repo::new();
    repo.ask(&["init", "--agent", "claude"]);
    repo.sh("git add -A && git commit -qm probity");
    let intent = start(&repo, "s1", "ann", "src/a.py");
    // A program that the hook cannot see through.
    repo.sh("echo '{}' > .claude/settings.json; echo '# x' >> src/a.py");
    let finished = repo.ask(&["finish", &intent]);
    assert_eq!(finished.json["enforcement"], "hook_broken", "{}", finished.json);
}

#[test]
fn taking_probity_out_leaves_the_bytes_as_they_were() {
    let repo = Repo::new();
    let settings = "{\"permissions\":{\"allow\":[\"Bash(ls)\"]},\n\t\"hooks\": {\"PreToolUse\":[ ]}}";
    repo.write(".claude/settings.json", settings);
    repo.write(".mcp.json", "{ \"mcpServers\" : {\"x\":{\"command\":\"y\"}} }");
    for _ in 0..2 {
        repo.ask(&["init", "--agent", "claude"]);
    }
    let changed = std::fs::read_to_string(repo.path().join(".claude/settings.json")).expect("is there");
    assert!(changed.contains("mcp__probity") && changed.contains("Bash(ls)"), "{changed}");
    repo.ask(&["init", "--agent", "claude", "--uninstall"]);
    let restored = std::fs::read_to_string(repo.path().join(".claude/settings.json")).expect("is there");
    assert_eq!(restored, settings);
    let servers = std::fs::read_to_string(repo.path().join(".mcp.json")).expect("is there");
    assert_eq!(servers, "{ \"mcpServers\" : {\"x\":{\"command\":\"y\"}} }");
    assert!(!repo.path().join("CLAUDE.md").exists());
}
