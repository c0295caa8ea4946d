//! One tool call: its context, its progress reports and its outcome.

use probity_api::Answer as _;
use probity_changes::registry::KeptHandle;
use probity_intents::IntentId;
use probity_workspace::progress::ProgressStep;
use probity_workspace::{CancellationToken, ServiceError, Workspace};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Progress of a long call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProgressUpdate {
    pub(crate) done: u64,
    /// `None` if unknown.
    pub(crate) total: Option<u64>,
    pub(crate) what: String,
}

/// The handles of the intents started in one session, so that its agent need not repeat them. They exist in memory
/// only: another session, and the command line, must present the handle.
#[derive(Debug, Clone, Default)]
pub(crate) struct SessionHandles(Arc<Mutex<BTreeMap<IntentId, KeptHandle>>>);

impl SessionHandles {
    pub(crate) fn keep(&self, kept: KeptHandle) {
        let mut handles = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        handles.insert(kept.intent_id.clone(), kept);
    }

    pub(crate) fn get(&self, intent_id: &IntentId) -> Option<KeptHandle> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(intent_id).cloned()
    }
}

/// The context of a tool call.
pub(crate) struct ToolCall {
    root: PathBuf,
    process: Option<u32>,
    handles: SessionHandles,
    steps: Option<tokio::sync::mpsc::UnboundedSender<ProgressUpdate>>,
    last: Mutex<u64>,
    cancellation: CancellationToken,
}

impl ToolCall {
    /// Creates a call in the tree at `root`; progress goes to `steps` if the client asked for it.
    pub(crate) fn new(
        root: &Path,
        process: Option<u32>,
        handles: SessionHandles,
        steps: Option<tokio::sync::mpsc::UnboundedSender<ProgressUpdate>>,
        cancellation: CancellationToken,
    ) -> Self {
        Self { root: root.to_owned(), process, handles, steps, last: Mutex::new(0), cancellation }
    }

    /// Finds the tree of the call: the one it names, or else the server's.
    pub(crate) fn workspace(&self, root: Option<&str>) -> Result<Workspace, ServiceError> {
        let mut workspace = Workspace::find(Some(root.map_or(&*self.root, Path::new)), &self.root)?;
        workspace.cancellation = self.cancellation.clone();
        Ok(workspace)
    }

    /// The process whose end means that the caller is gone, if there is one.
    pub(crate) const fn process(&self) -> Option<u32> {
        self.process
    }

    pub(crate) const fn handles(&self) -> &SessionHandles {
        &self.handles
    }

    /// Reports the progress of an analysis in about fifty updates, whatever the size of the tree.
    pub(crate) fn analysis_step(&self, progress: ProgressStep) {
        match progress {
            ProgressStep::Looking => self.send_progress(0, None, "looking at the tree"),
            ProgressStep::Reading(done, total) if done.is_multiple_of((total / 50).max(1)) => {
                self.send_progress(done as u64, Some(total as u64), "reading files");
            }
            ProgressStep::Reading(..) => {}
            ProgressStep::Comparing => self.send_progress(0, None, "comparing files"),
            ProgressStep::Storing => self.send_progress(0, None, "keeping the run"),
            ProgressStep::Gate(which, all) => {
                self.send_progress(which as u64, Some(all as u64), "running gates");
            }
            ProgressStep::Waiting => self.send_progress(0, None, "waiting for those ahead in the queue"),
        }
    }

    /// Sends progress to the client if it listens. The number always grows, as the protocol requires, even if files
    /// are read out of order.
    fn send_progress(&self, done: u64, total: Option<u64>, what: &str) {
        let Some(steps) = &self.steps else { return };
        // Held while sending, so that the numbers are sent in order.
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last = done.max(*last + 1);
        let _ = steps.send(ProgressUpdate { done: *last, total, what: what.to_owned() });
    }
}

/// The document that a tool returns, and whether it is a refusal.
#[derive(Debug)]
pub(crate) struct CallOutcome {
    pub(crate) document: Value,
    pub(crate) is_refusal: bool,
}

impl CallOutcome {
    pub(crate) fn answer(document: Value) -> Self {
        Self { document, is_refusal: false }
    }

    /// Returns a refusal, in the document that every surface uses.
    pub(crate) fn refusal(fault: &ServiceError) -> Self {
        Self { document: fault.answer().to_document(), is_refusal: true }
    }
}
