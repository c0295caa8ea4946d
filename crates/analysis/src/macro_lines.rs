//! Macros of C and C++ that stand alone on a line without a semicolon.
//!
//! Before `switch (x) {` the grammar takes such a macro for a type and the whole switch for a declaration, so that none of
//! its cases is read. The last character of the macro's name makes room for a semicolon: no byte after the line and no
//! line changes its place.

use crate::language::Language;
use std::borrow::Cow;

/// The words that begin a statement. What precedes them on a line of its own is a statement, too.
const STATEMENT_WORDS: [&[u8]; 11] = [
    b"break",
    b"case",
    b"continue",
    b"default",
    b"do",
    b"for",
    b"goto",
    b"if",
    b"return",
    b"switch",
    b"while",
];
/// Shorter names are rarely macros.
const MIN_MACRO_NAME_BYTES: usize = 3;

/// Returns the text with a semicolon after each macro that stands alone before a statement.
pub(crate) fn terminated(language: Language, bytes: &[u8]) -> Cow<'_, [u8]> {
    let mut text = Cow::Borrowed(bytes);
    if !matches!(language, Language::C | Language::Cpp) {
        return text;
    }
    // The macro line before this one, if there is no code between.
    let mut pending: Option<MacroLine> = None;
    let mut start = 0;
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let code = line.trim_ascii_start();
        let at = start + line.len() - code.len();
        start += line.len();
        if code.is_empty() || code.starts_with(b"//") || code.starts_with(b"#") {
            continue;
        }
        if let Some(found) = pending.take()
            && begins_statement(code)
        {
            found.terminate(text.to_mut());
        }
        pending = MacroLine::find(code, at);
    }
    text
}

/// Where the name of a macro on a line of its own ends, and where its arguments do.
struct MacroLine {
    name_end: usize,
    end: usize,
}

impl MacroLine {
    fn find(code: &[u8], at: usize) -> Option<Self> {
        let is_name = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
        let n_name = code.iter().take_while(|byte| is_name(byte)).count();
        if n_name < MIN_MACRO_NAME_BYTES || code[0].is_ascii_digit() {
            return None;
        }
        let n_arguments = arguments(&code[n_name..])?;
        let end = n_name + n_arguments;
        let rest = code[end..].trim_ascii_start();
        let is_alone = rest.is_empty() || rest.starts_with(b"//") || rest.starts_with(b"/*");
        is_alone.then_some(Self { name_end: at + n_name, end: at + end })
    }

    fn terminate(&self, text: &mut [u8]) {
        text.copy_within(self.name_end..self.end, self.name_end - 1);
        text[self.end - 1] = b';';
    }
}

/// Returns the length of the parenthesis that a text begins with, 0 if there is none, or `None` if it does not end there.
fn arguments(text: &[u8]) -> Option<usize> {
    if !text.starts_with(b"(") {
        return Some(0);
    }
    let mut depth = 0_usize;
    for (at, &byte) in text.iter().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 1 => return Some(at + 1),
            b')' => depth -= 1,
            _ => {}
        }
    }
    None
}

fn begins_statement(code: &[u8]) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    STATEMENT_WORDS.iter().any(|word| {
        code.strip_prefix(*word).is_some_and(|rest| rest.first().is_none_or(|&next| !is_word(next)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_c(text: &str) -> String {
        String::from_utf8(terminated(Language::C, text.as_bytes()).into_owned()).expect("text")
    }

    #[test]
    fn a_macro_before_a_statement_gets_a_semicolon() {
        assert_eq!(of_c("  BEGIN_IT\n  switch (x) {"), "  BEGIN_I;\n  switch (x) {");
        assert_eq!(of_c("  CHECK(a, f(b)) // c\n\n  if (x)"), "  CHEC(a, f(b)); // c\n\n  if (x)");
    }

    #[test]
    fn everything_else_stays_as_it_is() {
        let same = [
            "  FOO,\n  BAR\n};",
            "  BEGIN_IT;\n  switch (x) {",
            "  EACH(a, b) {\n  if (a) {",
            "EXTERN\nint f(void);",
            "#define BEGIN_IT \\\n  if (x)",
            "  CALL(a,\n  if (x)",
            "  BEGIN_IT\n  iffy(x);",
        ];
        for text in same {
            assert_eq!(of_c(text), text);
        }
        let other = terminated(Language::Java, b"  BEGIN_IT\n  if (x)");
        assert!(matches!(other, Cow::Borrowed(_)));
    }
}
