//! Paths into documents.
//!
//! In JSON a path is an array of one-key objects. Decoding checks it against the document's type, so a decoded path
//! always fits the type; it may still fail to resolve in a particular value ([`read`]).

use crate::codec::{self, TypeMismatch};
use crate::schema::DocumentSchema;
use crate::value::types::ValueType;
use crate::value::{DocumentValue, SharedText};
use serde_json::{Value as Json, json};
use std::sync::Arc;

/// One component of a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathStep {
    /// A struct field, by index.
    Field(u16),
    /// An item of a vector or tuple.
    Index(u64),
    /// The value under a map key.
    Key(DocumentValue),
    /// The element at a position of an xarray.
    Position(SharedText),
    /// The content of an optional.
    Unwrap,
    /// A set member; only as the last component of a conflict's locus.
    Element(DocumentValue),
}

/// A place in a document; empty for the document itself.
pub type DocumentPath = Vec<PathStep>;

/// Decodes an opcode's path and returns it with the type found there.
pub(crate) fn decode<'t>(
    schema: &DocumentSchema,
    kind: &'t ValueType,
    json: &Json,
) -> Result<(DocumentPath, &'t ValueType), TypeMismatch> {
    let (locus, kind) = decode_locus(schema, kind, json)?;
    match locus.last() {
        Some(PathStep::Element(_)) => Err(TypeMismatch::new("`element` is not a place to write to")),
        _ => Ok((locus, kind)),
    }
}

/// Decodes a locus: a path whose last component may be a set member.
pub(crate) fn decode_locus<'t>(
    schema: &DocumentSchema,
    mut kind: &'t ValueType,
    json: &Json,
) -> Result<(DocumentPath, &'t ValueType), TypeMismatch> {
    let components = json.as_array().ok_or_else(|| TypeMismatch::new("a path is a list of components"))?;
    let mut path = Vec::with_capacity(components.len());
    for (index, component) in components.iter().enumerate() {
        let place = |misfit: TypeMismatch| misfit.with_prefix(&format!("[{index}]"));
        if let Some(PathStep::Element(_)) = path.last() {
            return Err(place(TypeMismatch::new("nothing is below an `element`")));
        }
        let (step, below) = decode_step(schema, kind, component).map_err(place)?;
        path.push(step);
        kind = below;
    }
    Ok((path, kind))
}

fn decode_step<'t>(
    schema: &DocumentSchema,
    kind: &'t ValueType,
    json: &Json,
) -> Result<(PathStep, &'t ValueType), TypeMismatch> {
    let single =
        json.as_object().filter(|members| members.len() == 1).and_then(|members| members.iter().next());
    let (name, json) = single.ok_or_else(|| TypeMismatch::new("a component is an object with one member"))?;
    let wrong = || TypeMismatch::new(format!("`{kind}` cannot be entered by `{name}`: {json}"));
    match (name.as_str(), kind) {
        ("field", ValueType::Struct(structure)) => {
            let rank = structure.fields.iter().position(|field| json.as_str() == Some(&*field.name));
            let rank = rank.ok_or_else(wrong)?;
            Ok((PathStep::Field(u16::try_from(rank).map_err(|_| wrong())?), &structure.fields[rank].kind))
        }
        ("index", ValueType::Vector(inner)) => Ok((PathStep::Index(json.as_u64().ok_or_else(wrong)?), inner)),
        ("index", ValueType::Tuple(parts)) => {
            let index = json.as_u64().ok_or_else(wrong)?;
            let part = usize::try_from(index).ok().and_then(|index| parts.get(index));
            Ok((PathStep::Index(index), part.ok_or_else(wrong)?))
        }
        ("key", ValueType::Map(entry)) => {
            Ok((PathStep::Key(codec::decode(schema, &entry.0, json)?), &entry.1))
        }
        ("position", ValueType::XArray(inner)) => {
            Ok((PathStep::Position(codec::position_from_json(json)?), inner))
        }
        ("unwrap", ValueType::Optional(inner)) if json == true => Ok((PathStep::Unwrap, inner)),
        ("element", ValueType::Set(inner)) => {
            Ok((PathStep::Element(codec::decode(schema, inner, json)?), inner))
        }
        _ => Err(wrong()),
    }
}

/// Returns the type at a path of a document of type `kind`.
pub(crate) fn type_at<'t>(kind: &'t ValueType, path: &[PathStep]) -> &'t ValueType {
    path.iter().fold(kind, type_below)
}

fn type_below<'t>(kind: &'t ValueType, step: &PathStep) -> &'t ValueType {
    match (kind, step) {
        (ValueType::Struct(structure), PathStep::Field(rank)) => &structure.fields[usize::from(*rank)].kind,
        (ValueType::Tuple(parts), PathStep::Index(index)) => {
            &parts[usize::try_from(*index).expect("a tuple's index was checked when the path was read")]
        }
        (ValueType::Map(entry), PathStep::Key(_)) => &entry.1,
        (ValueType::Vector(inner), PathStep::Index(_))
        | (ValueType::XArray(inner), PathStep::Position(_))
        | (ValueType::Optional(inner), PathStep::Unwrap)
        | (ValueType::Set(inner), PathStep::Element(_)) => inner,
        (kind, step) => unreachable!("a path is only ever walked along its own type: {kind} {step:?}"),
    }
}

/// Encodes a path into a document of type `kind`.
pub(crate) fn encode(mut kind: &ValueType, path: &[PathStep]) -> Json {
    let mut components = Vec::with_capacity(path.len());
    for step in path {
        let below = type_below(kind, step);
        components.push(match (step, kind) {
            (PathStep::Field(rank), ValueType::Struct(structure)) => {
                json!({ "field": *structure.fields[usize::from(*rank)].name })
            }
            (PathStep::Index(index), _) => json!({ "index": index }),
            (PathStep::Key(key), ValueType::Map(entry)) => json!({ "key": codec::encode(&entry.0, key) }),
            (PathStep::Position(position), _) => json!({ "position": **position }),
            (PathStep::Element(element), _) => json!({ "element": codec::encode(below, element) }),
            _ => json!({ "unwrap": true }),
        });
        kind = below;
    }
    Json::Array(components)
}

/// Returns the value at a path.
pub(crate) fn read<'v>(value: &'v DocumentValue, path: &[PathStep]) -> Option<&'v DocumentValue> {
    path.iter().try_fold(value, read_step)
}

/// Like [`read`], for a document that may be absent.
pub(crate) fn read_in<'v>(
    document: Option<&'v DocumentValue>,
    path: &[PathStep],
) -> Option<&'v DocumentValue> {
    read(document?, path)
}

pub(crate) fn read_step<'v>(value: &'v DocumentValue, step: &PathStep) -> Option<&'v DocumentValue> {
    match (value, step) {
        (DocumentValue::Struct(fields), PathStep::Field(rank)) => fields.get(usize::from(*rank)),
        (DocumentValue::List(items), PathStep::Index(index)) => items.get(usize::try_from(*index).ok()?),
        (DocumentValue::Map(entries), PathStep::Key(key)) => entries.get(key),
        (DocumentValue::XArray(array), PathStep::Position(position)) => array.element(position),
        (DocumentValue::Optional(inner), PathStep::Unwrap) => inner.as_deref(),
        (DocumentValue::Set(members), PathStep::Element(element)) => members.get(element),
        _ => None,
    }
}

/// Returns the place for writing. Shared nodes on the way are copied, so call [`read`] first if the path may not
/// resolve.
pub(crate) fn reach<'v>(value: &'v mut DocumentValue, path: &[PathStep]) -> Option<&'v mut DocumentValue> {
    path.iter().try_fold(value, reach_step)
}

fn reach_step<'v>(value: &'v mut DocumentValue, step: &PathStep) -> Option<&'v mut DocumentValue> {
    match (value, step) {
        (DocumentValue::Struct(fields), PathStep::Field(rank)) => {
            Arc::make_mut(fields).get_mut(usize::from(*rank))
        }
        (DocumentValue::List(items), PathStep::Index(index)) => {
            Arc::make_mut(items).get_mut(usize::try_from(*index).ok()?)
        }
        (DocumentValue::Map(entries), PathStep::Key(key)) => entries.get_mut(key),
        (DocumentValue::XArray(array), PathStep::Position(position)) => {
            Arc::make_mut(array).element_mut(position)
        }
        (DocumentValue::Optional(inner), PathStep::Unwrap) => inner.as_mut().map(Arc::make_mut),
        _ => None,
    }
}
