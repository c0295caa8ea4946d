//! Bash and related shells.

use super::{Role, Spec, Visibility, text};
use crate::facts::{Access, Import};
use tree_sitter::Node;

pub(super) static SPEC: Spec = Spec {
    grammar: || tree_sitter_bash::LANGUAGE.into(),
    roles: &[
        (Role::Function, &["function_definition"]),
        (Role::If, &["if_statement"]),
        (Role::Elif, &["elif_clause"]),
        (Role::Else, &["else_clause"]),
        (Role::Loop, &["for_statement", "c_style_for_statement", "while_statement"]),
        (Role::Switch, &["case_statement"]),
        (Role::Case, &["case_item"]),
        (Role::Ternary, &["ternary_expression"]),
        // Conditions and patterns are siblings of the commands that depend on them, so they count as statements, too.
        (
            Role::Block,
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
        (Role::Import, &["command"]),
        (Role::Comment, &["comment"]),
        (Role::Call, &["command"]),
        (Role::Binding, &["variable_assignment"]),
        (Role::Binary, &["list", "binary_expression"]),
        (Role::Name, &["variable_name", "special_variable_name"]),
        (Role::MemberName, &["command_name"]),
        (Role::Text, &["string_content", "raw_string", "ansi_c_string", "heredoc_content", "regex", "word"]),
        (Role::Number, &["number"]),
    ],
    operators: &["&&", "||"],
    own: &[],
    bare_fields: false,
    // Any script that sources this one may call what it defines.
    visibility: Visibility::Words(Access::Public),
    entry_points: &["main"],
    constructors: &[],
    imports,
    // A script is text that expands to commands; no grammar can parse all of it.
    strict_grammar: false,
};

/// Reads `source file` and `. file` with a literal file name.
fn imports(node: Node<'_>, source: &[u8], found: &mut Vec<Import>) {
    let name = node.child_by_field_name("name").map(|name| text(name, source));
    if !matches!(name.as_deref(), Some("source" | ".")) {
        return;
    }
    let Some(argument) = node.child_by_field_name("argument") else { return };
    let module = super::unquoted(argument, source);
    if !module.contains('$') {
        found.push(Import::load(node, module));
    }
}
