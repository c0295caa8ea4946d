//! Branches of one conditional that do the same. Contents are compared token by token, not by shape.

use super::{NodeFrame, SyntaxVisitor};
use crate::facts::{DuplicateBranch, SourceRange, count};
use crate::language::{NodeRole, RoleSet};
use tree_sitter::Node;

/// Shorter branches are not worth a finding.
const MIN_BRANCH_TOKENS: u32 = 10;

const CONDITIONAL_ROLES: RoleSet = RoleSet::of(&[NodeRole::If, NodeRole::Switch, NodeRole::Match]);
const IF_CHAIN_ROLES: RoleSet = RoleSet::of(&[NodeRole::If, NodeRole::Elif, NodeRole::Else]);
const SWITCH_ROLES: RoleSet = RoleSet::of(&[NodeRole::Switch, NodeRole::Match]);
const CLAUSE_ROLES: RoleSet = RoleSet::of(&[NodeRole::Elif, NodeRole::Else, NodeRole::Block]);

/// The branches of an open conditional.
#[derive(Debug, Default)]
pub(super) struct ConditionalBranches {
    unit: u32,
    branches: Vec<(u64, SourceRange)>,
}

impl<'tree> SyntaxVisitor<'tree> {
    /// Assigns the node to a conditional: a new one, or that of the parent.
    pub(super) fn enter_branches(&mut self, parent: &NodeFrame, frame: &mut NodeFrame) {
        if frame.roles.has(NodeRole::Block)
            && let Some(case) = self.frames.last_mut()
            && case.roles.has(NodeRole::Arm)
            && !case.after_then
        {
            // The block is the code of the case.
            case.token = frame.token;
        }
        let is_further_condition = frame.roles.has(NodeRole::If) && parent.after_else;
        if frame.roles.any(CONDITIONAL_ROLES) && !is_further_condition {
            let unit = self.innermost().unit;
            self.chains.push(ConditionalBranches { unit, ..ConditionalBranches::default() });
            frame.chain = count(self.chains.len());
            frame.opened_chain = true;
        } else if (parent.roles.any(IF_CHAIN_ROLES)
            && (frame.roles.any(CLAUSE_ROLES) || is_further_condition))
            || parent.roles.any(SWITCH_ROLES)
            || frame.roles.has(NodeRole::Arm)
        {
            frame.chain = parent.chain;
        }
    }

    pub(super) fn leave_branches(&mut self, frame: &NodeFrame, node: Node<'tree>) {
        if frame.chain == 0 {
            return;
        }
        if frame.opened_chain {
            self.close_chain();
            return;
        }
        let is_part = self.frames.last().is_some_and(|parent| parent.roles.any(IF_CHAIN_ROLES));
        if frame.roles.has(NodeRole::Arm) || (is_part && frame.roles.has(NodeRole::Block)) {
            self.add_branch(frame, node);
        }
    }

    fn add_branch(&mut self, frame: &NodeFrame, node: Node<'tree>) {
        let end = self.tokens.len();
        if count(end) < frame.token + MIN_BRANCH_TOKENS {
            return;
        }
        let content = self.tokens.range(frame.token as usize, end);
        if let Some(chain) = self.chains.get_mut(frame.chain as usize - 1) {
            chain.branches.push((content, SourceRange::of(node)));
        }
    }

    fn close_chain(&mut self) {
        let Some(ConditionalBranches { unit, mut branches }) = self.chains.pop() else { return };
        branches.sort_unstable();
        for equal in branches.chunk_by(|a, b| a.0 == b.0) {
            let (content, first) = equal[0];
            let twins =
                equal[1..].iter().map(|&(_, second)| DuplicateBranch { unit, content, first, second });
            self.facts.twins.extend(twins);
        }
    }
}
