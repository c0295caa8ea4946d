//! C#.

use super::{Role, Spec, Visibility, text};
use crate::facts::{Access, Import};
use tree_sitter::Node;

pub(super) static SPEC: Spec = Spec {
    grammar: || tree_sitter_c_sharp::LANGUAGE.into(),
    roles: &[
        (
            Role::Function,
            &[
                "method_declaration",
                "constructor_declaration",
                "destructor_declaration",
                "local_function_statement",
            ],
        ),
        (
            Role::Lambda,
            &[
                "lambda_expression",
                "anonymous_method_expression",
                "accessor_declaration",
                "operator_declaration",
                "conversion_operator_declaration",
            ],
        ),
        (
            Role::Class,
            &[
                "class_declaration",
                "struct_declaration",
                "interface_declaration",
                "record_declaration",
                "enum_declaration",
            ],
        ),
        (Role::Namespace, &["namespace_declaration"]),
        (Role::If, &["if_statement"]),
        (Role::Loop, &["for_statement", "foreach_statement", "while_statement", "do_statement"]),
        (Role::Switch, &["switch_statement", "switch_expression"]),
        (Role::Case, &["'case'", "switch_expression_arm"]),
        (Role::Arm, &["switch_section", "switch_expression_arm"]),
        (Role::Catch, &["catch_clause"]),
        (Role::Ternary, &["conditional_expression"]),
        (Role::Jump, &["goto_statement"]),
        (
            Role::Block,
            &["compilation_unit", "block", "declaration_list", "switch_body", "arrow_expression_clause"],
        ),
        (Role::Import, &["using_directive"]),
        (Role::Package, &["namespace_declaration", "file_scoped_namespace_declaration"]),
        (Role::Comment, &["comment"]),
        (Role::Params, &["parameter_list"]),
        (Role::Member, &["member_access_expression", "qualified_name", "member_binding_expression"]),
        (Role::Call, &["invocation_expression"]),
        (Role::Binding, &["variable_declarator", "property_declaration"]),
        (Role::Field, &["field_declaration", "property_declaration"]),
        (Role::Decorator, &["attribute_list"]),
        (Role::Modifiers, &["modifier"]),
        (Role::Heritage, &["base_list"]),
        (Role::Binary, &["binary_expression"]),
        (Role::Name, &["identifier"]),
        (Role::Own, &["'this'"]),
        (Role::Text, &["string_literal", "verbatim_string_literal", "raw_string_literal", "string_content"]),
        (Role::Number, &["integer_literal", "real_literal", "character_literal"]),
        (Role::Constant, &["boolean_literal", "null_literal"]),
        (Role::Silent, &["interpolation_start", "interpolation_quote"]),
    ],
    operators: &["&&", "||", "??"],
    own: &["this"],
    bare_fields: true,
    visibility: Visibility::Words(Access::Private),
    entry_points: &["Main"],
    constructors: &[],
    imports,
    strict_grammar: true,
};

/// Reads `using A.B;`. An alias or a static using names the same namespace.
fn imports(node: Node<'_>, source: &[u8], found: &mut Vec<Import>) {
    let mut cursor = node.walk();
    let Some(path) = node.named_children(&mut cursor).last() else { return };
    found.push(Import::load(node, text(path, source).split_whitespace().collect()));
}
