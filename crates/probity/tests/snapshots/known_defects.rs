//! Documents that do not fit their published schema, and why. A row goes when its document fits.

use crate::published_schemas;
use serde_json::Value;

/// The case, as `<area>/<story>_<case>`, and what is wrong.

/// Holds the document of a case against the schema that it names.
pub(crate) fn check(case: &str, document: &Value) {
    let errors = published_schemas::errors(document);
    let known = KNOWN_DEFECTS.iter().find(|(name, _)| *name == case);
    match known {
        None => assert!(errors.is_empty(), "{case} does not fit its schema:\n{}", errors.join("\n")),
        Some((_, reason)) => {
            assert!(!errors.is_empty(), "{case} fits its schema now: delete its row ({reason})");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_document_that_its_schema_does_not_describe_is_noticed() {
        let fits = json!({ "schema": "probity/runs-gc/v1", "removed": [] });
        let errors = |name: &str, value: Value| {
            let mut document = fits.clone();
            document[name] = value;
            published_schemas::errors(&document)
        };
        assert_eq!(errors("removed", json!(["a"])), [""; 0]);
        assert_eq!(errors("removed", json!([1])).len(), 1);
        assert_eq!(errors("another", json!(1)).len(), 1);
        assert_eq!(errors("schema", json!("probity/none/v1")).len(), 1);
    }
}
