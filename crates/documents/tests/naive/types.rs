//! Types and values of the naive model: everything stays JSON and is compared by walking types.

use serde_json::{Value as Json, json};
use std::cmp::Ordering;
use std::rc::Rc;

#[derive(Debug, Clone)]
pub(crate) enum Ty {
    Bool,
    Int(i128, i128),
    Double,
    Text,
    Enum(Rc<[String]>),
    Struct(Rc<[(String, Ty)]>),
    Optional(Rc<Ty>),
    Tuple(Rc<[Ty]>),
    Vector(Rc<Ty>),
    Set(Rc<Ty>),
    Map(Rc<Ty>, Rc<Ty>),
    Variant(Rc<[String]>),
    Any,
    XArray(Rc<Ty>),
}

/// Parses a type under a schema.
pub(crate) fn parse(schema: &Json, text: &str) -> Ty {
    let inner =
        |prefix: &str| text.strip_prefix(prefix).and_then(|rest| rest.strip_suffix('>')).map(split_commas);
    let one = |parts: Vec<String>| Rc::new(parse(schema, &parts[0]));
    if let Some(parts) = inner("optional<") {
        return Ty::Optional(one(parts));
    }
    if let Some(parts) = inner("vector<") {
        return Ty::Vector(one(parts));
    }
    if let Some(parts) = inner("set<") {
        return Ty::Set(one(parts));
    }
    if let Some(parts) = inner("xarray<") {
        return Ty::XArray(one(parts));
    }
    if let Some(parts) = inner("map<") {
        return Ty::Map(Rc::new(parse(schema, &parts[0])), Rc::new(parse(schema, &parts[1])));
    }
    if let Some(parts) = inner("tuple<") {
        return Ty::Tuple(parts.iter().map(|part| parse(schema, part)).collect());
    }
    if let Some(parts) = inner("variant<") {
        return Ty::Variant(parts.into());
    }
    match text {
        "bool" => Ty::Bool,
        "int8" => Ty::Int(-128, 127),
        "int32" => Ty::Int(-(1 << 31), (1 << 31) - 1),
        "int64" => Ty::Int(-(1 << 63), (1 << 63) - 1),
        "uint8" => Ty::Int(0, 255),
        "double" => Ty::Double,
        "string" => Ty::Text,
        "any" => Ty::Any,
        name => named(schema, name),
    }
}

fn named(schema: &Json, name: &str) -> Ty {
    if let Some(cases) = schema["enums"][name].as_array() {
        return Ty::Enum(cases.iter().map(text_of).collect());
    }
    let fields = schema["structs"][name].as_array().unwrap_or_else(|| panic!("no type {name}"));
    Ty::Struct(fields.iter().map(|f| (text_of(&f[0]), parse(schema, &text_of(&f[1])))).collect())
}

fn split_commas(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0;
    for c in text.chars() {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut().unwrap().push(c);
    }
    parts
}

pub(crate) fn text_of(json: &Json) -> String {
    json.as_str().unwrap_or_else(|| panic!("no text: {json}")).to_owned()
}

pub(crate) fn items(json: &Json) -> &[Json] {
    json.as_array().unwrap_or_else(|| panic!("no list: {json}"))
}

/// Returns the visible (position, value) pairs of an xarray.
pub(crate) fn visible(array: &Json) -> Vec<(String, Json)> {
    let positions = items(&array["order"]).iter().map(text_of);
    positions.filter_map(|p| array["elements"].get(&p).cloned().map(|value| (p, value))).collect()
}

/// Compares two values by the total order of their type.
pub(crate) fn order(schema: &Json, ty: &Ty, a: &Json, b: &Json) -> Ordering {
    let rank = |list: &[String], case: &Json| list.iter().position(|known| *case == **known).unwrap();
    match ty {
        Ty::Bool => a.as_bool().cmp(&b.as_bool()),
        Ty::Int(..) => a.as_i64().cmp(&b.as_i64()),
        Ty::Double => a.as_f64().partial_cmp(&b.as_f64()).unwrap(),
        Ty::Text => a.as_str().cmp(&b.as_str()),
        Ty::Enum(cases) => rank(cases, a).cmp(&rank(cases, b)),
        Ty::Struct(fields) => fields
            .iter()
            .map(|(name, ty)| order(schema, ty, &a[name], &b[name]))
            .find(|o| o.is_ne())
            .unwrap_or(Ordering::Equal),
        Ty::Optional(inner) => match (a.is_null(), b.is_null()) {
            (false, false) => order(schema, inner, &a["some"], &b["some"]),
            (a_nil, b_nil) => b_nil.cmp(&a_nil),
        },
        Ty::Tuple(parts) => parts
            .iter()
            .enumerate()
            .map(|(i, ty)| order(schema, ty, &a[i], &b[i]))
            .find(|o| o.is_ne())
            .unwrap_or(Ordering::Equal),
        Ty::Vector(inner) | Ty::Set(inner) => lists(items(a), items(b), |a, b| order(schema, inner, a, b)),
        Ty::Map(key, value) => lists(items(a), items(b), |a, b| {
            order(schema, key, &a[0], &b[0]).then_with(|| order(schema, value, &a[1], &b[1]))
        }),
        Ty::Variant(arms) => rank(arms, &a["type"])
            .cmp(&rank(arms, &b["type"]))
            .then_with(|| order(schema, &parse(schema, &text_of(&a["type"])), &a["value"], &b["value"])),
        Ty::Any => match (a.is_null(), b.is_null()) {
            (false, false) => a["type"]
                .as_str()
                .cmp(&b["type"].as_str())
                .then_with(|| order(schema, &parse(schema, &text_of(&a["type"])), &a["value"], &b["value"])),
            (a_nil, b_nil) => b_nil.cmp(&a_nil),
        },
        Ty::XArray(inner) => lists(&visible(a), &visible(b), |a, b| {
            a.0.cmp(&b.0).then_with(|| order(schema, inner, &a.1, &b.1))
        }),
    }
}

fn lists<T>(a: &[T], b: &[T], compare: impl Fn(&T, &T) -> Ordering) -> Ordering {
    let first = a.iter().zip(b).map(|(a, b)| compare(a, b)).find(|o| o.is_ne());
    first.unwrap_or_else(|| a.len().cmp(&b.len()))
}

pub(crate) fn same(schema: &Json, ty: &Ty, a: &Json, b: &Json) -> bool {
    order(schema, ty, a, b).is_eq()
}

/// Returns true if JSON is a value of the type in normal form.
pub(crate) fn fits(schema: &Json, ty: &Ty, json: &Json) -> bool {
    let all = |ty: &Ty| json.as_array().is_some_and(|list| list.iter().all(|item| fits(schema, ty, item)));
    match ty {
        Ty::Bool => json.is_boolean(),
        Ty::Int(min, max) => json.as_i64().is_some_and(|n| (*min..=*max).contains(&i128::from(n))),
        Ty::Double => json.is_number(),
        Ty::Text => json.is_string(),
        Ty::Enum(cases) => cases.iter().any(|case| json == case.as_str()),
        Ty::Struct(fields) => json.as_object().is_some_and(|members| {
            members.len() == fields.len()
                && fields.iter().all(|(name, ty)| members.get(name).is_some_and(|v| fits(schema, ty, v)))
        }),
        Ty::Optional(inner) => {
            json.is_null()
                || json.as_object().is_some_and(|m| m.len() == 1)
                    && json.get("some").is_some_and(|v| fits(schema, inner, v))
        }
        Ty::Tuple(parts) => json.as_array().is_some_and(|list| {
            list.len() == parts.len() && parts.iter().zip(list).all(|(ty, item)| fits(schema, ty, item))
        }),
        Ty::Vector(inner) => all(inner),
        Ty::Set(inner) => {
            all(inner) && items(json).is_sorted_by(|a, b| order(schema, inner, a, b) == Ordering::Less)
        }
        Ty::Map(key, value) => {
            all(&Ty::Tuple([(**key).clone(), (**value).clone()].into()))
                && items(json).is_sorted_by(|a, b| order(schema, key, &a[0], &b[0]) == Ordering::Less)
        }
        Ty::Variant(arms) => {
            typed(json).is_some_and(|(t, v)| arms.contains(&t) && fits(schema, &parse(schema, &t), &v))
        }
        Ty::Any => json.is_null() || typed(json).is_some_and(|(t, v)| fits(schema, &parse(schema, &t), &v)),
        Ty::XArray(inner) => json["elements"]
            .as_object()
            .is_some_and(|elements| elements.values().all(|value| fits(schema, inner, value))),
    }
}

fn typed(json: &Json) -> Option<(String, Json)> {
    let members = json.as_object().filter(|members| members.len() == 2)?;
    Some((members.get("type")?.as_str()?.to_owned(), members.get("value")?.clone()))
}

/// Adds a member to a sorted list unless an equal one is present.
pub(crate) fn add_member(schema: &Json, ty: &Ty, set: &mut Json, member: &Json) {
    let list = set.as_array_mut().unwrap();
    if !list.iter().any(|known| same(schema, ty, known, member)) {
        list.push(member.clone());
        list.sort_by(|a, b| order(schema, ty, a, b));
    }
}

/// Inserts a map entry, replacing one with an equal key.
pub(crate) fn put_entry(schema: &Json, key_ty: &Ty, map: &mut Json, key: &Json, value: &Json) {
    let list = map.as_array_mut().unwrap();
    list.retain(|entry| !same(schema, key_ty, &entry[0], key));
    list.push(json!([key, value]));
    list.sort_by(|a, b| order(schema, key_ty, &a[0], &b[0]));
}
