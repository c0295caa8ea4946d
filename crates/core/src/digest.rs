//! The project's only cryptographic hash: SHA-256, so that anyone can check with `sha256sum`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::str::FromStr;

/// A SHA-256 digest, written `sha256:` and 64 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no digest: it must be `sha256:` and 64 lower-case hex digits")]
pub struct BadDigest(String);

impl Digest {
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    pub fn of_json(value: &serde_json::Value) -> Self {
        Self::of(&crate::json::canonical(value))
    }

    /// Wraps the 32 bytes of a digest computed elsewhere.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns the 64 hex digits without the prefix, for file names.
    pub fn to_hex(&self) -> String {
        let mut digits = vec![0; 64];
        hex::encode_to_slice(self.0, &mut digits).expect("32 bytes have 64 digits");
        String::from_utf8(digits).expect("hex digits are ASCII")
    }
}

/// Hashes a stream incrementally.
#[derive(Debug, Clone, Default)]
pub struct DigestHasher(Sha256);

impl DigestHasher {
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sha256:")?;
        f.write_str(&self.to_hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = BadDigest;

    fn from_str(text: &str) -> Result<Self, BadDigest> {
        let bad = || BadDigest(text.to_owned());
        let digits = text.strip_prefix("sha256:").ok_or_else(bad)?;
        if digits.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return Err(bad());
        }
        let mut bytes = [0; 32];
        hex::decode_to_slice(digits, &mut bytes).map_err(|_| bad())?;
        Ok(Self(bytes))
    }
}

crate::json_schema_of!(Digest, crate::schema::text("^sha256:[0-9a-f]{64}$"));

// Text in JSON, and the bare bytes in binary forms.
impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            serializer.serialize_bytes(&self.0)
        }
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
        } else {
            let bytes = <&[u8]>::deserialize(deserializer)?;
            bytes.try_into().map(Self).map_err(serde::de::Error::custom)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_sha256sum() {
        assert_eq!(
            Digest::of(b"abc").to_string(),
            "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }

    #[test]
    fn a_stream_hashes_like_its_whole() {
        let mut hasher = DigestHasher::default();
        hasher.update(b"a");
        hasher.update(b"bc");
        assert_eq!(hasher.finish(), Digest::of(b"abc"));
    }

    #[test]
    fn reads_only_its_own_spelling() {
        let text = Digest::of(b"abc").to_string();
        assert_eq!(text.parse(), Ok(Digest::of(b"abc")));
        for bad in [
            text.to_uppercase(),
            text.replace("sha256:", ""),
            text.replace("ba78", "BA78"),
            text[..70].into(),
        ] {
            assert!(bad.parse::<Digest>().is_err(), "{bad}");
        }
    }
}
