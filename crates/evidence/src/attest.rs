//! Attestations of runs for other tools: an in-toto statement in a DSSE envelope.
//!
//! The statement's subjects are the run (by its hash) and the manifest file (by its digest); its predicate is
//! the whole manifest. An envelope's signature is verified before its payload is parsed. [`seal_statement`]
//! and [`open_statement`] do the same for statements of any kind.

use crate::manifest_v1::{self, MANIFEST_FILE, ManifestV1};
use crate::{PublicKey, SecretKey};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use probity_core::{Digest, json};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// DSSE payload type.
pub const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";

/// In-toto statement type.
pub const STATEMENT_TYPE: &str = "https://in-toto.io/Statement/v1";

/// In-toto predicate type: a manifest of version 1.
pub const RUN_PREDICATE_TYPE: &str = "https://probity.dev/attestation/run/v1";

/// Signatures beyond this many are ignored, so that an envelope cannot cost unbounded work.
const MAX_SIGNATURES: usize = 32;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AttestError {
    #[error("the manifest cannot be attested: {0}")]
    Manifest(String),
    #[error("this is no DSSE envelope: {0}")]
    Envelope(String),
    #[error("no trusted key has signed the envelope")]
    NotSigned,
    /// A trusted key signed something other than an attestation of a run.
    #[error("the envelope holds no attestation of a run: {0}")]
    Statement(String),
}

/// A run attested by a trusted key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attestation {
    pub key_id: String,
    pub run_id: String,
    /// Computed from the attested manifest, not copied from it.
    pub run_hash: Digest,
    pub manifest: Value,
}

/// Returns the bytes that a DSSE signature covers.
pub fn pre_authentication_encoding(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let head = format!("DSSEv1 {} {payload_type} {} ", payload_type.len(), payload.len());
    [head.as_bytes(), payload].concat()
}

/// Builds the statement about the run whose `manifest.json` has these bytes.
pub fn statement(manifest: &[u8]) -> Result<Value, AttestError> {
    let value = json::parse(manifest).map_err(|error| AttestError::Manifest(error.to_string()))?;
    let fields = ManifestV1::read(&value).map_err(AttestError::Manifest)?;
    if !json::is_canonical(manifest, &value) || manifest_v1::run_hash(&value) != fields.run_hash {
        return Err(AttestError::Manifest("it was changed after it was hashed".into()));
    }
    let subjects = [(fields.run_id, fields.run_hash), (MANIFEST_FILE.to_owned(), Digest::of(manifest))];
    Ok(statement_about(subjects, RUN_PREDICATE_TYPE, &value))
}

/// An in-toto statement.
#[derive(Serialize)]
struct Statement<'a> {
    #[serde(rename = "_type")]
    kind: &'a str,
    subject: Vec<Subject>,
    #[serde(rename = "predicateType")]
    predicate_type: &'a str,
    predicate: &'a Value,
}

#[derive(Serialize)]
struct Subject {
    name: String,
    digest: BTreeMap<&'static str, String>,
}

/// The statement that a predicate makes about its subjects: their names and digests.
pub(crate) fn statement_about(
    subjects: impl IntoIterator<Item = (String, Digest)>,
    predicate_type: &str,
    predicate: &Value,
) -> Value {
    let digest = |digest: Digest| BTreeMap::from([("sha256", digest.to_hex())]);
    let subjects = subjects.into_iter().map(|(name, of)| Subject { name, digest: digest(of) });
    let (kind, subject) = (STATEMENT_TYPE, subjects.collect());
    json::to_value(&Statement { kind, subject, predicate_type, predicate })
}

/// Builds the signed envelope about the run whose `manifest.json` has these bytes.
pub fn envelope(manifest: &[u8], key: &SecretKey) -> Result<Vec<u8>, AttestError> {
    Ok(seal_statement(&statement(manifest)?, key))
}

/// Wraps any statement in a signed envelope.
pub fn seal_statement(statement: &Value, key: &SecretKey) -> Vec<u8> {
    let payload = json::canonical(statement);
    let signature = key.sign(&pre_authentication_encoding(PAYLOAD_TYPE, &payload));
    let envelope = DsseEnvelope {
        payload: STANDARD.encode(&payload),
        payload_type: PAYLOAD_TYPE.to_owned(),
        signatures: vec![EnvelopeSignature { keyid: key.key_id(), sig: STANDARD.encode(signature) }],
    };
    [json::canonical_of(&envelope), b"\n".to_vec()].concat()
}

#[derive(Serialize, Deserialize)]
struct DsseEnvelope {
    payload: String,
    #[serde(rename = "payloadType")]
    payload_type: String,
    signatures: Vec<EnvelopeSignature>,
}

#[derive(Serialize, Deserialize)]
struct EnvelopeSignature {
    #[serde(default)]
    keyid: String,
    sig: String,
}

/// Opens an envelope signed by one of `keys` (by key id) and checks that it attests a run.
pub fn open(envelope: &[u8], keys: &BTreeMap<String, PublicKey>) -> Result<Attestation, AttestError> {
    let (key_id, statement) = open_statement(envelope, keys)?;
    let (run_id, run_hash) = attested(&statement)?;
    Ok(Attestation { key_id, run_id, run_hash, manifest: statement["predicate"].clone() })
}

/// Opens an envelope of any statement signed by one of `keys` (by key id). Returns the key id and the statement.
pub fn open_statement(
    envelope: &[u8],
    keys: &BTreeMap<String, PublicKey>,
) -> Result<(String, Value), AttestError> {
    let value = json::parse(envelope).map_err(|error| AttestError::Envelope(error.to_string()))?;
    let envelope =
        DsseEnvelope::deserialize(&value).map_err(|error| AttestError::Envelope(error.to_string()))?;
    if envelope.payload_type != PAYLOAD_TYPE {
        return Err(AttestError::Envelope(format!("its payload type is not `{PAYLOAD_TYPE}`")));
    }
    let payload = decode(&envelope.payload)?;
    let key_id = signer(&envelope, &payload, keys)?;
    let statement = json::parse(&payload).map_err(|error| AttestError::Statement(error.to_string()))?;
    Ok((key_id, statement))
}

/// Returns the payload of an envelope without checking its signatures. Use it only to show unverified content.
pub fn payload(envelope: &Value) -> Result<Vec<u8>, AttestError> {
    let payload = envelope["payload"].as_str();
    decode(payload.ok_or_else(|| AttestError::Envelope("it has no payload".into()))?)
}

/// Decodes base64. DSSE allows both alphabets.
fn decode(text: &str) -> Result<Vec<u8>, AttestError> {
    let bytes = STANDARD.decode(text).or_else(|_| URL_SAFE.decode(text));
    bytes.map_err(|error| AttestError::Envelope(error.to_string()))
}

/// Returns the first trusted key that made one of the signatures. The key id in the envelope only selects the
/// key to try.
fn signer(
    envelope: &DsseEnvelope,
    payload: &[u8],
    keys: &BTreeMap<String, PublicKey>,
) -> Result<String, AttestError> {
    let message = pre_authentication_encoding(&envelope.payload_type, payload);
    for signature in envelope.signatures.iter().take(MAX_SIGNATURES) {
        let Some(key) = keys.get(&signature.keyid) else { continue };
        if key.verifies(&message, &decode(&signature.sig)?) {
            return Ok(signature.keyid.clone());
        }
    }
    Err(AttestError::NotSigned)
}

/// Returns the run that a statement is about. Rebuilding the statement from its predicate must give the same
/// statement.
fn attested(statement: &Value) -> Result<(String, Digest), AttestError> {
    let manifest = json::canonical(&statement["predicate"]);
    // The manifest file may end with one newline, which is not part of the predicate; the digest shows which it was.
    let expected =
        [manifest.clone(), [manifest.as_slice(), b"\n"].concat()].map(|bytes| self::statement(&bytes));
    for candidate in expected {
        if candidate.map_err(|error| AttestError::Statement(error.to_string()))? == *statement {
            let run_id = statement["predicate"]["run_id"].as_str().unwrap_or_default().to_owned();
            return Ok((run_id, manifest_v1::run_hash(&statement["predicate"])));
        }
    }
    Err(AttestError::Statement("its subjects are not those of its predicate".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodes_as_the_example_of_the_specification() {
        let encoded = pre_authentication_encoding("http://example.com/HelloWorld", b"hello world");
        assert_eq!(encoded, b"DSSEv1 29 http://example.com/HelloWorld 11 hello world");
    }

    #[test]
    fn lengths_are_bytes() {
        assert_eq!(pre_authentication_encoding("é", "ü".as_bytes()), "DSSEv1 2 é 2 ü".as_bytes());
    }
}
