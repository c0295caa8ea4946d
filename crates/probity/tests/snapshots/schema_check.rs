//! Checks that every document fits the schema that it names.

use crate::published_schemas;
use serde_json::Value;

pub(crate) fn check(case: &str, document: &Value) {
    let errors = published_schemas::errors(document);
    assert!(errors.is_empty(), "{case} does not fit its schema:\n{}", errors.join("\n"));
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
