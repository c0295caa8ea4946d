//! The caller's requirements for a bundle. They come from the caller, never from the bundle.

use crate::{EnforcementLevel, PublicKey, SignatureRule};
use probity_core::{Digest, json};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

const TRUST_SCHEMA: &str = "probity/trust/v1";

/// What a bundle must prove. The verifier reports each check without a requirement as skipped.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TrustRequirements {
    pub profile: Option<String>,
    /// Hash of the plan that was sealed.
    pub plan_hash: Option<Digest>,
    /// The required predecessor in the chain of runs.
    pub follows: Option<ChainPredecessor>,
    /// Gates that must have passed, in addition to those the plan requires.
    pub required_gates: Vec<String>,
    pub signature: SignatureRule,
    /// The weakest level of enforcement that is accepted.
    pub enforcement: EnforcementLevel,
    /// Trusted keys, by key id.
    pub keys: BTreeMap<String, PublicKey>,
    /// Trusted witnesses of the log, by name.
    pub witnesses: BTreeMap<String, PublicKey>,
    /// How many of them must have countersigned a checkpoint.
    pub required_witnesses: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChainPredecessor {
    /// The run is the first of its chain.
    Nothing,
    Run(Digest),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this is not a trust file: {0}")]
pub struct TrustError(String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TrustDocument {
    schema: Option<String>,
    profile: Option<String>,
    plan_hash: Option<Digest>,
    #[serde(default, deserialize_with = "present")]
    prev_run_hash: Option<Value>,
    #[serde(default)]
    required_gates: Vec<String>,
    #[serde(default)]
    signature: SignatureRule,
    #[serde(default)]
    enforcement: EnforcementLevel,
    #[serde(default)]
    keys: BTreeMap<String, PublicKey>,
    #[serde(default)]
    witnesses: BTreeMap<String, PublicKey>,
    #[serde(default)]
    required_witnesses: usize,
}

/// Distinguishes null from absent: null requires the run to be the first of its chain, absent requires nothing.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl TrustRequirements {
    /// Parses a trust file: strict JSON that names its schema.
    pub fn parse(bytes: &[u8]) -> Result<Self, TrustError> {
        let value = json::parse(bytes).map_err(|error| TrustError(error.to_string()))?;
        if value.get("schema").is_none() {
            return Err(TrustError(format!("it has no `schema`, which must be `{TRUST_SCHEMA}`")));
        }
        Self::from_json(&value)
    }

    /// Reads requirements from a JSON object, which may omit the schema.
    pub fn from_json(value: &Value) -> Result<Self, TrustError> {
        if !value.is_object() {
            return Err(TrustError("it is no object".into()));
        }
        let form = TrustDocument::deserialize(value).map_err(|error| TrustError(error.to_string()))?;
        if form.schema.as_deref().is_some_and(|schema| schema != TRUST_SCHEMA) {
            return Err(TrustError(format!("its `schema` is not `{TRUST_SCHEMA}`")));
        }
        Ok(Self {
            profile: form.profile,
            plan_hash: form.plan_hash,
            follows: form.prev_run_hash.map(follows).transpose()?,
            required_gates: form.required_gates,
            signature: form.signature,
            enforcement: form.enforcement,
            keys: form.keys,
            witnesses: form.witnesses,
            required_witnesses: form.required_witnesses,
        })
    }
}

fn follows(value: Value) -> Result<ChainPredecessor, TrustError> {
    if value.is_null() {
        return Ok(ChainPredecessor::Nothing);
    }
    serde_json::from_value(value).map(ChainPredecessor::Run).map_err(|error| TrustError(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_before_a_run_is_a_demand_and_silence_is_none() {
        let read = |text: &str| TrustRequirements::parse(text.as_bytes()).expect("a trust file").follows;
        assert_eq!(read(r#"{"schema": "probity/trust/v1"}"#), None);
        assert_eq!(
            read(r#"{"schema": "probity/trust/v1", "prev_run_hash": null}"#),
            Some(ChainPredecessor::Nothing)
        );
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        for bad in [
            "{}",
            "[]",
            r#"{"schema": "probity/trust/v2"}"#,
            r#"{"schema": "probity/trust/v1", "key": {}}"#,
            r#"{"schema": "probity/trust/v1", "signature": "Required"}"#,
            r#"{"schema": "probity/trust/v1", "keys": {"a": "ed25519:00"}}"#,
            r#"{"schema": "probity/trust/v1", "profile": "a", "profile": "b"}"#,
        ] {
            assert!(TrustRequirements::parse(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
