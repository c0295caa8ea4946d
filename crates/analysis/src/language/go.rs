//! Go.

use super::{FreeNameRule, LanguageSpec, NodeRole, VisibilityRule, text, unquoted};
use crate::facts::ImportStatement;
use tree_sitter::Node;

pub(super) static SPEC: LanguageSpec = LanguageSpec {
    grammar: || tree_sitter_go::LANGUAGE.into(),
    roles: &[
        (NodeRole::Function, &["function_declaration", "method_declaration"]),
        (NodeRole::Lambda, &["func_literal"]),
        (NodeRole::Class, &["type_spec"]),
        (NodeRole::If, &["if_statement"]),
        (NodeRole::Loop, &["for_statement"]),
        (NodeRole::Switch, &["expression_switch_statement", "type_switch_statement", "select_statement"]),
        (NodeRole::Case, &["expression_case", "type_case", "communication_case"]),
        (NodeRole::Arm, &["expression_case", "type_case", "communication_case", "default_case"]),
        (NodeRole::Jump, &["goto_statement", "break_statement", "continue_statement"]),
        (NodeRole::Block, &["source_file", "block", "statement_list"]),
        (NodeRole::Import, &["import_spec"]),
        (NodeRole::Package, &["package_clause"]),
        (NodeRole::Comment, &["comment"]),
        (NodeRole::Params, &["parameter_list"]),
        (NodeRole::Member, &["selector_expression", "qualified_type"]),
        (NodeRole::Call, &["call_expression"]),
        (NodeRole::Keyed, &["keyed_element"]),
        (NodeRole::Binding, &["var_spec", "const_spec"]),
        (NodeRole::Binary, &["binary_expression"]),
        (NodeRole::Name, &["identifier", "package_identifier", "label_name"]),
        (NodeRole::MemberName, &["field_identifier", "type_identifier"]),
        (NodeRole::Text, &["interpreted_string_literal", "raw_string_literal"]),
        (NodeRole::Number, &["int_literal", "float_literal", "imaginary_literal", "rune_literal"]),
        (NodeRole::Constant, &["true", "false", "nil", "iota"]),
        (NodeRole::Binds, &["parameter_list", "type_parameter_list"]),
        (
            NodeRole::BindsPart,
            &[
                "short_var_declaration",
                "range_clause",
                "var_spec",
                "const_spec",
                "receive_statement",
                "type_alias",
            ],
        ),
    ],
    operators: &["&&", "||"],
    own: &[],
    bare_fields: false,
    visibility: VisibilityRule::Capital,
    entry_points: &["main", "init"],
    constructors: &[],
    imports,
    strict_grammar: true,
    free_names: FreeNameRule::NotBound,
};

fn imports(node: Node<'_>, source: &[u8], found: &mut Vec<ImportStatement>) {
    let Some(path) = node.child_by_field_name("path") else { return };
    let module = unquoted(path, source);
    let alias = node.child_by_field_name("name").map(|name| text(name, source));
    // A major version is no part of the package's name.
    let is_version =
        |part: &&str| part.len() > 1 && part.starts_with('v') && part[1..].parse::<u32>().is_ok();
    let last = module.rsplit('/').find(|part| !is_version(part)).map(str::to_owned);
    let names = if alias.as_deref() == Some(".") { vec!["*".to_owned()] } else { Vec::new() };
    found.push(ImportStatement { names, local: alias.or(last), ..ImportStatement::load(node, module) });
}
