//! TypeScript, and TypeScript with JSX.

use super::{Role, Spec, Visibility, javascript};

static ROLES: &[(Role, &[&str])] = &[
    (
        Role::Function,
        &[
            "function_declaration",
            "generator_function_declaration",
            "method_definition",
            "function_signature",
            "abstract_method_signature",
        ],
    ),
    (Role::Lambda, &["arrow_function", "function_expression", "generator_function"]),
    (Role::Class, &["class_declaration", "class", "abstract_class_declaration", "interface_declaration"]),
    (Role::Namespace, &["internal_module", "module"]),
    (Role::If, &["if_statement"]),
    (Role::Else, &["else_clause"]),
    (Role::Loop, &["for_statement", "for_in_statement", "while_statement", "do_statement"]),
    (Role::Switch, &["switch_statement"]),
    (Role::Case, &["switch_case"]),
    (Role::Arm, &["switch_case", "switch_default"]),
    (Role::Catch, &["catch_clause"]),
    (Role::Ternary, &["ternary_expression"]),
    (Role::Jump, &["break_statement", "continue_statement"]),
    (Role::Block, &["program", "statement_block", "class_body", "switch_body"]),
    (Role::Import, &["import_statement", "export_statement", "call_expression"]),
    (Role::Comment, &["comment", "html_comment", "hash_bang_line"]),
    (Role::Params, &["formal_parameters"]),
    (Role::Member, &["member_expression", "nested_identifier", "nested_type_identifier"]),
    (Role::Call, &["call_expression", "new_expression"]),
    (Role::Binding, &["variable_declarator", "pair", "assignment_expression", "public_field_definition"]),
    (Role::Decorator, &["decorator"]),
    (Role::Modifiers, &["accessibility_modifier", "override_modifier"]),
    (Role::Heritage, &["class_heritage", "extends_type_clause"]),
    (Role::Binary, &["binary_expression", "augmented_assignment_expression"]),
    (Role::TypeNote, &["type_annotation", "type_arguments", "type_parameters"]),
    (Role::Export, &["export_statement", "export_clause"]),
    (Role::Name, &["identifier", "shorthand_property_identifier", "shorthand_property_identifier_pattern"]),
    (Role::MemberName, &["property_identifier", "private_property_identifier", "type_identifier"]),
    (Role::Own, &["this"]),
    (Role::Text, &["string_fragment", "regex"]),
    (Role::Number, &["number"]),
    (Role::Constant, &["true", "false", "null", "undefined"]),
];

pub(super) static SPEC: Spec = Spec { grammar: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(), ..TSX };

pub(super) static TSX: Spec = Spec {
    grammar: || tree_sitter_typescript::LANGUAGE_TSX.into(),
    roles: ROLES,
    operators: &["&&", "||", "??", "&&=", "||=", "??="],
    own: &["this"],
    bare_fields: false,
    visibility: Visibility::Export,
    entry_points: &["main"],
    constructors: &["constructor"],
    imports: javascript::imports,
    strict_grammar: true,
};
