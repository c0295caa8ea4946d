//! The facts of a run.
//!
//! What follows from the facts is computed here and cannot be said otherwise: the hash and scope of the plan, the
//! lists of paths, U, and the status. A manifest of ours never says pass against its own facts.

use crate::wire::{ChangeV1, GateResult, ManifestV1, Status};
use crate::{Amendment, Details, Plan, amended_scope, judge};
use probity_core::{ChangeKind, Digest, Reason, json};
use probity_paths::{PathError, RepoPath, reconcile};
use serde::Deserialize;

/// The facts of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// The run.
    pub run_id: String,
    /// When the evidence was made, as RFC 3339.
    pub created_at: String,
    /// The sealed plan.
    pub plan: Plan,
    /// Amendments of the sealed scope.
    pub amendments: Vec<Amendment>,
    /// The root hash of the start snapshot, if one could be taken.
    pub before_root: Option<Digest>,
    /// The root hash of the end snapshot, if one could be taken.
    pub after_root: Option<Digest>,
    /// D, if it is known.
    pub delta: Option<Vec<Change>>,
    /// Changed paths under the sealed build outputs; not part of D.
    pub exempt_delta_paths: Vec<RepoPath>,
    /// How the gates ended.
    pub gate_results: Vec<GateResult>,
    /// Why the run failed, beyond what follows from the other facts. Most important first.
    pub other_reasons: Vec<Reason>,
    /// Everything else.
    pub details: Details,
}

/// A changed path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The path.
    pub path: RepoPath,
    /// How it changed.
    pub change: ChangeKind,
    /// The hash of the entry before, if there was one.
    pub before: Option<Digest>,
    /// The hash of the entry afterwards, if there is one.
    pub after: Option<Digest>,
}

impl Manifest {
    /// Why the run failed, most important first; empty when it passed.
    pub fn reasons(&self) -> Vec<Reason> {
        let is_untracked = self.untracked().is_some_and(|paths| !paths.is_empty());
        let has_snapshots = self.before_root.is_some() && self.after_root.is_some() && self.delta.is_some();
        let scope = amended_scope(&self.plan.scope, &self.amendments);
        let gates = judge::gate_reasons(self.plan.required_gates(), &self.gate_results).into_keys();
        let mut reasons: Vec<Reason> = Vec::new();
        let all = is_untracked
            .then_some(Reason::ReconUntrackedDelta)
            .into_iter()
            .chain(self.other_reasons.iter().copied())
            .chain((!has_snapshots).then_some(Reason::ReconSnapshotMissing))
            .chain(scope.err().map(|error| error.reason))
            .chain(gates);
        for reason in all {
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        reasons
    }

    /// Whether the run passed.
    pub fn status(&self) -> Status {
        if self.reasons().is_empty() { Status::Pass } else { Status::Fail }
    }

    /// The paths of D, if it is known.
    pub fn delta_paths(&self) -> Option<Vec<RepoPath>> {
        Some(self.delta.as_ref()?.iter().map(|change| change.path.clone()).collect())
    }

    /// U: D minus the sealed scope and its amendments, if D is known. Under a bad pattern nothing is inside.
    pub fn untracked(&self) -> Option<Vec<RepoPath>> {
        let delta = self.delta_paths()?;
        Some(match amended_scope(&self.plan.scope, &self.amendments) {
            Ok(scope) => reconcile(&scope, &delta).untracked,
            Err(_) => delta,
        })
    }
}

/// A manifest that was read from a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredManifest {
    /// The facts.
    pub manifest: Manifest,
    /// The hash as it is recorded.
    pub run_hash: Digest,
    /// The run before it in its chain.
    pub prev_run_hash: Option<Digest>,
    /// The key that signed it, if one did.
    pub key_id: Option<String>,
}

/// Why bytes are no manifest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// They are not strict JSON.
    #[error(transparent)]
    Json(#[from] json::JsonError),
    /// A field is missing or wrong.
    #[error("{0}")]
    Form(String),
    /// A path is none.
    #[error(transparent)]
    Path(#[from] PathError),
}

#[derive(Deserialize)]
struct Reasons {
    #[serde(default)]
    reasons: Vec<Reason>,
}

impl StoredManifest {
    /// Reads a manifest for showing it or for building on it. This trusts nothing and proves nothing: whether the
    /// bundle is good is for [`verify`](crate::verify) to say.
    pub fn parse(bytes: &[u8]) -> Result<Self, ReadError> {
        let value = json::parse(bytes)?;
        let form = |error: serde_json::Error| ReadError::Form(error.to_string());
        let required = ManifestV1::read(&value).map_err(ReadError::Form)?;
        let details = Details::deserialize(&value).map_err(form)?;
        let Reasons { reasons } = Reasons::deserialize(&value).map_err(form)?;
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
            run_hash: required.run_hash,
            prev_run_hash: required.prev_run_hash,
            key_id: required.key_id,
        })
    }
}

fn changes(delta: &[ChangeV1]) -> Result<Vec<Change>, PathError> {
    let typed = |change: &ChangeV1| {
        Ok(Change {
            path: RepoPath::parse(change.path.as_bytes())?,
            change: change.change,
            before: change.before,
            after: change.after,
        })
    };
    delta.iter().map(typed).collect()
}

/// The name of a log in a bundle, safe for any id: `logs/001-lint.stdout`.
pub fn log_path(index: usize, id: &str, stream: &str) -> String {
    /// Longer ids are cut; the number keeps the names apart.
    const MAX_ID: usize = 80;
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let name: String =
        id.chars().take(MAX_ID).map(|letter| if is_plain(letter) { letter } else { '_' }).collect();
    format!("logs/{index:03}-{name}.{stream}")
}
