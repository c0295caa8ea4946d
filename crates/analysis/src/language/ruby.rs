//! Ruby.

use super::{FreeNameRule, LanguageSpec, NodeRole, VisibilityRule, text};
use crate::facts::{AccessLevel, ImportStatement};
use tree_sitter::Node;

pub(super) static SPEC: LanguageSpec = LanguageSpec {
    grammar: || tree_sitter_ruby::LANGUAGE.into(),
    roles: &[
        (NodeRole::Function, &["method", "singleton_method"]),
        (NodeRole::Lambda, &["lambda", "block", "do_block"]),
        (NodeRole::Class, &["class", "module"]),
        (NodeRole::If, &["if", "unless", "if_modifier", "unless_modifier"]),
        (NodeRole::Elif, &["elsif"]),
        (NodeRole::Else, &["else"]),
        (NodeRole::Loop, &["while", "until", "for", "while_modifier", "until_modifier"]),
        (NodeRole::Switch, &["case", "case_match"]),
        (NodeRole::Case, &["when", "in_clause"]),
        (NodeRole::Arm, &["when", "in_clause"]),
        (NodeRole::Catch, &["rescue", "rescue_modifier"]),
        (NodeRole::Ternary, &["conditional"]),
        (NodeRole::Block, &["program", "body_statement", "block_body", "then", "do", "else"]),
        (NodeRole::Import, &["call"]),
        (NodeRole::Comment, &["comment"]),
        (NodeRole::Params, &["method_parameters", "lambda_parameters", "block_parameters"]),
        (NodeRole::Member, &["call", "scope_resolution"]),
        (NodeRole::Call, &["call"]),
        (NodeRole::Binding, &["assignment"]),
        (NodeRole::Heritage, &["superclass"]),
        (NodeRole::Binary, &["binary", "operator_assignment"]),
        (NodeRole::Name, &["identifier", "constant", "global_variable"]),
        (NodeRole::MemberName, &["instance_variable", "class_variable", "hash_key_symbol", "simple_symbol"]),
        (NodeRole::Own, &["self"]),
        (NodeRole::Text, &["string_content", "heredoc_content"]),
        (NodeRole::Number, &["integer", "float", "character", "rational", "complex"]),
        (NodeRole::Constant, &["true", "false", "nil"]),
        (NodeRole::TypeUse, &["superclass"]),
    ],
    operators: &["&&", "||", "and", "or", "&&=", "||="],
    own: &["self"],
    bare_fields: false,
    visibility: VisibilityRule::Words(AccessLevel::Public),
    entry_points: &["initialize", "method_missing", "respond_to_missing?", "included", "inherited"],
    constructors: &["initialize"],
    imports,
    strict_grammar: true,
    free_names: FreeNameRule::CalleesAndTypes,
};

/// Reads `require`, `require_relative`, `load`; the last two name files of the project.
fn imports(node: Node<'_>, source: &[u8], found: &mut Vec<ImportStatement>) {
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
    found.push(ImportStatement::load(node, format!("{prefix}{}", text(content, source))));
}
