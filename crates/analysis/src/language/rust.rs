//! Rust.

use super::{Role, Spec, Visibility, text};
use crate::facts::{Import, ImportKind};
use tree_sitter::Node;

pub(super) static SPEC: Spec = Spec {
    grammar: || tree_sitter_rust::LANGUAGE.into(),
    roles: &[
        (Role::Function, &["function_item", "function_signature_item"]),
        (Role::Lambda, &["closure_expression"]),
        (Role::Class, &["impl_item", "trait_item", "struct_item", "enum_item", "union_item"]),
        (Role::Namespace, &["mod_item"]),
        (Role::If, &["if_expression"]),
        (Role::Else, &["else_clause"]),
        (Role::Guard, &["let_declaration"]),
        (Role::Loop, &["for_expression", "while_expression", "loop_expression"]),
        (Role::Match, &["match_expression"]),
        (Role::Case, &["match_arm"]),
        (Role::Arm, &["match_arm"]),
        (Role::Jump, &["break_expression", "continue_expression"]),
        (Role::Block, &["source_file", "block", "declaration_list", "match_block"]),
        (Role::Import, &["use_declaration", "mod_item"]),
        (Role::Comment, &["line_comment", "block_comment", "shebang"]),
        (Role::Params, &["parameters", "closure_parameters"]),
        (Role::Member, &["field_expression", "scoped_identifier", "scoped_type_identifier"]),
        (Role::Call, &["call_expression", "macro_invocation", "generic_function"]),
        (Role::Binding, &["let_declaration", "const_item", "static_item"]),
        (Role::Decorator, &["attribute_item"]),
        (Role::Modifiers, &["visibility_modifier"]),
        (Role::Binary, &["binary_expression", "let_chain"]),
        (Role::Name, &["identifier", "shorthand_field_identifier", "metavariable"]),
        (Role::MemberName, &["field_identifier", "type_identifier"]),
        (Role::Own, &["self"]),
        (Role::Text, &["string_literal", "raw_string_literal"]),
        (Role::Number, &["integer_literal", "float_literal", "char_literal"]),
        (Role::Constant, &["boolean_literal"]),
    ],
    operators: &["&&", "||"],
    own: &["self"],
    bare_fields: false,
    visibility: Visibility::PubKeyword,
    entry_points: &["main"],
    constructors: &["new", "default"],
    imports,
    strict_grammar: true,
};

/// Reads one import for each leaf of a `use` tree, as a full path; and `mod name;`.
fn imports(node: Node<'_>, source: &[u8], found: &mut Vec<Import>) {
    let import = |module, kind| Import { kind, ..Import::load(node, module) };
    if node.kind() == "mod_item" {
        if let (None, Some(name)) = (node.child_by_field_name("body"), node.child_by_field_name("name")) {
            let attribute = node.prev_sibling().filter(|before| before.kind() == "attribute_item");
            let is_inner = node.parent().is_some_and(|around| around.kind() != "source_file");
            // Attributes and inline modules decide whether and where the file exists.
            let optional = attribute.is_some() || is_inner;
            found.push(Import { optional, ..import(text(name, source).replace("r#", ""), ImportKind::Part) });
        }
        return;
    }
    // Walks the tree with the prefix so far, within a bound.
    let mut open: Vec<(Node<'_>, String)> =
        node.child_by_field_name("argument").map(|argument| (argument, String::new())).into_iter().collect();
    while let Some((node, prefix)) = open.pop() {
        let join = |node: Node<'_>| {
            let path: String = text(node, source).split_whitespace().collect();
            if prefix.is_empty() { path } else { format!("{prefix}::{path}") }
        };
        match node.kind() {
            "scoped_use_list" => {
                let prefix = node.child_by_field_name("path").map_or_else(|| prefix.clone(), join);
                open.extend(node.child_by_field_name("list").map(|list| (list, prefix)));
            }
            "use_list" => {
                let mut cursor = node.walk();
                open.extend(node.named_children(&mut cursor).map(|child| (child, prefix.clone())));
            }
            "use_as_clause" => {
                open.extend(node.child_by_field_name("path").map(|path| (path, prefix.clone())));
            }
            "use_wildcard" => {
                let path = node.named_child(0).map_or_else(|| prefix.clone(), join);
                found.push(import(path + "::*", ImportKind::Load));
            }
            "line_comment" | "block_comment" => {}
            _ => found.push(import(join(node), ImportKind::Load)),
        }
    }
}
