//! Renames stream handles that already name something else in the ledger, by prefixing the stream's name.

use crate::candidate::{DeltaProposal, ItemChange, ItemDelta};
use crate::item_record::LedgerSeq;
use crate::ledger::Ledger;
use std::collections::BTreeMap;

/// Handles of a stream that the ledger has taken meanwhile, with their new names.
#[derive(Debug, Default)]
pub(super) struct HandleRenames(BTreeMap<String, String>);

impl HandleRenames {
    /// Finds the handles that `stream` created after `base` and that name something else in `main`.
    pub(super) fn collect(main: &Ledger, stream: &Ledger, base: LedgerSeq, name: &str) -> Self {
        let is_new = |item| stream.record(item).created > base;
        let made = stream.handles.iter().filter(|(_, item)| is_new(**item)).map(|(handle, _)| handle);
        let taken = made.filter(|handle| main.find_by_handle(handle).is_some());
        let same = |handle: &str| {
            let (here, there) = (main.find_by_handle(handle), stream.find_by_handle(handle));
            here.zip(there).is_some_and(|(here, there)| {
                main.record(here).kind == stream.record(there).kind
                    && main.summary(here) == stream.summary(there)
            })
        };
        let renamed = taken
            .filter(|handle| !same(handle))
            .map(|handle| (handle.to_owned(), unused_handle(main, name, handle)));
        Self(renamed.collect())
    }

    pub(super) fn name<'s>(&'s self, handle: &'s str) -> &'s str {
        self.0.get(handle).map_or(handle, String::as_str)
    }

    pub(super) fn list(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(from, to)| (from.as_str(), to.as_str()))
    }

    /// Returns the proposal with all its handles renamed.
    pub(super) fn proposal<'s>(&'s self, proposal: DeltaProposal<'s>) -> DeltaProposal<'s> {
        let delta = proposal.delta.map(|delta| match delta {
            ItemDelta::Create { handle, content } => ItemDelta::Create { handle: self.name(handle), content },
            ItemDelta::Change { target, change } => {
                ItemDelta::Change { target: self.name(target), change: self.change(change) }
            }
        });
        DeltaProposal { delta, ..proposal }
    }

    fn change<'s>(&'s self, change: ItemChange<'s>) -> ItemChange<'s> {
        match change {
            ItemChange::Supersede { reason, by } => {
                ItemChange::Supersede { reason, by: by.map(|by| self.name(by)) }
            }
            ItemChange::ResolveBranch { handle, chosen, confidence } => {
                ItemChange::ResolveBranch { handle: self.name(handle), chosen, confidence }
            }
            ItemChange::ReopenTask { handle, reason } => {
                ItemChange::ReopenTask { handle: self.name(handle), reason }
            }
            ItemChange::CorrectFact { handle, summary, confidence } => {
                ItemChange::CorrectFact { handle: self.name(handle), summary, confidence }
            }
            other => other,
        }
    }
}

/// Returns `stream/handle`, with a number appended if that is taken too.
fn unused_handle(main: &Ledger, stream: &str, handle: &str) -> String {
    let plain = format!("{stream}/{handle}");
    let numbered = (2..).map(|n| format!("{plain}-{n}"));
    let mut names = std::iter::once(plain.clone()).chain(numbered);
    names.find(|name| main.find_by_handle(name).is_none()).unwrap_or(plain)
}
