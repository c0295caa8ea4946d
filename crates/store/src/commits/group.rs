//! Threads that append at the same time share one transaction and one flush.
//!
//! Whoever finds nobody writing writes for all who wait. Those who were told a moment ago are likely to come again: the
//! writer takes each as it comes, and waits for them for a small part of what a flush takes. What is refused is refused
//! alone; a fault of the store is everybody's.

use super::append::Writing;
use super::{CommitStore, CommitsError, lock};
use commit::{Commit, CommitId};
use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The commits that wait for whoever writes.
#[derive(Debug, Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    /// Somebody has stopped writing.
    told: Condvar,
}

#[derive(Debug, Default)]
struct State {
    is_writing: bool,
    /// How many are likely to come: whom the last writer told, and those who waited then.
    n_expected: usize,
    n_joined: u64,
    n_listening: usize,
    waiting: Vec<(Ticket, Commit)>,
    answers: BTreeMap<Ticket, Answer>,
}

/// Stands for a commit from when it is put in the queue until its caller knows what became of it.
type Ticket = u64;

/// What became of a commit.
type Answer = Result<CommitId, CommitsError>;

/// What a caller waits for.
enum Word<'q> {
    /// Nobody writes: write for all who wait.
    Write(Lead<'q>),
    Answer(Answer),
}

/// The right to write for all who wait; dropping it tells those whose commits were taken, and passes it on.
struct Lead<'q> {
    queue: &'q Queue,
    n_expected: usize,
    /// Those that are still to be added.
    commits: Vec<Commit>,
    taken: Vec<Ticket>,
    /// As many as were taken; who gets none does not know.
    answers: Vec<Answer>,
}

impl Queue {
    fn join(&self, commit: Commit) -> Ticket {
        let mut state = lock(&self.state);
        let ticket = state.n_joined;
        state.n_joined += 1;
        state.waiting.push((ticket, commit));
        ticket
    }

    fn listen(&self, ticket: Ticket) -> Word<'_> {
        let mut state = lock(&self.state);
        loop {
            if let Some(answer) = state.answers.remove(&ticket) {
                return Word::Answer(answer);
            }
            if !state.is_writing {
                state.is_writing = true;
                let (taken, commits) = state.waiting.drain(..).unzip();
                let n_expected = state.n_expected;
                return Word::Write(Lead { queue: self, n_expected, commits, taken, answers: Vec::new() });
            }
            state.n_listening += 1;
            state = self.told.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.n_listening -= 1;
        }
    }
}

impl Lead<'_> {
    /// Adds the commits of all who come within `patience`.
    fn add_all(
        &mut self,
        writing: &mut Writing<'_>,
        patience: Duration,
    ) -> Result<Vec<Answer>, CommitsError> {
        let begun = Instant::now();
        let mut answers = Vec::new();
        loop {
            for commit in self.commits.drain(..) {
                match writing.append(commit) {
                    Err(fault) if !is_refusal(&fault) => return Err(fault),
                    answer => answers.push(answer),
                }
            }
            if self.taken.len() >= self.n_expected || begun.elapsed() >= patience {
                return Ok(answers);
            }
            std::thread::yield_now();
            self.take_waiting();
        }
    }

    fn take_waiting(&mut self) {
        for (ticket, commit) in lock(&self.queue.state).waiting.drain(..) {
            self.taken.push(ticket);
            self.commits.push(commit);
        }
    }
}

impl Drop for Lead<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.queue.state);
        let answers = std::mem::take(&mut self.answers).into_iter();
        let unknown = std::iter::repeat_with(|| Err(CommitsError::Unknown));
        state.answers.extend(self.taken.iter().copied().zip(answers.chain(unknown)));
        state.n_expected = self.taken.len() + state.waiting.len();
        state.is_writing = false;
        // Who writes alone need not ask the system to wake nobody.
        if state.n_listening > 0 {
            drop(state);
            self.queue.told.notify_all();
        }
    }
}

impl CommitStore {
    /// Adds a commit, and answers when it is on disk. A commit that is there already is left alone.
    pub fn append(&self, commit: Commit) -> Result<CommitId, CommitsError> {
        let ticket = self.queue.join(commit);
        loop {
            match self.queue.listen(ticket) {
                Word::Write(lead) => self.write_batch(lead),
                Word::Answer(answer) => return answer,
            }
        }
    }

    /// Writes for all who wait, and tells them.
    fn write_batch(&self, mut lead: Lead<'_>) {
        let added = self.add(|writing| lead.add_all(writing, self.flush.patience()));
        let written = added.and_then(|(answers, added)| self.flush(added).map(|()| answers));
        lead.answers = written.unwrap_or_else(|fault| self.fault_of_all(lead.taken.len(), fault));
    }

    /// Faults cannot be copied: one gets the fault itself, the others its words.
    fn fault_of_all(&self, n_callers: usize, fault: CommitsError) -> Vec<Answer> {
        let why = fault.to_string();
        let is_unknown = matches!(fault, CommitsError::Unknown);
        let words = || {
            let (path, why) = (self.path.clone(), why.clone());
            if is_unknown { CommitsError::Unknown } else { crate::StoreError::Engine { path, why }.into() }
        };
        let others = std::iter::repeat_with(words).take(n_callers.saturating_sub(1));
        std::iter::once(fault).chain(others).map(Err).collect()
    }
}

/// Whether a commit alone was refused, before anything of it was written.
fn is_refusal(error: &CommitsError) -> bool {
    matches!(error, CommitsError::Append(_) | CommitsError::MissingBlob { .. })
}

#[cfg(test)]
mod tests {
    use super::*;
    use commit::{Mutations, Schema, Stamp};

    #[test]
    fn who_gets_no_answer_is_told_so_and_the_next_one_writes() {
        let schema = Schema::parse("attachment count: int64").expect("a schema");
        let commit = || Mutations::new(&schema).commit(None, Stamp::new("ann", "x", 0).expect("a stamp"));
        let queue = Queue::default();
        let (first, second) = (queue.join(commit()), queue.join(commit()));
        let Word::Write(mut lead) = queue.listen(first) else { panic!("nobody writes") };
        assert_eq!(lead.commits.len(), 2);
        let third = queue.join(commit());
        lead.answers.push(Ok(commit().id()));
        drop(lead);
        assert!(matches!(queue.listen(first), Word::Answer(Ok(_))));
        assert!(matches!(queue.listen(second), Word::Answer(Err(CommitsError::Unknown))));
        let Word::Write(lead) = queue.listen(third) else { panic!("nobody writes") };
        assert_eq!(lead.n_expected, 3, "the two who were told, and the one who waits");
    }
}
