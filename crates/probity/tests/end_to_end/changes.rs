//! Several agents in one tree, through the binary: the story and the tables of the contract for shared trees.

use crate::agents::{Agent, is, verdict};
use crate::repo::{Outcome, Repo};
use serde_json::{Value, json};
use std::process::Stdio;

#[test]
fn two_agents_want_one_file() {
    let repo = Repo::new();
    let (a, b) = (Agent::new(&repo, "a"), Agent::new(&repo, "b"));
    // 1. A edits.
    let intent = a.begin("src/a.py", &[]);
    repo.write("src/a.py", "print('a')\nprint('more')\n");
    // 2. B is blocked by A's intent and by the dirty tree, and leaves nothing behind.
    let blocked = b.start("src/a.py", &[]);
    assert_eq!(verdict(&blocked), is("blocked", "coordination", 2), "{blocked:#?}");
    assert_eq!(blocked.json["edit_allowed"], false);
    assert_eq!(
        blocked.json["reasons"],
        json!(["coordination", "dirty_scope", "foreign_dirty_overlap"]),
        "{blocked:#?}"
    );
    assert_eq!(blocked.json["next_step"], "coordinate_and_clean");
    assert_eq!(blocked.json["intent_id"], Value::Null);
    assert_eq!(blocked.json["workspace_hygiene"]["blocks_edit"], true);
    assert_eq!(blocked.json["blocked_by"], json!([intent]));
    // A queued intent holds nothing either.
    let queued = b.start("src/a.py", &["--queue"]);
    assert_eq!(verdict(&queued), is("queued", "coordination", 5), "{queued:#?}");
    assert_eq!(queued.json["queue_position"], 1);
    // 3. A finishes: neither the blocked start nor the queued intent is in its way.
    let finished = a.finish(&intent, &["--changed", "src/a.py"]);
    assert_eq!(verdict(&finished), is("accepted", "", 0), "{finished:#?}");
    assert_eq!(finished.json["intent_cleared"], true);
    assert_eq!(finished.json["workspace_hygiene_after"]["foreign_dirty_overlaps"], json!([]));
    assert_eq!(finished.json["workspace_hygiene_after"]["finish_block_reason"], Value::Null);
    // 4. A commits, and B can work.
    repo.sh("git add . && git commit -q -m a");
    repo.write("docs/x.md", "x\n");
    let taken = Agent::new(&repo, "c").start("src/a.py", &[]);
    assert_eq!(verdict(&taken), is("blocked", "queue_ahead", 2), "{taken:#?}");
}

#[test]
fn a_waiter_is_served_when_the_holder_has_finished() {
    let repo = Repo::new();
    let (a, b) = (Agent::new(&repo, "a"), Agent::new(&repo, "b"));
    let intent = a.begin("src/a.py", &[]);
    let mut waiting =
        repo.probity(&["start", "src/a.py", "--intent", "b", "--wait", "600", "--json", "--owner", &b.owner]);
    let waiting = waiting.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    probity_testkit::wait_until("the waiter is in the queue", || {
        repo.ask(&["status"]).json["intents"].as_array().is_some_and(|intents| intents.len() == 2)
    });
    let finished = a.finish(&intent, &["--no-receipt", "--observed"]);
    assert_eq!(finished.json["status"], "accepted", "{finished:#?}");
    let served = repo.outcome(&waiting.wait_with_output().expect("ends"));
    assert_eq!(verdict(&served), is("active", "", 0), "{served:#?}");
}

#[test]
fn a_start_has_four_answers() {
    let repo = Repo::new();
    let a = Agent::new(&repo, "a");
    let needs = a.start("src/a.py", &["--no-analyze"]);
    assert_eq!(verdict(&needs), is("needs_analysis", "no_run", 2), "{needs:#?}");
    assert_eq!((&needs.json["intent_id"], &needs.json["workspace_hygiene"]), (&Value::Null, &Value::Null));
    repo.write("src/a.py", "print('mine')\n");
    let dirty = a.start("src/a.py", &[]);
    assert_eq!(verdict(&dirty), is("blocked", "dirty_scope", 2), "{dirty:#?}");
    assert_eq!(dirty.json["next_step"], "clean_dirty_scope");
    let own = a.start("src/a.py", &["--continue-own-wip"]);
    assert_eq!(verdict(&own), is("active", "", 0), "{own:#?}");
    assert_eq!(own.json["workspace_hygiene"]["blocks_edit"], true, "a fact, whatever the policy");
    assert!(own.json["budget"].is_object() && own.json["blast_radius"].is_object(), "{own:#?}");
}

#[test]
fn the_same_start_again_is_the_same_intent() {
    let repo = Repo::new();
    let a = Agent::new(&repo, "a");
    let first = a.start("src/a.py", &["--command-id", "my-command-1"]);
    let again = a.start("src/a.py", &["--command-id", "my-command-1"]);
    assert_eq!(first.json["intent_id"], again.json["intent_id"], "{again:#?}");
    assert_eq!(again.json["idempotent_replay"], true);
    let plain = a.start("src/a.py", &[]);
    assert_eq!(plain.json["intent_id"], first.json["intent_id"], "{plain:#?}");
    let other = a.start("src/b.py", &["--command-id", "my-command-1"]);
    assert_eq!(other.exit_code, Some(2), "{other:#?}");
}

#[test]
fn wrong_words_are_named_and_change_nothing() {
    let repo = Repo::new();
    let a = Agent::new(&repo, "a");
    for (arguments, code) in [
        (&["src/*.py"][..], "SCOPE.GLOB_IN_LITERAL"),
        (&["/etc/passwd"][..], "SCOPE.ABSOLUTE"),
        (&["../x"][..], "SCOPE.LEAVES_ROOT"),
    ] {
        a.start(arguments[0], &[]).refused_with(code);
    }
    for bad in [["--ttl", "1"], ["--lease", "100000"]] {
        assert_eq!(a.start("src/a.py", &bad).exit_code, Some(2));
    }
    a.ask(&["start", "src/a.py", "--intent", "  "]).refused_with("INTENT.INVALID");
    assert_eq!(repo.ask(&["status"]).json["intents"], json!([]));
}

#[test]
fn hygiene_tells_whose_the_dirt_is() {
    let repo = Repo::new();
    let (a, b) = (Agent::new(&repo, "a"), Agent::new(&repo, "b"));
    repo.write("old.txt", "old\n");
    repo.write("edited.txt", "old\n");
    let intent = a.begin("src/a.py", &["--related", "docs/d.md"]);
    b.begin("src/b.py", &[]);
    repo.write("src/a.py", "print('a2')\n");
    repo.write("docs/d.md", "# D2\n");
    repo.write("src/b.py", "print('b2')\n");
    repo.write("edited.txt", "new\n");
    repo.write("new/deep/é \"q\".txt", "new\n");
    let missing = a.finish(&intent, &["--changed", "src/a.py", "--detail-level", "full"]);
    assert_eq!(verdict(&missing), is("unverified", "workspace_hygiene", 3), "{missing:#?}");
    let hygiene = &missing.json["workspace_hygiene_after"];
    assert_eq!(hygiene["finish_block_reason"], "missing_evidence");
    assert_eq!(hygiene["unacknowledged_dirty_in_scope"], json!(["docs/d.md"]));
    assert_eq!(hygiene["preexisting_unscoped_dirty"], json!(["old.txt"]));
    assert_eq!(hygiene["new_unattributed_unscoped_dirty"], json!(["new/deep/é \"q\".txt"]));
    assert_eq!(hygiene["modified_unattributed_unscoped_dirty"], json!(["edited.txt"]));
    assert_eq!(hygiene["unknown_unattributed_unscoped_dirty"], json!([]));
    assert_eq!(hygiene["foreign_attributed_outside_scope"], json!(["src/b.py"]));
    assert_eq!(hygiene["own_unscoped_dirty"], hygiene["unattributed_unscoped_dirty"]);
    assert_eq!(hygiene["files_for_scope_check"], json!(["src/a.py"]));
    assert_eq!(hygiene["dirty_attribution"].as_array().map(Vec::len), Some(6));
    assert_eq!(missing.json["not_reached"], json!(["scope_check", "verify", "receipt"]));
    let all = ["--changed", "src/a.py", "docs/d.md"];
    let strict = a.finish(&intent, &[&all[..], &["--strict"]].concat());
    assert_eq!(verdict(&strict), is("unverified", "workspace_hygiene", 3), "{strict:#?}");
    assert_eq!(strict.json["workspace_hygiene_after"]["finish_block_reason"], "own_unscoped_dirty");
    assert_eq!(
        strict.json["workspace_hygiene_after"]["own_unscoped_dirty"],
        json!(["edited.txt", "new/deep/é \"q\".txt"])
    );
    let finished = a.finish(&intent, &all);
    assert_eq!(verdict(&finished), is("accepted_with_external_changes", "", 0), "{finished:#?}");
    assert_eq!(finished.json["external_changes"]["count"], 4);
    assert_eq!(finished.json["scope_check"]["status"], "expanded");
    assert_eq!(finished.json["next_step"], "report_external_changes");
    assert!(finished.json["receipt"]["digest"].is_string(), "{finished:#?}");
}

#[test]
fn strict_finish_can_be_policy_and_the_policy_is_that_of_the_start() {
    let repo = Repo::new();
    repo.write("probity.toml", "[change]\nstrict = true\n");
    repo.sh("git add . && git commit -q -m policy");
    let a = Agent::new(&repo, "a");
    let intent = a.begin("docs/d.md", &[]);
    repo.write("docs/d.md", "# D2\n");
    repo.write("x.txt", "x\n");
    repo.write("probity.toml", "[workspace]\nbuild_outputs = [\"x.txt\"]\n");
    let strict = a.finish(&intent, &["--changed", "docs/d.md"]);
    assert_eq!(
        strict.json["workspace_hygiene_after"]["finish_block_reason"], "own_unscoped_dirty",
        "{strict:#?}"
    );
    assert_eq!(
        strict.json["workspace_hygiene_after"]["own_unscoped_dirty"],
        json!(["probity.toml", "x.txt"])
    );
}

#[test]
fn what_was_not_declared_violates_and_the_claim_is_kept() {
    let repo = Repo::new();
    let (a, b) = (Agent::new(&repo, "a"), Agent::new(&repo, "b"));
    let intent = a.begin("src/a.py", &["--forbid", "*.lock"]);
    repo.write("src/a.py", "print('a2')\n");
    repo.write("src/b.py", "print('b2')\n");
    let violated = a.finish(&intent, &["--changed", "src/a.py", "src/b.py"]);
    assert_eq!(verdict(&violated), is("violated", "scope_violation", 1), "{violated:#?}");
    assert_eq!(violated.json["scope_check"]["unexpected_files"], json!(["src/b.py"]));
    let words = violated.json["message"].as_str().expect("words");
    assert!(words.contains("`src/b.py`: not declared, and listed as changed"), "{words}");
    assert!(words.contains("--add 'src/b.py'"), "{words}");
    let differing = a.finish(&intent, &["--diff-ref", "HEAD"]);
    assert_eq!(verdict(&differing), is("violated", "scope_violation", 1), "{differing:#?}");
    let words = differing.json["message"].as_str().expect("words");
    assert!(words.contains("`src/b.py`: not declared, and different from `HEAD`"), "{words}");
    assert_eq!(b.start("src/a.py", &[]).json["blocked_by"], json!([intent]));
    let amended = a.ask(&["amend", "--intent", &intent, "--add", "src/b.py", "--why", "it belongs to it"]);
    assert_eq!(amended.exit_code, Some(0), "{amended:#?}");
    let finished = a.finish(&intent, &["--diff-ref", "HEAD"]);
    assert_eq!(verdict(&finished), is("accepted", "", 0), "{finished:#?}");
}

#[test]
fn an_edit_of_somebody_unknown_outside_the_scope_is_named_and_does_not_violate() {
    let repo = Repo::new();
    let a = Agent::new(&repo, "a");
    let intent = a.begin("src/a.py", &[]);
    repo.write("src/a.py", "print('a2')\n");
    // Nobody saw who made this change: a human, an editor, or the agent.
    repo.write("docs/d.md", "# by somebody\n");
    let strict = a.finish(&intent, &["--strict"]);
    assert_eq!(verdict(&strict), is("unverified", "workspace_hygiene", 3), "{strict:#?}");
    assert_eq!(strict.json["workspace_hygiene_after"]["own_unscoped_dirty"], json!(["docs/d.md"]));
    let finished = a.finish(&intent, &[]);
    assert_eq!(verdict(&finished), is("accepted_with_external_changes", "", 0), "{finished:#?}");
    assert_eq!(finished.json["external_changes"]["paths"], json!(["docs/d.md"]));
    assert_eq!(finished.json["workspace_hygiene_after"]["unattributed_unscoped_dirty"], json!(["docs/d.md"]));
}

#[test]
fn finished_work_is_to_be_committed_and_is_not_called_nobodys() {
    let repo = Repo::new();
    let a = Agent::new(&repo, "a");
    let intent = a.begin("src/a.py", &["--agent", "ann", "--related", "src/it's new.py", "docs/d.md"]);
    repo.write("src/a.py", "print('a2')\n");
    repo.write("src/it's new.py", "print('n')\n");
    repo.sh("rm docs/d.md");
    repo.write("free.txt", "somebody's\n");
    let finished = a.finish(&intent, &[]);
    assert_eq!(finished.json["status"], "accepted_with_external_changes", "{finished:#?}");
    let command = finished.json["commit_command"].as_str().expect("a command").to_owned();
    assert!(command.starts_with("git add -- src/a.py "), "{command}");
    assert!(command.contains("git commit -m 'a change' -- docs/d.md src/a.py "), "{command}");
    assert!(finished.json["message"].as_str().is_some_and(|words| words.contains(&command)), "{finished:#?}");
    let status = repo.ask(&["status"]);
    let group = &status.json["dirty"]["finished"][0];
    assert_eq!((&group["intent_id"], &group["agent"]), (&json!(intent), &json!("ann")), "{status:#?}");
    assert_eq!(group["paths"], json!(["docs/d.md", "src/a.py", "src/it's new.py"]));
    assert_eq!(status.json["dirty"]["unclaimed"]["paths"], json!(["free.txt"]));
    assert!(status.json["next_step"].as_str().is_some_and(|words| words.contains(&command)), "{status:#?}");
    // After another edit, the file is no longer what the finish saw.
    repo.write("src/a.py", "print('a3')\n");
    let later = repo.ask(&["status"]);
    assert_eq!(later.json["dirty"]["unclaimed"]["paths"], json!(["free.txt", "src/a.py"]), "{later:#?}");
    repo.write("src/a.py", "print('a2')\n");
    // The printed command commits this change, and nothing else that is staged.
    repo.sh(&format!("git add free.txt; export GIT_EDITOR='echo done >'; {command}"));
    let clean = repo.ask(&["status"]);
    assert_eq!(clean.json["dirty"]["finished"], json!([]), "{clean:#?}");
    assert_eq!(clean.json["dirty"]["unclaimed"]["paths"], json!(["free.txt"]), "{clean:#?}");
}

#[test]
fn a_plain_accepted_change_is_told_to_be_committed_until_it_is() {
    let repo = Repo::new();
    let a = Agent::new(&repo, "a");
    let intent = a.begin("src/a.py", &[]);
    repo.write("src/a.py", "print('a2')\n");
    let finished = a.finish(&intent, &[]);
    assert_eq!(
        (&finished.json["status"], &finished.json["next_step"]),
        (&json!("accepted"), &json!("commit_change"))
    );
    repo.sh("git commit -qam a");
    let intent = a.begin("src/b.py", &[]);
    repo.write("src/b.py", "print('b2')\n");
    repo.sh("git commit -qam b");
    let committed = a.finish(&intent, &[]);
    assert_eq!(
        (&committed.json["next_step"], &committed.json["commit_command"]),
        (&Value::Null, &Value::Null),
        "{committed:#?}"
    );
}

#[test]
fn a_waiter_is_not_shown_with_changes_of_the_holder() {
    let repo = Repo::new();
    let (a, b) = (Agent::new(&repo, "a"), Agent::new(&repo, "b"));
    a.begin("src/a.py", &[]);
    repo.write("src/a.py", "print('a2')\n");
    assert_eq!(b.start("src/a.py", &["--queue"]).json["status"], "queued");
    let counts: Vec<_> = repo.ask(&["status"]).json["intents"]
        .as_array()
        .expect("intents")
        .iter()
        .map(|line| {
            (line["status"].clone(), line["n_dirty"].clone(), line["owner"]["label"] == line["agent"])
        })
        .collect();
    assert_eq!(counts, [(json!("active"), json!(1), true), (json!("queued"), json!(0), true)]);
}

#[test]
fn commits_and_new_files_since_the_start_are_seen() {
    let repo = Repo::new();
    let a = Agent::new(&repo, "a");
    let intent = a.begin("src/a.py", &["--related", "src/new.py"]);
    repo.write("src/a.py", "print('a2')\n");
    repo.write("docs/d.md", "# committed\n");
    repo.sh("git add . && git commit -q -m all");
    repo.write("src/new.py", "print('new')\n");
    let missing = a.finish(&intent, &["--changed", "src/a.py"]);
    assert_eq!(
        missing.json["workspace_hygiene_after"]["unacknowledged_dirty_in_scope"],
        json!(["src/new.py"]),
        "{missing:#?}"
    );
    let strict = a.finish(&intent, &["--changed", "src/a.py", "src/new.py", "--strict"]);
    assert_eq!(
        strict.json["workspace_hygiene_after"]["own_unscoped_dirty"],
        json!(["docs/d.md"]),
        "{strict:#?}"
    );
}

#[test]
fn the_after_run_describes_the_tree_as_it_is() {
    let repo = Repo::new();
    let a = Agent::new(&repo, "a");
    let intent = a.begin("src/a.py", &[]);
    repo.write("src/a.py", "print('a2')\n");
    let none = a.finish(&intent, &["--changed", "src/a.py", "--no-analyze"]);
    assert_eq!(verdict(&none), is("unverified", "no_after_run", 3), "{none:#?}");
    assert_eq!(none.json["next_step"], "analyze_then_finish");
    let same = a.finish(&intent, &["--changed", "src/a.py", "--after-run", "last"]);
    assert_eq!(verdict(&same), is("unverified", "after_run_not_new", 3), "{same:#?}");
}

#[test]
fn somebody_else_cannot_finish_it_and_a_waiter_not_yet() {
    let repo = Repo::new();
    let (a, b) = (Agent::new(&repo, "a"), Agent::new(&repo, "b"));
    let intent = a.begin("src/a.py", &[]);
    assert_eq!(b.finish(&intent, &["--observed"]).exit_code, Some(5));
    let queued = b.start("src/a.py", &["--on-conflict", "queue"]);
    let place = queued.json["intent_id"].as_str().expect("an id").to_owned();
    let early = b.finish(&place, &["--observed"]);
    assert_eq!(verdict(&early), is("unverified", "intent_not_active", 3), "{early:#?}");
    assert_eq!(early.json["next_step"], "promote_then_finish");
}

#[test]
fn of_two_racers_one_wins() {
    let repo = Repo::new();
    repo.ask(&["start", "docs/d.md", "--intent", "makes the run"]);
    let race = |number: i32| {
        let agent = Agent::new(&repo, &format!("racer{number}"));
        let mut command =
            repo.probity(&["start", "src/a.py", "--intent", "race", "--json", "--owner", &agent.owner]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts")
    };
    let racers: Vec<_> = (0..6).map(race).collect();
    let outcomes: Vec<Outcome> =
        racers.into_iter().map(|racer| repo.outcome(&racer.wait_with_output().expect("ends"))).collect();
    let won = outcomes.iter().filter(|outcome| outcome.json["status"] == "active").count();
    assert_eq!(won, 1, "{outcomes:#?}");
}

#[test]
fn who_writes_on_after_a_takeover_cannot_finish() {
    let repo = Repo::new();
    let (a, b) = (Agent::new(&repo, "a"), Agent::new(&repo, "b"));
    // The process named as A's ends at once, so A counts as gone; its lease would lapse a minute later.
    let mut shell = std::process::Command::new("sh");
    let probity = repo.probity(&[]).get_program().to_owned();
    shell.args(["-c", r#""$0" "$@" --agent-pid $$; :"#]).arg(probity);
    shell.args(["start", "src/a.py", "--intent", "a change", "--json", "--owner", &a.owner]);
    let started = repo.outcome(&shell.current_dir(repo.path()).output().expect("starts"));
    let intent = started.json["intent_id"].as_str().expect("an id").to_owned();
    let taken = b.ask(&["intent", "recover", &intent]);
    assert_eq!(taken.exit_code, Some(0), "{taken:#?}");
    repo.write("src/a.py", "print('written after the takeover')\n");
    let late = a.finish(&intent, &["--observed"]);
    assert_eq!((late.exit_code, &late.json["reason"]), (Some(5), &json!("held_by_other")), "{late:#?}");
    let own = b.finish(&intent, &["--observed"]);
    assert_eq!((&own.json["status"], own.exit_code), (&json!("accepted"), Some(0)), "{own:#?}");
}

#[test]
fn status_and_doctor_tell_what_goes_on() {
    let repo = Repo::new();
    let (a, b) = (Agent::new(&repo, "a"), Agent::new(&repo, "b"));
    a.begin("src/a.py", &[]);
    b.start("src/a.py", &["--queue"]);
    repo.write("src/a.py", "print('x')\n");
    repo.write("free.txt", "x\n");
    let seen = a.ask(&["status"]);
    let intents = seen.json["intents"].as_array().expect("intents");
    assert_eq!(intents.len(), 2, "{seen:#?}");
    assert_eq!((&intents[0]["ownership"], &intents[1]["queue_position"]), (&json!("own_active"), &json!(1)));
    assert_eq!(seen.json["dirty"]["own"]["paths"], json!(["src/a.py"]));
    assert_eq!(seen.json["dirty"]["unclaimed"]["paths"], json!(["free.txt"]));
    let checked = repo.ask(&["doctor"]);
    assert_eq!(checked.exit_code, Some(0), "{checked:#?}");
    let names: Vec<&str> = checked.json["checks"]
        .as_array()
        .expect("checks")
        .iter()
        .filter_map(|check| check["name"].as_str())
        .collect();
    assert_eq!(
        names,
        ["git", "state", "store", "secrets", "log", "clock", "processes", "policy", "agents", "enforcement"]
    );
}

#[test]
fn a_root_below_the_top_and_another_worktree_share_the_claims() {
    let repo = Repo::new();
    let (a, b) = (Agent::new(&repo, "a"), Agent::new(&repo, "b"));
    let started = a.ask(&["start", "a.py", "--intent", "below", "--root", "src"]);
    assert_eq!(started.json["status"], "active", "{started:#?}");
    assert_eq!(b.start("src/a.py", &[]).json["reasons"], json!(["coordination"]));
    repo.write("src/a.py", "print('a2')\n");
    let intent = started.json["intent_id"].as_str().expect("an id");
    let elsewhere = a.finish(intent, &["--changed", "src/a.py"]);
    elsewhere.refused_with("INTENT.ELSEWHERE");
    let finished = a.finish(intent, &["--changed", "a.py", "--root", "src"]);
    assert_eq!(finished.json["status"], "accepted", "{finished:#?}");
    repo.sh("git add . && git commit -q -m a && git worktree add -q ../wt");
    let other = b.ask(&["start", "src/b.py", "--intent", "in the worktree", "--root", "../wt"]);
    assert_eq!(other.json["status"], "active", "{other:#?}");
    assert_eq!(a.start("src/b.py", &[]).json["reasons"], json!(["coordination"]));
    let intent = a.begin("src/a.py", &[]);
    repo.write("src/a.py", "print('a3')\n");
    repo.write("src/b.py", "not of the worktree\n");
    let finished = a.finish(&intent, &["--changed", "src/a.py", "--detail-level", "full"]);
    let hygiene = &finished.json["workspace_hygiene_after"];
    assert_eq!(hygiene["new_unattributed_unscoped_dirty"], json!(["src/b.py"]), "{finished:#?}");
}

#[test]
fn a_change_for_the_worse_is_violated_and_can_be_mended() {
    let repo = Repo::new();
    let a = Agent::new(&repo, "a");
    let intent = a.begin("src/a.py", &[]);
    repo.write("src/a.py", "def f(:\n    print('a'\n");
    let violated = a.finish(&intent, &["--changed", "src/a.py", "--claims-text", "No regressions."]);
    assert_eq!(verdict(&violated), is("violated", "structural_regressions", 1), "{violated:#?}");
    assert_eq!(violated.json["claims"]["valid"], false, "{violated:#?}");
    assert_eq!((&violated.json["intent_cleared"], &violated.json["receipt"]), (&json!(false), &Value::Null));
    repo.write("src/a.py", "print('a2')\n");
    let fixed = a.finish(&intent, &["--changed", "src/a.py"]);
    assert_eq!(verdict(&fixed), is("accepted", "", 0), "{fixed:#?}");
}

#[test]
fn what_cannot_be_compared_is_called_unknown_and_nothing_is_made_up() {
    let repo = Repo::new();
    let a = Agent::new(&repo, "a");
    let intent = a.begin("docs/d.md", &[]);
    repo.write("docs/d.md", "# D2\n");
    repo.write("x.txt", "x\n");
    repo.sh("rm -rf .git/probity/objects .git/probity/runs");
    let finished = a.finish(&intent, &["--changed", "docs/d.md", "--detail-level", "full"]);
    let hygiene = &finished.json["workspace_hygiene_after"];
    assert_eq!(hygiene["unknown_unattributed_unscoped_dirty"], json!(["x.txt"]), "{finished:#?}");
    assert_eq!(hygiene["dirty_snapshot_status"], "unreadable");
    assert_eq!(verdict(&finished), is("unverified", "start_record_missing", 3), "{finished:#?}");
}
