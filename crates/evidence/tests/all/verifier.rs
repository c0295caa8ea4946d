//! The verifier's rules, one fact per test, on forged manifests with recomputed hashes.

use crate::common::{artifacts, key, manifest, trust};
use probity_core::{Digest, json};
use probity_evidence::{ChainPredecessor, SignatureRule, TrustRequirements, log_path, verify};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Forges the manifest of a good bundle, recomputes its hash and returns the verifier's findings.
fn codes(forge: impl FnOnce(&mut Value)) -> Vec<String> {
    codes_for(&TrustRequirements { signature: SignatureRule::Ignore, ..TrustRequirements::default() }, forge)
}

fn codes_for(trust: &TrustRequirements, forge: impl FnOnce(&mut Value)) -> Vec<String> {
    let mut files = manifest().assemble(artifacts(), None, Some(&key())).expect("a bundle").files;
    let mut value = json::parse(&files[&b"manifest.json"[..]]).expect("JSON");
    forge(&mut value);
    let mut hashed = value.clone();
    let members = hashed.as_object_mut().expect("an object");
    members.remove("run_hash");
    members.remove("signature");
    value["run_hash"] = Digest::of_json(&hashed).to_string().into();
    files.insert(b"manifest.json".to_vec(), json::canonical(&value));
    verify(&files, trust).codes.into_iter().collect()
}

/// Sets the scope in both places and recomputes the plan's hash.
fn set_scope(manifest: &mut Value, scope: &Value) {
    manifest["scope"] = scope.clone();
    manifest["plan"]["scope"] = scope.clone();
    manifest["plan_hash"] = Digest::of_json(&manifest["plan"]).to_string().into();
}

#[test]
fn roots_and_lists_must_tell_one_story() {
    let same_roots = codes(|it| it["after_root"] = it["before_root"].clone());
    assert_eq!(same_roots, ["EVIDENCE.DELTA_MISMATCH"]);
    let only_exempt = codes(|it| {
        it["delta"] = json!([]);
        it["workspace_delta_paths"] = json!([]);
    });
    assert_eq!(only_exempt, Vec::<String>::new(), "build outputs change the root too");
    let nothing = codes(|it| {
        it["delta"] = json!([]);
        it["workspace_delta_paths"] = json!([]);
        it["exempt_delta_paths"] = json!([]);
    });
    assert_eq!(nothing, ["EVIDENCE.DELTA_MISMATCH"]);
}

#[test]
fn only_a_submodule_whose_head_moved_is_in_the_delta_of_equal_roots() {
    let with_refs = |refs: Value| {
        codes(|it| {
            it["after_root"] = it["before_root"].clone();
            it["exempt_delta_paths"] = json!([]);
            it["workspace_delta_paths"] = json!(["docs/a.md"]);
            it["delta"].as_array_mut().expect("a list").retain(|change| change["path"] == "docs/a.md");
            it["refs"] = refs;
        })
    };
    let moved = |name: &str, repository: &str| json!([{ "name": name, "before": "a", "after": "b", "repository": repository }]);
    assert_eq!(with_refs(moved("HEAD", "docs/a.md")), Vec::<String>::new());
    for refs in [json!([]), moved("HEAD", "docs"), moved("refs/heads/main", "docs/a.md")] {
        assert_eq!(with_refs(refs.clone()), ["EVIDENCE.DELTA_MISMATCH"], "{refs}");
    }
}

#[test]
fn a_bad_pattern_does_not_hide_a_contradiction() {
    let found = codes(|it| {
        set_scope(it, &json!(["src/"]));
        it["workspace_delta_paths"] = json!([]);
    });
    assert_eq!(found, ["EVIDENCE.DELTA_MISMATCH", "EVIDENCE.STATUS_MISMATCH", "SCOPE.TRAILING_SLASH"]);
}

#[test]
fn a_bad_pattern_of_an_amendment_counts_too() {
    let found = codes(|it| it["amendments"][0]["add"] = json!(["docs/a.md", "[z-a]"]));
    assert_eq!(found, ["EVIDENCE.STATUS_MISMATCH", "SCOPE.BAD_RANGE"]);
}

#[test]
fn what_is_no_path_ends_the_reconciliation() {
    let found = codes(|it| {
        it["delta"][0]["path"] = "../x".into();
        it["workspace_delta_paths"][0] = "../x".into();
    });
    assert_eq!(found, ["EVIDENCE.STATUS_MISMATCH", "PATH.INVALID"]);
}

#[test]
fn any_missing_observation_is_a_missing_snapshot() {
    for field in ["before_root", "after_root", "delta", "workspace_delta_paths", "untracked_delta_paths"] {
        let found = codes(|it| it[field] = Value::Null);
        assert_eq!(found, ["EVIDENCE.STATUS_MISMATCH", "RECON.SNAPSHOT_MISSING"], "{field}");
    }
}

#[test]
fn recorded_untracked_paths_must_follow_from_the_facts() {
    let found = codes(|it| it["untracked_delta_paths"] = json!(["src/a.py"]));
    let expected = ["EVIDENCE.RECONCILIATION_MISMATCH", "EVIDENCE.STATUS_MISMATCH", "RECON.UNTRACKED_DELTA"];
    assert_eq!(found, expected);
}

#[test]
fn lists_are_compared_as_sets() {
    let found = codes(|it| {
        let paths = it["workspace_delta_paths"].as_array_mut().expect("a list");
        paths.reverse();
        let again = paths[0].clone();
        paths.push(again);
    });
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn a_pass_with_another_exit_code_is_a_failure() {
    for exit_code in [json!(3), json!(-1), Value::Null] {
        let found = codes(|it| it["gate_results"][0]["exit_code"] = exit_code.clone());
        assert_eq!(found, ["EVIDENCE.STATUS_MISMATCH", "GATE.FAILED"], "{exit_code}");
    }
}

#[test]
fn the_caller_may_demand_more_gates() {
    let demands = |gate: &str| {
        codes_for(
            &TrustRequirements {
                required_gates: vec![gate.into()],
                signature: SignatureRule::Ignore,
                ..TrustRequirements::default()
            },
            |_| {},
        )
    };
    assert_eq!(demands("lint"), Vec::<String>::new());
    assert_eq!(demands("size"), ["EVIDENCE.STATUS_MISMATCH", "GATE.FAILED"]);
    assert_eq!(demands("audit"), ["EVIDENCE.STATUS_MISMATCH", "GATE.MISSING"]);
}

#[test]
fn a_log_must_be_listed() {
    let found = codes(|it| it["gate_results"][0]["log_paths"] = json!(["logs/other"]));
    assert_eq!(found, ["EVIDENCE.ARTIFACT_MISSING"]);
}

#[test]
fn the_manifest_cannot_vouch_for_itself() {
    let entry = json!({"path": "manifest.json", "sha256": Digest::of(b"x")});
    let found = codes(|it| it["artifact_hashes"].as_array_mut().expect("a list").push(entry));
    assert_eq!(found, ["EVIDENCE.ARTIFACT_MISMATCH"]);
}

#[test]
fn plan_scope_and_policy_must_be_those_of_the_seal() {
    assert_eq!(codes(|it| it["plan"]["gates"][0]["run"] = json!(["true"])), ["SEAL.PLAN_MISMATCH"]);
    assert_eq!(codes(|it| it["scope"] = json!(["!src/gen/**", "src/**"])), ["SEAL.PLAN_MISMATCH"]);
    assert_eq!(codes(|it| it["policy_versions"] = json!({"policy": "4"})), ["SEAL.POLICY_DRIFT"]);
}

#[test]
fn demands_are_the_callers() {
    let other = TrustRequirements { profile: Some("Team".into()), ..trust() };
    assert_eq!(codes_for(&other, |_| {}), ["EVIDENCE.PROFILE_MISMATCH"]);
    let later =
        TrustRequirements { follows: Some(ChainPredecessor::Run(Digest::of(b"previous"))), ..trust() };
    assert_eq!(codes_for(&later, |_| {}), ["EVIDENCE.CHAIN_BROKEN"]);
    let sealed = TrustRequirements { plan_hash: Some(Digest::of(b"plan")), ..trust() };
    assert_eq!(codes_for(&sealed, |_| {}), ["SEAL.PLAN_MISMATCH"]);
}

#[test]
fn a_signature_is_judged_by_the_callers_keys() {
    assert_eq!(codes_for(&trust(), |it| it["signature"] = Value::Null), ["EVIDENCE.SIGNATURE_REQUIRED"]);
    // The hash covers the key id, which is checked before the signature.
    assert_eq!(codes_for(&trust(), |it| it["key_id"] = Value::Null), ["EVIDENCE.KEY_UNKNOWN"]);
    assert_eq!(
        codes_for(&trust(), |it| it["signature"] = "sealed with wax".into()),
        ["EVIDENCE.SIGNATURE_INVALID"]
    );
    let without_keys =
        TrustRequirements { keys: BTreeMap::new(), signature: SignatureRule::IfPresent, ..trust() };
    assert_eq!(codes_for(&without_keys, |_| {}), ["EVIDENCE.KEY_UNKNOWN"]);
}

#[test]
fn one_newline_may_follow_and_not_two() {
    let files = manifest().assemble(artifacts(), None, Some(&key())).expect("a bundle").files;
    let written = files[&b"manifest.json"[..]].clone();
    assert!(written.ends_with(b"}\n"));
    for (end, expected) in [("", 0), ("\n", 0), ("\n\n", 1), (" ", 1), ("\r\n", 1)] {
        let mut files = files.clone();
        files.insert(b"manifest.json".to_vec(), [written.trim_ascii_end(), end.as_bytes()].concat());
        assert_eq!(verify(&files, &trust()).codes.len(), expected, "{end:?}");
    }
}

#[test]
fn every_check_is_told_with_its_detail() {
    let mut files = manifest().assemble(artifacts(), None, Some(&key())).expect("a bundle").files;
    files.insert(b"planted\n\xff".to_vec(), Vec::new());
    let found = verify(&files, &trust());
    let artifacts = found.checks.iter().find(|check| check.name == "artifacts").expect("the check");
    assert!(artifacts.detail.contains(r"`planted\n\xff`"), "{}", artifacts.detail);
    assert_eq!(found.checks.len(), 13);
}

#[test]
fn log_names_are_safe_for_any_gate() {
    assert_eq!(log_path(1, "lint", "stdout"), "logs/001-lint.stdout");
    assert_eq!(log_path(2, "../../etc/x y", "stderr"), "logs/002-.._.._etc_x_y.stderr");
    assert!(log_path(1000, &"x".repeat(500), "stdout").len() < 200);
}
