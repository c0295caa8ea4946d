//! Paths of `file:` URIs.

/// Returns the path of a local `file:` URI; `None` for any other, and for a name that is not UTF-8.
pub(crate) fn to_path(uri: &str) -> Option<String> {
    let rest = uri.strip_prefix("file://")?;
    let encoded = rest.strip_prefix("localhost").unwrap_or(rest);
    if !encoded.starts_with('/') {
        return None;
    }
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut left = encoded.bytes();
    while let Some(byte) = left.next() {
        if byte == b'%' {
            let digits = [left.next()?, left.next()?];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::to_path;

    #[test]
    fn escapes_are_decoded_and_other_schemes_are_no_files() {
        assert_eq!(to_path("file:///srv/a%20b/%C3%A9.py").as_deref(), Some("/srv/a b/é.py"));
        assert_eq!(to_path("file://localhost/srv/a").as_deref(), Some("/srv/a"));
        for other in
            ["untitled:Untitled-1", "https://example.org/a", "file://host/a", "file:///%", "file:///%ff"]
        {
            assert_eq!(to_path(other), None, "{other}");
        }
    }
}
