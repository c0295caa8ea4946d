//! Paths into documents.
//!
//! In JSON a path is an array of one-key objects. Decoding checks it against the document's type, so a decoded path
//! always fits the type; it may still fail to resolve in a particular value ([`read`]).

use crate::codec::{self, Misfit};
use crate::schema::Schema;
use crate::types::Type;
use crate::value::{Text, Value};
use serde_json::{Value as Json, json};
use std::sync::Arc;

/// One component of a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// A struct field, by index.
    Field(u16),
    /// An item of a vector or tuple.
    Index(u64),
    /// The value under a map key.
    Key(Value),
    /// The element at a position of an xarray.
    Position(Text),
    /// The content of an optional.
    Unwrap,
    /// A set member; only as the last component of a conflict's locus.
    Element(Value),
}

/// A place in a document; empty for the document itself.
pub type Path = Vec<Step>;

/// Decodes an opcode's path and returns it with the type found there.
pub(crate) fn decode<'t>(schema: &Schema, kind: &'t Type, json: &Json) -> Result<(Path, &'t Type), Misfit> {
    let (locus, kind) = decode_locus(schema, kind, json)?;
    match locus.last() {
        Some(Step::Element(_)) => Err(Misfit::new("`element` is no place to write to")),
        _ => Ok((locus, kind)),
    }
}

/// Decodes a locus: a path whose last component may be a set member.
pub(crate) fn decode_locus<'t>(
    schema: &Schema,
    mut kind: &'t Type,
    json: &Json,
) -> Result<(Path, &'t Type), Misfit> {
    let components = json.as_array().ok_or_else(|| Misfit::new("a path is a list of components"))?;
    let mut path = Vec::with_capacity(components.len());
    for (index, component) in components.iter().enumerate() {
        let place = |misfit: Misfit| misfit.within(&format!("[{index}]"));
        if let Some(Step::Element(_)) = path.last() {
            return Err(place(Misfit::new("nothing is below an `element`")));
        }
        let (step, below) = decode_step(schema, kind, component).map_err(place)?;
        path.push(step);
        kind = below;
    }
    Ok((path, kind))
}

fn decode_step<'t>(schema: &Schema, kind: &'t Type, json: &Json) -> Result<(Step, &'t Type), Misfit> {
    let single =
        json.as_object().filter(|members| members.len() == 1).and_then(|members| members.iter().next());
    let (name, json) = single.ok_or_else(|| Misfit::new("a component is an object with one member"))?;
    let wrong = || Misfit::new(format!("`{kind}` cannot be entered by `{name}`: {json}"));
    match (name.as_str(), kind) {
        ("field", Type::Struct(structure)) => {
            let rank = structure.fields.iter().position(|field| json.as_str() == Some(&*field.name));
            let rank = rank.ok_or_else(wrong)?;
            Ok((Step::Field(u16::try_from(rank).map_err(|_| wrong())?), &structure.fields[rank].kind))
        }
        ("index", Type::Vector(inner)) => Ok((Step::Index(json.as_u64().ok_or_else(wrong)?), inner)),
        ("index", Type::Tuple(parts)) => {
            let index = json.as_u64().ok_or_else(wrong)?;
            let part = usize::try_from(index).ok().and_then(|index| parts.get(index));
            Ok((Step::Index(index), part.ok_or_else(wrong)?))
        }
        ("key", Type::Map(entry)) => Ok((Step::Key(codec::decode(schema, &entry.0, json)?), &entry.1)),
        ("position", Type::XArray(inner)) => Ok((Step::Position(codec::position_from_json(json)?), inner)),
        ("unwrap", Type::Optional(inner)) if json == true => Ok((Step::Unwrap, inner)),
        ("element", Type::Set(inner)) => Ok((Step::Element(codec::decode(schema, inner, json)?), inner)),
        _ => Err(wrong()),
    }
}

/// Returns the type at a path of a document of type `kind`.
pub(crate) fn type_at<'t>(kind: &'t Type, path: &[Step]) -> &'t Type {
    path.iter().fold(kind, type_below)
}

fn type_below<'t>(kind: &'t Type, step: &Step) -> &'t Type {
    match (kind, step) {
        (Type::Struct(structure), Step::Field(rank)) => &structure.fields[usize::from(*rank)].kind,
        (Type::Tuple(parts), Step::Index(index)) => {
            &parts[usize::try_from(*index).expect("a tuple's index was checked when the path was read")]
        }
        (Type::Map(entry), Step::Key(_)) => &entry.1,
        (Type::Vector(inner), Step::Index(_))
        | (Type::XArray(inner), Step::Position(_))
        | (Type::Optional(inner), Step::Unwrap)
        | (Type::Set(inner), Step::Element(_)) => inner,
        (kind, step) => unreachable!("a path is only ever walked along its own type: {kind} {step:?}"),
    }
}

/// Encodes a path into a document of type `kind`.
pub(crate) fn encode(mut kind: &Type, path: &[Step]) -> Json {
    let mut components = Vec::with_capacity(path.len());
    for step in path {
        let below = type_below(kind, step);
        components.push(match (step, kind) {
            (Step::Field(rank), Type::Struct(structure)) => {
                json!({ "field": *structure.fields[usize::from(*rank)].name })
            }
            (Step::Index(index), _) => json!({ "index": index }),
            (Step::Key(key), Type::Map(entry)) => json!({ "key": codec::encode(&entry.0, key) }),
            (Step::Position(position), _) => json!({ "position": **position }),
            (Step::Element(element), _) => json!({ "element": codec::encode(below, element) }),
            _ => json!({ "unwrap": true }),
        });
        kind = below;
    }
    Json::Array(components)
}

/// Returns the value at a path.
pub(crate) fn read<'v>(value: &'v Value, path: &[Step]) -> Option<&'v Value> {
    path.iter().try_fold(value, read_step)
}

/// Like [`read`], for a document that may be absent.
pub(crate) fn read_in<'v>(document: Option<&'v Value>, path: &[Step]) -> Option<&'v Value> {
    read(document?, path)
}

pub(crate) fn read_step<'v>(value: &'v Value, step: &Step) -> Option<&'v Value> {
    match (value, step) {
        (Value::Struct(fields), Step::Field(rank)) => fields.get(usize::from(*rank)),
        (Value::List(items), Step::Index(index)) => items.get(usize::try_from(*index).ok()?),
        (Value::Map(entries), Step::Key(key)) => entries.get(key),
        (Value::XArray(array), Step::Position(position)) => array.element(position),
        (Value::Optional(inner), Step::Unwrap) => inner.as_deref(),
        (Value::Set(members), Step::Element(element)) => members.get(element),
        _ => None,
    }
}

/// Returns the place for writing. Shared nodes on the way are copied, so call [`read`] first if the path may not
/// resolve.
pub(crate) fn reach<'v>(value: &'v mut Value, path: &[Step]) -> Option<&'v mut Value> {
    path.iter().try_fold(value, reach_step)
}

fn reach_step<'v>(value: &'v mut Value, step: &Step) -> Option<&'v mut Value> {
    match (value, step) {
        (Value::Struct(fields), Step::Field(rank)) => Arc::make_mut(fields).get_mut(usize::from(*rank)),
        (Value::List(items), Step::Index(index)) => {
            Arc::make_mut(items).get_mut(usize::try_from(*index).ok()?)
        }
        (Value::Map(entries), Step::Key(key)) => entries.get_mut(key),
        (Value::XArray(array), Step::Position(position)) => Arc::make_mut(array).element_mut(position),
        (Value::Optional(inner), Step::Unwrap) => inner.as_mut().map(Arc::make_mut),
        _ => None,
    }
}
