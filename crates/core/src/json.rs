//! Unambiguous JSON: a strict parser, and the canonical form of RFC 8785.
//!
//! The parser rejects everything that two readers could interpret differently: duplicate keys, `NaN`, integers that a
//! double cannot represent, lone surrogates, bytes after the value. Its recursion is bounded by [`MAX_JSON_DEPTH`].

use crate::{ReasonCode, write};
use serde_json::{Map, Number, Value};

/// Maximum nesting of arrays and objects.
pub const MAX_JSON_DEPTH: usize = 128;

/// Every integer up to this magnitude (2^53) is exactly representable as a double.
const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_992.0;

/// An integer literal of at most this length, including the sign, is within the safe range and needs no check.
const MAX_SHORT_INTEGER_CHARS: usize = 15;

/// The reason why bytes are not strict JSON, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{}: {} (byte {at})", reason.as_str(), reason.meaning())]
pub struct JsonError {
    /// One of the `JSON.*` codes.
    pub reason: ReasonCode,
    /// Offset of the offending byte.
    pub at: usize,
}

/// Parses exactly one JSON value.
pub fn parse(bytes: &[u8]) -> Result<Value, JsonError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| JsonError { reason: ReasonCode::JsonNotUtf8, at: error.valid_up_to() })?;
    let mut parser = JsonParser { text, at: 0 };
    parser.skip_space();
    let value = parser.value(0)?;
    parser.skip_space();
    if parser.at < text.len() {
        return Err(parser.error(ReasonCode::JsonTrailingBytes));
    }
    Ok(value)
}

/// Serializes a value in the canonical form of RFC 8785.
pub fn canonical(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    write::value(value, &mut bytes);
    bytes
}

/// The canonical form of a document that is a type.
pub fn canonical_of<T: serde::Serialize + ?Sized>(document: &T) -> Vec<u8> {
    canonical(&to_value(document))
}

/// A document that is a type, as a value.
pub fn to_value<T: serde::Serialize + ?Sized>(document: &T) -> Value {
    serde_json::to_value(document).expect("documents have text keys")
}

/// Parses bytes that must already be in canonical form, with at most one newline after it.
pub fn is_canonical(bytes: &[u8], value: &Value) -> bool {
    bytes.strip_suffix(b"\n").unwrap_or(bytes) == canonical(value)
}

struct JsonParser<'a> {
    text: &'a str,
    at: usize,
}

impl JsonParser<'_> {
    fn error(&self, reason: ReasonCode) -> JsonError {
        JsonError { reason, at: self.at }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn eat(&mut self, word: &str) -> bool {
        let found = self.text[self.at..].starts_with(word);
        if found {
            self.at += word.len();
        }
        found
    }

    fn expect(&mut self, word: &str) -> Result<(), JsonError> {
        if self.eat(word) { Ok(()) } else { Err(self.error(ReasonCode::JsonSyntax)) }
    }

    fn value(&mut self, depth: usize) -> Result<Value, JsonError> {
        match self.peek() {
            Some(b'{') => self.object(depth + 1),
            Some(b'[') => self.array(depth + 1),
            Some(b'"') => self.string().map(Value::String),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ if self.eat("true") => Ok(Value::Bool(true)),
            _ if self.eat("false") => Ok(Value::Bool(false)),
            _ if self.eat("null") => Ok(Value::Null),
            _ if self.eat("NaN") || self.eat("Infinity") => Err(self.error(ReasonCode::JsonNonFinite)),
            _ => Err(self.error(ReasonCode::JsonSyntax)),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, JsonError> {
        let mut members = Map::new();
        self.open(depth)?;
        if self.eat("}") {
            return Ok(Value::Object(members));
        }
        loop {
            if self.peek() != Some(b'"') {
                return Err(self.error(ReasonCode::JsonSyntax));
            }
            let key = self.string()?;
            if members.contains_key(&key) {
                return Err(self.error(ReasonCode::JsonDuplicateKey));
            }
            self.skip_space();
            self.expect(":")?;
            self.skip_space();
            let value = self.value(depth)?;
            members.insert(key, value);
            self.skip_space();
            if self.eat("}") {
                return Ok(Value::Object(members));
            }
            self.expect(",")?;
            self.skip_space();
        }
    }

    fn array(&mut self, depth: usize) -> Result<Value, JsonError> {
        let mut items = Vec::new();
        self.open(depth)?;
        if self.eat("]") {
            return Ok(Value::Array(items));
        }
        loop {
            items.push(self.value(depth)?);
            self.skip_space();
            if self.eat("]") {
                return Ok(Value::Array(items));
            }
            self.expect(",")?;
            self.skip_space();
        }
    }

    /// Enters an array or object at its opening bracket, unless it is nested too deeply.
    fn open(&mut self, depth: usize) -> Result<(), JsonError> {
        if depth > MAX_JSON_DEPTH {
            return Err(self.error(ReasonCode::JsonTooDeep));
        }
        self.at += 1;
        self.skip_space();
        Ok(())
    }

    fn string(&mut self) -> Result<String, JsonError> {
        let mut string = String::new();
        self.at += 1;
        loop {
            let rest = &self.text[self.at..];
            let stop = |byte: u8| byte == b'"' || byte == b'\\' || byte < b' ';
            let plain = rest.bytes().position(stop).unwrap_or(rest.len());
            string.push_str(&rest[..plain]);
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(string);
                }
                Some(b'\\') => string.push(self.escape()?),
                _ => return Err(self.error(ReasonCode::JsonSyntax)),
            }
        }
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        self.at += 1;
        let Some(letter) = self.peek() else {
            return Err(self.error(ReasonCode::JsonSyntax));
        };
        self.at += 1;
        Ok(match letter {
            b'"' | b'\\' | b'/' => letter.into(),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode_escape(),
            _ => {
                self.at -= 1;
                return Err(self.error(ReasonCode::JsonSyntax));
            }
        })
    }

    fn unicode_escape(&mut self) -> Result<char, JsonError> {
        let first = self.hex4()?;
        if let Some(scalar) = char::from_u32(first) {
            return Ok(scalar);
        }
        if first >= 0xdc00 || !self.eat("\\u") {
            return Err(self.error(ReasonCode::JsonLoneSurrogate));
        }
        let second = self.hex4()?;
        if !(0xdc00..0xe000).contains(&second) {
            return Err(self.error(ReasonCode::JsonLoneSurrogate));
        }
        let scalar = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        char::from_u32(scalar).ok_or_else(|| self.error(ReasonCode::JsonLoneSurrogate))
    }

    fn hex4(&mut self) -> Result<u32, JsonError> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4);
        let Some(digits) = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit)) else {
            return Err(self.error(ReasonCode::JsonSyntax));
        };
        self.at += 4;
        Ok(digits.iter().fold(0, |sum, &digit| sum * 16 + char::from(digit).to_digit(16).unwrap_or(0)))
    }

    fn number(&mut self) -> Result<Value, JsonError> {
        let start = self.at;
        self.eat("-");
        if self.eat("Infinity") {
            return Err(self.error(ReasonCode::JsonNonFinite));
        }
        if !self.eat("0") {
            self.digits()?;
        }
        let mut is_integer = true;
        if self.eat(".") {
            is_integer = false;
            self.digits()?;
        }
        if self.eat("e") || self.eat("E") {
            is_integer = false;
            let _sign = self.eat("+") || self.eat("-");
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(self.error(ReasonCode::JsonSyntax));
        }
        let literal = &self.text[start..self.at];
        if is_integer && literal.len() <= MAX_SHORT_INTEGER_CHARS {
            let number: i64 = literal.parse().expect("up to fifteen digits and a sign are an i64");
            return Ok(Value::from(number));
        }
        let fault = |reason| JsonError { reason, at: start };
        let double: f64 = literal.parse().map_err(|_| fault(ReasonCode::JsonSyntax))?;
        let Some(number) = number_value(double) else {
            return Err(fault(ReasonCode::JsonNonFinite));
        };
        if is_integer && !denotes_same_integer(literal, &number) {
            return Err(fault(ReasonCode::JsonIntegerPrecision));
        }
        Ok(Value::Number(number))
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start { Err(self.error(ReasonCode::JsonSyntax)) } else { Ok(()) }
    }
}

/// Converts a double to a JSON number, as an integer if it is one, so that `1.0` and `1`, or `-0` and `0`,
/// have the same form.
fn number_value(double: f64) -> Option<Number> {
    #[expect(clippy::cast_possible_truncation, reason = "whole and within 2^53, so the cast is exact")]
    if double.fract() == 0.0 && double.abs() <= MAX_SAFE_INTEGER {
        return Some(Number::from(double as i64));
    }
    Number::from_f64(double)
}

/// Returns true if the canonical text of `number` denotes the integer written as `literal`.
fn denotes_same_integer(literal: &str, number: &Number) -> bool {
    let canonical = canonical(&Value::Number(number.clone()));
    // Both are integers, but `canonical` may be written as `1.5e+21`: compare the significant digits and the
    // magnitude instead of the text.
    let canonical = String::from_utf8_lossy(&canonical);
    scientific(literal) == scientific(&canonical)
}

/// Returns the sign, the significant digits, and the decimal exponent of the first digit.
fn scientific(text: &str) -> (bool, String, i64) {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{}{fraction}", whole.trim_start_matches('-'));
    let significant = digits.trim_start_matches('0');
    if significant.is_empty() {
        return (false, String::new(), 0);
    }
    let leading_zeros = digits.len() - significant.len();
    let whole_digits = whole.trim_start_matches('-').len();
    let first = i64::try_from(whole_digits).unwrap_or(i64::MAX) - i64::try_from(leading_zeros).unwrap_or(0);
    let exponent: i64 = exponent.trim_start_matches('+').parse().unwrap_or(0);
    (whole.starts_with('-'), significant.trim_end_matches('0').to_owned(), first + exponent)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    fn code(text: &str) -> &'static str {
        parse(text.as_bytes()).expect_err("should be refused").reason.as_str()
    }

    #[test]
    fn refuses_what_two_readers_could_read_differently() {
        assert_eq!(code(r#"{"a":1,"\u0061":2}"#), "JSON.DUPLICATE_KEY");
        assert_eq!(code("[1e400]"), "JSON.NON_FINITE");
        assert_eq!(code("-Infinity"), "JSON.NON_FINITE");
        assert_eq!(code("9007199254740993"), "JSON.INTEGER_PRECISION");
        assert_eq!(code(r#""\ud83d""#), "JSON.LONE_SURROGATE");
        assert_eq!(code("1 2"), "JSON.TRAILING_BYTES");
        assert_eq!(code(&"[".repeat(100_000)), "JSON.TOO_DEEP");
        for bad in
            ["", "01", "1.", ".5", "+1", "tru", "[1,]", "{,}", "{\"a\"}", "\"\\x\"", "\"\t\"", "-", "'a'"]
        {
            assert_eq!(code(bad), "JSON.SYNTAX", "{bad}");
        }
    }

    #[test]
    fn says_where_it_stopped() {
        assert_eq!(parse(b"[1, x]").map_err(|error| error.at), Err(4));
    }

    #[test]
    fn integers_pass_when_their_canonical_text_is_the_same_number() {
        for text in
            ["9007199254740992", "-9007199254740992", "10000000000000000", "100000000000000000000", "-0"]
        {
            assert!(parse(text.as_bytes()).is_ok(), "{text}");
        }
        let huge = format!("1{}", "0".repeat(300));
        assert!(parse(huge.as_bytes()).is_ok());
        assert_eq!(code(&format!("1{}1", "0".repeat(300))), "JSON.INTEGER_PRECISION");
    }

    #[test]
    fn the_deepest_value_allowed_is_accepted() {
        let text = format!("{}{}", "[".repeat(MAX_JSON_DEPTH), "]".repeat(MAX_JSON_DEPTH));
        assert!(parse(text.as_bytes()).is_ok());
    }

    pub(crate) fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..6)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn canonical_form_is_a_fixed_point(value in any_json()) {
            let once = canonical(&value);
            let again = parse(&once).expect("canonical text is strict JSON");
            prop_assert_eq!(canonical(&again), once);
        }

        #[test]
        fn no_input_panics(bytes: Vec<u8>) {
            let _ = parse(&bytes);
        }

        #[test]
        fn accepts_nothing_that_serde_refuses(text in r#"[\[\]{}",:0-9eE+\-.a-z\\ ]{0,24}"#) {
            if parse(text.as_bytes()).is_ok() {
                prop_assert!(serde_json::from_str::<Value>(&text).is_ok());
            }
        }
    }
}
