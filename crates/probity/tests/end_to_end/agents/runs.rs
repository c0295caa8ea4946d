//! Governed runs and intents respect each other's claims.

use super::{Agent, is, verdict};
use crate::repo::{Outcome, Repo};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

/// A run whose command continues until the file `go` appears beside the repository.
struct OpenRun<'r> {
    repo: &'r Repo,
    process: Child,
    go: PathBuf,
}

impl<'r> OpenRun<'r> {
    /// Starts a run and waits until its command runs, or until it has ended without.
    fn start(repo: &'r Repo, root: &Path, scope: &str) -> Self {
        let mut run = Self::launch(repo, root, scope, "one");
        let begun = repo.outside().join("begun-one");
        probity_testkit::wait_until("the command runs, or the run has ended", || {
            begun.exists() || run.process.try_wait().expect("can be asked").is_some()
        });
        run
    }

    fn launch(repo: &'r Repo, root: &Path, scope: &str, name: &str) -> Self {
        let place = |word: &str| repo.outside().join(format!("{word}-{name}"));
        let (begun, go) = (place("begun"), place("go"));
        // A command whose supervisor was killed ends with the directory of the test.
        let script = format!(
            "touch {begun}; while [ -e {begun} ] && [ ! -e {go} ]; do sleep 0.01; done",
            begun = begun.display(),
            go = go.display()
        );
        let process = repo
            .probity(&["run", "--json", "--scope", scope, "--", "sh", "-c", &script])
            .current_dir(root)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("starts");
        Self { repo, process, go }
    }

    /// Lets the command end, and returns the outcome of the run.
    fn end(self) -> Outcome {
        std::fs::write(&self.go, "").expect("writes");
        self.repo.outcome(&self.process.wait_with_output().expect("ends"))
    }
}

#[test]
fn a_run_over_paths_of_others_is_refused_before_anything_runs() {
    let repo = Repo::new();
    repo.sh("git worktree add -q ../other");
    let intent = Agent::new(&repo, "ann").begin("src/a.py", &["--agent", "ann"]);
    for root in [repo.path(), repo.outside().join("other")] {
        let command = ["run", "--json", "--scope", "src/**", "--", "touch", "src/ran"];
        let refused = repo.outcome(&repo.probity(&command).current_dir(&root).output().expect("starts"));
        assert_eq!(verdict(&refused), is("refused", "RUN.CLAIMED", 5), "{refused:#?}");
        let claim = &refused.json["claims"][0];
        assert_eq!((&claim["paths"], &claim["agent"]), (&json!(["src/a.py"]), &json!("ann")), "{refused:#?}");
        let words = refused.json["message"].as_str().expect("words");
        let until = claim["expires_at"].as_str().expect("a time");
        for word in ["src/a.py", intent.as_str(), "ann", until] {
            assert!(words.contains(word), "{word}: {words}");
        }
        let next = refused.json["next_step"].as_str().expect("words");
        assert!(next.contains("probity status") && next.contains("--scope '!src/a.py'"), "{next}");
        assert!(!root.join("src/ran").exists(), "nothing ran");
    }
    assert_eq!(std::fs::read_dir(repo.path().join(".git/probity/open")).map_or(0, Iterator::count), 0);
    // Adding what the refusal suggests is enough.
    repo.run_with(&["--scope", "src/**", "--scope", "!src/a.py"], "echo b2 > src/b.py").passes();
}

#[test]
fn ones_own_claims_are_named_and_in_nobodys_way() {
    let repo = Repo::new();
    let ann = Agent::new(&repo, "ann");
    let intent = ann.begin("src/a.py", &["--agent", "ann"]);
    let own = repo.run_with(&["--scope", "src/a.py", "--owner", &ann.owner], "echo x >> src/a.py");
    own.passes();
    assert_eq!(own.json["own_claims"][0]["intent_id"], json!(intent), "{own:#?}");
    assert!(own.words.contains(&intent), "{own:#?}");
    // A handle stored in this worktree belongs to the caller, unless it gives another name.
    let kept = repo.ask(&["start", "src/b.py", "--intent", "b", "--agent", "bo"]);
    assert_eq!(kept.json["status"], "active", "{kept:#?}");
    let mine = repo.run_with(&["--scope", "src/b.py"], "echo x >> src/b.py");
    mine.passes();
    assert_eq!(mine.json["own_claims"][0]["intent_id"], kept.json["intent_id"]);
    let named = repo.run_with(&["--scope", "src/b.py", "--agent", "ann"], "true");
    assert_eq!(verdict(&named), is("refused", "RUN.CLAIMED", 5), "{named:#?}");
}

#[test]
fn a_start_over_paths_of_a_run_is_blocked_in_every_worktree() {
    let repo = Repo::new();
    repo.sh("git worktree add -q ../other");
    let run = OpenRun::start(&repo, &repo.outside().join("other"), "src/**");
    let ann = Agent::new(&repo, "ann");
    let blocked = ann.start("src/a.py", &[]);
    assert_eq!(verdict(&blocked), is("blocked", "coordination", 2), "{blocked:#?}");
    assert_eq!((&blocked.json["edit_allowed"], &blocked.json["claim"]), (&json!(false), &json!("none")));
    let named = &blocked.json["workspace"]["concurrent_runs"][0];
    assert_eq!(
        (&named["scope"], &named["overlap"]),
        (&json!(["src/**"]), &json!(["src/a.py"])),
        "{blocked:#?}"
    );
    assert_eq!(blocked.json["blocked_by_runs"], json!([named["run_id"]]));
    assert_eq!(blocked.json["blocked_by"], json!([]));
    let id = named["run_id"].as_str().expect("an id");
    assert!(blocked.json["message"].as_str().is_some_and(|words| words.contains(id)), "{blocked:#?}");
    // Other paths are free, but an intent cannot be widened into the scope of the run.
    let intent = ann.begin("docs/d.md", &[]);
    let grown = ann.ask(&["amend", "--intent", &intent, "--add", "src/a.py", "--why", "it belongs to it"]);
    assert_eq!((grown.exit_code, &grown.json["reason"]), (Some(5), &json!("overlaps")), "{grown:#?}");
    let status = repo.ask(&["status"]);
    assert_eq!(status.json["runs"][0]["scope"], json!(["src/**"]), "{status:#?}");
    assert_eq!(
        (&status.json["runs"][0]["run_id"], &status.json["runs"][0]["is_here"]),
        (&json!(id), &json!(false))
    );
    run.end().passes();
    assert_eq!(repo.ask(&["status"]).json["runs"], json!([]));
    ann.begin("src/a.py", &[]);
}

#[test]
fn a_start_can_wait_for_a_run_to_end() {
    let repo = Repo::new();
    repo.sh("git worktree add -q ../other");
    let run = OpenRun::start(&repo, &repo.outside().join("other"), "src/a.py");
    let ann = Agent::new(&repo, "ann");
    let queued = ann.start("src/a.py", &["--queue"]);
    assert_eq!(verdict(&queued), is("queued", "coordination", 5), "{queued:#?}");
    let intent = queued.json["intent_id"].as_str().expect("an id").to_owned();
    let early = ann.ask(&["intent", "promote", &intent]);
    assert_eq!(early.json["status"], "queued", "{early:#?}");
    run.end().passes();
    let promoted = ann.ask(&["intent", "promote", &intent]);
    assert_eq!(verdict(&promoted), is("active", "", 0), "{promoted:#?}");
}

#[test]
fn a_start_from_inside_the_run_is_allowed() {
    let repo = Repo::new();
    let probity = env!("CARGO_BIN_EXE_probity");
    // Even without the variable: descendants of the run count as inside.
    let script = format!(
        "{probity} start src/a.py --intent x && echo a2 > src/a.py && {probity} finish --no-receipt && \
         env -u PROBITY_RUN_ID {probity} start src/b.py --intent y"
    );
    repo.run_with(&["--scope", "src/**"], &script).passes();
}

#[test]
fn a_run_that_was_killed_holds_nothing() {
    let repo = Repo::new();
    repo.sh("git worktree add -q ../other");
    let mut run = OpenRun::start(&repo, &repo.outside().join("other"), "src/**");
    run.process.kill().expect("is killed");
    run.process.wait().expect("ends");
    assert_eq!(repo.ask(&["status"]).json["runs"], json!([]));
    Agent::new(&repo, "ann").begin("src/a.py", &[]);
    std::fs::write(&run.go, "").expect("its command may go, too");
}

#[test]
fn a_run_does_not_grow_over_paths_of_others() {
    let repo = Repo::new();
    let run = OpenRun::start(&repo, &repo.path(), "src/a.py");
    Agent::new(&repo, "ann").begin("docs/d.md", &[]);
    let refused =
        repo.ask(&["amend", "open", "--add", "docs/**", "--why", "the docs belong to it", "--by", "bo"]);
    assert_eq!(verdict(&refused), is("refused", "RUN.CLAIMED", 5), "{refused:#?}");
    let granted =
        repo.ask(&["amend", "open", "--add", "src/b.py", "--why", "it belongs to it", "--by", "bo"]);
    assert_eq!(granted.json["status"], "amended", "{granted:#?}");
    let blocked = Agent::new(&repo, "bo").start("src/b.py", &[]);
    assert_eq!(verdict(&blocked), is("blocked", "coordination", 2), "what was added counts: {blocked:#?}");
    run.end().passes();
}

#[test]
fn of_a_run_and_a_start_that_race_one_goes_ahead() {
    const ROUNDS: usize = 6;
    let repo = Repo::new();
    repo.sh("git worktree add -q ../other");
    repo.ask(&["analyze"]);
    let mut winners = Vec::new();
    for round in 0..ROUNDS {
        let run = OpenRun::launch(&repo, &repo.outside().join("other"), "src/a.py", &round.to_string());
        let ann = Agent::new(&repo, &format!("ann-{round}"));
        let started = ann.start("src/a.py", &[]);
        let ran = run.end();
        match (started.json["status"].as_str(), ran.exit_code) {
            (Some("active"), Some(5)) => {
                assert_eq!(ran.json["reason"], "RUN.CLAIMED", "{ran:#?}");
                winners.push("start");
            }
            (Some("blocked"), Some(0)) => winners.push("run"),
            other => panic!("{other:?}: {started:#?} {ran:#?}"),
        }
        if let Some(intent) = started.json["intent_id"].as_str() {
            ann.ask(&["intent", "clear", intent]);
        }
    }
    println!("who was first: {winners:?}");
    assert_eq!(repo.ask(&["intent", "list"]).json["intents"], Value::from(Vec::<Value>::new()));
}
