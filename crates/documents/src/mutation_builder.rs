//! Builders that record opcodes, each checked against the schema when it is recorded.

use crate::codec::TypeMismatch;
use crate::commit::{Commit, CommitId, CommitStamp};
use crate::op::{DocumentOp, OpAction, PathEdit};
use crate::schema::DocumentSchema;
use serde_json::{Map, Value as Json, json};

/// Records the opcodes of one commit. A rejected call records nothing.
#[derive(Debug, Clone)]
pub struct MutationBuilder<'s> {
    schema: &'s DocumentSchema,
    ops: Vec<DocumentOp>,
}

/// Records opcodes for one document.
#[derive(Debug)]
pub struct DocumentEditor<'m, 's> {
    mutations: &'m mut MutationBuilder<'s>,
    attachment: String,
    key: String,
}

impl<'s> MutationBuilder<'s> {
    pub const fn new(schema: &'s DocumentSchema) -> Self {
        Self { schema, ops: Vec::new() }
    }

    /// Selects the document that the following calls edit.
    pub fn document<'m>(&'m mut self, attachment: &str, key: &str) -> DocumentEditor<'m, 's> {
        DocumentEditor { mutations: self, attachment: attachment.to_owned(), key: key.to_owned() }
    }

    /// Records an opcode given as JSON.
    pub fn record(&mut self, op: &Json) -> Result<(), TypeMismatch> {
        self.ops.push(DocumentOp::from_json(self.schema, op)?);
        Ok(())
    }

    pub fn ops(&self) -> &[DocumentOp] {
        &self.ops
    }

    pub fn commit(self, parent: Option<CommitId>, stamp: CommitStamp) -> Commit {
        Commit::mutations(self.schema, parent, self.ops, stamp)
    }
}

impl DocumentEditor<'_, '_> {
    pub fn set(&mut self, value: &Json) -> Result<&mut Self, TypeMismatch> {
        self.record("document_set", [("value", value)])
    }

    pub fn update(&mut self, path: &Json, value: &Json) -> Result<&mut Self, TypeMismatch> {
        self.record("document_update", [("path", path), ("value", value)])
    }

    /// Adds members to a set; an empty list records nothing.
    pub fn union_in_set(&mut self, path: &Json, members: &Json) -> Result<&mut Self, TypeMismatch> {
        self.record("set_union", [("path", path), ("value", members)])
    }

    /// Inserts or overwrites map entries; an empty list records nothing.
    pub fn union_in_map(&mut self, path: &Json, entries: &Json) -> Result<&mut Self, TypeMismatch> {
        self.record("map_union", [("path", path), ("value", entries)])
    }

    /// Overwrites existing map entries; an empty list records nothing.
    pub fn update_in_map(&mut self, path: &Json, entries: &Json) -> Result<&mut Self, TypeMismatch> {
        self.record("map_update", [("path", path), ("value", entries)])
    }

    /// Inserts an element into an xarray at a new position just before another, or before `"END"`.
    pub fn insert_in_xarray(
        &mut self,
        path: &Json,
        before: &str,
        position: &str,
        value: &Json,
    ) -> Result<&mut Self, TypeMismatch> {
        let (before, position) = (json!(before), json!(position));
        self.record(
            "xarray_insert",
            [("path", path), ("before", &before), ("position", &position), ("value", value)],
        )
    }

    /// Overwrites the element at a position of an xarray.
    pub fn update_in_xarray(
        &mut self,
        path: &Json,
        position: &str,
        value: &Json,
    ) -> Result<&mut Self, TypeMismatch> {
        self.record("xarray_update", [("path", path), ("position", &json!(position)), ("value", value)])
    }

    /// Removes the element at a position of an xarray.
    pub fn remove_in_xarray(&mut self, path: &Json, position: &str) -> Result<&mut Self, TypeMismatch> {
        self.record("xarray_remove", [("path", path), ("position", &json!(position))])
    }

    fn record<const N: usize>(
        &mut self,
        name: &str,
        members: [(&str, &Json); N],
    ) -> Result<&mut Self, TypeMismatch> {
        let mut op = Map::new();
        op.insert("op".into(), name.into());
        op.insert("attachment".into(), self.attachment.as_str().into());
        op.insert("key".into(), self.key.as_str().into());
        op.extend(members.into_iter().map(|(member, json)| (member.to_owned(), json.clone())));
        let op = DocumentOp::from_json(self.mutations.schema, &Json::Object(op))?;
        if !is_empty(&op) {
            self.mutations.ops.push(op);
        }
        Ok(self)
    }
}

/// Returns true if the opcode has an empty operand and would change nothing.
fn is_empty(op: &DocumentOp) -> bool {
    match &op.act {
        OpAction::At(
            _,
            PathEdit::SetUnion(set) | PathEdit::SetSubtract(set) | PathEdit::MapSubtract(set),
        ) => set.is_empty(),
        OpAction::At(_, PathEdit::MapUnion(map) | PathEdit::MapUpdate(map)) => map.is_empty(),
        _ => false,
    }
}
