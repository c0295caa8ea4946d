//! Types and their text form, such as `map<string,optional<Place>>`.
//!
//! A type contains the definitions that it names, so values can be encoded and decoded with the type alone. Types do
//! not recurse and are at most [`MAX_TYPE_DEPTH`] deep, which bounds every function that walks values.

use crate::value::{DocumentValue, SharedText};
use std::fmt;
use std::sync::Arc;

/// Maximum nesting of types, including the structs they name.
pub const MAX_TYPE_DEPTH: usize = 48;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueType {
    Bool,
    /// `int8` to `int64`, `uint8` to `uint64`.
    Integer(IntegerType),
    /// A 32-bit float.
    Float,
    /// A 64-bit float.
    Double,
    String,
    Bytes,
    Uuid,
    /// The digest of bytes that the store keeps next to its commits.
    Blob,
    /// The key of a document of the named attachment.
    Key(SharedText),
    Enum(Arc<EnumDefinition>),
    Struct(Arc<StructDefinition>),
    Optional(Arc<ValueType>),
    Tuple(Arc<[ValueType]>),
    Variant(Arc<[ValueType]>),
    Any,
    Vector(Arc<ValueType>),
    Set(Arc<ValueType>),
    Map(Arc<(ValueType, ValueType)>),
    XArray(Arc<ValueType>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntegerType {
    Int8,
    Int16,
    Int32,
    Int64,
    Uint8,
    Uint16,
    Uint32,
    Uint64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnumDefinition {
    pub name: SharedText,
    /// The cases, in the order of their values.
    pub cases: Vec<SharedText>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StructDefinition {
    pub name: SharedText,
    pub fields: Vec<FieldDefinition>,
    /// Nesting depth, this struct included.
    pub(crate) depth: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldDefinition {
    pub name: SharedText,
    pub kind: ValueType,
    /// The value for documents written before the field existed.
    pub default: Option<DocumentValue>,
}

impl IntegerType {
    const ALL: [(&'static str, Self); 8] = [
        ("int8", Self::Int8),
        ("int16", Self::Int16),
        ("int32", Self::Int32),
        ("int64", Self::Int64),
        ("uint8", Self::Uint8),
        ("uint16", Self::Uint16),
        ("uint32", Self::Uint32),
        ("uint64", Self::Uint64),
    ];

    fn name(self) -> &'static str {
        Self::ALL[self as usize].0
    }

    /// Converts an integer to a value; `None` if it is out of range.
    pub(crate) fn value(self, number: i128) -> Option<DocumentValue> {
        let signed = |number: Option<i64>| number.map(DocumentValue::Int);
        let unsigned = |number: Option<u64>| number.map(DocumentValue::Uint);
        match self {
            Self::Int8 => signed(i8::try_from(number).ok().map(i64::from)),
            Self::Int16 => signed(i16::try_from(number).ok().map(i64::from)),
            Self::Int32 => signed(i32::try_from(number).ok().map(i64::from)),
            Self::Int64 => signed(i64::try_from(number).ok()),
            Self::Uint8 => unsigned(u8::try_from(number).ok().map(u64::from)),
            Self::Uint16 => unsigned(u16::try_from(number).ok().map(u64::from)),
            Self::Uint32 => unsigned(u32::try_from(number).ok().map(u64::from)),
            Self::Uint64 => unsigned(u64::try_from(number).ok()),
        }
    }
}

impl ValueType {
    /// Returns the nesting depth.
    pub(crate) fn depth(&self) -> usize {
        match self {
            Self::Struct(structure) => structure.depth,
            Self::Optional(inner) | Self::Vector(inner) | Self::Set(inner) | Self::XArray(inner) => {
                inner.depth() + 1
            }
            Self::Tuple(parts) | Self::Variant(parts) => parts.iter().map(Self::depth).max().unwrap_or(0) + 1,
            Self::Map(entry) => entry.0.depth().max(entry.1.depth()) + 1,
            _ => 1,
        }
    }
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => f.write_str("bool"),
            Self::Integer(integer) => f.write_str(integer.name()),
            Self::Float => f.write_str("float"),
            Self::Double => f.write_str("double"),
            Self::String => f.write_str("string"),
            Self::Bytes => f.write_str("bytes"),
            Self::Uuid => f.write_str("uuid"),
            Self::Blob => f.write_str("blob"),
            Self::Key(attachment) => write!(f, "key<{attachment}>"),
            Self::Enum(enumeration) => f.write_str(&enumeration.name),
            Self::Struct(structure) => f.write_str(&structure.name),
            Self::Optional(inner) => write!(f, "optional<{inner}>"),
            Self::Tuple(parts) => list(f, "tuple", parts),
            Self::Variant(arms) => list(f, "variant", arms),
            Self::Any => f.write_str("any"),
            Self::Vector(inner) => write!(f, "vector<{inner}>"),
            Self::Set(inner) => write!(f, "set<{inner}>"),
            Self::Map(entry) => write!(f, "map<{},{}>", entry.0, entry.1),
            Self::XArray(inner) => write!(f, "xarray<{inner}>"),
        }
    }
}

fn list(f: &mut fmt::Formatter<'_>, name: &str, parts: &[ValueType]) -> fmt::Result {
    write!(f, "{name}<")?;
    for (index, part) in parts.iter().enumerate() {
        write!(f, "{}{part}", if index == 0 { "" } else { "," })?;
    }
    f.write_str(">")
}

/// A parsed type whose names are not yet resolved against the schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TypeExpression {
    pub(crate) name: String,
    pub(crate) arguments: Vec<TypeExpression>,
}

impl TypeExpression {
    /// Parses a type; spaces around names are allowed.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut rest = text;
        let written = Self::read(&mut rest, 0)?;
        if rest.trim().is_empty() {
            Ok(written)
        } else {
            Err(format!("`{text}` has `{rest}` after the type"))
        }
    }

    /// Parses one type from the front of `rest`.
    pub(crate) fn read(rest: &mut &str, depth: usize) -> Result<Self, String> {
        if depth > MAX_TYPE_DEPTH {
            return Err(format!("types are nested more than {MAX_TYPE_DEPTH} deep"));
        }
        *rest = rest.trim_start();
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let name = rest[..end].to_owned();
        if name.is_empty() {
            return Err(format!("a type was expected at `{rest}`"));
        }
        *rest = rest[end..].trim_start();
        let mut arguments = Vec::new();
        if let Some(inside) = rest.strip_prefix('<') {
            *rest = inside;
            loop {
                arguments.push(Self::read(rest, depth + 1)?);
                if let Some(after) = rest.strip_prefix(',') {
                    *rest = after;
                } else if let Some(after) = rest.strip_prefix('>') {
                    *rest = after.trim_start();
                    break;
                } else {
                    return Err(format!("`,` or `>` was expected at `{rest}`"));
                }
            }
        }
        Ok(Self { name, arguments })
    }

    /// Resolves the built-in types; names that are not built in are passed to `named`.
    pub(crate) fn resolve(
        &self,
        named: &mut dyn FnMut(&TypeExpression) -> Result<ValueType, String>,
    ) -> Result<ValueType, String> {
        if let Some(plain) = simple_type(&self.name) {
            return if self.arguments.is_empty() {
                Ok(plain)
            } else {
                Err(format!("`{}` takes no arguments", self.name))
            };
        }
        if !CONTAINER_TYPE_NAMES.contains(&self.name.as_str()) {
            return named(self);
        }
        let mut arguments = Vec::new();
        for argument in &self.arguments {
            arguments.push(argument.resolve(named)?);
        }
        container(&self.name, arguments)
    }
}

/// The names of the types that take type arguments.
const CONTAINER_TYPE_NAMES: [&str; 7] = ["optional", "vector", "set", "xarray", "map", "tuple", "variant"];

/// Returns true for the name of a built-in type, which no definition may use.
pub(crate) fn is_built_in(name: &str) -> bool {
    simple_type(name).is_some() || CONTAINER_TYPE_NAMES.contains(&name) || name == "key"
}

fn simple_type(name: &str) -> Option<ValueType> {
    Some(match name {
        "bool" => ValueType::Bool,
        "float" => ValueType::Float,
        "double" => ValueType::Double,
        "string" => ValueType::String,
        "bytes" => ValueType::Bytes,
        "uuid" => ValueType::Uuid,
        "blob" => ValueType::Blob,
        "any" => ValueType::Any,
        _ => ValueType::Integer(IntegerType::ALL.iter().find(|(integer, _)| *integer == name)?.1),
    })
}

fn container(name: &str, mut arguments: Vec<ValueType>) -> Result<ValueType, String> {
    let wrong = |wanted: &str| Err(format!("`{name}` takes {wanted}"));
    match name {
        "tuple" if arguments.is_empty() => wrong("at least one type"),
        "tuple" => Ok(ValueType::Tuple(arguments.into())),
        "variant" => {
            let repeated = arguments.iter().enumerate().any(|(index, arm)| arguments[..index].contains(arm));
            if arguments.is_empty() || repeated {
                return wrong("at least one type, and none twice");
            }
            Ok(ValueType::Variant(arguments.into()))
        }
        "map" => match <[ValueType; 2]>::try_from(arguments) {
            Ok([key, value]) => Ok(ValueType::Map(Arc::new((key, value)))),
            Err(_) => wrong("two types"),
        },
        _ => {
            let (Some(inner), true) = (arguments.pop(), arguments.is_empty()) else {
                return wrong("one type");
            };
            let inner = Arc::new(inner);
            Ok(match name {
                "optional" => ValueType::Optional(inner),
                "vector" => ValueType::Vector(inner),
                "set" => ValueType::Set(inner),
                _ => ValueType::XArray(inner),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, String> {
        TypeExpression::parse(text)?
            .resolve(&mut |name| Err(format!("no `{}`", name.name)))
            .map(|t| t.to_string())
    }

    #[test]
    fn a_type_is_written_as_it_was_read() {
        for text in
            ["map<string,set<int64>>", "tuple<bool,double,bytes>", "variant<any,uuid>", "xarray<uint8>"]
        {
            assert_eq!(read(text).as_deref(), Ok(text));
        }
        assert_eq!(read(" map < string , optional<float> > ").as_deref(), Ok("map<string,optional<float>>"));
    }

    #[test]
    fn refuses_what_is_no_type() {
        for text in
            ["", "map<string>", "set", "set<>", "bool<int8>", "int8 int8", "variant<int8,int8>", "Place"]
        {
            assert!(read(text).is_err(), "{text}");
        }
        assert!(read(&"set<".repeat(100_000)).is_err());
    }
}
