//! Ed25519 keys for signing and verifying evidence.
//!
//! A key id is the first 16 hex digits of the SHA-256 of the public key. Secret keys are wiped from memory
//! when dropped and never displayed.

use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use probity_core::{Digest, ReasonCode, json};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::fmt;
use std::str::FromStr;
use zeroize::Zeroizing;

const SECRET_KEY_SCHEMA: &str = "probity/key/v1";
const PUBLIC_KEY_SCHEMA: &str = "probity/public-key/v1";
const KEY_PREFIX: &str = "ed25519:";

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this is not a key: {0}")]
pub struct KeyError(&'static str);

impl KeyError {
    pub const fn reason(&self) -> ReasonCode {
        ReasonCode::KeyInvalid
    }
}

pub struct SecretKey(SigningKey);

/// A public key, written as `ed25519:` and 64 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PublicKey([u8; 32]);

impl SecretKey {
    /// Creates a key from 32 bytes. The caller guarantees that they are random.
    pub fn from_random(random: &[u8; 32]) -> Self {
        Self(SigningKey::from_bytes(random))
    }

    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key().to_bytes())
    }

    pub fn key_id(&self) -> String {
        self.public().key_id()
    }

    pub fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.0.sign(message).to_bytes()
    }

    /// Serializes the secret key file. The caller must make it readable by its owner only.
    pub fn to_file(&self) -> Zeroizing<Vec<u8>> {
        let mut digits = Zeroizing::new([0; 64]);
        hex::encode_to_slice(self.0.as_bytes(), digits.as_mut_slice())
            .expect("64 digits have room for 32 bytes");
        let public = self.public();
        let head = format!(
            "{{\"key_id\":\"{}\",\"public\":\"{public}\",\"schema\":\"{SECRET_KEY_SCHEMA}\",\"secret\":\"{KEY_PREFIX}",
            public.key_id()
        );
        let tail = b"\"}\n";
        // Sized up front: a growing vector would leave copies of the secret behind.
        let mut file = Zeroizing::new(Vec::with_capacity(head.len() + digits.len() + tail.len()));
        for part in [head.as_bytes(), digits.as_slice(), tail] {
            file.extend_from_slice(part);
        }
        file
    }

    /// Parses a secret key file and checks that its public key and key id match.
    pub fn parse(bytes: &[u8]) -> Result<Self, KeyError> {
        let file = KeyFile::parse(bytes, SECRET_KEY_SCHEMA)?;
        let secret = Zeroizing::new(file.secret.ok_or(KeyError("a part of it is missing"))?);
        let mut random = Zeroizing::new([0; 32]);
        decode(&secret, random.as_mut_slice()).ok_or(KeyError("its secret half is not 64 hex digits"))?;
        let key = Self::from_random(&random);
        if file.public != key.public() {
            return Err(KeyError("its halves do not belong together"));
        }
        Ok(key)
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey({})", self.key_id())
    }
}

impl PublicKey {
    pub(crate) const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    pub fn key_id(&self) -> String {
        let mut id = Digest::of(&self.0).to_hex();
        id.truncate(16);
        id
    }

    /// Returns true if `signature` (64 bytes) is this key's signature over `message`. Strict: rejects weak
    /// keys and malleable signatures.
    pub fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        let Ok(signature) = Signature::from_slice(signature) else { return false };
        VerifyingKey::from_bytes(&self.0).is_ok_and(|key| key.verify_strict(message, &signature).is_ok())
    }

    pub fn to_file(&self) -> Vec<u8> {
        let (schema, key_id) = (PUBLIC_KEY_SCHEMA.to_owned(), self.key_id());
        let file = KeyFile { schema, key_id, public: *self, secret: None };
        [json::canonical_of(&file), b"\n".to_vec()].concat()
    }

    /// Parses a public key file and checks that its key id matches.
    pub fn parse(bytes: &[u8]) -> Result<Self, KeyError> {
        match KeyFile::parse(bytes, PUBLIC_KEY_SCHEMA)? {
            KeyFile { secret: None, public, .. } => Ok(public),
            KeyFile { secret: Some(_), .. } => Err(KeyError("it has not the form of a key file")),
        }
    }
}

/// A key file. Only the secret one has a secret half.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyFile {
    schema: String,
    key_id: String,
    public: PublicKey,
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
}

impl KeyFile {
    fn parse(bytes: &[u8], schema: &str) -> Result<Self, KeyError> {
        // A list would be read as the members of an object, in order.
        let object = json::parse(bytes).ok().filter(Value::is_object);
        let file = object.and_then(|object| serde_json::from_value::<Self>(object).ok());
        match file.filter(|file| file.schema == schema) {
            None => Err(KeyError("it has not the form of a key file")),
            Some(file) if file.key_id == file.public.key_id() => Ok(file),
            Some(_) => Err(KeyError("its name is not that of its public half")),
        }
    }
}

/// Decodes `ed25519:` followed by lower-case hex digits that fill `into` exactly. Rejects upper case so that
/// each key has one spelling.
pub(crate) fn decode(text: &str, into: &mut [u8]) -> Option<()> {
    let digits = text.strip_prefix(KEY_PREFIX)?;
    if digits.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return None;
    }
    hex::decode_to_slice(digits, into).ok()
}

impl FromStr for PublicKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let mut bytes = [0; 32];
        decode(text, &mut bytes)
            .ok_or(KeyError("a public key is `ed25519:` and 64 lower-case hex digits"))?;
        Ok(Self(bytes))
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{KEY_PREFIX}{}", hex::encode(self.0))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

probity_core::json_schema_of!(PublicKey, probity_core::schema::text("^ed25519:[0-9a-f]{64}$"));

impl Serialize for PublicKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PublicKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> SecretKey {
        SecretKey::from_random(&[7; 32])
    }

    #[test]
    fn key_files_are_read_back() {
        let read = SecretKey::parse(&key().to_file()).expect("a key");
        assert_eq!(read.public(), key().public());
        assert_eq!(PublicKey::parse(&key().public().to_file()), Ok(key().public()));
    }

    #[test]
    fn a_key_file_is_canonical_json() {
        let file = key().to_file();
        let value = json::parse(&file).expect("JSON");
        assert!(json::is_canonical(&file, &value));
    }

    #[test]
    fn a_key_is_named_by_its_public_half() {
        assert_eq!(key().key_id().len(), 16);
        assert!(Digest::of(&key().public().0).to_hex().starts_with(&key().key_id()));
    }

    #[test]
    fn refuses_files_that_were_touched() {
        let file = String::from_utf8(key().to_file().to_vec()).expect("text");
        let other = SecretKey::from_random(&[8; 32]);
        let swapped = file.replace(&key().public().to_string(), &other.public().to_string());
        let renamed = file.replace(&key().key_id(), "0000000000000000");
        let upper = file.replace("0707", "0A07");
        for bad in [&swapped, &renamed, &upper, "", "{}", "[]", &file.replace("secret", "sekret")] {
            assert!(SecretKey::parse(bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(PublicKey::parse(file.as_bytes()).is_err(), "a secret file is no public one");
    }

    #[test]
    fn shows_nothing_secret() {
        assert!(!format!("{:?}", key()).contains("0707"));
    }

    #[test]
    fn verifies_only_what_was_signed() {
        let signature = key().sign(b"message");
        assert!(key().public().verifies(b"message", &signature));
        assert!(!key().public().verifies(b"massage", &signature));
        assert!(!key().public().verifies(b"message", &signature[..63]));
        assert!(!PublicKey([0; 32]).verifies(b"message", &signature));
    }
}
