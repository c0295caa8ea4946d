//! The kinds of words in a source text, for those who show code in color.
//!
//! Kinds follow from the names that grammars give to their nodes, so that every language of the analysis has them
//! without a query of its own.

use crate::parse::parse;
use probity_languages::Language;
use std::ops::Range;
use tree_sitter::Node;

probity_core::word_enum! {
    /// What a part of a text is.
    pub enum SyntaxClass {
        Comment = "comment",
        Text = "text",
        /// A number, or a word that stands for a value.
        Constant = "constant",
        Keyword = "keyword",
        Type = "type",
        /// The name of something that is called or defined to be called.
        Function = "function",
    }
}

/// A part of a text, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxSpan {
    pub range: Range<usize>,
    pub class: SyntaxClass,
}

/// Returns the parts of a text that have a kind, in order and without overlap; none if it cannot be parsed in reasonable
/// time.
pub fn syntax_spans(language: Language, source: &[u8]) -> Vec<SyntaxSpan> {
    let Some(tree) = parse(language, source) else { return Vec::new() };
    let mut spans = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let is_whole = match class_of(node) {
            Some(class) => {
                spans.push(SyntaxSpan { range: node.byte_range(), class });
                true
            }
            None => false,
        };
        if !is_whole && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return spans;
            }
        }
    }
}

/// Returns the kind of a node as a whole; `None` if it has none, or its parts have.
fn class_of(node: Node<'_>) -> Option<SyntaxClass> {
    let kind = node.kind();
    if kind.contains("comment") && node.is_named() {
        return Some(SyntaxClass::Comment);
    }
    if is_text(kind) && node.is_named() && !has_code(node) {
        return Some(SyntaxClass::Text);
    }
    if node.child_count() > 0 {
        return None;
    }
    if node.parent().is_some_and(|parent| is_text(parent.kind())) {
        return Some(SyntaxClass::Text);
    }
    if !node.is_named() {
        let is_word = kind.len() > 1 && kind.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
        return is_word.then_some(SyntaxClass::Keyword);
    }
    match kind {
        "true" | "false" | "none" | "null" | "nil" | "undefined" | "null_literal" | "boolean_literal" => {
            Some(SyntaxClass::Constant)
        }
        "self" | "this" | "super" | "crate" | "mutable_specifier" => Some(SyntaxClass::Keyword),
        "type_identifier"
        | "primitive_type"
        | "predefined_type"
        | "integral_type"
        | "floating_point_type" => Some(SyntaxClass::Type),
        _ if kind.contains("integer") || kind.contains("float") || kind.contains("number") => {
            Some(SyntaxClass::Constant)
        }
        _ if kind.contains("identifier") || kind == "word" || kind == "name" => {
            names_a_function(node).then_some(SyntaxClass::Function)
        }
        _ => None,
    }
}

fn is_text(kind: &str) -> bool {
    (kind.contains("string") || kind.contains("char_literal") || kind.contains("character_literal"))
        && !kind.contains("interpol")
}

/// Returns whether code stands inside a text.
fn has_code(node: Node<'_>) -> bool {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).any(|child| {
        let kind = child.kind();
        kind.contains("interpolation") || kind.contains("substitution") || kind.contains("expansion")
    })
}

/// Returns whether a name is called, or defined to be called.
fn names_a_function(node: Node<'_>) -> bool {
    let Some(parent) = node.parent() else { return false };
    let is_field = |field: &str, of: Node<'_>| of.child_by_field_name(field) == Some(node);
    let kind = parent.kind();
    if kind.contains("function")
        || kind.contains("method")
        || kind.contains("call")
        || kind.contains("invocation")
    {
        return ["name", "function", "method"].iter().any(|field| is_field(field, parent));
    }
    // `object.name()` and `path::name()`: the last part of what is called.
    let is_last = ["property", "attribute", "field", "name"].iter().any(|field| is_field(field, parent));
    let is_called = parent.parent().is_some_and(|call| {
        call.kind().contains("call") && call.child_by_field_name("function") == Some(parent)
    });
    is_last && is_called
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(language: Language, source: &str) -> Vec<(String, SyntaxClass)> {
        let spans = syntax_spans(language, source.as_bytes());
        spans.into_iter().map(|span| (source[span.range].to_owned(), span.class)).collect()
    }

    #[test]
    fn words_have_their_kind() {
        let found = words(Language::Rust, "// why\nfn add(a: u32) -> Sum { add(a, 2).to_text(\"x\") }\n");
        let expected = [
            ("// why\n", SyntaxClass::Comment),
            ("fn", SyntaxClass::Keyword),
            ("add", SyntaxClass::Function),
            ("u32", SyntaxClass::Type),
            ("Sum", SyntaxClass::Type),
            ("add", SyntaxClass::Function),
            ("2", SyntaxClass::Constant),
            ("to_text", SyntaxClass::Function),
            ("\"x\"", SyntaxClass::Text),
        ];
        let expected: Vec<(String, SyntaxClass)> =
            expected.iter().map(|(text, class)| (text.trim_end().to_owned(), *class)).collect();
        let found: Vec<(String, SyntaxClass)> =
            found.iter().map(|(text, class)| (text.trim_end().to_owned(), *class)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn code_inside_a_text_is_code() {
        let found = words(Language::Python, "print(f\"a {len(b)} c\")\n");
        assert!(found.contains(&("len".to_owned(), SyntaxClass::Function)), "{found:?}");
        assert!(found.iter().any(|(text, class)| text.contains('a') && *class == SyntaxClass::Text));
    }

    #[test]
    fn spans_are_in_order_and_do_not_overlap_in_any_language() {
        for language in Language::ALL {
            let spans = syntax_spans(language, b"if x == 1 { return \"a\" } # c\nclass A: pass // d\n");
            for pair in spans.windows(2) {
                assert!(pair[0].range.end <= pair[1].range.start, "{language:?}: {pair:?}");
            }
        }
    }
}
