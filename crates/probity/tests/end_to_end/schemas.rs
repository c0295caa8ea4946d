//! Every document that the binary prints has a schema, and says nothing that the schema does not know.

use crate::repo::Repo;
use serde_json::Value;
use std::path::Path;

/// Holds a document against the schema that it names.
pub(crate) fn check(document: &Value) {
    let name = document["schema"].as_str().expect("a schema");
    let file = name.strip_prefix("probity/").and_then(|name| name.strip_suffix("/v1")).expect("a version");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/schemas/{file}.v1.json"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name} has no schema: {error}"));
    let schema: Value = serde_json::from_str(&text).expect("the schema is JSON");
    fits(document, &schema, name);
}

/// The part of JSON Schema that our schemas use.
fn fits(value: &Value, schema: &Value, place: &str) {
    if let Some(allowed) = schema.get("const") {
        assert_eq!(value, allowed, "{place}");
    }
    if let Some(Value::Array(allowed)) = schema.get("enum") {
        assert!(allowed.contains(value), "{place}: {value} is not among {allowed:?}");
    }
    if let Some(Value::Array(forms)) = schema.get("anyOf") {
        assert!(forms.iter().any(|form| has_type(value, form)), "{place}: {value} fits no form");
    }
    assert!(has_type(value, schema), "{place}: {value} is no {}", schema["type"]);
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        assert!(value.is_null() || value.get(name).is_some(), "{place}: `{name}` is missing in {value}");
    }
    if let (Some(members), Some(properties)) = (value.as_object(), schema["properties"].as_object()) {
        for (name, member) in members {
            let known =
                properties.get(name).unwrap_or_else(|| panic!("{place}: the schema does not know `{name}`"));
            fits(member, known, &format!("{place}.{name}"));
        }
    }
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        fits(item, &schema["items"], &format!("{place}[{index}]"));
    }
}

fn has_type(value: &Value, schema: &Value) -> bool {
    let is = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "null" => value.is_null(),
        other => panic!("the schemas use no type `{other}`"),
    };
    match &schema["type"] {
        Value::String(name) => is(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(is),
        _ => true,
    }
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
