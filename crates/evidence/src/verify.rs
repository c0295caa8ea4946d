//! The verifier: judges the files of a bundle against the caller's requirements.
//!
//! It recomputes whatever it can instead of believing the manifest, takes no trust from the bundle, and names
//! every check it did not make (law 6). It answers on any input, without panicking.

use crate::checks::{
    BundleCheck, CheckFailure, CheckStatus, VerificationSubject, completed_check, failure_unless,
    skipped_check,
};
use crate::manifest_v1::{MANIFEST_FILE, ManifestV1};
use crate::part_checks;
use crate::{EnforcementLevel, TrustRequirements};
use probity_core::{ReasonCode, json};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The verdict on a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum BundleVerdict {
    /// Every check that was made passed.
    Pass,
    /// At least one check failed.
    Fail,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BundleVerification {
    pub verdict: BundleVerdict,
    /// The reasons for failure, sorted and unique; empty exactly if the verdict is pass.
    pub codes: BTreeSet<String>,
    /// Names of the checks that were not made, sorted.
    pub skipped: BTreeSet<&'static str>,
    /// Every check, in the order made.
    pub checks: Vec<BundleCheck>,
}

/// Maximum size of a JSON file of a bundle.
pub(crate) const MAX_DOCUMENT_BYTES: usize = 64 << 20;

/// Maximum number of values in a JSON file of a bundle. A change is about fifteen values.
pub(crate) const MAX_DOCUMENT_VALUES: usize = 4_000_000;

/// Verifies a bundle as Probity writes it, keyed by `/`-separated name: its manifest against `trust`, and its parts
/// against each other.
pub fn verify_bundle(files: &BTreeMap<Vec<u8>, Vec<u8>>, trust: &TrustRequirements) -> BundleVerification {
    let documents = files.iter().filter(|(name, _)| name.ends_with(b".json"));
    let too_large = documents.filter(|(_, bytes)| is_too_large(bytes)).map(|(name, _)| name.as_slice());
    if let Some(fault) = CheckFailure::for_names(ReasonCode::EvidenceTooLarge, too_large) {
        return unreadable(fault);
    }
    let value = files.get(MANIFEST_FILE.as_bytes()).and_then(|bytes| Some((bytes, json::parse(bytes).ok()?)));
    let of_manifest = verify(files, trust);
    match value.filter(|_| of_manifest.checks.iter().all(|check| check.name != "everything_else")) {
        None => of_manifest,
        Some((bytes, value)) => {
            let enforcement = optional_check("enforcement", enforcement(&value, trust));
            let parts = part_checks::part_checks(files, bytes, &value);
            conclude([of_manifest.checks, vec![enforcement], parts].concat())
        }
    }
}

/// If required: the run was enforced at least this strongly.
fn enforcement(manifest: &serde_json::Value, trust: &TrustRequirements) -> Option<Vec<CheckFailure>> {
    let required = Some(trust.enforcement).filter(|level| *level > EnforcementLevel::default())?;
    let level: EnforcementLevel =
        manifest["enforcement"].as_str().and_then(|word| word.parse().ok()).unwrap_or_default();
    Some(failure_unless(
        level >= required,
        ReasonCode::EvidenceEnforcementTooWeak,
        &format!("{level}, not {required}"),
    ))
}

/// Counts before anything is parsed: a value costs more memory than its byte.
pub(crate) fn is_too_large(document: &[u8]) -> bool {
    let is_start = |byte: &&u8| matches!(byte, b',' | b'[' | b'{');
    document.len() > MAX_DOCUMENT_BYTES || document.iter().filter(is_start).count() > MAX_DOCUMENT_VALUES
}

/// Verifies a manifest of the bare form that the conformance vectors define: the required members and no other part.
/// Such a bundle says nothing about its seal, so a judge of real runs uses [`verify_bundle`].
pub fn verify(files: &BTreeMap<Vec<u8>, Vec<u8>>, trust: &TrustRequirements) -> BundleVerification {
    let Some(bytes) = files.get(MANIFEST_FILE.as_bytes()) else {
        return unreadable(CheckFailure::new(ReasonCode::EvidenceManifestMissing, ""));
    };
    let value = match json::parse(bytes) {
        Ok(value) => value,
        Err(error) => return unreadable(CheckFailure::new(error.reason, &format!("at byte {}", error.at))),
    };
    let manifest = match ManifestV1::read(&value) {
        Ok(manifest) => manifest,
        Err(why) => return unreadable(CheckFailure::new(ReasonCode::EvidenceSchemaInvalid, &why)),
    };
    let subject = VerificationSubject::new(files, trust, bytes, &value, &manifest);
    conclude(all_checks(&subject))
}

fn all_checks(subject: &VerificationSubject<'_>) -> Vec<BundleCheck> {
    let reconciliation = subject.reconciliation();
    let gates = subject.gates();
    let status = subject.status(&reconciliation, &gates);
    vec![
        completed_check("manifest", Vec::new()),
        completed_check("canonical", subject.canonical()),
        completed_check("run_hash", subject.run_hash()),
        completed_check("artifacts", subject.artifacts()),
        completed_check("plan", subject.plan()),
        completed_check("policy", subject.policy()),
        optional_check("seal", subject.seal()),
        optional_check("profile", subject.profile()),
        completed_check("reconciliation", reconciliation),
        completed_check("gates", gates),
        completed_check("status", status),
        optional_check("chain", subject.chain()),
        optional_check("signature", subject.signature()),
    ]
}

/// Builds a check that is made only if the caller requires something; otherwise it is reported as skipped.
fn optional_check(name: &'static str, faults: Option<Vec<CheckFailure>>) -> BundleCheck {
    faults.map_or_else(|| skipped_check(name, "nothing was demanded"), |faults| completed_check(name, faults))
}

fn unreadable(fault: CheckFailure) -> BundleVerification {
    let rest = skipped_check("everything_else", "the manifest could not be read");
    conclude(vec![completed_check("manifest", vec![fault]), rest])
}

fn conclude(checks: Vec<BundleCheck>) -> BundleVerification {
    let codes: BTreeSet<String> = checks.iter().flat_map(|check| check.codes.iter().cloned()).collect();
    let is_skipped = |check: &&BundleCheck| check.status == CheckStatus::Skipped;
    BundleVerification {
        verdict: if codes.is_empty() { BundleVerdict::Pass } else { BundleVerdict::Fail },
        skipped: checks.iter().filter(is_skipped).map(|check| check.name).collect(),
        codes,
        checks,
    }
}
