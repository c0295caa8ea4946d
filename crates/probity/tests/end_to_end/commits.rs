//! `probity commits` and `probity merge` as a user runs them: the whole story, two concurrent processes, and kills.

use crate::repo::{Repo, isolate};
use crate::schemas::check;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};
use std::time::Duration;

const SCHEMA: &str = "struct Ticket {\n    title: string\n    rank: int64\n    labels: set<string> = []\n}\n\
                      attachment ticket: Ticket\nattachment file: blob\n";

fn n_kills() -> u64 {
    std::env::var("PROBITY_COMMIT_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(20)
}

pub(crate) struct Store {
    pub(crate) repo: Repo,
}

impl Store {
    fn new() -> Self {
        let repo = Repo::new();
        repo.write("t.schema", SCHEMA);
        let store = Self { repo };
        store.ask(&["commits", "init", "--schema", "t.schema"]);
        store
    }

    /// Runs a command that must end with `exit_code`; returns its answer, checked against the schema.
    fn ends(&self, exit_code: i32, arguments: &[&str]) -> Value {
        let answer = self.repo.ask(arguments);
        assert_eq!(answer.exit_code, Some(exit_code), "{arguments:?}: {answer:#?}");
        check(&answer.json);
        answer.json
    }

    fn ask(&self, arguments: &[&str]) -> Value {
        self.ends(0, arguments)
    }

    fn rank(&self, on: &str, author: &str, rank: &str) -> String {
        let answer =
            self.ask(&["commits", "update", "ticket/t1", "rank", rank, "--on", on, "--author", author]);
        answer["commit"]["id"].as_str().expect("an id").to_owned()
    }

    /// Creates a ticket that two writers changed, and their merge.
    pub(crate) fn merged() -> (Self, String) {
        let store = Self::new();
        store.ask(&["commits", "put", "ticket/t1", r#"{"title": "one", "rank": 0}"#, "--author", "cy"]);
        store.ask(&["commits", "ref", "start", "@"]);
        let (ours, theirs) = (store.rank("start", "ann", "1"), store.rank("start", "bo", "2"));
        let merged = store.ask(&["commits", "merge", &ours, &theirs, "--author", "dee"]);
        let merge = merged["merge"].as_str().expect("an id").to_owned();
        (store, merge)
    }
}

#[test]
fn every_answer_fits_its_schema_and_the_story_holds() {
    let (store, merge) = Store::merged();
    let found = store.ends(5, &["merge", "analyze", &merge]);
    assert_eq!(
        (found["two_way"].clone(), found["conflicts"][0]["place"].clone()),
        (json!(false), json!("rank"))
    );
    assert!(found["base"].is_string() && found["documents"][0]["conflicts"] == json!([0]));
    store.repo.write("p.json", r#"{"rules": [{"attachment": "ticket", "decide": "require_review"}]}"#);
    store.ask(&["merge", "policy", "--set", "p.json"]);
    store.ask(&["merge", "policy"]);
    store.ends(5, &["merge", "reconcile", &merge, "--policy-only"]);
    let id = found["conflicts"][0]["id"].as_str().expect("an id");
    store.repo.write("r.json", &json!([{"conflict": id, "choose": "ours"}]).to_string());
    let decide =
        ["merge", "reconcile", &merge, "--resolutions", "r.json", "--why", "hers", "--author", "dee"];
    let done = store.ask(&decide);
    assert_eq!(done["result"], "survival");
    assert_eq!(store.ask(&["commits", "state"])["state"]["ticket"]["t1"]["rank"], 1);
    let again = store.ask(&["merge", "analyze", &merge]);
    assert_eq!(again["conflicts"][0]["resolved_by"]["why"], "hers");
    store.ask(&["merge", "decisions", &merge]);
    store.ask(&["commits", "heads"]);
    store.ask(&["commits", "log", "--document", "ticket/t1"]);
    store.ask(&["commits", "show", &merge]);
    store.ask(&["commits", "diff", "start", "@"]);
    store.ask(&["commits", "state", "@", "--document", "ticket/t1", "--why"]);
    store.ask(&["commits", "schema"]);
    store.ask(&["commits", "check"]);
    store.ask(&["commits", "ref"]);
    let blob = store.ask(&["commits", "blob", "t.schema"])["blob"].as_str().expect("a digest").to_owned();
    store.ask(&["commits", "put", "file/f", &format!("\"{blob}\"")]);
    store.ask(&["commits", "disable", "@", "-m", "not yet"]);
    store.ask(&["commits", "enable", "start"]);
    store.ask(&["commits", "reduce"]);
    store.ask(&["merge", "analyze", "--heads"]);
}

#[test]
fn what_was_written_elsewhere_comes_together() {
    let (store, _) = Store::merged();
    store.ask(&["commits", "init", "other.db", "--schema", "t.schema"]);
    store.ask(&["commits", "sync", "other.db"]);
    store.ask(&["commits", "export", "all.bundle"]);
    store.ask(&["commits", "init", "third.db", "--schema", "t.schema"]);
    store.ask(&["commits", "import", "all.bundle", "--store", "third.db"]);
    store.ask(&["commits", "flatten", "@", "--into", "flat.db"]);
    let state = |file: &str| store.ask(&["commits", "state", "--store", file])["state"].clone();
    assert_eq!(state("other.db"), state("third.db"));
    assert_eq!(state("flat.db"), state("third.db"));
}

#[test]
fn refusals_name_the_place_and_the_next_step() {
    let store = Store::new();
    for (arguments, reason, words) in [
        (&["commits", "put", "ticket/t1", r#"{"title": 1, "rank": 0}"#][..], "COMMIT.MISFIT", "value.title"),
        (&["commits", "put", "ticket", "1"], "COMMIT.MISFIT", "attachment/key"),
        (&["commits", "put", "ticket/t1", "one"], "JSON.SYNTAX", "text needs quotes"),
        (&["commits", "update", "ticket/t1", "size", "1"], "COMMIT.MISFIT", "size"),
        (&["commits", "show", "ffff"], "COMMIT.UNKNOWN", "ffff"),
        (&["commits", "init", "--schema", "t.schema"], "COMMIT.STORE_EXISTS", "there already"),
        (&["commits", "log", "--store", "nothing.db"], "COMMIT.NO_STORE", "nothing.db"),
        (&["merge", "analyze", "@"], "COMMIT.UNKNOWN", "no commit yet"),
    ] {
        let refusal = store.ends(2, arguments);
        assert_eq!(refusal["reason"], reason, "{refusal}");
        assert!(refusal["message"].as_str().is_some_and(|text| text.contains(words)), "{refusal}");
        assert!(refusal["next_step"].as_str().is_some_and(|text| !text.is_empty()));
    }
}

/// Writes from one process until it is killed; each acknowledged commit is one line of its output.
fn writer(store: &Store, author: &str, script: &str) -> Command {
    let mut command = Command::new("sh");
    let binary = env!("CARGO_BIN_EXE_probity");
    isolate(&mut command, store.repo.outside());
    command.arg("-c").arg(script).current_dir(store.repo.path()).env("P", binary).env("AUTHOR", author);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

const WRITE: &str = r#"i=0; while [ $i -lt 1000 ]; do i=$((i+1));
    "$P" commits update ticket/t1 rank $i --on start --author "$AUTHOR$i" || exit 1; done"#;

/// Merges and decides until killed; each acknowledged decision is one line: its author and the merge.
const MERGE: &str = r#"i=0; while [ $i -lt 1000 ]; do i=$((i+1));
    a=$("$P" commits update ticket/t1 rank $i --on start --author "$AUTHOR$i" | cut -c1-10)
    b=$("$P" commits update ticket/t1 rank $((i+1000)) --on start --author "$AUTHOR$i" | cut -c1-10)
    m=$("$P" commits merge "$a" "$b" --json | grep -m1 '"merge"' | cut -d'"' -f4)
    "$P" merge reconcile "$m" --all ours --why kill --author "$AUTHOR$i" >&2 && echo "$AUTHOR$i $m"; done"#;

/// Runs a script repeatedly, kills it each time, and returns its complete output lines: the acknowledgements.
fn killed(store: &Store, script: &str) -> Vec<String> {
    let mut acknowledged = Vec::new();
    for number in 0..n_kills() {
        // The shell and its current child form one process group, killed together.
        let mut command = writer(store, &format!("w{number}-"), script);
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().expect("starts");
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut lines = String::new();
        // Every other kill comes after the first acknowledgement, the others at any time from the start.
        if number % 2 == 0 {
            output.read_line(&mut lines).expect("text");
            assert!(lines.ends_with('\n'), "the writer ended by itself");
        }
        std::thread::sleep(Duration::from_millis(number * 37 % 160));
        let group = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process_group(group, rustix::process::Signal::KILL).expect("kills");
        output.read_to_string(&mut lines).expect("text");
        child.wait().expect("ends");
        // Only complete lines are acknowledgements.
        let whole = lines.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
        acknowledged.extend(whole.map(ToOwned::to_owned));
    }
    assert!(!acknowledged.is_empty(), "nothing was acknowledged: the test proves nothing");
    acknowledged
}

#[test]
fn a_kill_loses_nothing_that_was_acknowledged() {
    let (store, _) = Store::merged();
    let acknowledged = killed(&store, WRITE);
    for line in &acknowledged {
        store.ask(&["commits", "show", &line[..10]]);
    }
    let checked = store.ask(&["commits", "check"]);
    assert_eq!(checked["sound"], true, "{checked}");
    println!("{} acknowledged, {} commits in the store", acknowledged.len(), checked["commits"]);
}

#[test]
fn a_kill_of_a_merge_leaves_decisions_and_survivals_together() {
    let (store, _) = Store::merged();
    let acknowledged = killed(&store, MERGE);
    let answer = store.ask(&["merge", "decisions"]);
    let decisions: Vec<&Value> = answer["decisions"].as_array().into_iter().flatten().collect();
    for line in &acknowledged {
        let (author, merge) = line.split_once(' ').expect("an author and a merge");
        let is_kept = |decision: &&Value| decision["by"] == *author && decision["merge"] == *merge;
        assert!(decisions.iter().any(is_kept), "{line}");
    }
    for decision in &decisions {
        // The record and the commit that it names are one write.
        store.ask(&["commits", "show", decision["survival"].as_str().expect("something was decided")]);
    }
    assert_eq!(store.ask(&["commits", "check"])["sound"], true);
    println!("{} acknowledged, {} decisions in the store", acknowledged.len(), decisions.len());
}

#[test]
fn two_processes_commit_and_reduce_at_once() {
    let (store, _) = Store::merged();
    let script = r#"i=0; while [ $i -lt 8 ]; do i=$((i+1));
        "$P" commits update ticket/t1 rank $i --on start --author "$AUTHOR$i" >&2 || exit 1;
        "$P" commits reduce >&2 || exit 1; done"#;
    let children: Vec<_> = ["x", "y"]
        .into_iter()
        .map(|author| writer(&store, author, script).spawn().expect("starts"))
        .collect();
    for child in children {
        assert!(child.wait_with_output().expect("ends").status.success());
    }
    store.ask(&["commits", "reduce"]);
    let heads = store.ask(&["commits", "heads"]);
    assert_eq!(heads["heads"].as_array().map(Vec::len), Some(1));
    let log = store.ask(&["commits", "log", "-n", "1000"]);
    let written = log["commits"].as_array().into_iter().flatten();
    let by = |author: &str| {
        written
            .clone()
            .filter(|commit| commit["author"].as_str().is_some_and(|name| name.starts_with(author)))
            .count()
    };
    assert_eq!((by("x"), by("y")), (8, 8));
    assert_eq!(store.ask(&["commits", "check"])["sound"], true);
}
