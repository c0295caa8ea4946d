//! The experience of newcomers who follow the README: every answer says what happened and what to do next.

use crate::agents::{is, verdict};
use crate::repo::{Outcome, Repo, has};
use serde_json::json;

/// Returns everything that a person sees: answer and diagnostics.
fn shown(repo: &Repo, arguments: &[&str]) -> String {
    let output = repo.probity(arguments).output().expect("probity starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

fn begin(repo: &Repo, path: &str) -> String {
    let started = repo.ask(&["start", path, "--intent", "a change"]);
    assert_eq!(started.json["status"], "active", "{started:#?}");
    started.json["intent_id"].as_str().expect("an id").to_owned()
}

fn next_step(outcome: &Outcome) -> &str {
    outcome.json["next_step"].as_str().expect("a next step")
}

/// Runs the commands in a revert's notes in order, as a person would copy them.
fn follow_ref_notes(repo: &Repo, reverted: &Outcome) {
    for note in reverted.json["refs"].as_array().expect("notes") {
        repo.sh(note["command"].as_str().unwrap_or_else(|| panic!("no command: {note:#}")));
    }
}

#[test]
fn a_finish_that_is_typed_twice_says_that_it_was_done() {
    let repo = Repo::new();
    let intent = begin(&repo, "src/a.py");
    repo.write("src/a.py", "print('a2')\n");
    assert_eq!(verdict(&repo.ask(&["finish"])), is("accepted", "", 0));
    for again in [&["finish"][..], &["finish", &intent]] {
        let outcome = repo.ask(again);
        assert_eq!(verdict(&outcome), is("accepted", "", 0), "{outcome:#?}");
        assert_eq!(outcome.json["idempotent_replay"], true);
    }
    assert!(shown(&repo, &["finish"]).contains("this change was already finished"));
    // A different finish is not a replay: the message says when the change was finished.
    let other = repo.ask(&["finish", &intent, "--strict"]);
    other.refused_with("wrong_status");
    let message = other.json["message"].as_str().expect("words");
    assert!(message.contains("was finished already (20"), "{message}");
    assert!(next_step(&other).contains("probity start"), "{}", next_step(&other));
    // The next start removes the stored handle.
    begin(&repo, "src/b.py");
    repo.ask(&["finish", &intent]).refused_with("wrong_status");
}

#[test]
fn nobody_is_told_to_touch_the_files_of_a_run_at_work() {
    let repo = Repo::new();
    repo.write("docs/d.md", "uncommitted\n");
    let script = format!("echo x >> src/a.py; {} status --json > ../status", env!("CARGO_BIN_EXE_probity"));
    repo.run(&script).passes();
    let status = std::fs::read(repo.outside().join("status")).expect("it was written");
    let status: serde_json::Value = serde_json::from_slice(&status).expect("it is JSON");
    let next = status["next_step"].as_str().expect("a next step");
    assert!(next.contains("works in this tree: leave its files alone"), "{next}");
    assert!(!next.contains("stash"), "{next}");
    let ended = repo.ask(&["status"]);
    assert!(next_step(&ended).contains("git add -- src/a.py"), "once it has ended: {ended:#?}");
}

#[test]
fn a_commit_of_the_run_is_taken_back_by_the_commands_that_revert_names() {
    let scripts = [
        "echo x >> docs/d.md; git commit -q -a -m more",
        "echo x >> docs/d.md; git commit -q -a -m more; git branch feature",
        "git checkout -q -b work; echo x >> docs/d.md; git commit -q -a -m more",
        "echo x >> docs/d.md; git commit -q -a -m more; git checkout -q -b work",
        "git checkout -q --detach; echo x >> docs/d.md; git commit -q -a -m more",
    ];
    for script in scripts {
        let repo = Repo::new();
        repo.sh("git for-each-ref > ../before; git symbolic-ref HEAD >> ../before");
        repo.run(script).is_out(&["docs/d.md"]);
        follow_ref_notes(&repo, &repo.ask(&["revert", "last"]));
        repo.sh("git for-each-ref > ../after; git symbolic-ref HEAD >> ../after; diff ../before ../after");
        repo.sh("git diff --quiet HEAD");
    }
}

#[test]
fn a_commit_without_what_was_undone_is_not_taken_back() {
    let repo = Repo::new();
    repo.run("echo x >> src/a.py; git commit -q -a -m more; echo x > stray").is_out(&["stray"]);
    let note = repo.ask(&["revert", "last"]).json["refs"][0].clone();
    assert_eq!(note["command"], json!(null), "{note:#}");
    let detail = note["detail"].as_str().expect("words");
    assert!(detail.ends_with("nothing of what is undone was committed there"), "{detail}");
}

#[test]
fn the_first_commit_of_a_repository_is_taken_back_too() {
    let repo = Repo::new();
    repo.sh("rm -rf .git; git init -q -b main");
    let all_but_docs = ["--scope", "**", "--scope", "!docs/**"];
    repo.run_with(&all_but_docs, "echo x >> docs/d.md; git add .; git commit -q -m first")
        .is_out(&["docs/d.md"]);
    follow_ref_notes(&repo, &repo.ask(&["revert", "last"]));
    repo.sh("[ -z \"$(git for-each-ref)\" ]; [ \"$(git symbolic-ref HEAD)\" = refs/heads/main ]");
}

#[test]
fn a_path_that_was_not_declared_is_not_shown_as_in_scope() {
    let repo = Repo::new();
    begin(&repo, "src/a.py");
    repo.sh("echo x >> src/a.py; echo x >> docs/d.md");
    let text = shown(&repo, &["finish", "--changed", "src/a.py", "docs/d.md"]);
    assert!(text.contains("~ src/a.py  in scope") && text.contains("undeclared docs/d.md"), "{text}");
    assert!(!text.contains("docs/d.md  in scope"), "{text}");
}

#[test]
fn a_wait_that_ran_out_is_told_what_to_do_next() {
    let repo = Repo::new();
    begin(&repo, "src/a.py");
    let waited = repo.ask(&["start", "src/a.py", "--intent", "mine", "--agent", "bo", "--wait", "0"]);
    assert_eq!(waited.json["status"], "queued", "{waited:#?}");
    let message = waited.json["message"].as_str().expect("words");
    let id = waited.json["intent_id"].as_str().expect("an id");
    let promote =
        message.split('`').find(|part| part.starts_with("probity intent promote ")).expect("a command");
    assert!(id.starts_with(promote.rsplit(' ').next().expect("an id")), "{message}");
}

#[test]
fn an_interrupted_run_cannot_be_reverted_and_says_what_to_do() {
    let repo = Repo::new();
    let mut command =
        repo.probity(&["run", "--scope", "src/a.py", "--", "sh", "-c", "echo x >> docs/d.md; kill -9 $PPID"]);
    assert!(!command.status().expect("starts").success());
    repo.wait_for_silence();
    repo.run("true").passes();
    let runs = repo.ask(&["evidence", "list"]).json["runs"].clone();
    let interrupted = runs[0]["run_id"].as_str().expect("an id").to_owned();
    let reverted = repo.ask(&["revert", &interrupted]);
    reverted.refused_with("RUN.INTERRUPTED");
    assert!(next_step(&reverted).contains("git diff"), "{}", next_step(&reverted));
}

#[test]
fn evidence_tells_new_and_deleted_branches_from_moved_ones() {
    let repo = Repo::new();
    repo.sh("git branch old");
    repo.run("git branch new; git branch -q -D old; git commit -q --allow-empty -m more").passes();
    let text = shown(&repo, &["evidence", "show", "last"]);
    for part in ["new branch new at ", "branch old deleted (was at ", "branch main moved "] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
}

#[test]
fn the_revert_that_undid_something_is_the_one_that_is_named() {
    let repo = Repo::new();
    repo.run("echo x >> docs/d.md; echo x > payload").is_out(&["docs/d.md", "payload"]);
    let first = repo.ask(&["revert", "last"]).evidence_dir();
    let second = repo.ask(&["revert", "last"]).evidence_dir();
    assert_ne!(first, second);
    let reverted_by = repo.ask(&["evidence", "show", "last"]).json["reverted_by"]["run_id"].clone();
    assert_eq!(reverted_by, json!(first.file_name().and_then(|name| name.to_str()).expect("an id")));
}

#[test]
fn a_reset_does_not_keep_the_intent_of_a_dead_process_alive() {
    let repo = Repo::new();
    // The shell is the agent: it starts a change and ends.
    let script = format!(
        "{} start src/a.py --intent x --agent-pid $$ --json > ../started",
        env!("CARGO_BIN_EXE_probity")
    );
    repo.sh(&format!("{script}; true"));
    let before = repo.ask(&["log"]).json["events"].as_array().map(Vec::len);
    let reset = repo.ask(&["intent", "reset"]);
    let entry = &reset.json["intents"][0];
    assert_eq!(
        (&entry["action"], &entry["reason"]),
        (&json!("rejected"), &json!("held_by_other")),
        "{reset:#?}"
    );
    let next = entry["next_step"].as_str().expect("words");
    assert!(next.contains("probity intent recover") && next.contains("probity intent clear"), "{next}");
    assert_eq!(repo.ask(&["log"]).json["events"].as_array().map(Vec::len), before, "nothing was renewed");
}

#[test]
fn a_budget_does_not_deny_the_gates_of_the_policy() {
    let repo = Repo::new();
    repo.write("probity.toml", "[[gate]]\nid = \"test\"\ncommand = [\"true\"]\n");
    let text = shown(&repo, &["contract", "budget"]);
    assert!(text.contains("no limit is set: `[analysis.gates]` in probity.toml sets them"), "{text}");
    assert!(!text.contains("none in the policy"), "{text}");
}

#[test]
fn the_three_ways_are_shown_however_many_paths_there_are() {
    let repo = Repo::new();
    let failed = repo.run("for d in p q r s t u v; do mkdir $d; echo 1 > $d/f.md; done");
    let ways = failed.json["next_steps"].as_array().expect("ways");
    let way = |name: &str| {
        let found =
            ways.iter().find(|way| way["way"] == name).unwrap_or_else(|| panic!("no {name}: {ways:#?}"));
        found["command"].as_str().expect("a command").to_owned()
    };
    assert!(way("suggest").contains("plan --suggest-from"));
    assert!(way("expand").contains("--add PATTERN --why"), "{}", way("expand"));
    assert!(way("revert").contains("probity revert "));
    assert!(way("split").contains("--scope PATTERN"), "{}", way("split"));
}

#[test]
fn a_failure_is_told_in_words_with_its_code() {
    let repo = Repo::new();
    let output = repo
        .probity(&["run", "--scope", "src/a.py", "--", "sh", "-c", "echo x >> docs/d.md; false"])
        .output()
        .expect("starts");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        text.contains("\nFAIL a changed path is outside the sealed scope RECON.UNTRACKED_DELTA\n"),
        "{text}"
    );
    assert!(
        text.contains("  also      the command failed: its exit code is not 0 RUN.COMMAND_FAILED\n"),
        "{text}"
    );
}

#[test]
fn a_placeholder_is_no_reason() {
    let repo = Repo::new();
    repo.run("echo x >> docs/d.md").is_out(&["docs/d.md"]);
    let bundles = || repo.ask(&["evidence", "list"]).json["runs"].as_array().map(Vec::len);
    let before = bundles();
    let intent = begin(&repo, "src/b.py");
    for why in ["", " ", "…", "...", "-"] {
        let run = repo.ask(&["amend", "last", "--add", "docs/d.md", "--why", why]);
        run.refused_with("AMEND.INCOMPLETE");
        assert!(next_step(&run).contains("in words"), "{}", next_step(&run));
        let change = ["amend", "--intent", &intent, "--add", "docs/d.md", "--why", why];
        repo.ask(&change).refused_with("AMEND.INCOMPLETE");
    }
    assert_eq!(bundles(), before, "nothing got on the record");
}

/// Makes a virtual environment and a cache as Python tools do, without ignore rules.
const MAKE_OUTPUTS: &str = "mkdir -p venv/lib/site-packages venv/bin .ruff_cache; \
    printf 'home = /usr/bin\\n' > venv/pyvenv.cfg; echo x > venv/lib/site-packages/lib.py; ln -s /usr/bin/env venv/bin/python; \
    printf 'Signature: 8a477f597d28d172789f06886806bc55\\n' > .ruff_cache/CACHEDIR.TAG; echo x > .ruff_cache/x";

fn recognizing_repo() -> Repo {
    let repo = Repo::new();
    repo.write("probity.toml", "[workspace]\nrecognize_outputs = true\n");
    repo.sh("git add . && git commit -q -m policy");
    repo
}

#[test]
fn recognized_build_outputs_are_no_changes_of_a_shared_tree() {
    let repo = recognizing_repo();
    repo.sh(MAKE_OUTPUTS);
    assert_eq!(repo.ask(&["status"]).json["dirty"]["count"], 0);
    let verified = repo.ask(&["contract", "verify", "--allow", "src/a.py"]);
    assert_eq!(verified.json["status"], "accepted", "{verified:#?}");
    begin(&repo, "src/a.py");
    repo.sh("echo 'x = 1' >> src/a.py; echo y > venv/lib/site-packages/more.py; echo y > .ruff_cache/x");
    assert_eq!(verdict(&repo.ask(&["finish", "--strict"])), is("accepted", "", 0));
}

#[test]
fn outputs_that_appear_during_a_change_are_recognized_too() {
    let repo = recognizing_repo();
    begin(&repo, "src/a.py");
    repo.sh(&format!("echo 'x = 1' >> src/a.py; {MAKE_OUTPUTS}"));
    assert_eq!(verdict(&repo.ask(&["finish", "--strict"])), is("accepted", "", 0));
}

#[test]
fn a_marker_hides_neither_a_source_directory_nor_what_was_there_before() {
    let repo = recognizing_repo();
    repo.sh("mkdir env; echo x > env/mine.txt");
    begin(&repo, "src/a.py");
    repo.sh("echo 'x = 1' >> src/a.py; printf 'home = /usr\\n' > env/pyvenv.cfg; echo y > env/mine.txt");
    repo.sh("mkdir -p src/evil; cp env/pyvenv.cfg src/evil; echo evil > src/evil/x.txt");
    let finished = repo.ask(&["finish", "--strict"]);
    assert_eq!(finished.json["status"], "unverified", "{finished:#?}");
    let hygiene = finished.json["workspace_hygiene_after"].to_string();
    assert!(hygiene.contains("env/mine.txt") && hygiene.contains("src/evil/x.txt"), "{hygiene}");
}

#[test]
fn a_proposed_scope_counts_no_build_outputs() {
    let repo = Repo::new();
    repo.sh("mkdir -p venv/lib/core core; for n in 1 2 3 4; do echo x > venv/lib/core/$n.py; done; echo x > lib.py");
    repo.sh("printf 'home = /usr/bin\\n' > venv/pyvenv.cfg; mkdir -p pkg/core; echo x > pkg/core/a.py; git add pkg");
    let refused = repo.run_with(&["--scope", "core/*.py"], "true");
    refused.refused_with("SCOPE.COVERS_NOTHING");
    let message = refused.json["message"].as_str().expect("words");
    assert!(message.contains("did you mean `pkg/core/*.py` (1 file)?"), "{message}");
}

#[test]
fn a_finish_that_is_repeated_shows_the_same_changes_outside() {
    let repo = Repo::new();
    begin(&repo, "src/a.py");
    repo.sh("echo 'x = 1' >> src/a.py; echo x >> docs/d.md");
    let lines = |text: &str| -> Vec<String> {
        text.lines().filter(|line| line.contains("outside ")).map(ToOwned::to_owned).collect()
    };
    let first = lines(&shown(&repo, &["finish"]));
    assert!(first.iter().any(|line| line.contains("docs/d.md")), "{first:?}");
    assert_eq!(lines(&shown(&repo, &["finish"])), first);
}

#[test]
fn a_pattern_among_literal_paths_is_refused_and_pointed_to_its_place() {
    let repo = Repo::new();
    let refusals = [
        repo.ask(&["contract", "verify", "--allow", "src/**"]),
        repo.ask(&["contract", "verify", "--allow", "src/a.py", "--related", "docs/*"]),
        repo.ask(&["start", "src/*.py", "--intent", "x"]),
    ];
    for refused in refusals {
        refused.refused_with("SCOPE.GLOB_IN_LITERAL");
        assert!(next_step(&refused).contains("`--scope` of a run"), "{}", next_step(&refused));
    }
    // A file that is really called so can be named.
    repo.sh("echo x > 'src/*'; git add . && git commit -q -m odd");
    assert_eq!(repo.ask(&["contract", "verify", "--allow", "src/*"]).exit_code, Some(0));
    let intent = begin(&repo, "src/a.py");
    assert_eq!(
        repo.ask(&["amend", "--intent", &intent, "--add", "src/*", "--why", "it is odd"]).exit_code,
        Some(0)
    );
}

#[test]
fn a_gate_that_cannot_start_is_told_once_and_not_blamed_on_the_change() {
    let repo = Repo::new();
    repo.write("probity.toml", "[[gate]]\nid = \"test\"\nrun = [\"no-such-program\"]\n");
    repo.sh("git add . && git commit -q -m policy");
    let failed = repo.run("echo 'x = 1' >> src/a.py");
    failed.fails_with("GATE.NOT_STARTED");
    assert_eq!(failed.json["reasons"], json!(["GATE.NOT_STARTED"]));
    assert_eq!(failed.words.matches("program no-such-program not found").count(), 1, "{}", failed.words);
    repo.sh("git checkout -q .");
    begin(&repo, "src/a.py");
    repo.sh("echo 'x = 1' >> src/a.py");
    let finished = repo.ask(&["finish"]);
    assert_eq!(verdict(&finished), is("violated", "gate_failures", 1));
    let message = finished.json["message"].as_str().expect("words");
    assert!(message.contains("gate `test` could not start: install its program"), "{message}");
    assert_eq!(finished.json["failed_gates"][0]["started"], false);
    assert!(shown(&repo, &["finish"]).contains("test could not start: program no-such-program not found"));
}

#[test]
fn a_split_begins_with_the_revert() {
    let repo = Repo::new();
    let failed = repo.run("echo x >> docs/d.md");
    let ways = failed.json["next_steps"].as_array().expect("ways").clone();
    let split = ways.iter().find(|way| way["way"] == "split").expect("a way")["command"].clone();
    let command = split.as_str().expect("a command");
    let id = failed.json["run_id"].as_str().expect("an id");
    assert!(
        command.starts_with(&format!("probity revert {id} && probity run --scope 'docs/d.md'")),
        "{command}"
    );
}

#[test]
fn who_waits_behind_uncommitted_work_is_told_to_commit_it() {
    let repo = Repo::new();
    let ann = ["--agent", "ann"];
    let started = repo.ask(&[&["start", "src/a.py", "--intent", "first"][..], &ann].concat());
    let queued = repo.ask(&["start", "src/a.py", "--intent", "second", "--agent", "bo", "--queue"]);
    let id = queued.json["intent_id"].as_str().expect("an id").to_owned();
    repo.sh("echo 'x = 1' >> src/a.py");
    repo.ask(&[&["finish", started.json["intent_id"].as_str().expect("an id")][..], &ann].concat());
    let promoted = repo.ask(&["intent", "--agent", "bo", "promote", &id]);
    assert_eq!(promoted.json["status"], "queued", "{promoted:#?}");
    let message = promoted.json["message"].as_str().expect("words");
    let command =
        message.split('`').find(|part| part.starts_with("git ")).unwrap_or_else(|| panic!("{message}"));
    repo.sh(command);
    let again = message.rsplit('`').nth(1).expect("a command").strip_prefix("probity ").expect("of ours");
    let promoted = repo.ask(&again.split(' ').chain(["--agent", "bo"]).collect::<Vec<_>>());
    assert_eq!(promoted.json["status"], "active", "{promoted:#?}");
}

#[test]
fn an_ambiguous_intent_id_lists_the_intents_it_may_mean() {
    let repo = Repo::new();
    let ids = [begin(&repo, "src/a.py"), begin(&repo, "src/b.py")];
    let refused = repo.ask(&["finish", "0"]);
    let message = refused.refused_with("INPUT.MISSING").json["message"].as_str().expect("words").to_owned();
    for part in message.split('`').filter(|part| part.len() > 8 && part.starts_with('0')) {
        assert!(ids.iter().any(|id| id.starts_with(part)), "{message}");
    }
    assert_eq!(message.matches("a change").count(), 2, "{message}");
}

#[test]
fn an_exempt_path_is_not_called_out_of_scope() {
    let repo = Repo::new();
    repo.write("probity.toml", "[workspace]\nbuild_outputs = [\"out/**\"]\n");
    repo.sh("git add . && git commit -q -m policy");
    repo.run("mkdir out; echo x > out/x; echo x >> src/a.py").passes();
    let text = shown(&repo, &["explain", "out/x"]);
    assert!(text.contains("exempt") && !text.contains("out of scope"), "{text}");
    repo.run("echo x >> src/a.py").passes();
    let text = shown(&repo, &["explain", "out/x"]);
    assert!(text.contains("not changed by the run") && !text.contains("out of scope"), "{text}");
}

#[test]
fn a_clean_tree_is_told_in_few_words() {
    let repo = Repo::new();
    let text = shown(&repo, &["contract", "verify"]);
    assert!(text.contains("accepted: nothing changed\n") && !text.contains("0 paths"), "{text}");
}

#[test]
fn two_agents_of_one_worktree_are_not_both_you() {
    let repo = Repo::new();
    repo.ask(&["start", "src/a.py", "--intent", "first", "--agent", "ann"]);
    let yours = |arguments: &[&str]| -> Vec<bool> {
        let status = repo.ask(arguments);
        let intents = status.json["intents"].as_array().expect("intents").clone();
        intents.iter().map(|line| line["is_yours"].as_bool().expect("known")).collect()
    };
    assert_eq!(yours(&["status"]), [true], "there is only one agent");
    repo.ask(&["start", "src/b.py", "--intent", "second", "--agent", "bo"]);
    assert_eq!(yours(&["status"]), [false, false]);
    assert_eq!(yours(&["status", "--agent", "ann"]), [true, false]);
    let next = repo.ask(&["status"]);
    assert!(next_step(&next).contains("name yourself with `--agent`"), "{}", next_step(&next));
}

#[test]
fn a_virtual_environment_made_in_a_view_lands() {
    if !has("python3") {
        probity_testkit::skip!("there is no python3 here");
        return;
    }
    let repo = Repo::new();
    repo.write("pyproject.toml", "[project]\nname = 'x'\nversion = '1'\n");
    repo.ask(&["init"]);
    repo.sh("git add . && git commit -q -m policy");
    let script = "python3 -m venv --without-pip .venv; echo x >> src/a.py";
    let outcome = repo.run_with(&["--enforce", "overlay", "--scope", "src/**"], script);
    if outcome.json["reason"] == "ENFORCE.UNAVAILABLE" {
        probity_testkit::skip!("there are no views here");
        return;
    }
    outcome.passes();
    assert_eq!(
        (outcome.delta(), &outcome.json["landing"]["state"]),
        (vec!["src/a.py".into()], &json!("landed"))
    );
    repo.sh("grep -q x src/a.py && test -L .venv/bin/python3 && .venv/bin/python3 -c 'import sys'");
    // The environment does not hide the file that matters.
    let words = shown(&repo, &["revert", "last"]);
    let first = words.lines().find(|line| line.contains("restored") || line.contains("removed"));
    assert!(first.is_some_and(|line| line.contains("src/a.py")), "{words}");
}

#[test]
fn a_change_that_is_only_staged_says_so() {
    let repo = Repo::new();
    let script = "echo x >> docs/d.md; git add docs/d.md; git show HEAD:docs/d.md > docs/d.md";
    let arguments = ["run", "--scope", "src/**", "--", "sh", "-c", script];
    let words = shown(&repo, &arguments);
    assert!(words.contains("docs/d.md is in git's index"), "{words}");
}

#[test]
fn a_start_names_the_command_that_finishes_it() {
    let repo = Repo::new();
    let started = repo.ask(&["start", "src/a.py", "--intent", "a change"]);
    let message = started.json["message"].as_str().expect("words");
    let command = message.split('`').nth(1).expect("a command");
    let name = command.strip_prefix("probity finish ").expect("a finish");
    assert!(started.json["intent_id"].as_str().is_some_and(|id| id.starts_with(name)), "{message}");
}

#[test]
fn a_submodule_beside_its_files_is_no_mistake_of_the_scope() {
    let repo = Repo::new();
    let both = repo.ask(&["plan", "--scope", "src/**", "--scope", "src"]);
    assert_eq!(both.json["warnings"], json!([]), "{both:#?}");
    let name_alone = repo.ask(&["plan", "--scope", "src", "--scope", "docs/**"]);
    assert_eq!(name_alone.json["warnings"][0]["code"], "SCOPE.NAMES_DIRECTORY", "{name_alone:#?}");
}

#[test]
fn a_landing_is_listed_as_one_and_its_undoing_counts_build_outputs() {
    let repo = Repo::new();
    repo.write("probity.toml", "[workspace]\nbuild_outputs = [\"node_modules/**\"]\n");
    repo.sh("git add . && git commit -q -m policy");
    let script = "mkdir -p node_modules/x; for n in 1 2 3; do echo > node_modules/x/$n.js; done; echo y >> src/a.py; \
                  git commit -q -a -m inside";
    let outcome = repo.run_with(&["--enforce", "overlay", "--scope", "src/**"], script);
    if outcome.json["reason"] == "ENFORCE.UNAVAILABLE" {
        probity_testkit::skip!("there are no views here");
        return;
    }
    outcome.passes();
    let run = outcome.json["run_id"].as_str().expect("an id");
    let list = shown(&repo, &["evidence", "list"]);
    assert!(list.contains(&format!("(landing of {})", &run[..13])), "{list}");
    let words = shown(&repo, &["undo", "last"]);
    assert!(words.contains("src/a.py") && words.contains("node_modules/ 3"), "{words}");
    assert!(!words.contains("node_modules/x/1.js"), "{words}");
}

#[test]
fn references_that_moved_in_a_view_are_told_as_those_of_the_view() {
    let repo = Repo::new();
    let script = "echo x >> docs/d.md; git commit -q -a -m inside";
    let arguments = ["run", "--enforce", "overlay", "--scope", "src/**", "--", "sh", "-c", script];
    let words = shown(&repo, &arguments);
    if words.contains("ENFORCE.UNAVAILABLE") {
        probity_testkit::skip!("there are no views here");
        return;
    }
    assert!(words.contains("in the view: branch main moved"), "{words}");
    assert!(words.contains("your own branches have not moved"), "{words}");
}

#[test]
fn a_queued_change_is_not_the_one_to_finish_and_is_told_when_its_turn_comes() {
    let repo = Repo::new();
    let start = |agent, more: &[&str]| {
        repo.ask(&[&["start", "src/a.py", "--intent", "x", "--agent", agent][..], more].concat())
    };
    assert_eq!(start("ann", &[]).json["status"], "active");
    assert_eq!(start("ben", &["--queue"]).json["status"], "queued");
    let waits = repo.ask(&["status", "--agent", "ben"]);
    assert!(next_step(&waits).starts_with("you are queued"), "{}", next_step(&waits));
    assert_eq!(repo.ask(&["finish"]).json["status"], "accepted");
    let turn = repo.ask(&["status", "--agent", "ben"]);
    assert!(
        next_step(&turn).starts_with("it is your turn: `probity intent promote "),
        "{}",
        next_step(&turn)
    );
}

#[test]
fn a_virtual_environment_is_no_part_of_the_patch_that_brings_the_policy() {
    let repo = Repo::new();
    repo.write("probity.toml", "[workspace]\nrecognize_outputs = true\nbuild_outputs = [\"src/**\"]\n");
    repo.sh("git add . && git commit -q -m policy");
    repo.sh("mkdir -p .venv/lib && echo 'home = /usr/bin' > .venv/pyvenv.cfg && echo x > .venv/lib/x.py");
    repo.write("src/a.py", "print('changed')\n");
    let words = shown(&repo, &["contract", "verify", "--base", "HEAD~1"]);
    assert!(words.contains("probity.toml") && !words.contains(".venv"), "{words}");
    assert!(words.contains("src/a.py"), "the patch brings no exemption: {words}");
}
