//! Every document that the binary prints has a schema, and contains nothing that the schema does not list.

use crate::published_schemas;
use crate::repo::Repo;
use serde_json::Value;

pub(crate) fn check(document: &Value) {
    let errors = published_schemas::errors(document);
    assert!(errors.is_empty(), "{:#}\n{}", document, errors.join("\n"));
}

#[test]
fn every_answer_fits_its_schema() {
    let repo = Repo::new();
    repo.write("probity.toml", "[[gate]]\nid = \"check\"\ntier = \"T0\"\nrun = [\"true\"]\n");
    let violated = repo.run_with(
        &["--scope", "src/a.py", "--scope", "docs"],
        "git tag t; echo x >> docs/d.md; mkfifo docs/p",
    );
    check(&violated.json);
    for file in ["seal.json", "delta.json", "manifest.json"] {
        let bytes = std::fs::read(violated.evidence_dir().join(file)).expect("reads");
        check(&serde_json::from_slice(&bytes).expect("JSON"));
    }
    let delta = std::fs::read(violated.evidence_dir().join("delta.json")).expect("a delta");
    check(&serde_json::from_slice(&delta).expect("JSON"));
    repo.sh("rm docs/p");
    let amended = ["amend", "last", "--add", "docs/**", "--why", "docs", "--by", "ann"];
    let answers: &[&[&str]] = &[
        &["plan", "--scope", "src/**"],
        &["plan", "--suggest", "src/a.py"],
        &["explain", "src/a.py"],
        &["explain", "GATE.FAILED"],
        &["evidence", "list"],
        &["evidence", "show", "last"],
        &["evidence", "verify", "last"],
        &["evidence", "verify", "last", "--tree", "."],
        &["evidence", "chain"],
        &["evidence", "export", "--format", "statement"],
        &["revert", "last"],
        &amended,
        &["analyze"],
        &["analyze", "--changed", "HEAD"],
        &["analyze", "blast", "src/a.py"],
        &["analyze", "baseline", "capture", "--why", "a start"],
        &["runs", "list"],
        &["runs", "show"],
        &["runs", "compare", "last"],
        &["runs", "gc"],
        &["keys", "generate"],
        &["evidence", "gc", "--keep", "1"],
        &["evidence", "chain"],
        &["init", "--dry-run"],
        &["init", "--agent", "claude", "--dry-run"],
        &["log"],
        &["intent", "list"],
        &["intent", "gc"],
        &["intent", "reset"],
        &["intent", "show", "none"],
        &["completions", "bash"],
        &["man"],
        &["evidence", "show", "nothing-like-it"],
    ];
    for arguments in answers {
        check(&repo.ask(arguments).json);
    }
    let baseline = std::fs::read(repo.path().join("probity.baseline.json")).expect("a baseline");
    check(&serde_json::from_slice(&baseline).expect("JSON"));
}

#[test]
fn every_answer_of_the_ledger_fits_its_schema() {
    let repo = Repo::new();
    let deltas = serde_json::json!([
        crate::ledger::decision("a", "Use A"),
        crate::ledger::decision("b", "Do not use A"),
        { "kind": "constraint_added", "handle": "c", "summary": "No GPL", "hard": true },
        { "kind": "constraint_revised", "target": "c", "summary": "No AGPL", "mode": "relaxed" },
        { "kind": "item_superseded", "target": "a", "reason": "cost", "by": "b" },
        { "kind": "guess" },
    ]);
    check(&crate::ledger::give(&repo, &["propose", "--said", "x"], &deltas.to_string()).json);
    check(&crate::ledger::give(&repo, &["propose", "--dry-run", "--said", "x"], &deltas.to_string()).json);
    check(&crate::ledger::give(&repo, &["ingest"], "not json\n{\"text\": \"Use Redis.\"}").json);
    let answers: [&[&str]; 17] = [
        &["ledger", "ingest", crate::ledger::CLAUDE_SESSION],
        &["ledger", "cite", "run-1", "b"],
        &["ledger", "show", "--all"],
        &["ledger", "as-of", "2"],
        &["ledger", "changed", "--since", "0"],
        &["ledger", "explain", "b"],
        &["ledger", "history", "c"],
        &["ledger", "scores"],
        &["ledger", "replay", "--since", "0"],
        &["ledger", "export"],
        &["ledger", "suggest"],
        &["ledger", "explain", "nothing"],
        &["ledger", "guard"],
        &["ledger", "ingest", crate::ledger::CODEX_SESSION, "--stream", "s"],
        &["ledger", "merge"],
        &["ledger", "merge", "s", "--dry-run"],
        &["ledger", "ingest", "--pending", "--model-command", "false", "--model-tries", "1"],
    ];
    for arguments in answers {
        check(&repo.ask(arguments).json);
    }
}

#[test]
fn every_answer_about_a_contract_fits_its_schema() {
    let repo = Repo::new();
    repo.sh("sed -i s/a/b/ src/a.py");
    let verify = ["contract", "verify"];
    let answers: [&[&str]; 9] = [
        &["contract", "budget"],
        &[&verify[..], &["--receipt", "--allow", "src/a.py", "--claim", "docs_only"]].concat(),
        &[&verify[..], &["--after", "ffffffff"]].concat(),
        &[&verify[..], &["--allow", "src/b.py", "--strictness", "strict", "--severity-floor", "error"]]
            .concat(),
        &["claims", "check", "--claim", "no_regressions"],
        &["receipt", "list"],
        &["receipt", "show"],
        &["receipt", "show", "--attestation"],
        &["receipt", "verify"],
    ];
    for arguments in answers {
        check(&repo.ask(arguments).json);
    }
    check(&repo.ask(&["receipt", "show"]).json["receipt"]);
}

#[test]
fn every_answer_about_changes_fits_its_schema() {
    let repo = Repo::new();
    let owner = "a-handle-of-a-test-01";
    let started = repo.ask(&["start", "src/b.py", "--intent", "a change", "--owner", owner]);
    check(&started.json);
    let intent = started.json["intent_id"].as_str().expect("an id");
    let changes: [&[&str]; 5] = [
        &["start", "src/b.py", "--intent", "another"],
        &["status"],
        &["doctor"],
        &["amend", "--intent", intent, "--add", "src/c.py", "--why", "more", "--owner", owner],
        &["finish", intent, "--observed", "--owner", owner, "--detail-level", "full"],
    ];
    for arguments in changes {
        check(&repo.ask(arguments).json);
    }
}
