//! Java.

use super::{FreeNameRule, LanguageSpec, NodeRole, VisibilityRule, text};
use crate::facts::{AccessLevel, ImportStatement};
use tree_sitter::Node;

pub(super) static SPEC: LanguageSpec = LanguageSpec {
    grammar: || tree_sitter_java::LANGUAGE.into(),
    roles: &[
        (
            NodeRole::Function,
            &["method_declaration", "constructor_declaration", "compact_constructor_declaration"],
        ),
        (NodeRole::Lambda, &["lambda_expression", "static_initializer"]),
        (
            NodeRole::Class,
            &[
                "class_declaration",
                "interface_declaration",
                "enum_declaration",
                "record_declaration",
                "annotation_type_declaration",
            ],
        ),
        (NodeRole::If, &["if_statement"]),
        (NodeRole::Loop, &["for_statement", "enhanced_for_statement", "while_statement", "do_statement"]),
        (NodeRole::Switch, &["switch_expression"]),
        (NodeRole::Case, &["switch_label"]),
        (NodeRole::Arm, &["switch_block_statement_group", "switch_rule"]),
        (NodeRole::Catch, &["catch_clause"]),
        (NodeRole::Ternary, &["ternary_expression"]),
        (NodeRole::Jump, &["break_statement", "continue_statement"]),
        (
            NodeRole::Block,
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
        (NodeRole::Import, &["import_declaration"]),
        (NodeRole::Package, &["package_declaration"]),
        (NodeRole::Comment, &["line_comment", "block_comment"]),
        (NodeRole::Params, &["formal_parameters", "inferred_parameters"]),
        (NodeRole::Member, &["field_access", "scoped_identifier", "method_reference", "method_invocation"]),
        (NodeRole::Call, &["method_invocation"]),
        (NodeRole::Binding, &["variable_declarator"]),
        (NodeRole::Field, &["field_declaration"]),
        (NodeRole::Decorator, &["annotation", "marker_annotation"]),
        (NodeRole::Modifiers, &["modifiers"]),
        (NodeRole::Heritage, &["superclass", "super_interfaces", "extends_interfaces"]),
        (NodeRole::Binary, &["binary_expression"]),
        (NodeRole::Name, &["identifier"]),
        (NodeRole::MemberName, &["type_identifier"]),
        (NodeRole::Own, &["this"]),
        (NodeRole::Text, &["string_literal"]),
        (
            NodeRole::Number,
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
        (NodeRole::Constant, &["true", "false", "null_literal"]),
    ],
    operators: &["&&", "||"],
    own: &["this"],
    bare_fields: true,
    visibility: VisibilityRule::Words(AccessLevel::Internal),
    // Serialization calls the others.
    entry_points: &["main", "readObject", "writeObject", "readObjectNoData", "readResolve", "writeReplace"],
    constructors: &[],
    imports,
    strict_grammar: true,
    free_names: FreeNameRule::CalleesAndTypes,
};

/// Reads `a.b.C` and `a.b.*`; a static import names the member, too.
fn imports(node: Node<'_>, source: &[u8], found: &mut Vec<ImportStatement>) {
    let mut cursor = node.walk();
    let children: Vec<_> = node.children(&mut cursor).collect();
    let Some(path) = children.iter().find(|child| child.kind() == "scoped_identifier") else { return };
    let mut module: String = text(*path, source).split_whitespace().collect();
    if children.iter().any(|child| child.kind() == "asterisk") {
        module.push_str(".*");
    }
    found.push(ImportStatement::load(node, module));
}
