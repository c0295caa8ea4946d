//! What the handlers of the page share.

use crate::page_event::PageEvent;
use crate::review_context::ReviewContext;
use crate::session::SessionStore;
use probity_api::merge_audit::MergeAuditRangeAnswer;
use probity_api::review::BoardAnswer;
use probity_review::lost_intents;
use probity_workspace::{ServiceError, Workspace, git};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, broadcast};

/// Questions to the services at a time; more wait.
const MAX_QUESTIONS: usize = 16;
/// Events that a slow page may be behind.
const EVENT_BUFFER: usize = 256;
/// How long a board is shown to everybody who asks for it.
const BOARD_LIFETIME: Duration = Duration::from_millis(500);
/// Reviews that are kept for the files that are opened from them.
const MAX_KEPT_REVIEWS: usize = 8;

/// How the page is served.
#[derive(Debug, Clone)]
pub struct UiOptions {
    pub root: PathBuf,
    /// 0 for any.
    pub port: u16,
    /// Whether nobody can decide anything.
    pub read_only: bool,
    /// The person who decides.
    pub person: String,
}

/// The audit of the newest merges, and what it depends on.
#[derive(Debug)]
struct KnownMerges {
    head: Option<String>,
    n_decisions: usize,
    range: Arc<MergeAuditRangeAnswer>,
}

/// Everything that the handlers share.
#[derive(Debug)]
pub(crate) struct UiState {
    pub(crate) root: PathBuf,
    pub(crate) port: u16,
    pub(crate) read_only: bool,
    pub(crate) person: String,
    pub(crate) sessions: SessionStore,
    pub(crate) events: broadcast::Sender<PageEvent>,
    pub(crate) questions: Semaphore,
    /// One decision at a time: what was compared with what was shown is what is acted on.
    pub(crate) decisions: Mutex<()>,
    board: Mutex<Option<(Instant, Arc<BoardAnswer>)>>,
    reviews: Mutex<VecDeque<Arc<ReviewContext>>>,
    /// The audit of the newest merges, for the commit that it was made for.
    merges: Mutex<Option<KnownMerges>>,
    pub(crate) n_violations: AtomicU64,
}

impl UiState {
    pub(crate) fn new(options: UiOptions, port: u16) -> Self {
        Self {
            root: options.root,
            port,
            read_only: options.read_only,
            person: options.person,
            sessions: SessionStore::default(),
            events: broadcast::channel(EVENT_BUFFER).0,
            questions: Semaphore::new(MAX_QUESTIONS),
            decisions: Mutex::new(()),
            board: Mutex::new(None),
            reviews: Mutex::new(VecDeque::new()),
            merges: Mutex::new(None),
            n_violations: AtomicU64::new(0),
        }
    }

    /// Cookies of all ports of a machine are shared, so the name holds the port.
    pub(crate) fn cookie_name(&self) -> String {
        format!("probity_ui_{}", self.port)
    }

    pub(crate) fn forget_board(&self) {
        *self.board.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    pub(crate) fn workspace(&self) -> Result<Workspace, ServiceError> {
        Workspace::find(Some(&self.root), &self.root)
    }

    /// Returns the board, read at most twice a second however many ask.
    pub(crate) fn board(&self) -> Result<Arc<BoardAnswer>, ServiceError> {
        let mut kept = self.board.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, board)) = kept.as_ref().filter(|(read, _)| read.elapsed() < BOARD_LIFETIME) {
            return Ok(Arc::clone(board));
        }
        let board = Arc::new(probity_review::board(&self.workspace()?)?);
        *kept = Some((Instant::now(), Arc::clone(&board)));
        Ok(board)
    }

    /// Returns the audit of the newest merges. It takes long, and only a new commit or a decision changes it.
    pub(crate) fn recent_merges(
        &self,
        workspace: &Workspace,
    ) -> Result<Arc<MergeAuditRangeAnswer>, ServiceError> {
        let head = git::head(workspace)?;
        let n_decisions = probity_merges::decisions(workspace)?.decisions.len();
        let mut kept = self.merges.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |known: &&KnownMerges| known.head == head && known.n_decisions == n_decisions;
        if let Some(known) = kept.as_ref().filter(is_it) {
            return Ok(Arc::clone(&known.range));
        }
        let range = Arc::new(lost_intents::recent_merges(workspace)?);
        *kept = Some(KnownMerges { head, n_decisions, range: Arc::clone(&range) });
        Ok(range)
    }

    pub(crate) fn forget_merges(&self) {
        *self.merges.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    pub(crate) fn keep_review(&self, context: ReviewContext) -> Arc<ReviewContext> {
        let context = Arc::new(context);
        let mut kept = self.reviews.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|other| other.review.shown != context.review.shown);
        kept.push_front(Arc::clone(&context));
        kept.truncate(MAX_KEPT_REVIEWS);
        context
    }

    pub(crate) fn kept_review(&self, shown: &str) -> Option<Arc<ReviewContext>> {
        let kept = self.reviews.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |context: &&Arc<ReviewContext>| context.review.shown.to_hex().starts_with(shown);
        kept.iter().filter(|_| shown.len() >= 16).find(is_it).cloned()
    }
}
