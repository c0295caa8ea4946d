//! Rust.

use super::{FreeNameRule, LanguageSpec, NodeRole, VisibilityRule, text};
use crate::facts::{ImportKind, ImportStatement};
use tree_sitter::Node;

pub(super) static SPEC: LanguageSpec = LanguageSpec {
    grammar: || tree_sitter_rust::LANGUAGE.into(),
    roles: &[
        (NodeRole::Function, &["function_item", "function_signature_item"]),
        (NodeRole::Lambda, &["closure_expression"]),
        (NodeRole::Class, &["impl_item", "trait_item", "struct_item", "enum_item", "union_item"]),
        (NodeRole::Namespace, &["mod_item"]),
        (NodeRole::If, &["if_expression"]),
        (NodeRole::Else, &["else_clause"]),
        (NodeRole::Guard, &["let_declaration"]),
        (NodeRole::Loop, &["for_expression", "while_expression", "loop_expression"]),
        (NodeRole::Match, &["match_expression"]),
        (NodeRole::Case, &["match_arm"]),
        (NodeRole::Arm, &["match_arm"]),
        (NodeRole::Jump, &["break_expression", "continue_expression"]),
        (NodeRole::Block, &["source_file", "block", "declaration_list", "match_block"]),
        (NodeRole::Import, &["use_declaration", "mod_item", "scoped_identifier"]),
        (NodeRole::Comment, &["line_comment", "block_comment", "shebang"]),
        (NodeRole::Params, &["parameters", "closure_parameters"]),
        (NodeRole::Member, &["field_expression", "scoped_identifier", "scoped_type_identifier"]),
        (NodeRole::Call, &["call_expression", "macro_invocation", "generic_function"]),
        (NodeRole::Binding, &["let_declaration", "const_item", "static_item"]),
        (NodeRole::Decorator, &["attribute_item"]),
        (NodeRole::Modifiers, &["visibility_modifier"]),
        (NodeRole::Binary, &["binary_expression", "let_chain"]),
        (NodeRole::Name, &["identifier", "shorthand_field_identifier", "metavariable"]),
        (NodeRole::MemberName, &["field_identifier", "type_identifier"]),
        (NodeRole::Own, &["self"]),
        (NodeRole::Text, &["string_literal", "raw_string_literal"]),
        (NodeRole::Number, &["integer_literal", "float_literal", "char_literal"]),
        (NodeRole::Constant, &["boolean_literal"]),
        (
            NodeRole::Binds,
            &[
                "parameters",
                "closure_parameters",
                "match_pattern",
                "token_tree",
                "type_parameters",
                "macro_definition",
                "lifetime",
            ],
        ),
        (
            NodeRole::BindsPart,
            &[
                "let_declaration",
                "for_expression",
                "let_condition",
                "const_item",
                "static_item",
                "type_item",
                "enum_variant",
                "mod_item",
                "associated_type",
                "extern_crate_declaration",
            ],
        ),
    ],
    operators: &["&&", "||"],
    own: &["self"],
    bare_fields: false,
    visibility: VisibilityRule::PubKeyword,
    entry_points: &["main"],
    constructors: &["new", "default"],
    imports,
    strict_grammar: true,
    free_names: FreeNameRule::NotBound,
};

/// Reads one import for each leaf of a `use` tree, as a full path; `mod name;`; and paths from the root of the crate.
fn imports(node: Node<'_>, source: &[u8], found: &mut Vec<ImportStatement>) {
    if node.kind() == "scoped_identifier" {
        let path: String = text(node, source);
        let is_whole = node.parent().is_none_or(|around| {
            !matches!(around.kind(), "scoped_identifier" | "scoped_type_identifier" | "use_declaration")
                && !around.kind().contains("use_")
        });
        if path.starts_with("crate::") && is_whole && !path.contains(['<', ' ', '\n']) {
            let inner = node.parent().is_some();
            found.push(ImportStatement {
                kind: ImportKind::Deferred,
                inner,
                ..ImportStatement::load(node, path)
            });
        }
        return;
    }
    let inner = node.parent().is_some_and(|around| around.kind() != "source_file");
    let import = |module: String, kind| {
        // Only modules of the same crate are known by their names.
        let is_own = ["crate::", "self::", "super::"].iter().any(|start| module.starts_with(start));
        let local = module.rsplit("::").next().filter(|_| is_own || kind == ImportKind::Part);
        let local = local.map(str::to_owned);
        ImportStatement { local, kind, inner, ..ImportStatement::load(node, module) }
    };
    if node.kind() == "mod_item" {
        if let (None, Some(name)) = (node.child_by_field_name("body"), node.child_by_field_name("name")) {
            let attribute = node.prev_sibling().filter(|before| before.kind() == "attribute_item");
            let is_inner = node.parent().is_some_and(|around| around.kind() != "source_file");
            // Attributes and inline modules decide whether and where the file exists.
            let optional = attribute.is_some() || is_inner;
            found.push(ImportStatement {
                optional,
                ..import(text(name, source).replace("r#", ""), ImportKind::Part)
            });
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
