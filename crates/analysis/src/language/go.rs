//! Go.

use super::{Role, Spec, Visibility, unquoted};
use crate::facts::Import;
use tree_sitter::Node;

pub(super) static SPEC: Spec = Spec {
    grammar: || tree_sitter_go::LANGUAGE.into(),
    roles: &[
        (Role::Function, &["function_declaration", "method_declaration"]),
        (Role::Lambda, &["func_literal"]),
        (Role::Class, &["type_spec"]),
        (Role::If, &["if_statement"]),
        (Role::Loop, &["for_statement"]),
        (Role::Switch, &["expression_switch_statement", "type_switch_statement", "select_statement"]),
        (Role::Case, &["expression_case", "type_case", "communication_case"]),
        (Role::Arm, &["expression_case", "type_case", "communication_case", "default_case"]),
        (Role::Jump, &["goto_statement", "break_statement", "continue_statement"]),
        (Role::Block, &["source_file", "block", "statement_list"]),
        (Role::Import, &["import_spec"]),
        (Role::Package, &["package_clause"]),
        (Role::Comment, &["comment"]),
        (Role::Params, &["parameter_list"]),
        (Role::Member, &["selector_expression", "qualified_type"]),
        (Role::Call, &["call_expression"]),
        (Role::Keyed, &["keyed_element"]),
        (Role::Binding, &["var_spec", "const_spec"]),
        (Role::Binary, &["binary_expression"]),
        (Role::Name, &["identifier", "package_identifier", "label_name"]),
        (Role::MemberName, &["field_identifier", "type_identifier"]),
        (Role::Text, &["interpreted_string_literal", "raw_string_literal"]),
        (Role::Number, &["int_literal", "float_literal", "imaginary_literal", "rune_literal"]),
        (Role::Constant, &["true", "false", "nil", "iota"]),
    ],
    operators: &["&&", "||"],
    own: &[],
    bare_fields: false,
    visibility: Visibility::Capital,
    entry_points: &["main", "init"],
    constructors: &[],
    imports,
    strict_grammar: true,
};

fn imports(node: Node<'_>, source: &[u8], found: &mut Vec<Import>) {
    let Some(path) = node.child_by_field_name("path") else { return };
    found.push(Import::load(node, unquoted(path, source)));
}
