//! The ledger files that may change while an agent is governed, because agents propose: the log may grow, and the
//! snapshot may follow it.

use super::service::{end_of_log, has_grown_from};
use probity_storage::JournalPosition;
use probity_workspace::StateDirectory;
use probity_workspace::state_files::{FileFate, StateFiles, StateMark, name_parts};
use std::path::Path;

#[derive(Debug)]
pub struct LedgerFiles;

impl StateFiles for LedgerFiles {
    fn mark(&self, state: &StateDirectory) -> Box<dyn StateMark> {
        Box::new(LedgerMark { end: end_of_log(&state.ledger()) })
    }
}

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
