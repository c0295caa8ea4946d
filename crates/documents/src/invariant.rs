//! Invariants: conditions on a whole state, checked after a merge.
//!
//! A merge can lose nothing and still be wrong: two documents with one name, a dangling reference, a value out of
//! range. Such violations are reported separately from conflicts.

use crate::codec;
use crate::op::DocumentId;
use crate::path::{self, read};
use crate::schema::DocumentSchema;
use crate::state::CommitState;
use crate::value::types::ValueType;
use crate::value::{DocumentValue, SharedText};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// A condition that must hold over a state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Invariant {
    /// No two documents of the attachment have the same value at the path.
    Unique {
        /// The attachment to check.
        attachment: String,
        /// Path of the value.
        path: Json,
    },
    /// Every `key` inside the attachment's documents names an existing document.
    References {
        /// The attachment to check.
        attachment: String,
    },
    /// The value at the path lies within the limits, inclusive.
    Range {
        /// The attachment to check.
        attachment: String,
        /// Path of the value.
        path: Json,
        /// The smallest allowed value; no lower limit if missing.
        #[serde(default)]
        min: Option<Json>,
        /// The largest allowed value; no upper limit if missing.
        #[serde(default)]
        max: Option<Json>,
    },
}

/// A document that violates an invariant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct InvariantViolation {
    /// Index of the invariant in the policy.
    pub invariant: usize,
    /// The document's attachment.
    pub attachment: SharedText,
    /// The document's key.
    pub key: SharedText,
    /// The violation, in words.
    pub why: String,
}

/// An invariant that does not fit the schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invariant {index}: {why}")]
pub struct BadInvariant {
    pub index: usize,
    pub why: String,
}

/// Checks invariants over a state. Violations are ordered by invariant, then document.
pub fn check_invariants(
    schema: &DocumentSchema,
    state: &CommitState,
    invariants: &[Invariant],
) -> Result<Vec<InvariantViolation>, BadInvariant> {
    let mut violations = Vec::new();
    for (index, invariant) in invariants.iter().enumerate() {
        let broken = invariant.check(schema, state).map_err(|why| BadInvariant { index, why })?;
        violations.extend(broken.into_iter().map(|(id, why)| InvariantViolation {
            invariant: index,
            attachment: id.attachment.clone(),
            key: id.key.clone(),
            why,
        }));
    }
    Ok(violations)
}

type ViolatingDocuments<'s> = Vec<(&'s DocumentId, String)>;

impl Invariant {
    fn attachment(&self) -> &str {
        match self {
            Self::Unique { attachment, .. }
            | Self::References { attachment }
            | Self::Range { attachment, .. } => attachment,
        }
    }

    fn check<'s>(
        &self,
        schema: &DocumentSchema,
        state: &'s CommitState,
    ) -> Result<ViolatingDocuments<'s>, String> {
        let name = self.attachment();
        let kind = schema.document_type(name).ok_or_else(|| format!("no attachment `{name}`"))?;
        let documents = state.of_attachment(name);
        match self {
            Self::Unique { path, .. } => {
                let (path, _) = path::decode(schema, kind, path).map_err(|misfit| misfit.to_string())?;
                Ok(unique(documents.filter_map(|(id, document)| Some((id, read(document, &path)?)))))
            }
            Self::References { .. } => Ok(documents
                .filter_map(|(id, document)| Some((id, dangling(kind, document, state)?)))
                .map(|(id, (attachment, key))| {
                    (id, format!("names `{attachment}/{key}`, which does not exist"))
                })
                .collect()),
            Self::Range { path, min, max, .. } => {
                let (path, kind) = path::decode(schema, kind, path).map_err(|misfit| misfit.to_string())?;
                let limit = |json: &Option<Json>| {
                    let value = json.as_ref().map(|json| codec::decode(schema, kind, json));
                    value.transpose().map_err(|misfit| misfit.to_string())
                };
                let (min, max) = (limit(min)?, limit(max)?);
                let is_outside = |value: &DocumentValue| {
                    min.as_ref().is_some_and(|min| value < min) || max.as_ref().is_some_and(|max| value > max)
                };
                let values = documents.filter_map(|(id, document)| Some((id, read(document, &path)?)));
                let outside = values.filter(|(_, value)| is_outside(value));
                Ok(outside
                    .map(|(id, value)| (id, format!("{} is out of range", codec::encode(kind, value))))
                    .collect())
            }
        }
    }
}

/// Returns the documents whose value an earlier document already has.
fn unique<'s>(values: impl Iterator<Item = (&'s DocumentId, &'s DocumentValue)>) -> ViolatingDocuments<'s> {
    let mut first: BTreeMap<&DocumentValue, &DocumentId> = BTreeMap::new();
    let mut broken = Vec::new();
    for (id, value) in values {
        match first.get(value) {
            Some(other) => broken.push((id, format!("has the same value as `{}`", other.key))),
            None => drop(first.insert(value, id)),
        }
    }
    broken
}

/// Returns the first reference inside a value that names a missing document.
fn dangling(
    kind: &ValueType,
    value: &DocumentValue,
    state: &CommitState,
) -> Option<(SharedText, SharedText)> {
    let within = |kind: &ValueType, value: &DocumentValue| dangling(kind, value, state);
    match (kind, value) {
        (ValueType::Key(attachment), DocumentValue::Text(key)) => {
            let named = DocumentId { attachment: attachment.clone(), key: key.clone() };
            state.document(&named).is_none().then_some((named.attachment, named.key))
        }
        (ValueType::Struct(structure), DocumentValue::Struct(fields)) => {
            structure.fields.iter().zip(fields.iter()).find_map(|(field, value)| within(&field.kind, value))
        }
        (ValueType::Tuple(parts), DocumentValue::List(values)) => {
            parts.iter().zip(values.iter()).find_map(|(kind, value)| within(kind, value))
        }
        (ValueType::Vector(inner), DocumentValue::List(values)) => {
            values.iter().find_map(|value| within(inner, value))
        }
        (ValueType::Optional(inner), DocumentValue::Optional(Some(value))) => within(inner, value),
        (ValueType::Variant(arms), DocumentValue::Variant(arm, value)) => {
            within(&arms[usize::from(*arm)], value)
        }
        (ValueType::Any, DocumentValue::Any(Some(typed))) => within(&typed.kind, &typed.value),
        (ValueType::Set(inner), DocumentValue::Set(members)) => {
            members.iter().find_map(|value| within(inner, value))
        }
        (ValueType::Map(entry), DocumentValue::Map(entries)) => {
            entries.iter().find_map(|(key, value)| within(&entry.0, key).or_else(|| within(&entry.1, value)))
        }
        (ValueType::XArray(inner), DocumentValue::XArray(array)) => {
            array.visible().find_map(|(_, value)| within(inner, value))
        }
        _ => None,
    }
}
