//! The text output of the commands that govern a run, including the next steps.

use crate::repo::Repo;
use serde_json::{Value, json};
use std::process::Output;

/// Returns everything that was printed, stderr first.
fn printed(output: &Output) -> String {
    [&output.stderr[..], &output.stdout].map(String::from_utf8_lossy).concat()
}

fn told(repo: &Repo, arguments: &[&str]) -> String {
    printed(&repo.probity(arguments).output().expect("probity starts"))
}

#[test]
fn a_refused_run_names_the_tree_and_no_run() {
    let repo = Repo::new();
    let text = told(&repo, &["run", "--scope", "nowhere/**", "--", "true"]);
    let first = text.lines().next().expect("a line");
    assert_eq!(first, format!("probity run  in {}", repo.path().canonicalize().expect("is real").display()));
    assert!(text.contains("SCOPE.COVERS_NOTHING"), "{text}");
    let refused = repo.run_with(&["--scope", "nowhere/**"], "true");
    refused.refused_with("SCOPE.COVERS_NOTHING");
    assert_eq!(refused.json.get("run_id"), None, "{refused:#?}");
}

#[test]
fn a_failed_gate_shows_the_end_of_its_log_escaped() {
    let repo = Repo::new();
    repo.write(
        "probity.toml",
        "[[gate]]\nid = \"test\"\nrun = [\"sh\", \"-c\", \"seq 1 30; printf '\\\\033[31mred\\\\n' >&2; exit 3\"]\n",
    );
    let text = told(&repo, &["run", "--scope", "src/a.py", "--", "true"]);
    assert!(text.contains("001-test.stdout  the last 10 of 30 lines\n            21\n"), "{text}");
    assert!(text.contains("            30\n") && !text.contains("            20\n"), "{text}");
    assert!(text.contains("001-test.stderr  1 line\n            \\u{1b}[31mred\n"), "{text}");
}

#[test]
fn sound_evidence_of_a_failed_run_is_called_intact() {
    let repo = Repo::new();
    repo.run("echo x >> docs/d.md").is_out(&["docs/d.md"]);
    let text = told(&repo, &["evidence", "verify", "last"]);
    let verdict = "FAIL the evidence is intact; the run it records failed: RECON.UNTRACKED_DELTA";
    assert!(text.contains(verdict), "{text}");
    assert!(text.contains("no gate was required") && !text.contains("every required gate"), "{text}");
    let verified = repo.ask(&["evidence", "verify", "last"]);
    assert_eq!(
        (&verified.json["outcome"], &verified.json["codes"]),
        (&json!("FAIL"), &json!(["RECON.UNTRACKED_DELTA"]))
    );
    let dir = repo.ask(&["evidence", "show", "last"]).evidence_dir();
    let manifest = std::fs::read_to_string(dir.join("manifest.json")).expect("a manifest");
    std::fs::write(dir.join("manifest.json"), manifest.replace("docs/d.md", "docs/e.md")).expect("writes");
    let text = told(&repo, &["evidence", "verify", "last"]);
    assert!(text.contains("FAIL the evidence does not prove what it must: EVIDENCE."), "{text}");
    assert!(!text.contains("intact"), "{text}");
}

#[test]
fn a_required_gate_that_passed_is_said_to_have_passed() {
    let repo = Repo::new();
    repo.write("probity.toml", "[[gate]]\nid = \"test\"\nrun = [\"true\"]\n");
    repo.run("echo x >> src/a.py").passes();
    let text = told(&repo, &["evidence", "verify", "last"]);
    assert!(text.contains("every required gate ran and passed"), "{text}");
    assert!(text.contains("PASS the evidence is intact, and the run it records passed"), "{text}");
}

#[test]
fn a_reverted_run_names_its_revert_and_needs_nothing_more() {
    let repo = Repo::new();
    let run = repo.run("echo x >> docs/d.md; echo x > new");
    let id = run.json["run_id"].as_str().expect("an id").to_owned();
    assert_eq!(repo.ask(&["evidence", "show", &id]).json["reverted_by"], Value::Null);
    repo.ask(&["revert", "last", "docs/d.md"]);
    let partly = repo.ask(&["evidence", "show", &id]).json;
    assert_eq!(partly["reverted_by"]["left"], json!(["new"]));
    let text = told(&repo, &["evidence", "show", &id]);
    assert!(text.contains("partly reverted by run") && text.contains("1 path left"), "{text}");
    assert!(text.contains("probity revert"), "what is left is still to be decided: {text}");
    let revert = repo.ask(&["revert", "last"]);
    let revert_id = revert.evidence_dir();
    let revert_id = revert_id.file_name().and_then(|name| name.to_str()).expect("an id");
    assert_eq!(
        repo.ask(&["evidence", "show", &id]).json["reverted_by"],
        json!({ "run_id": revert_id, "left": [] })
    );
    let text = told(&repo, &["evidence", "show", &id]);
    assert!(text.contains(&format!("reverted by run {}", &revert_id[..13])), "{text}");
    assert!(text.contains("nothing: what was out of scope is undone"), "{text}");
    let list = told(&repo, &["evidence", "list"]);
    let listed = list.lines().find(|line| line.starts_with(&id[..13]) && line.contains("FAIL"));
    assert!(listed.is_some_and(|line| line.contains("(reverted by run ")), "{list}");
}

#[test]
fn what_is_still_staged_of_undone_paths_is_told_with_the_command_that_unstages_it() {
    let repo = Repo::new();
    // `mine` was staged before the run, so it is not reported.
    repo.sh("echo mine > mine; git add mine");
    repo.run("echo x >> docs/d.md; echo x > new; echo x >> mine; git add docs/d.md new");
    let text = told(&repo, &["revert", "last"]);
    let command = "git restore --staged -- docs/d.md new";
    assert!(text.contains(&format!("to unstage: {command}")), "{text}");
    let again = repo.ask(&["revert", "last"]).json;
    assert_eq!(again["staged"]["paths"], json!(["docs/d.md", "new"]), "{again:#}");
    repo.sh(command);
    let after = repo.ask(&["revert", "last"]).json;
    assert_eq!(after["staged"], json!({ "paths": [], "command": null, "unknown": false }));
    repo.sh("test \"$(git status --porcelain)\" = 'A  mine'");
}

#[test]
fn without_a_commit_staged_files_are_taken_out_of_the_index() {
    let repo = Repo::new();
    repo.sh("rm -rf .git; git init -q -b main");
    repo.run("echo x > new; git add new");
    let reverted = repo.ask(&["revert", "last"]).json;
    assert_eq!(reverted["staged"]["command"], "git rm --cached -- new", "{reverted:#}");
    repo.sh("git rm -q --cached -- new");
}

#[test]
fn init_says_how_to_commit_the_policy_and_leaves_out_deceptive_rules() {
    let repo = Repo::new();
    repo.write(".gitignore", "cache-of-builds/\nc1\u{9b}31m/\nbidi\u{202e}x/\n");
    let text = told(&repo, &["init"]);
    let command = "git add -- probity.toml && git commit -m 'Add the Probity policy' -- probity.toml";
    assert!(text.contains(command), "{text}");
    assert!(text.contains("2 rules of your .gitignore"), "{text}");
    let policy = std::fs::read_to_string(repo.path().join("probity.toml")).expect("a policy");
    assert!(policy.contains("cache-of-builds") && !policy.contains(['\u{9b}', '\u{202e}']), "{policy}");
    repo.sh("git add -- probity.toml && git commit -q -m policy -- probity.toml && git cat-file -e HEAD:probity.toml");
}

/// Returns the sentences of `explain` about the policy: the two lines below the path.
fn explained(repo: &Repo, path: &str) -> [String; 2] {
    let text = told(repo, &["explain", path]);
    let mut lines = text.lines().skip(1).map(|line| line.trim().to_owned());
    [lines.next().expect("what it is"), lines.next().expect("where it stands")]
}

#[test]
fn explain_tells_protection_exemption_and_what_is_not_there() {
    let repo = Repo::new();
    repo.write(
        "probity.toml",
        "[workspace]\nbuild_outputs = [\"gen/**\"]\nrecognize_outputs = true\nprotected = [\"docs/**\"]\n\
         [[pack]]\nid = \"CODE\"\nscope = [\"src/**\"]\n",
    );
    repo.write("gen/kept.txt", "");
    repo.sh("git add -f gen probity.toml; git commit -q -m policy");
    repo.write("gen/new.txt", "");
    repo.write("env/pyvenv.cfg", "home = /usr/bin\n");
    repo.write("env/lib/x.so", "");
    for (path, what, standing) in [
        (
            "src/a.py",
            "a file that git tracks",
            "judged: a change must be in the scope of its run; in pack CODE",
        ),
        (
            "docs/d.md",
            "a file that git tracks",
            "protected by `docs/**`: no scope lets a run change it, only `--grant`",
        ),
        (
            "src/probity.toml",
            "does not exist in the tree",
            "protected by `**/probity.toml`: no scope lets a run change it, only `--grant`; in pack CODE",
        ),
        (
            ".git/config",
            "a file that git does not track",
            "protected: it is one of git's own files, and no scope lets a run change it",
        ),
        (
            "gen/new.txt",
            "a file that git does not track",
            "exempt by `gen/**` of `build_outputs`: a change is recorded and not judged",
        ),
        (
            "gen/kept.txt",
            "a file that git tracks",
            "judged, although it is in `gen/**` of `build_outputs`: git tracks it",
        ),
        (
            "env/lib/x.so",
            "a file that git does not track",
            "exempt by env/, a directory recognized by its pyvenv.cfg: a change is recorded and not judged",
        ),
        ("src", "a directory with files that git tracks", "judged: a change must be in the scope of its run"),
        ("gone.txt", "does not exist in the tree", "judged: a change must be in the scope of its run"),
    ] {
        assert_eq!(explained(&repo, path), [what, standing], "{path}");
    }
    repo.sh("rm src/b.py");
    assert_eq!(explained(&repo, "src/b.py")[0], "does not exist in the tree, although git tracks it");
    let story = repo.ask(&["explain", "gen/new.txt"]).json;
    assert_eq!(
        story["now"],
        json!({
            "kind": "file",
            "tracked": false,
            "protected_by": null,
            "output_rule": { "rule": "build_outputs", "pattern": "gen/**" },
            "judged_because": null,
            "exempt": true,
            "packs": [],
        })
    );
    assert_eq!((&story["run_id"], &story["in_scope"]), (&Value::Null, &Value::Null), "there is no run yet");
}

#[test]
fn coverage_counts_the_files_that_are_judged() {
    let repo = Repo::new();
    repo.write("probity.toml", "[workspace]\nbuild_outputs = [\"gen/**\"]\nrecognize_outputs = true\n");
    repo.write("gen/kept", "");
    repo.sh("git add -f gen probity.toml; git commit -q -m policy; for n in 1 2 3; do echo x > gen/$n; done");
    repo.sh("mkdir -p env/lib; echo 'home = /usr/bin' > env/pyvenv.cfg; echo x > env/lib/x.so");
    let counts = json!({ "covered": 2, "files": 6 });
    assert_eq!(repo.ask(&["plan", "--scope", "src/**"]).json["coverage"], counts);
    assert_eq!(repo.run_with(&["--scope", "src/**"], "true").passes().json["coverage"], counts);
    // A scope of build outputs alone is not a typing mistake.
    repo.run_with(&["--scope", "gen/1"], "true").passes();
}

#[test]
fn contract_verify_lists_what_changed_with_what_was_declared_first() {
    let repo = Repo::new();
    repo.sh("echo x >> docs/d.md; rm src/b.py; echo n > src/n.py");
    let text = told(&repo, &["contract", "verify"]);
    let rows = |lines: &[&str]| format!("            {}\n", lines.join("\n            "));
    assert!(text.contains(&rows(&["~ docs/d.md", "- src/b.py", "+ src/n.py"])), "{text}");
    let text = told(&repo, &["contract", "verify", "--allow", "src/n.py"]);
    let declared = ["+ src/n.py  in scope", "~ docs/d.md  out of scope", "- src/b.py  out of scope"];
    assert!(text.contains(&rows(&declared)), "{text}");
    repo.sh("mkdir many; for n in $(seq 30); do echo x > many/$n.txt; done");
    let text = told(&repo, &["contract", "verify"]);
    assert!(text.contains("+ many/  30 paths\n"), "{text}");
}

#[test]
fn without_a_terminal_every_gate_that_starts_or_ends_is_a_line() {
    let repo = Repo::new();
    let gate = |id: &str, program: &str| format!("[[gate]]\nid = \"{id}\"\nrun = [\"{program}\"]\n");
    repo.write("probity.toml", &[gate("lint", "true"), gate("test", "false"), gate("late", "true")].concat());
    repo.sh("git add . && git commit -q -m policy");
    let lines = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| line.starts_with("probity: gate "));
        lines.map(|line| line.split(" after ").next().unwrap_or_default().to_owned()).collect()
    };
    let text = told(&repo, &["contract", "verify"]);
    assert_eq!(
        lines(&text),
        [
            "probity: gate lint started, 1 of 3",
            "probity: gate lint passed",
            "probity: gate test started, 2 of 3",
            "probity: gate test failed"
        ]
    );
    let text = told(&repo, &["run", "--scope", "src/a.py", "--", "true"]);
    // In a run, the end of a gate is a row of the report instead.
    assert_eq!(lines(&text), ["probity: gate lint started, 1 of 3", "probity: gate test started, 2 of 3"]);
}

#[test]
fn a_gate_that_writes_a_tracked_file_in_a_build_output_is_told() {
    let repo = Repo::new();
    repo.write(
        "probity.toml",
        "[workspace]\nbuild_outputs = [\"gen/**\"]\n[[gate]]\nid = \"make\"\n\
         run = [\"sh\", \"-c\", \"echo x >> gen/kept; echo x > gen/new\"]\n",
    );
    repo.write("gen/kept", "");
    repo.sh("git add -f . && git commit -q -m policy");
    let verified = repo.ask(&["contract", "verify"]);
    let notes = verified.json["notes"].to_string();
    assert!(notes.contains("`gen/kept` changed"), "{notes}");
}

#[test]
fn the_next_gates_remove_what_a_killed_run_left_in_the_directory_for_temporary_files() {
    let place = tempfile::tempdir().expect("a directory");
    let left = || {
        let entries = std::fs::read_dir(place.path()).expect("lists").flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| name.starts_with("probity-gate-")).collect::<Vec<_>>()
    };
    let governed = |repo: &Repo| {
        let mut command = repo.probity(&["run", "--json", "--scope", "src/a.py", "--", "true"]);
        command.env("TMPDIR", place.path());
        command
    };
    let waiting = "[[gate]]\nid = \"wait\"\nrun = [\"sh\", \"-c\", \"echo > ../started; while [ ! -e ../stop ]; do sleep 0.02; done\"]\n";
    let (killed, other) = (Repo::new(), Repo::new());
    killed.write("probity.toml", waiting);
    other.write("probity.toml", "[[gate]]\nid = \"quick\"\nrun = [\"true\"]\n");
    let mut child = governed(&killed)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("starts");
    probity_testkit::wait_until("the gate runs", || killed.outside().join("started").exists());
    let held = left();
    assert_eq!(held.len(), 1);
    other.outcome(&governed(&other).output().expect("starts")).passes();
    assert_eq!(left(), held, "its owner lives");
    child.kill().expect("is killed");
    child.wait().expect("ends");
    assert_eq!(left(), held, "nobody has looked yet");
    std::fs::write(killed.outside().join("stop"), "").expect("writes");
    killed.wait_for_silence();
    other.outcome(&governed(&other).output().expect("starts")).passes();
    assert_eq!(left(), [""; 0]);
}
