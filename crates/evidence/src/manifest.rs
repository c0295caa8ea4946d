//! The facts of a run.
//!
//! Whatever follows from the facts is computed here and cannot be set: the plan's hash and scope, the path
//! lists, the untracked paths and the status. A manifest written by this code therefore never claims a pass
//! that its own facts contradict.

use crate::manifest_v1::{self, ChangeV1, GateResult, ManifestV1, RunStatus};
use crate::{Amendment, ChangePlace, ManifestDetails, Plan, amended_scope, gate_rules};
use probity_core::{ChangeKind, Digest, ReasonCode, json};
use probity_paths::{PathError, RepoPath, reconcile};
use serde::Deserialize;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    pub run_id: String,
    /// When the evidence was created, in RFC 3339.
    pub created_at: String,
    pub plan: Plan,
    pub amendments: Vec<Amendment>,
    /// Root hash of the start snapshot, if one could be taken.
    pub before_root: Option<Digest>,
    /// Root hash of the end snapshot, if one could be taken.
    pub after_root: Option<Digest>,
    /// The changes (D), if known.
    pub delta: Option<Vec<ManifestChange>>,
    /// Changed paths under sealed build outputs; not part of D.
    pub exempt_delta_paths: Vec<RepoPath>,
    pub gate_results: Vec<GateResult>,
    /// Failure reasons that do not follow from the other facts, most important first.
    pub other_reasons: Vec<ReasonCode>,
    pub details: ManifestDetails,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestChange {
    pub path: RepoPath,
    pub change: ChangeKind,
    /// Hash of the entry before the run; `None` if it did not exist.
    pub before: Option<Digest>,
    /// Hash of the entry after the run; `None` if it no longer exists.
    pub after: Option<Digest>,
    /// `None` if the change is in the working tree.
    pub place: Option<ChangePlace>,
}

impl Manifest {
    /// Returns why the run failed, most important first; empty if it passed.
    pub fn reasons(&self) -> Vec<ReasonCode> {
        let is_untracked = self.untracked().is_some_and(|paths| !paths.is_empty());
        let has_snapshots = self.before_root.is_some() && self.after_root.is_some() && self.delta.is_some();
        let scope = amended_scope(&self.plan.scope, &self.amendments);
        let gates = gate_rules::gate_reasons(self.plan.required_gates(), &self.gate_results).into_keys();
        let mut reasons: Vec<ReasonCode> = Vec::new();
        let all = is_untracked
            .then_some(ReasonCode::ReconUntrackedDelta)
            .into_iter()
            .chain(self.other_reasons.iter().copied())
            .chain((!has_snapshots).then_some(ReasonCode::ReconSnapshotMissing))
            .chain(scope.err().map(|error| error.reason))
            .chain(gates);
        for reason in all {
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        reasons
    }

    pub fn status(&self) -> RunStatus {
        if self.reasons().is_empty() { RunStatus::Pass } else { RunStatus::Fail }
    }

    pub fn delta_paths(&self) -> Option<Vec<RepoPath>> {
        Some(self.delta.as_ref()?.iter().map(|change| change.path.clone()).collect())
    }

    /// Returns the changed paths outside the sealed scope and its amendments (U), if D is known. If a pattern
    /// is invalid, every changed path counts as outside.
    pub fn untracked(&self) -> Option<Vec<RepoPath>> {
        let delta = self.delta_paths()?;
        Some(match amended_scope(&self.plan.scope, &self.amendments) {
            Ok(scope) => reconcile(&scope, &delta).untracked,
            Err(_) => delta,
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredManifest {
    pub manifest: Manifest,
    /// The recorded hash, not a recomputed one.
    pub run_hash: Digest,
    /// Whether the recorded hash is that of the manifest.
    pub has_its_hash: bool,
    /// Run hash of the predecessor in the chain.
    pub prev_run_hash: Option<Digest>,
    pub key_id: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    #[error(transparent)]
    Json(#[from] json::JsonError),
    #[error("{0}")]
    Form(String),
    #[error(transparent)]
    Path(#[from] PathError),
}

#[derive(Deserialize)]
struct ManifestReasons {
    #[serde(default)]
    reasons: Vec<ReasonCode>,
}

impl StoredManifest {
    /// Parses a manifest to show it or to build on it. Does not validate hashes or signatures: only
    /// [`verify`](crate::verify) decides whether the bundle is good.
    pub fn parse(bytes: &[u8]) -> Result<Self, ReadError> {
        let value = json::parse(bytes)?;
        let form = |error: serde_json::Error| ReadError::Form(error.to_string());
        let required = ManifestV1::read(&value).map_err(ReadError::Form)?;
        let details = ManifestDetails::deserialize(&value).map_err(form)?;
        let ManifestReasons { reasons } = ManifestReasons::deserialize(&value).map_err(form)?;
        let parse = |path: &crate::ByteString| RepoPath::parse(path.as_bytes());
        let delta = required.delta.as_deref().map(changes).transpose()?;
        let mut manifest = Manifest {
            run_id: required.run_id,
            created_at: required.created_at,
            plan: required.plan,
            amendments: required.amendments,
            before_root: required.before_root,
            after_root: required.after_root,
            delta,
            exempt_delta_paths: required.exempt_delta_paths.iter().map(parse).collect::<Result<_, _>>()?,
            gate_results: required.gate_results,
            other_reasons: Vec::new(),
            details,
        };
        let following = manifest.reasons();
        manifest.other_reasons = reasons.into_iter().filter(|reason| !following.contains(reason)).collect();
        Ok(Self {
            manifest,
            has_its_hash: manifest_v1::run_hash(&value) == required.run_hash,
            run_hash: required.run_hash,
            prev_run_hash: required.prev_run_hash,
            key_id: required.key_id,
        })
    }
}

fn changes(delta: &[ChangeV1]) -> Result<Vec<ManifestChange>, PathError> {
    let typed = |change: &ChangeV1| {
        Ok(ManifestChange {
            path: RepoPath::parse(change.path.as_bytes())?,
            change: change.change,
            before: change.before,
            after: change.after,
            place: change.place.clone(),
        })
    };
    delta.iter().map(typed).collect()
}

/// Returns the name of a log in a bundle, safe for any id: `logs/001-lint.stdout`.
pub fn log_path(index: usize, id: &str, stream: &str) -> String {
    /// Longer ids are truncated; the index keeps names distinct.
    const MAX_LOG_ID_CHARS: usize = 80;
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let name: String =
        id.chars().take(MAX_LOG_ID_CHARS).map(|letter| if is_plain(letter) { letter } else { '_' }).collect();
    format!("logs/{index:03}-{name}.{stream}")
}
