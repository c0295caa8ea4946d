//! Byte strings in JSON, on screen and in a shell.
//!
//! File names and patterns are bytes. In JSON they are a string if valid UTF-8, otherwise `{"bytes_hex":
//! "…"}` in lower case: lossless, and readable in the common case.

use serde_json::{Value, json};

pub fn to_json(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) => Value::String(text.to_owned()),
        Err(_) => json!({ "bytes_hex": hex::encode(bytes) }),
    }
}

/// Reads bytes from JSON. Returns `None` if the value has neither form.
///
/// The hex form is accepted only for bytes that are not valid UTF-8, so that every byte string has exactly
/// one JSON form.
pub fn from_json(value: &Value) -> Option<Vec<u8>> {
    match value {
        Value::String(text) => Some(text.as_bytes().to_vec()),
        Value::Object(members) if members.len() == 1 => {
            let text = members.get("bytes_hex")?.as_str()?;
            if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
                return None;
            }
            let bytes = hex::decode(text).ok()?;
            std::str::from_utf8(&bytes).is_err().then_some(bytes)
        }
        _ => None,
    }
}

/// Byte strings in binary forms, copied at once and not byte by byte: `#[serde(with = "probity_core::bytes::raw")]`.
pub mod raw {
    use serde::{Deserialize, Deserializer, Serializer};

    /// Writes the bytes behind their length.
    pub fn serialize<T: AsRef<[u8]>, S: Serializer>(bytes: &T, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(bytes.as_ref())
    }

    /// Reads what [`serialize`] wrote, from a slice.
    pub fn deserialize<'de, T: From<&'de [u8]>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<T, D::Error> {
        <&[u8]>::deserialize(deserializer).map(T::from)
    }
}

/// Shows bytes to a person on one line, without loss: printable UTF-8 as it is, everything else (control and
/// direction-changing characters, backslashes, bytes that are no UTF-8) as an escape.
pub fn escape(bytes: &[u8]) -> String {
    // Fast path for nearly every path: reports and digests render them by the thousand.
    if bytes.iter().all(|&byte| matches!(byte, b' '..=b'~') && byte != b'\\') {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    let mut shown = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            if character == '\\' {
                shown.push_str("\\\\");
            } else if is_deceptive(character) {
                shown.extend(character.escape_default());
            } else {
                shown.push(character);
            }
        }
        for byte in chunk.invalid() {
            shown.extend(["\\x", &hex::encode([*byte])]);
        }
    }
    shown
}

/// Control characters, and characters that are invisible or reorder what stands around them.
pub fn is_deceptive(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{00ad}' | '\u{061c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Returns true if `text` contains characters that a terminal or an editor does not show literally.
pub fn is_deceptive_text(text: &str) -> bool {
    text.chars().any(is_deceptive)
}

/// Quotes bytes as one word of a POSIX shell. Control characters and invalid UTF-8 need `$'…'`, which bash
/// and zsh understand.
pub fn shell_word(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.chars().any(char::is_control) => format!("'{}'", text.replace('\'', r"'\''")),
        _ => {
            let letter = |byte: &u8| match byte {
                b'\'' | b'\\' => format!("\\{}", char::from(*byte)),
                b' '..=b'~' => char::from(*byte).to_string(),
                other => format!("\\x{other:02x}"),
            };
            let letters: Vec<String> = bytes.iter().map(letter).collect();
            format!("$'{}'", letters.concat())
        }
    }
}

/// Like [`shell_word`], but bare where a shell takes every character as it is.
pub fn bare_shell_word(bytes: &[u8]) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./+,@%".contains(byte);
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.is_empty() && bytes.iter().all(is_plain) => text.to_owned(),
        _ => shell_word(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_stays_text_and_other_bytes_become_hex() {
        assert_eq!(to_json(b"src/a.rs"), json!("src/a.rs"));
        assert_eq!(to_json(b"dir/\xff"), json!({"bytes_hex": "6469722fff"}));
    }

    #[test]
    fn refuses_a_second_form_of_the_same_bytes() {
        assert_eq!(from_json(&json!({"bytes_hex": "61"})), None);
        assert_eq!(from_json(&json!({"bytes_hex": "FF"})), None);
        assert_eq!(from_json(&json!({"bytes_hex": "ff", "more": 1})), None);
    }

    #[test]
    fn shows_no_character_that_could_deceive() {
        assert_eq!(escape(b"a\nb"), "a\\nb");
        assert_eq!(escape("a\u{202e}b".as_bytes()), "a\\u{202e}b");
        assert_eq!(escape(b"a\x1b[31m"), "a\\u{1b}[31m");
        assert_eq!(escape(b"src\\a\xff"), "src\\\\a\\xff");
        assert_eq!(escape("naïve/日本.rs".as_bytes()), "naïve/日本.rs");
    }

    proptest! {
        #[test]
        fn json_keeps_any_bytes(bytes: Vec<u8>) {
            prop_assert_eq!(from_json(&to_json(&bytes)), Some(bytes));
        }

        #[test]
        fn escapes_keep_different_names_apart(a: Vec<u8>, b: Vec<u8>) {
            prop_assert_eq!(a == b, escape(&a) == escape(&b));
        }
    }

    #[test]
    fn a_pattern_is_one_word_for_the_shell() {
        assert_eq!(shell_word(b"src/**"), "'src/**'");
        assert_eq!(
            (bare_shell_word(b"src/a.py").as_str(), bare_shell_word(b"").as_str()),
            ("src/a.py", "''")
        );
        assert_eq!(shell_word(b"it's"), r"'it'\''s'");
        assert_eq!(shell_word(b"a\x1b\xff'\\"), r"$'a\x1b\xff\'\\'");
    }
}
