//! Labels of callables without a name: the call that receives them, and the text that the call begins with.
//!
//! In `it("sets the status", () => …)` the label is `it("sets the status")`. A label tells a callable from its
//! siblings for as long as the call stays, wherever in the file it stands.

use super::SyntaxVisitor;
use crate::language::NodeRole;
use tree_sitter::Node;

/// The label of a callable that no call receives.
const ANONYMOUS_LABEL: &str = "<anonymous>";

/// Labels name a callable; they need not contain all of a long text.
const MAX_LABEL_TEXT_CHARS: usize = 48;

/// Between the beginning of a call and its callable: longer heads are data.
const MAX_CALL_HEAD_BYTES: usize = 400;

impl<'tree> SyntaxVisitor<'tree> {
    pub(super) fn anonymous_label(&self, node: Node<'tree>) -> String {
        // A callable is an argument, which some grammars wrap: call, arguments, argument, callable.
        let call = self.frames.iter().rev().take(3).find(|frame| frame.roles.has(NodeRole::Call));
        let head = call.and_then(|call| {
            let head = self.source.get(call.start as usize..node.start_byte())?;
            Some(head).filter(|head| head.len() <= MAX_CALL_HEAD_BYTES)
        });
        head.and_then(label_of_call).unwrap_or_else(|| ANONYMOUS_LABEL.to_owned())
    }
}

/// Returns the label for the text from the beginning of a call to the callable that it receives.
fn label_of_call(head: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(head);
    let (callee, arguments) = head.split_once(['(', '{']).unwrap_or((&head, ""));
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let callee = callee.trim_end().rsplit(|c: char| !is_word(c)).next().filter(|word| !word.is_empty())?;
    let quote = arguments.find(['"', '\'', '`']);
    let text = quote.and_then(|at| {
        let mark = arguments[at..].chars().next()?;
        arguments[at + 1..].split(mark).next()
    });
    let text: String = text.unwrap_or_default().chars().take(MAX_LABEL_TEXT_CHARS).collect();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(if text.is_empty() { format!("{callee}()") } else { format!("{callee}(\"{text}\")") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_the_callee_and_its_first_text() {
        let label = |head: &str| label_of_call(head.as_bytes());
        assert_eq!(label("describe('res', ").as_deref(), Some("describe(\"res\")"));
        assert_eq!(label("t.Run(\"a  b\", ").as_deref(), Some("Run(\"a b\")"));
        assert_eq!(label("items.map(").as_deref(), Some("map()"));
        assert_eq!(label("("), None);
    }
}
