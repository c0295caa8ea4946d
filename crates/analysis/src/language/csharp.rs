//! C#.

use super::{FreeNameRule, LanguageSpec, NodeRole, VisibilityRule, text};
use crate::facts::{AccessLevel, ImportStatement};
use tree_sitter::Node;

pub(super) static SPEC: LanguageSpec = LanguageSpec {
    grammar: || tree_sitter_c_sharp::LANGUAGE.into(),
    roles: &[
        (
            NodeRole::Function,
            &[
                "method_declaration",
                "constructor_declaration",
                "destructor_declaration",
                "local_function_statement",
            ],
        ),
        (
            NodeRole::Lambda,
            &[
                "lambda_expression",
                "anonymous_method_expression",
                "accessor_declaration",
                "operator_declaration",
                "conversion_operator_declaration",
            ],
        ),
        (
            NodeRole::Class,
            &[
                "class_declaration",
                "struct_declaration",
                "interface_declaration",
                "record_declaration",
                "enum_declaration",
            ],
        ),
        (NodeRole::Namespace, &["namespace_declaration"]),
        (NodeRole::If, &["if_statement"]),
        (NodeRole::Loop, &["for_statement", "foreach_statement", "while_statement", "do_statement"]),
        (NodeRole::Switch, &["switch_statement", "switch_expression"]),
        (NodeRole::Case, &["'case'", "switch_expression_arm"]),
        (NodeRole::Arm, &["switch_section", "switch_expression_arm"]),
        (NodeRole::Catch, &["catch_clause"]),
        (NodeRole::Ternary, &["conditional_expression"]),
        (NodeRole::Jump, &["goto_statement"]),
        (
            NodeRole::Block,
            &["compilation_unit", "block", "declaration_list", "switch_body", "arrow_expression_clause"],
        ),
        (NodeRole::Import, &["using_directive"]),
        (NodeRole::Package, &["namespace_declaration", "file_scoped_namespace_declaration"]),
        (NodeRole::Comment, &["comment"]),
        (NodeRole::Params, &["parameter_list"]),
        (NodeRole::Member, &["member_access_expression", "qualified_name", "member_binding_expression"]),
        (NodeRole::Call, &["invocation_expression"]),
        (NodeRole::Binding, &["variable_declarator", "property_declaration"]),
        (NodeRole::Field, &["field_declaration", "property_declaration"]),
        (NodeRole::Decorator, &["attribute_list"]),
        (NodeRole::Modifiers, &["modifier"]),
        (NodeRole::Heritage, &["base_list"]),
        (NodeRole::Binary, &["binary_expression"]),
        (NodeRole::Name, &["identifier"]),
        (NodeRole::Own, &["'this'"]),
        (
            NodeRole::Text,
            &["string_literal", "verbatim_string_literal", "raw_string_literal", "string_content"],
        ),
        (NodeRole::Number, &["integer_literal", "real_literal", "character_literal"]),
        (NodeRole::Constant, &["boolean_literal", "null_literal"]),
        (NodeRole::Silent, &["interpolation_start", "interpolation_quote"]),
        (
            NodeRole::TypeUse,
            &[
                "base_list",
                "generic_name",
                "nullable_type",
                "array_type",
                "type_argument_list",
                "object_creation_expression",
            ],
        ),
    ],
    operators: &["&&", "||", "??"],
    own: &["this"],
    bare_fields: true,
    visibility: VisibilityRule::Words(AccessLevel::Private),
    entry_points: &["Main"],
    constructors: &[],
    imports,
    strict_grammar: true,
    free_names: FreeNameRule::CalleesAndTypes,
};

/// Reads `using A.B;`. An alias or a static using names the same namespace.
fn imports(node: Node<'_>, source: &[u8], found: &mut Vec<ImportStatement>) {
    let mut cursor = node.walk();
    let Some(path) = node.named_children(&mut cursor).last() else { return };
    found.push(ImportStatement::load(node, text(path, source).split_whitespace().collect()));
}
