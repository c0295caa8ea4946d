//! Strict, typed decoding of values from JSON, with errors that name the place.
//!
//! Every value has exactly one form: sets and maps are sorted, and members are exactly those of the type. Integers
//! beyond ±(2^53 − 1), which not every JSON reader keeps exact, are decimal strings; bytes are lower-case hex; a
//! `float` is the shortest number that denotes it.

mod encode;

use crate::schema::DocumentSchema;
use crate::value::types::{IntegerType, MAX_TYPE_DEPTH, StructDefinition, ValueType};
use crate::value::xarray::{END_POSITION, SlotContent, XArray};
use crate::value::{DocumentValue, FiniteDouble, SharedText, TypedValue};
use imbl::{OrdMap, OrdSet};
use serde_json::{Map, Number, Value as Json};
use std::sync::Arc;

pub(crate) use encode::encode;

/// JSON that does not fit the expected type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {why}")]
pub struct TypeMismatch {
    /// Position inside the value, such as `.field[3]`; empty for the value itself.
    pub place: String,
    pub why: String,
}

impl TypeMismatch {
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self { place: String::new(), why: why.into() }
    }

    pub(crate) fn with_prefix(mut self, part: &str) -> Self {
        self.place.insert_str(0, part);
        self
    }
}

/// The largest integer that every JSON reader keeps exact.
pub(crate) const MAX_SAFE_INTEGER: i128 = (1 << 53) - 1;

/// Maximum nesting of `any` inside `any`. Each level may in turn be as deep as a type.
const MAX_ANY_DEPTH: usize = 4;

impl DocumentSchema {
    /// Decodes a document of an attachment.
    pub fn read_document(&self, attachment: &str, json: &Json) -> Result<DocumentValue, TypeMismatch> {
        decode(self, self.must_have(attachment)?, json)
    }

    /// Encodes a document of an attachment.
    pub fn write_document(&self, attachment: &str, document: &DocumentValue) -> Result<Json, TypeMismatch> {
        Ok(encode(self.must_have(attachment)?, document))
    }

    fn must_have(&self, attachment: &str) -> Result<&ValueType, TypeMismatch> {
        self.document_type(attachment)
            .ok_or_else(|| TypeMismatch::new(format!("the schema has no attachment `{attachment}`")))
    }
}

/// Decodes a value of type `kind`.
pub(crate) fn decode(
    schema: &DocumentSchema,
    kind: &ValueType,
    json: &Json,
) -> Result<DocumentValue, TypeMismatch> {
    ValueDecoder { schema, any_depth: 0, order: MemberOrder::Sorted }.value(kind, json)
}

/// Like [`decode`], for values that people write: the members of sets and maps may come in any order, but only once.
pub(crate) fn decode_in_any_order(
    schema: &DocumentSchema,
    kind: &ValueType,
    json: &Json,
) -> Result<DocumentValue, TypeMismatch> {
    ValueDecoder { schema, any_depth: 0, order: MemberOrder::Any }.value(kind, json)
}

/// The order in which members of sets and maps must be listed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MemberOrder {
    Sorted,
    Any,
}

struct ValueDecoder<'a> {
    schema: &'a DocumentSchema,
    any_depth: usize,
    order: MemberOrder,
}

impl ValueDecoder<'_> {
    fn value(&self, kind: &ValueType, json: &Json) -> Result<DocumentValue, TypeMismatch> {
        let wrong = || TypeMismatch::new(format!("this is not of type `{kind}`: {}", excerpt(json)));
        Ok(match kind {
            ValueType::Bool => DocumentValue::Bool(json.as_bool().ok_or_else(wrong)?),
            ValueType::Integer(integer) => decode_integer(*integer, json).ok_or_else(wrong)?,
            ValueType::Float => decode_float(json).ok_or_else(wrong)?,
            ValueType::Double => {
                DocumentValue::Double(json.as_f64().and_then(FiniteDouble::new).ok_or_else(wrong)?)
            }
            ValueType::String | ValueType::Key(_) => {
                DocumentValue::Text(json.as_str().ok_or_else(wrong)?.into())
            }
            ValueType::Bytes => DocumentValue::Bytes(lower_hex(json).ok_or_else(wrong)?.into()),
            ValueType::Uuid => DocumentValue::Uuid(decode_uuid(json).ok_or_else(wrong)?),
            ValueType::Blob => {
                DocumentValue::Blob(json.as_str().and_then(|text| text.parse().ok()).ok_or_else(wrong)?)
            }
            ValueType::Enum(enumeration) => {
                let case = json.as_str().ok_or_else(wrong)?;
                rank(enumeration.cases.iter().position(|known| **known == *case))
                    .map(DocumentValue::Enum)
                    .ok_or_else(wrong)?
            }
            ValueType::Struct(structure) => self.structure(structure, json.as_object().ok_or_else(wrong)?)?,
            ValueType::Optional(inner) => self.optional(inner, json).ok_or_else(wrong)??,
            ValueType::Tuple(parts) => self.tuple(parts, json.as_array().ok_or_else(wrong)?)?,
            ValueType::Vector(inner) => {
                DocumentValue::List(self.items(inner, json.as_array().ok_or_else(wrong)?)?.into())
            }
            ValueType::Set(inner) => self.set(inner, json.as_array().ok_or_else(wrong)?)?,
            ValueType::Map(entry) => self.map(&entry.0, &entry.1, json.as_array().ok_or_else(wrong)?)?,
            ValueType::XArray(inner) => self.xarray(inner, json.as_object().ok_or_else(wrong)?)?,
            ValueType::Variant(arms) => self.variant(arms, json).ok_or_else(wrong)??,
            ValueType::Any => self.any(json).ok_or_else(wrong)??,
        })
    }

    fn structure(
        &self,
        structure: &StructDefinition,
        members: &Map<String, Json>,
    ) -> Result<DocumentValue, TypeMismatch> {
        let mut fields = Vec::with_capacity(structure.fields.len());
        let mut used = 0;
        for field in &structure.fields {
            let place = || format!(".{}", field.name);
            match (members.get(&*field.name), &field.default) {
                (Some(json), _) => {
                    used += 1;
                    fields
                        .push(self.value(&field.kind, json).map_err(|misfit| misfit.with_prefix(&place()))?);
                }
                (None, Some(default)) => fields.push(default.clone()),
                (None, None) => return Err(TypeMismatch::new("the field is missing").with_prefix(&place())),
            }
        }
        if used < members.len() {
            let unknown =
                members.keys().find(|name| structure.fields.iter().all(|field| *field.name != ***name));
            let name = unknown.map_or("", String::as_str);
            return Err(TypeMismatch::new(format!("`{}` has no such field", structure.name))
                .with_prefix(&format!(".{name}")));
        }
        Ok(DocumentValue::Struct(fields.into()))
    }

    fn optional(&self, inner: &ValueType, json: &Json) -> Option<Result<DocumentValue, TypeMismatch>> {
        if json.is_null() {
            return Some(Ok(DocumentValue::Optional(None)));
        }
        let value = self.value(inner, only_member(json, "some")?);
        Some(
            value
                .map(|value| DocumentValue::Optional(Some(Arc::new(value))))
                .map_err(|misfit| misfit.with_prefix(".some")),
        )
    }

    fn tuple(&self, parts: &[ValueType], items: &[Json]) -> Result<DocumentValue, TypeMismatch> {
        if parts.len() != items.len() {
            return Err(TypeMismatch::new(format!(
                "the tuple has {} parts, not {}",
                parts.len(),
                items.len()
            )));
        }
        let mut values = Vec::with_capacity(items.len());
        for (index, (part, item)) in parts.iter().zip(items).enumerate() {
            values.push(self.value(part, item).map_err(|misfit| misfit.with_prefix(&format!("[{index}]")))?);
        }
        Ok(DocumentValue::List(values.into()))
    }

    fn items(&self, kind: &ValueType, items: &[Json]) -> Result<Vec<DocumentValue>, TypeMismatch> {
        let mut values = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            values.push(self.value(kind, item).map_err(|misfit| misfit.with_prefix(&format!("[{index}]")))?);
        }
        Ok(values)
    }

    fn set(&self, kind: &ValueType, items: &[Json]) -> Result<DocumentValue, TypeMismatch> {
        let mut values = self.items(kind, items)?;
        if self.order == MemberOrder::Any {
            values.sort();
        }
        check_sorted(values.iter())?;
        Ok(DocumentValue::Set(values.into_iter().collect::<OrdSet<_>>()))
    }

    fn map(&self, key: &ValueType, value: &ValueType, items: &[Json]) -> Result<DocumentValue, TypeMismatch> {
        let mut entries = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let place = format!("[{index}]");
            let Some([k, v]) = item.as_array().map(Vec::as_slice) else {
                return Err(TypeMismatch::new("an entry of a map is [key, value]").with_prefix(&place));
            };
            let k = self.value(key, k).map_err(|misfit| misfit.with_prefix("[0]").with_prefix(&place))?;
            let v = self.value(value, v).map_err(|misfit| misfit.with_prefix("[1]").with_prefix(&place))?;
            entries.push((k, v));
        }
        if self.order == MemberOrder::Any {
            entries.sort_by(|(one, _), (other, _)| one.cmp(other));
        }
        check_sorted(entries.iter().map(|(key, _)| key))?;
        Ok(DocumentValue::Map(entries.into_iter().collect::<OrdMap<_, _>>()))
    }

    fn xarray(&self, kind: &ValueType, members: &Map<String, Json>) -> Result<DocumentValue, TypeMismatch> {
        let wrong = |member: &str, why: &str| TypeMismatch::new(why).with_prefix(&format!(".{member}"));
        let (Some(Json::Array(order)), Some(Json::Object(elements))) =
            (members.get("order"), members.get("elements"))
        else {
            return Err(TypeMismatch::new("an xarray needs `order`, a list, and `elements`, an object"));
        };
        if members.keys().any(|name| !["order", "elements", "disabled"].contains(&name.as_str())) {
            return Err(TypeMismatch::new("an xarray has `order`, `elements` and `disabled` only"));
        }
        let disabled = disabled_positions(members)?;
        let mut array = XArray::default();
        let (mut n_elements, mut n_disabled) = (0, 0);
        for position in order {
            let position = position_from_json(position).map_err(|misfit| misfit.with_prefix(".order"))?;
            if array.contains_position(&position) {
                return Err(wrong("order", &format!("`{position}` is there twice")));
            }
            let content = match (elements.get(&*position), disabled.binary_search(&&*position).is_ok()) {
                (Some(_), true) => return Err(wrong("elements", &format!("`{position}` is disabled"))),
                (None, true) => {
                    n_disabled += 1;
                    SlotContent::Disabled
                }
                (None, false) => SlotContent::Tombstone,
                (Some(json), false) => {
                    n_elements += 1;
                    let value = self.value(kind, json);
                    SlotContent::Visible(value.map_err(|m| m.with_prefix(&format!(".elements.{position}")))?)
                }
            };
            array.push(position, content);
        }
        if n_elements != elements.len() || n_disabled != disabled.len() {
            return Err(wrong("order", "a position with an element, or disabled, is not listed"));
        }
        Ok(DocumentValue::XArray(Arc::new(array)))
    }

    fn variant(&self, arms: &[ValueType], json: &Json) -> Option<Result<DocumentValue, TypeMismatch>> {
        let (text, json) = typed_members(json)?;
        let arm = arms.iter().position(|arm| arm.to_string() == text)?;
        let value = self.value(&arms[arm], json);
        let arm = rank(Some(arm))?;
        Some(
            value
                .map(|value| DocumentValue::Variant(arm, Arc::new(value)))
                .map_err(|misfit| misfit.with_prefix(".value")),
        )
    }

    fn any(&self, json: &Json) -> Option<Result<DocumentValue, TypeMismatch>> {
        if json.is_null() {
            return Some(Ok(DocumentValue::Any(None)));
        }
        let (text, json) = typed_members(json)?;
        Some(self.typed(text, json).map(|typed| DocumentValue::Any(Some(Arc::new(typed)))))
    }

    fn typed(&self, text: &str, json: &Json) -> Result<TypedValue, TypeMismatch> {
        let kind = self.schema.parse_type(text).map_err(|why| TypeMismatch::new(why).with_prefix(".type"))?;
        if kind.to_string() != text {
            return Err(TypeMismatch::new(format!("the type is written `{kind}`")).with_prefix(".type"));
        }
        if self.any_depth >= MAX_ANY_DEPTH {
            return Err(TypeMismatch::new(format!("`any` is nested more than {MAX_ANY_DEPTH} deep")));
        }
        let inner = ValueDecoder { any_depth: self.any_depth + 1, ..*self };
        let value = inner.value(&kind, json).map_err(|misfit| misfit.with_prefix(".value"))?;
        Ok(TypedValue { text: text.into(), kind, value })
    }
}

const _: () =
    assert!(MAX_TYPE_DEPTH * (MAX_ANY_DEPTH + 1) < 256, "walking a value must not exhaust the stack");

/// Shortens the offending JSON for an error message.
fn excerpt(json: &Json) -> String {
    let text = json.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn rank(position: Option<usize>) -> Option<u16> {
    u16::try_from(position?).ok()
}

fn only_member<'a>(json: &'a Json, name: &str) -> Option<&'a Json> {
    let members = json.as_object()?;
    members.get(name).filter(|_| members.len() == 1)
}

fn typed_members(json: &Json) -> Option<(&str, &Json)> {
    let members = json.as_object().filter(|members| members.len() == 2)?;
    Some((members.get("type")?.as_str()?, members.get("value")?))
}

fn check_sorted<'a>(mut values: impl Iterator<Item = &'a DocumentValue>) -> Result<(), TypeMismatch> {
    let Some(mut last) = values.next() else {
        return Ok(());
    };
    for (index, value) in values.enumerate() {
        if last >= value {
            return Err(TypeMismatch::new("must be sorted, without duplicates")
                .with_prefix(&format!("[{}]", index + 1)));
        }
        last = value;
    }
    Ok(())
}

/// Decodes the name of a position.
pub(crate) fn position_from_json(json: &Json) -> Result<SharedText, TypeMismatch> {
    match json.as_str() {
        Some(text) if !text.is_empty() && text != END_POSITION => Ok(text.into()),
        _ => Err(TypeMismatch::new(format!("a position is a text, not empty and not `{END_POSITION}`"))),
    }
}

fn disabled_positions(members: &Map<String, Json>) -> Result<Vec<&str>, TypeMismatch> {
    let wrong = || TypeMismatch::new("`disabled` is a sorted list of positions; without any it is left out");
    let Some(json) = members.get("disabled") else {
        return Ok(Vec::new());
    };
    let names: Option<Vec<&str>> = json.as_array().ok_or_else(wrong)?.iter().map(Json::as_str).collect();
    names.filter(|names| !names.is_empty() && names.is_sorted_by(|a, b| a < b)).ok_or_else(wrong)
}

fn decode_integer(integer: IntegerType, json: &Json) -> Option<DocumentValue> {
    let is_safe = |number: &i128| (-MAX_SAFE_INTEGER..=MAX_SAFE_INTEGER).contains(number);
    match json {
        Json::Number(number) => integer.value(integer_value(number).filter(is_safe)?),
        Json::String(text) => {
            let number: i128 = text.parse().ok()?;
            integer.value(number).filter(|_| !is_safe(&number) && number.to_string() == *text)
        }
        _ => None,
    }
}

/// Returns the integer that a JSON number denotes; `1.0` counts as one.
fn integer_value(number: &Number) -> Option<i128> {
    if let Some(number) = number.as_i64() {
        return Some(number.into());
    }
    if let Some(number) = number.as_u64() {
        return Some(number.into());
    }
    let double = number.as_f64().filter(|double| double.fract() == 0.0 && double.abs() < 1e18)?;
    #[expect(clippy::cast_possible_truncation, reason = "whole and small enough, so the cast is exact")]
    Some(double as i128)
}

fn decode_float(json: &Json) -> Option<DocumentValue> {
    let written = FiniteDouble::new(json.as_f64()?)?;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the next line refuses what did not survive the cast"
    )]
    let value = FiniteDouble::new(shortest(written.get() as f32)?)?;
    (value == written).then_some(DocumentValue::Double(value))
}

/// Returns the number denoted by the shortest decimal text of a 32-bit float.
fn shortest(number: f32) -> Option<f64> {
    number.to_string().parse().ok()
}

fn lower_hex(json: &Json) -> Option<Vec<u8>> {
    let text = json.as_str()?;
    hex::decode(text).ok().filter(|_| !text.bytes().any(|byte| byte.is_ascii_uppercase()))
}

fn decode_uuid(json: &Json) -> Option<[u8; 16]> {
    let text = json.as_str()?;
    let bytes: [u8; 16] = hex::decode(text.replace('-', "")).ok()?.try_into().ok()?;
    (uuid_text(bytes) == text).then_some(bytes)
}

pub(crate) fn uuid_text(bytes: [u8; 16]) -> String {
    let digits = hex::encode(bytes);
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}
