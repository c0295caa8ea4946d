//! The verifier: judges the files of a bundle against the caller's requirements.
//!
//! It recomputes whatever it can instead of believing the manifest, takes no trust from the bundle, and names
//! every check it did not make (law 6). It answers on any input, without panicking.

use crate::TrustRequirements;
use crate::checks::{CheckFailure, VerificationSubject};
use crate::manifest_v1::{MANIFEST_FILE, ManifestV1};
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

/// One check and its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BundleCheck {
    /// The check's name.
    pub name: &'static str,
    /// Whether it was made, and if so its outcome.
    pub status: CheckStatus,
    /// The reason codes it adds to the verdict.
    pub codes: BTreeSet<String>,
    /// Explanation in plain words; empty if the check passed.
    pub detail: String,
}

/// The outcome of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckStatus {
    /// The check was made and found no problem.
    Passed,
    /// The check was made and found a problem.
    Failed,
    /// The check was not made.
    Skipped,
}

/// Verifies the files of a bundle, keyed by `/`-separated name, against `trust`.
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

fn completed_check(name: &'static str, faults: Vec<CheckFailure>) -> BundleCheck {
    let status = if faults.is_empty() { CheckStatus::Passed } else { CheckStatus::Failed };
    let detail: Vec<String> = faults.iter().map(ToString::to_string).collect();
    let codes = faults.into_iter().map(|fault| fault.code).collect();
    BundleCheck { name, status, codes, detail: detail.join("; ") }
}

/// Builds a check that is made only if the caller requires something; otherwise it is reported as skipped.
fn optional_check(name: &'static str, faults: Option<Vec<CheckFailure>>) -> BundleCheck {
    let not_demanded = || BundleCheck {
        name,
        status: CheckStatus::Skipped,
        codes: BTreeSet::new(),
        detail: "nothing was demanded".into(),
    };
    faults.map_or_else(not_demanded, |faults| completed_check(name, faults))
}

fn unreadable(fault: CheckFailure) -> BundleVerification {
    let rest = BundleCheck {
        name: "everything_else",
        status: CheckStatus::Skipped,
        codes: BTreeSet::new(),
        detail: "the manifest could not be read".into(),
    };
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
