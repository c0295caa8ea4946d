//! Exports a run as an attestation for other tools: an in-toto statement, plain or in a signed DSSE envelope.

use crate::bundles;
use probity_api::govern::evidence::EvidenceExport;
use probity_core::{ReasonCode, json};
use probity_workspace::{ServiceError, Workspace, signing};
use serde_json::Value;

pub fn export(workspace: &Workspace, run: &str, signed: bool) -> Result<EvidenceExport, ServiceError> {
    let run_id = bundles::find(workspace, run)?;
    let attestation = attestation(workspace, &run_id, signed)?;
    Ok(EvidenceExport { run_id, attestation })
}

fn attestation(workspace: &Workspace, run_id: &str, signed: bool) -> Result<Value, ServiceError> {
    let key = signing::signing_key(workspace)?;
    bundles::require_chained(workspace, run_id)?;
    let dir = workspace.state.evidence().join(run_id);
    let (verification, files) = bundles::verify(&dir, &bundles::next_trust(key.as_ref()))?;
    if let Some(code) = bundles::flaws(&verification).next() {
        let reason = code.parse().unwrap_or(ReasonCode::EvidenceSchemaInvalid);
        return Err(ServiceError::refused(reason, format!("run {run_id} is not exported")));
    }
    let manifest = files.get(&b"manifest.json"[..]).ok_or_else(|| {
        ServiceError::refused(ReasonCode::EvidenceManifestMissing, format!("run {run_id} has no manifest"))
    })?;
    let unfit = |error: probity_evidence::attest::AttestError| {
        ServiceError::refused(ReasonCode::EvidenceSchemaInvalid, error.to_string())
    };
    if !signed {
        return probity_evidence::attest::statement(manifest).map_err(unfit);
    }
    let key = key.ok_or_else(|| {
        ServiceError::refused(
            ReasonCode::EvidenceSignatureRequired,
            "an envelope needs a key, and this repository has none",
        )
    })?;
    let envelope = probity_evidence::attest::envelope(manifest, &key).map_err(unfit)?;
    json::parse(&envelope).map_err(|error| ServiceError::refused(error.reason, error.to_string()))
}
