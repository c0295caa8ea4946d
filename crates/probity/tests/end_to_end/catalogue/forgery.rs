//! Cases 81 and 93–102: forged evidence.

use crate::repo::{Repo, verify};
use probity_core::{Digest, json};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the bundle of a run that went out of scope.
fn violated() -> (Repo, PathBuf) {
    let repo = Repo::new();
    let bundle = repo.run("echo x >> src/a.py; echo x >> docs/d.md").is_out(&["docs/d.md"]).evidence_dir();
    (repo, bundle)
}

/// Returns the bundle of a run that passed.
fn passed() -> (Repo, PathBuf) {
    let repo = Repo::new();
    let bundle = repo.run("echo x >> src/a.py").passes().evidence_dir();
    (repo, bundle)
}

fn manifest(bundle: &Path) -> Value {
    json::parse(&fs::read(bundle.join("manifest.json")).expect("a manifest")).expect("strict JSON")
}

/// Changes the manifest and recomputes its hash, as a forger without a key would.
fn forge(bundle: &Path, change: impl FnOnce(&mut Value)) {
    let mut manifest = manifest(bundle);
    change(&mut manifest);
    let members = manifest.as_object_mut().expect("an object");
    members.remove("run_hash");
    let signature = members.remove("signature");
    let hash = Digest::of(&json::canonical(&manifest));
    manifest["run_hash"] = json!(hash);
    manifest["signature"] = signature.unwrap_or(Value::Null);
    fs::write(bundle.join("manifest.json"), json::canonical(&manifest)).expect("writes");
}

fn codes(bundle: &Path) -> Vec<String> {
    let verified = verify(bundle, None);
    assert_eq!(
        (verified.json["outcome"].as_str(), verified.exit_code),
        (Some("FAIL"), Some(1)),
        "{verified:#?}"
    );
    verified.codes()
}

fn trust(repo: &Repo, demands: &Value) -> PathBuf {
    let path = repo.outside().join("trust.json");
    let mut trust = demands.clone();
    trust["schema"] = json!("probity/trust/v1");
    fs::write(&path, trust.to_string()).expect("writes");
    path
}

#[test]
fn artifacts_cannot_leave_the_bundle() {
    for path in ["../../../../etc/passwd", "/etc/passwd"] {
        let (_repo, bundle) = passed();
        forge(&bundle, |manifest| manifest["artifact_hashes"][0]["path"] = json!(path));
        assert!(codes(&bundle).contains(&"EVIDENCE.PATH_TRAVERSAL".into()));
    }
    let (_repo, bundle) = passed();
    fs::remove_file(bundle.join("summary.md")).expect("removes");
    std::os::unix::fs::symlink("/etc/passwd", bundle.join("summary.md")).expect("links");
    assert!(!codes(&bundle).is_empty());
}

#[test]
fn an_emptied_untracked_list_is_recomputed() {
    let (_repo, bundle) = violated();
    forge(&bundle, |manifest| {
        manifest["untracked_delta_paths"] = json!([]);
        manifest["status"] = json!("pass");
        manifest["reason"] = Value::Null;
    });
    let codes = codes(&bundle);
    for code in ["EVIDENCE.RECONCILIATION_MISMATCH", "RECON.UNTRACKED_DELTA", "EVIDENCE.STATUS_MISMATCH"] {
        assert!(codes.contains(&code.into()), "{codes:?}");
    }
    let (_repo, bundle) = violated();
    forge(&bundle, |manifest| {
        manifest["untracked_delta_paths"] = json!([]);
        manifest["workspace_delta_paths"] = json!(["src/a.py"]);
    });
    assert!(self::codes(&bundle).contains(&"EVIDENCE.DELTA_MISMATCH".into()));
}

#[test]
fn the_profile_is_demanded_by_the_caller() {
    let (repo, bundle) = passed();
    let demand = trust(&repo, &json!({ "profile": "team" }));
    assert!(verify(&bundle, Some(&demand)).codes().contains(&"EVIDENCE.PROFILE_MISMATCH".into()));
}

#[test]
fn missing_and_failing_gates_are_found() {
    let (repo, bundle) = passed();
    let demand = trust(&repo, &json!({ "required_gates": ["test"] }));
    assert!(verify(&bundle, Some(&demand)).codes().contains(&"GATE.MISSING".into()));
    let gate = |status: &str, exit_code: i64| json!([{ "gate_id": "test", "status": status, "exit_code": exit_code, "duration_ms": 1, "log_paths": [] }]);
    for (results, code) in [
        (gate("fail", 1), "GATE.FAILED"),
        (gate("pass", 1), "GATE.FAILED"),
        (gate("skip", 0), "GATE.SKIPPED"),
    ] {
        forge(&bundle, |manifest| manifest["gate_results"] = results);
        assert!(verify(&bundle, Some(&demand)).codes().contains(&code.into()));
    }
}

#[test]
fn the_bundle_is_a_closed_world() {
    let (_repo, bundle) = passed();
    fs::write(bundle.join("planted.txt"), "x").expect("plants");
    assert_eq!(codes(&bundle), ["EVIDENCE.ARTIFACT_UNLISTED"]);
    fs::remove_file(bundle.join("planted.txt")).expect("removes");
    fs::write(bundle.join("summary.md"), "all is well").expect("rewrites");
    assert_eq!(codes(&bundle), ["EVIDENCE.ARTIFACT_MISMATCH", "EVIDENCE.SUMMARY_MISMATCH"]);
    forge(&bundle, |manifest| manifest["artifact_hashes"] = json!([]));
    assert!(codes(&bundle).contains(&"EVIDENCE.ARTIFACT_UNLISTED".to_owned()));
}

#[test]
fn a_gap_in_the_chain_is_reported() {
    let repo = Repo::new();
    let bundles: Vec<PathBuf> =
        (0..3).map(|round| repo.run(&format!("echo {round} >> src/a.py")).passes().evidence_dir()).collect();
    assert_eq!(manifest(&bundles[2])["prev_run_hash"], manifest(&bundles[1])["run_hash"]);
    assert_eq!(repo.ask(&["evidence", "chain"]).json["outcome"], "PASS");
    fs::remove_dir_all(&bundles[1]).expect("removes");
    let gap = repo.ask(&["evidence", "chain"]);
    assert_eq!((gap.json["outcome"].as_str(), gap.exit_code), (Some("FAIL"), Some(1)), "{gap:#?}");
    assert!(gap.codes().contains(&"EVIDENCE.CHAIN_BROKEN".into()));
}

#[test]
fn only_one_spelling_is_read() {
    let (_repo, bundle) = passed();
    let path = bundle.join("manifest.json");
    let original = fs::read_to_string(&path).expect("reads");
    let spellings = [
        (original.replacen('{', "{\"status\":\"pass\",", 1), "JSON.DUPLICATE_KEY"),
        (original.replacen('{', "{ ", 1), "EVIDENCE.NOT_CANONICAL"),
        (original.replace("sha256:", "SHA256:"), "EVIDENCE.SCHEMA_INVALID"),
        (original.replacen('{', "{\"n\":NaN,", 1), "JSON.NON_FINITE"),
    ];
    for (text, code) in spellings {
        fs::write(&path, text).expect("writes");
        assert!(codes(&bundle).contains(&code.into()), "{code}");
    }
}

#[test]
fn a_bundle_cannot_bring_its_own_key() {
    let repo = Repo::new();
    assert_eq!(repo.ask(&["keys", "generate"]).exit_code, Some(0));
    let bundle = repo.run("echo x >> src/a.py").evidence_dir();
    assert!(
        manifest(&bundle)["signature"].as_str().is_some_and(|signature| signature.starts_with("ed25519:"))
    );
    let demand = trust(&repo, &json!({ "signature": "required", "keys": {} }));
    assert!(verify(&bundle, Some(&demand)).codes().contains(&"EVIDENCE.KEY_UNKNOWN".into()));
}

#[test]
fn verifying_needs_no_secret() {
    let repo = Repo::new();
    repo.ask(&["keys", "generate"]);
    let key = repo.ask(&["keys", "show"]).json;
    assert!(!key.to_string().contains("secret"), "{key}");
    let bundle = repo.run("echo x >> src/a.py").evidence_dir();
    let id = key["key_id"].as_str().expect("an id").to_owned();
    let demand = trust(&repo, &json!({ "signature": "required", "keys": { id: key["public_key"] } }));
    let verified = verify(&bundle, Some(&demand));
    assert_eq!(
        (verified.json["outcome"].as_str(), verified.exit_code),
        (Some("PASS"), Some(0)),
        "{verified:#?}"
    );
    forge(&bundle, |manifest| manifest["created_at"] = json!("yesterday"));
    assert!(verify(&bundle, Some(&demand)).codes().contains(&"EVIDENCE.SIGNATURE_INVALID".into()));
}

#[test]
fn hostile_manifests_are_refused_cleanly() {
    let (_repo, bundle) = passed();
    let path = bundle.join("manifest.json");
    let deep = "[".repeat(1_000_000);
    for text in ["[]", "null", "", "{}", &deep, "\u{0}", "{\"version\":\"1\"}"] {
        fs::write(&path, text).expect("writes");
        assert!(!codes(&bundle).is_empty());
    }
    fs::remove_file(&path).expect("removes");
    assert_eq!(codes(&bundle), ["EVIDENCE.MANIFEST_MISSING"]);
}

#[test]
fn evidence_lies_outside_the_judged_tree() {
    let (repo, bundle) = passed();
    assert!(bundle.starts_with(repo.path().join(".git/probity")), "{}", bundle.display());
    repo.run("true").passes();
    // Without git the state is inside the tree, and still not part of it.
    fs::remove_dir_all(repo.path().join(".git")).expect("removes");
    repo.run("echo y >> src/a.py").passes();
    let second = repo.run("echo z >> src/a.py");
    second.passes();
    assert!(second.evidence_dir().starts_with(repo.path().join(".probity")));
    // A repository created during the run is content like any other.
    let made = repo.run("git init -q .; echo w >> src/a.py");
    made.fails_with("RECON.UNTRACKED_DELTA");
    assert!(made.delta().contains(&".git/config".into()), "{made:#?}");
    repo.sh("rm -rf .git");
    // But files that the agent plants in the state are found.
    repo.run("echo forged > .probity/chain.json").fails_with("PROTECTED.CHANGED");
}
