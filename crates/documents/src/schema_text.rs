//! The human-readable form of a schema.
//!
//! ```text
//! version 2
//! enum Phase { idea, draft, final }
//! struct Ticket {
//!     title: string
//!     phase: Phase = "idea"      // the value in older documents
//! }
//! attachment ticket: Ticket
//! ```
//!
//! Fields are one per line, a default is JSON, and `//` starts a comment. The form is equivalent to the JSON form, which
//! is the one that is stored.

use crate::codec;
use crate::schema::{DocumentSchema, SchemaError};
use crate::value::types::StructDefinition;
use serde_json::{Map, Value as Json, json};
use std::fmt::Write as _;

impl DocumentSchema {
    /// Parses the readable form.
    pub fn parse(text: &str) -> Result<Self, SchemaError> {
        let mut reader =
            SchemaParser { lines: text.lines().enumerate(), enums: Map::new(), structs: Map::new() };
        let mut attachments = Map::new();
        let mut version = json!(1);
        while let Some((place, line)) = reader.next() {
            let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
            match word {
                "version" => {
                    version = parse_version(rest)
                        .ok_or_else(|| line_error(place, "this is not a version number"))?;
                }
                "enum" => reader.read_enum(place, rest)?,
                "struct" => reader.read_struct(place, rest)?,
                "attachment" => {
                    let (name, kind) =
                        split_name(rest).ok_or_else(|| line_error(place, "write `attachment name: type`"))?;
                    if attachments.insert(name.clone(), json!(kind)).is_some() {
                        return Err(line_error(place, &format!("`{name}` is there twice")));
                    }
                }
                _ => return Err(line_error(place, "write `version`, `enum`, `struct` or `attachment`")),
            }
        }
        let SchemaParser { enums, structs, .. } = reader;
        Self::from_json(
            &json!({ "version": version, "enums": enums, "structs": structs, "attachments": attachments }),
        )
    }

    /// Formats the schema in its readable form.
    pub fn to_text(&self) -> String {
        let mut text = format!("version {}\n", self.version());
        for enumeration in self.enums() {
            let cases: Vec<&str> = enumeration.cases.iter().map(AsRef::as_ref).collect();
            let _ = writeln!(text, "enum {} {{ {} }}", enumeration.name, cases.join(", "));
        }
        for structure in self.structs() {
            write_struct(&mut text, structure);
        }
        for (name, kind) in self.attachments() {
            let _ = writeln!(text, "attachment {name}: {kind}");
        }
        text
    }
}

fn write_struct(text: &mut String, structure: &StructDefinition) {
    let _ = writeln!(text, "struct {} {{", structure.name);
    for field in &structure.fields {
        let _ = write!(text, "    {}: {}", field.name, field.kind);
        if let Some(default) = &field.default {
            let _ = write!(text, " = {}", codec::encode(&field.kind, default));
        }
        text.push('\n');
    }
    text.push_str("}\n");
}

fn line_error(place: usize, why: &str) -> SchemaError {
    SchemaError::new(format!("line {place}"), why)
}

fn parse_version(text: &str) -> Option<Json> {
    text.trim().parse::<u32>().ok().map(Json::from)
}

/// Splits `name: rest`.
fn split_name(text: &str) -> Option<(String, &str)> {
    let (name, rest) = text.split_once(':')?;
    let (name, rest) = (name.trim(), rest.trim());
    (!name.is_empty() && !rest.is_empty()).then(|| (name.to_owned(), rest))
}

struct SchemaParser<'t> {
    lines: std::iter::Enumerate<std::str::Lines<'t>>,
    enums: Map<String, Json>,
    structs: Map<String, Json>,
}

impl SchemaParser<'_> {
    /// Returns the next non-empty line and its number.
    fn next(&mut self) -> Option<(usize, String)> {
        self.lines.find_map(|(index, line)| {
            let line = without_comment(line).trim();
            (!line.is_empty()).then(|| (index + 1, line.to_owned()))
        })
    }

    fn read_enum(&mut self, place: usize, rest: &str) -> Result<(), SchemaError> {
        let form = || line_error(place, "write `enum Name { case, case }`");
        let (name, cases) = rest.split_once('{').ok_or_else(form)?;
        let cases = cases.trim().strip_suffix('}').ok_or_else(form)?;
        let cases: Vec<&str> = cases.split(',').map(str::trim).collect();
        self.define(place, name.trim(), json!(cases), true)
    }

    fn read_struct(&mut self, place: usize, rest: &str) -> Result<(), SchemaError> {
        let name = rest.strip_suffix('{').ok_or_else(|| line_error(place, "write `struct Name {`"))?.trim();
        let mut fields = Vec::new();
        loop {
            let (place, line) = self.next().ok_or_else(|| line_error(place, "the struct has no `}`"))?;
            if line == "}" {
                break;
            }
            fields.push(
                field(&line)
                    .ok_or_else(|| line_error(place, "write `name: type` or `name: type = default`"))?,
            );
        }
        self.define(place, name, json!(fields), false)
    }

    fn define(
        &mut self,
        place: usize,
        name: &str,
        definition: Json,
        is_enum: bool,
    ) -> Result<(), SchemaError> {
        let section = if is_enum { &mut self.enums } else { &mut self.structs };
        match section.insert(name.to_owned(), definition) {
            None => Ok(()),
            Some(_) => Err(line_error(place, &format!("`{name}` is there twice"))),
        }
    }
}

fn field(line: &str) -> Option<Vec<Json>> {
    let (name, rest) = split_name(line)?;
    // A type contains no `=`, so the first one starts the default.
    let Some((kind, default)) = rest.split_once('=') else {
        return Some(vec![json!(name), json!(rest)]);
    };
    let default = probity_core::json::parse(default.trim().as_bytes()).ok()?;
    Some(vec![json!(name), json!(kind.trim()), default])
}

/// Cuts the line at a `//` outside JSON strings.
fn without_comment(line: &str) -> &str {
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (at, c) in line.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            '/' if !is_quoted && line[at..].starts_with("//") => return &line[..at],
            _ => {}
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
        version 2
        enum Phase { idea, draft }   // in the order of their values
        struct Ticket {
            title: string
            site: string = "http://a=b"
            phase: Phase = "idea"
            votes: map<string, set<int64>> = []
        }
        attachment ticket: Ticket
        attachment next: optional<key<ticket>>
    "#;

    #[test]
    fn both_forms_say_the_same() {
        let schema = DocumentSchema::parse(TEXT).unwrap();
        assert_eq!(schema.version(), 2);
        assert_eq!(schema.to_json()["structs"]["Ticket"][1], json!(["site", "string", "http://a=b"]));
        assert_eq!(DocumentSchema::parse(&schema.to_text()), Ok(schema.clone()));
        assert_eq!(DocumentSchema::from_json(&schema.to_json()), Ok(schema));
    }

    #[test]
    fn says_which_line_is_wrong() {
        for (text, place) in [
            ("struct A {\n x: int8", "line 1"),
            ("enum A { a }\nenum A { b }", "line 2"),
            ("struct A {\n x int8\n}", "line 2"),
            ("struct A {\n x: int8 = one\n}", "line 2"),
            ("table A", "line 1"),
            ("version one", "line 1"),
            ("attachment a", "line 1"),
        ] {
            assert_eq!(DocumentSchema::parse(text).unwrap_err().place, place, "{text}");
        }
        assert!(DocumentSchema::parse("attachment a: Nothing").is_err());
    }
}
