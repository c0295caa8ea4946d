//! The questions and answers of etcd's JSON gateway, as far as they are used.
//!
//! The gateway writes bytes as base64 and 64-bit numbers as text, and leaves out what is empty or zero.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Bytes of a key or a value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Bytes(pub(super) Vec<u8>);

impl From<&str> for Bytes {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

impl From<String> for Bytes {
    fn from(text: String) -> Self {
        Self(text.into_bytes())
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        STANDARD.decode(text).map(Self).map_err(serde::de::Error::custom)
    }
}

/// A number that the gateway writes as text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Number(pub(super) u64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Text(String),
            Number(u64),
        }
        match Form::deserialize(deserializer)? {
            Form::Text(text) => text.parse().map(Self).map_err(serde::de::Error::custom),
            Form::Number(number) => Ok(Self(number)),
        }
    }
}

/// An answer that names the cluster it comes from.
pub(super) trait GatewayAnswer: for<'de> Deserialize<'de> {
    fn header(&self) -> &Header;
}

macro_rules! answers {
    ($($name:ident),+) => {
        $(impl GatewayAnswer for $name {
            fn header(&self) -> &Header {
                &self.header
            }
        })+
    };
}

answers!(
    RangeAnswer,
    TxnAnswer,
    LeaseAnswer,
    PlainAnswer,
    StatusAnswer,
    MemberListAnswer,
    AlarmAnswer,
    TokenAnswer
);

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Header {
    pub(super) cluster_id: String,
    pub(super) member_id: String,
    pub(super) revision: Number,
}

#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct RangeQuestion {
    pub(super) key: Bytes,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) range_end: Option<Bytes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) limit: Option<Number>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct RangeAnswer {
    pub(super) header: Header,
    pub(super) kvs: Vec<KeyValue>,
    pub(super) more: bool,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct KeyValue {
    pub(super) key: Bytes,
    pub(super) value: Bytes,
    pub(super) lease: Number,
}

#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct PutQuestion {
    pub(super) key: Bytes,
    pub(super) value: Bytes,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) lease: Option<Number>,
}

#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct TxnQuestion {
    pub(super) compare: Vec<Compare>,
    pub(super) success: Vec<TxnOperation>,
    pub(super) failure: Vec<TxnOperation>,
}

/// A condition: the value of a key, or that there is none.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Compare {
    key: Bytes,
    target: &'static str,
    result: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Bytes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    create_revision: Option<Number>,
}

impl Compare {
    pub(super) fn absent(key: impl Into<Bytes>) -> Self {
        let create_revision = Some(Number(0));
        Self { key: key.into(), target: "CREATE", result: "EQUAL", value: None, create_revision }
    }

    pub(super) fn value(key: impl Into<Bytes>, value: Bytes) -> Self {
        Self { key: key.into(), target: "VALUE", result: "EQUAL", value: Some(value), create_revision: None }
    }

    /// Compares with the value that the caller knows, or with none.
    pub(super) fn known(key: impl Into<Bytes>, value: Option<Bytes>) -> Self {
        let key = key.into();
        match value {
            Some(value) => Self::value(key, value),
            None => Self::absent(key),
        }
    }
}

#[derive(Debug, Clone, Serialize)]
pub(super) enum TxnOperation {
    #[serde(rename = "request_put")]
    Put(PutQuestion),
    #[serde(rename = "request_range")]
    Range(RangeQuestion),
    #[serde(rename = "request_delete_range")]
    DeleteRange(RangeQuestion),
}

impl TxnOperation {
    pub(super) fn put(key: impl Into<Bytes>, value: impl Into<Bytes>) -> Self {
        Self::Put(PutQuestion { key: key.into(), value: value.into(), lease: None })
    }

    pub(super) fn get(key: impl Into<Bytes>) -> Self {
        Self::Range(RangeQuestion { key: key.into(), ..RangeQuestion::default() })
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct TxnAnswer {
    pub(super) header: Header,
    pub(super) succeeded: bool,
    pub(super) responses: Vec<TxnResponse>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct TxnResponse {
    pub(super) response_range: Option<RangeAnswer>,
}

impl TxnAnswer {
    /// Returns the keys that the `n`th operation found.
    pub(super) fn found(&self, n: usize) -> &[KeyValue] {
        let range = self.responses.get(n).and_then(|response| response.response_range.as_ref());
        range.map_or(&[], |range| &range.kvs)
    }
}

#[derive(Debug, Clone, Default, Serialize)]
#[expect(non_snake_case, reason = "etcd calls them so")]
pub(super) struct LeaseQuestion {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) TTL: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ID: Option<Number>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
#[expect(non_snake_case, reason = "etcd calls them so")]
pub(super) struct LeaseAnswer {
    pub(super) header: Header,
    pub(super) ID: Number,
}

/// An answer of which only the header counts.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct PlainAnswer {
    pub(super) header: Header,
}

#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct EmptyQuestion {}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct StatusAnswer {
    pub(super) header: Header,
    pub(super) version: String,
    pub(super) db_size: Number,
    pub(super) db_size_in_use: Number,
    pub(super) leader: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct MemberListAnswer {
    pub(super) header: Header,
    pub(super) members: Vec<MemberEntry>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
#[expect(non_snake_case, reason = "etcd calls them so")]
pub(super) struct MemberEntry {
    pub(super) ID: String,
    pub(super) name: String,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct AlarmQuestion {
    pub(super) action: &'static str,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct AlarmAnswer {
    pub(super) header: Header,
    pub(super) alarms: Vec<AlarmEntry>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct AlarmEntry {
    pub(super) alarm: String,
}

#[derive(Serialize)]
pub(super) struct LoginQuestion<'a> {
    pub(super) name: &'a str,
    pub(super) password: &'a str,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct TokenAnswer {
    pub(super) header: Header,
    pub(super) token: String,
}

#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct WatchQuestion {
    pub(super) create_request: WatchStart,
}

#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct WatchStart {
    pub(super) key: Bytes,
    pub(super) start_revision: Number,
}

/// A line of a watch.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct WatchLine {
    pub(super) result: Option<WatchResult>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct WatchResult {
    pub(super) created: bool,
    pub(super) canceled: bool,
    /// Only counted: the events themselves are read from the log.
    pub(super) events: Vec<serde::de::IgnoredAny>,
}

/// What the gateway says when it refuses.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct ErrorAnswer {
    pub(super) code: u32,
    pub(super) message: String,
    pub(super) error: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_text_and_bytes_are_base64() {
        let question = RangeQuestion { key: "a".into(), range_end: None, limit: Some(Number(1 << 60)) };
        let text = serde_json::to_string(&question).expect("is written");
        assert_eq!(text, r#"{"key":"YQ==","limit":"1152921504606846976"}"#);
        let answer: RangeAnswer = serde_json::from_str(
            r#"{"header":{"cluster_id":"14841639068965178418","revision":"7"},"kvs":[{"key":"YQ==","value":"/wA="}],"count":"1"}"#,
        )
        .expect("is read");
        assert_eq!(answer.header.revision, Number(7));
        assert_eq!(answer.kvs[0].value, Bytes(vec![0xff, 0]));
        let empty: RangeAnswer = serde_json::from_str("{}").expect("is read");
        assert!(empty.kvs.is_empty());
    }
}
