//! The required fields of a manifest (version 1) as stored in the file.
//!
//! Names, patterns and paths are not validated here: a manifest with a bad path must still parse, so that the
//! verifier can say what is wrong with it.

use crate::{Amendment, ByteString, ChangePlace, GateStatus, GlobList, Plan};
use probity_core::{ChangeKind, Digest, json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub(crate) const MANIFEST_FILE: &str = "manifest.json";

pub(crate) const MANIFEST_VERSION: &str = "1";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ManifestV1 {
    pub(crate) version: String,
    pub(crate) run_id: String,
    pub(crate) created_at: String,
    pub(crate) status: RunStatus,
    pub(crate) reason: Option<String>,
    pub(crate) policy_versions: Map<String, Value>,
    pub(crate) plan: Plan,
    pub(crate) plan_hash: Digest,
    pub(crate) scope: GlobList,
    pub(crate) amendments: Vec<Amendment>,
    pub(crate) before_root: Option<Digest>,
    pub(crate) after_root: Option<Digest>,
    pub(crate) delta: Option<Vec<ChangeV1>>,
    pub(crate) workspace_delta_paths: Option<Vec<ByteString>>,
    pub(crate) untracked_delta_paths: Option<Vec<ByteString>>,
    pub(crate) exempt_delta_paths: Vec<ByteString>,
    pub(crate) gate_results: Vec<GateResult>,
    pub(crate) artifact_hashes: Vec<ManifestArtifact>,
    pub(crate) prev_run_hash: Option<Digest>,
    pub(crate) run_hash: Digest,
    pub(crate) key_id: Option<String>,
    pub(crate) signature: Option<String>,
}

probity_core::word_enum! {
    /// The status of a run.
    pub enum RunStatus {
        /// The run kept to its scope, and its required gates passed.
        Pass = "pass",
        /// The run did not pass.
        Fail = "fail",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChangeV1 {
    pub(crate) path: ByteString,
    pub(crate) change: ChangeKind,
    pub(crate) before: Option<Digest>,
    pub(crate) after: Option<Digest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) place: Option<ChangePlace>,
}

/// The result of a gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GateResult {
    /// The gate's id.
    pub gate_id: String,
    /// The outcome.
    pub status: GateStatus,
    /// The exit code; null if the gate was killed or could not start.
    pub exit_code: Option<i64>,
    /// The running time in milliseconds.
    pub duration_ms: u64,
    /// Log files within the bundle.
    pub log_paths: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ManifestArtifact {
    pub(crate) path: String,
    pub(crate) sha256: Digest,
}

impl ManifestV1 {
    /// Reads the required fields, or reports which one is missing or wrong.
    pub(crate) fn read(value: &Value) -> Result<Self, String> {
        let manifest = Self::deserialize(value).map_err(|error| error.to_string())?;
        let again = serde_json::to_value(&manifest).map_err(|error| error.to_string())?;
        // Serde accepts a list in place of a struct, and an absent field in place of null. Serializing again
        // and comparing with the input rejects both.
        contains(value, &again).map_err(|place| format!("`{place}` is missing or has the wrong type"))?;
        match manifest.wrong_spelling() {
            Some(field) => Err(format!("`{field}` has a value that it cannot have")),
            None => Ok(manifest),
        }
    }

    /// Returns the first field of the right type but with an invalid value.
    fn wrong_spelling(&self) -> Option<&'static str> {
        let reason_fits = match (&self.status, &self.reason) {
            (RunStatus::Pass, None) => true,
            (RunStatus::Fail, Some(reason)) => is_code(reason),
            _ => false,
        };
        let checks = [
            ("version", self.version == MANIFEST_VERSION),
            ("run_id", !self.run_id.is_empty()),
            ("created_at", !self.created_at.is_empty()),
            ("reason", reason_fits),
            ("plan", self.plan.version == Plan::PLAN_VERSION),
            ("amendments", self.amendments.iter().all(|amendment| amendment.empty_field().is_none())),
        ];
        checks.into_iter().find(|(_, fits)| !fits).map(|(field, _)| field)
    }
}

/// Computes the hash of a manifest: over everything except the hash itself and the signature.
pub(crate) fn run_hash(manifest: &Value) -> Digest {
    let mut hashed = manifest.clone();
    if let Value::Object(members) = &mut hashed {
        members.remove("run_hash");
        members.remove("signature");
    }
    Digest::of(&json::canonical(&hashed))
}

/// Returns the message that a manifest's signature covers.
pub(crate) fn signed_message(run_hash: Digest) -> Vec<u8> {
    format!("probity evidence v1\n{run_hash}").into_bytes()
}

/// Accepts any `FAMILY.NAME`: a later version may have written a code that this one does not know.
fn is_code(text: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty() && word.bytes().all(|byte| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_'))
    };
    text.contains('.') && text.split('.').all(is_word)
}

/// Checks that `whole` contains everything in `part`; objects of `whole` may have additional members. The
/// error is the path of the first difference.
pub(crate) fn contains(whole: &Value, part: &Value) -> Result<(), String> {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            for (key, part) in part {
                let whole = whole.get(key).ok_or_else(|| key.clone())?;
                contains(whole, part).map_err(|place| join(key, &place))?;
            }
            Ok(())
        }
        (Value::Array(whole), Value::Array(part)) if whole.len() == part.len() => {
            for (index, (whole, part)) in whole.iter().zip(part).enumerate() {
                contains(whole, part).map_err(|place| join(&index.to_string(), &place))?;
            }
            Ok(())
        }
        _ if whole == part => Ok(()),
        _ => Err(String::new()),
    }
}

fn join(key: &str, place: &str) -> String {
    if place.is_empty() { key.to_owned() } else { format!("{key}.{place}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn says_where_something_is_missing() {
        let whole = json!({"a": [{"b": 1, "more": 2}], "c": null});
        assert_eq!(contains(&whole, &json!({"a": [{"b": 1}]})), Ok(()));
        assert_eq!(contains(&whole, &json!({"a": [{"x": null}]})), Err("a.0.x".into()));
        assert_eq!(contains(&whole, &json!({"c": 1})), Err("c".into()));
        assert_eq!(contains(&json!([["p"]]), &json!([{"path": "p"}])), Err("0".into()));
    }

    #[test]
    fn a_reason_has_the_form_of_a_code() {
        for good in ["RECON.UNTRACKED_DELTA", "A.B2", "A.B.C"] {
            assert!(is_code(good), "{good}");
        }
        for bad in ["", "RECON", "recon.delta", "A.", ".A", "A B.C"] {
            assert!(!is_code(bad), "{bad}");
        }
    }
}
