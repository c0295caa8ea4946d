//! Runs the JSON parser and writer on conformance vectors of kind `canonical_json`.

use crate::{Digest, json};
use serde_json::{Value, json};

pub fn canonical_json(given: &Value) -> Result<Value, String> {
    let text = match (given.get("text"), given.get("bytes_hex")) {
        (Some(Value::String(text)), None) => text.clone().into_bytes(),
        (None, Some(Value::String(digits))) => hex::decode(digits).map_err(|error| error.to_string())?,
        _ => return Err("`given` needs either `text` or `bytes_hex`".into()),
    };
    Ok(match json::parse(&text) {
        Ok(value) => {
            let canonical = json::canonical(&value);
            json!({
                "sha256": Digest::of(&canonical),
                "canonical": String::from_utf8(canonical).map_err(|error| error.to_string())?,
            })
        }
        Err(error) => json!({ "error": error.reason.as_str() }),
    })
}
