//! Cyclomatic and cognitive complexity, counted while the tree is visited.
//!
//! Cyclomatic: one, plus one for each condition, loop, case other than the default, handler, conditional expression,
//! comprehension clause and short-circuit operator. Cognitive: one for each break in the linear flow, plus one for
//! each level of nesting around it; one for `else` and each further condition; one for a run of the same short-circuit
//! operator; one for a jump to a label and for direct recursion. Code in a nested callable counts there.

use super::{NodeFrame, SyntaxVisitor};
use crate::language::{NodeRole, RoleSet, TokenKind};
use tree_sitter::Node;

const FLOW_ROLES: RoleSet = RoleSet::of(&[
    NodeRole::If,
    NodeRole::Elif,
    NodeRole::Loop,
    NodeRole::Switch,
    NodeRole::Match,
    NodeRole::Case,
    NodeRole::Catch,
    NodeRole::Ternary,
    NodeRole::Clause,
    NodeRole::Jump,
]);

const DECISION_ROLES: RoleSet = RoleSet::of(&[
    NodeRole::If,
    NodeRole::Elif,
    NodeRole::Loop,
    NodeRole::Catch,
    NodeRole::Ternary,
    NodeRole::Clause,
]);

const NESTING_ROLES: RoleSet = RoleSet::of(&[
    NodeRole::If,
    NodeRole::Loop,
    NodeRole::Switch,
    NodeRole::Match,
    NodeRole::Catch,
    NodeRole::Ternary,
]);

const CONDITION_ROLES: RoleSet = RoleSet::of(&[NodeRole::If, NodeRole::Elif]);

impl<'tree> SyntaxVisitor<'tree> {
    pub(super) fn enter_flow(&mut self, node: Node<'tree>, parent: &NodeFrame, frame: &mut NodeFrame) {
        if !frame.roles.any(FLOW_ROLES) {
            return;
        }
        let is_decision = frame.roles.any(DECISION_ROLES) || self.is_deciding_case(node, frame);
        let is_jump = frame.roles.has(NodeRole::Jump) && has_label(node);
        let open = self.innermost();
        open.cyclomatic += u32::from(is_decision);
        open.cognitive += u32::from(frame.roles.has(NodeRole::Elif) || is_jump);
        let is_further_condition = frame.roles.has(NodeRole::If) && parent.after_else;
        if frame.roles.any(NESTING_ROLES) && !is_further_condition {
            open.cognitive += 1 + open.nesting;
            open.nesting += 1;
            open.deepest = open.deepest.max(open.nesting);
            frame.nests = true;
        }
    }

    /// Returns true if a case is a decision. The default is not; neither is the first arm of an exhaustive
    /// choice, because once all other arms are ruled out one remains without a decision.
    fn is_deciding_case(&mut self, node: Node<'tree>, frame: &NodeFrame) -> bool {
        if !frame.roles.has(NodeRole::Case) {
            return false;
        }
        let n_frames = self.frames.len();
        let around = self.frames[n_frames.saturating_sub(2)..].iter_mut();
        match around.rev().find(|frame| frame.roles.has(NodeRole::Match)) {
            Some(complete) => std::mem::replace(&mut complete.after_then, true),
            None => !is_default(&self.source[node.byte_range()]),
        }
    }

    /// Processes a token that affects the flow: `else`, or a short-circuit operator.
    pub(super) fn flow_token(&mut self, operator: u8, word: TokenKind) {
        let Some((frame, around)) = self.frames.split_last_mut() else { return };
        let Some(open) = self.open.last_mut() else { return };
        if word == TokenKind::Else {
            frame.after_else = true;
            let is_clause = frame.roles.has(NodeRole::Else)
                && around.last().is_some_and(|parent| parent.roles.any(CONDITION_ROLES));
            if frame.roles.has(NodeRole::If) || is_clause {
                open.cognitive += 1;
            } else if frame.roles.has(NodeRole::Guard) {
                open.cyclomatic += 1;
                open.cognitive += 1 + open.nesting;
            }
        }
        if operator != 0 && frame.roles.has(NodeRole::Binary) {
            open.cyclomatic += 1;
            // Equal to the operator of the left side: the same run.
            open.cognitive += u32::from(frame.operator != operator);
            frame.operator = operator;
        }
    }

    pub(super) fn leave_flow(&mut self, frame: &NodeFrame) {
        if frame.nests {
            let open = self.innermost();
            open.nesting = open.nesting.saturating_sub(1);
        }
        if frame.operator != 0 {
            self.join_operators(frame.operator);
        }
    }

    /// Passes a finished operator to the parent node. As its left operand it comes before the parent's own
    /// operator; as its right operand it comes after, and if both are equal the run has already been counted.
    fn join_operators(&mut self, operator: u8) {
        let Some(parent) = self.frames.last_mut().filter(|parent| parent.roles.has(NodeRole::Binary)) else {
            return;
        };
        if parent.operator == 0 {
            parent.operator = operator;
        } else if parent.operator == operator {
            let open = self.innermost();
            open.cognitive = open.cognitive.saturating_sub(1);
        }
    }
}

/// Returns true if a case begins like the default.
fn is_default(case: &[u8]) -> bool {
    let head = case.trim_ascii_start();
    if [&b"default"[..], b"else", b"*)"].iter().any(|word| head.starts_with(word)) {
        return true;
    }
    let pattern = head.strip_prefix(b"case").unwrap_or(head).trim_ascii_start();
    pattern.strip_prefix(b"_").is_some_and(|rest| {
        let rest = rest.trim_ascii_start();
        rest.starts_with(b":") || rest.starts_with(b"=>") || rest.starts_with(b"->")
    })
}

fn has_label(node: Node<'_>) -> bool {
    if node.kind().starts_with("goto") {
        return true;
    }
    node.named_child(0).is_some_and(|child| {
        let is_statement = node.kind().ends_with("_statement");
        matches!(child.kind(), "label" | "label_name" | "statement_identifier")
            || (is_statement && child.kind() == "identifier")
    })
}
