//! Syntax that a language has gained since its grammar was written.
//!
//! A grammar lags behind its language, and code that uses what the grammar does not know is no mistake. Each rewrite
//! turns such a construct into an older one of the same length, so that no byte and no line changes its place. They are
//! tried only on files that do not parse, and the result counts only if it has fewer errors.

use crate::language::Language;
use crate::preprocessor;

/// Where a construct stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MatchPosition {
    /// At the start of a line, after its indentation.
    LineStart,
    /// Not after a letter or digit.
    WordStart,
    Anywhere,
}

/// A construct, and older syntax of the same length.
type SyntaxRewrite = (MatchPosition, &'static str, &'static str);

/// The name of a C# `extension(…)` block that is read as a class, as in [`C_SHARP`].
pub(crate) const EXTENSION_BLOCK: &str = "Ext";

const C_SHARP: [SyntaxRewrite; 5] = [
    (MatchPosition::LineStart, "extension(", "class Ext("),
    (MatchPosition::LineStart, "extension<", "class Ext<"),
    (MatchPosition::WordStart, "allows ref struct", "struct           "),
    (MatchPosition::WordStart, "operator checked ", "operator         "),
    // `a?.B = 1`
    (MatchPosition::Anywhere, "?.", " ."),
];
const GO: [SyntaxRewrite; 1] = [
    // `new(42)`
    (MatchPosition::WordStart, "new(", "neW("),
];
const JAVA: [SyntaxRewrite; 3] = [
    (MatchPosition::LineStart, "import module ", "import        "),
    // Statements may precede the call of another constructor.
    (MatchPosition::LineStart, "super(", "supeR("),
    (MatchPosition::LineStart, "this(", "thiS("),
];
const JAVASCRIPT: [SyntaxRewrite; 1] = [(MatchPosition::WordStart, "import defer *", "import       *")];
const KOTLIN: [SyntaxRewrite; 2] =
    [(MatchPosition::Anywhere, "$$$\"", "   \""), (MatchPosition::Anywhere, "$$\"", "  \"")];
const PHP: [SyntaxRewrite; 1] = [(MatchPosition::Anywhere, "(void) ", "       ")];
const RUST: [SyntaxRewrite; 6] = [
    (MatchPosition::WordStart, "safe fn ", "     fn "),
    (MatchPosition::WordStart, "safe static ", "     static "),
    (MatchPosition::WordStart, "unsafe static ", "       static "),
    (MatchPosition::Anywhere, "~const ", "       "),
    (MatchPosition::Anywhere, "[const] ", "        "),
    (MatchPosition::WordStart, "impl const ", "impl       "),
];
const TYPESCRIPT: [SyntaxRewrite; 6] = [
    (MatchPosition::WordStart, "export type *", "export      *"),
    (MatchPosition::WordStart, "import defer *", "import       *"),
    (MatchPosition::Anywhere, "<in out ", "<       "),
    (MatchPosition::Anywhere, "<in ", "<   "),
    (MatchPosition::Anywhere, "<out ", "<    "),
    (MatchPosition::Anywhere, ", out ", ",     "),
];

/// Returns the text in older syntax, or `None` if the language has no newer one that is known.
pub(crate) fn in_older_syntax(language: Language, source: &[u8]) -> Option<Vec<u8>> {
    let rewrites: &[SyntaxRewrite] = match language {
        Language::CSharp => &C_SHARP,
        Language::Go => &GO,
        Language::Java => &JAVA,
        Language::JavaScript => &JAVASCRIPT,
        Language::Kotlin => &KOTLIN,
        Language::Php => &PHP,
        Language::Ruby => &[],
        Language::Rust => &RUST,
        Language::TypeScript | Language::Tsx => &TYPESCRIPT,
        Language::Bash | Language::C | Language::Cpp | Language::Python => return None,
    };
    let mut text = match language {
        // Branches of conditionals may each have the header of one class; `#:package` belongs to no grammar.
        Language::CSharp => preprocessor::without_directives(source),
        _ => source.to_vec(),
    };
    for &rewrite in rewrites {
        apply(rewrite, &mut text);
    }
    for line in text.split_inclusive_mut(|&byte| byte == b'\n') {
        let indentation = line.len() - line.trim_ascii_start().len();
        match language {
            Language::Kotlin => kotlin_line(&mut line[indentation..]),
            Language::Ruby => ruby_line(&mut line[indentation..]),
            _ => {}
        }
    }
    Some(text)
}

fn apply((position, new, old): SyntaxRewrite, text: &mut [u8]) {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.';
    let mut from = 0;
    while let Some(found) = find(&text[from..], new) {
        let at = from + found;
        let is_there = match position {
            MatchPosition::Anywhere => true,
            MatchPosition::WordStart => at == 0 || !is_word(text[at - 1]),
            MatchPosition::LineStart => {
                let line = text[..at].iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
                text[line..at].iter().all(u8::is_ascii_whitespace)
            }
        };
        if is_there {
            text[at..at + old.len()].copy_from_slice(old.as_bytes());
        }
        from = at + new.len();
    }
}

fn find(text: &[u8], part: &str) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part.as_bytes())
}

/// `context(x: A)` before a declaration, and `is A if x ->` in a `when`.
fn kotlin_line(line: &mut [u8]) {
    if line.starts_with(b"context(")
        && let Some(end) = line.iter().rposition(|&byte| byte == b')')
        && line[end + 1..].trim_ascii().is_empty()
    {
        return line[..=end].fill(b' ');
    }
    let Some(arrow) = find(line, "->") else { return };
    let is_condition = [&b"is "[..], b"!is ", b"in ", b"!in "].iter().any(|word| line.starts_with(word));
    if line.starts_with(b"else if ") {
        line[..b"else if ".len()].fill(b' ');
    } else if is_condition && let Some(guard) = find(&line[..arrow], " if ") {
        line[guard..guard + b" if ".len()].copy_from_slice(b" ,  ");
    }
}

/// `def f = raise Error, "…"`: the arguments of a command without parentheses.
fn ruby_line(line: &mut [u8]) {
    if !line.starts_with(b"def ") {
        return;
    }
    let Some(body) = find(line, " = ").map(|at| at + b" = ".len()) else { return };
    let is_name =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b'!' | b'?');
    let n_command = line[body..].iter().take_while(|byte| is_name(byte)).count();
    let arguments = &mut line[body + n_command..];
    let has_arguments = arguments.len() > 1
        && arguments[0] == b' '
        && (arguments[1].is_ascii_alphanumeric() || matches!(arguments[1], b'"' | b'\'' | b':' | b'@'));
    if n_command > 0 && has_arguments {
        let end = arguments.trim_ascii_end().len();
        arguments[..end].fill(b' ');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::read_facts;

    fn n_errors(language: Language, text: &str) -> u32 {
        read_facts(language, text.as_bytes(), 10_000).n_errors
    }

    #[test]
    fn newer_syntax_is_no_error() {
        let texts = [
            (Language::CSharp, "#:package A\nvar x = 1;\n"),
            (Language::CSharp, "class A { void F() { a?.B = 1; } }"),
            (Language::CSharp, "static class E {\n  extension(string s) { public int L => s.Length; }\n}"),
            (Language::CSharp, "class A<T> where T : allows ref struct { }"),
            (Language::CSharp, "#if X\nclass A : B {\n#else\nclass A {\n#endif\n}"),
            (Language::Go, "package a\n\nvar p = new(42)\n"),
            (Language::Java, "import module java.base;\nclass A {}"),
            (Language::Java, "class A { A(int x) {\n if (x < 0) throw new E();\n super(x);\n} }"),
            (Language::Kotlin, "context(x: Foo)\nfun f() = x.y\n"),
            (
                Language::Kotlin,
                "fun f(x: Any) = when (x) {\n  is A if x.b -> 1\n  else if y -> 2\n  else -> 3\n}\n",
            ),
            (Language::Kotlin, "val a = $$\"{$foo: $$bar}\"\n"),
            (Language::Php, "<?php\n(void) f();\n"),
            (Language::Ruby, "def f = raise Error, \"x\"\n"),
            (Language::Rust, "unsafe extern \"C\" { pub safe fn f(); unsafe static X: i32; }"),
            (Language::Rust, "const fn f<T: [const] Default>() {}\nimpl const Default for A { }"),
            (Language::TypeScript, "interface A<in T, out U> { x: T }\ntype B<in out T> = T;"),
            (Language::TypeScript, "export type * from \"./a\";\nimport defer * as b from \"b\";"),
        ];
        for (language, text) in texts {
            assert_eq!(n_errors(language, text), 0, "{text}");
            let older = in_older_syntax(language, text.as_bytes()).unwrap();
            assert_eq!(older.len(), text.len());
        }
    }

    #[test]
    fn mistakes_stay_mistakes() {
        let texts = [
            (Language::CSharp, "class A { void F( { a?.B = 1; } }"),
            (Language::Go, "package a\n\nfunc f( { new(42) }\n"),
            (Language::Java, "class A { A(int x) { super(x;\n } }"),
            (Language::Ruby, "def f\n  raise Error, \"x\"\n"),
            (Language::Rust, "fn f( { safe fn }"),
            (Language::TypeScript, "export type * frm \"./a\";\n{"),
        ];
        for (language, text) in texts {
            assert!(n_errors(language, text) > 0, "{text}");
        }
    }
}
