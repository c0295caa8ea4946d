//! The ten opcodes and their JSON form.

use crate::codec::{self, Misfit};
use crate::path::{self, Path};
use crate::schema::Schema;
use crate::types::Type;
use crate::value::{Text, Value};
use crate::xarray::END;
use imbl::{OrdMap, OrdSet};
use probity_core::Digest;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The identity of a document.
#[derive(Debug, Clone, Eq, Serialize, Deserialize)]
pub struct DocumentId {
    pub attachment: Text,
    pub key: Text,
}

impl DocumentId {
    pub fn new(attachment: &str, key: &str) -> Self {
        Self { attachment: attachment.into(), key: key.into() }
    }
}

impl Ord for DocumentId {
    fn cmp(&self, other: &Self) -> Ordering {
        // Opcodes share the attachment's name with their schema, so a pointer comparison usually settles it.
        let is_shared = Arc::ptr_eq(&self.attachment, &other.attachment);
        let attachments = if is_shared { Ordering::Equal } else { self.attachment.cmp(&other.attachment) };
        attachments.then_with(|| self.key.cmp(&other.key))
    }
}

impl PartialOrd for DocumentId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for DocumentId {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

/// A change to one document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Op {
    pub(crate) document: DocumentId,
    pub(crate) act: Act,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Act {
    Set(Value),
    /// Every opcode but `document_set` acts at a path of an existing document.
    At(Path, Change),
}

/// A change at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    Update(Value),
    SetUnion(OrdSet<Value>),
    SetSubtract(OrdSet<Value>),
    MapUnion(OrdMap<Value, Value>),
    MapUpdate(OrdMap<Value, Value>),
    MapSubtract(OrdSet<Value>),
    Insert { position: Text, before: Anchor, value: Option<Value> },
    Put { position: Text, value: Value },
    Remove { position: Text },
}

/// The place where an xarray inserts a new position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Anchor {
    Before(Text),
    End,
}

impl Op {
    pub fn document(&self) -> &DocumentId {
        &self.document
    }

    /// Returns the opcode's name, such as `set_union`.
    pub fn name(&self) -> &'static str {
        match &self.act {
            Act::Set(_) => "document_set",
            Act::At(_, change) => change.name(),
        }
    }

    /// Adds every blob that the opcode writes to `blobs`.
    pub(crate) fn collect_blobs(&self, blobs: &mut BTreeSet<Digest>) {
        let values: &mut dyn Iterator<Item = &Value> = match &self.act {
            Act::Set(value)
            | Act::At(
                _,
                Change::Update(value) | Change::Put { value, .. } | Change::Insert { value: Some(value), .. },
            ) => &mut std::iter::once(value),
            Act::At(_, Change::SetUnion(members)) => &mut members.iter(),
            Act::At(_, Change::MapUnion(entries) | Change::MapUpdate(entries)) => {
                &mut entries.iter().flat_map(|(key, value)| [key, value])
            }
            Act::At(..) => return,
        };
        values.for_each(|value| value.collect_blobs(blobs));
    }

    /// Decodes an opcode; every value and path must fit the schema.
    pub fn from_json(schema: &Schema, json: &Json) -> Result<Self, Misfit> {
        let members = json.as_object().ok_or_else(|| Misfit::new("an opcode is an object"))?;
        let text = |name: &str| members.get(name).and_then(Json::as_str).ok_or_else(|| missing(name));
        let (attachment, kind) = attachment(schema, text("attachment")?)?;
        let document = DocumentId { attachment: attachment.clone(), key: text("key")?.into() };
        let name = text("op")?;
        let place =
            |misfit: Misfit| misfit.within(&format!("{name} {}/{} ", document.attachment, document.key));
        let act = decode_act(schema, kind, name, members).map_err(place)?;
        Ok(Self { document, act })
    }

    /// Encodes the opcode in its normal form.
    pub fn to_json(&self, schema: &Schema) -> Json {
        let mut members = Map::new();
        members.insert("op".into(), self.name().into());
        members.insert("attachment".into(), (*self.document.attachment).into());
        members.insert("key".into(), (*self.document.key).into());
        let (_, kind) = attachment(schema, &self.document.attachment)
            .expect("an opcode is only ever made with a schema that has its attachment");
        match &self.act {
            Act::Set(value) => {
                members.insert("value".into(), codec::encode(kind, value));
            }
            Act::At(path, change) => {
                members.insert("path".into(), path::encode(kind, path));
                change.encode(path::type_at(kind, path), &mut members);
            }
        }
        Json::Object(members)
    }
}

fn attachment<'s>(schema: &'s Schema, name: &str) -> Result<(&'s Text, &'s Type), Misfit> {
    schema.attachment(name).ok_or_else(|| Misfit::new(format!("no attachment `{name}`")))
}

fn missing(name: &str) -> Misfit {
    Misfit::new(format!("`{name}` is missing or of the wrong form"))
}

/// Returns the members of an opcode besides `op`, `attachment` and `key`.
fn members_of(name: &str) -> Option<&'static [&'static str]> {
    Some(match name {
        "document_set" => &["value"],
        "document_update" | "set_union" | "set_subtract" | "map_union" | "map_update" | "map_subtract" => {
            &["path", "value"]
        }
        "xarray_insert" => &["path", "position", "before", "value"],
        "xarray_update" => &["path", "position", "value"],
        "xarray_remove" => &["path", "position"],
        _ => return None,
    })
}

fn decode_act(schema: &Schema, kind: &Type, name: &str, members: &Map<String, Json>) -> Result<Act, Misfit> {
    let allowed = members_of(name).ok_or_else(|| Misfit::new("there is no such opcode"))?;
    let known = |member: &&String| {
        allowed.contains(&member.as_str()) || ["op", "attachment", "key"].contains(&member.as_str())
    };
    if let Some(member) = members.keys().find(|member| !known(member)) {
        return Err(Misfit::new(format!("`{member}` is no member of this opcode")));
    }
    let member = |name: &str| members.get(name).ok_or_else(|| missing(name));
    let value = |kind: &Type| codec::decode(schema, kind, member("value")?).map_err(|m| m.within("value"));
    if name == "document_set" {
        return Ok(Act::Set(value(kind)?));
    }
    let (path, kind) = path::decode(schema, kind, member("path")?).map_err(|misfit| misfit.within("path"))?;
    let position =
        || codec::position_from_json(member("position")?).map_err(|misfit| misfit.within("position"));
    let change = match (name, kind) {
        ("document_update", _) => Change::Update(value(kind)?),
        ("set_union", Type::Set(_)) => Change::SetUnion(set(value(kind)?)),
        ("set_subtract", Type::Set(_)) => Change::SetSubtract(set(value(kind)?)),
        ("map_union", Type::Map(_)) => Change::MapUnion(map(value(kind)?)),
        ("map_update", Type::Map(_)) => Change::MapUpdate(map(value(kind)?)),
        ("map_subtract", Type::Map(entry)) => {
            Change::MapSubtract(set(value(&Type::Set(Arc::new(entry.0.clone())))?))
        }
        ("xarray_insert", Type::XArray(inner)) => Change::Insert {
            position: position()?,
            before: anchor(member("before")?)?,
            value: members.contains_key("value").then(|| value(inner)).transpose()?,
        },
        ("xarray_update", Type::XArray(inner)) => Change::Put { position: position()?, value: value(inner)? },
        ("xarray_remove", Type::XArray(_)) => Change::Remove { position: position()? },
        (_, kind) => {
            return Err(Misfit::new(format!("there is a `{kind}`, which this opcode does not change")));
        }
    };
    Ok(Act::At(path, change))
}

fn anchor(json: &Json) -> Result<Anchor, Misfit> {
    if json == END {
        return Ok(Anchor::End);
    }
    codec::position_from_json(json).map(Anchor::Before).map_err(|misfit| misfit.within("before"))
}

fn set(value: Value) -> OrdSet<Value> {
    match value {
        Value::Set(members) => members,
        other => unreachable!("the type of a set gives a set: {other:?}"),
    }
}

fn map(value: Value) -> OrdMap<Value, Value> {
    match value {
        Value::Map(entries) => entries,
        other => unreachable!("the type of a map gives a map: {other:?}"),
    }
}

impl Change {
    fn name(&self) -> &'static str {
        match self {
            Self::Update(_) => "document_update",
            Self::SetUnion(_) => "set_union",
            Self::SetSubtract(_) => "set_subtract",
            Self::MapUnion(_) => "map_union",
            Self::MapUpdate(_) => "map_update",
            Self::MapSubtract(_) => "map_subtract",
            Self::Insert { .. } => "xarray_insert",
            Self::Put { .. } => "xarray_update",
            Self::Remove { .. } => "xarray_remove",
        }
    }

    fn encode(&self, kind: &Type, members: &mut Map<String, Json>) {
        let mut put = |name: &str, json: Json| members.insert(name.into(), json);
        match (self, kind) {
            (Self::Update(value), _) => put("value", codec::encode(kind, value)),
            (Self::SetUnion(set) | Self::SetSubtract(set), _) => {
                put("value", codec::encode(kind, &Value::Set(set.clone())))
            }
            (Self::MapUnion(map) | Self::MapUpdate(map), _) => {
                put("value", codec::encode(kind, &Value::Map(map.clone())))
            }
            (Self::MapSubtract(keys), Type::Map(entry)) => {
                put("value", keys.iter().map(|key| codec::encode(&entry.0, key)).collect())
            }
            (Self::Insert { position, before, value }, Type::XArray(inner)) => {
                put("position", json!(**position));
                put("before", json!(before.text()));
                value.as_ref().and_then(|value| put("value", codec::encode(inner, value)))
            }
            (Self::Put { position, value }, Type::XArray(inner)) => {
                put("position", json!(**position));
                put("value", codec::encode(inner, value))
            }
            (Self::Remove { position }, _) => put("position", json!(**position)),
            (change, kind) => {
                unreachable!("an opcode is only ever written with its own type: {kind} {change:?}")
            }
        };
    }
}

impl Anchor {
    fn text(&self) -> &str {
        match self {
            Self::Before(position) => position,
            Self::End => END,
        }
    }
}
