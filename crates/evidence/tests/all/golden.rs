//! Evidence of past versions, which must verify forever. Never change these files; add new ones.

use probity_core::json;
use probity_evidence::bundle::read_bundle;
use probity_evidence::{BundleVerdict, PublicKey, Seal, StoredManifest, TrustRequirements, attest, verify};
use std::path::PathBuf;

fn data(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data")).join(name)
}

#[expect(clippy::disallowed_methods, reason = "the data of past versions are files")]
fn read(name: &str) -> Vec<u8> {
    std::fs::read(data(name)).expect("a file of the test data")
}

#[test]
fn a_bundle_of_version_1_verifies() {
    let files = read_bundle(&data("bundle-v1")).expect("a bundle");
    let trust = TrustRequirements::parse(&read("trust-v1.json")).expect("a trust file");
    let found = verify(&files, &trust);
    assert_eq!(found.verdict, BundleVerdict::Pass, "{:?}", found.checks);
    assert!(found.skipped.is_empty(), "{:?}", found.skipped);
}

#[test]
fn a_manifest_of_version_1_is_read() {
    let stored = StoredManifest::parse(&read("bundle-v1/manifest.json")).expect("a manifest");
    assert_eq!(stored.manifest, crate::common::manifest());
}

#[test]
fn a_seal_of_version_1_is_read() {
    let seal = Seal::parse(&read("seal-v1.json")).expect("a seal");
    assert_eq!(seal.contents().plan, crate::common::plan());
}

#[test]
fn keys_and_attestations_of_version_1_are_read() {
    let key = PublicKey::parse(&read("public-key-v1.json")).expect("a public key");
    let keys = [(key.key_id(), key)].into();
    let attestation = attest::open(&read("attestation-v1.json"), &keys).expect("an attestation");
    let manifest = json::parse(&read("bundle-v1/manifest.json")).expect("JSON");
    assert_eq!(attestation.manifest, manifest);
}

/// The schemas in `docs/schemas` describe the documents field by field.
#[test]
fn the_published_schemas_know_every_field() {
    for (schema, document) in [
        ("seal.v1", "seal-v1.json"),
        ("manifest.v1", "bundle-v1/manifest.json"),
        ("trust.v1", "trust-v1.json"),
    ] {
        let schema = json::parse(&read(&format!("../../../../docs/schemas/{schema}.json"))).expect("JSON");
        let document = json::parse(&read(document)).expect("JSON");
        let mut known = schema["properties"].as_object().expect("properties").clone();
        let is_required = |name: &String| {
            schema["required"].as_array().is_some_and(|all| all.contains(&name.as_str().into()))
        };
        known.retain(|name, _| document.get(name).is_some() || is_required(name));
        let written: Vec<&String> = document.as_object().expect("an object").keys().collect();
        assert_eq!(known.keys().collect::<Vec<_>>(), written, "{}", schema["title"]);
    }
}
