//! C.

use super::{Role, Spec, Visibility, unquoted};
use crate::facts::Import;
use tree_sitter::Node;

pub(super) static SPEC: Spec = Spec {
    grammar: || tree_sitter_c::LANGUAGE.into(),
    roles: &[
        (Role::Function, &["function_definition"]),
        (Role::If, &["if_statement"]),
        (Role::Else, &["else_clause"]),
        (Role::Loop, &["for_statement", "while_statement", "do_statement"]),
        (Role::Switch, &["switch_statement"]),
        (Role::Case, &["case_statement"]),
        (Role::Arm, &["case_statement"]),
        (Role::Ternary, &["conditional_expression"]),
        (Role::Jump, &["goto_statement"]),
        (Role::Block, &["translation_unit", "compound_statement", "declaration_list"]),
        (Role::Import, &["preproc_include"]),
        (Role::Comment, &["comment"]),
        (Role::Params, &["parameter_list"]),
        (Role::Member, &["field_expression"]),
        (Role::Call, &["call_expression"]),
        (Role::Modifiers, &["storage_class_specifier"]),
        (Role::Binary, &["binary_expression"]),
        (Role::Name, &["identifier", "statement_identifier"]),
        (Role::MemberName, &["field_identifier", "type_identifier"]),
        (Role::Text, &["string_literal", "system_lib_string"]),
        (Role::Words, &["preproc_arg"]),
        (Role::Number, &["number_literal", "char_literal"]),
        (Role::Constant, &["true", "false", "null"]),
    ],
    operators: &["&&", "||"],
    own: &[],
    bare_fields: false,
    visibility: Visibility::Static,
    entry_points: &["main"],
    constructors: &[],
    imports,
    strict_grammar: false,
};

/// Reads `#include "…"`. Headers in angle brackets belong to the system.
pub(super) fn imports(node: Node<'_>, source: &[u8], found: &mut Vec<Import>) {
    let Some(path) = node.child_by_field_name("path").filter(|path| path.kind() == "string_literal") else {
        return;
    };
    found.push(Import::load(node, unquoted(path, source)));
}
