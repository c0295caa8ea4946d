//! Leaves out what the preprocessor of C and C++ would replace, so that syntax errors can be told from its idioms.
//!
//! Without the definitions of its macros a file is no program in the grammar of the language: a brace may open in one
//! branch of a conditional and close in another, and a macro may stand where no name can. The functions return texts
//! of the same length in which such places are blank. If a parser accepts one of them, the file has no error.

/// What precedes a statement or declaration.
const STATEMENT_STARTS: [u8; 3] = [b';', b'{', b'}'];

/// Words that begin a statement or declaration and are no macros.
const KEYWORDS: [&[u8]; 12] = [
    b"if", b"for", b"while", b"switch", b"return", b"sizeof", b"else", b"do", b"case", b"default", b"catch",
    b"defined",
];

/// Returns the text without directives and without macros in the place of statements.
pub(crate) fn without_directives_and_macros(source: &[u8]) -> Vec<u8> {
    let mut text = without_directives(source);
    blank_macros(&mut text, false);
    text
}

/// Returns the text also without macros in the place of attributes.
pub(crate) fn without_attribute_macros(mut text: Vec<u8>) -> Vec<u8> {
    blank_macros(&mut text, true);
    text
}

fn blank(text: &mut [u8]) {
    text.iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
}

/// An open conditional: whether its current branch is kept, and whether an earlier one was.
struct OpenConditional {
    is_kept: bool,
    had_kept: bool,
}

/// Blanks every directive, and all branches of each conditional except one.
pub(crate) fn without_directives(source: &[u8]) -> Vec<u8> {
    let mut text = source.to_vec();
    let mut open: Vec<OpenConditional> = Vec::new();
    let mut is_comment = false;
    let mut start = 0;
    while start < source.len() {
        let mut end = line_end(source, start);
        let line = source[start..end].trim_ascii();
        if !is_comment && let Some(directive) = line.strip_prefix(b"#") {
            // A directive goes on after a backslash.
            while source[start..end].trim_ascii_end().ends_with(b"\\") && end < source.len() {
                end = line_end(source, end);
            }
            enter_directive(directive.trim_ascii_start(), &mut open);
            blank(&mut text[start..end]);
        } else if open.iter().any(|conditional| !conditional.is_kept) {
            blank(&mut text[start..end]);
        } else {
            is_comment = ends_in_comment(line, is_comment);
        }
        start = end;
    }
    text
}

/// Returns the position after the line break of a line.
fn line_end(source: &[u8], start: usize) -> usize {
    source[start..].iter().position(|&byte| byte == b'\n').map_or(source.len(), |at| start + at + 1)
}

fn enter_directive(directive: &[u8], open: &mut Vec<OpenConditional>) {
    let word_end = directive.iter().position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(directive.len());
    let (word, condition) = directive.split_at(word_end);
    let condition = condition.trim_ascii();
    match word {
        b"if" | b"ifdef" => {
            // Guards for the other language contain `extern "C" {` or its end. `#if 0` is a comment.
            let is_kept = !condition.windows(11).any(|part| part == b"__cplusplus") && condition != b"0";
            open.push(OpenConditional { is_kept, had_kept: is_kept });
        }
        b"ifndef" => open.push(OpenConditional { is_kept: true, had_kept: true }),
        b"elif" | b"else" | b"elifdef" | b"elifndef" => {
            if let Some(conditional) = open.last_mut() {
                conditional.is_kept = !conditional.had_kept;
                conditional.had_kept = true;
            }
        }
        b"endif" => drop(open.pop()),
        _ => {}
    }
}

/// Returns true if a comment is open at the end of a line.
fn ends_in_comment(line: &[u8], mut is_comment: bool) -> bool {
    let mut at = 0;
    while at + 1 < line.len() {
        match (is_comment, &line[at..at + 2]) {
            (true, b"*/") => (is_comment, at) = (false, at + 1),
            (false, b"/*") => (is_comment, at) = (true, at + 1),
            (false, b"//") => return false,
            _ => {}
        }
        at += 1;
    }
    is_comment
}

/// A word or a character that is no layout.
#[derive(Clone, Copy)]
struct SourceToken {
    start: usize,
    end: usize,
    /// The character; 0 for a word, `"` for a literal.
    mark: u8,
}

impl SourceToken {
    const fn is_word(&self) -> bool {
        self.mark == 0
    }
}

/// Blanks macros that stand where a statement does: `NAME(…)` without a semicolon, and `name(…) {`. With
/// `attributes`, also macros before a name: `API_EXPORT int f(void)`.
fn blank_macros(text: &mut [u8], attributes: bool) {
    let tokens = tokens(text);
    let ends = invocation_ends(&tokens);
    let mut is_start = true;
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let end = ends[at];
        let is_macro = token.is_word() && is_macro(text, &tokens, at, end, is_start, attributes);
        if is_macro {
            blank(&mut text[token.start..tokens[end].end]);
            at = end + 1;
        } else {
            is_start = STATEMENT_STARTS.contains(&token.mark);
            at += 1;
        }
    }
}

fn is_macro(
    text: &[u8],
    tokens: &[SourceToken],
    at: usize,
    end: usize,
    is_start: bool,
    attributes: bool,
) -> bool {
    let word = &text[tokens[at].start..tokens[at].end];
    let next = tokens.get(end + 1);
    let is_constant_case = word.len() > 1
        && word.iter().any(u8::is_ascii_uppercase)
        && word.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_');
    if KEYWORDS.contains(&word) {
        return false;
    }
    let precedes_word = next.is_some_and(SourceToken::is_word);
    if attributes {
        return is_constant_case && precedes_word;
    }
    let is_alone = next.is_none_or(|next| {
        let has_break = text[tokens[end].end..next.start].contains(&b'\n');
        has_break && (next.is_word() || STATEMENT_STARTS[1..].contains(&next.mark))
    });
    let opens_block = end > at && next.is_some_and(|next| next.mark == b'{');
    is_start && ((is_constant_case && is_alone) || opens_block)
}

/// Returns for each token the index of the last one of the invocation that it begins: the parenthesis that closes the
/// arguments after a word, or the token itself.
fn invocation_ends(tokens: &[SourceToken]) -> Vec<usize> {
    let mut ends: Vec<usize> = (0..tokens.len()).collect();
    let mut open = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        match token.mark {
            b'(' => open.push(index),
            b')' => {
                if let Some(word) = open.pop().and_then(|opening| opening.checked_sub(1)) {
                    ends[word] = index;
                }
            }
            // Arguments contain no statements.
            b';' | b'{' | b'}' => open.clear(),
            _ => {}
        }
    }
    ends
}

fn tokens(text: &[u8]) -> Vec<SourceToken> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let (length, mark) = match rest[0] {
            byte if byte.is_ascii_whitespace() => (1, None),
            b'/' if rest.starts_with(b"//") => {
                (rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len()), None)
            }
            b'/' if rest.starts_with(b"/*") => {
                (rest.windows(2).skip(2).position(|end| end == b"*/").map_or(rest.len(), |end| end + 4), None)
            }
            quote @ (b'"' | b'\'') => (literal_length(rest, quote), Some(b'"')),
            byte if is_word(&byte) => {
                let length = rest.iter().position(|byte| !is_word(byte)).unwrap_or(rest.len());
                (length, Some(if byte.is_ascii_digit() { b'0' } else { 0 }))
            }
            byte => (1, Some(byte)),
        };
        tokens.extend(mark.map(|mark| SourceToken { start: at, end: at + length, mark }));
        at += length;
    }
    tokens
}

fn literal_length(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            b'\n' => return at,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        let plain = without_directives_and_macros(text.as_bytes());
        assert_eq!(plain.len(), text.len());
        let text = String::from_utf8(plain).expect("text");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn one_branch_of_a_conditional_is_left() {
        assert_eq!(plain("#ifdef __cplusplus\nextern \"C\" {\n#endif\nint f;\n"), "int f;");
        assert_eq!(plain("#if A\nif (a) {\n#else\nif (b) {\n#endif\n}\n"), "if (a) { }");
        assert_eq!(plain("#if 0\nrubbish {\n#else\nint a;\n#endif\n"), "int a;");
        assert_eq!(plain("#define A \\\n  {\nint a;\n"), "int a;");
        assert_eq!(plain("/*\n#if A\n*/ int a;\n"), "/* #if A */ int a;");
    }

    #[test]
    fn macros_are_no_statements() {
        assert_eq!(plain("BEGIN_DECLS\nint f(void);\nEND_DECLS\n"), "int f(void);");
        assert_eq!(plain("TEST(a, b) {\n  int c;\n}\n"), "{ int c; }");
        assert_eq!(
            plain("int f(void) {\n  LIST_EACH(a, b)\n  {\n    g(a);\n  }\n}\n"),
            "int f(void) { { g(a); } }"
        );
        assert_eq!(plain("int a = f(1,\n  WIDTH\n);\n"), "int a = f(1, WIDTH );");
        assert_eq!(plain("if (a) {\n  b();\n}\n"), "if (a) { b(); }");
        let bare = without_attribute_macros(b"API_EXPORT int f(void);\n".to_vec());
        assert_eq!(String::from_utf8(bare).expect("text").trim(), "int f(void);");
    }
}
