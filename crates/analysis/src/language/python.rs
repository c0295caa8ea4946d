//! Python.

use super::{Role, Spec, Visibility, text};
use crate::facts::{Import, ImportKind};
use tree_sitter::Node;

pub(super) static SPEC: Spec = Spec {
    grammar: || tree_sitter_python::LANGUAGE.into(),
    roles: &[
        (Role::Function, &["function_definition"]),
        (Role::Lambda, &["lambda"]),
        (Role::Class, &["class_definition"]),
        (Role::If, &["if_statement"]),
        (Role::Elif, &["elif_clause"]),
        (Role::Else, &["else_clause"]),
        (Role::Loop, &["for_statement", "while_statement"]),
        (Role::Switch, &["match_statement"]),
        (Role::Case, &["case_clause"]),
        (Role::Arm, &["case_clause"]),
        (Role::Catch, &["except_clause"]),
        (Role::Ternary, &["conditional_expression"]),
        (Role::Clause, &["for_in_clause", "if_clause"]),
        (Role::Block, &["module", "block"]),
        (Role::Import, &["import_statement", "import_from_statement"]),
        (Role::Comment, &["comment", "line_continuation"]),
        (Role::Params, &["parameters", "lambda_parameters"]),
        (Role::Member, &["attribute"]),
        (Role::Call, &["call"]),
        (Role::Keyed, &["keyword_argument"]),
        (Role::Binding, &["assignment"]),
        (Role::Decorator, &["decorator"]),
        (Role::Heritage, &["argument_list"]),
        (Role::Binary, &["boolean_operator"]),
        (Role::TypeNote, &["type"]),
        (Role::Name, &["identifier"]),
        (Role::Text, &["string_content"]),
        (Role::Number, &["integer", "float"]),
        (Role::Constant, &["true", "false", "none", "ellipsis"]),
        (Role::Silent, &["string_start", "string_end"]),
    ],
    operators: &["and", "or"],
    own: &["self", "cls"],
    bare_fields: false,
    visibility: Visibility::Underscore,
    entry_points: &["main"],
    constructors: &["__init__", "__new__", "__post_init__"],
    imports,
    strict_grammar: true,
};

fn imports(node: Node<'_>, source: &[u8], found: &mut Vec<Import>) {
    let around = node.parent().and_then(|block| block.parent());
    let is_for_types = around.is_some_and(|around| is_type_check(around, source));
    let kind = if is_for_types { ImportKind::TypeOnly } else { ImportKind::Load };
    let optional = around.is_some_and(|around| matches!(around.kind(), "try_statement" | "except_clause"));
    let mut cursor = node.walk();
    let names = node.children_by_field_name("name", &mut cursor).map(|name| {
        let name = name.child_by_field_name("name").unwrap_or(name);
        text(name, source)
    });
    let import = |module| Import { kind, optional, ..Import::load(node, module) };
    match node.child_by_field_name("module_name") {
        Some(module) => {
            let module = text(module, source).split_whitespace().collect();
            found.push(Import { names: names.collect(), ..import(module) });
        }
        None => found.extend(names.map(import)),
    }
}

/// Returns true for `if TYPE_CHECKING:`, which is false at run time.
fn is_type_check(statement: Node<'_>, source: &[u8]) -> bool {
    statement.kind() == "if_statement"
        && statement
            .child_by_field_name("condition")
            .is_some_and(|condition| text(condition, source).ends_with("TYPE_CHECKING"))
}
