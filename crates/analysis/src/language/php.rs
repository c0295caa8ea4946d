//! PHP.

use super::{FreeNameRule, LanguageSpec, NodeRole, VisibilityRule, text, unquoted};
use crate::facts::{AccessLevel, ImportStatement};
use tree_sitter::Node;

pub(super) static SPEC: LanguageSpec = LanguageSpec {
    grammar: || tree_sitter_php::LANGUAGE_PHP.into(),
    roles: &[
        (NodeRole::Function, &["function_definition", "method_declaration"]),
        (NodeRole::Lambda, &["anonymous_function", "arrow_function"]),
        (
            NodeRole::Class,
            &["class_declaration", "interface_declaration", "trait_declaration", "enum_declaration"],
        ),
        (NodeRole::If, &["if_statement"]),
        (NodeRole::Elif, &["else_if_clause"]),
        (NodeRole::Else, &["else_clause"]),
        (NodeRole::Loop, &["for_statement", "foreach_statement", "while_statement", "do_statement"]),
        (NodeRole::Switch, &["switch_statement", "match_expression"]),
        (NodeRole::Case, &["case_statement", "match_conditional_expression"]),
        (
            NodeRole::Arm,
            &[
                "case_statement",
                "default_statement",
                "match_conditional_expression",
                "match_default_expression",
            ],
        ),
        (NodeRole::Catch, &["catch_clause"]),
        (NodeRole::Ternary, &["conditional_expression"]),
        (NodeRole::Jump, &["goto_statement"]),
        (
            NodeRole::Block,
            &["program", "compound_statement", "declaration_list", "switch_block", "colon_block"],
        ),
        (
            NodeRole::Import,
            &[
                "namespace_use_clause",
                "include_expression",
                "include_once_expression",
                "require_expression",
                "require_once_expression",
            ],
        ),
        (NodeRole::Package, &["namespace_definition"]),
        (NodeRole::Comment, &["comment", "php_tag", "php_end_tag", "text"]),
        (NodeRole::Params, &["formal_parameters"]),
        (
            NodeRole::Member,
            &[
                "member_access_expression",
                "member_call_expression",
                "scoped_call_expression",
                "nullsafe_member_access_expression",
                "nullsafe_member_call_expression",
            ],
        ),
        (NodeRole::Call, &["function_call_expression", "member_call_expression", "scoped_call_expression"]),
        (NodeRole::Binding, &["assignment_expression", "property_element"]),
        (NodeRole::Decorator, &["attribute_list"]),
        (
            NodeRole::Modifiers,
            &["visibility_modifier", "static_modifier", "abstract_modifier", "final_modifier"],
        ),
        (NodeRole::Heritage, &["base_clause", "class_interface_clause"]),
        (NodeRole::Binary, &["binary_expression", "augmented_assignment_expression"]),
        (NodeRole::Name, &["name", "variable_name"]),
        (NodeRole::Text, &["string", "string_content", "heredoc_body", "nowdoc_body"]),
        (NodeRole::Number, &["integer", "float"]),
        (NodeRole::Constant, &["boolean", "null"]),
        (
            NodeRole::TypeUse,
            &[
                "named_type",
                "object_creation_expression",
                "base_clause",
                "class_interface_clause",
                "use_declaration",
            ],
        ),
    ],
    operators: &["&&", "||", "??", "and", "or", "??="],
    own: &["$this"],
    bare_fields: false,
    visibility: VisibilityRule::Words(AccessLevel::Public),
    entry_points: &["main"],
    constructors: &["__construct"],
    imports,
    strict_grammar: true,
    free_names: FreeNameRule::CalleesAndTypes,
};

/// Reads `use A\B\C;` and the inclusion of a file with a literal name.
fn imports(node: Node<'_>, source: &[u8], found: &mut Vec<ImportStatement>) {
    let module = if node.kind() == "namespace_use_clause" {
        node.named_child(0).map(|name| grouped(node, text(name, source), source))
    } else {
        node.named_child(0).filter(|name| name.kind() == "string").map(|name| {
            let path = unquoted(name, source);
            if path.starts_with('.') { path } else { format!("./{path}") }
        })
    };
    found.extend(module.map(|module| ImportStatement::load(node, module)));
}

/// Puts the prefix of a group before a name: `use A\{B, C};`.
fn grouped(clause: Node<'_>, name: String, source: &[u8]) -> String {
    let group = clause.parent().filter(|group| group.kind() == "namespace_use_group");
    let prefix = group.and_then(|group| group.prev_named_sibling());
    match prefix.filter(|prefix| prefix.kind() == "namespace_name") {
        Some(prefix) => format!("{}\\{name}", text(prefix, source)),
        None => name,
    }
}
