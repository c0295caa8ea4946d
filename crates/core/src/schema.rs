//! JSON schemas of types with a hand-written JSON form.

use schemars::{Schema, json_schema};

/// Implements `JsonSchema` for a type with a hand-written `Serialize`. The schema is inlined wherever the
/// type is used.
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

/// Returns the schema of a byte string, as written by [`bytes::to_json`](crate::bytes::to_json).
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

pub fn list_of_bytes() -> Schema {
    json_schema!({ "type": "array", "items": bytes() })
}

/// Returns the schema of a string that matches `pattern`.
pub fn text(pattern: &str) -> Schema {
    json_schema!({ "type": "string", "pattern": pattern })
}
