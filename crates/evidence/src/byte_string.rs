//! Byte strings that are usually text: arguments, reference names, paths not yet validated.

use probity_core::bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::fmt;

/// Arbitrary bytes. In JSON, a string if they are UTF-8 text, otherwise `{"bytes_hex": …}`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ByteString(Vec<u8>);

impl ByteString {
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl<B: Into<Vec<u8>>> From<B> for ByteString {
    fn from(bytes: B) -> Self {
        Self(bytes.into())
    }
}

/// Escapes the bytes onto one line, losslessly and without characters that could mislead a reader.
impl fmt::Display for ByteString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&bytes::escape(&self.0))
    }
}

impl fmt::Debug for ByteString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{self}`")
    }
}

probity_core::json_schema_of!(ByteString, probity_core::schema::bytes());

impl Serialize for ByteString {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        bytes::to_json(&self.0).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ByteString {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let bytes = bytes::from_json(&value);
        bytes.map(Self).ok_or_else(|| serde::de::Error::custom("bytes are a string or {\"bytes_hex\": …}"))
    }
}
