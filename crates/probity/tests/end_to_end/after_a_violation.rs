//! The next steps after a violation (expand, revert, split), and what `explain` says about a path.

use crate::repo::{Repo, has};
use serde_json::json;
use std::fs;
use std::process::Stdio;

fn read(repo: &Repo, name: &str) -> Option<String> {
    fs::read_to_string(repo.path().join(name)).ok()
}

#[test]
fn revert_undoes_exactly_what_was_out_of_scope() {
    let repo = Repo::new();
    repo.write("docs/dirty.md", "dirty before\n");
    repo.write("docs/tool", "#!/bin/sh\n");
    repo.sh("chmod 751 docs/tool; ln -s d.md docs/link");
    let script = "echo x >> src/a.py; echo x >> docs/d.md; echo x >> docs/dirty.md; rm docs/tool; rm docs/link; \
                  mkdir -p new/deep; echo x > new/deep/f; mkdir empty";
    let outcome = repo.run(script);
    outcome.is_out(&["docs/d.md", "docs/dirty.md", "docs/link", "docs/tool", "empty", "new/deep/f"]);
    let reverted = repo.ask(&["revert", "last"]);
    assert_eq!(reverted.exit_code, Some(0), "{reverted:#?}");
    assert_eq!(read(&repo, "docs/d.md").as_deref(), Some("# D\n"));
    assert_eq!(read(&repo, "docs/dirty.md").as_deref(), Some("dirty before\n"));
    assert_eq!(fs::read_link(repo.path().join("docs/link")).expect("a link").to_str(), Some("d.md"));
    repo.sh("[ \"$(stat -c %a docs/tool)\" = 751 ]; [ ! -e new/deep/f ]; [ ! -e empty ]; grep -q x src/a.py");
}

#[test]
fn revert_refuses_what_changed_since() {
    let repo = Repo::new();
    repo.run("echo x >> docs/d.md; echo x > payload").is_out(&["docs/d.md", "payload"]);
    repo.write("docs/d.md", "someone's later work\n");
    let dry = repo.ask(&["revert", "last", "--dry-run"]);
    assert_eq!(dry.exit_code, Some(1), "{dry:#?}");
    assert!(repo.path().join("payload").exists(), "a dry run changed something");
    let reverted = repo.ask(&["revert", "last"]);
    assert_eq!(reverted.exit_code, Some(1), "{reverted:#?}");
    let paths = reverted.json["paths"].as_array().expect("paths");
    assert_eq!(paths[0]["reason"], "REVERT.CHANGED_SINCE");
    assert_eq!(paths[1]["action"], "removed");
    assert_eq!(read(&repo, "docs/d.md").as_deref(), Some("someone's later work\n"));
}

#[test]
fn a_revert_is_a_run_with_evidence_of_its_own() {
    let repo = Repo::new();
    let run = repo.run("echo x >> docs/d.md; echo x > payload; echo x > later");
    run.is_out(&["docs/d.md", "later", "payload"]);
    let reverted = repo.ask(&["revert", "last", "docs/d.md", "payload"]);
    let evidence = reverted.evidence_dir();
    assert_eq!(crate::repo::verify(&evidence, None).json["outcome"], "PASS");
    let id = evidence.file_name().and_then(|name| name.to_str()).expect("an id").to_owned();
    let manifest = repo.ask(&["evidence", "show", &id]).json["manifest"].clone();
    assert_eq!(
        (&manifest["reverts"], &manifest["workspace_delta_paths"]),
        (&run.json["run_hash"], &json!(["docs/d.md", "payload"])),
        "{manifest:#}"
    );
    // `last` still means the run, and the record of the revert also fails for what it could not undo.
    repo.write("later", "someone's later work\n");
    let refused = repo.ask(&["revert", "last", "later"]);
    let codes = crate::repo::verify(&refused.evidence_dir(), None).codes();
    assert!(codes.contains(&"REVERT.CHANGED_SINCE".to_owned()), "{codes:?}");
    let chain = repo.ask(&["evidence", "chain"]);
    assert_eq!(
        (&chain.json["outcome"], chain.json["links"].as_array().map(Vec::len)),
        (&json!("PASS"), Some(3))
    );
}

#[test]
fn what_is_undone_already_is_not_undone_again() {
    let repo = Repo::new();
    repo.run("echo x >> docs/d.md; echo x > payload").is_out(&["docs/d.md", "payload"]);
    repo.ask(&["revert", "last"]);
    let again = repo.ask(&["revert", "last"]);
    assert_eq!(again.exit_code, Some(0), "{again:#?}");
    for path in again.json["paths"].as_array().expect("paths") {
        assert_eq!(path["action"], "already_undone", "{again:#?}");
    }
}

#[test]
fn revert_leaves_what_somebody_holds_unless_the_path_is_named() {
    let repo = Repo::new();
    let agent = crate::agents::Agent::new(&repo, "a1");
    let intent = agent.begin("docs/d.md", &[]);
    // As if the agent edited its file during the run: nobody can tell whose change it is.
    repo.run("echo x >> docs/d.md; echo x > payload").is_out(&["docs/d.md", "payload"]);
    let reverted = repo.ask(&["revert", "last"]);
    assert_eq!(reverted.exit_code, Some(1), "{reverted:#?}");
    let held = &reverted.json["paths"][0];
    assert_eq!(
        (&held["action"], &held["reason"]),
        (&json!("refused"), &json!("REVERT.HELD")),
        "{reverted:#?}"
    );
    assert!(held["detail"].as_str().is_some_and(|detail| detail.contains(&intent)), "{reverted:#?}");
    assert_eq!(reverted.json["paths"][1]["action"], "removed", "{reverted:#?}");
    let named = repo.ask(&["revert", "last", "docs/d.md"]);
    assert_eq!(
        (named.exit_code, &named.json["paths"][0]["action"]),
        (Some(0), &json!("restored")),
        "{named:#?}"
    );
}

#[test]
fn revert_can_be_told_which_paths() {
    let repo = Repo::new();
    repo.run("echo x >> docs/d.md; echo x >> src/b.py").is_out(&["docs/d.md", "src/b.py"]);
    assert_eq!(repo.ask(&["revert", "last", "docs/d.md"]).exit_code, Some(0));
    assert_eq!(read(&repo, "docs/d.md").as_deref(), Some("# D\n"));
    assert_ne!(read(&repo, "src/b.py").as_deref(), Some("print('b')\n"));
    repo.ask(&["revert", "last", "src/a.py"]).refused_with("PATH.INVALID");
}

#[test]
fn an_amendment_afterwards_is_a_new_judgment_and_leaves_the_old_one() {
    let repo = Repo::new();
    let first = repo.run("echo x >> docs/d.md; echo x >> src/b.py");
    first.is_out(&["docs/d.md", "src/b.py"]);
    let narrow =
        repo.ask(&["amend", "last", "--add", "docs/**", "--why", "the docs belong to it", "--by", "ann"]);
    assert_eq!(
        (narrow.exit_code, &narrow.json["untracked_delta_paths"]),
        (Some(1), &json!(["src/b.py"])),
        "{narrow:#?}"
    );
    let wide = repo.ask(&["amend", "last", "--add", "src/b.py", "--why", "so does b", "--by", "ann"]);
    assert_eq!((wide.exit_code, &wide.json["status"]), (Some(0), &json!("pass")), "{wide:#?}");
    let manifest = repo.ask(&["evidence", "show", "last"]).json["manifest"].clone();
    assert_eq!(manifest["scope"], json!(["src/a.py"]), "the sealed scope must stay apart");
    assert_eq!(manifest["amendments"][1]["by"], "ann");
    assert_eq!(repo.ask(&["evidence", "verify", "last"]).json["outcome"], "PASS");
    let old = first.evidence_dir();
    assert_eq!(repo.ask(&["evidence", "verify", old.to_str().expect("text")]).json["outcome"], "FAIL");
    assert_eq!(repo.ask(&["evidence", "chain"]).json["outcome"], "PASS");
}

#[test]
fn an_amendment_needs_a_reason_and_the_policy() {
    let repo = Repo::new();
    repo.run("echo x >> docs/d.md").is_out(&["docs/d.md"]);
    assert_eq!(
        repo.ask(&["amend", "last", "--add", "docs/**", "--why", " ", "--by", "ann"]).exit_code,
        Some(2)
    );
    repo.ask(&["amend", "last", "--add", "docs/", "--why", "x", "--by", "ann"])
        .refused_with("SCOPE.TRAILING_SLASH");
    repo.write("probity.toml", "[amend]\nafter = \"deny\"\n");
    repo.run("echo y >> docs/d.md").is_out(&["docs/d.md"]);
    repo.ask(&["amend", "last", "--add", "docs/**", "--why", "x", "--by", "ann"])
        .refused_with("AMEND.NOT_ALLOWED");
}

#[test]
fn a_running_run_takes_amendments_from_outside_and_not_from_inside() {
    let repo = Repo::new();
    let binary = env!("CARGO_BIN_EXE_probity");
    let inside = format!(
        "'{binary}' amend --add docs/** --why mine --by agent --json > ../inside.json || true; \
         (setsid '{binary}' amend --add docs/** --why mine --by agent --json > ../detached.json; touch ../tried) & \
         while [ ! -e ../tried ]; do sleep 0.02; done; touch ../up; \
         while [ ! -e ../go ]; do sleep 0.02; done; echo x >> docs/d.md"
    );
    let mut command = repo.probity(&["run", "--json", "--scope", "src/a.py", "--", "sh", "-c", &inside]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("starts");
    probity_testkit::wait_until("the run has tried to amend itself", || repo.outside().join("up").exists());
    let granted = repo.ask(&["amend", "--add", "docs/**", "--why", "the docs too", "--by", "ann"]);
    assert_eq!(granted.exit_code, Some(0), "{granted:#?}");
    fs::write(repo.outside().join("go"), "").expect("writes");
    let output = child.wait_with_output().expect("ends");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(json["status"], "pass", "{json:#}");
    assert_eq!(json["amendments"].as_array().map(Vec::len), Some(1), "{json:#}");
    for name in ["inside.json", "detached.json"] {
        let refused = fs::read_to_string(repo.outside().join(name)).expect("an answer");
        assert!(refused.contains("AMEND.FROM_INSIDE"), "{name}: {refused}");
    }
    // Law 3: a refused amendment is reported with its request, in the answer and in the evidence.
    let told = |findings: &serde_json::Value| {
        let findings = findings.as_array().expect("findings").clone();
        let refusals = findings.into_iter().filter(|finding| finding["code"] == "AMEND.FROM_INSIDE");
        refusals.filter(|finding| finding["detail"].to_string().contains("docs/")).count()
    };
    let manifest = repo.ask(&["evidence", "show"]).json["manifest"].clone();
    assert_eq!((told(&json["findings"]), told(&manifest["findings"])), (2, 2), "{json:#} {manifest:#}");
}

#[test]
fn a_refused_amendment_survives_its_supervisor() {
    let repo = Repo::new();
    let binary = env!("CARGO_BIN_EXE_probity");
    let script = format!("'{binary}' amend --add '**' --why mine --by agent >/dev/null 2>&1; kill -9 $PPID");
    let mut command = repo.probity(&["run", "--scope", "src/a.py", "--", "sh", "-c", &script]);
    command.output().expect("starts");
    repo.run("true").passes();
    let runs = repo.ask(&["evidence", "list"]).json["runs"].clone();
    let interrupted = runs[0]["run_id"].as_str().expect("a run").to_owned();
    let manifest = repo.ask(&["evidence", "show", &interrupted]).json["manifest"].clone();
    assert_eq!(manifest["reason"], "RUN.INTERRUPTED");
    assert!(manifest["findings"].to_string().contains("AMEND.FROM_INSIDE"), "{manifest:#}");
}

#[test]
fn an_amendment_refused_afterwards_is_a_link_of_the_chain() {
    let repo = Repo::new();
    repo.write("probity.toml", "[amend]\nafter = \"deny\"\n");
    let run = repo.run("echo x >> docs/d.md");
    run.is_out(&["docs/d.md"]);
    repo.ask(&["amend", "last", "--add", "docs/**", "--why", "I say so", "--by", "ann"])
        .refused_with("AMEND.NOT_ALLOWED");
    let manifest = repo.ask(&["evidence", "show", "last"]).json["manifest"].clone();
    assert_eq!(
        (&manifest["amended_from"], &manifest["amendments"], &manifest["status"]),
        (&run.json["run_hash"], &json!([]), &json!("fail"))
    );
    let told = manifest["findings"].to_string();
    assert!(told.contains("AMEND.NOT_ALLOWED") && told.contains("I say so"), "{manifest:#}");
    assert_eq!(repo.ask(&["evidence", "chain"]).json["outcome"], "PASS");
}

/// A process of the run connects, leaves its end of the socket to a child, and exits: the system then reports the pid
/// of a process that no longer exists.
const ASKS_AND_ENDS: &str = r#"
import glob, os, socket
asker_gone, asker_is_gone = os.pipe()
answered, is_answered = os.pipe()
asker = os.fork()
if asker == 0:
    os.chdir(glob.glob(".git/probity/open/*")[0])
    end = socket.socket(socket.AF_UNIX)
    end.connect("amend.sock")
    if os.fork() == 0:
        os.read(asker_gone, 1)
        end.sendall(b'{"add":["docs/**"],"by":"agent","why":"mine"}\n')
        end.recv(1000)
        os.write(is_answered, b"x")
    os._exit(0)
os.waitpid(asker, 0)
os.write(asker_is_gone, b"x")
os.read(answered, 1)
open("docs/d.md", "a").write("x")
"#;

#[test]
fn who_asks_and_is_gone_gets_nothing() {
    if !has("python3") {
        return probity_testkit::skip!("python3 is not installed");
    }
    let repo = Repo::new();
    repo.write("../asks.py", ASKS_AND_ENDS);
    let outcome = repo.run("python3 ../asks.py");
    outcome.is_out(&["docs/d.md"]);
    assert_eq!(outcome.json["amendments"], json!([]));
}

#[test]
fn a_smaller_scope_is_suggested() {
    let repo = Repo::new();
    repo.run_with(&["--scope", "**"], "echo x >> src/a.py; echo x >> src/b.py; echo x > 'docs/[x].md'")
        .passes();
    let suggested = repo.ask(&["plan", "--suggest-from", "last"]);
    let scope: Vec<&str> = suggested.json["scope"]
        .as_array()
        .expect("a scope")
        .iter()
        .filter_map(|pattern| pattern.as_str())
        .collect();
    let mut options = Vec::new();
    for pattern in &scope {
        options.extend(["--scope", pattern]);
    }
    repo.run_with(&options, "echo y >> src/a.py; echo y >> src/b.py; echo y > 'docs/[x].md'").passes();
    repo.run_with(&options, "echo y >> docs/d.md").is_out(&["docs/d.md"]);
}

#[test]
fn a_path_has_a_story() {
    let repo = Repo::new();
    repo.run_with(&["--scope", "src/**", "--scope", "!src/b.py"], "echo x >> src/b.py").is_out(&["src/b.py"]);
    let story = repo.ask(&["explain", "src/b.py"]).json;
    assert_eq!(
        (&story["in_scope"], &story["decided_by"], &story["change"]),
        (&json!(false), &json!("!src/b.py"), &json!("modified"))
    );
    assert_eq!(repo.ask(&["explain", "RECON.UNTRACKED_DELTA"]).json["code"], "RECON.UNTRACKED_DELTA");
    // `explain` knows every family of codes, not only the reasons of runs.
    for code in ["unknown_intent", "structural_regressions", "key_conflict", "no_base", "gate_not_run"] {
        let answer = repo.ask(&["explain", code]).json;
        assert_eq!((&answer["schema"], &answer["code"]), (&"probity/reason/v1".into(), &code.into()));
    }
}

/// An amended run is judged again in a separate bundle, and people keep calling it by its old id.
#[test]
fn an_amended_run_keeps_what_was_accepted_whichever_id_names_it() {
    let repo = Repo::new();
    let run = repo
        .run_with(&["--scope", "src/a.py"], "echo x >> src/a.py; echo x >> src/b.py; echo x >> docs/d.md");
    run.is_out(&["docs/d.md", "src/b.py"]);
    let id = run.json["run_id"].as_str().expect("an id").to_owned();
    let amend = |pattern: &str| repo.ask(&["amend", &id, "--add", pattern, "--why", "agreed", "--by", "ann"]);
    amend("src/b.py").is_out(&["docs/d.md"]);
    let undone = repo.ask(&["revert", &id]).json;
    assert_eq!(undone["paths"].as_array().map(Vec::len), Some(1), "{undone}");
    let text = std::fs::read_to_string(repo.path().join("src/b.py")).expect("is there");
    assert!(text.contains('x'), "what was accepted stays");
    amend("docs/d.md").passes();
}

/// Killing Probity does not kill the command: the next run names the remaining processes.
#[test]
fn processes_of_a_killed_run_are_named_by_the_next() {
    let repo = Repo::new();
    repo.sh("mkfifo ../gate");
    // The child outlives the command and its supervisor until a line is written to the pipe.
    let script = "sh -c 'read line < ../gate' > /dev/null 2>&1 & kill -9 $PPID";
    let killed = repo.probity(&["run", "--scope", "src/a.py", "--", "sh", "-c", script]).output();
    assert!(!killed.expect("starts").status.success());
    let mut next = repo.probity(&["run", "--scope", "src/a.py", "--", "true"]);
    let output = next.output().expect("runs");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    repo.sh("echo end > ../gate");
    assert!(told.contains("was interrupted") && told.contains("still run: sh ("), "{told}");
}

#[test]
fn an_attestation_can_be_exported() {
    let repo = Repo::new();
    repo.run("echo x >> src/a.py").passes();
    let statement = repo.ask(&["evidence", "export", "--format", "statement"]).json;
    assert_eq!(statement["attestation"]["_type"], "https://in-toto.io/Statement/v1");
    repo.ask(&["evidence", "export"]).refused_with("EVIDENCE.SIGNATURE_REQUIRED");
    repo.ask(&["keys", "generate"]);
    // The key does not vouch for a run from before it.
    repo.ask(&["evidence", "export"]).refused_with("EVIDENCE.SIGNATURE_REQUIRED");
    repo.run("echo y >> src/a.py").passes();
    let envelope = repo.ask(&["evidence", "export"]).json;
    assert_eq!(envelope["attestation"]["payloadType"], "application/vnd.in-toto+json");
}

#[test]
fn what_was_too_large_to_keep_is_said_and_cannot_be_undone() {
    let repo = Repo::new();
    // One byte above the limit for before-images; a sparse file takes no disk space.
    repo.sh("truncate -s 268435457 big");
    let outcome = repo.run("echo x >> big");
    outcome.is_out(&["big"]).finds("REVERT.NO_BEFORE_IMAGE", "big");
    let reverted = repo.ask(&["revert", "last"]);
    assert_eq!(reverted.json["paths"][0]["reason"], "REVERT.NO_BEFORE_IMAGE", "{reverted:#?}");
    assert_eq!(reverted.exit_code, Some(1));
}
