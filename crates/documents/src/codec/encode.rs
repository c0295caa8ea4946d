//! Typed encoding of values to JSON, in the form that [the codec](super) decodes.

use super::{MAX_SAFE_INTEGER, uuid_text};
use crate::value::types::ValueType;
use crate::value::xarray::XArray;
use crate::value::{DocumentValue, FiniteDouble};
use serde_json::{Map, Value as Json, json};

/// Encodes a value of type `kind`.
pub(crate) fn encode(kind: &ValueType, value: &DocumentValue) -> Json {
    match (kind, value) {
        (_, DocumentValue::Bool(value)) => Json::Bool(*value),
        (_, DocumentValue::Int(number)) => encode_integer((*number).into()),
        (_, DocumentValue::Uint(number)) => encode_integer((*number).into()),
        (_, DocumentValue::Double(double)) => encode_double(*double),
        (_, DocumentValue::Text(text)) => Json::String(text.to_string()),
        (_, DocumentValue::Bytes(bytes)) => Json::String(hex::encode(bytes)),
        (_, DocumentValue::Uuid(bytes)) => Json::String(uuid_text(*bytes)),
        (_, DocumentValue::Blob(digest)) => Json::String(digest.to_string()),
        (ValueType::Enum(enumeration), DocumentValue::Enum(rank)) => {
            Json::String(enumeration.cases[usize::from(*rank)].to_string())
        }
        (ValueType::Struct(structure), DocumentValue::Struct(fields)) => {
            let members = structure.fields.iter().zip(fields.iter());
            members.map(|(field, value)| (field.name.to_string(), encode(&field.kind, value))).collect()
        }
        (_, DocumentValue::Optional(None) | DocumentValue::Any(None)) => Json::Null,
        (ValueType::Optional(inner), DocumentValue::Optional(Some(value))) => {
            json!({ "some": encode(inner, value) })
        }
        (ValueType::Tuple(parts), DocumentValue::List(values)) => {
            parts.iter().zip(values.iter()).map(|(part, value)| encode(part, value)).collect()
        }
        (ValueType::Vector(inner), DocumentValue::List(values)) => {
            values.iter().map(|value| encode(inner, value)).collect()
        }
        (ValueType::Set(inner), DocumentValue::Set(values)) => {
            values.iter().map(|value| encode(inner, value)).collect()
        }
        (ValueType::Map(entry), DocumentValue::Map(entries)) => entries
            .iter()
            .map(|(key, value)| json!([encode(&entry.0, key), encode(&entry.1, value)]))
            .collect(),
        (ValueType::XArray(inner), DocumentValue::XArray(array)) => encode_xarray(inner, array),
        (ValueType::Variant(arms), DocumentValue::Variant(arm, value)) => {
            let kind = &arms[usize::from(*arm)];
            json!({ "type": kind.to_string(), "value": encode(kind, value) })
        }
        (_, DocumentValue::Any(Some(typed))) => {
            json!({ "type": *typed.text, "value": encode(&typed.kind, &typed.value) })
        }
        (kind, value) => unreachable!("a value is only ever written with its own type: {kind} {value:?}"),
    }
}

fn encode_integer(number: i128) -> Json {
    match i64::try_from(number) {
        Ok(small) if number.abs() <= MAX_SAFE_INTEGER => Json::from(small),
        _ => Json::String(number.to_string()),
    }
}

fn encode_double(double: FiniteDouble) -> Json {
    let number = double.get();
    #[expect(clippy::cast_possible_truncation, reason = "whole and within 2^53, so the cast is exact")]
    if number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0 {
        return Json::from(number as i64);
    }
    Json::from(number)
}

fn encode_xarray(kind: &ValueType, array: &XArray) -> Json {
    let order: Vec<&str> = array.order().map(AsRef::as_ref).collect();
    let elements: Map<String, Json> =
        array.visible().map(|(position, value)| (position.to_string(), encode(kind, value))).collect();
    let mut disabled: Vec<&str> =
        order.iter().copied().filter(|position| array.is_disabled(position)).collect();
    let mut members = json!({ "order": order, "elements": elements });
    if !disabled.is_empty() {
        disabled.sort_unstable();
        members["disabled"] = json!(disabled);
    }
    members
}
