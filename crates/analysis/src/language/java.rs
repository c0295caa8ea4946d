//! Java.

use super::{Role, Spec, Visibility, text};
use crate::facts::{Access, Import};
use tree_sitter::Node;

pub(super) static SPEC: Spec = Spec {
    grammar: || tree_sitter_java::LANGUAGE.into(),
    roles: &[
        (
            Role::Function,
            &["method_declaration", "constructor_declaration", "compact_constructor_declaration"],
        ),
        (Role::Lambda, &["lambda_expression", "static_initializer"]),
        (
            Role::Class,
            &[
                "class_declaration",
                "interface_declaration",
                "enum_declaration",
                "record_declaration",
                "annotation_type_declaration",
            ],
        ),
        (Role::If, &["if_statement"]),
        (Role::Loop, &["for_statement", "enhanced_for_statement", "while_statement", "do_statement"]),
        (Role::Switch, &["switch_expression"]),
        (Role::Case, &["switch_label"]),
        (Role::Arm, &["switch_block_statement_group", "switch_rule"]),
        (Role::Catch, &["catch_clause"]),
        (Role::Ternary, &["ternary_expression"]),
        (Role::Jump, &["break_statement", "continue_statement"]),
        (
            Role::Block,
            &[
                "program",
                "block",
                "class_body",
                "interface_body",
                "enum_body",
                "enum_body_declarations",
                "constructor_body",
                "switch_block",
            ],
        ),
        (Role::Import, &["import_declaration"]),
        (Role::Package, &["package_declaration"]),
        (Role::Comment, &["line_comment", "block_comment"]),
        (Role::Params, &["formal_parameters", "inferred_parameters"]),
        (Role::Member, &["field_access", "scoped_identifier", "method_reference", "method_invocation"]),
        (Role::Call, &["method_invocation"]),
        (Role::Binding, &["variable_declarator"]),
        (Role::Field, &["field_declaration"]),
        (Role::Decorator, &["annotation", "marker_annotation"]),
        (Role::Modifiers, &["modifiers"]),
        (Role::Heritage, &["superclass", "super_interfaces", "extends_interfaces"]),
        (Role::Binary, &["binary_expression"]),
        (Role::Name, &["identifier"]),
        (Role::MemberName, &["type_identifier"]),
        (Role::Own, &["this"]),
        (Role::Text, &["string_literal"]),
        (
            Role::Number,
            &[
                "decimal_integer_literal",
                "hex_integer_literal",
                "octal_integer_literal",
                "binary_integer_literal",
                "decimal_floating_point_literal",
                "hex_floating_point_literal",
                "character_literal",
            ],
        ),
        (Role::Constant, &["true", "false", "null_literal"]),
    ],
    operators: &["&&", "||"],
    own: &["this"],
    bare_fields: true,
    visibility: Visibility::Words(Access::Internal),
    entry_points: &["main"],
    constructors: &[],
    imports,
    strict_grammar: true,
};

/// Reads `a.b.C` and `a.b.*`; a static import names the member, too.
fn imports(node: Node<'_>, source: &[u8], found: &mut Vec<Import>) {
    let mut cursor = node.walk();
    let children: Vec<_> = node.children(&mut cursor).collect();
    let Some(path) = children.iter().find(|child| child.kind() == "scoped_identifier") else { return };
    let mut module: String = text(*path, source).split_whitespace().collect();
    if children.iter().any(|child| child.kind() == "asterisk") {
        module.push_str(".*");
    }
    found.push(Import::load(node, module));
}
