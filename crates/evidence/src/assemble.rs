//! Assembles the files of a bundle from the facts of a run.

use crate::manifest_v1::{self, ChangeV1, MANIFEST_FILE, ManifestArtifact, ManifestV1};
use crate::{Manifest, ManifestChange, SecretKey, summary};
use probity_core::{Digest, ReasonCode, json};
use probity_paths::RepoPath;
use serde_json::Value;
use std::collections::BTreeMap;

pub(crate) const MANIFEST_SCHEMA: &str = "probity/manifest/v1";

/// The Markdown page for people, part of every bundle.
pub(crate) const SUMMARY_FILE: &str = "summary.md";

/// The files of a bundle by name, and its hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvidenceBundle {
    /// Every file, including `manifest.json` and `summary.md`.
    pub files: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The hash that the next run of the chain refers to.
    pub run_hash: Digest,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AssembleError {
    #[error("a manifest needs `{0}`")]
    Empty(&'static str),
    #[error("`{0}` cannot be the name of a file in a bundle")]
    BadName(String),
    /// A gate or the command refers to a log that was not passed in.
    #[error("the log `{0}` is not among the files")]
    MissingLog(String),
}

impl Manifest {
    /// Builds the bundle from these facts, a generated summary and `artifacts` (logs and other files, by name).
    pub fn assemble(
        &self,
        mut artifacts: BTreeMap<String, Vec<u8>>,
        prev_run_hash: Option<Digest>,
        key: Option<&SecretKey>,
    ) -> Result<EvidenceBundle, AssembleError> {
        self.check(&artifacts)?;
        artifacts.insert(SUMMARY_FILE.into(), summary::render(self).into_bytes());
        let listed = artifacts
            .iter()
            .map(|(path, content)| ManifestArtifact { path: path.clone(), sha256: Digest::of(content) });
        let mut manifest = self.to_json(listed.collect(), prev_run_hash, key.map(SecretKey::key_id));
        let run_hash = manifest_v1::run_hash(&manifest);
        manifest["run_hash"] = run_hash.to_string().into();
        if let Some(key) = key {
            let signature = key.sign(&manifest_v1::signed_message(run_hash));
            manifest["signature"] = format!("ed25519:{}", hex::encode(signature)).into();
        }
        let mut files: BTreeMap<Vec<u8>, Vec<u8>> =
            artifacts.into_iter().map(|(name, content)| (name.into_bytes(), content)).collect();
        files.insert(MANIFEST_FILE.into(), [json::canonical(&manifest), b"\n".to_vec()].concat());
        Ok(EvidenceBundle { files, run_hash })
    }

    fn check(&self, artifacts: &BTreeMap<String, Vec<u8>>) -> Result<(), AssembleError> {
        for (field, value) in [("run_id", &self.run_id), ("created_at", &self.created_at)] {
            if value.is_empty() {
                return Err(AssembleError::Empty(field));
            }
        }
        let is_bad = |name: &str| {
            [MANIFEST_FILE, SUMMARY_FILE].contains(&name) || RepoPath::parse(name.as_bytes()).is_err()
        };
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

    /// Returns the manifest with a placeholder hash and without a signature.
    pub(crate) fn to_json(
        &self,
        artifacts: Vec<ManifestArtifact>,
        prev_run_hash: Option<Digest>,
        key_id: Option<String>,
    ) -> Value {
        let required = self.required_fields(artifacts, prev_run_hash, key_id);
        let mut manifest = object(serde_json::to_value(required));
        manifest.extend(object(serde_json::to_value(&self.details)));
        manifest.insert("schema".into(), MANIFEST_SCHEMA.into());
        let codes: Vec<&str> = self.reasons().into_iter().map(ReasonCode::as_str).collect();
        manifest.insert("reasons".into(), codes.into());
        Value::Object(manifest)
    }

    fn required_fields(
        &self,
        artifact_hashes: Vec<ManifestArtifact>,
        prev_run_hash: Option<Digest>,
        key_id: Option<String>,
    ) -> ManifestV1 {
        let raw = |paths: Vec<RepoPath>| paths.iter().map(|path| path.as_bytes().into()).collect();
        ManifestV1 {
            version: manifest_v1::MANIFEST_VERSION.into(),
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
            artifact_hashes,
            prev_run_hash,
            // Placeholders: the hash covers everything except itself and the signature.
            run_hash: Digest::of(&[]),
            key_id,
            signature: None,
        }
    }
}

impl From<&ManifestChange> for ChangeV1 {
    fn from(change: &ManifestChange) -> Self {
        Self {
            path: change.path.as_bytes().into(),
            change: change.change,
            before: change.before,
            after: change.after,
            place: change.place.clone(),
        }
    }
}

fn object(value: Result<Value, serde_json::Error>) -> serde_json::Map<String, Value> {
    match value {
        Ok(Value::Object(members)) => members,
        _ => unreachable!("structs with text keys and whole numbers are written as objects"),
    }
}
