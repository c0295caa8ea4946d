//! Any bytes as manifest, seal, trust file, key or envelope: an answer, never a panic, and never a pass by accident.
#![no_main]

use libfuzzer_sys::fuzz_target;
use probity_evidence::{
    BundleVerdict, PublicKey, Seal, SecretKey, StoredManifest, TrustRequirements, attest, summary, verify_bundle,
};
use std::collections::BTreeMap;

fuzz_target!(|bytes: &[u8]| {
    let found =
        verify_bundle(&BTreeMap::from([(b"manifest.json".to_vec(), bytes.to_vec())]), &TrustRequirements::default());
    assert_eq!(found.verdict == BundleVerdict::Pass, found.codes.is_empty());
    if let Ok(stored) = StoredManifest::parse(bytes) {
        let _ = summary::render(&stored.manifest);
    }
    if let Ok(seal) = Seal::parse(bytes) {
        assert_eq!(seal.to_bytes(), bytes);
    }
    if let Ok(key) = PublicKey::parse(bytes) {
        assert_eq!(PublicKey::parse(&key.to_file()), Ok(key));
    }
    let _ = SecretKey::parse(bytes);
    let _ = TrustRequirements::parse(bytes);
    let _ = attest::statement(bytes);
    let _ = attest::open(bytes, &BTreeMap::new());
});
