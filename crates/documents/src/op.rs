//! The ten opcodes and their JSON form.

use crate::codec::{self, TypeMismatch};
use crate::path::{self, DocumentPath};
use crate::schema::DocumentSchema;
use crate::value::types::ValueType;
use crate::value::xarray::END_POSITION;
use crate::value::{DocumentValue, SharedText};
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
    pub attachment: SharedText,
    pub key: SharedText,
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
pub struct DocumentOp {
    pub(crate) document: DocumentId,
    pub(crate) act: OpAction,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OpAction {
    Set(DocumentValue),
    /// Every opcode but `document_set` acts at a path of an existing document.
    At(DocumentPath, PathEdit),
}

/// A change at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PathEdit {
    Update(DocumentValue),
    SetUnion(OrdSet<DocumentValue>),
    SetSubtract(OrdSet<DocumentValue>),
    MapUnion(OrdMap<DocumentValue, DocumentValue>),
    MapUpdate(OrdMap<DocumentValue, DocumentValue>),
    MapSubtract(OrdSet<DocumentValue>),
    Insert { position: SharedText, before: InsertAnchor, value: Option<DocumentValue> },
    Put { position: SharedText, value: DocumentValue },
    Remove { position: SharedText },
}

/// The place where an xarray inserts a new position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum InsertAnchor {
    Before(SharedText),
    End,
}

impl DocumentOp {
    pub fn document(&self) -> &DocumentId {
        &self.document
    }

    /// Returns the opcode's name, such as `set_union`.
    pub fn name(&self) -> &'static str {
        match &self.act {
            OpAction::Set(_) => "document_set",
            OpAction::At(_, change) => change.name(),
        }
    }

    /// Adds every blob that the opcode writes to `blobs`.
    pub(crate) fn collect_blobs(&self, blobs: &mut BTreeSet<Digest>) {
        let values: &mut dyn Iterator<Item = &DocumentValue> = match &self.act {
            OpAction::Set(value)
            | OpAction::At(
                _,
                PathEdit::Update(value)
                | PathEdit::Put { value, .. }
                | PathEdit::Insert { value: Some(value), .. },
            ) => &mut std::iter::once(value),
            OpAction::At(_, PathEdit::SetUnion(members)) => &mut members.iter(),
            OpAction::At(_, PathEdit::MapUnion(entries) | PathEdit::MapUpdate(entries)) => {
                &mut entries.iter().flat_map(|(key, value)| [key, value])
            }
            OpAction::At(..) => return,
        };
        values.for_each(|value| value.collect_blobs(blobs));
    }

    /// Decodes an opcode; every value and path must fit the schema.
    pub fn from_json(schema: &DocumentSchema, json: &Json) -> Result<Self, TypeMismatch> {
        let members = json.as_object().ok_or_else(|| TypeMismatch::new("an opcode is an object"))?;
        let text = |name: &str| members.get(name).and_then(Json::as_str).ok_or_else(|| missing(name));
        let (attachment, kind) = attachment(schema, text("attachment")?)?;
        let document = DocumentId { attachment: attachment.clone(), key: text("key")?.into() };
        let name = text("op")?;
        let place = |misfit: TypeMismatch| {
            misfit.with_prefix(&format!("{name} {}/{} ", document.attachment, document.key))
        };
        let act = decode_act(schema, kind, name, members).map_err(place)?;
        Ok(Self { document, act })
    }

    /// Encodes the opcode in its normal form.
    pub fn to_json(&self, schema: &DocumentSchema) -> Json {
        let mut members = Map::new();
        members.insert("op".into(), self.name().into());
        members.insert("attachment".into(), (*self.document.attachment).into());
        members.insert("key".into(), (*self.document.key).into());
        let (_, kind) = attachment(schema, &self.document.attachment)
            .expect("an opcode is only ever made with a schema that has its attachment");
        match &self.act {
            OpAction::Set(value) => {
                members.insert("value".into(), codec::encode(kind, value));
            }
            OpAction::At(path, change) => {
                members.insert("path".into(), path::encode(kind, path));
                change.encode(path::type_at(kind, path), &mut members);
            }
        }
        Json::Object(members)
    }
}

fn attachment<'s>(
    schema: &'s DocumentSchema,
    name: &str,
) -> Result<(&'s SharedText, &'s ValueType), TypeMismatch> {
    schema.attachment(name).ok_or_else(|| TypeMismatch::new(format!("no attachment `{name}`")))
}

fn missing(name: &str) -> TypeMismatch {
    TypeMismatch::new(format!("`{name}` is missing or of the wrong form"))
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

fn decode_act(
    schema: &DocumentSchema,
    kind: &ValueType,
    name: &str,
    members: &Map<String, Json>,
) -> Result<OpAction, TypeMismatch> {
    let allowed = members_of(name).ok_or_else(|| TypeMismatch::new("there is no such opcode"))?;
    let known = |member: &&String| {
        allowed.contains(&member.as_str()) || ["op", "attachment", "key"].contains(&member.as_str())
    };
    if let Some(member) = members.keys().find(|member| !known(member)) {
        return Err(TypeMismatch::new(format!("`{member}` is not a member of this opcode")));
    }
    let member = |name: &str| members.get(name).ok_or_else(|| missing(name));
    let value =
        |kind: &ValueType| codec::decode(schema, kind, member("value")?).map_err(|m| m.with_prefix("value"));
    if name == "document_set" {
        return Ok(OpAction::Set(value(kind)?));
    }
    let (path, kind) =
        path::decode(schema, kind, member("path")?).map_err(|misfit| misfit.with_prefix("path"))?;
    let position =
        || codec::position_from_json(member("position")?).map_err(|misfit| misfit.with_prefix("position"));
    let change = match (name, kind) {
        ("document_update", _) => PathEdit::Update(value(kind)?),
        ("set_union", ValueType::Set(_)) => PathEdit::SetUnion(set(value(kind)?)),
        ("set_subtract", ValueType::Set(_)) => PathEdit::SetSubtract(set(value(kind)?)),
        ("map_union", ValueType::Map(_)) => PathEdit::MapUnion(map(value(kind)?)),
        ("map_update", ValueType::Map(_)) => PathEdit::MapUpdate(map(value(kind)?)),
        ("map_subtract", ValueType::Map(entry)) => {
            PathEdit::MapSubtract(set(value(&ValueType::Set(Arc::new(entry.0.clone())))?))
        }
        ("xarray_insert", ValueType::XArray(inner)) => PathEdit::Insert {
            position: position()?,
            before: anchor(member("before")?)?,
            value: members.contains_key("value").then(|| value(inner)).transpose()?,
        },
        ("xarray_update", ValueType::XArray(inner)) => {
            PathEdit::Put { position: position()?, value: value(inner)? }
        }
        ("xarray_remove", ValueType::XArray(_)) => PathEdit::Remove { position: position()? },
        (_, kind) => {
            return Err(TypeMismatch::new(format!("there is a `{kind}`, which this opcode does not change")));
        }
    };
    Ok(OpAction::At(path, change))
}

fn anchor(json: &Json) -> Result<InsertAnchor, TypeMismatch> {
    if json == END_POSITION {
        return Ok(InsertAnchor::End);
    }
    codec::position_from_json(json).map(InsertAnchor::Before).map_err(|misfit| misfit.with_prefix("before"))
}

fn set(value: DocumentValue) -> OrdSet<DocumentValue> {
    match value {
        DocumentValue::Set(members) => members,
        other => unreachable!("the type of a set gives a set: {other:?}"),
    }
}

fn map(value: DocumentValue) -> OrdMap<DocumentValue, DocumentValue> {
    match value {
        DocumentValue::Map(entries) => entries,
        other => unreachable!("the type of a map gives a map: {other:?}"),
    }
}

impl PathEdit {
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

    fn encode(&self, kind: &ValueType, members: &mut Map<String, Json>) {
        let mut put = |name: &str, json: Json| members.insert(name.into(), json);
        match (self, kind) {
            (Self::Update(value), _) => put("value", codec::encode(kind, value)),
            (Self::SetUnion(set) | Self::SetSubtract(set), _) => {
                put("value", codec::encode(kind, &DocumentValue::Set(set.clone())))
            }
            (Self::MapUnion(map) | Self::MapUpdate(map), _) => {
                put("value", codec::encode(kind, &DocumentValue::Map(map.clone())))
            }
            (Self::MapSubtract(keys), ValueType::Map(entry)) => {
                put("value", keys.iter().map(|key| codec::encode(&entry.0, key)).collect())
            }
            (Self::Insert { position, before, value }, ValueType::XArray(inner)) => {
                put("position", json!(**position));
                put("before", json!(before.text()));
                value.as_ref().and_then(|value| put("value", codec::encode(inner, value)))
            }
            (Self::Put { position, value }, ValueType::XArray(inner)) => {
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

impl InsertAnchor {
    fn text(&self) -> &str {
        match self {
            Self::Before(position) => position,
            Self::End => END_POSITION,
        }
    }
}
