//! What the handlers of the page share.

use crate::page_event::PageEvent;
use crate::review_context::ReviewContext;
use crate::session::SessionStore;
use probity_api::merge_audit::MergeAuditRangeAnswer;
use probity_api::review::{BoardAnswer, ChangeFindings, ChangeReview};
use probity_review::{UndecidedFacts, lost_intents};
use probity_workspace::{ServiceError, Workspace, git};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};
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

/// What waits for a person beside changes, and what it was read from.
#[derive(Debug)]
struct KnownUndecided {
    key: UndecidedKey,
    facts: UndecidedFacts,
}

/// What the list of things that wait depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
struct UndecidedKey {
    head: Option<String>,
    log_size: u64,
    /// Decisions about merges of git, which are not in the log.
    n_merge_decisions: usize,
    /// When the document store was last written.
    documents: Option<SystemTime>,
}

/// What the frame of every page tells about the whole tree.
#[derive(Debug, Clone, Default)]
pub(crate) struct TreeSummary {
    pub(crate) name: String,
    pub(crate) head: Option<String>,
    pub(crate) n_needs: usize,
    pub(crate) n_lost: usize,
    pub(crate) n_contradictions: usize,
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
    /// Findings that were compared, by what was shown of their change; the newest first.
    findings: Mutex<VecDeque<Arc<ChangeFindings>>>,
    /// One comparison at a time: each uses every core.
    comparing: Mutex<()>,
    /// The audit of the newest merges, for the commit that it was made for.
    merges: Mutex<Option<KnownMerges>>,
    undecided: Mutex<Option<KnownUndecided>>,
    summary: Mutex<TreeSummary>,
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
            findings: Mutex::new(VecDeque::new()),
            comparing: Mutex::new(()),
            merges: Mutex::new(None),
            undecided: Mutex::new(None),
            summary: Mutex::new(TreeSummary::default()),
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
        let mut board = probity_review::board(&self.workspace()?)?;
        let mut summary = TreeSummary {
            name: board.repository.clone(),
            head: board.head.clone(),
            ..TreeSummary::default()
        };
        if let Some(known) = &*self.undecided.lock().unwrap_or_else(PoisonError::into_inner) {
            probity_review::add_needs(&mut board, known.facts.needs.clone());
            (summary.n_lost, summary.n_contradictions) = (known.facts.n_lost, known.facts.n_contradictions);
        }
        summary.n_needs = board.needs.len() + board.needs_left_out;
        *self.summary.lock().unwrap_or_else(PoisonError::into_inner) = summary;
        let board = Arc::new(board);
        *kept = Some((Instant::now(), Arc::clone(&board)));
        Ok(board)
    }

    /// What the last board told about the tree.
    pub(crate) fn summary(&self) -> TreeSummary {
        let mut summary = self.summary.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if summary.name.is_empty() {
            summary.name =
                self.workspace().map(|workspace| probity_review::tree_name(&workspace)).unwrap_or_default();
        }
        summary
    }

    /// Reads what merges lost and what the ledger contradicts, if it may be something else than the last time. Audits of
    /// merges take long, so this is never done while somebody waits for a page. Returns whether there was news.
    pub(crate) fn refresh_undecided(&self) -> Result<bool, ServiceError> {
        let workspace = self.workspace()?;
        let documents =
            |name: &str| workspace.state.dir().join(name).metadata().and_then(|it| it.modified()).ok();
        let key = UndecidedKey {
            head: git::head(&workspace)?,
            log_size: probity_review::log_size(&workspace)?,
            n_merge_decisions: probity_merges::decisions(&workspace)?.decisions.len(),
            documents: documents("commits.db").max(documents("commits.db-wal")),
        };
        let known = || self.undecided.lock().unwrap_or_else(PoisonError::into_inner);
        if known().as_ref().is_some_and(|known| known.key == key) {
            return Ok(false);
        }
        let range = self.recent_merges(&workspace)?;
        let documents = lost_intents::document_merges(&workspace)?;
        let facts = probity_review::undecided(&workspace, &range, &documents)?;
        let before = known().replace(KnownUndecided { key, facts: facts.clone() });
        Ok(before.is_none_or(|before| before.facts.needs != facts.needs))
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

    /// Returns the findings of a change if they were compared already.
    pub(crate) fn known_findings(&self, review: &ChangeReview) -> Option<Arc<ChangeFindings>> {
        let known = self.findings.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().find(|known| known.shown == review.shown && known.change == review.change).cloned()
    }

    /// Compares the findings of a change, once for everybody who asks.
    pub(crate) fn findings(&self, context: &ReviewContext) -> Result<Arc<ChangeFindings>, ServiceError> {
        let _alone = self.comparing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = self.known_findings(&context.review) {
            return Ok(known);
        }
        let workspace = self.workspace()?;
        let found =
            Arc::new(probity_review::change_findings(&workspace, &context.review, &context.contents)?);
        let mut known = self.findings.lock().unwrap_or_else(PoisonError::into_inner);
        known.push_front(Arc::clone(&found));
        known.truncate(MAX_KEPT_REVIEWS);
        Ok(found)
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
