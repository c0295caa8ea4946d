//! The verifier's checks, one function each. The numbers are those of section 7 of
//! `conformance/README-scope-plan-evidence.md`.

use crate::manifest_v1::{self, MANIFEST_FILE, ManifestV1, RunStatus};
use crate::{
    ByteString, ChainPredecessor, RefChange, SignatureRule, TrustRequirements, amended_scope, gate_rules,
    keys,
};
use probity_core::{Digest, ReasonCode, bytes, json};
use probity_paths::{RepoPath, Scope, reconcile};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Maximum number of names listed in a detail; the rest are counted.
const MAX_DETAIL_NAMES: usize = 5;

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

pub(crate) fn completed_check(name: &'static str, faults: Vec<CheckFailure>) -> BundleCheck {
    let status = if faults.is_empty() { CheckStatus::Passed } else { CheckStatus::Failed };
    let detail: Vec<String> = faults.iter().map(ToString::to_string).collect();
    let codes = faults.into_iter().map(|fault| fault.code).collect();
    BundleCheck { name, status, codes, detail: detail.join("; ") }
}

pub(crate) fn skipped_check(name: &'static str, why: &str) -> BundleCheck {
    BundleCheck { name, status: CheckStatus::Skipped, codes: BTreeSet::new(), detail: why.into() }
}

/// A reason for which a bundle fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CheckFailure {
    pub(crate) code: String,
    detail: String,
}

impl CheckFailure {
    pub(crate) fn new(reason: ReasonCode, detail: &str) -> Self {
        Self { code: reason.as_str().into(), detail: detail.into() }
    }

    /// Reports `reason` for `names`, or nothing if there are no names.
    pub(crate) fn for_names<'a>(
        reason: ReasonCode,
        names: impl IntoIterator<Item = &'a [u8]>,
    ) -> Option<Self> {
        let names: Vec<String> = names.into_iter().map(|name| format!("`{}`", bytes::escape(name))).collect();
        let more = names.len().saturating_sub(MAX_DETAIL_NAMES);
        let first = names.get(..MAX_DETAIL_NAMES).unwrap_or(&names).join(", ");
        let detail = if more > 0 { format!("{first} and {more} more") } else { first };
        (!names.is_empty()).then(|| Self::new(reason, &detail))
    }
}

impl fmt::Display for CheckFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let meaning = self.code.parse::<ReasonCode>().map_or("", ReasonCode::meaning);
        let parts: Vec<&str> = [meaning, &self.detail].into_iter().filter(|part| !part.is_empty()).collect();
        f.write_str(&parts.join(": "))
    }
}

/// A bundle with a readable manifest, and the requirements to check it against.
pub(crate) struct VerificationSubject<'a> {
    files: &'a BTreeMap<Vec<u8>, Vec<u8>>,
    trust: &'a TrustRequirements,
    bytes: &'a [u8],
    value: &'a Value,
    manifest: &'a ManifestV1,
    run_hash: Digest,
}

impl<'a> VerificationSubject<'a> {
    pub(crate) fn new(
        files: &'a BTreeMap<Vec<u8>, Vec<u8>>,
        trust: &'a TrustRequirements,
        bytes: &'a [u8],
        value: &'a Value,
        manifest: &'a ManifestV1,
    ) -> Self {
        Self { files, trust, bytes, value, manifest, run_hash: manifest_v1::run_hash(value) }
    }

    /// Check 4: the bytes are the canonical form of the manifest.
    pub(crate) fn canonical(&self) -> Vec<CheckFailure> {
        failure_unless(json::is_canonical(self.bytes, self.value), ReasonCode::EvidenceNotCanonical, "")
    }

    /// Check 5: the recorded run hash is the recomputed one.
    pub(crate) fn run_hash(&self) -> Vec<CheckFailure> {
        let detail = format!("the manifest's hash is {}", self.run_hash);
        failure_unless(self.manifest.run_hash == self.run_hash, ReasonCode::EvidenceRunHashMismatch, &detail)
    }

    /// Check 6: closed world. Every listed file exists with its digest, and every file that exists is listed.
    pub(crate) fn artifacts(&self) -> Vec<CheckFailure> {
        let (inside, outside): (Vec<_>, Vec<_>) = self
            .manifest
            .artifact_hashes
            .iter()
            .partition(|artifact| RepoPath::parse(artifact.path.as_bytes()).is_ok());
        let listed: BTreeSet<&[u8]> =
            self.manifest.artifact_hashes.iter().map(|artifact| artifact.path.as_bytes()).collect();
        let logs = self.manifest.gate_results.iter().flat_map(|result| &result.log_paths);
        let missing = inside
            .iter()
            .map(|artifact| artifact.path.as_bytes())
            .filter(|path| !self.files.contains_key(*path))
            .chain(logs.map(String::as_bytes).filter(|path| !listed.contains(path)));
        let changed = inside.iter().filter(|artifact| {
            self.files.get(artifact.path.as_bytes()).is_some_and(|file| Digest::of(file) != artifact.sha256)
        });
        let unlisted = self
            .files
            .keys()
            .map(Vec::as_slice)
            .filter(|name| *name != MANIFEST_FILE.as_bytes() && !listed.contains(name));
        let outside = outside.iter().map(|artifact| artifact.path.as_bytes());
        let changed = changed.map(|artifact| artifact.path.as_bytes());
        [
            CheckFailure::for_names(ReasonCode::EvidencePathTraversal, outside),
            CheckFailure::for_names(ReasonCode::EvidenceArtifactMissing, missing),
            CheckFailure::for_names(ReasonCode::EvidenceArtifactMismatch, changed),
            CheckFailure::for_names(ReasonCode::EvidenceArtifactUnlisted, unlisted),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Check 7: the manifest's plan, scope and plan hash agree. Hashes the plan as it stands in the file,
    /// including fields that this code does not read.
    pub(crate) fn plan(&self) -> Vec<CheckFailure> {
        let hash = Digest::of_json(&self.value["plan"]);
        if hash != self.manifest.plan_hash {
            return vec![CheckFailure::new(
                ReasonCode::SealPlanMismatch,
                &format!("the plan's hash is {hash}"),
            )];
        }
        let is_same = self.manifest.scope == self.manifest.plan.scope;
        failure_unless(is_same, ReasonCode::SealPlanMismatch, "`scope` is not that of the plan")
    }

    /// Check 7: the recorded policy versions are those of the plan.
    pub(crate) fn policy(&self) -> Vec<CheckFailure> {
        let is_same = self.manifest.policy_versions == self.manifest.plan.policy_versions;
        failure_unless(is_same, ReasonCode::SealPolicyDrift, "")
    }

    /// Check 7, if required: the plan is the one that was sealed.
    pub(crate) fn seal(&self) -> Option<Vec<CheckFailure>> {
        let sealed = self.trust.plan_hash?;
        let detail = format!("{sealed} was sealed");
        Some(failure_unless(self.manifest.plan_hash == sealed, ReasonCode::SealPlanMismatch, &detail))
    }

    /// Check 7, if required: the plan was made under this profile.
    pub(crate) fn profile(&self) -> Option<Vec<CheckFailure>> {
        let profile = self.trust.profile.as_ref()?;
        let detail = format!("`{}` instead of `{profile}`", self.manifest.plan.profile);
        Some(failure_unless(
            self.manifest.plan.profile == *profile,
            ReasonCode::EvidenceProfileMismatch,
            &detail,
        ))
    }

    /// Check 8: recomputes D and U from the facts in the manifest.
    pub(crate) fn reconciliation(&self) -> Vec<CheckFailure> {
        let scope = amended_scope(&self.manifest.scope, &self.manifest.amendments);
        let bad_pattern =
            scope.as_ref().err().map(|error| CheckFailure::new(error.reason, &error.to_string()));
        let Some(observed) = DeltaObservation::of(self.manifest, self.value) else {
            let missing = CheckFailure::new(ReasonCode::ReconSnapshotMissing, "");
            return [Some(missing), bad_pattern].into_iter().flatten().collect();
        };
        let mut faults = observed.contradiction().into_iter().chain(bad_pattern).collect::<Vec<_>>();
        if let Ok(scope) = scope {
            faults.extend(observed.check_scope(&scope));
        }
        faults
    }

    /// Check 9: every gate required by the plan or by the caller has passed.
    pub(crate) fn gates(&self) -> Vec<CheckFailure> {
        let demanded = self.trust.required_gates.iter().map(String::as_str);
        let required = self.manifest.plan.required_gates().chain(demanded);
        gate_rules::gate_reasons(required, &self.manifest.gate_results)
            .into_iter()
            .filter_map(|(reason, gates)| {
                CheckFailure::for_names(reason, gates.into_iter().map(str::as_bytes))
            })
            .collect()
    }

    /// Check 10: a recorded failure is a failure, and a recorded pass must not contradict the facts.
    pub(crate) fn status(
        &self,
        reconciliation: &[CheckFailure],
        gates: &[CheckFailure],
    ) -> Vec<CheckFailure> {
        if let (RunStatus::Fail, Some(reason)) = (self.manifest.status, &self.manifest.reason) {
            return vec![CheckFailure { code: reason.clone(), detail: "recorded by the run itself".into() }];
        }
        // `EVIDENCE.*` codes mean that recorded lists contradict each other, not that the run should have failed.
        let is_about_the_run = |fault: &CheckFailure| !fault.code.starts_with("EVIDENCE.");
        let should_fail = reconciliation.iter().any(is_about_the_run) || !gates.is_empty();
        failure_unless(!should_fail, ReasonCode::EvidenceStatusMismatch, "")
    }

    /// Check 11, if required: the run follows the expected predecessor.
    pub(crate) fn chain(&self) -> Option<Vec<CheckFailure>> {
        let demanded = match self.trust.follows? {
            ChainPredecessor::Nothing => None,
            ChainPredecessor::Run(hash) => Some(hash),
        };
        Some(failure_unless(self.manifest.prev_run_hash == demanded, ReasonCode::EvidenceChainBroken, ""))
    }

    /// Check 11, if required: a trusted key signed the recomputed run hash.
    pub(crate) fn signature(&self) -> Option<Vec<CheckFailure>> {
        match (self.trust.signature, &self.manifest.signature) {
            (SignatureRule::Ignore, _) | (SignatureRule::IfPresent, None) => None,
            (SignatureRule::Required, None) => {
                Some(vec![CheckFailure::new(ReasonCode::EvidenceSignatureRequired, "")])
            }
            (_, Some(signature)) => Some(self.signed_by(signature)),
        }
    }

    fn signed_by(&self, signature: &str) -> Vec<CheckFailure> {
        let key_id = self.manifest.key_id.as_deref();
        let Some(key) = key_id.and_then(|key_id| self.trust.keys.get(key_id)) else {
            let detail = key_id.map_or_else(String::new, |id| format!("`{}`", bytes::escape(id.as_bytes())));
            return vec![CheckFailure::new(ReasonCode::EvidenceKeyUnknown, &detail)];
        };
        let mut signature_bytes = [0; 64];
        let is_good = keys::decode(signature, &mut signature_bytes).is_some()
            && key.verifies(&manifest_v1::signed_message(self.run_hash), &signature_bytes);
        failure_unless(is_good, ReasonCode::EvidenceSignatureInvalid, "")
    }
}

pub(crate) fn failure_unless(holds: bool, reason: ReasonCode, detail: &str) -> Vec<CheckFailure> {
    if holds { Vec::new() } else { vec![CheckFailure::new(reason, detail)] }
}

type PathSet<'a> = BTreeSet<&'a ByteString>;

/// The recorded state of the tree, available only if all of it was recorded.
struct DeltaObservation<'a> {
    roots_differ: bool,
    delta: PathSet<'a>,
    listed: PathSet<'a>,
    untracked: PathSet<'a>,
    exempt: PathSet<'a>,
    /// Submodules with another commit checked out, and what is only committed or staged. They are in D, but the content
    /// snapshots do not show them.
    beside_the_tree: BTreeSet<ByteString>,
}

impl<'a> DeltaObservation<'a> {
    /// Returns `None` if a root or a list is null: then nothing was reconciled.
    fn of(manifest: &'a ManifestV1, value: &Value) -> Option<Self> {
        let refs: Vec<RefChange> = serde_json::from_value(value["refs"].clone()).unwrap_or_default();
        let heads = refs.into_iter().filter(|change| change.name.as_bytes() == b"HEAD");
        let placed = manifest.delta.iter().flatten().filter(|change| change.place.is_some());
        let placed = placed.map(|change| change.path.clone());
        Some(Self {
            roots_differ: manifest.before_root? != manifest.after_root?,
            delta: manifest.delta.as_ref()?.iter().map(|change| &change.path).collect(),
            listed: manifest.workspace_delta_paths.as_ref()?.iter().collect(),
            untracked: manifest.untracked_delta_paths.as_ref()?.iter().collect(),
            exempt: manifest.exempt_delta_paths.iter().collect(),
            beside_the_tree: heads.filter_map(|change| change.repository).chain(placed).collect(),
        })
    }

    /// Reports lists and roots that cannot all be true.
    fn contradiction(&self) -> Option<CheckFailure> {
        if self.delta != self.listed {
            let different = self.delta.symmetric_difference(&self.listed).map(|path| path.as_bytes());
            return CheckFailure::for_names(ReasonCode::EvidenceDeltaMismatch, different);
        }
        let something_changed = !self.delta.is_empty() || !self.exempt.is_empty();
        let mut listed = self.delta.iter().chain(&self.exempt);
        let content_changed = listed.any(|path| !self.beside_the_tree.contains(*path));
        let is_told = if self.roots_differ { something_changed } else { !content_changed };
        (!is_told).then(|| {
            CheckFailure::new(
                ReasonCode::EvidenceDeltaMismatch,
                "the roots tell another story than the lists",
            )
        })
    }

    /// Recomputes U from the scope and the union of both path lists.
    fn check_scope(&self, scope: &Scope) -> Vec<CheckFailure> {
        let all = self.delta.iter().chain(&self.listed).chain(&self.untracked).chain(&self.exempt);
        let invalid = all.map(|path| path.as_bytes()).filter(|path| RepoPath::parse(path).is_err());
        if let Some(fault) = CheckFailure::for_names(ReasonCode::PathInvalid, invalid) {
            return vec![fault];
        }
        let delta: Vec<RepoPath> =
            self.delta.union(&self.listed).filter_map(|path| RepoPath::parse(path.as_bytes()).ok()).collect();
        let computed = reconcile(scope, &delta).untracked;
        let computed: BTreeSet<&[u8]> = computed.iter().map(RepoPath::as_bytes).collect();
        let recorded: BTreeSet<&[u8]> = self.untracked.iter().map(|path| path.as_bytes()).collect();
        let different = computed.symmetric_difference(&recorded).copied();
        let untracked = computed.union(&recorded).copied();
        [
            CheckFailure::for_names(ReasonCode::EvidenceReconciliationMismatch, different),
            CheckFailure::for_names(ReasonCode::ReconUntrackedDelta, untracked),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}
