//! Bytes in addresses and forms, percent-encoded.

use std::fmt::Write as _;

/// Encodes bytes as one segment of an address or one value of a query.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for &byte in bytes {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~' | b'/') {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

/// Decodes a segment of an address.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte == b'%' {
            let digits = std::str::from_utf8(bytes.get(at + 1..at + 3)?).ok()?;
            decoded.push(u8::from_str_radix(digits, 16).ok()?);
            at += 3;
        } else {
            decoded.push(byte);
            at += 1;
        }
    }
    Some(decoded)
}

/// The names and values of a query or a form, in order. A `+` is a space there.
#[derive(Debug, Default, Clone)]
pub(crate) struct FormValues(Vec<(String, Vec<u8>)>);

impl FormValues {
    pub(crate) fn parse(text: &str) -> Self {
        let pairs = text.split('&').filter(|pair| !pair.is_empty()).filter_map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let read = |part: &str| decode(&part.replace('+', " "));
            Some((String::from_utf8(read(name)?).ok()?, read(value)?))
        });
        Self(pairs.collect())
    }

    /// Returns the first value of a name as text.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.bytes(name).and_then(|value| std::str::from_utf8(value).ok())
    }

    pub(crate) fn bytes(&self, name: &str) -> Option<&[u8]> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_slice())
    }

    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.0.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_comes_back() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(decode(&encode(&all)), Some(all));
        assert_eq!(decode("%4"), None);
        assert_eq!(decode("%zz"), None);
    }

    #[test]
    fn a_form_is_read_in_order() {
        let form = FormValues::parse("path=a%2Fb&path=c+d&why=&x");
        assert_eq!(form.all("path").collect::<Vec<_>>(), [&b"a/b"[..], b"c d"]);
        assert_eq!((form.text("why"), form.text("x"), form.text("y")), (Some(""), Some(""), None));
    }
}
