//! Answers as JSON documents: each names its schema, which is generated from the type.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::{Map, Value};

/// An answer of Probity: the output of `--json` or of an MCP tool, or a file that Probity writes for programs.
pub trait Answer: Serialize + JsonSchema {
    /// The name and version, such as `probity/start/v1`: the `schema` member of the document.
    const SCHEMA: &'static str;

    /// Returns the document, which begins with its `schema`.
    fn to_document(&self) -> Value
    where
        Self: Sized,
    {
        let mut document = Map::from_iter([("schema".to_owned(), Value::from(Self::SCHEMA))]);
        // An answer is a struct with text keys, so it always becomes an object.
        match serde_json::to_value(self) {
            Ok(Value::Object(members)) => document.extend(members),
            other => unreachable!("{} is not an object: {other:?}", Self::SCHEMA),
        }
        Value::Object(document)
    }
}

#[derive(Debug, Clone, Copy)]
pub struct SchemaEntry {
    pub name: &'static str,
    generate: fn() -> Value,
}

impl SchemaEntry {
    pub const fn of<A: Answer>() -> Self {
        Self { name: A::SCHEMA, generate: schema_of::<A> }
    }

    pub fn schema(&self) -> Value {
        (self.generate)()
    }

    /// Returns the name of its file in `docs/schemas`: `start.v1.json` for `probity/start/v1`.
    pub fn file_name(&self) -> String {
        format!("{}.json", self.name.trim_start_matches("probity/").replace('/', "."))
    }
}

fn schema_of<A: Answer>() -> Value {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema: Schema = generator.into_root_schema_for::<A>();
    let file = SchemaEntry { name: A::SCHEMA, generate: schema_of::<A> }.file_name();
    schema.insert("$id".into(), format!("https://probity.dev/schemas/{file}").into());
    schema.insert("title".into(), A::SCHEMA.into());
    let mut schema = schema.to_value();
    schema["properties"]["schema"] = Map::from_iter([("const".to_owned(), Value::from(A::SCHEMA))]).into();
    let mut required: Vec<Value> = schema["required"].as_array().cloned().unwrap_or_default();
    required.insert(0, "schema".into());
    schema["required"] = required.into();
    close_objects(&mut schema);
    schema
}

/// Makes every object that lists its members refuse all others, so that an answer has no undocumented member.
fn close_objects(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            // A member may itself be named `properties`; such a map has no `type` beside it.
            let lists_members = members.get("properties").is_some_and(Value::is_object)
                && members.get("type").is_some_and(|kind| kind.is_string() || kind.is_array());
            if lists_members {
                members.entry("additionalProperties").or_insert(false.into());
            }
            members.values_mut().for_each(close_objects);
        }
        Value::Array(items) => items.iter_mut().for_each(close_objects),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A greeting.
    #[derive(Serialize, JsonSchema)]
    struct Greeting {
        /// The person greeted.
        name: String,
        times: Option<u32>,
    }

    impl Answer for Greeting {
        const SCHEMA: &'static str = "probity/greeting/v1";
    }

    #[test]
    fn a_document_names_its_schema() {
        let document = Greeting { name: "Ann".into(), times: None }.to_document();
        assert_eq!(document, json!({ "schema": "probity/greeting/v1", "name": "Ann", "times": null }));
    }

    #[test]
    fn a_schema_follows_from_the_type() {
        let entry = SchemaEntry::of::<Greeting>();
        assert_eq!(entry.file_name(), "greeting.v1.json");
        let schema = entry.schema();
        assert_eq!(schema["title"], "probity/greeting/v1");
        assert_eq!(schema["description"], "A greeting.");
        assert_eq!(schema["properties"]["schema"], json!({ "const": "probity/greeting/v1" }));
        assert_eq!(
            schema["properties"]["name"],
            json!({ "description": "The person greeted.", "type": "string" })
        );
        assert_eq!(schema["required"], json!(["schema", "name", "times"]));
        assert_eq!(schema["additionalProperties"], false, "another member is refused");
    }
}
