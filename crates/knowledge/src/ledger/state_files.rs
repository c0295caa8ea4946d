//! Agents propose while they are governed: the log of the ledger may grow, and nothing else.

use super::service::{end_of_log, has_grown_from};
use probity_storage::JournalPosition;
use probity_workspace::StateDirectory;
use probity_workspace::state_files::{FileFate, StateFiles, StateMark, name_parts};
use std::path::Path;

/// The log of the ledger and its snapshot.
#[derive(Debug)]
pub struct LedgerFiles;

impl StateFiles for LedgerFiles {
    fn mark(&self, state: &StateDirectory) -> Box<dyn StateMark> {
        Box::new(LedgerMark { end: end_of_log(&state.ledger()) })
    }
}

/// Where the log ended.
#[derive(Debug)]
struct LedgerMark {
    end: Option<JournalPosition>,
}

impl StateMark for LedgerMark {
    fn explains(&self, state: &StateDirectory, name: &Path, fate: FileFate) -> bool {
        match name_parts(name).unwrap_or_default().as_slice() {
            ["ledger", file] if fate != FileFate::Gone => {
                self.end.is_some_and(|end| has_grown_from(&state.ledger(), file, &end))
            }
            _ => false,
        }
    }
}
