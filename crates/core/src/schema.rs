//! The JSON schemas of types whose JSON form is written by hand.

use schemars::{Schema, json_schema};

/// Implements `JsonSchema` for a type with a hand-written `Serialize`, inline in every schema that uses it.
#[macro_export]
macro_rules! json_schema_of {
    ($type:ty, $schema:expr) => {
        impl $crate::schema::JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                ::std::stringify!($type).into()
            }

            fn json_schema(_: &mut $crate::schema::SchemaGenerator) -> $crate::schema::JsonSchemaValue {
                $schema
            }
        }
    };
}

pub use schemars::{JsonSchema, Schema as JsonSchemaValue, SchemaGenerator};

/// The schema of bytes in JSON: text, or hex where the bytes are not UTF-8.
pub fn bytes() -> Schema {
    json_schema!({
        "description": "Text, or hex where the bytes are not UTF-8",
        "anyOf": [
            { "type": "string" },
            {
                "type": "object",
                "required": ["bytes_hex"],
                "properties": { "bytes_hex": { "type": "string", "pattern": "^([0-9a-f]{2})+$" } },
                "additionalProperties": false
            }
        ]
    })
}

/// The schema of a list of bytes.
pub fn list_of_bytes() -> Schema {
    json_schema!({ "type": "array", "items": bytes() })
}

/// The schema of a string of one form.
pub fn text(pattern: &str) -> Schema {
    json_schema!({ "type": "string", "pattern": pattern })
}
