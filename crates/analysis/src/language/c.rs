//! C.

use super::{FreeNameRule, LanguageSpec, NodeRole, VisibilityRule, unquoted};
use crate::facts::ImportStatement;
use tree_sitter::Node;

pub(super) static SPEC: LanguageSpec = LanguageSpec {
    grammar: || tree_sitter_c::LANGUAGE.into(),
    roles: &[
        (NodeRole::Function, &["function_definition"]),
        (NodeRole::If, &["if_statement"]),
        (NodeRole::Else, &["else_clause"]),
        (NodeRole::Loop, &["for_statement", "while_statement", "do_statement"]),
        (NodeRole::Switch, &["switch_statement"]),
        (NodeRole::Case, &["case_statement"]),
        (NodeRole::Arm, &["case_statement"]),
        (NodeRole::Ternary, &["conditional_expression"]),
        (NodeRole::Jump, &["goto_statement"]),
        (NodeRole::Block, &["translation_unit", "compound_statement", "declaration_list"]),
        (NodeRole::Import, &["preproc_include"]),
        (NodeRole::Comment, &["comment"]),
        (NodeRole::Params, &["parameter_list"]),
        (NodeRole::Member, &["field_expression"]),
        (NodeRole::Call, &["call_expression"]),
        (NodeRole::Modifiers, &["storage_class_specifier"]),
        (NodeRole::Binary, &["binary_expression"]),
        (NodeRole::Name, &["identifier", "statement_identifier"]),
        (NodeRole::MemberName, &["field_identifier", "type_identifier"]),
        (NodeRole::Text, &["string_literal", "system_lib_string"]),
        (NodeRole::Words, &["preproc_arg"]),
        (NodeRole::Number, &["number_literal", "char_literal"]),
        (NodeRole::Constant, &["true", "false", "null"]),
    ],
    operators: &["&&", "||"],
    own: &[],
    bare_fields: false,
    visibility: VisibilityRule::Static,
    entry_points: &["main"],
    constructors: &[],
    imports,
    strict_grammar: false,
    free_names: FreeNameRule::CalleesAndTypes,
};

/// Reads `#include "…"`. Headers in angle brackets belong to the system.
pub(super) fn imports(node: Node<'_>, source: &[u8], found: &mut Vec<ImportStatement>) {
    let Some(path) = node.child_by_field_name("path").filter(|path| path.kind() == "string_literal") else {
        return;
    };
    found.push(ImportStatement::load(node, unquoted(path, source)));
}
