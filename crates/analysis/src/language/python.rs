//! Python.

use super::{FreeNameRule, LanguageSpec, NodeRole, VisibilityRule, text};
use crate::facts::{ImportKind, ImportStatement};
use tree_sitter::Node;

pub(super) static SPEC: LanguageSpec = LanguageSpec {
    grammar: || tree_sitter_python::LANGUAGE.into(),
    roles: &[
        (NodeRole::Function, &["function_definition"]),
        (NodeRole::Lambda, &["lambda"]),
        (NodeRole::Class, &["class_definition"]),
        (NodeRole::If, &["if_statement"]),
        (NodeRole::Elif, &["elif_clause"]),
        (NodeRole::Else, &["else_clause"]),
        (NodeRole::Loop, &["for_statement", "while_statement"]),
        (NodeRole::Switch, &["match_statement"]),
        (NodeRole::Case, &["case_clause"]),
        (NodeRole::Arm, &["case_clause"]),
        (NodeRole::Catch, &["except_clause"]),
        (NodeRole::Ternary, &["conditional_expression"]),
        (NodeRole::Clause, &["for_in_clause", "if_clause"]),
        (NodeRole::Block, &["module", "block"]),
        (NodeRole::Import, &["import_statement", "import_from_statement"]),
        (NodeRole::Comment, &["comment", "line_continuation"]),
        (NodeRole::Params, &["parameters", "lambda_parameters"]),
        (NodeRole::Member, &["attribute"]),
        (NodeRole::Call, &["call"]),
        (NodeRole::Keyed, &["keyword_argument"]),
        (NodeRole::Binding, &["assignment"]),
        (NodeRole::Decorator, &["decorator"]),
        (NodeRole::Heritage, &["argument_list"]),
        (NodeRole::Binary, &["boolean_operator"]),
        (NodeRole::TypeNote, &["type"]),
        (NodeRole::Name, &["identifier"]),
        (NodeRole::Text, &["string_content"]),
        (NodeRole::Number, &["integer", "float"]),
        (NodeRole::Constant, &["true", "false", "none", "ellipsis"]),
        (NodeRole::Silent, &["string_start", "string_end"]),
        (
            NodeRole::Binds,
            &[
                "parameters",
                "lambda_parameters",
                "as_pattern_target",
                "pattern_list",
                "tuple_pattern",
                "list_pattern",
                "list_splat_pattern",
                "global_statement",
                "nonlocal_statement",
                "case_pattern",
                "type_parameter",
            ],
        ),
        (
            NodeRole::BindsPart,
            &["assignment", "augmented_assignment", "for_statement", "for_in_clause", "named_expression"],
        ),
    ],
    operators: &["and", "or"],
    own: &["self", "cls"],
    bare_fields: false,
    visibility: VisibilityRule::Underscore,
    entry_points: &["main"],
    constructors: &["__init__", "__new__", "__post_init__"],
    imports,
    strict_grammar: true,
    free_names: FreeNameRule::NotBound,
};

fn imports(node: Node<'_>, source: &[u8], found: &mut Vec<ImportStatement>) {
    let around = node.parent().and_then(|block| block.parent());
    let is_for_types = around.is_some_and(|around| is_type_check(around, source));
    let kind = if is_for_types { ImportKind::TypeOnly } else { ImportKind::Load };
    let optional = around.is_some_and(|around| matches!(around.kind(), "try_statement" | "except_clause"));
    let mut cursor = node.walk();
    let names = node.children_by_field_name("name", &mut cursor).map(|name| {
        let name = name.child_by_field_name("name").unwrap_or(name);
        text(name, source)
    });
    let import = |module| ImportStatement { kind, optional, ..ImportStatement::load(node, module) };
    if let Some(module) = node.child_by_field_name("module_name") {
        let module = text(module, source).split_whitespace().collect();
        let mut names: Vec<String> = names.collect();
        if node.named_children(&mut node.walk()).any(|child| child.kind() == "wildcard_import") {
            names.push("*".to_owned());
        }
        found.push(ImportStatement { names, ..import(module) });
        return;
    }
    let mut cursor = node.walk();
    for name in node.children_by_field_name("name", &mut cursor) {
        let module = text(name.child_by_field_name("name").unwrap_or(name), source);
        let alias = name.child_by_field_name("alias").map(|alias| text(alias, source));
        let local = alias.or_else(|| (!module.contains('.')).then(|| module.clone()));
        found.push(ImportStatement { local, ..import(module) });
    }
}

/// Returns true for `if TYPE_CHECKING:`, which is false at run time.
fn is_type_check(statement: Node<'_>, source: &[u8]) -> bool {
    statement.kind() == "if_statement"
        && statement
            .child_by_field_name("condition")
            .is_some_and(|condition| text(condition, source).ends_with("TYPE_CHECKING"))
}
