//! Extracts the prose of a Rust source: its comments and string literals, with line numbers.

/// Returns the comments and string literals of a source, line by line.
pub(crate) fn prose(text: &str) -> Vec<(usize, &str)> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let (mut at, mut line) = (0, 1);
    while at < bytes.len() {
        let end = match bytes[at] {
            b'/' if bytes.get(at + 1) == Some(&b'/') => Some(find(bytes, at, b"\n")),
            b'/' if bytes.get(at + 1) == Some(&b'*') => Some(find(bytes, at + 2, b"*/") + 2),
            b'"' => Some(string_end(bytes, at + 1)),
            b'r' if !follows_a_word(bytes, at) => raw_string_end(bytes, at + 1),
            b'\'' => {
                at = char_end(bytes, at);
                continue;
            }
            b'\n' => {
                line += 1;
                None
            }
            _ => None,
        };
        let Some(end) = end else {
            at += 1;
            continue;
        };
        let end = end.min(bytes.len());
        // Every delimiter is ASCII, so both ends are character boundaries.
        for (index, part) in text[at..end].split('\n').enumerate() {
            found.push((line + index, part));
        }
        line += bytes[at..end].iter().filter(|byte| **byte == b'\n').count();
        at = end;
    }
    found
}

fn find(bytes: &[u8], from: usize, what: &[u8]) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    rest.windows(what.len()).position(|window| window == what).map_or(bytes.len(), |at| from + at)
}

fn follows_a_word(bytes: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).map(|at| bytes[at]);
    // The `b` of a byte string is not the end of a word.
    before.is_some_and(|byte| byte != b'b' && (byte.is_ascii_alphanumeric() || byte == b'_'))
}

fn string_end(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}

/// Returns the end of `r"…"` or `r#"…"#`, if it is one.
fn raw_string_end(bytes: &[u8], from: usize) -> Option<usize> {
    let hashes = bytes[from..].iter().take_while(|byte| **byte == b'#').count();
    (bytes.get(from + hashes) == Some(&b'"')).then(|| {
        let closing = [b"\"", "#".repeat(hashes).as_bytes()].concat();
        find(bytes, from + hashes + 1, &closing) + closing.len()
    })
}

/// Returns the end of a character literal, or the place after the tick of a lifetime.
fn char_end(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at + 1) {
        Some(b'\\') => find(bytes, at + 3, b"'") + 1,
        // The longest character has four bytes.
        Some(_) => {
            let close = bytes[at + 2..].iter().take(4).position(|byte| *byte == b'\'');
            let is_plain = |length: usize| length == 0 || bytes[at + 1] >= 0x80;
            close.filter(|length| is_plain(*length)).map_or(at + 1, |length| at + 3 + length)
        }
        None => at + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_strings_are_prose_and_code_is_not() {
        let source = "fn folder<'a>(x: &'a str) { // one\n    let q = '\"'; f(\"two\\\" b\");\n    /* three\n four */ g(r#\"fi\"ve\"#, '\\'', 'ä', \"six\");\n}\n";
        let found: Vec<(usize, &str)> = prose(source);
        assert_eq!(
            found,
            [
                (1, "// one"),
                (2, "\"two\\\" b\""),
                (3, "/* three"),
                (4, " four */"),
                (4, "r#\"fi\"ve\"#"),
                (4, "\"six\""),
            ]
        );
    }

    #[test]
    fn what_does_not_end_is_read_to_the_end() {
        for source in ["\"open", "/* open", "r#\"open\"", "'", "// open", "'\\"] {
            let _ = prose(source);
        }
    }
}
