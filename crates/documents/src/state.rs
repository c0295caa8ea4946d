//! States: every document at a commit.
//!
//! A state is a persistent map, so keeping an old one costs only what changed since.

use crate::apply::{self, SkipReason};
use crate::codec::{self, TypeMismatch};
use crate::commit::Commit;
use crate::op::{DocumentId, DocumentOp, OpAction};
use crate::schema::DocumentSchema;
use crate::value::DocumentValue;
use imbl::OrdMap;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeSet;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommitState {
    pub(crate) documents: OrdMap<DocumentId, DocumentValue>,
}

impl CommitState {
    pub fn document(&self, document: &DocumentId) -> Option<&DocumentValue> {
        self.documents.get(document)
    }

    pub fn documents(&self) -> impl Iterator<Item = (&DocumentId, &DocumentValue)> {
        self.documents.iter()
    }

    /// Returns the documents of one attachment, in order.
    pub(crate) fn of_attachment(
        &self,
        attachment: &str,
    ) -> impl Iterator<Item = (&DocumentId, &DocumentValue)> {
        let first = DocumentId::new(attachment, "");
        self.documents.range(first.clone()..).take_while(move |(id, _)| id.attachment == first.attachment)
    }

    /// Returns a copy with only the given documents; those that do not exist are left out.
    #[must_use]
    pub fn restricted(&self, documents: &BTreeSet<DocumentId>) -> Self {
        let found = |id: &DocumentId| Some((id.clone(), self.document(id)?.clone()));
        Self { documents: documents.iter().filter_map(found).collect() }
    }

    /// Inserts or replaces a document.
    pub fn insert(&mut self, document: DocumentId, value: DocumentValue) {
        self.documents.insert(document, value);
    }

    pub fn document_json(&self, schema: &DocumentSchema, document: &DocumentId) -> Option<Json> {
        let kind = schema.document_type(&document.attachment)?;
        Some(codec::encode(kind, self.document(document)?))
    }

    /// Returns all documents as `{attachment: {key: document}}`.
    pub fn to_json(&self, schema: &DocumentSchema) -> Json {
        Json::Object(self.to_members(schema))
    }

    /// Returns the members of [`CommitState::to_json`]: the documents of each attachment.
    pub fn to_members(&self, schema: &DocumentSchema) -> Map<String, Json> {
        let mut attachments = Map::new();
        for (id, value) in &self.documents {
            let Some(kind) = schema.document_type(&id.attachment) else { continue };
            let keys = attachments.entry(id.attachment.to_string()).or_insert_with(|| json!({}));
            keys[&*id.key] = codec::encode(kind, value);
        }
        attachments
    }

    /// Parses the output of [`CommitState::to_json`].
    pub fn from_json(schema: &DocumentSchema, json: &Json) -> Result<Self, TypeMismatch> {
        let wrong = || TypeMismatch::new("a state is {attachment: {key: document}}");
        let mut documents = OrdMap::new();
        for (attachment, keys) in json.as_object().ok_or_else(wrong)? {
            let kind = schema.document_type(attachment).ok_or_else(wrong)?;
            for (key, document) in keys.as_object().ok_or_else(wrong)? {
                let place = |misfit: TypeMismatch| misfit.with_prefix(&format!("{attachment}/{key}"));
                let value = codec::decode(schema, kind, document).map_err(place)?;
                documents.insert(DocumentId::new(attachment, key), value);
            }
        }
        Ok(Self { documents })
    }

    /// Replays one opcode of an enabled commit.
    pub(crate) fn apply(&mut self, op: &DocumentOp) -> Result<(), SkipReason> {
        match &op.act {
            OpAction::Set(value) => {
                self.documents.insert(op.document.clone(), value.clone());
                Ok(())
            }
            OpAction::At(path, change) => {
                let document = self.documents.get_mut(&op.document).ok_or(SkipReason::DocumentAbsent)?;
                apply::apply(document, path, change)
            }
        }
    }

    /// Replays one opcode of a disabled commit.
    pub(crate) fn apply_masked(&mut self, op: &DocumentOp) -> Result<(), SkipReason> {
        let document = self.documents.get_mut(&op.document).ok_or(SkipReason::DocumentAbsent)?;
        apply::apply_masked(document, &op.act)
    }

    /// Replays a commit; opcodes without anything to act on are skipped.
    pub(crate) fn replay(&mut self, commit: &Commit, on: bool) {
        for op in commit.ops() {
            let _skipped = if on { self.apply(op) } else { self.apply_masked(op) };
        }
    }
}
