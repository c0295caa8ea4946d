//! Kotlin.

use super::{Role, Spec, Visibility, text};
use crate::facts::{Access, Import};
use tree_sitter::Node;

pub(super) static SPEC: Spec = Spec {
    grammar: || tree_sitter_kotlin_ng::LANGUAGE.into(),
    roles: &[
        (Role::Function, &["function_declaration", "secondary_constructor"]),
        (
            Role::Lambda,
            &["lambda_literal", "anonymous_function", "getter", "setter", "anonymous_initializer"],
        ),
        (Role::Class, &["class_declaration", "object_declaration", "companion_object"]),
        (Role::If, &["if_expression"]),
        (Role::Loop, &["for_statement", "while_statement", "do_while_statement"]),
        (Role::Switch, &["when_expression"]),
        (Role::Case, &["when_entry"]),
        (Role::Arm, &["when_entry"]),
        (Role::Catch, &["catch_block"]),
        (
            Role::Block,
            &["source_file", "block", "function_body", "class_body", "enum_class_body", "lambda_literal"],
        ),
        (Role::Import, &["import"]),
        (Role::Package, &["package_header"]),
        (Role::Comment, &["line_comment", "block_comment", "shebang"]),
        (Role::Params, &["function_value_parameters", "lambda_parameters"]),
        (Role::Member, &["navigation_expression"]),
        (Role::Call, &["call_expression"]),
        (Role::Binding, &["property_declaration", "variable_declaration", "class_parameter"]),
        (Role::Field, &["property_declaration", "class_parameter"]),
        (Role::Decorator, &["annotation"]),
        (Role::Modifiers, &["modifiers"]),
        (Role::Heritage, &["delegation_specifiers"]),
        (Role::Binary, &["binary_expression"]),
        (Role::Name, &["identifier"]),
        (Role::Own, &["this_expression"]),
        (Role::Text, &["string_content"]),
        (Role::Number, &["number_literal", "float_literal", "character_literal"]),
    ],
    operators: &["&&", "||", "?:"],
    own: &["this"],
    bare_fields: true,
    visibility: Visibility::Words(Access::Public),
    entry_points: &["main"],
    constructors: &["constructor"],
    imports,
    strict_grammar: true,
};

/// Reads `import a.b.C` and `import a.b.*`.
fn imports(node: Node<'_>, source: &[u8], found: &mut Vec<Import>) {
    let mut cursor = node.walk();
    let Some(path) = node.named_children(&mut cursor).find(|child| child.kind() == "qualified_identifier")
    else {
        return;
    };
    let mut module: String = text(path, source).split_whitespace().collect();
    if text(node, source).trim_end().ends_with(".*") {
        module.push_str(".*");
    }
    found.push(Import::load(node, module));
}
