//! Commits: content-addressed values.
//!
//! A commit's identity is the SHA-256 of its canonical JSON, author and time included. The commit keeps those bytes:
//! they are what is stored, copied and checked, even after the schema has changed.

use crate::codec::TypeMismatch;
use crate::op::{DocumentId, DocumentOp};
use crate::schema::DocumentSchema;
use probity_core::{Digest, write};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// The identity of a commit, written as 64 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CommitId(Digest);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a commit id: it must be 64 lower-case hex digits")]
pub struct BadCommitId(String);

impl CommitId {
    pub const fn digest(&self) -> &Digest {
        &self.0
    }
}

impl From<Digest> for CommitId {
    fn from(digest: Digest) -> Self {
        Self(digest)
    }
}

impl fmt::Display for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_hex())
    }
}

impl fmt::Debug for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for CommitId {
    type Err = BadCommitId;

    fn from_str(text: &str) -> Result<Self, BadCommitId> {
        format!("sha256:{text}").parse().map(Self).map_err(|_| BadCommitId(text.to_owned()))
    }
}

probity_core::json_schema_of!(CommitId, probity_core::schema::text("^[0-9a-f]{64}$"));

impl Serialize for CommitId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CommitId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

probity_core::word_enum! {
    /// The type of a commit.
    pub enum CommitKind {
        /// Changes documents by opcodes.
        Mutations = "mutations",
        /// Merges the target's stream into the parent's.
        Merge = "merge",
        /// Turns the effect of its target back on.
        Enable = "enable",
        /// Turns the effect of its target off.
        Disable = "disable",
    }
}

/// Author, label and time of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitStamp {
    author: String,
    label: String,
    timestamp_ms: i64,
}

/// A time outside the range that every JSON reader keeps exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the time {0} ms is not within ±(2^53 - 1)")]
pub struct BadTime(pub i64);

impl CommitStamp {
    pub fn new(author: &str, label: &str, timestamp_ms: i64) -> Result<Self, BadTime> {
        if timestamp_ms.unsigned_abs() >= 1 << 53 {
            return Err(BadTime(timestamp_ms));
        }
        Ok(Self { author: author.to_owned(), label: label.to_owned(), timestamp_ms })
    }

    pub fn author(&self) -> &str {
        &self.author
    }

    pub fn label(&self) -> &str {
        &self.label
    }

    pub const fn timestamp_ms(&self) -> i64 {
        self.timestamp_ms
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    id: CommitId,
    bytes: Box<[u8]>,
    kind: CommitKind,
    parent: Option<CommitId>,
    target: Option<CommitId>,
    stamp: CommitStamp,
    ops: Vec<DocumentOp>,
}

/// The reason bytes or JSON are not a valid commit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    #[error(transparent)]
    Json(#[from] probity_core::json::JsonError),
    #[error("the commit is not in canonical form")]
    NotCanonical,
    /// A member is missing, unknown or malformed.
    #[error("the commit's `{0}` is missing or of the wrong form")]
    Member(&'static str),
    #[error("opcode {index}: {misfit}")]
    Op { index: usize, misfit: TypeMismatch },
}

impl Commit {
    pub fn mutations(
        schema: &DocumentSchema,
        parent: Option<CommitId>,
        ops: Vec<DocumentOp>,
        stamp: CommitStamp,
    ) -> Self {
        let encoded = ops.iter().map(|op| op.to_json(schema)).collect();
        Self::seal(CommitKind::Mutations, parent, None, stamp, ops, &encoded)
    }

    /// Creates a merge: `parent` is *ours*, `target` is *theirs*, whose opcodes replay last.
    pub fn merge(parent: CommitId, target: CommitId, stamp: CommitStamp) -> Self {
        Self::seal(CommitKind::Merge, Some(parent), Some(target), stamp, Vec::new(), &Json::Array(Vec::new()))
    }

    /// Creates a commit that turns the effect of `target` off.
    pub fn disable(parent: Option<CommitId>, target: CommitId, stamp: CommitStamp) -> Self {
        Self::seal(CommitKind::Disable, parent, Some(target), stamp, Vec::new(), &Json::Array(Vec::new()))
    }

    /// Creates a commit that turns the effect of `target` back on.
    pub fn enable(parent: Option<CommitId>, target: CommitId, stamp: CommitStamp) -> Self {
        Self::seal(CommitKind::Enable, parent, Some(target), stamp, Vec::new(), &Json::Array(Vec::new()))
    }

    fn seal(
        kind: CommitKind,
        parent: Option<CommitId>,
        target: Option<CommitId>,
        stamp: CommitStamp,
        ops: Vec<DocumentOp>,
        encoded: &Json,
    ) -> Self {
        let bytes = canonical(kind, parent, target, &stamp, encoded).into_boxed_slice();
        Self { id: CommitId(Digest::of(&bytes)), bytes, kind, parent, target, stamp, ops }
    }

    /// Decodes a commit from its canonical bytes.
    pub fn decode(schema: &DocumentSchema, bytes: &[u8]) -> Result<Self, CommitError> {
        let json = probity_core::json::parse(bytes)?;
        let commit = Self::from_json(schema, &json)?;
        if commit.bytes() == bytes { Ok(commit) } else { Err(CommitError::NotCanonical) }
    }

    /// Decodes a commit from stored bytes whose hash the caller has already checked against `id`.
    ///
    /// Only canonical bytes are ever stored, so canonical form is not checked again.
    pub fn decode_hashed(schema: &DocumentSchema, id: CommitId, bytes: &[u8]) -> Result<Self, CommitError> {
        let json = probity_core::json::parse(bytes)?;
        let (kind, parent, target, stamp, ops) = parts(schema, &json)?;
        Ok(Self { id, bytes: bytes.into(), kind, parent, target, stamp, ops })
    }

    /// Decodes a commit from JSON; its identity is that of the canonical form.
    pub fn from_json(schema: &DocumentSchema, json: &Json) -> Result<Self, CommitError> {
        let (kind, parent, target, stamp, ops) = parts(schema, json)?;
        Ok(Self::seal(kind, parent, target, stamp, ops, &json["ops"]))
    }
    pub const fn id(&self) -> CommitId {
        self.id
    }

    /// Returns the canonical bytes, whose hash is the identity.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub const fn kind(&self) -> CommitKind {
        self.kind
    }

    pub const fn parent(&self) -> Option<CommitId> {
        self.parent
    }

    /// The commit being merged, enabled or disabled.
    pub const fn target(&self) -> Option<CommitId> {
        self.target
    }

    pub const fn stamp(&self) -> &CommitStamp {
        &self.stamp
    }

    pub fn ops(&self) -> &[DocumentOp] {
        &self.ops
    }

    /// Returns the blobs that the opcodes write. A store rejects a commit whose blobs it does not have.
    pub fn blobs(&self) -> BTreeSet<Digest> {
        let mut blobs = BTreeSet::new();
        self.ops.iter().for_each(|op| op.collect_blobs(&mut blobs));
        blobs
    }

    /// Returns the documents that the opcodes change.
    pub fn documents(&self) -> BTreeSet<&DocumentId> {
        self.ops.iter().map(DocumentOp::document).collect()
    }
}

type CommitParts = (CommitKind, Option<CommitId>, Option<CommitId>, CommitStamp, Vec<DocumentOp>);

fn parts(schema: &DocumentSchema, json: &Json) -> Result<CommitParts, CommitError> {
    let members = json.as_object().ok_or(CommitError::Member("commit"))?;
    if let Some(name) = ["author", "label", "ops", "parent", "target", "timestamp", "type"]
        .into_iter()
        .find(|name| !members.contains_key(*name))
    {
        return Err(CommitError::Member(name));
    }
    if members.len() != 7 {
        return Err(CommitError::Member("list of members"));
    }
    let text = |name: &'static str| json[name].as_str().ok_or(CommitError::Member(name));
    let kind: CommitKind = text("type")?.parse().map_err(|_| CommitError::Member("type"))?;
    let parent = id_member(json, "parent")?;
    let target = id_member(json, "target")?;
    let timestamp = json["timestamp"].as_i64().ok_or(CommitError::Member("timestamp"))?;
    let stamp = CommitStamp::new(text("author")?, text("label")?, timestamp)
        .map_err(|_| CommitError::Member("timestamp"))?;
    let mut ops = Vec::new();
    for (index, op) in json["ops"].as_array().ok_or(CommitError::Member("ops"))?.iter().enumerate() {
        ops.push(DocumentOp::from_json(schema, op).map_err(|misfit| CommitError::Op { index, misfit })?);
    }
    check_shape(kind, parent, target, &ops)?;
    Ok((kind, parent, target, stamp, ops))
}

/// Writes the canonical form. The members are written in sorted order, so no sorting is needed.
fn canonical(
    kind: CommitKind,
    parent: Option<CommitId>,
    target: Option<CommitId>,
    stamp: &CommitStamp,
    ops: &Json,
) -> Vec<u8> {
    let mut out = Vec::with_capacity(512);
    let id = |id: Option<CommitId>, out: &mut Vec<u8>| match id {
        Some(id) => write::string(&id.digest().to_hex(), out),
        None => out.extend_from_slice(b"null"),
    };
    out.extend_from_slice(b"{\"author\":");
    write::string(&stamp.author, &mut out);
    out.extend_from_slice(b",\"label\":");
    write::string(&stamp.label, &mut out);
    out.extend_from_slice(b",\"ops\":");
    write::value(ops, &mut out);
    out.extend_from_slice(b",\"parent\":");
    id(parent, &mut out);
    out.extend_from_slice(b",\"target\":");
    id(target, &mut out);
    out.extend_from_slice(b",\"timestamp\":");
    write::integer(stamp.timestamp_ms, &mut out);
    out.extend_from_slice(b",\"type\":");
    write::string(kind.as_str(), &mut out);
    out.push(b'}');
    out
}

fn id_member(json: &Json, name: &'static str) -> Result<Option<CommitId>, CommitError> {
    match &json[name] {
        Json::Null => Ok(None),
        Json::String(text) => text.parse().map(Some).map_err(|_| CommitError::Member(name)),
        _ => Err(CommitError::Member(name)),
    }
}

/// Checks that parent, target and opcodes are present exactly where the commit type requires them.
fn check_shape(
    kind: CommitKind,
    parent: Option<CommitId>,
    target: Option<CommitId>,
    ops: &[DocumentOp],
) -> Result<(), CommitError> {
    if target.is_some() == (kind == CommitKind::Mutations) {
        return Err(CommitError::Member("target"));
    }
    if kind == CommitKind::Merge && parent.is_none() {
        return Err(CommitError::Member("parent"));
    }
    if kind != CommitKind::Mutations && !ops.is_empty() {
        return Err(CommitError::Member("ops"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> DocumentSchema {
        DocumentSchema::from_json(&json!({"attachments": {"count": "int64", "tags": "set<string>"}})).unwrap()
    }

    fn first() -> Json {
        json!({"author": "ann", "label": "create", "parent": null, "target": null, "timestamp": 1000, "type": "mutations",
            "ops": [{"attachment": "count", "key": "k", "op": "document_set", "value": 1}]})
    }

    #[test]
    fn identities_are_those_of_the_specification() {
        let parent = Commit::from_json(&schema(), &first()).unwrap();
        assert_eq!(
            parent.id().to_string(),
            "868adf9caa84a84b7a206a2bb0a12670db2b7900cd7dcbfb040e779907b3b1ec"
        );
        let op = json!({"op": "set_union", "attachment": "tags", "key": "k", "path": [], "value": ["x"]});
        let op = DocumentOp::from_json(&schema(), &op).unwrap();
        let stamp = CommitStamp::new("bo", "add é", 1010).unwrap();
        let child = Commit::mutations(&schema(), Some(parent.id()), vec![op], stamp);
        assert_eq!(
            child.id().to_string(),
            "b9e50926457befdb358f8da128d950670e3020334474a5dee22e67d6d90c3526"
        );
    }

    #[test]
    fn a_commit_is_read_from_its_own_bytes_only() {
        let commit = Commit::from_json(&schema(), &first()).unwrap();
        assert_eq!(Commit::decode(&schema(), commit.bytes()), Ok(commit.clone()));
        let spaced = [commit.bytes(), b" "].concat();
        assert_eq!(Commit::decode(&schema(), &spaced), Err(CommitError::NotCanonical));
    }

    #[test]
    fn refuses_members_that_do_not_belong_together() {
        for (name, value) in [
            ("target", json!("0".repeat(64))),
            ("type", json!("merge")),
            ("parent", json!("abc")),
            ("timestamp", json!(1.5)),
            ("more", json!(1)),
        ] {
            let mut json = first();
            json[name] = value;
            assert!(matches!(Commit::from_json(&schema(), &json), Err(CommitError::Member(_))), "{name}");
        }
    }

    #[test]
    fn names_the_opcode_that_does_not_fit() {
        let mut json = first();
        json["ops"][0]["value"] = json!("one");
        let error = Commit::from_json(&schema(), &json).unwrap_err().to_string();
        assert_eq!(error, "opcode 0: document_set count/k value: this is not of type `int64`: \"one\"");
    }
}
