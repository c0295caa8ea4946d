//! A run as an attestation that other tools read: in-toto statement, alone or in a signed DSSE envelope.

use crate::bundles;
use probity_api::govern::evidence::EvidenceExport;
use probity_core::{Reason, json};
use probity_workspace::{Fault, Workspace, signing};
use serde_json::Value;

/// The run `run` as an attestation.
pub fn export(workspace: &Workspace, run: &str, signed: bool) -> Result<EvidenceExport, Fault> {
    let run_id = bundles::find(workspace, run)?;
    let attestation = attestation(workspace, &run_id, signed)?;
    Ok(EvidenceExport { run_id, attestation })
}

fn attestation(workspace: &Workspace, run_id: &str, signed: bool) -> Result<Value, Fault> {
    let files = bundles::read(&workspace.state.evidence().join(run_id))?;
    let manifest = files.get(&b"manifest.json"[..]).ok_or_else(|| {
        Fault::refused(Reason::EvidenceManifestMissing, format!("run {run_id} has no manifest"))
    })?;
    let unfit = |error: probity_evidence::attest::AttestError| {
        Fault::refused(Reason::EvidenceSchemaInvalid, error.to_string())
    };
    if !signed {
        return probity_evidence::attest::statement(manifest).map_err(unfit);
    }
    let key = signing::signing_key(workspace)?.ok_or_else(|| {
        Fault::refused(
            Reason::EvidenceSignatureRequired,
            "an envelope needs a key, and this repository has none",
        )
    })?;
    let envelope = probity_evidence::attest::envelope(manifest, &key).map_err(unfit)?;
    json::parse(&envelope).map_err(|error| Fault::refused(error.reason, error.to_string()))
}
