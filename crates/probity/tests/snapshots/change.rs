//! Sharing a tree: start, finish, status, intents and their log.

use crate::client::Client;
use crate::harness::{Scene, branches, story};
use serde_json::json;

const AREA: &str = "change";

const ANN: &str = "handle-of-ann-0123456789";
const BO: &str = "handle-of-bo-0123456789";

/// Starts a change of `path` as an intermediate step; returns the intent.
fn begin(scene: &Scene, owner: &str, path: &str, more: &[&str]) -> String {
    let name = if owner == ANN { "ann" } else { "bo" };
    let mut arguments = vec!["start", path, "-m", "a change", "--owner", owner, "--agent", name];
    arguments.extend(more);
    let started = scene.ask(&arguments);
    started["intent_id"].as_str().unwrap_or_else(|| panic!("no intent: {started:#}")).to_owned()
}

/// Creates an intent on `src/b.py` whose owner was killed.
fn orphan(scene: &Scene) -> String {
    let mut client = Client::connect(scene.probity(&["mcp"]));
    let wish =
        json!({ "intent": "an orphan", "agent": "cy", "allowed_files": ["src/b.py"], "analyze": true });
    let granted = client.call("start_controlled_change", &wish).json;
    granted["intent_id"].as_str().unwrap_or_else(|| panic!("no intent: {granted:#}")).to_owned()
}

#[test]
fn start_has_four_answers() {
    story(AREA, "start", |scene| {
        scene.case("needs_analysis", &["start", "src/a.py", "-m", "x", "--owner", ANN, "--no-analyze"]);
        let full = ["start", "src/a.py", "--related", "docs/d.md", "--forbid", "*.lock", "-m", "fix a"];
        let rest = ["--effect", "a is better", "--owner", ANN, "--agent", "ann"];
        scene.case("active", &[&full[..], &rest[..]].concat());
        scene.case("new_owner", &["start", "docs/new.md", "-m", "the docs", "--agent", "cy"]);
        scene.case("blocked", &["start", "src/a.py", "-m", "mine", "--owner", BO, "--agent", "bo"]);
        scene.case("queued", &["start", "src/a.py", "-m", "mine", "--queue", "--owner", BO, "--agent", "bo"]);
        scene.case("pattern", &["start", "src/*.py", "-m", "all", "--owner", BO]);
        scene.case("no_paths", &["start", "-m", "none", "--owner", BO]);
        scene.case("no_intent", &["start", "src/b.py"]);
        scene.case("bad_handle", &["start", "src/b.py", "-m", "x", "--owner", "short"]);
        scene.case("bad_pid", &["start", "src/b.py", "-m", "x", "--owner", BO, "--agent-pid", "999999999"]);
        scene.repo.sh("echo x >> src/b.py");
        scene.case("uncommitted", &["start", "src/b.py", "-m", "more", "--owner", BO, "--agent", "bo"]);
        let own = ["start", "src/b.py", "-m", "more", "--continue-own-wip", "--owner", BO, "--agent", "bo"];
        scene.case("own_uncommitted", &own);
        let full =
            ["start", "src/c.py", "-m", "new", "--owner", BO, "--agent", "bo", "--detail-level", "full"];
        scene.case("full", &full);
    });
}

#[test]
fn finish_judges_and_releases() {
    story(AREA, "finish", |scene| {
        scene.case("nothing_to_finish", &["finish"]);
        scene.case("unknown", &["finish", "none", "--owner", ANN]);
        let intent = begin(scene, ANN, "src/a.py", &[]);
        scene.case("another_owner", &["finish", &intent, "--owner", BO]);
        scene.repo.write("src/a.py", "print('a2')\n");
        scene.case("unverified", &["finish", &intent, "--no-analyze", "--owner", ANN]);
        scene.case("not_declared", &["finish", &intent, "--changed", "src/b.py", "--owner", ANN]);
        let claims = ["--claims-text", "No regressions. Docs only.", "--owner", ANN];
        scene.case("false_claim", &[&["finish", &intent, "--keep-claim"][..], &claims].concat());
        scene.case("accepted", &["finish", &intent, "--claim", "no_regressions", "--owner", ANN]);
        scene.case("again", &["finish", &intent, "--claim", "no_regressions", "--owner", ANN]);
        scene.case("over", &["finish", &intent, "--strict", "--owner", ANN]);
        scene.repo.sh("git commit -q -a -m a2");
        let intent = begin(scene, BO, "src/b.py", &[]);
        let branches = branches(30);
        scene.repo.write("src/b.py", &format!("def f(a, b):\n{branches}    return b\n\n\nprint(f(1, 2))\n"));
        scene.repo.write("stray.txt", "stray\n");
        scene.case("worse", &["finish", &intent, "--owner", BO]);
        scene.repo.write("src/b.py", "print('b2')\n");
        scene.case("strict", &["finish", &intent, "--strict", "--owner", BO]);
        scene.case("external_changes", &["finish", &intent, "--owner", BO, "--detail-level", "full"]);
        let kept = begin(scene, ANN, "src/a.py", &[]);
        scene.case("nothing_changed", &["finish", &kept, "--owner", ANN]);
    });
}

#[test]
fn finish_runs_the_gates_of_the_policy() {
    story(AREA, "finish_gates", |scene| {
        let gate = "[[gate]]\nid = \"check\"\ntier = \"T0\"\nrun = [\"false\"]\n";
        scene.repo.write("probity.toml", gate);
        scene.repo.sh("git add . && git commit -q -m policy");
        let intent = begin(scene, ANN, "src/a.py", &[]);
        scene.repo.write("src/a.py", "print('a2')\n");
        scene.case("fail", &["finish", &intent, "--owner", ANN]);
        scene.case("skipping_refused", &["finish", &intent, "--skip-gates", "--no-receipt", "--owner", ANN]);
        scene.repo.write("probity.toml", &format!("{gate}[change]\nallow_skip_gates = true\n"));
        scene.repo.sh("git add probity.toml && git commit -q -m skippable");
        scene.repo.ask(&["intent", "clear", &intent, "--owner", ANN]);
        scene.repo.sh("git checkout -q src/a.py");
        let intent = begin(scene, ANN, "src/a.py", &[]);
        scene.repo.write("src/a.py", "print('a2')\n");
        scene.case("skipped", &["finish", &intent, "--skip-gates", "--no-receipt", "--owner", ANN]);
    });
}

#[test]
fn status_shows_who_holds_what() {
    story(AREA, "status", |scene| {
        scene.case("empty", &["status"]);
        begin(scene, ANN, "src/a.py", &[]);
        scene.case("held", &["status"]);
        scene.case("own", &["status", "--owner", ANN]);
        begin(scene, BO, "src/a.py", &["--queue"]);
        scene.repo.sh("echo x >> src/a.py; echo y > stray.txt; git rm -q --cached docs/d.md");
        scene.case("queued_and_uncommitted", &["status", "--owner", BO]);
        let outside = scene.repo.outside().join("plain");
        std::fs::create_dir(&outside).expect("creates");
        scene.case_in(&outside, "without_git", &["status"], "");
    });
}

#[test]
fn status_tells_what_can_be_recovered() {
    story(AREA, "status_orphan", |scene| {
        orphan(scene);
        scene.case("recoverable", &["status"]);
    });
}

#[test]
fn intents_are_listed_shown_renewed_and_cleared() {
    story(AREA, "intent", |scene| {
        scene.case("list_empty", &["intent", "list"]);
        scene.case("show_unknown", &["intent", "show", "none"]);
        let held = begin(scene, ANN, "src/a.py", &[]);
        let queued = begin(scene, BO, "src/a.py", &["--queue"]);
        scene.case("list", &["intent", "list"]);
        scene.case("show", &["intent", "show", &held, "--owner", ANN]);
        scene.case("show_queued", &["intent", "show", &queued]);
        scene.case("promote_too_early", &["intent", "promote", &queued, "--owner", BO]);
        scene.case("promote_of_another", &["intent", "promote", &queued, "--owner", ANN]);
        scene.case("renew", &["intent", "renew", &held, "--lease", "600", "--owner", ANN]);
        scene.case("renew_of_another", &["intent", "renew", &held, "--owner", BO]);
        scene.case("renew_without_owner", &["intent", "renew", &held]);
        scene.case("recover_alive", &["intent", "recover", &held, "--owner", BO]);
        scene.case("clear_of_another", &["intent", "clear", &held, "--owner", BO]);
        let amend = ["amend", "--intent", &held, "--add", "src/c.py", "--why", "a helper", "--owner", ANN];
        scene.case("amend", &amend);
        let pattern = ["amend", "--intent", &held, "--add", "src/**", "--why", "all", "--owner", ANN];
        scene.case("amend_pattern", &pattern);
        let other = ["amend", "--intent", &held, "--add", "src/d.py", "--why", "it", "--owner", BO];
        scene.case("amend_of_another", &other);
        scene.case("clear", &["intent", "clear", &held, "--owner", ANN]);
        scene.case("clear_again", &["intent", "clear", &held, "--owner", ANN]);
        scene.case("promote", &["intent", "promote", &queued, "--owner", BO]);
        scene.case("reset", &["intent", "reset", "--owner", BO]);
        scene.case("list_all", &["intent", "list", "--all", "--owner", BO]);
        scene.case("gc", &["intent", "gc"]);
        scene.case("gc_closed", &["intent", "gc", "--retention", "0"]);
    });
}

#[test]
fn an_orphan_is_recovered_or_closed() {
    story(AREA, "orphan", |scene| {
        let intent = orphan(scene);
        scene.case("list", &["intent", "list"]);
        scene.case("finish_before_recovery", &["finish", &intent, "--owner", BO]);
        scene.case("recover", &["intent", "recover", &intent, "--owner", BO]);
        scene.case("recover_own", &["intent", "recover", &intent, "--owner", BO]);
        scene.case("reset_without_owner", &["intent", "reset"]);
    });
}

#[test]
fn log_tells_every_event() {
    story(AREA, "log", |scene| {
        scene.case("empty", &["log"]);
        let intent = begin(scene, ANN, "src/a.py", &[]);
        begin(scene, BO, "src/a.py", &["--queue"]);
        scene.repo.write("src/a.py", "print('a2')\n");
        scene.ask(&["finish", &intent, "--owner", ANN]);
        scene.case("all", &["log"]);
        scene.case("after", &["log", "--after", "1", "--limit", "1"]);
        scene.case("bad_number", &["log", "--after", "first"]);
    });
}
