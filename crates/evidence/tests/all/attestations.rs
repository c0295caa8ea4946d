//! Attestations: verified before they are parsed, and only as trustworthy as the signing key.

use crate::common::{artifacts, key, manifest};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use probity_core::json;
use probity_evidence::attest::{self, AttestError};
use probity_evidence::{PublicKey, SecretKey};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn keys(key: &SecretKey) -> BTreeMap<String, PublicKey> {
    BTreeMap::from([(key.key_id(), key.public())])
}

fn manifest_bytes() -> Vec<u8> {
    let bundle = manifest().assemble(artifacts(), None, Some(&key())).expect("a bundle");
    bundle.files[&b"manifest.json"[..]].clone()
}

fn envelope() -> Value {
    json::parse(&attest::envelope(&manifest_bytes(), &key()).expect("an envelope")).expect("JSON")
}

/// Builds a properly signed envelope around any payload.
fn signed(payload: &[u8], payload_type: &str) -> Vec<u8> {
    let signature = key().sign(&attest::pre_authentication_encoding(payload_type, payload));
    json::canonical(&json!({
        "payload": STANDARD.encode(payload), "payloadType": payload_type,
        "signatures": [{"keyid": key().key_id(), "sig": STANDARD.encode(signature)}],
    }))
}

#[test]
fn an_attestation_names_the_run_and_carries_its_manifest() {
    let bundle = manifest().assemble(artifacts(), None, None).expect("a bundle");
    let envelope = attest::envelope(&bundle.files[&b"manifest.json"[..]], &key()).expect("an envelope");
    let opened = attest::open(&envelope, &keys(&key())).expect("an attestation");
    assert_eq!((opened.run_hash, opened.key_id), (bundle.run_hash, key().key_id()));
    assert_eq!(opened.run_id, manifest().run_id);
    assert_eq!(opened.manifest["status"], "pass");
}

#[test]
fn the_statement_has_the_form_of_in_toto() {
    let statement = attest::statement(&manifest_bytes()).expect("a statement");
    assert_eq!(statement["_type"], "https://in-toto.io/Statement/v1");
    assert_eq!(statement["subject"][0]["name"], manifest().run_id);
    assert_eq!(
        statement["subject"][1]["digest"]["sha256"],
        probity_core::Digest::of(&manifest_bytes()).to_hex()
    );
}

#[test]
fn only_trusted_keys_count_whatever_the_envelope_says() {
    let stranger = SecretKey::from_random(&[9; 32]);
    let bytes = json::canonical(&envelope());
    assert_eq!(attest::open(&bytes, &keys(&stranger)), Err(AttestError::NotSigned));
    assert_eq!(attest::open(&bytes, &BTreeMap::new()), Err(AttestError::NotSigned));
    let misnamed = BTreeMap::from([(key().key_id(), stranger.public())]);
    assert_eq!(attest::open(&bytes, &misnamed), Err(AttestError::NotSigned));
}

#[test]
fn a_touched_payload_is_not_signed() {
    let mut touched = envelope();
    let mut payload = STANDARD.decode(touched["payload"].as_str().expect("text")).expect("base64");
    payload[100] ^= 1;
    touched["payload"] = STANDARD.encode(payload).into();
    assert_eq!(attest::open(&json::canonical(&touched), &keys(&key())), Err(AttestError::NotSigned));
}

#[test]
fn both_alphabets_of_base64_are_read() {
    let mut other = envelope();
    let payload = STANDARD.decode(other["payload"].as_str().expect("text")).expect("base64");
    other["payload"] = URL_SAFE.encode(payload).into();
    assert!(attest::open(&json::canonical(&other), &keys(&key())).is_ok());
}

#[test]
fn a_signed_statement_must_still_be_true_in_itself() {
    let mut statement = attest::statement(&manifest_bytes()).expect("a statement");
    statement["subject"][0]["digest"]["sha256"] = probity_core::Digest::of(b"another run").to_hex().into();
    let wrong_subject = signed(&json::canonical(&statement), attest::PAYLOAD_TYPE);
    assert!(matches!(attest::open(&wrong_subject, &keys(&key())), Err(AttestError::Statement(_))));
    for payload in [&b"{}"[..], b"not json", b"[]"] {
        let strange = signed(payload, attest::PAYLOAD_TYPE);
        assert!(matches!(attest::open(&strange, &keys(&key())), Err(AttestError::Statement(_))));
    }
    let other_type = signed(b"{}", "text/plain");
    assert!(matches!(attest::open(&other_type, &keys(&key())), Err(AttestError::Envelope(_))));
}

#[test]
fn a_manifest_that_was_changed_is_not_attested() {
    let mut value = json::parse(&manifest_bytes()).expect("JSON");
    value["created_at"] = "later".into();
    assert!(matches!(attest::statement(&json::canonical(&value)), Err(AttestError::Manifest(_))));
}
