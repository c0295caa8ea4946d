//! Properties of evidence: what we build verifies, modified evidence does not, and no input makes the verifier panic.

use crate::common::{artifacts, change, gate, key, manifest, path, trust};
use probity_core::{Digest, ReasonCode, json};
use probity_evidence::{
    BundleVerdict, BundleVerification, GateStatus, Manifest, RunStatus, StoredManifest, TrustRequirements,
    verify,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

type Files = BTreeMap<Vec<u8>, Vec<u8>>;

fn files(manifest: &Manifest) -> Files {
    manifest.assemble(artifacts(), None, Some(&key())).expect("a bundle").files
}

fn manifest_json(files: &Files) -> Value {
    json::parse(&files[&b"manifest.json"[..]]).expect("JSON")
}

/// Replaces the manifest of a bundle and recomputes its hash, as a forger would.
fn rehashed(mut manifest: Value) -> Files {
    let mut hashed = manifest.clone();
    if let Some(members) = hashed.as_object_mut() {
        members.remove("run_hash");
        members.remove("signature");
        manifest["run_hash"] = Digest::of_json(&hashed).to_string().into();
    }
    let mut files = files(&crate::common::manifest());
    files.insert(b"manifest.json".to_vec(), json::canonical(&manifest));
    files
}

fn codes(found: &BundleVerification) -> Vec<&str> {
    found.codes.iter().map(String::as_str).collect()
}

#[test]
fn what_was_built_verifies_with_every_demand() {
    let found = verify(&files(&manifest()), &trust());
    assert_eq!(codes(&found), Vec::<&str>::new(), "{:?}", found.checks);
    assert_eq!((found.verdict, found.skipped.len()), (BundleVerdict::Pass, 0));
}

#[test]
fn an_unsigned_bundle_verifies_and_says_what_was_not_checked() {
    let bundle = manifest().assemble(artifacts(), None, None).expect("a bundle");
    let found = verify(&bundle.files, &TrustRequirements::default());
    assert_eq!(found.verdict, BundleVerdict::Pass);
    assert_eq!(found.skipped.into_iter().collect::<Vec<_>>(), ["chain", "profile", "seal", "signature"]);
}

#[test]
fn every_required_field_is_required_and_typed() {
    let whole = manifest_json(&files(&manifest()));
    let required = [
        "version",
        "run_id",
        "created_at",
        "status",
        "reason",
        "policy_versions",
        "plan",
        "plan_hash",
        "scope",
        "amendments",
        "before_root",
        "after_root",
        "delta",
        "workspace_delta_paths",
        "untracked_delta_paths",
        "exempt_delta_paths",
        "gate_results",
        "artifact_hashes",
        "prev_run_hash",
        "run_hash",
        "key_id",
        "signature",
    ];
    for field in required {
        let mut without = whole.clone();
        without.as_object_mut().expect("an object").remove(field);
        // Recomputes the hash unless it is the missing field.
        let bundle = if field == "run_hash" { bare(&without) } else { rehashed(without) };
        assert_eq!(codes(&verify(&bundle, &trust())), ["EVIDENCE.SCHEMA_INVALID"], "without {field}");
        let mut wrong = whole.clone();
        wrong[field] = json!(7);
        let bundle = if field == "run_hash" { bare(&wrong) } else { rehashed(wrong) };
        assert_eq!(codes(&verify(&bundle, &trust())), ["EVIDENCE.SCHEMA_INVALID"], "{field} is 7");
    }
}

fn bare(manifest: &Value) -> Files {
    BTreeMap::from([(b"manifest.json".to_vec(), json::canonical(manifest))])
}

#[test]
fn values_that_look_right_to_a_lenient_reader_are_wrong() {
    let whole = manifest_json(&files(&manifest()));
    let digest = Digest::of(b"x").to_string();
    let wrong: Vec<(&str, Value)> = vec![
        ("/delta", json!([["src/a.py", "added", null, digest]])),
        ("/plan/pack_cap", json!([null, 0])),
        ("/status", json!({"pass": null})),
        ("/gate_results/0/status", json!({"pass": null})),
        ("/gate_results/0/exit_code", json!(0.5)),
        ("/gate_results/0/duration_ms", json!(-1)),
        ("/gate_results/0/log_paths", json!([{"bytes_hex": "ff"}])),
        ("/delta/0/change", json!("renamed")),
        ("/delta/0/path", json!({"bytes_hex": "61"})),
        ("/delta/0/before", json!("sha256:abc")),
        ("/plan_hash", json!(whole["plan_hash"].as_str().expect("text").to_uppercase())),
        ("/artifact_hashes/0/path", json!({"bytes_hex": "ff"})),
        ("/amendments/0/why", json!("")),
        ("/amendments/0/add", json!([])),
        ("/reason", json!("RECON.UNTRACKED_DELTA")),
        ("/run_id", json!("")),
        ("/version", json!("2")),
        ("/plan/gates/0/required", json!("true")),
        ("/plan/scope", json!("src/**")),
    ];
    for (place, value) in wrong {
        let mut manifest = whole.clone();
        *manifest.pointer_mut(place).expect("a place") = value;
        assert_eq!(codes(&verify(&rehashed(manifest), &trust())), ["EVIDENCE.SCHEMA_INVALID"], "{place}");
    }
}

#[test]
fn flipped_bits_all_over_the_bundle_are_found() {
    let whole = files(&manifest());
    for (name, content) in &whole {
        // Testing every byte would take a minute; `any_changed_byte_is_found` samples other bytes in each run.
        for index in (0..content.len()).step_by(11) {
            let mut touched = whole.clone();
            touched.get_mut(name).expect("the file")[index] ^= 1;
            assert_eq!(verify(&touched, &trust()).verdict, BundleVerdict::Fail, "byte {index} of {name:?}");
        }
    }
}

#[test]
fn a_second_spelling_of_the_signature_is_refused() {
    let mut value = manifest_json(&files(&manifest()));
    let signature = value["signature"].as_str().expect("text").replace("ed25519:", "");
    value["signature"] = format!("ed25519:{}", signature.to_uppercase()).into();
    assert_eq!(codes(&verify(&rehashed(value), &trust())), ["EVIDENCE.SIGNATURE_INVALID"]);
}

#[test]
fn an_unknown_recorded_reason_is_still_a_failure() {
    let mut value = manifest_json(&files(&manifest()));
    value["status"] = "fail".into();
    value["reason"] = "FUTURE.REASON".into();
    let trust = TrustRequirements { signature: probity_evidence::SignatureRule::Ignore, ..trust() };
    assert_eq!(codes(&verify(&rehashed(value), &trust)), ["FUTURE.REASON"]);
}

fn any_status() -> impl Strategy<Value = (GateStatus, Option<i64>)> {
    prop::sample::select(vec![
        (GateStatus::Pass, Some(0)),
        (GateStatus::Fail, Some(2)),
        (GateStatus::Fail, None),
        (GateStatus::Skip, None),
    ])
}

/// Generates all kinds of runs: inside and outside the scope, with and without snapshots, with any gate results.
fn any_run() -> impl Strategy<Value = Manifest> {
    let names = prop::sample::subsequence(
        vec![&b"src/a"[..], b"src/gen/x", b"README.md", b"docs/a.md", b"src/\xff", b".github/x", b"a\nb"],
        0..7,
    );
    let results = prop::collection::vec((prop::sample::select(vec!["lint", "size"]), any_status()), 0..4);
    let reasons = prop::sample::subsequence(
        vec![ReasonCode::RunCommandFailed, ReasonCode::ProtectedChanged, ReasonCode::GateTimedOut],
        0..3,
    );
    (names, results, reasons, any::<[bool; 4]>()).prop_map(
        |(names, results, reasons, [seen, exempt, has_root, amended])| {
            let mut run = manifest();
            let delta: Vec<_> = names.into_iter().map(change).collect();
            run.exempt_delta_paths = if exempt { vec![path(b"target/x")] } else { Vec::new() };
            let something_changed = !delta.is_empty() || exempt;
            run.after_root = if something_changed { Some(Digest::of(b"after")) } else { run.before_root };
            run.after_root = run.after_root.filter(|_| has_root);
            run.delta = seen.then_some(delta);
            run.gate_results =
                results.into_iter().map(|(id, (status, exit_code))| gate(id, status, exit_code)).collect();
            run.other_reasons = reasons;
            if !amended {
                run.amendments.clear();
            }
            run
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_bundle_verifies_exactly_when_its_run_passed(run in any_run()) {
        let found = verify(&files(&run), &TrustRequirements { required_gates: Vec::new(), ..trust() });
        prop_assert_eq!(found.verdict == BundleVerdict::Pass, run.status() == RunStatus::Pass);
        prop_assert!(codes(&found).iter().all(|code| !code.starts_with("EVIDENCE.")), "{:?}", found.codes);
        prop_assert!(run.reasons().first().is_none_or(|reason| found.codes.contains(reason.as_str())));
    }

    #[test]
    fn a_stored_manifest_is_read_back(run in any_run()) {
        let bundle = run.assemble(artifacts(), Some(Digest::of(b"previous")), Some(&key())).expect("a bundle");
        let stored = StoredManifest::parse(&bundle.files[&b"manifest.json"[..]]).expect("a manifest");
        prop_assert_eq!(stored.run_hash, bundle.run_hash);
        prop_assert_eq!(stored.prev_run_hash, Some(Digest::of(b"previous")));
        prop_assert_eq!(stored.manifest.reasons(), run.reasons());
        prop_assert_eq!(stored.manifest, run);
    }

    #[test]
    fn any_changed_byte_is_found(file: prop::sample::Index, at: prop::sample::Index, flip in 1u8..) {
        let mut touched = files(&manifest());
        let name = touched.keys().nth(file.index(touched.len())).expect("a file").clone();
        let content = touched.get_mut(&name).expect("the file");
        let index = at.index(content.len());
        content[index] ^= flip;
        prop_assert_eq!(verify(&touched, &trust()).verdict, BundleVerdict::Fail);
    }

    #[test]
    fn a_file_more_or_less_is_found(name in "[a-z./]{1,12}", drop: prop::sample::Index) {
        let mut more = files(&manifest());
        prop_assume!(more.insert(name.into_bytes(), Vec::new()).is_none());
        prop_assert_eq!(verify(&more, &trust()).verdict, BundleVerdict::Fail);
        let mut less = files(&manifest());
        let name = less.keys().nth(drop.index(less.len())).expect("a file").clone();
        less.remove(&name);
        prop_assert_eq!(verify(&less, &trust()).verdict, BundleVerdict::Fail);
    }

    #[test]
    fn no_bytes_make_the_verifier_panic(bytes: Vec<u8>) {
        let bundle = BTreeMap::from([(b"manifest.json".to_vec(), bytes)]);
        prop_assert_eq!(verify(&bundle, &trust()).verdict, BundleVerdict::Fail);
    }

    #[test]
    fn no_forged_value_makes_the_verifier_panic(places: [prop::sample::Index; 3], values: [u8; 3]) {
        let mut forged = manifest_json(&files(&manifest()));
        for (place, value) in places.iter().zip(values) {
            let nodes = node_count(&forged);
            replace(&mut forged, place.index(nodes), strange(value));
        }
        let found = verify(&rehashed(forged), &trust());
        prop_assert_eq!(found.codes.is_empty(), found.verdict == BundleVerdict::Pass);
    }
}

fn strange(choice: u8) -> Value {
    let values = [
        json!(null),
        json!(""),
        json!("../x"),
        json!("["),
        json!([]),
        json!({}),
        json!(-1),
        json!(1e300),
        json!([[]]),
        json!({"bytes_hex": "ff"}),
        json!("sha256:"),
        json!(true),
        json!(["/"]),
        json!("T99"),
    ];
    values[usize::from(choice) % values.len()].clone()
}

fn children(value: &mut Value) -> Vec<&mut Value> {
    match value {
        Value::Array(items) => items.iter_mut().collect(),
        Value::Object(members) => members.values_mut().collect(),
        _ => Vec::new(),
    }
}

fn node_count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(node_count).sum(),
        Value::Object(members) => members.values().map(node_count).sum::<usize>(),
        _ => 0,
    }
}

/// Replaces the `index`-th node, counting from the root.
fn replace(value: &mut Value, index: usize, with: Value) {
    if index == 0 {
        *value = with;
        return;
    }
    let mut left = index - 1;
    for child in children(value) {
        let count = node_count(child);
        if left < count {
            return replace(child, left, with);
        }
        left -= count;
    }
}
