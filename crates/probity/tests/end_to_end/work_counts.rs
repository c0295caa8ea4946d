//! What commands cost, in counts that are the same on any machine, and runs that do not walk the tree.

use crate::repo::{Outcome, Repo, verify};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::Stdio;

const LAZY_POLICY: &str = "[enforce]\nstart_look = \"lazy\"\n";

/// Runs a command with `--timings`; returns its answer and the counts of its work.
fn counted(repo: &Repo, arguments: &[&str]) -> (Outcome, Value) {
    let output =
        repo.probity(&[&["--timings", "--json"], arguments].concat()).output().expect("probity starts");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let line = stderr.lines().rfind(|line| line.contains("\"probity/work/v1\""));
    let report: Value = serde_json::from_str(line.unwrap_or_default()).expect("a report of the work");
    (repo.outcome(&output), report["counts"].clone())
}

fn count(counts: &Value, name: &str) -> u64 {
    counts[name].as_u64().unwrap_or_else(|| panic!("{name}: {counts}"))
}

/// Repeats a command until it has nothing to write to a cache: files that were just written are read again.
fn settled(repo: &Repo, arguments: &[&str]) -> (Outcome, Value) {
    let mut last = None;
    probity_testkit::wait_until("the files are old enough to be recognized", || {
        let (outcome, counts) = counted(repo, arguments);
        let is_settled = count(&counts, "cache_bytes_written") == 0;
        last = Some((outcome, counts));
        is_settled
    });
    last.expect("it ran")
}

fn has_views(repo: &Repo) -> bool {
    let outcome = repo.run_with(&["--enforce", "overlay", "--scope", "src/**"], "true");
    if outcome.json["reason"] == "ENFORCE.UNAVAILABLE" {
        probity_testkit::skip!("there are no views here");
        return false;
    }
    true
}

/// A repository whose runs in views do not walk the tree.
fn lazy() -> Option<Repo> {
    let repo = Repo::new();
    repo.write("probity.toml", LAZY_POLICY);
    repo.sh("git add . && git commit -q -m policy");
    if !has_views(&repo) {
        return None;
    }
    if !is_lazy(&repo.run_with(&["--enforce", "overlay", "--scope", "src/**"], "true")) {
        probity_testkit::skip!("the times of this file system do not tell");
        return None;
    }
    Some(repo)
}

fn seal(outcome: &Outcome) -> Value {
    let text = fs::read(outcome.evidence_dir().join("seal.json")).expect("a seal");
    serde_json::from_slice(&text).expect("JSON")
}

fn is_lazy(outcome: &Outcome) -> bool {
    seal(outcome)["start"].is_object()
}

#[test]
fn a_run_that_changes_nothing_costs_little() {
    let repo = Repo::new();
    let run = ["run", "--enforce", "observe", "--scope", "src/**", "--", "true"];
    let (outcome, counts) = settled(&repo, &run);
    outcome.passes();
    for (name, most) in [
        // One before and one after the command.
        ("tree_walks", 2),
        ("git_processes", 0),
        // The seal and its directory; four files, their directory and the one above it.
        ("fsyncs", 8),
        ("database_commits", 1),
        ("cgroup_migrations", 2),
        ("process_reads", 10),
        ("files_parsed", 0),
    ] {
        assert!(count(&counts, name) <= most, "{name}: {counts}");
    }
    if !has_views(&repo) {
        return;
    }
    let (outcome, counts) =
        settled(&repo, &["run", "--enforce", "overlay", "--scope", "src/**", "--", "true"]);
    outcome.passes();
    assert!(count(&counts, "tree_walks") <= 1 && count(&counts, "git_processes") == 0, "{counts}");
    assert!(count(&counts, "fsyncs") <= 8 && count(&counts, "process_reads") <= 10, "{counts}");
    assert_eq!(count(&counts, "view_launches"), 1, "the earlier test of a view still holds: {counts}");
}

/// Whatever happened in the repository before, a run looks at as much as in a new one.
#[test]
fn a_run_costs_the_same_after_ten_thousand_others() {
    const N_EARLIER: usize = 10_000;
    let repo = Repo::new();
    let run = ["run", "--enforce", "observe", "--scope", "src/**", "--", "true"];
    let (first, new) = settled(&repo, &run);
    let state = first.evidence_dir().parent().and_then(|evidence| evidence.parent()).map(Path::to_owned);
    let state = state.expect("evidence is in the state directory");
    for directory in ["receipts", "before/00", "objects/00", "runs"] {
        fs::create_dir_all(state.join(directory)).expect("creates");
    }
    let (_, with_directories) = settled(&repo, &run);
    for number in 0..N_EARLIER {
        fs::create_dir(state.join(format!("evidence/earlier-{number}"))).expect("creates");
        fs::write(state.join(format!("receipts/{number}.json")), "").expect("writes");
        for collection in ["before", "objects"] {
            fs::write(state.join(format!("{collection}/00/{number:062x}")), "").expect("writes");
        }
    }
    let (last, old) = settled(&repo, &run);
    last.passes();
    assert_eq!(old, with_directories, "what grows with history costs nothing");
    assert!(count(&old, "state_entries") <= count(&new, "state_entries") + 2 * 6, "{new} {old}");
    // Nothing of it can be taken away or planted unnoticed all the same.
    for (script, named) in [
        ("rmdir $S/evidence/earlier-77", "evidence/earlier-77"),
        ("rm $S/receipts/7.json", "receipts/7.json"),
        ("echo x > $S/objects/00/planted", "objects/00/planted"),
    ] {
        let script = script.replace("$S", state.to_str().expect("UTF-8"));
        let outcome = repo.run_with(&["--enforce", "observe", "--scope", "src/**"], &script);
        let findings = outcome.json["findings"].to_string();
        assert!(findings.contains("PROTECTED.") && findings.contains(named), "{outcome:#?}");
    }
}

#[test]
fn a_lazy_start_walks_nothing() {
    let Some(repo) = lazy() else { return };
    let (outcome, counts) =
        counted(&repo, &["run", "--enforce", "overlay", "--scope", "src/**", "--", "true"]);
    assert!(is_lazy(outcome.passes()), "{outcome:#?}");
    assert_eq!(outcome.json["coverage"], Value::Null);
    for name in ["tree_walks", "git_processes", "cache_bytes_written"] {
        assert_eq!(count(&counts, name), 0, "{name}: {counts}");
    }
    let (outcome, counts) = counted(
        &repo,
        &[
            "run",
            "--enforce",
            "overlay",
            "--scope",
            "src/**",
            "--",
            "sh",
            "-c",
            "echo x >> src/a.py; echo n > src/new",
        ],
    );
    assert_eq!(outcome.delta(), ["src/a.py", "src/new"]);
    assert_eq!(outcome.json["landing"]["state"], "landed", "{outcome:#?}");
    assert_eq!((count(&counts, "tree_walks"), count(&counts, "git_processes")), (0, 0), "{counts}");
    assert_eq!(count(&counts, "view_launches"), 1, "{counts}");
    let bundle = outcome.evidence_dir();
    assert_eq!(verify(&bundle, None).json["outcome"], "PASS");
    let manifest: Value =
        serde_json::from_slice(&fs::read(bundle.join("manifest.json")).expect("reads")).expect("JSON");
    assert_eq!(manifest["start_look"], "lazy");
    assert_eq!(repo.ask(&["evidence", "chain"]).json["outcome"], "PASS");
}

/// Whatever a command does, both looks find the same changes and land the same tree.
#[test]
fn a_lazy_look_finds_what_a_walk_finds() {
    let scripts = [
        "rm -r src; mkdir src; echo n > src/n",
        "mv src/a.py src/z.py; chmod +x src/b.py",
        "mkdir -p src/d/e; echo 1 > src/d/e/f; rm src/b.py",
        "rm src/a.py; mkdir src/a.py; echo x > src/a.py/x",
        "ln -s b.py src/link; echo x >> src/b.py",
        "echo out >> docs/d.md; echo in >> src/a.py",
        "touch src/a.py; cat src/b.py > src/b2; mv src/b2 src/b.py",
        "mkdir src/empty; rm -rf docs",
    ];
    for script in scripts {
        let Some(repo) = lazy() else { return };
        let walked = Repo::new();
        walked.write("probity.toml", "[enforce]\nstart_look = \"walk\"\n");
        walked.sh("git add . && git commit -q -m policy");
        let one = repo.run_with(&["--enforce", "overlay", "--scope", "src/**"], script);
        let other = walked.run_with(&["--enforce", "overlay", "--scope", "src/**"], script);
        assert!(is_lazy(&one) && !is_lazy(&other), "{script}");
        for member in ["status", "reasons", "workspace_delta_paths", "untracked_delta_paths", "renames"] {
            assert_eq!(one.json[member], other.json[member], "{script}: {member}");
        }
        assert_eq!(one.json["landing"], other.json["landing"], "{script}");
        let delta = |outcome: &Outcome| fs::read(outcome.evidence_dir().join("delta.json")).expect("reads");
        assert_eq!(
            String::from_utf8_lossy(&delta(&one)),
            String::from_utf8_lossy(&delta(&other)),
            "{script}"
        );
        assert_eq!(
            verify(&one.evidence_dir(), None).json["outcome"],
            verify(&other.evidence_dir(), None).json["outcome"]
        );
    }
}

/// Runs `script` behind a line from standard input, and does something in the tree before that line comes.
fn run_beside(repo: &Repo, script: &str, beside: impl FnOnce(&Repo)) -> Outcome {
    let waiting = format!("echo the command waits >&2; read line; {script}");
    let mut command = repo.probity(&[
        "run",
        "--json",
        "--enforce",
        "overlay",
        "--scope",
        "src/**",
        "--",
        "sh",
        "-c",
        &waiting,
    ]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    let mut words = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut line = String::new();
    while !line.contains("the command waits") {
        line.clear();
        assert!(words.read_line(&mut line).expect("reads") > 0, "the command did not start");
    }
    beside(repo);
    child.stdin.take().expect("a pipe").write_all(b"go\n").expect("writes");
    let mut rest = Vec::new();
    words.read_to_end(&mut rest).expect("reads");
    repo.outcome(&child.wait_with_output().expect("ends"))
}

#[test]
fn what_others_change_meanwhile_is_never_taken_for_the_start() {
    let Some(repo) = lazy() else { return };
    // More than fits into the layer, so that nothing is known of it beforehand.
    repo.sh(
        "mkdir src/many && cd src/many && seq 1 2100 | xargs touch && git add . && git commit -q -m many",
    );
    let edited = run_beside(&repo, "echo agent >> src/b.py", |repo| {
        repo.sh("t=$(mktemp); touch -r src/b.py $t; echo person >> src/b.py; touch -r $t src/b.py");
    });
    assert!(is_lazy(&edited), "{edited:#?}");
    assert_eq!(edited.json["landing"]["state"], "conflict", "{edited:#?}");
    assert_eq!(edited.json["landing"]["conflicts"][0]["code"], "LAND.START_UNKNOWN");
    repo.sh("grep -q person src/b.py && ! grep -q agent src/b.py");
    assert_eq!(verify(&edited.evidence_dir(), None).json["outcome"], "PASS");
    let removed = run_beside(&repo, "echo agent > src/a.py", |repo| repo.sh("rm src/a.py"));
    assert_eq!(removed.json["landing"]["state"], "conflict", "{removed:#?}");
    let added = run_beside(&repo, "echo agent > src/new", |repo| repo.sh("echo person > src/other"));
    assert_eq!(added.json["landing"]["conflicts"][0]["path"], "src/new", "{added:#?}");
    // What is elsewhere, or beside it, does not matter.
    let fine = run_beside(&repo, "echo agent >> src/many/1", |repo| {
        repo.sh("echo person >> src/other; echo x > docs/x");
    });
    let landing = &fine.json["landing"];
    assert_eq!(
        (&landing["state"], &landing["paths"]),
        (&json!("landed"), &json!(["src/many/1"])),
        "{fine:#?}"
    );
}

#[test]
fn start_and_finish_look_once_and_confirm_once() {
    let repo = Repo::new();
    let (first, counts) = counted(&repo, &["start", "--intent", "edit", "src/a.py"]);
    assert_eq!(first.exit_code, Some(0), "{first:#?}");
    // The policy that judges is taken from git itself; its answer about the commit is kept for the rest.
    assert!(count(&counts, "tree_walks") <= 2 && count(&counts, "git_processes") <= 2, "{counts}");
    assert_eq!(count(&counts, "files_parsed"), 2, "{counts}");
    repo.write("src/a.py", "print('changed')\n");
    let (finished, counts) = counted(&repo, &["finish"]);
    assert_eq!(finished.exit_code, Some(0), "{finished:#?}");
    assert!(count(&counts, "tree_walks") <= 2, "{counts}");
    assert_eq!((count(&counts, "git_processes"), count(&counts, "files_parsed")), (0, 1), "{counts}");
}

#[test]
fn an_analysis_costs_what_changed() {
    let repo = Repo::new();
    repo.write("src/one.py", "def one():\n    return 1\n");
    repo.write("src/two.py", "from src.one import one\n\n\ndef two():\n    return one() + 1\n");
    let (first, _) = settled(&repo, &["analyze"]);
    let (again, counts) = settled(&repo, &["analyze"]);
    assert_eq!((&again.json["known"], &again.json["findings"]), (&json!(true), &first.json["findings"]));
    for (name, expected) in [("tree_walks", 1), ("files_parsed", 0), ("cache_bytes_written", 0)] {
        assert_eq!(count(&counts, name), expected, "{name}: {counts}");
    }
    repo.write("src/one.py", "def one():\n    return 2\n");
    let (edited, counts) = counted(&repo, &["analyze"]);
    assert_eq!(edited.json["known"], false);
    for name in ["tree_walks", "files_parsed"] {
        assert_eq!(count(&counts, name), 1, "{name}: {counts}");
    }
    let cold = counted(&repo, &["analyze", "--cold"]).0;
    assert_eq!(
        edited.json["report_digest"], cold.json["report_digest"],
        "caches change nothing in the answer"
    );
}

#[test]
fn strict_runs_and_gates_take_the_walk() {
    for more in
        ["[contract]\nstrictness = \"strict\"\n", "[[gate]]\nid = \"ok\"\nrun = [\"true\"]\ntier = \"T0\"\n"]
    {
        let repo = Repo::new();
        repo.write("probity.toml", &format!("{LAZY_POLICY}{more}"));
        repo.sh("git add . && git commit -q -m policy");
        if !has_views(&repo) {
            return;
        }
        let outcome = repo.run_with(&["--enforce", "overlay", "--scope", "src/**"], "true");
        assert!(!is_lazy(outcome.passes()), "{more}");
    }
}
