//! Setup: a policy, agents, the doctor, the server's tools.

use crate::harness::story;

const AREA: &str = "setup";

#[test]
fn init_writes_a_policy_that_fits() {
    story(AREA, "init", |scene| {
        scene.case("dry_run", &["init", "--dry-run"]);
        scene.case("policy", &["init"]);
        scene.case("again", &["init"]);
    });
}

#[test]
fn init_sets_up_agents() {
    for agent in ["claude", "codex", "copilot", "cursor", "gemini", "opencode", "qwen"] {
        story(AREA, "init_agent", |scene| {
            scene.case(&format!("{agent}_dry_run"), &["init", "--agent", agent, "--dry-run"]);
            scene.case(agent, &["init", "--agent", agent]);
            scene.case(&format!("{agent}_again"), &["init", "--agent", agent]);
            scene.case(&format!("{agent}_uninstall"), &["init", "--agent", agent, "--uninstall"]);
            scene.case(&format!("{agent}_uninstall_again"), &["init", "--agent", agent, "--uninstall"]);
        });
    }
    story(AREA, "init_agent", |scene| {
        scene.case("unknown", &["init", "--agent", "nobody"]);
        scene.repo.write(".mcp.json", "nonsense");
        scene.case("damaged_configuration", &["init", "--agent", "claude"]);
        scene.case("managed_of_another", &["init", "--agent", "codex", "--managed", "--dry-run"]);
    });
}

#[test]
fn the_hook_refuses_in_the_words_of_the_agent() {
    story(AREA, "hook", |scene| {
        scene.repo.write("probity.toml", "");
        let root = scene.repo.path();
        let payload = format!(
            "{{\"session_id\": \"s\", \"cwd\": {root:?}, \"hook_event_name\": \"PreToolUse\", \"tool_name\": \"Write\", \
             \"tool_input\": {{\"file_path\": \"src/a.py\", \"content\": \"\"}}}}"
        );
        scene.case_with_input("undeclared", &["hook", "claude", "before"], &payload);
        scene.ask(&["start", "src/a.py", "--intent", "one line", "--agent", "ann"]);
        scene.case_with_input("declared", &["hook", "claude"], &payload);
        scene.case_with_input("unreadable", &["hook", "gemini", "before"], "no JSON");
    });
}

#[test]
fn a_team_shares_claims() {
    story(AREA, "team", |scene| {
        scene.case("none", &["team", "status"]);
        scene.case("leave_none", &["team", "leave"]);
        scene.case("join_none", &["team", "join"]);
        scene.repo.sh("git clone -q --bare . ../remote.git; git remote add origin ../remote.git");
        scene.case("init_unsafe", &["team", "init", "--git", "http://example.org/repository.git"]);
        scene.case("init", &["team", "init", "--git", "origin"]);
        scene.case("init_again", &["team", "init", "--git", "origin"]);
        scene.repo.sh("git add probity.toml; git commit -qm team");
        scene.ask(&["start", "src/a.py", "--intent", "one line", "--agent", "ann", "--task", "issue-911"]);
        scene.case("task_taken", &["start", "src/b.py", "--intent", "the same", "--task", "issue-911"]);
        scene.case("status", &["team", "status"]);
        scene.case("accept_log_unknown", &["team", "accept-log", "3f2a91c0", "--why", "disk failure"]);
        scene.case("leave_busy", &["team", "leave"]);
        scene.repo.sh("mv ../remote.git ../away.git");
        scene.case("unreachable", &["team", "status"]);
        scene.case("start_unreachable", &["start", "src/b.py", "--intent", "another"]);
        scene.case("start_offline", &["start", "src/b.py", "--intent", "another", "--offline"]);
        scene.case("status_offline", &["status"]);
        scene.repo.sh("mv ../away.git ../remote.git");
        scene.ask(&["intent", "gc"]);
        scene.repo.sh("rm -rf .git/probity");
        scene.case("not_joined", &["start", "src/b.py", "--intent", "another"]);
        scene.case("join", &["team", "join"]);
        scene.case("leave", &["team", "leave"]);
    });
}

#[test]
fn a_team_keeps_its_clones_coherent() {
    story(AREA, "coherence", |scene| {
        scene.case("offline_alone", &["start", "src/a.py", "--intent", "one line", "--offline"]);
        scene.case("landed_none", &["team", "landed"]);
        scene
            .repo
            .sh("git clone -q --bare . ../remote.git; git remote add origin ../remote.git; git fetch -q");
        scene.ask(&["team", "init", "--git", "origin", "--line", "main"]);
        scene.repo.sh(
            "echo 'overlap = \"announce\"' >> probity.toml; git add probity.toml; git commit -qm team; \
             git push -q origin HEAD:main; for name in second third; do git clone -q -b main ../remote.git ../$name; done",
        );
        let [second, third] = ["second", "third"].map(|name| scene.repo.outside().join(name));
        for root in [&scene.repo.path(), &second, &third] {
            let joined = scene.probity(&["team", "join"]).current_dir(root).output().expect("starts");
            assert!(joined.status.success(), "{joined:?}");
        }
        scene.ask(&["start", "src/a.py", "--intent", "one line", "--agent", "ann"]);
        let start = |intent| ["start", "src/a.py", "--intent", intent, "--agent", "bo"];
        scene.case_in(&second, "announced", &start("the same"), "");
        scene.repo.write("src/a.py", "x = 12\n");
        scene.case("finish", &["finish", "--agent", "ann"]);
        scene.case("status_landing", &["status"]);
        scene.case("landed_waiting", &["team", "landed"]);
        scene.repo.sh("git commit -qam a; git push -q origin HEAD:main");
        scene.case("landed", &["team", "landed"]);
        std::fs::write(second.join("src/a.py"), "x = 22\n").expect("writes");
        scene.case_in(&second, "base_moved", &["finish", "--agent", "bo"], "");
        scene.case_in(&third, "stale_base", &start("again"), "");
    });
}

#[test]
fn doctor_checks_the_setup() {
    story(AREA, "doctor", |scene| {
        scene.case("sound", &["doctor"]);
        scene.ask(&["init", "--agent", "claude"]);
        scene.ask(&["run", "--scope", "src/a.py", "--", "true"]);
        scene.case("used", &["doctor"]);
        scene.case("agent", &["doctor", "--agent", "claude"]);
        scene.case("agent_missing", &["doctor", "--agent", "codex"]);
        scene.repo.write("probity.toml", "gate = 1\n");
        scene.case("bad_policy", &["doctor"]);
        let outside = scene.repo.outside().join("plain");
        std::fs::create_dir(&outside).expect("creates");
        scene.case_in(&outside, "without_git", &["doctor"], "");
    });
}

#[test]
fn the_tools_of_the_server_are_listed() {
    story(AREA, "mcp", |scene| {
        scene.case("tools", &["mcp", "--tools"]);
        scene.case("closed_at_once", &["mcp"]);
        scene.case("bad_port", &["mcp", "--http", "high"]);
    });
}

#[test]
fn the_server_for_editors_ends_with_its_editor() {
    story(AREA, "lsp", |scene| {
        scene.case("closed_at_once", &["lsp"]);
    });
}

#[test]
fn uninstall_leaves_what_init_found() {
    story(AREA, "uninstall", |scene| {
        scene.case("nothing", &["uninstall", "--purge"]);
        scene.ask(&["init", "--agent", "claude"]);
        scene.case("dry_run", &["uninstall", "--purge", "--dry-run"]);
        scene.case("agents", &["uninstall"]);
        scene.ask(&["run", "--scope", "src/a.py", "--", "sh", "-c", "echo b >> src/b.py"]);
        scene.case("held", &["uninstall", "--purge"]);
    });
}

#[test]
fn conformance_vectors_are_run() {
    story(AREA, "conformance", |scene| {
        let vectors = crate::repo_file("conformance/profile");
        let vectors = vectors.to_str().expect("text");
        scene.case("directory", &["conformance", vectors]);
        scene.case("missing", &["conformance", "none"]);
        scene
            .repo
            .write("v.json", r#"{"id": "v", "kind": "nonsense", "about": "x", "given": {}, "expect": {}}"#);
        scene.case("unknown_kind", &["conformance", "v.json"]);
        scene.repo.write("bad.json", "nonsense");
        scene.case("no_json", &["conformance", "bad.json"]);
    });
}
