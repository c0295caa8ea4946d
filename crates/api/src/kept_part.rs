//! Parts of a stored answer that is read back later.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;

/// A part of a stored answer: built now as a type, or read back unchanged, perhaps from another version.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub enum KeptPart<T> {
    #[serde(skip_deserializing)]
    Made(Box<T>),
    Kept(Value),
}

impl<T> From<T> for KeptPart<T> {
    fn from(part: T) -> Self {
        Self::Made(Box::new(part))
    }
}

impl<T: JsonSchema> JsonSchema for KeptPart<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}
