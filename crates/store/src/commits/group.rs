//! Threads that append at the same time share one transaction.
//!
//! Whoever finds nobody writing writes for all who wait. While that is flushed, the next one writes. What is refused is
//! refused alone; a fault of the store is everybody's.

use super::flush::Added;
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
            let tickets: Vec<u64> = batch.iter().map(|(ticket, _)| *ticket).collect();
            let added = self.add_batch(batch);
            lock(&self.queue.state).is_writing = false;
            self.queue.changed.notify_all();
            let written = added.and_then(|(answers, added)| self.flush(added).map(|()| answers));
            state = lock(&self.queue.state);
            state.answers.extend(written.unwrap_or_else(|fault| self.fault_of_all(tickets, fault)));
            self.queue.changed.notify_all();
        }
    }

    fn add_batch(&self, batch: Vec<(u64, Commit)>) -> Result<(Vec<Answer>, Added), CommitsError> {
        self.add(|writing| {
            let mut answers = Vec::with_capacity(batch.len());
            for (ticket, commit) in batch {
                match writing.append(commit) {
                    Err(fault) if !is_refusal(&fault) => return Err(fault),
                    answer => answers.push((ticket, answer)),
                }
            }
            Ok(answers)
        })
    }

    /// Faults cannot be copied: one gets the fault itself, the others its words.
    fn fault_of_all(&self, tickets: Vec<u64>, fault: CommitsError) -> Vec<Answer> {
        let why = fault.to_string();
        let mut faults = vec![fault];
        let fault = |ticket| {
            let (path, why) = (self.path.clone(), why.clone());
            let words = || CommitsError::Store(crate::StoreError::Engine { path, why });
            (ticket, Err(faults.pop().unwrap_or_else(words)))
        };
        tickets.into_iter().map(fault).collect()
    }
}

/// What became of the commit with a ticket.
type Answer = (u64, Result<CommitId, CommitsError>);

/// Whether a commit alone was refused, before anything of it was written.
fn is_refusal(error: &CommitsError) -> bool {
    matches!(error, CommitsError::Append(_) | CommitsError::MissingBlob { .. })
}
