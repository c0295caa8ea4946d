//! The parameters of a callable, for their number and for the public interface.

use super::SyntaxVisitor;
use crate::facts::CallableParameter;
use crate::language::{NodeRole, text};
use tree_sitter::{Node, TreeCursor};

/// No ordinary program has more parameters in a callable.
const MAX_PARAMETERS: usize = 1000;

impl<'tree> SyntaxVisitor<'tree> {
    /// Reads the parameter list at the cursor, if it belongs to the innermost callable.
    pub(super) fn parameters(&mut self, cursor: &TreeCursor<'tree>) {
        let is_of_signature = matches!(cursor.field_name(), None | Some("parameters" | "parameter"));
        let open = self.innermost();
        let unit = open.unit as usize;
        if !is_of_signature || open.has_parameters || !self.facts.units[unit].kind.is_callable() {
            return;
        }
        self.innermost().has_parameters = true;
        let list = cursor.node();
        let mut children = list.walk();
        let mut parameters = Vec::new();
        for child in list.named_children(&mut children).take(MAX_PARAMETERS) {
            if !self.kinds.get(child.kind_id()).roles.has(NodeRole::Comment) {
                self.parameter(child, &mut parameters);
            }
        }
        self.facts.units[unit].parameters = parameters;
    }

    fn parameter(&self, node: Node<'tree>, parameters: &mut Vec<CallableParameter>) {
        const NO_PARAMETERS: [&str; 5] = [
            "self_parameter",
            "keyword_separator",
            "positional_separator",
            "receiver_parameter",
            "parameter_modifiers",
        ];
        // Kotlin's grammar puts the default next to its parameter.
        if node.prev_sibling().is_some_and(|before| before.kind() == "=") {
            parameters.last_mut().into_iter().for_each(|parameter| parameter.optional = true);
            return;
        }
        let words = text(node, self.source);
        let first = words.split([':', '=', ' ', ',']).next().unwrap_or_default();
        if NO_PARAMETERS.contains(&node.kind())
            || words == "void"
            || (parameters.is_empty() && self.spec.own.contains(&first))
        {
            return;
        }
        if node.child_count() == 0 {
            // Most parameters are a bare name: nothing to look up in them.
            parameters.push(CallableParameter { name: words, optional: is_optional_kind(node.kind()) });
            return;
        }
        let mut cursor = node.walk();
        let names: Vec<_> = node.children_by_field_name("name", &mut cursor).collect();
        let optional = is_optional(node);
        // Go declares several parameters of one type together.
        for name in names.iter().skip(1) {
            parameters.push(CallableParameter { name: text(*name, self.source), optional });
        }
        let name = names.first().copied().or_else(|| name_of(node)).unwrap_or(node);
        parameters.push(CallableParameter { name: text(name, self.source), optional });
    }
}

fn name_of(node: Node<'_>) -> Option<Node<'_>> {
    let inner = ["pattern", "left", "declarator"].iter().find_map(|field| node.child_by_field_name(field));
    inner.or_else(|| (node.named_child_count() > 0).then(|| node.named_child(0)).flatten())
}

/// Returns true if callers may omit the parameter: it has a default, or is variadic.
fn is_optional(node: Node<'_>) -> bool {
    const DEFAULTS: [&str; 3] = ["value", "default_value", "right"];
    DEFAULTS.iter().any(|field| node.child_by_field_name(field).is_some()) || is_optional_kind(node.kind())
}

fn is_optional_kind(kind: &str) -> bool {
    ["optional", "splat", "variadic", "rest", "spread"].iter().any(|word| kind.contains(word))
}
