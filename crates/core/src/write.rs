//! Writes the canonical form of RFC 8785 directly from a value.
//!
//! Commits, events and manifests are hashed in this form, so it is on every hot path. Only numbers other than
//! small integers take the slow path, through the crate that prints doubles as ECMAScript does.

use serde_json::{Map, Number, Value};
use std::cmp::Ordering;
use std::io::Write;

/// Integers below this magnitude are printed digit by digit, as in ECMAScript.
const FIRST_UNSAFE_INTEGER: u64 = 1 << 53;

pub fn value(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Number(number) => self::number(number, out),
        Value::String(text) => string(text, out),
        Value::Array(items) => array(items, out),
        Value::Object(members) => object(members, out),
    }
}

/// Appends an integer within the range that every JSON reader represents exactly.
pub fn integer(number: i64, out: &mut Vec<u8>) {
    debug_assert!(number.unsigned_abs() < FIRST_UNSAFE_INTEGER, "larger integers are written as doubles");
    write!(out, "{number}").expect("memory takes whatever is written to it");
}

pub fn string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut start = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escape: &[u8] = match byte {
            b'"' => b"\\\"",
            b'\\' => b"\\\\",
            0x08 => b"\\b",
            0x09 => b"\\t",
            0x0a => b"\\n",
            0x0c => b"\\f",
            0x0d => b"\\r",
            0..=0x1f => b"",
            _ => continue,
        };
        out.extend_from_slice(&text.as_bytes()[start..at]);
        out.extend_from_slice(escape);
        if escape.is_empty() {
            write!(out, "\\u{byte:04x}").expect("memory takes whatever is written to it");
        }
        start = at + 1;
    }
    out.extend_from_slice(&text.as_bytes()[start..]);
    out.push(b'"');
}

/// Compares member names by UTF-16 code units, as RFC 8785 requires.
pub fn key_order(a: &str, b: &str) -> Ordering {
    // An ASCII character sorts before any other in both encodings, so comparing bytes is correct if either
    // name is ASCII.
    if a.is_ascii() || b.is_ascii() { a.cmp(b) } else { a.encode_utf16().cmp(b.encode_utf16()) }
}

fn number(number: &Number, out: &mut Vec<u8>) {
    match number.as_i64() {
        Some(small) if small.unsigned_abs() < FIRST_UNSAFE_INTEGER => integer(small, out),
        _ => serde_json_canonicalizer::to_writer(number, out)
            .expect("a JSON number is finite, so it always has a canonical form"),
    }
}

fn array(items: &[Value], out: &mut Vec<u8>) {
    out.push(b'[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        value(item, out);
    }
    out.push(b']');
}

fn object(members: &Map<String, Value>, out: &mut Vec<u8>) {
    out.push(b'{');
    if members.keys().is_sorted_by(|a, b| key_order(a, b).is_lt()) {
        members.iter().enumerate().for_each(|(index, (name, value))| member(index, name, value, out));
    } else {
        let mut sorted: Vec<_> = members.iter().collect();
        sorted.sort_unstable_by(|a, b| key_order(a.0, b.0));
        sorted.iter().enumerate().for_each(|(index, (name, value))| member(index, name, value, out));
    }
    out.push(b'}');
}

fn member(index: usize, name: &str, json: &Value, out: &mut Vec<u8>) {
    if index > 0 {
        out.push(b',');
    }
    string(name, out);
    out.push(b':');
    value(json, out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::tests::any_json;
    use proptest::prelude::*;
    use serde_json::json;

    fn check(json: &Value) {
        let mut written = Vec::new();
        value(json, &mut written);
        let expected = serde_json_canonicalizer::to_vec(json).expect("has a canonical form");
        assert_eq!(String::from_utf8_lossy(&written), String::from_utf8_lossy(&expected));
    }

    #[test]
    fn members_are_ordered_by_utf_16_units() {
        check(&json!({"\u{10000}": 1, "\u{ffff}": 2, "a": 3, "é": 4, "": 5, "\u{e000}": 6, "ab": 7}));
    }

    #[test]
    fn every_escape_is_the_one_of_the_standard() {
        let all: String = (0..0x2100).filter_map(char::from_u32).collect();
        check(&json!(all));
    }

    #[test]
    fn numbers_are_printed_as_ecmascript_does() {
        let edge = 1_i64 << 53;
        for number in
            [json!(edge), json!(edge - 1), json!(-edge), json!(1 - edge), json!(u64::MAX), json!(i64::MIN)]
        {
            check(&number);
        }
        for number in [0.0, -0.0, 1.0, 1e21, 1e-7, 123_456.789, f64::MAX, f64::MIN_POSITIVE] {
            check(&json!(number));
        }
    }

    proptest! {
        #[test]
        fn agrees_with_another_writer_byte_for_byte(json in any_json()) {
            check(&json);
        }

        #[test]
        fn agrees_on_names_beyond_the_basic_plane(names in prop::collection::btree_set("[a\u{d7ff}-\u{e010}\u{fff0}-\u{10010}]{0,3}", 0..8)) {
            check(&Value::Object(names.into_iter().map(|name| (name, Value::Null)).collect()));
        }
    }
}
