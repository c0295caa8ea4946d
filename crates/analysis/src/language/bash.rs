//! Bash and related shells.

use super::{FreeNameRule, LanguageSpec, NodeRole, VisibilityRule, text};
use crate::facts::{AccessLevel, ImportStatement};
use tree_sitter::Node;

pub(super) static SPEC: LanguageSpec = LanguageSpec {
    grammar: || tree_sitter_bash::LANGUAGE.into(),
    roles: &[
        (NodeRole::Function, &["function_definition"]),
        (NodeRole::If, &["if_statement"]),
        (NodeRole::Elif, &["elif_clause"]),
        (NodeRole::Else, &["else_clause"]),
        (NodeRole::Loop, &["for_statement", "c_style_for_statement", "while_statement"]),
        (NodeRole::Switch, &["case_statement"]),
        (NodeRole::Case, &["case_item"]),
        (NodeRole::Ternary, &["ternary_expression"]),
        // Conditions and patterns are siblings of the commands that depend on them, so they count as statements, too.
        (
            NodeRole::Block,
            &[
                "program",
                "compound_statement",
                "subshell",
                "do_group",
                "if_statement",
                "elif_clause",
                "else_clause",
                "case_item",
            ],
        ),
        (NodeRole::Import, &["command"]),
        (NodeRole::Comment, &["comment"]),
        (NodeRole::Call, &["command"]),
        (NodeRole::Binding, &["variable_assignment"]),
        (NodeRole::Binary, &["list", "binary_expression"]),
        (NodeRole::Name, &["variable_name", "special_variable_name"]),
        (NodeRole::MemberName, &["command_name"]),
        (
            NodeRole::Text,
            &["string_content", "raw_string", "ansi_c_string", "heredoc_content", "regex", "word"],
        ),
        (NodeRole::Number, &["number"]),
    ],
    operators: &["&&", "||"],
    own: &[],
    bare_fields: false,
    // Any script that sources this one may call what it defines.
    visibility: VisibilityRule::Words(AccessLevel::Public),
    entry_points: &["main"],
    constructors: &[],
    imports,
    // A script is text that expands to commands; no grammar can parse all of it.
    strict_grammar: false,
    free_names: FreeNameRule::CalleesAndTypes,
};

/// Reads `source file` and `. file` with a literal file name.
fn imports(node: Node<'_>, source: &[u8], found: &mut Vec<ImportStatement>) {
    let name = node.child_by_field_name("name").map(|name| text(name, source));
    if !matches!(name.as_deref(), Some("source" | ".")) {
        return;
    }
    let Some(argument) = node.child_by_field_name("argument") else { return };
    let module = super::unquoted(argument, source);
    if !module.contains('$') {
        found.push(ImportStatement::load(node, module));
    }
}
