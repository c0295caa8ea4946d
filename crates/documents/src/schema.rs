//! The schema: named enums and structs, and the document type of each attachment.
//!
//! A schema is data and only grows: new attachments, new definitions, cases at the end of an enum, fields with a
//! default at the end of a struct. Anything written under an older version can therefore still be read, with the same
//! meaning.

use crate::value::SharedText;
use crate::value::types::{
    EnumDefinition, FieldDefinition, MAX_TYPE_DEPTH, StructDefinition, TypeExpression, ValueType,
};
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DocumentSchema {
    pub(crate) version: u32,
    pub(crate) enums: BTreeMap<SharedText, Arc<EnumDefinition>>,
    pub(crate) structs: BTreeMap<SharedText, Arc<StructDefinition>>,
    pub(crate) attachments: BTreeMap<SharedText, ValueType>,
}

/// The reason data is not a schema, or not a compatible successor of one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {why}")]
pub struct SchemaError {
    /// The definition concerned.
    pub place: String,
    pub why: String,
}

impl SchemaError {
    pub(crate) fn new(place: impl Into<String>, why: impl Into<String>) -> Self {
        Self { place: place.into(), why: why.into() }
    }
}

impl DocumentSchema {
    /// Returns the version, which grows with every change.
    pub const fn version(&self) -> u32 {
        self.version
    }

    pub fn attachments(&self) -> impl Iterator<Item = (&SharedText, &ValueType)> {
        self.attachments.iter()
    }

    pub fn enums(&self) -> impl Iterator<Item = &EnumDefinition> {
        self.enums.values().map(AsRef::as_ref)
    }

    pub fn structs(&self) -> impl Iterator<Item = &StructDefinition> {
        self.structs.values().map(AsRef::as_ref)
    }

    pub fn document_type(&self, attachment: &str) -> Option<&ValueType> {
        self.attachments.get(attachment)
    }

    /// Returns an attachment's name as stored in the schema, so that it can be shared, and its document type.
    pub(crate) fn attachment(&self, name: &str) -> Option<(&SharedText, &ValueType)> {
        self.attachments.get_key_value(name)
    }

    /// Parses the text of a type.
    pub fn parse_type(&self, text: &str) -> Result<ValueType, String> {
        let kind = TypeExpression::parse(text)?.resolve(&mut |written| {
            let name = written.name.as_str();
            match written.arguments.as_slice() {
                [] => self.definition(name).ok_or_else(|| format!("the schema has no type `{name}`")),
                [attachment] if name == "key" && self.attachments.contains_key(attachment.name.as_str()) => {
                    Ok(ValueType::Key(attachment.name.as_str().into()))
                }
                _ => Err(format!("the schema has no type `{name}` with arguments")),
            }
        })?;
        if kind.depth() > MAX_TYPE_DEPTH {
            return Err(format!("types are nested more than {MAX_TYPE_DEPTH} deep"));
        }
        Ok(kind)
    }

    pub(crate) fn definition(&self, name: &str) -> Option<ValueType> {
        let named = self.structs.get(name).cloned().map(ValueType::Struct);
        named.or_else(|| self.enums.get(name).cloned().map(ValueType::Enum))
    }

    /// Checks that `newer` only adds to this schema, so that commits written under this one remain readable.
    pub fn check_successor(&self, newer: &Self) -> Result<(), SchemaError> {
        if newer.version <= self.version {
            return Err(SchemaError::new("version", format!("must be greater than {}", self.version)));
        }
        for (name, old) in &self.enums {
            let new = newer.enums.get(name).ok_or_else(|| removed(name))?;
            if !new.cases.starts_with(&old.cases) {
                return Err(SchemaError::new(&**name, "cases may only be added at the end"));
            }
        }
        for (name, old) in &self.structs {
            check_fields(old, newer.structs.get(name).ok_or_else(|| removed(name))?)?;
        }
        for (name, old) in &self.attachments {
            let new = newer.attachments.get(name).ok_or_else(|| removed(name))?;
            if old.to_string() != new.to_string() {
                return Err(SchemaError::new(&**name, format!("was `{old}` and cannot become `{new}`")));
            }
        }
        Ok(())
    }
}

fn removed(name: &str) -> SchemaError {
    SchemaError::new(name, "was there before and cannot be removed")
}

fn check_fields(old: &StructDefinition, new: &StructDefinition) -> Result<(), SchemaError> {
    let wrong = |field: &FieldDefinition, why: &str| {
        Err(SchemaError::new(format!("{}.{}", old.name, field.name), why))
    };
    for (index, field) in old.fields.iter().enumerate() {
        match new.fields.get(index) {
            Some(same) if same.name == field.name && same.kind.to_string() == field.kind.to_string() => {
                if field.default.is_some() && same.default != field.default {
                    return wrong(field, "its default cannot change: it is what old documents have");
                }
            }
            _ => return wrong(field, "must stay where it is, with its name and type"),
        }
    }
    match new.fields[old.fields.len()..].iter().find(|field| field.default.is_none()) {
        Some(field) => wrong(field, "a new field needs a default for the documents that exist"),
        None => Ok(()),
    }
}
