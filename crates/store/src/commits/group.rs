//! Threads that append at the same time share one transaction.
//!
//! Whoever finds nobody writing writes for all who wait, and then lets the first who came meanwhile write: so the next
//! transaction is made while the last one is flushed. Where a flush takes long, the next one waits for it, so that all
//! who write can share one. What is refused is refused alone; a fault of the store is everybody's. Each caller is told
//! by itself: nobody wakes to find that there is nothing for it.

use super::flush::Added;
use super::{CommitStore, CommitsError, lock};
use commit::{Commit, CommitId};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// The commits that wait for whoever writes.
#[derive(Debug, Default)]
pub(super) struct Queue(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    is_writing: bool,
    /// Whether the last transaction was for several.
    is_shared: bool,
    waiting: Vec<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    commit: Commit,
    caller: Caller,
}

/// Where a caller listens. It gets at most two words, so that none of them waits for it to listen.
type Caller = SyncSender<Word>;

#[derive(Debug)]
enum Word {
    /// Nobody writes: write for all who wait.
    Write,
    /// What became of the commit.
    Answer(Answer),
}

/// The right to write for all who wait; dropping it passes it on.
struct Lead<'q>(&'q Queue);

impl Queue {
    /// Puts a commit in the queue; whoever finds nobody writing has to.
    fn join(&self, waiting: Waiting) -> Option<Lead<'_>> {
        let mut state = lock(&self.0);
        state.waiting.push(waiting);
        let was_writing = std::mem::replace(&mut state.is_writing, true);
        (!was_writing).then(|| Lead(self))
    }
}

impl Lead<'_> {
    /// Whether several are likely to come.
    fn is_shared(&self) -> bool {
        lock(&self.0.0).is_shared
    }

    fn take_waiting(&self) -> Vec<Waiting> {
        let mut state = lock(&self.0.0);
        state.is_shared = state.waiting.len() > 1;
        std::mem::take(&mut state.waiting)
    }
}

impl Drop for Lead<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.0.0);
        state.is_writing = state.waiting.iter().any(|next| next.caller.send(Word::Write).is_ok());
    }
}

impl CommitStore {
    /// Adds a commit, and answers when it is on disk. A commit that is there already is left alone.
    pub fn append(&self, commit: Commit) -> Result<CommitId, CommitsError> {
        let (caller, words) = sync_channel(2);
        if let Some(lead) = self.queue.join(Waiting { commit, caller }) {
            self.write_batch(lead);
        }
        self.listen(&words)
    }

    fn listen(&self, words: &Receiver<Word>) -> Result<CommitId, CommitsError> {
        loop {
            match words.recv() {
                Ok(Word::Write) => self.write_batch(Lead(&self.queue)),
                Ok(Word::Answer(answer)) => return answer,
                // Whoever wrote for this caller did not come to an end.
                Err(_) => return Err(CommitsError::Unknown),
            }
        }
    }

    /// Writes for all who wait, and tells them.
    fn write_batch(&self, lead: Lead<'_>) {
        if lead.is_shared() {
            // Those who were told a moment ago come again: the more of them share a flush, the better.
            self.flush.gather();
        }
        let (commits, callers): (Vec<Commit>, Vec<Caller>) =
            lead.take_waiting().into_iter().map(|waiting| (waiting.commit, waiting.caller)).unzip();
        let added = self.add_batch(commits);
        drop(lead);
        let written = added.and_then(|(answers, added)| self.flush(added).map(|()| answers));
        let answers = written.unwrap_or_else(|fault| self.fault_of_all(callers.len(), fault));
        for (caller, answer) in callers.into_iter().zip(answers) {
            // A caller that is gone wants no answer.
            let _ = caller.send(Word::Answer(answer));
        }
    }

    fn add_batch(&self, batch: Vec<Commit>) -> Result<(Vec<Answer>, Added), CommitsError> {
        self.add(|writing| {
            let mut answers = Vec::with_capacity(batch.len());
            for commit in batch {
                match writing.append(commit) {
                    Err(fault) if !is_refusal(&fault) => return Err(fault),
                    answer => answers.push(answer),
                }
            }
            Ok(answers)
        })
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

/// What became of a commit.
type Answer = Result<CommitId, CommitsError>;

/// Whether a commit alone was refused, before anything of it was written.
fn is_refusal(error: &CommitsError) -> bool {
    matches!(error, CommitsError::Append(_) | CommitsError::MissingBlob { .. })
}
