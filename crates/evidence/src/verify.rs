//! The verifier: from the files of a bundle and the caller's demands to a verdict.
//!
//! It believes nothing that it can compute, takes no trust from the bundle, and says by name what it did not check
//! (law 6). Any bytes get an answer.

use crate::Trust;
use crate::checks::{Fault, Subject};
use crate::wire::{MANIFEST, ManifestV1};
use probity_core::{Reason, json};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Whether a bundle proves what it must.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    /// Every check that was made was passed.
    Pass,
    /// At least one was not.
    Fail,
}

/// The answer of the verifier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// Whether the bundle proves what it must.
    pub verdict: Verdict,
    /// Why not: sorted, each code once; empty exactly for a pass.
    pub codes: BTreeSet<String>,
    /// The checks that were not made, sorted.
    pub skipped: BTreeSet<&'static str>,
    /// Each check in the order in which it was made.
    pub checks: Vec<Check>,
}

/// One check and what it found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Check {
    /// The name of the check.
    pub name: &'static str,
    /// How it ended.
    pub status: CheckStatus,
    /// The codes that it adds to the verdict.
    pub codes: BTreeSet<String>,
    /// What was found, in words; empty when it passed.
    pub detail: String,
}

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckStatus {
    /// It was made and found nothing.
    Passed,
    /// It was made and found something.
    Failed,
    /// It was not made.
    Skipped,
}

/// Judges the files of a bundle (by name, `/`-separated) against what the caller demands.
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

/// A check that is made only when the caller demands something.
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
