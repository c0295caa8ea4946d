//! Human-readable paths: `votes["ann"]`, `steps[0].name`, `notes<p1>`, `after?`, `labels{"blue"}`.
//!
//! Fields are names separated by dots. `[…]` is an index of a vector or tuple, or a map key in JSON; `<…>` is a
//! position of an xarray; `?` is the content of an optional; `{…}` is a set member. The empty text is the document
//! itself. Parsing needs the document's type, since `[0]` may be an index or a key.

use crate::codec::TypeMismatch;
use crate::schema::DocumentSchema;
use crate::value::types::ValueType;
use serde_json::{Value as Json, json};

/// Formats a path given in its JSON form.
pub fn path_text(path: &Json) -> String {
    let mut text = String::new();
    for component in path.as_array().into_iter().flatten() {
        let Some((name, inside)) = component.as_object().and_then(|members| members.iter().next()) else {
            continue;
        };
        let part = match (name.as_str(), inside.as_str()) {
            ("field", Some(field)) if text.is_empty() => field.to_owned(),
            ("field", Some(field)) => format!(".{field}"),
            ("index" | "key", _) => format!("[{inside}]"),
            ("position", Some(position)) => format!("<{position}>"),
            ("element", _) => format!("{{{inside}}}"),
            _ => "?".to_owned(),
        };
        text.push_str(&part);
    }
    text
}

impl DocumentSchema {
    /// Parses the output of [`path_text`] into the JSON form of a path.
    pub fn parse_path(&self, attachment: &str, text: &str) -> Result<Json, TypeMismatch> {
        let kind = self.document_type(attachment);
        let mut kind = kind.ok_or_else(|| TypeMismatch::new(format!("no attachment `{attachment}`")))?;
        let mut rest = text;
        let mut components = Vec::new();
        while !rest.is_empty() {
            let place = |misfit: TypeMismatch| misfit.with_prefix(&format!("`{text}` at `{rest}`"));
            let (component, below, after) = step(kind, rest, components.is_empty()).map_err(place)?;
            components.push(component);
            (kind, rest) = (below, after);
        }
        Ok(Json::Array(components))
    }
}

/// Parses one component; returns its JSON form, the type below it and the remaining text.
fn step<'t, 'r>(
    kind: &'t ValueType,
    rest: &'r str,
    is_first: bool,
) -> Result<(Json, &'t ValueType, &'r str), TypeMismatch> {
    let wrong = || TypeMismatch::new(format!("there is no such part in `{kind}`"));
    match kind {
        ValueType::Struct(structure) => {
            let name = if is_first { rest } else { rest.strip_prefix('.').ok_or_else(wrong)? };
            // Take the longest match: one field's name may be a prefix of another's.
            let fields = structure.fields.iter().filter(|field| name.starts_with(&*field.name));
            let field = fields.max_by_key(|field| field.name.len()).ok_or_else(wrong)?;
            Ok((json!({ "field": *field.name }), &field.kind, &name[field.name.len()..]))
        }
        ValueType::Optional(inner) => {
            let after = rest.strip_prefix('?').ok_or_else(wrong)?;
            Ok((json!({ "unwrap": true }), inner, after))
        }
        ValueType::XArray(inner) => {
            let inside = rest.strip_prefix('<').and_then(|rest| rest.split_once('>'));
            let (position, after) = inside.ok_or_else(wrong)?;
            Ok((json!({ "position": position }), inner, after))
        }
        ValueType::Vector(inner) => {
            let (index, after) = bracketed(rest, '[', ']').ok_or_else(wrong)?;
            Ok((json!({ "index": index }), inner, after))
        }
        ValueType::Tuple(parts) => {
            let (index, after) = bracketed(rest, '[', ']').ok_or_else(wrong)?;
            let part = index.as_u64().and_then(|index| parts.get(usize::try_from(index).ok()?));
            Ok((json!({ "index": index }), part.ok_or_else(wrong)?, after))
        }
        ValueType::Map(entry) => {
            let (key, after) = bracketed(rest, '[', ']').ok_or_else(wrong)?;
            Ok((json!({ "key": key }), &entry.1, after))
        }
        ValueType::Set(inner) => {
            let (element, after) = bracketed(rest, '{', '}').ok_or_else(wrong)?;
            Ok((json!({ "element": element }), inner, after))
        }
        _ => Err(wrong()),
    }
}

/// Returns the JSON between brackets, up to the first closing bracket that completes it.
fn bracketed(text: &str, open: char, close: char) -> Option<(Json, &str)> {
    let inside = text.strip_prefix(open)?;
    inside.match_indices(close).find_map(|(end, _)| {
        let json = probity_core::json::parse(&inside.as_bytes()[..end]).ok()?;
        Some((json, &inside[end + close.len_utf8()..]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> DocumentSchema {
        DocumentSchema::parse(
            "struct Place {\n line: int64\n lines: vector<int64>\n}\n\
             struct Ticket {\n votes: map<string,optional<Place>>\n labels: set<string>\n notes: xarray<Place>\n\
             pair: tuple<int64,map<int64,string>>\n}\nattachment ticket: Ticket",
        )
        .unwrap()
    }

    #[test]
    fn a_path_is_read_as_it_was_written() {
        for (text, json) in [
            ("", json!([])),
            (
                r#"votes["a]b"]?.lines[3]"#,
                json!([{"field": "votes"}, {"key": "a]b"}, {"unwrap": true}, {"field": "lines"}, {"index": 3}]),
            ),
            (r#"labels{"blue"}"#, json!([{"field": "labels"}, {"element": "blue"}])),
            ("notes<p1>.line", json!([{"field": "notes"}, {"position": "p1"}, {"field": "line"}])),
            ("pair[1][0]", json!([{"field": "pair"}, {"index": 1}, {"key": 0}])),
        ] {
            assert_eq!(schema().parse_path("ticket", text), Ok(json.clone()), "{text}");
            assert_eq!(path_text(&json), text);
        }
    }

    #[test]
    fn says_where_a_path_goes_wrong() {
        let error = schema().parse_path("ticket", "notes<p1>.column").unwrap_err().to_string();
        assert_eq!(error, "`notes<p1>.column` at `.column`: there is no such part in `Place`");
        assert!(schema().parse_path("ticket", "votes[ann]").is_err());
        for misplaced in [".votes", "..votes", "notes<p1>line", "notes<p1>..line", "notes."] {
            assert!(schema().parse_path("ticket", misplaced).is_err(), "{misplaced}");
        }
        assert!(schema().parse_path("other", "").is_err());
    }
}
