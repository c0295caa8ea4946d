//! The verifier: judges the files of a bundle against the caller's requirements.
//!
//! It recomputes whatever it can instead of believing the manifest, takes no trust from the bundle, and names
//! every check it did not make (law 6). It answers on any input, without panicking.

use crate::Trust;
use crate::checks::{Fault, Subject};
use crate::wire::{MANIFEST, ManifestV1};
use probity_core::{Reason, json};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The verdict on a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    /// Every check that was made passed.
    Pass,
    /// At least one check failed.
    Fail,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verification {
    pub verdict: Verdict,
    /// The reasons for failure, sorted and unique; empty exactly if the verdict is pass.
    pub codes: BTreeSet<String>,
    /// Names of the checks that were not made, sorted.
    pub skipped: BTreeSet<&'static str>,
    /// Every check, in the order made.
    pub checks: Vec<Check>,
}

/// One check and its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Check {
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
pub fn verify(files: &BTreeMap<Vec<u8>, Vec<u8>>, trust: &Trust) -> Verification {
    let Some(bytes) = files.get(MANIFEST.as_bytes()) else {
        return unreadable(Fault::new(Reason::EvidenceManifestMissing, ""));
    };
    let value = match json::parse(bytes) {
        Ok(value) => value,
        Err(error) => return unreadable(Fault::new(error.reason, &format!("at byte {}", error.at))),
    };
    let manifest = match ManifestV1::read(&value) {
        Ok(manifest) => manifest,
        Err(why) => return unreadable(Fault::new(Reason::EvidenceSchemaInvalid, &why)),
    };
    let subject = Subject::new(files, trust, bytes, &value, &manifest);
    conclude(all_checks(&subject))
}

fn all_checks(subject: &Subject<'_>) -> Vec<Check> {
    let reconciliation = subject.reconciliation();
    let gates = subject.gates();
    let status = subject.status(&reconciliation, &gates);
    vec![
        made("manifest", Vec::new()),
        made("canonical", subject.canonical()),
        made("run_hash", subject.run_hash()),
        made("artifacts", subject.artifacts()),
        made("plan", subject.plan()),
        made("policy", subject.policy()),
        demanded("seal", subject.seal()),
        demanded("profile", subject.profile()),
        made("reconciliation", reconciliation),
        made("gates", gates),
        made("status", status),
        demanded("chain", subject.chain()),
        demanded("signature", subject.signature()),
    ]
}

fn made(name: &'static str, faults: Vec<Fault>) -> Check {
    let status = if faults.is_empty() { CheckStatus::Passed } else { CheckStatus::Failed };
    let detail: Vec<String> = faults.iter().map(ToString::to_string).collect();
    let codes = faults.into_iter().map(|fault| fault.code).collect();
    Check { name, status, codes, detail: detail.join("; ") }
}

/// Builds a check that is made only if the caller requires something; otherwise it is reported as skipped.
fn demanded(name: &'static str, faults: Option<Vec<Fault>>) -> Check {
    let not_demanded = || Check {
        name,
        status: CheckStatus::Skipped,
        codes: BTreeSet::new(),
        detail: "nothing was demanded".into(),
    };
    faults.map_or_else(not_demanded, |faults| made(name, faults))
}

fn unreadable(fault: Fault) -> Verification {
    let rest = Check {
        name: "everything_else",
        status: CheckStatus::Skipped,
        codes: BTreeSet::new(),
        detail: "the manifest could not be read".into(),
    };
    conclude(vec![made("manifest", vec![fault]), rest])
}

fn conclude(checks: Vec<Check>) -> Verification {
    let codes: BTreeSet<String> = checks.iter().flat_map(|check| check.codes.iter().cloned()).collect();
    let is_skipped = |check: &&Check| check.status == CheckStatus::Skipped;
    Verification {
        verdict: if codes.is_empty() { Verdict::Pass } else { Verdict::Fail },
        skipped: checks.iter().filter(is_skipped).map(|check| check.name).collect(),
        codes,
        checks,
    }
}
