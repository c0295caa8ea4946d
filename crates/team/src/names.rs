//! Names in keys and references, whatever characters they have.

/// Returns the part of a key or a reference that stands for `name`.
pub(crate) fn encoded_name(name: &str) -> String {
    let is_plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if is_plain {
        return format!("n-{name}");
    }
    name.bytes().fold("x-".to_owned(), |all, byte| format!("{all}{byte:02x}"))
}

/// Returns the name that a part of a key or a reference stands for.
pub(crate) fn decoded_name(part: &str) -> Option<String> {
    if let Some(name) = part.strip_prefix("n-") {
        return Some(name.to_owned());
    }
    let digits = part.strip_prefix("x-")?;
    let byte = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    let bytes: Option<Vec<u8>> = (0..digits.len()).step_by(2).map(byte).collect();
    String::from_utf8(bytes?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_back() {
        for name in ["intents", "a/b", "..", "x.lock", "ä", ""] {
            assert_eq!(decoded_name(&encoded_name(name)).as_deref(), Some(name));
        }
    }
}
