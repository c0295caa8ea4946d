//! Looking ahead: the memory that the next inputs will touch is asked for before they are decided.
//!
//! A large ledger does not fit into the caches of a processor, and whoever decides one input after the other waits for
//! memory several times for each. Asked for the places of many inputs at once, memory answers them together. What is
//! read here decides nothing.

use crate::candidate::{Change, Content, Delta, Proposal};
use crate::decide::Desk;
use crate::identity::Statement;
use crate::index::hash_of;
use crate::ledger::Ledger;
use crate::record::{ItemId, Record};

/// How many inputs are looked at together: as many as their memory stays in the nearest caches.
pub(crate) const WINDOW: usize = 32;

/// What is known about an input before it is decided.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Ahead {
    /// The hash of the handle that it names.
    handle: u64,
    /// What its text states, if it has one of its own.
    pub(crate) statement: Option<Statement>,
}

impl Ledger {
    /// Looks at the next inputs.
    pub(crate) fn look_ahead(&self, proposals: &[Proposal<'_>], desk: &mut Desk) {
        let Desk { normaliser, ahead, .. } = desk;
        ahead.clear();
        let mut read = 0;
        for proposal in proposals {
            let handle = hash_of(proposal.delta.as_ref().map_or("", handle_of).as_bytes());
            read ^= self.handles.peek(handle);
            ahead.push(Ahead { handle, statement: None });
        }
        // Reading the texts takes about as long as memory takes to answer.
        for (ahead, proposal) in ahead.iter_mut().zip(proposals) {
            let text = proposal.delta.as_ref().ok().and_then(text_of);
            ahead.statement = text.map(|text| normaliser.statement(text));
            read ^= ahead.statement.map_or(0, |statement| self.statements.peek(statement.neutral));
        }
        for ahead in &*ahead {
            read ^= self.handles.guess(ahead.handle).map_or(0, |item| self.peek_at(*item));
        }
        // Nobody wants the number; but what nobody wants is not read.
        std::hint::black_box(read);
    }

    /// Reads a part of everything that changing an item touches.
    fn peek_at(&self, item: ItemId) -> u64 {
        let Record { meaning, last_seq, .. } = self.record(item);
        self.statements.peek(meaning.neutral) ^ u64::from(last_seq.0)
    }
}

/// The handle that is looked up first.
fn handle_of<'a>(delta: &Delta<'a>) -> &'a str {
    match delta {
        Delta::Create { handle, .. } => handle,
        Delta::Change { target, .. } => target,
    }
}

/// The text that is brought into normal form, where it stands in the input as a whole.
fn text_of<'a>(delta: &Delta<'a>) -> Option<&'a str> {
    match delta {
        Delta::Create { content, .. } => match content {
            Content::Goal { summary, .. }
            | Content::Decision { summary, .. }
            | Content::Fact { summary, .. }
            | Content::Hypothesis { summary, .. }
            | Content::Constraint { summary, .. }
            | Content::Task { summary } => Some(summary),
            Content::Branch { .. } => None,
        },
        Delta::Change { change, .. } => match change {
            Change::ReviseDecision { summary, .. } | Change::ReviseConstraint { summary, .. } => {
                Some(summary)
            }
            _ => None,
        },
    }
}
