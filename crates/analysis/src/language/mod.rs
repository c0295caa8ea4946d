//! The meaning of each grammar's nodes. [`Language`] knows which files are in which language.
//!
//! A language is one [`LanguageSpec`]: data, plus one small function that reads its import statements. The engine
//! that visits trees knows no language. See `docs/adding-a-language.md`.

mod bash;
mod c;
mod cpp;
mod csharp;
mod go;
mod java;
mod javascript;
mod kotlin;
mod php;
mod python;
mod ruby;
mod rust;
mod table;
mod typescript;

pub(crate) use table::{ATOM_ROLES, NodeKind, NodeKindTable, NodeRole, RoleSet, TokenKind};

use crate::facts::ImportStatement;
pub use probity_languages::Language;

pub(crate) fn spec(language: Language) -> &'static LanguageSpec {
    match language {
        Language::Bash => &bash::SPEC,
        Language::C => &c::SPEC,
        Language::Cpp => &cpp::SPEC,
        Language::CSharp => &csharp::SPEC,
        Language::Go => &go::SPEC,
        Language::Java => &java::SPEC,
        Language::JavaScript => &javascript::SPEC,
        Language::Kotlin => &kotlin::SPEC,
        Language::Php => &php::SPEC,
        Language::Python => &python::SPEC,
        Language::Ruby => &ruby::SPEC,
        Language::Rust => &rust::SPEC,
        Language::Tsx => &typescript::TSX,
        Language::TypeScript => &typescript::SPEC,
    }
}

/// What the engine needs to know about a language.
pub(crate) struct LanguageSpec {
    pub grammar: fn() -> tree_sitter::Language,
    /// The roles of node kinds; a kind may have several.
    pub roles: &'static [(NodeRole, &'static [&'static str])],
    /// Operators that decide whether their right side runs.
    pub operators: &'static [&'static str],
    /// The words by which a method refers to its own object.
    pub own: &'static [&'static str],
    /// True if methods use fields by their bare names, as in Java.
    pub bare_fields: bool,
    pub visibility: VisibilityRule,
    /// Names of callables that the language or its runtime calls.
    pub entry_points: &'static [&'static str],
    /// The names of constructors, other than the name of the class.
    pub constructors: &'static [&'static str],
    /// Reads the imports of a node with [`NodeRole::Import`].
    pub imports: fn(tree_sitter::Node<'_>, &[u8], &mut Vec<ImportStatement>),
    /// True if the grammar can parse whole programs. With a preprocessor it cannot, and an error node means little.
    pub strict_grammar: bool,
    pub free_names: FreeNameRule,
}

/// Which occurrences of names refer to declarations elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FreeNameRule {
    /// All that do not bind the name: the description says where names are bound.
    NotBound,
    /// The names of callees and types, because others cannot be told from bindings.
    CalleesAndTypes,
}

/// How a declaration says who may use it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VisibilityRule {
    /// A leading underscore makes a name private (Python).
    Underscore,
    /// A capital letter makes a name public (Go).
    Capital,
    /// `pub` (Rust).
    PubKeyword,
    /// `export` (JavaScript, TypeScript); members may be `private`.
    Export,
    /// `static` keeps a function in its file (C, C++).
    Static,
    /// Words among the modifiers, with the default if there is none.
    Words(crate::facts::AccessLevel),
}

/// Returns the text of a node. Lossless for names, because grammars accept only UTF-8 there.
pub(crate) fn text(node: tree_sitter::Node<'_>, source: &[u8]) -> String {
    String::from_utf8_lossy(&source[node.byte_range()]).into_owned()
}

/// Returns the text of a string literal without its quotes.
pub(crate) fn unquoted(node: tree_sitter::Node<'_>, source: &[u8]) -> String {
    text(node, source).trim_matches(['"', '\'', '`']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn language_of(path: &str) -> Option<&'static str> {
        Language::of_file_name(path.as_bytes()).map(Language::name)
    }

    #[test]
    fn extensions_decide_the_language() {
        assert_eq!(language_of("docs/a.pyi"), Some("python"));
        assert_eq!(language_of("a.tsx"), Some("typescript"));
        assert_eq!(language_of("a.mts"), Some("typescript"));
        assert_eq!(language_of("a.h"), Some("c"));
        assert_eq!(language_of("a.hxx"), Some("cpp"));
        assert_eq!(language_of("build.gradle.kts"), Some("kotlin"));
        assert_eq!(language_of(".py"), None);
        assert_eq!(language_of("py"), None);
        assert_eq!(language_of("a.PY"), None);
    }

    #[test]
    fn every_kind_that_a_description_names_is_in_its_grammar() {
        for language in Language::ALL {
            let unknown = NodeKindTable::unknown(spec(language));
            assert!(unknown.is_empty(), "{language:?}: {unknown:?}");
        }
    }

    #[test]
    fn each_language_has_its_own_grammar() {
        let mut counts: Vec<_> = Language::ALL
            .into_iter()
            .map(|language| (spec(language).grammar)())
            .map(|grammar| (grammar.node_kind_count(), grammar.parse_state_count()))
            .collect();
        counts.sort_unstable();
        counts.dedup();
        assert_eq!(counts.len(), Language::ALL.len(), "two grammars share one parser");
    }
}
