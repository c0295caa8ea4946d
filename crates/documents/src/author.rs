//! Authoring: verbs that record opcodes, each checked against the schema when it is written.

use crate::codec::Misfit;
use crate::commit::{Commit, CommitId, Stamp};
use crate::op::{Act, Change, Op};
use crate::schema::Schema;
use serde_json::{Map, Value as Json, json};

/// Records opcodes for one commit. A refused verb records nothing.
#[derive(Debug, Clone)]
pub struct Mutations<'s> {
    schema: &'s Schema,
    ops: Vec<Op>,
}

/// Names the document that the next verbs are about.
#[derive(Debug)]
pub struct Draft<'m, 's> {
    mutations: &'m mut Mutations<'s>,
    attachment: String,
    key: String,
}

impl<'s> Mutations<'s> {
    /// Starts with nothing recorded.
    pub const fn new(schema: &'s Schema) -> Self {
        Self { schema, ops: Vec::new() }
    }

    /// Turns to a document.
    pub fn document<'m>(&'m mut self, attachment: &str, key: &str) -> Draft<'m, 's> {
        Draft { mutations: self, attachment: attachment.to_owned(), key: key.to_owned() }
    }

    /// Records an opcode in its JSON form.
    pub fn record(&mut self, op: &Json) -> Result<(), Misfit> {
        self.ops.push(Op::from_json(self.schema, op)?);
        Ok(())
    }

    /// What was recorded.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// Makes the commit.
    pub fn commit(self, parent: Option<CommitId>, stamp: Stamp) -> Commit {
        Commit::mutations(self.schema, parent, self.ops, stamp)
    }
}

impl Draft<'_, '_> {
    /// Writes the whole document.
    pub fn set(&mut self, value: &Json) -> Result<&mut Self, Misfit> {
        self.record("document_set", [("value", value)])
    }

    /// Writes the value at a path.
    pub fn update(&mut self, path: &Json, value: &Json) -> Result<&mut Self, Misfit> {
        self.record("document_update", [("path", path), ("value", value)])
    }

    /// Adds members to a set; no members record nothing.
    pub fn union_in_set(&mut self, path: &Json, members: &Json) -> Result<&mut Self, Misfit> {
        self.record("set_union", [("path", path), ("value", members)])
    }

    /// Takes members out of a set; no members record nothing.
    pub fn subtract_in_set(&mut self, path: &Json, members: &Json) -> Result<&mut Self, Misfit> {
        self.record("set_subtract", [("path", path), ("value", members)])
    }

    /// Inserts or overwrites entries of a map; no entries record nothing.
    pub fn union_in_map(&mut self, path: &Json, entries: &Json) -> Result<&mut Self, Misfit> {
        self.record("map_union", [("path", path), ("value", entries)])
    }

    /// Overwrites entries of a map whose keys are there; no entries record nothing.
    pub fn update_in_map(&mut self, path: &Json, entries: &Json) -> Result<&mut Self, Misfit> {
        self.record("map_update", [("path", path), ("value", entries)])
    }

    /// Drops entries of a map; no keys record nothing.
    pub fn subtract_in_map(&mut self, path: &Json, keys: &Json) -> Result<&mut Self, Misfit> {
        self.record("map_subtract", [("path", path), ("value", keys)])
    }

    /// Lists a position of an xarray just before another, or before `"END"`, with an element.
    pub fn insert_in_xarray(
        &mut self,
        path: &Json,
        before: &str,
        position: &str,
        value: &Json,
    ) -> Result<&mut Self, Misfit> {
        let (before, position) = (json!(before), json!(position));
        self.record(
            "xarray_insert",
            [("path", path), ("before", &before), ("position", &position), ("value", value)],
        )
    }

    /// Writes the element at a position of an xarray.
    pub fn update_in_xarray(
        &mut self,
        path: &Json,
        position: &str,
        value: &Json,
    ) -> Result<&mut Self, Misfit> {
        self.record("xarray_update", [("path", path), ("position", &json!(position)), ("value", value)])
    }

    /// Takes the element out of a position of an xarray.
    pub fn remove_in_xarray(&mut self, path: &Json, position: &str) -> Result<&mut Self, Misfit> {
        self.record("xarray_remove", [("path", path), ("position", &json!(position))])
    }

    fn record<const N: usize>(
        &mut self,
        name: &str,
        members: [(&str, &Json); N],
    ) -> Result<&mut Self, Misfit> {
        let mut op = Map::new();
        op.insert("op".into(), name.into());
        op.insert("attachment".into(), self.attachment.as_str().into());
        op.insert("key".into(), self.key.as_str().into());
        op.extend(members.into_iter().map(|(member, json)| (member.to_owned(), json.clone())));
        let op = Op::from_json(self.mutations.schema, &Json::Object(op))?;
        if !is_empty(&op) {
            self.mutations.ops.push(op);
        }
        Ok(self)
    }
}

/// Whether the opcode has an operand without members.
fn is_empty(op: &Op) -> bool {
    match &op.act {
        Act::At(_, Change::SetUnion(set) | Change::SetSubtract(set) | Change::MapSubtract(set)) => {
            set.is_empty()
        }
        Act::At(_, Change::MapUnion(map) | Change::MapUpdate(map)) => map.is_empty(),
        _ => false,
    }
}
