//! JavaScript, including JSX.

use super::{Role, Spec, Visibility, text, unquoted};
use crate::facts::{Import, ImportKind};
use tree_sitter::Node;

pub(super) static SPEC: Spec = Spec {
    grammar: || tree_sitter_javascript::LANGUAGE.into(),
    roles: &[
        (Role::Function, &["function_declaration", "generator_function_declaration", "method_definition"]),
        (Role::Lambda, &["arrow_function", "function_expression", "generator_function"]),
        (Role::Class, &["class_declaration", "class"]),
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
        (Role::Member, &["member_expression"]),
        (Role::Call, &["call_expression", "new_expression"]),
        (Role::Binding, &["variable_declarator", "pair", "assignment_expression", "field_definition"]),
        (Role::Decorator, &["decorator"]),
        (Role::Heritage, &["class_heritage"]),
        (Role::Binary, &["binary_expression", "augmented_assignment_expression"]),
        (Role::Export, &["export_statement", "export_clause"]),
        (
            Role::Name,
            &["identifier", "shorthand_property_identifier", "shorthand_property_identifier_pattern"],
        ),
        (Role::MemberName, &["property_identifier", "private_property_identifier"]),
        (Role::Own, &["this"]),
        (Role::Text, &["string_fragment", "regex", "jsx_text"]),
        (Role::Number, &["number"]),
        (Role::Constant, &["true", "false", "null", "undefined"]),
    ],
    operators: &["&&", "||", "??", "&&=", "||=", "??="],
    own: &["this"],
    bare_fields: false,
    visibility: Visibility::Export,
    entry_points: &["main"],
    constructors: &["constructor"],
    imports,
    strict_grammar: true,
};

/// Reads `import … from`, `export … from`, `require(…)`, `import(…)`.
pub(super) fn imports(node: Node<'_>, source: &[u8], found: &mut Vec<Import>) {
    let (module, kind) = if node.kind() == "call_expression" {
        let Some((module, kind)) = called_module(node, source) else { return };
        (module, kind)
    } else {
        let clause = node.named_child(0).and_then(|clause| clause.child_by_field_name("source"));
        let Some(module) = node.child_by_field_name("source").or(clause) else { return };
        let is_type = node.child(1).is_some_and(|word| word.kind() == "type");
        (module, if is_type { ImportKind::TypeOnly } else { ImportKind::Load })
    };
    found.push(Import { kind, ..Import::load(node, unquoted(module, source)) });
}

fn called_module<'tree>(node: Node<'tree>, source: &[u8]) -> Option<(Node<'tree>, ImportKind)> {
    let function = node.child_by_field_name("function")?;
    let kind = match function.kind() {
        "import" => ImportKind::Deferred,
        "identifier" if text(function, source) == "require" => ImportKind::Load,
        _ => return None,
    };
    let argument = node.child_by_field_name("arguments")?.named_child(0)?;
    (argument.kind() == "string").then_some((argument, kind))
}
