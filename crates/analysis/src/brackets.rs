//! Whether the brackets of a text match, for languages whose grammar does not know all that is right.
//!
//! What a macro hides, or what is newer than the grammar, leaves the brackets in order. An edit that was cut short, or a
//! conflict that nobody resolved, rarely does.

use crate::language::Language;

/// Returns true if every bracket has its partner and no conflict of a merge is left.
pub(crate) fn are_matched(language: Language, text: &[u8]) -> bool {
    let mut open = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        at += match rest[0] {
            b'/' if rest.starts_with(b"//") => line_length(rest),
            b'/' if rest.starts_with(b"/*") => 2 + length_until(&rest[2..], b"*/"),
            b'"' if language == Language::Kotlin && rest.starts_with(b"\"\"\"") => {
                3 + length_until(&rest[3..], b"\"\"\"")
            }
            b'"' if is_raw(language, text, at) => raw_literal_length(rest),
            // Digits may be grouped: `1'000`.
            b'\'' if at > 0 && text[at - 1].is_ascii_alphanumeric() && !is_prefix(text[at - 1]) => 1,
            b'"' | b'\'' => literal_length(rest),
            b'<' | b'>' | b'=' if is_conflict_mark(text, at) => return false,
            bracket @ (b'(' | b'[' | b'{') => {
                open.push(bracket);
                1
            }
            bracket @ (b')' | b']' | b'}') => {
                let partner = match bracket {
                    b')' => b'(',
                    b']' => b'[',
                    _ => b'{',
                };
                if open.pop() != Some(partner) {
                    return false;
                }
                1
            }
            _ => 1,
        };
    }
    open.is_empty()
}

/// Letters that may precede a character: `L'x'`.
const fn is_prefix(byte: u8) -> bool {
    matches!(byte, b'L' | b'u' | b'U' | b'8')
}

fn line_length(text: &[u8]) -> usize {
    text.iter().position(|&byte| byte == b'\n').unwrap_or(text.len())
}

/// Returns the length of a text up to and with its first `end`.
fn length_until(text: &[u8], end: &[u8]) -> usize {
    text.windows(end.len()).position(|window| window == end).map_or(text.len(), |at| at + end.len())
}

/// Returns the length of a literal that a quotation mark begins, at most up to the end of its line.
fn literal_length(text: &[u8]) -> usize {
    let mut at = 1;
    while at < text.len() && text[at] != b'\n' {
        match text[at] {
            b'\\' => at += 2,
            byte if byte == text[0] => return at + 1,
            _ => at += 1,
        }
    }
    at.min(text.len())
}

/// `R"name(…)name"`
fn is_raw(language: Language, text: &[u8], at: usize) -> bool {
    language == Language::Cpp && at > 0 && text[at - 1] == b'R'
}

fn raw_literal_length(text: &[u8]) -> usize {
    let n_name = text[1..].iter().position(|&byte| byte == b'(').unwrap_or(0);
    let end = [b")", &text[1..=n_name], b"\""].concat();
    1 + length_until(&text[1..], &end)
}

fn is_conflict_mark(text: &[u8], at: usize) -> bool {
    let is_line_start = at == 0 || text[at - 1] == b'\n';
    is_line_start && [&b"<<<<<<< "[..], b">>>>>>> "].iter().any(|mark| text[at..].starts_with(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_in_literals_and_comments_do_not_count() {
        let matched = [
            "f(a[1]) { /* ( */ }",
            "a = \"(\" + '{'; // (",
            "x = 1'000 + f('\\'');",
            "s = R\"x( \" ( )x\";",
            "s = \"\\\"(\";",
        ];
        for text in matched {
            assert!(are_matched(Language::Cpp, text.as_bytes()), "{text}");
        }
        assert!(are_matched(Language::Kotlin, b"val s = \"\"\" \" ( \"\"\""));
    }

    #[test]
    fn a_missing_bracket_or_an_open_conflict_is_seen() {
        let broken = [
            "f(",
            "f)",
            "(]",
            "void f() {\n  if (x) {\n}\n",
            "<<<<<<< HEAD\nint a;\n=======\nint b;\n>>>>>>> x\n",
        ];
        for text in broken {
            assert!(!are_matched(Language::C, text.as_bytes()), "{text}");
        }
    }
}
