//! Validates documents against the schemas under `docs/schemas`.

use jsonschema::{Registry, Validator};
use serde_json::{Value, json};
use std::path::Path;

/// Validates `document` against the published schema that it names; returns the errors. Unlisted members are errors too
/// wherever the schema lists members at all: all output is documented.
pub(crate) fn errors(document: &Value) -> Vec<String> {
    let Some(name) = document["schema"].as_str() else { return vec!["it names no schema".into()] };
    let Some(file) = name.strip_prefix("probity/").and_then(|name| name.strip_suffix("/v1")) else {
        return vec![format!("`{name}` is no name of a schema")];
    };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/schemas/{file}.v1.json"));
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => return vec![format!("`{name}` has no published schema: {error}")],
    };
    let mut schema: Value = serde_json::from_str(&text).expect("a schema is JSON");
    close_objects(&mut schema);
    let validator = compile(&schema).unwrap_or_else(|error| panic!("{name} is no JSON Schema: {error}"));
    validator.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

fn compile(schema: &Value) -> Result<Validator, Box<dyn std::error::Error>> {
    let registry = Registry::new().prepare()?;
    Ok(jsonschema::options().with_registry(&registry).build(schema)?)
}

/// Makes every object schema that lists members refuse unlisted ones.
fn close_objects(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            // A member that happens to be named `properties` has no `type` beside it.
            let lists_members = members.get("properties").is_some_and(Value::is_object)
                && members.get("type").is_some_and(|kind| kind.is_string() || kind.is_array());
            if lists_members {
                members.entry("additionalProperties").or_insert(json!(false));
            }
            members.values_mut().for_each(close_objects);
        }
        Value::Array(items) => items.iter_mut().for_each(close_objects),
        _ => {}
    }
}
