//! The JSON form of a schema. Defaults of fields are decoded with the definitions that were read before them.

use crate::codec::{self, TypeMismatch};
use crate::schema::{DocumentSchema, SchemaError};
use crate::value::SharedText;
use crate::value::types::{
    EnumDefinition, FieldDefinition, MAX_TYPE_DEPTH, StructDefinition, TypeExpression, ValueType, is_built_in,
};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;
use std::sync::Arc;

impl DocumentSchema {
    /// Parses `{"version", "enums", "structs", "attachments"}`; the version defaults to 1.
    ///
    /// A field is `[name, type]` or `[name, type, default]`.
    pub fn from_json(json: &Json) -> Result<Self, SchemaError> {
        let json = json.as_object().ok_or_else(|| SchemaError::new("schema", "this is no object"))?;
        let known = ["version", "enums", "structs", "attachments"];
        if let Some(name) = json.keys().find(|name| !known.contains(&name.as_str())) {
            return Err(SchemaError::new("schema", format!("unknown member `{name}`")));
        }
        let version = match json.get("version") {
            None => 1,
            Some(version) => version
                .as_u64()
                .and_then(|version| u32::try_from(version).ok())
                .ok_or_else(|| SchemaError::new("version", "this is not a version number"))?,
        };
        let mut loader = SchemaLoader {
            schema: Self { version, ..Self::default() },
            structs: section(json, "structs")?,
            attachments: section(json, "attachments")?,
            open: Vec::new(),
        };
        for (name, cases) in section(json, "enums")? {
            loader.load_enum(&name, cases)?;
        }
        for name in loader.structs.keys().cloned().collect::<Vec<_>>() {
            loader.load_struct(&name)?;
        }
        for (name, text) in loader.attachments.clone() {
            let kind = loader.resolve_text(text, &name)?;
            loader.schema.attachments.insert(name.as_str().into(), kind);
        }
        Ok(loader.schema)
    }

    /// Writes the form that [`DocumentSchema::from_json`] reads.
    pub fn to_json(&self) -> Json {
        let enums: Map<String, Json> =
            self.enums.values().map(|e| (e.name.to_string(), json!(cases_of(e)))).collect();
        let structs: Map<String, Json> = self
            .structs
            .values()
            .map(|s| (s.name.to_string(), s.fields.iter().map(field_to_json).collect::<Vec<_>>().into()))
            .collect();
        let attachments: Map<String, Json> =
            self.attachments.iter().map(|(name, kind)| (name.to_string(), json!(kind.to_string()))).collect();
        json!({ "version": self.version, "enums": enums, "structs": structs, "attachments": attachments })
    }
}

fn cases_of(enumeration: &EnumDefinition) -> Vec<&str> {
    enumeration.cases.iter().map(AsRef::as_ref).collect()
}

fn field_to_json(field: &FieldDefinition) -> Json {
    let mut json = vec![json!(*field.name), json!(field.kind.to_string())];
    json.extend(field.default.as_ref().map(|default| codec::encode(&field.kind, default)));
    Json::Array(json)
}

fn section(json: &Map<String, Json>, name: &str) -> Result<BTreeMap<String, Json>, SchemaError> {
    match json.get(name) {
        None => Ok(BTreeMap::new()),
        Some(Json::Object(members)) => {
            Ok(members.iter().map(|(name, json)| (name.clone(), json.clone())).collect())
        }
        Some(_) => Err(SchemaError::new(name, "this is no object")),
    }
}

/// A schema under construction: definitions are resolved in the order of their dependencies.
struct SchemaLoader {
    schema: DocumentSchema,
    structs: BTreeMap<String, Json>,
    attachments: BTreeMap<String, Json>,
    /// The structs being resolved; meeting one of them again means recursion.
    open: Vec<String>,
}

impl SchemaLoader {
    fn load_enum(&mut self, name: &str, cases: Json) -> Result<(), SchemaError> {
        self.check_name(name)?;
        let cases: Vec<String> = serde_json::from_value(cases)
            .map_err(|_| SchemaError::new(name, "an enum is a list of case names"))?;
        let repeated = cases.iter().enumerate().any(|(index, case)| cases[..index].contains(case));
        if cases.is_empty() || repeated || cases.len() > usize::from(u16::MAX) {
            return Err(SchemaError::new(name, "an enum has 1 to 65535 cases, none twice"));
        }
        let cases = cases.into_iter().map(SharedText::from).collect();
        let name = SharedText::from(name);
        self.schema.enums.insert(name.clone(), Arc::new(EnumDefinition { name, cases }));
        Ok(())
    }

    fn load_struct(&mut self, name: &str) -> Result<ValueType, SchemaError> {
        if let Some(known) = self.schema.structs.get(name) {
            return Ok(ValueType::Struct(known.clone()));
        }
        if self.open.iter().any(|open| open == name) || self.open.len() >= MAX_TYPE_DEPTH {
            return Err(SchemaError::new(name, "structs are nested in themselves, or too deep"));
        }
        self.check_name(name)?;
        let list: Vec<Vec<Json>> = serde_json::from_value(self.structs[name].clone()).map_err(|_| {
            SchemaError::new(name, "a struct is a list of [field, type] or [field, type, default]")
        })?;
        self.open.push(name.to_owned());
        let mut fields: Vec<FieldDefinition> = Vec::new();
        for entry in list {
            let field = self.load_field(name, entry)?;
            if fields.iter().any(|other| other.name == field.name) {
                return Err(SchemaError::new(format!("{name}.{}", field.name), "is there twice"));
            }
            fields.push(field);
        }
        self.open.pop();
        let depth = fields.iter().map(|field| field.kind.depth()).max().unwrap_or(0) + 1;
        if fields.is_empty() || fields.len() > usize::from(u16::MAX) || depth > MAX_TYPE_DEPTH {
            return Err(SchemaError::new(name, "a struct has 1 to 65535 fields and is not nested too deep"));
        }
        let name = SharedText::from(name);
        let structure = Arc::new(StructDefinition { name: name.clone(), fields, depth });
        self.schema.structs.insert(name, structure.clone());
        Ok(ValueType::Struct(structure))
    }

    fn load_field(&mut self, structure: &str, entry: Vec<Json>) -> Result<FieldDefinition, SchemaError> {
        let mut parts = entry.into_iter();
        let (Some(Json::String(name)), Some(kind), default, None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(SchemaError::new(structure, "a field is [field, type] or [field, type, default]"));
        };
        let place = format!("{structure}.{name}");
        let kind = self.resolve_text(kind, &place)?;
        let default = default.map(|json| codec::decode(&self.schema, &kind, &json)).transpose();
        let default = default.map_err(|TypeMismatch { place: inside, why }| {
            SchemaError::new(format!("{place}: default{inside}"), why)
        })?;
        Ok(FieldDefinition { name: name.as_str().into(), kind, default })
    }

    fn resolve_text(&mut self, json: Json, place: &str) -> Result<ValueType, SchemaError> {
        let Json::String(text) = json else {
            return Err(SchemaError::new(place, "a type is a text"));
        };
        let written = TypeExpression::parse(&text).map_err(|why| SchemaError::new(place, why))?;
        let kind = written
            .resolve(&mut |written| self.resolve_named_type(written).map_err(|error| error.to_string()));
        let kind = kind.map_err(|why| SchemaError::new(place, why))?;
        if kind.depth() > MAX_TYPE_DEPTH {
            return Err(SchemaError::new(place, format!("types are nested more than {MAX_TYPE_DEPTH} deep")));
        }
        Ok(kind)
    }

    fn resolve_named_type(&mut self, written: &TypeExpression) -> Result<ValueType, SchemaError> {
        let name = written.name.as_str();
        if let ("key", [attachment]) = (name, written.arguments.as_slice()) {
            if !attachment.arguments.is_empty() || !self.attachments.contains_key(&attachment.name) {
                return Err(SchemaError::new(&attachment.name, "is no attachment"));
            }
            return Ok(ValueType::Key(attachment.name.as_str().into()));
        }
        match self.schema.enums.get(name) {
            Some(enumeration) if written.arguments.is_empty() => Ok(ValueType::Enum(enumeration.clone())),
            None if self.structs.contains_key(name) && written.arguments.is_empty() => self.load_struct(name),
            _ => Err(SchemaError::new(name, "is no type")),
        }
    }

    fn check_name(&self, name: &str) -> Result<(), SchemaError> {
        let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_') && !name.is_empty();
        if !plain || is_built_in(name) || self.schema.definition(name).is_some() {
            return Err(SchemaError::new(
                name,
                "is not a valid name for a type: empty, taken, or with other characters",
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(json: &Json) -> Result<DocumentSchema, String> {
        DocumentSchema::from_json(json).map_err(|error| error.to_string())
    }

    fn first() -> DocumentSchema {
        load(&json!({
            "enums": {"Phase": ["idea", "draft"]},
            "structs": {"Ticket": [["title", "string"], ["at", "Place"]], "Place": [["line", "int64"]]},
            "attachments": {"ticket": "Ticket", "next": "optional<key<ticket>>"},
        }))
        .unwrap()
    }

    #[test]
    fn a_schema_is_written_as_it_was_read() {
        let schema = first();
        assert_eq!(DocumentSchema::from_json(&schema.to_json()), Ok(schema));
    }

    #[test]
    fn refuses_structs_that_hold_themselves() {
        let error = load(&json!({"structs": {"A": [["b", "B"]], "B": [["a", "vector<A>"]]}})).unwrap_err();
        assert!(error.contains("nested in themselves"), "{error}");
    }

    #[test]
    fn says_which_definition_is_wrong() {
        let error = load(&json!({"structs": {"A": [["b", "Nothing"]]}})).unwrap_err();
        assert_eq!(error, "A.b: Nothing: is no type");
        let error = load(&json!({"structs": {"A": [["b", "uint8", 256]]}})).unwrap_err();
        assert!(error.starts_with("A.b: default"), "{error}");
        assert!(load(&json!({"enums": {"set": ["a"]}})).is_err());
        assert!(load(&json!({"attachments": {"a": "key<b>"}})).is_err());
        assert!(load(&json!({"attachment": {}})).is_err());
    }

    #[test]
    fn grows_by_adding_only() {
        let old = first();
        let grown = |structs: Json, phases: Json| {
            load(&json!({"version": 2, "enums": {"Phase": phases}, "structs": structs,
                "attachments": {"ticket": "Ticket", "next": "optional<key<ticket>>", "more": "bool"}}))
            .unwrap()
        };
        let place = json!([["line", "int64"]]);
        let check = |fields: Json, phases: Json| {
            old.check_successor(&grown(json!({"Ticket": fields, "Place": place}), phases)).is_ok()
        };
        let (title, at) = (json!(["title", "string"]), json!(["at", "Place"]));
        assert!(check(json!([title, at, ["note", "string", ""]]), json!(["idea", "draft", "final"])));
        assert!(!check(json!([title, at, ["note", "string"]]), json!(["idea", "draft"])));
        assert!(!check(json!([at, title]), json!(["idea", "draft"])));
        assert!(!check(json!([title, at]), json!(["draft", "idea"])));
        assert!(old.check_successor(&old).is_err());
    }
}
