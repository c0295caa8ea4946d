//! The facts of a run, and the bundle that they become.
//!
//! What follows from the facts is computed here and cannot be said otherwise: the hash and scope of the plan, the
//! lists of paths, U, and the status. A manifest of ours never says pass against its own facts.

use crate::verify::MANIFEST;
use crate::wire::{self, Artifact, ChangeKind, ChangeV1, GateResult, ManifestV1, Status};
use crate::{Amendment, Details, Plan, SecretKey, amended_scope, judge, summary};
use canon::{Digest, Reason, json};
use paths::{PathError, RepoPath, reconcile};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The form of the document, for those who look at `schema` first.
const SCHEMA: &str = "probity/manifest/v1";

/// The page for people, part of every bundle.
const SUMMARY: &str = "summary.md";

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

/// The files of a bundle, by name, and its hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    /// Every file, `manifest.json` and `summary.md` included.
    pub files: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The hash that the next run of the chain refers to.
    pub run_hash: Digest,
}

/// Facts that make no bundle.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AssembleError {
    /// A field must not be empty.
    #[error("a manifest needs `{0}`")]
    Empty(&'static str),
    /// A file cannot have this name in a bundle.
    #[error("`{0}` cannot be the name of a file in a bundle")]
    BadName(String),
    /// A log is named that was not handed in.
    #[error("the log `{0}` is not among the files")]
    MissingLog(String),
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

    /// Makes the bundle: these facts, the summary, and `artifacts` (logs and the like, by name).
    pub fn assemble(
        &self,
        mut artifacts: BTreeMap<String, Vec<u8>>,
        prev_run_hash: Option<Digest>,
        key: Option<&SecretKey>,
    ) -> Result<Bundle, AssembleError> {
        self.check(&artifacts)?;
        artifacts.insert(SUMMARY.into(), summary::render(self).into_bytes());
        let mut manifest = self.to_json(&artifacts, prev_run_hash, key);
        let run_hash = wire::run_hash(&manifest);
        manifest["run_hash"] = run_hash.to_string().into();
        if let Some(key) = key {
            let signature = key.sign(&wire::signed_message(run_hash));
            manifest["signature"] = format!("ed25519:{}", hex::encode(signature)).into();
        }
        let mut files: BTreeMap<Vec<u8>, Vec<u8>> =
            artifacts.into_iter().map(|(name, content)| (name.into_bytes(), content)).collect();
        files.insert(MANIFEST.into(), [json::canonical(&manifest), b"\n".to_vec()].concat());
        Ok(Bundle { files, run_hash })
    }

    fn check(&self, artifacts: &BTreeMap<String, Vec<u8>>) -> Result<(), AssembleError> {
        for (field, value) in [("run_id", &self.run_id), ("created_at", &self.created_at)] {
            if value.is_empty() {
                return Err(AssembleError::Empty(field));
            }
        }
        let is_bad =
            |name: &str| [MANIFEST, SUMMARY].contains(&name) || RepoPath::parse(name.as_bytes()).is_err();
        if let Some(name) = artifacts.keys().find(|name| is_bad(name)) {
            return Err(AssembleError::BadName(name.clone()));
        }
        let of_command = self.details.command.iter().flat_map(|command| &command.log_paths);
        let mut logs = self.gate_results.iter().flat_map(|result| &result.log_paths).chain(of_command);
        match logs.find(|log| !artifacts.contains_key(*log)) {
            Some(log) => Err(AssembleError::MissingLog(log.clone())),
            None => Ok(()),
        }
    }

    /// The manifest without its hash and signature.
    fn to_json(
        &self,
        artifacts: &BTreeMap<String, Vec<u8>>,
        prev_run_hash: Option<Digest>,
        key: Option<&SecretKey>,
    ) -> Value {
        let required = self.required_fields(artifacts, prev_run_hash, key);
        let mut manifest = object(serde_json::to_value(required));
        manifest.extend(object(serde_json::to_value(&self.details)));
        manifest.insert("schema".into(), SCHEMA.into());
        let codes: Vec<&str> = self.reasons().into_iter().map(Reason::as_str).collect();
        manifest.insert("reasons".into(), codes.into());
        Value::Object(manifest)
    }

    fn required_fields(
        &self,
        artifacts: &BTreeMap<String, Vec<u8>>,
        prev_run_hash: Option<Digest>,
        key: Option<&SecretKey>,
    ) -> ManifestV1 {
        let raw = |paths: Vec<RepoPath>| paths.iter().map(|path| path.as_bytes().into()).collect();
        let artifact = |(path, content): (&String, &Vec<u8>)| Artifact {
            path: path.clone(),
            sha256: Digest::of(content),
        };
        ManifestV1 {
            version: wire::VERSION.into(),
            run_id: self.run_id.clone(),
            created_at: self.created_at.clone(),
            status: self.status(),
            reason: self.reasons().first().map(ToString::to_string),
            policy_versions: self.plan.policy_versions.clone(),
            plan: self.plan.clone(),
            plan_hash: self.plan.hash(),
            scope: self.plan.scope.clone(),
            amendments: self.amendments.clone(),
            before_root: self.before_root,
            after_root: self.after_root,
            delta: self.delta.as_ref().map(|delta| delta.iter().map(ChangeV1::from).collect()),
            workspace_delta_paths: self.delta_paths().map(raw),
            untracked_delta_paths: self.untracked().map(raw),
            exempt_delta_paths: raw(self.exempt_delta_paths.clone()),
            gate_results: self.gate_results.clone(),
            artifact_hashes: artifacts.iter().map(artifact).collect(),
            prev_run_hash,
            // Neither is known yet: the hash is over everything else.
            run_hash: Digest::of(&[]),
            key_id: key.map(SecretKey::key_id),
            signature: None,
        }
    }
}

impl From<&Change> for ChangeV1 {
    fn from(change: &Change) -> Self {
        Self {
            path: change.path.as_bytes().into(),
            change: change.change,
            before: change.before,
            after: change.after,
        }
    }
}

fn object(value: Result<Value, serde_json::Error>) -> serde_json::Map<String, Value> {
    match value {
        Ok(Value::Object(members)) => members,
        _ => unreachable!("structs with text keys and whole numbers are written as objects"),
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
