//! Ruby.

use super::{Role, Spec, Visibility, text};
use crate::facts::{Access, Import};
use tree_sitter::Node;

pub(super) static SPEC: Spec = Spec {
    grammar: || tree_sitter_ruby::LANGUAGE.into(),
    roles: &[
        (Role::Function, &["method", "singleton_method"]),
        (Role::Lambda, &["lambda", "block", "do_block"]),
        (Role::Class, &["class", "module"]),
        (Role::If, &["if", "unless", "if_modifier", "unless_modifier"]),
        (Role::Elif, &["elsif"]),
        (Role::Else, &["else"]),
        (Role::Loop, &["while", "until", "for", "while_modifier", "until_modifier"]),
        (Role::Switch, &["case", "case_match"]),
        (Role::Case, &["when", "in_clause"]),
        (Role::Arm, &["when", "in_clause"]),
        (Role::Catch, &["rescue", "rescue_modifier"]),
        (Role::Ternary, &["conditional"]),
        (Role::Block, &["program", "body_statement", "block_body", "then", "do", "else"]),
        (Role::Import, &["call"]),
        (Role::Comment, &["comment"]),
        (Role::Params, &["method_parameters", "lambda_parameters", "block_parameters"]),
        (Role::Member, &["call", "scope_resolution"]),
        (Role::Call, &["call"]),
        (Role::Binding, &["assignment"]),
        (Role::Heritage, &["superclass"]),
        (Role::Binary, &["binary", "operator_assignment"]),
        (Role::Name, &["identifier", "constant", "global_variable"]),
        (Role::MemberName, &["instance_variable", "class_variable", "hash_key_symbol", "simple_symbol"]),
        (Role::Own, &["self"]),
        (Role::Text, &["string_content", "heredoc_content"]),
        (Role::Number, &["integer", "float", "character", "rational", "complex"]),
        (Role::Constant, &["true", "false", "nil"]),
    ],
    operators: &["&&", "||", "and", "or", "&&=", "||="],
    own: &["self"],
    bare_fields: false,
    visibility: Visibility::Words(Access::Public),
    entry_points: &["initialize", "method_missing", "respond_to_missing?", "included", "inherited"],
    constructors: &["initialize"],
    imports,
    strict_grammar: true,
};

/// Reads `require`, `require_relative`, `load`; the last two name files of the project.
fn imports(node: Node<'_>, source: &[u8], found: &mut Vec<Import>) {
    let Some(method) = node.child_by_field_name("method") else { return };
    let prefix = match text(method, source).as_str() {
        "require_relative" => "./",
        "require" => "",
        _ => return,
    };
    let argument = node.child_by_field_name("arguments").and_then(|arguments| arguments.named_child(0));
    let Some(content) = argument.filter(|node| node.kind() == "string").and_then(|node| node.named_child(0))
    else {
        return;
    };
    found.push(Import::load(node, format!("{prefix}{}", text(content, source))));
}
