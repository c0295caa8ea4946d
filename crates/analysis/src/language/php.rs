//! PHP.

use super::{Role, Spec, Visibility, text, unquoted};
use crate::facts::{Access, Import};
use tree_sitter::Node;

pub(super) static SPEC: Spec = Spec {
    grammar: || tree_sitter_php::LANGUAGE_PHP.into(),
    roles: &[
        (Role::Function, &["function_definition", "method_declaration"]),
        (Role::Lambda, &["anonymous_function", "arrow_function"]),
        (
            Role::Class,
            &["class_declaration", "interface_declaration", "trait_declaration", "enum_declaration"],
        ),
        (Role::If, &["if_statement"]),
        (Role::Elif, &["else_if_clause"]),
        (Role::Else, &["else_clause"]),
        (Role::Loop, &["for_statement", "foreach_statement", "while_statement", "do_statement"]),
        (Role::Switch, &["switch_statement", "match_expression"]),
        (Role::Case, &["case_statement", "match_conditional_expression"]),
        (
            Role::Arm,
            &[
                "case_statement",
                "default_statement",
                "match_conditional_expression",
                "match_default_expression",
            ],
        ),
        (Role::Catch, &["catch_clause"]),
        (Role::Ternary, &["conditional_expression"]),
        (Role::Jump, &["goto_statement"]),
        (Role::Block, &["program", "compound_statement", "declaration_list", "switch_block", "colon_block"]),
        (
            Role::Import,
            &[
                "namespace_use_clause",
                "include_expression",
                "include_once_expression",
                "require_expression",
                "require_once_expression",
            ],
        ),
        (Role::Package, &["namespace_definition"]),
        (Role::Comment, &["comment", "php_tag", "php_end_tag", "text"]),
        (Role::Params, &["formal_parameters"]),
        (
            Role::Member,
            &[
                "member_access_expression",
                "member_call_expression",
                "scoped_call_expression",
                "nullsafe_member_access_expression",
                "nullsafe_member_call_expression",
            ],
        ),
        (Role::Call, &["function_call_expression", "member_call_expression", "scoped_call_expression"]),
        (Role::Binding, &["assignment_expression", "property_element"]),
        (Role::Decorator, &["attribute_list"]),
        (Role::Modifiers, &["visibility_modifier", "static_modifier", "abstract_modifier", "final_modifier"]),
        (Role::Heritage, &["base_clause", "class_interface_clause"]),
        (Role::Binary, &["binary_expression", "augmented_assignment_expression"]),
        (Role::Name, &["name", "variable_name"]),
        (Role::Text, &["string", "string_content", "heredoc_body", "nowdoc_body"]),
        (Role::Number, &["integer", "float"]),
        (Role::Constant, &["boolean", "null"]),
    ],
    operators: &["&&", "||", "??", "and", "or", "??="],
    own: &["$this"],
    bare_fields: false,
    visibility: Visibility::Words(Access::Public),
    entry_points: &["main"],
    constructors: &["__construct"],
    imports,
    strict_grammar: true,
};

/// Reads `use A\B\C;` and the inclusion of a file with a literal name.
fn imports(node: Node<'_>, source: &[u8], found: &mut Vec<Import>) {
    let module = if node.kind() == "namespace_use_clause" {
        node.named_child(0).map(|name| text(name, source))
    } else {
        node.named_child(0).filter(|name| name.kind() == "string").map(|name| {
            let path = unquoted(name, source);
            if path.starts_with('.') { path } else { format!("./{path}") }
        })
    };
    found.extend(module.map(|module| Import::load(node, module)));
}
