//! One call of a tool: what it was given, and how it tells its caller how far it is.

use probity_api::Answer as _;
use probity_changes::registry::KeptHandle;
use probity_intents::IntentId;
use probity_workspace::progress::ProgressStep;
use probity_workspace::{ServiceError, Workspace};
use serde_json::Value;
use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// What a call is unwound with when its caller gave it up. Everything it holds is let go on the way; what it had stored
/// is whole, for all writing is of whole files and whole events.
pub(crate) struct CallCancellation;

/// How far a long call is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProgressUpdate {
    /// What is done.
    pub(crate) done: u64,
    /// Of how much, where that is known.
    pub(crate) total: Option<u64>,
    /// What is being done, in a few words.
    pub(crate) what: String,
}

/// The handles of the intents that were started in one session, so that its agent need not repeat them. They are in
/// memory alone: another session, and the command line, must know the handle.
#[derive(Debug, Clone, Default)]
pub(crate) struct SessionHandles(Arc<Mutex<BTreeMap<IntentId, KeptHandle>>>);

impl SessionHandles {
    /// Remembers the handle of an intent.
    pub(crate) fn keep(&self, kept: KeptHandle) {
        let mut handles = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        handles.insert(kept.intent_id.clone(), kept);
    }

    /// The handle of an intent that was started in this session.
    pub(crate) fn get(&self, intent_id: &IntentId) -> Option<KeptHandle> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(intent_id).cloned()
    }
}

/// What a tool may use.
pub(crate) struct ToolCall {
    root: PathBuf,
    process: Option<u32>,
    handles: SessionHandles,
    steps: Option<tokio::sync::mpsc::UnboundedSender<ProgressUpdate>>,
    last: Mutex<u64>,
    is_given_up: Box<dyn Fn() -> bool + Send + Sync>,
}

impl ToolCall {
    /// A call in the tree at `root`; steps go to `steps` if somebody listens.
    pub(crate) fn new(
        root: &Path,
        process: Option<u32>,
        handles: SessionHandles,
        steps: Option<tokio::sync::mpsc::UnboundedSender<ProgressUpdate>>,
        is_given_up: Box<dyn Fn() -> bool + Send + Sync>,
    ) -> Self {
        Self { root: root.to_owned(), process, handles, steps, last: Mutex::new(0), is_given_up }
    }

    /// The tree that the call is about: the one it names, else the server's.
    pub(crate) fn workspace(&self, root: Option<&str>) -> Result<Workspace, ServiceError> {
        Workspace::find(Some(root.map_or(&*self.root, Path::new)), &self.root)
    }

    /// The process whose end means that the caller is gone, where there is one.
    pub(crate) const fn process(&self) -> Option<u32> {
        self.process
    }

    /// The handles of the session.
    pub(crate) const fn handles(&self) -> &SessionHandles {
        &self.handles
    }

    /// Tells the caller how far an analysis is, in some dozens of steps whatever the size of the tree; and ends the call
    /// if the caller gave it up. This is called for every file, so the end comes soon.
    pub(crate) fn analysis_step(&self, progress: ProgressStep) {
        if (self.is_given_up)() {
            // Not a panic: no message, no report, only the way out.
            resume_unwind(Box::new(CallCancellation));
        }
        match progress {
            ProgressStep::Looking => self.send_progress(0, None, "looking at the tree"),
            ProgressStep::Reading(done, total) if done.is_multiple_of((total / 50).max(1)) => {
                self.send_progress(done as u64, Some(total as u64), "reading files");
            }
            ProgressStep::Reading(..) => {}
            ProgressStep::Comparing => self.send_progress(0, None, "comparing files"),
            ProgressStep::Storing => self.send_progress(0, None, "keeping the run"),
            ProgressStep::Gate(which, all) => {
                self.send_progress(which as u64, Some(all as u64), "running gates")
            }
            ProgressStep::Waiting => self.send_progress(0, None, "waiting for those ahead in the queue"),
        }
    }

    /// Nobody need listen. The number only ever grows, as the protocol wants it, also when files are read out of order.
    fn send_progress(&self, done: u64, total: Option<u64>, what: &str) {
        let Some(steps) = &self.steps else { return };
        // Held while sending: the numbers must leave in the order in which they were taken.
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last = done.max(*last + 1);
        let _ = steps.send(ProgressUpdate { done: *last, total, what: what.to_owned() });
    }
}

/// What a tool answers: a document, and whether it is a refusal.
#[derive(Debug)]
pub(crate) struct CallOutcome {
    /// The document.
    pub(crate) document: Value,
    /// Whether the call did not do what it was asked for.
    pub(crate) is_refusal: bool,
}

impl CallOutcome {
    /// An answer.
    pub(crate) fn answer(document: Value) -> Self {
        Self { document, is_refusal: false }
    }

    /// A refusal, in the document that every surface shows.
    pub(crate) fn refusal(fault: &ServiceError) -> Self {
        Self { document: fault.answer().to_document(), is_refusal: true }
    }
}
