//! The arguments shared by every tool about a change: the tree and the caller.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// A request with its tree and its caller. Not `#[serde(flatten)]`, which cannot refuse unknown arguments.
#[derive(Debug)]
pub(super) struct CallerArguments<R> {
    pub(super) root: Option<String>,
    pub(super) owner: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) request: R,
}

const SHARED_ARGUMENTS: [(&str, &str); 3] = [
    ("root", "Root of the tree [the server's]"),
    ("owner", "Handle from an earlier answer [that of this session's start; start: a new owner]"),
    ("agent", "What people call this agent"),
];

impl<'de, R: DeserializeOwned> Deserialize<'de> for CallerArguments<R> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = Map::deserialize(deserializer)?;
        // Many clients send every argument, so null means that it was not given.
        members.retain(|_, value| !value.is_null());
        let mut text = |name: &str| match members.remove(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(D::Error::custom(format_args!("`{name}` is a text"))),
        };
        Ok(Self {
            root: text("root")?,
            owner: text("owner")?,
            agent: text("agent")?,
            request: serde_json::from_value(Value::Object(members)).map_err(D::Error::custom)?,
        })
    }
}

impl<R: JsonSchema> JsonSchema for CallerArguments<R> {
    fn schema_name() -> Cow<'static, str> {
        R::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = R::json_schema(generator);
        // The tool itself already says what it is for.
        schema.remove("description");
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            for (name, description) in SHARED_ARGUMENTS {
                let member = [("type", "string"), ("description", description)];
                let member: Map<String, Value> =
                    member.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
                properties.insert(name.to_owned(), member.into());
            }
        }
        schema
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Wish {
        what: String,
        count: Option<u32>,
    }

    fn read(arguments: Value) -> Result<CallerArguments<Wish>, String> {
        serde_json::from_value(arguments).map_err(|error| error.to_string())
    }

    #[test]
    fn a_request_is_read_beside_its_caller_and_nothing_else_is_taken() {
        let read_all = read(serde_json::json!({ "what": "x", "agent": "ann", "root": null, "count": 2 }));
        let arguments = read_all.expect("is read");
        assert_eq!((arguments.agent.as_deref(), arguments.root), (Some("ann"), None));
        assert_eq!((arguments.request.what.as_str(), arguments.request.count), ("x", Some(2)));
        let refused = read(serde_json::json!({ "what": "x", "color": "red" })).expect_err("is refused");
        assert!(refused.contains("unknown field `color`"), "{refused}");
        assert!(read(serde_json::json!({ "what": "x", "owner": 1 })).is_err());
    }

    #[test]
    fn the_schema_has_the_members_of_both() {
        let schema = schemars::schema_for!(CallerArguments<Wish>).to_value();
        for name in ["what", "count", "root", "owner", "agent"] {
            assert!(schema["properties"][name].is_object(), "{name}: {schema}");
        }
        assert_eq!(schema["required"], serde_json::json!(["what"]));
    }
}
