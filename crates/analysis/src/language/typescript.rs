//! TypeScript, and TypeScript with JSX.

use super::{FreeNameRule, LanguageSpec, NodeRole, VisibilityRule, javascript};

static ROLES: &[(NodeRole, &[&str])] = &[
    (
        NodeRole::Function,
        &[
            "function_declaration",
            "generator_function_declaration",
            "method_definition",
            "function_signature",
            "abstract_method_signature",
        ],
    ),
    (NodeRole::Lambda, &["arrow_function", "function_expression", "generator_function"]),
    (NodeRole::Class, &["class_declaration", "class", "abstract_class_declaration", "interface_declaration"]),
    (NodeRole::Namespace, &["internal_module", "module"]),
    (NodeRole::If, &["if_statement"]),
    (NodeRole::Else, &["else_clause"]),
    (NodeRole::Loop, &["for_statement", "for_in_statement", "while_statement", "do_statement"]),
    (NodeRole::Switch, &["switch_statement"]),
    (NodeRole::Case, &["switch_case"]),
    (NodeRole::Arm, &["switch_case", "switch_default"]),
    (NodeRole::Catch, &["catch_clause"]),
    (NodeRole::Ternary, &["ternary_expression"]),
    (NodeRole::Jump, &["break_statement", "continue_statement"]),
    (NodeRole::Block, &["program", "statement_block", "class_body", "switch_body"]),
    (NodeRole::Import, &["import_statement", "export_statement", "call_expression"]),
    (NodeRole::Comment, &["comment", "html_comment", "hash_bang_line"]),
    (NodeRole::Params, &["formal_parameters"]),
    (NodeRole::Member, &["member_expression", "nested_identifier", "nested_type_identifier"]),
    (NodeRole::Call, &["call_expression", "new_expression"]),
    (NodeRole::Binding, &["variable_declarator", "pair", "assignment_expression", "public_field_definition"]),
    (NodeRole::Decorator, &["decorator"]),
    (NodeRole::Modifiers, &["accessibility_modifier", "override_modifier"]),
    (NodeRole::Heritage, &["class_heritage", "extends_type_clause"]),
    (NodeRole::Binary, &["binary_expression", "augmented_assignment_expression"]),
    (NodeRole::TypeNote, &["type_annotation", "type_arguments", "type_parameters"]),
    (NodeRole::Export, &["export_statement", "export_clause"]),
    (
        NodeRole::Name,
        &["identifier", "shorthand_property_identifier", "shorthand_property_identifier_pattern"],
    ),
    (NodeRole::MemberName, &["property_identifier", "private_property_identifier", "type_identifier"]),
    (NodeRole::Own, &["this"]),
    (NodeRole::Text, &["string_fragment", "regex"]),
    (NodeRole::Number, &["number"]),
    (NodeRole::Constant, &["true", "false", "null", "undefined"]),
    (
        NodeRole::Binds,
        &[
            "formal_parameters",
            "object_pattern",
            "array_pattern",
            "rest_pattern",
            "pair_pattern",
            "export_specifier",
            "type_parameters",
        ],
    ),
    (
        NodeRole::BindsPart,
        &[
            "variable_declarator",
            "arrow_function",
            "catch_clause",
            "for_in_statement",
            "assignment_expression",
            "type_alias_declaration",
            "enum_declaration",
            "internal_module",
            "module",
        ],
    ),
];

pub(super) static SPEC: LanguageSpec =
    LanguageSpec { grammar: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(), ..TSX };

pub(super) static TSX: LanguageSpec = LanguageSpec {
    grammar: || tree_sitter_typescript::LANGUAGE_TSX.into(),
    roles: ROLES,
    operators: &["&&", "||", "??", "&&=", "||=", "??="],
    own: &["this"],
    bare_fields: false,
    visibility: VisibilityRule::Export,
    entry_points: &["main"],
    constructors: &["constructor"],
    imports: javascript::imports,
    strict_grammar: true,
    free_names: FreeNameRule::NotBound,
};
