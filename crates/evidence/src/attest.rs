//! A run as an attestation that other tools read: an in-toto statement in a DSSE envelope.
//!
//! The statement's subjects are the run (by its hash) and the manifest file (by its digest); its predicate is the
//! whole manifest. An envelope is verified before its payload is parsed, and parsed before a field is believed.
//! [`seal_statement`] and [`open_statement`] do the same for statements of any kind.

use crate::wire::{self, MANIFEST, ManifestV1};
use crate::{PublicKey, SecretKey};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use probity_core::{Digest, json};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The type of the payload, as DSSE names it.
pub const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";

/// The type of the statement.
pub const STATEMENT_TYPE: &str = "https://in-toto.io/Statement/v1";

/// The type of the predicate: a manifest of version 1.
pub const PREDICATE_TYPE: &str = "https://probity.dev/attestation/run/v1";

/// How many signatures of an envelope are looked at.
const MAX_SIGNATURES: usize = 32;

/// Why there is no attestation, or none to believe.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AttestError {
    /// The manifest cannot be attested.
    #[error("the manifest cannot be attested: {0}")]
    Manifest(String),
    /// The envelope cannot be read.
    #[error("this is no DSSE envelope: {0}")]
    Envelope(String),
    /// No trusted key made any of the signatures.
    #[error("no trusted key has signed the envelope")]
    NotSigned,
    /// A trusted key signed something that is no attestation of a run.
    #[error("the envelope holds no attestation of a run: {0}")]
    Statement(String),
}

/// What a trusted key says about a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attestation {
    /// The trusted key that signed.
    pub key_id: String,
    /// The run.
    pub run_id: String,
    /// Its hash, computed from the attested manifest.
    pub run_hash: Digest,
    /// The manifest.
    pub manifest: Value,
}

/// The bytes that a DSSE signature is over.
pub fn pre_authentication_encoding(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let head = format!("DSSEv1 {} {payload_type} {} ", payload_type.len(), payload.len());
    [head.as_bytes(), payload].concat()
}

/// The statement about the run whose `manifest.json` has these bytes.
pub fn statement(manifest: &[u8]) -> Result<Value, AttestError> {
    let value = json::parse(manifest).map_err(|error| AttestError::Manifest(error.to_string()))?;
    let fields = ManifestV1::read(&value).map_err(AttestError::Manifest)?;
    if !json::is_canonical(manifest, &value) || wire::run_hash(&value) != fields.run_hash {
        return Err(AttestError::Manifest("it was changed after it was hashed".into()));
    }
    let subjects = [(fields.run_id, fields.run_hash), (MANIFEST.to_owned(), Digest::of(manifest))];
    Ok(statement_about(subjects, PREDICATE_TYPE, &value))
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

/// The signed envelope about the run whose `manifest.json` has these bytes.
pub fn envelope(manifest: &[u8], key: &SecretKey) -> Result<Vec<u8>, AttestError> {
    Ok(seal_statement(&statement(manifest)?, key))
}

/// Any statement in a signed envelope.
pub fn seal_statement(statement: &Value, key: &SecretKey) -> Vec<u8> {
    let payload = json::canonical(statement);
    let signature = key.sign(&pre_authentication_encoding(PAYLOAD_TYPE, &payload));
    let envelope = Envelope {
        payload: STANDARD.encode(&payload),
        payload_type: PAYLOAD_TYPE.to_owned(),
        signatures: vec![EnvelopeSignature { keyid: key.key_id(), sig: STANDARD.encode(signature) }],
    };
    [json::canonical_of(&envelope), b"\n".to_vec()].concat()
}

#[derive(Serialize, Deserialize)]
struct Envelope {
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

/// Opens an envelope that one of `keys` (by name) must have signed.
pub fn open(envelope: &[u8], keys: &BTreeMap<String, PublicKey>) -> Result<Attestation, AttestError> {
    let (key_id, statement) = open_statement(envelope, keys)?;
    let (run_id, run_hash) = attested(&statement)?;
    Ok(Attestation { key_id, run_id, run_hash, manifest: statement["predicate"].clone() })
}

/// Opens an envelope of any statement that one of `keys` (by name) must have signed: the key, and the statement.
pub fn open_statement(
    envelope: &[u8],
    keys: &BTreeMap<String, PublicKey>,
) -> Result<(String, Value), AttestError> {
    let value = json::parse(envelope).map_err(|error| AttestError::Envelope(error.to_string()))?;
    let envelope = Envelope::deserialize(&value).map_err(|error| AttestError::Envelope(error.to_string()))?;
    if envelope.payload_type != PAYLOAD_TYPE {
        return Err(AttestError::Envelope(format!("its payload type is not `{PAYLOAD_TYPE}`")));
    }
    let payload = decode(&envelope.payload)?;
    let key_id = signer(&envelope, &payload, keys)?;
    let statement = json::parse(&payload).map_err(|error| AttestError::Statement(error.to_string()))?;
    Ok((key_id, statement))
}

/// The payload of an envelope, without a look at its signatures. Only for showing what nobody vouches for.
pub fn payload(envelope: &Value) -> Result<Vec<u8>, AttestError> {
    let payload = envelope["payload"].as_str();
    decode(payload.ok_or_else(|| AttestError::Envelope("it has no payload".into()))?)
}

/// Both alphabets of base64 are allowed in an envelope.
fn decode(text: &str) -> Result<Vec<u8>, AttestError> {
    let bytes = STANDARD.decode(text).or_else(|_| URL_SAFE.decode(text));
    bytes.map_err(|error| AttestError::Envelope(error.to_string()))
}

/// The first trusted key that made one of the signatures. The name in the envelope only says which key to try.
fn signer(
    envelope: &Envelope,
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

/// The run that a statement is about. Its subjects must be those that its predicate gives.
fn attested(statement: &Value) -> Result<(String, Digest), AttestError> {
    let manifest = json::canonical(&statement["predicate"]);
    // The manifest file may end with one newline; its digest tells.
    let expected =
        [manifest.clone(), [manifest.as_slice(), b"\n"].concat()].map(|bytes| self::statement(&bytes));
    for candidate in expected {
        if candidate.map_err(|error| AttestError::Statement(error.to_string()))? == *statement {
            let run_id = statement["predicate"]["run_id"].as_str().unwrap_or_default().to_owned();
            return Ok((run_id, wire::run_hash(&statement["predicate"])));
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
