//! Runs the verifier on conformance vectors of kind `evidence`.

use crate::{TrustRequirements, verify};
use probity_core::bytes;
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub fn evidence(given: &Value) -> Result<Value, String> {
    let files = given["files"].as_object().ok_or("`files` is no object")?;
    let mut bundle = BTreeMap::new();
    for (name, content) in files {
        let content = bytes::from_json(content).ok_or_else(|| format!("`{name}` has no bytes"))?;
        bundle.insert(name.clone().into_bytes(), content);
    }
    let trust = TrustRequirements::from_json(&given["trust"]).map_err(|error| error.to_string())?;
    let found = verify(&bundle, &trust);
    Ok(json!({ "verdict": found.verdict, "codes": found.codes, "skipped": found.skipped }))
}
