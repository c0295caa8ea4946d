//! Kotlin.

use super::{FreeNameRule, LanguageSpec, NodeRole, VisibilityRule, text};
use crate::facts::{AccessLevel, ImportStatement};
use tree_sitter::Node;

pub(super) static SPEC: LanguageSpec = LanguageSpec {
    grammar: || tree_sitter_kotlin_ng::LANGUAGE.into(),
    roles: &[
        (NodeRole::Function, &["function_declaration", "secondary_constructor"]),
        (
            NodeRole::Lambda,
            &["lambda_literal", "anonymous_function", "getter", "setter", "anonymous_initializer"],
        ),
        (NodeRole::Class, &["class_declaration", "object_declaration", "companion_object"]),
        (NodeRole::If, &["if_expression"]),
        (NodeRole::Loop, &["for_statement", "while_statement", "do_while_statement"]),
        (NodeRole::Switch, &["when_expression"]),
        (NodeRole::Case, &["when_entry"]),
        (NodeRole::Arm, &["when_entry"]),
        (NodeRole::Catch, &["catch_block"]),
        (
            NodeRole::Block,
            &["source_file", "block", "function_body", "class_body", "enum_class_body", "lambda_literal"],
        ),
        (NodeRole::Import, &["import"]),
        (NodeRole::Package, &["package_header"]),
        (NodeRole::Comment, &["line_comment", "block_comment", "shebang"]),
        (NodeRole::Params, &["function_value_parameters", "lambda_parameters"]),
        (NodeRole::Member, &["navigation_expression"]),
        (NodeRole::Call, &["call_expression"]),
        (NodeRole::Binding, &["property_declaration", "variable_declaration", "class_parameter"]),
        (NodeRole::Field, &["property_declaration", "class_parameter"]),
        (NodeRole::Decorator, &["annotation"]),
        (NodeRole::Modifiers, &["modifiers"]),
        (NodeRole::Heritage, &["delegation_specifiers"]),
        (NodeRole::Binary, &["binary_expression"]),
        (NodeRole::Name, &["identifier"]),
        (NodeRole::Own, &["this_expression"]),
        (NodeRole::Text, &["string_content"]),
        (NodeRole::Number, &["number_literal", "float_literal", "character_literal"]),
        (NodeRole::TypeUse, &["user_type"]),
    ],
    operators: &["&&", "||", "?:"],
    own: &["this"],
    bare_fields: true,
    visibility: VisibilityRule::Words(AccessLevel::Public),
    entry_points: &["main"],
    constructors: &["constructor"],
    imports,
    strict_grammar: false,
    free_names: FreeNameRule::CalleesAndTypes,
};

/// Reads `import a.b.C` and `import a.b.*`.
fn imports(node: Node<'_>, source: &[u8], found: &mut Vec<ImportStatement>) {
    let mut cursor = node.walk();
    let Some(path) = node.named_children(&mut cursor).find(|child| child.kind() == "qualified_identifier")
    else {
        return;
    };
    let mut module: String = text(path, source).split_whitespace().collect();
    if text(node, source).trim_end().ends_with(".*") {
        module.push_str(".*");
    }
    found.push(ImportStatement::load(node, module));
}
