//! Threads that append at the same time share one flush.
//!
//! Whoever finds nobody writing writes for all who wait. What is refused is refused alone; a fault of the store is
//! everybody's. Between processes there is no sharing: each waits for its turn.

use super::{CommitStore, CommitsError, lock};
use commit::{Commit, CommitId};
use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, PoisonError};

/// The commits that wait, and the answers that were not fetched yet.
#[derive(Debug, Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    is_writing: bool,
    waiting: Vec<(u64, Commit)>,
    answers: BTreeMap<u64, Result<CommitId, CommitsError>>,
}

impl CommitStore {
    /// Adds a commit, and answers when it is on disk. A commit that is there already is left alone.
    pub fn append(&self, commit: Commit) -> Result<CommitId, CommitsError> {
        let mut state = lock(&self.queue.state);
        let ticket = state.next;
        state.next += 1;
        state.waiting.push((ticket, commit));
        loop {
            if let Some(answer) = state.answers.remove(&ticket) {
                return answer;
            }
            if state.is_writing {
                state = self.queue.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            state.is_writing = true;
            let batch = std::mem::take(&mut state.waiting);
            drop(state);
            let answers = self.write_batch(batch);
            state = lock(&self.queue.state);
            state.is_writing = false;
            state.answers.extend(answers);
            self.queue.changed.notify_all();
        }
    }

    fn write_batch(&self, batch: Vec<(u64, Commit)>) -> Vec<(u64, Result<CommitId, CommitsError>)> {
        let tickets: Vec<u64> = batch.iter().map(|(ticket, _)| *ticket).collect();
        let written = self.write(|writing| {
            let mut answers = Vec::with_capacity(batch.len());
            for (ticket, commit) in batch {
                match writing.append(commit) {
                    Err(fault) if !is_refusal(&fault) => return Err(fault),
                    answer => answers.push((ticket, answer)),
                }
            }
            Ok(answers)
        });
        written.unwrap_or_else(|fault| {
            let why = fault.to_string();
            let mut faults = vec![fault];
            let fault = |ticket| {
                // Faults cannot be copied: one gets the fault itself, the others its words.
                let fault = faults.pop().unwrap_or_else(|| {
                    CommitsError::Store(crate::StoreError::Engine {
                        path: self.path.clone(),
                        why: why.clone(),
                    })
                });
                (ticket, Err(fault))
            };
            tickets.into_iter().map(fault).collect()
        })
    }
}

/// Whether a commit alone was refused, before anything of it was written.
fn is_refusal(error: &CommitsError) -> bool {
    matches!(error, CommitsError::Append(_) | CommitsError::MissingBlob { .. })
}
