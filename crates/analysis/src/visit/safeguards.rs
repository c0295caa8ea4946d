//! Counts handlers of errors, and what declares or skips tests.

use super::{NodeFrame, SyntaxVisitor};
use crate::language::{NodeRole, VisibilityRule, text};
use tree_sitter::Node;

/// Names whose call declares a test or skips one, in languages that have no annotations for it.
const TEST_CALLS: [&[u8]; 3] = [b"it", b"test", b"specify"];
const SKIP_CALLS: [&[u8]; 8] =
    [b"skip", b"Skip", b"Skipf", b"SkipNow", b"skipTest", b"xit", b"xdescribe", b"xtest"];

impl<'tree> SyntaxVisitor<'tree> {
    pub(super) fn count_handler(&mut self, node: Node<'tree>) {
        self.facts.safeguards.n_handlers += 1;
        self.facts.safeguards.n_silent_handlers += u32::from(is_silent(node, self.source));
    }

    /// Counts a decorator that skips a test.
    pub(super) fn count_skip_mark(&mut self, words: &str) {
        let marks = ["skip", "Skip", "@Disabled", "@Ignore", "[Ignore", "#[ignore"];
        let is_mark = words.len() < 200 && marks.iter().any(|mark| words.contains(mark));
        self.facts.safeguards.n_skip_marks += u32::from(is_mark);
    }

    /// Counts a call by the name of its callee.
    pub(super) fn count_test_call(&mut self, name: &[u8], parent: &NodeFrame, follows_dot: bool) {
        if !follows_dot && parent.roles.has(NodeRole::Call) && TEST_CALLS.contains(&name) {
            self.facts.safeguards.n_test_calls += 1;
        }
        let n_frames = self.frames.len();
        let is_called = parent.roles.has(NodeRole::Call)
            || (follows_dot && n_frames > 1 && self.frames[n_frames - 2].roles.has(NodeRole::Call));
        // Iterators of Rust skip, too; its tests are skipped by attributes.
        if is_called && self.spec.visibility != VisibilityRule::PubKeyword && SKIP_CALLS.contains(&name) {
            self.facts.safeguards.n_skip_calls += 1;
        }
    }
}

/// Returns true if a handler does nothing with what it catches.
fn is_silent(node: Node<'_>, source: &[u8]) -> bool {
    let is_body =
        |kind: &str| kind.contains("block") || matches!(kind, "compound_statement" | "then" | "body");
    let mut cursor = node.walk();
    let body = node.named_children(&mut cursor).filter(|child| is_body(child.kind())).last();
    let Some(body) = body else { return false };
    let mut cursor = body.walk();
    body.named_children(&mut cursor).filter(|child| !child.kind().contains("comment")).all(|child| {
        matches!(child.kind(), "pass_statement" | "empty_statement") || text(child, source) == "..."
    })
}
