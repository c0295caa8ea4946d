//! Looking ahead: the memory that the next inputs will touch is asked for before they are decided.
//!
//! A large ledger does not fit into the caches of a processor, and whoever decides one input after the other waits for
//! memory several times for each. Asked for the places of many inputs at once, memory answers them together. What is
//! read here decides nothing.

use crate::candidate::{Change, Content, Delta, Proposal};
use crate::decide::Desk;
use crate::identity::{Normaliser, Statement};
use crate::index::hash_of;
use crate::ledger::Ledger;

/// How many inputs are looked at together: as many as their memory stays in the nearest caches.
pub(crate) const WINDOW: usize = 32;

/// What is known about an input before it is decided.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ahead {
    /// The hash of the handle that it names.
    pub(crate) handle: u64,
    /// The hash of the turn that it names first.
    pub(crate) turn: u64,
    /// What its text states, if it has one of its own.
    pub(crate) statement: Option<Statement>,
}

impl Ahead {
    fn new(proposal: &Proposal<'_>, normaliser: &mut Normaliser) -> Self {
        let delta = proposal.delta.as_ref().ok();
        let source = proposal.sources.as_ref().and_then(|sources| sources.first());
        Self {
            handle: hash_of(delta.map_or("", handle_of).as_bytes()),
            turn: hash_of(source.map_or("", |source| source.turn).as_bytes()),
            statement: delta.and_then(text_of).map(|text| normaliser.statement(text)),
        }
    }
}

impl Ledger {
    /// Looks at the next inputs.
    pub(crate) fn look_ahead(&self, proposals: &[Proposal<'_>], desk: &mut Desk) {
        let Desk { normaliser, ahead, .. } = desk;
        ahead.clear();
        ahead.extend(proposals.iter().map(|proposal| Ahead::new(proposal, normaliser)));
        // Each loop does nothing but ask for memory: whatever else is done in between, memory answers less at once.
        let mut read = 0;
        for Ahead { handle, turn, statement } in &*ahead {
            read ^= self.handles.peek(*handle) ^ self.sources.turns.peek(*turn);
            read ^= statement.map_or(0, |statement| self.statements.peek(statement.neutral));
        }
        let guesses = || ahead.iter().map(|ahead| self.guess(*ahead));
        for (handle, turn) in guesses() {
            read ^= handle.map_or(0, |handle| self.handles.name(handle).len() as u64);
            read ^= turn.map_or(0, |turn| self.sources.turns.name(turn).len() as u64);
        }
        read ^= guesses().fold(0, |read, guess| read ^ self.peek_at_record(guess));
        read ^= guesses().fold(0, |read, guess| read ^ self.peek_behind_record(guess));
        // Nobody wants the number; but what nobody wants is not read.
        std::hint::black_box(read);
    }

    /// The handle and the turn that most likely have these hashes.
    fn guess(&self, ahead: Ahead) -> (Option<u32>, Option<u32>) {
        (self.handles.guess(ahead.handle), self.sources.turns.guess(ahead.turn))
    }

    fn peek_at_record(&self, (handle, turn): (Option<u32>, Option<u32>)) -> u64 {
        let turn = turn.map_or(0, |turn| first_byte(self.sources.turns.name(turn)));
        let Some(handle) = handle else { return turn };
        let item = *self.handles.value(handle);
        turn ^ first_byte(self.handles.name(handle)) ^ u64::from(self.record(item).last_seq.0)
    }

    fn peek_behind_record(&self, (handle, turn): (Option<u32>, Option<u32>)) -> u64 {
        let Some(handle) = handle else { return 0 };
        let item = *self.handles.value(handle);
        let source = turn.map_or(0, |turn| self.sources.peek(item, turn));
        source ^ self.statements.peek(self.record(item).meaning.neutral)
    }
}

fn first_byte(name: &str) -> u64 {
    name.bytes().next().map_or(0, u64::from)
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
