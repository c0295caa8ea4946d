//! JavaScript, including JSX.

use super::{FreeNameRule, LanguageSpec, NodeRole, VisibilityRule, text, unquoted};
use crate::facts::{ImportKind, ImportStatement};
use tree_sitter::Node;

pub(super) static SPEC: LanguageSpec = LanguageSpec {
    grammar: || tree_sitter_javascript::LANGUAGE.into(),
    roles: &[
        (
            NodeRole::Function,
            &["function_declaration", "generator_function_declaration", "method_definition"],
        ),
        (NodeRole::Lambda, &["arrow_function", "function_expression", "generator_function"]),
        (NodeRole::Class, &["class_declaration", "class"]),
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
        (NodeRole::Member, &["member_expression"]),
        (NodeRole::Call, &["call_expression", "new_expression"]),
        (NodeRole::Binding, &["variable_declarator", "pair", "assignment_expression", "field_definition"]),
        (NodeRole::Decorator, &["decorator"]),
        (NodeRole::Heritage, &["class_heritage"]),
        (NodeRole::Binary, &["binary_expression", "augmented_assignment_expression"]),
        (NodeRole::Export, &["export_statement", "export_clause"]),
        (
            NodeRole::Name,
            &["identifier", "shorthand_property_identifier", "shorthand_property_identifier_pattern"],
        ),
        (NodeRole::MemberName, &["property_identifier", "private_property_identifier"]),
        (NodeRole::Own, &["this"]),
        (NodeRole::Text, &["string_fragment", "regex", "jsx_text"]),
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
            ],
        ),
    ],
    operators: &["&&", "||", "??", "&&=", "||=", "??="],
    own: &["this"],
    bare_fields: false,
    visibility: VisibilityRule::Export,
    entry_points: &["main"],
    constructors: &["constructor"],
    imports,
    strict_grammar: true,
    free_names: FreeNameRule::NotBound,
};

/// Reads `import … from`, `export … from`, `require(…)`, `import(…)`.
pub(super) fn imports(node: Node<'_>, source: &[u8], found: &mut Vec<ImportStatement>) {
    let (module, kind) = if node.kind() == "call_expression" {
        let Some((module, kind)) = called_module(node, source) else { return };
        (module, kind)
    } else {
        let clause = node.named_child(0).and_then(|clause| clause.child_by_field_name("source"));
        let Some(module) = node.child_by_field_name("source").or(clause) else { return };
        let is_type = node.child(1).is_some_and(|word| word.kind() == "type");
        (module, if is_type { ImportKind::TypeOnly } else { ImportKind::Load })
    };
    let mut statement = ImportStatement { kind, ..ImportStatement::load(node, unquoted(module, source)) };
    if node.kind() != "call_expression" {
        read_clauses(node, source, &mut statement);
    }
    found.push(statement);
}

/// Reads the names of `import { a, b as c }`, `export { a } from`, `export * from` and `import * as module`.
fn read_clauses(node: Node<'_>, source: &[u8], statement: &mut ImportStatement) {
    let mut open: Vec<Node<'_>> = vec![node];
    while let Some(node) = open.pop() {
        match node.kind() {
            "import_specifier" | "export_specifier" => {
                statement.names.extend(node.child_by_field_name("name").map(|name| unquoted(name, source)));
            }
            "*" if statement.names.is_empty() => statement.names.push("*".to_owned()),
            "namespace_import" => {
                statement.local = node.named_child(0).map(|name| text(name, source));
            }
            "import_statement" | "export_statement" | "import_clause" | "named_imports" | "export_clause" => {
                open.extend(node.children(&mut node.walk()));
            }
            _ => {}
        }
    }
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
