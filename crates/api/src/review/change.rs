//! One change as a reviewer sees it: declared against done, with everything that was checked about it.

use super::decision::DecisionOption;
use crate::document::Answer;
use probity_core::Digest;
use probity_evidence::{BundleCheck, ChangeKind};
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::Serialize;

/// One change: a governed run, an intent, the commits of a range, or the uncommitted work.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ChangeReview {
    /// The full name of the change: a run, an intent, `BASE..HEAD`, or `worktree`.
    pub change: String,
    pub kind: ReviewedKind,
    /// The purpose of the change, or the command that made it.
    pub title: String,
    /// The agent or program that made it.
    pub agent: Option<String>,
    /// The machine of the agent, if known.
    pub machine: Option<String>,
    pub began_at: Option<String>,
    pub ended_at: Option<String>,
    /// The commit that it began from.
    pub base: Option<String>,
    pub state: ReviewState,
    /// Why it does not stand, in the order of importance.
    pub reasons: Vec<ReviewReason>,
    /// How strongly the scope was enforced.
    pub enforcement: Option<String>,
    /// The scope, clause by clause; empty if nothing was declared.
    pub clauses: Vec<ReviewClause>,
    /// The changed paths, sorted.
    pub paths: Vec<ReviewPath>,
    pub amendments: Vec<ReviewAmendment>,
    pub gates: Vec<GateFacts>,
    pub claims: Vec<ClaimFact>,
    pub findings: Vec<FindingNote>,
    /// Whether findings were compared at all.
    pub findings_known: bool,
    /// The health before and after, if both trees were analyzed.
    pub health: Option<(i64, i64)>,
    /// The bundle with the current judgment of a run: its own, or that of its last amendment.
    pub bundle: Option<String>,
    /// The checks of its evidence.
    pub checks: Vec<BundleCheck>,
    /// Its number in the log of the repository, from 0.
    pub log_index: Option<u64>,
    /// Items of the ledger that it was made under.
    pub decisions_cited: Vec<String>,
    /// What can be decided about it now.
    pub options: Vec<DecisionOption>,
    /// Notes on what is not known.
    pub notes: Vec<String>,
    /// The digest of everything above: a decision names what it was made about.
    pub shown: Digest,
}

impl Answer for ChangeReview {
    const SCHEMA: &'static str = "probity/review/v1";
}

impl ChangeReview {
    /// Returns the review of a change that nobody has judged and of which only the name is known so far.
    pub fn unjudged(change: String, kind: ReviewedKind, title: String) -> Self {
        Self {
            change,
            kind,
            title,
            agent: None,
            machine: None,
            began_at: None,
            ended_at: None,
            base: None,
            state: ReviewState::Unjudged,
            reasons: Vec::new(),
            enforcement: None,
            clauses: Vec::new(),
            paths: Vec::new(),
            amendments: Vec::new(),
            gates: Vec::new(),
            claims: Vec::new(),
            findings: Vec::new(),
            findings_known: false,
            health: None,
            bundle: None,
            checks: Vec::new(),
            log_index: None,
            decisions_cited: Vec::new(),
            options: Vec::new(),
            notes: Vec::new(),
            shown: Digest::of(b""),
        }
    }

    /// Counts the paths with this fate.
    pub fn n_with(&self, fate: PathFate) -> usize {
        self.paths.iter().filter(|path| path.fate == fate).count()
    }

    /// Counts added and removed lines.
    pub fn lines(&self) -> (usize, usize) {
        let add =
            |sum: (usize, usize), path: &ReviewPath| (sum.0 + path.lines_added, sum.1 + path.lines_removed);
        self.paths.iter().fold((0, 0), add)
    }
}

probity_core::word_enum! {
    /// What kind of change it is.
    pub enum ReviewedKind {
        /// A governed run.
        Run = "run",
        /// A declared change in a shared tree.
        Intent = "intent",
        /// The commits of a range.
        Range = "range",
        /// Uncommitted work.
        Worktree = "worktree",
    }
}

probity_core::word_enum! {
    /// Where a change stands.
    pub enum ReviewState {
        /// It is being made.
        Editing = "editing",
        /// It waits for others that hold its paths.
        Queued = "queued",
        /// Its changes wait in a layer for a decision.
        Held = "held",
        /// It passed, and its changes wait in a layer.
        Ready = "ready",
        /// Its changes are in the tree, and it passed.
        Landed = "landed",
        /// It did not pass, and the tree has its changes.
        Failed = "failed",
        /// Its out-of-scope changes were undone, or its layer was dropped.
        Undone = "undone",
        /// Nobody judged it.
        Unjudged = "unjudged",
        /// The owner of the intent is gone, and the claim is left.
        Recoverable = "recoverable",
    }
}

/// What a change did to the findings of the tree: the answer of `probity review findings`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ChangeFindings {
    pub change: String,
    /// The digest of the review that it belongs to.
    pub shown: Digest,
    /// New ones first, then those that got worse, then fixed ones.
    pub findings: Vec<FindingNote>,
    /// Findings that are not listed.
    pub left_out: usize,
    /// The health of the tree without and with the change, if files were analyzed.
    pub health: Option<(i64, i64)>,
    /// What limits the comparison.
    pub notes: Vec<String>,
}

impl Answer for ChangeFindings {
    const SCHEMA: &'static str = "probity/review-findings/v1";
}

impl ChangeFindings {
    /// Counts the findings with this fate.
    pub fn n_with(&self, change: FindingChange) -> usize {
        self.findings.iter().filter(|finding| finding.change == change).count()
    }
}

/// A code with its meaning and the next step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReviewReason {
    pub code: String,
    pub meaning: String,
    pub next_step: String,
}

/// One clause of a scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReviewClause {
    /// The pattern or path as declared.
    pub pattern: String,
    /// Whether it takes paths out.
    pub excludes: bool,
    /// The amendment that added it, by its place in `amendments`.
    pub amendment: Option<usize>,
    /// The changed paths that it let in, or kept out.
    pub n_decided: usize,
    /// Whose claim it is, where several agents share a tree.
    pub owner: Option<String>,
}

probity_core::word_enum! {
    /// What became of a changed path.
    pub enum PathFate {
        /// The scope lets it in.
        Inside = "inside",
        /// No clause lets it in.
        Outside = "outside",
        /// A gate wrote it.
        Gate = "gate",
        /// A build output, which nobody judges.
        Exempt = "exempt",
        /// There is no scope to hold it against.
        Unjudged = "unjudged",
    }
}

/// One changed path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReviewPath {
    pub path: RepoPath,
    pub change: ChangeKind,
    pub fate: PathFate,
    /// The clause that decided, by its place in `clauses`.
    pub clause: Option<usize>,
    /// The deleted path that had the same content.
    pub renamed_from: Option<RepoPath>,
    pub lines_added: usize,
    pub lines_removed: usize,
    /// Whether a side is no text.
    pub is_binary: bool,
    /// Why its lines are not shown at first: generated, too large, or no copy is left.
    pub folded: Option<String>,
    /// Who holds the path, for uncommitted work.
    pub owner: Option<String>,
    /// Whether the tree has this change now.
    pub in_tree: Option<bool>,
}

/// An amendment of the scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReviewAmendment {
    pub by: String,
    pub why: String,
    pub at: String,
    pub added: Vec<String>,
}

/// One gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GateFacts {
    pub id: String,
    /// `pass`, or how it did not.
    pub status: String,
    pub passed: bool,
    pub required: bool,
    pub duration_ms: Option<u64>,
    pub exit_code: Option<i64>,
    /// Its logs in the bundle.
    pub logs: Vec<String>,
    pub detail: String,
}

/// One claim of the author.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ClaimFact {
    /// The author's words, or the word of the claim.
    pub sentence: String,
    pub claim: String,
    /// The verdict in its own word.
    pub verdict: String,
    /// Whether it is true; null if it cannot be checked.
    pub holds: Option<bool>,
    /// The facts behind the verdict.
    pub facts: Vec<String>,
}

probity_core::word_enum! {
    /// What a change did to a finding.
    pub enum FindingChange {
        /// It was not there before.
        New = "new",
        /// A symbol measures worse than before.
        Worse = "worse",
        /// It is not there any more.
        Fixed = "fixed",
    }
}

/// A finding that the change made, made worse or removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FindingNote {
    pub change: FindingChange,
    pub path: RepoPath,
    /// The line, after the change; of a fixed finding before it.
    pub line: Option<u32>,
    pub severity: String,
    pub message: String,
}
