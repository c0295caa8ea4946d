//! What a start and a finish answer. Plain data: every surface prints the same.

use super::missing::MissingPath;
use contract::ContractReason;
use contract::ContractStatus;
use contract::finish::{FinishNextStep, FinishStep};
use intent::hygiene::DirtyStatus;
use intent::registry::{Notice, Seq};
use intent::start::{ClaimState, DirtyScopePolicy, StartStatus};
use intent::{Entries, IntentId, IntentScope, OverlapType, Ownership, RelationKind, ScopeCheck, Timestamp};
use paths::RepoPath;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The answer to a start or a promotion.
#[derive(Debug, Clone, Serialize)]
pub struct StartAnswer {
    /// `probity/start/v1`.
    pub schema: &'static str,
    /// Granted, waiting, refused, or nothing to start from.
    pub status: StartStatus,
    /// Whether editing may begin; only for `active`.
    pub edit_allowed: bool,
    /// The intent, if there is one now.
    pub intent_id: Option<IntentId>,
    /// The fencing token of the claim.
    pub token: Option<Seq>,
    /// What the start left behind.
    pub claim: ClaimState,
    /// The first of the reasons.
    pub reason: Option<String>,
    /// Why it was not simply granted.
    pub reasons: Vec<String>,
    /// What to do next, in one word.
    pub next_step: String,
    /// The same in a sentence.
    pub message: String,
    /// Whether somebody has to act before editing may begin.
    pub user_action_required: bool,
    /// Whether this start was carried out before, and this is what it led to.
    pub idempotent_replay: bool,
    /// The run that the change starts from.
    pub run_id: Option<String>,
    /// What dirt in `allowed_files` means.
    pub dirty_scope_policy: DirtyScopePolicy,
    /// What may be touched, as it was declared.
    pub scope: IntentScope,
    /// Declared paths at which there is nothing yet.
    pub missing_paths: Vec<MissingPath>,
    /// What is doubtful about that.
    pub warnings: Vec<ScopeWarning>,
    /// The intents in the way.
    pub blocked_by: Vec<IntentId>,
    /// The governed runs in the way.
    pub blocked_by_runs: Vec<String>,
    /// The place in the queue, if queued.
    pub queue_position: Option<usize>,
    /// When the owner must have been heard of again.
    pub lease_expires_at: Option<String>,
    /// When the intent ends, whatever its owner does.
    pub expires_at: Option<String>,
    /// The others.
    pub workspace: Neighbours,
    /// Whose the dirt of the tree is.
    pub workspace_hygiene: Option<Value>,
    /// Who would notice the change.
    pub blast_radius: Option<BlastSummary>,
    /// What headroom the change has.
    pub budget: Option<Value>,
    /// The active constraints of the ledger that touch the scope, hard ones first, the first of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<crate::ledger::Touching>,
    /// The items of the ledger that the change cites.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub implements: Vec<String>,
    /// What happened to intents of this owner meanwhile.
    pub notices: Vec<Notice>,
}

impl StartAnswer {
    /// The exit code of the command line.
    pub fn exit_code(&self) -> api::ExitCode {
        self.status.into()
    }
}

/// Something doubtful about a declared scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ScopeWarning {
    /// What it is.
    pub code: canon::Reason,
    /// The list that it concerns.
    pub field: &'static str,
    /// The entry that it concerns.
    pub entry: Option<intent::Entry>,
    /// The same in a sentence.
    pub message: &'static str,
}

/// The other intents of the workspace, as far as they matter to this one.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Neighbours {
    /// Live claims that overlap.
    pub concurrent_intents: Vec<Neighbour>,
    /// Governed runs that go on and may touch the same paths.
    pub concurrent_runs: Vec<ConcurrentRun>,
    /// All relations that are not `none`, overlaps included.
    pub workspace_relations: Vec<Neighbour>,
    /// Those who wait for some of the same paths.
    pub queued_context: Vec<Neighbour>,
    /// How many owners hold or wait for something.
    pub total_agents: usize,
    /// How many live claims have a silent owner.
    pub stale_count: usize,
}

/// A governed run that is in the way.
#[derive(Debug, Clone, Serialize)]
pub struct ConcurrentRun {
    /// The run.
    pub run_id: String,
    /// What it may touch, from its own root.
    pub scope: evidence::Globs,
    /// The declared entries of which it may touch something.
    pub overlap: Entries,
    /// Its root.
    pub root: Value,
    /// Since when it goes on.
    pub since: String,
    /// What to do about it.
    pub recommended_action: &'static str,
}

/// Another intent, and how it lies to this one.
#[derive(Debug, Clone, Serialize)]
pub struct Neighbour {
    /// The intent.
    pub intent_id: IntentId,
    /// What people call its owner.
    pub agent_label: String,
    /// The process of its owner.
    pub agent_pid: u32,
    /// What it is for.
    pub intent: String,
    /// How it lies to the reader.
    pub ownership: Ownership,
    /// How its scope lies to mine.
    pub relation: RelationKind,
    /// Whether its handle is kept in this worktree, and the caller may use it: it is the caller's own, under another handle.
    pub handle_kept: bool,
    /// Which overlaps there are.
    pub overlap_type: Option<OverlapType>,
    /// Where allowed meets allowed.
    pub hard_overlap: Entries,
    /// Where allowed meets related.
    pub soft_overlap: Entries,
    /// Entries that one side forbids.
    pub excluded: Entries,
    /// What to do about it.
    pub recommended_action: &'static str,
    /// Since when it has been declared.
    pub declared_at: String,
    /// When its owner must have been heard of again.
    pub lease_expires_at: String,
    /// When it ends, whatever its owner does.
    pub expires_at: String,
}

/// Who would notice a change, in numbers and the first few names.
#[derive(Debug, Clone, Serialize)]
pub struct BlastSummary {
    /// `low`, `medium` or `high`, by the number of files that need the changed ones.
    pub radius_level: &'static str,
    /// How many files need the changed ones themselves.
    pub direct_dependents_count: usize,
    /// How many need them directly or through others.
    pub transitive_dependents_count: usize,
    /// How many share a clone with them.
    pub clone_siblings_count: usize,
    /// How many cycles they are part of.
    pub cycles_count: usize,
    /// The files that need the changed ones themselves.
    pub direct_dependents: Value,
    /// The files that share a clone with them.
    pub clone_siblings: Value,
    /// Declared paths that the run does not know: new files, or files of no known language.
    pub unknown: Value,
}

/// What a finish answers in [`FinishAnswer::schema`].
fn finish_schema() -> &'static str {
    "probity/finish/v1"
}

/// The answer to a finish. Only an accepted one, whose claim is free, is ever read back.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FinishAnswer {
    /// `probity/finish/v1`.
    #[serde(skip_deserializing, default = "finish_schema")]
    pub schema: &'static str,
    /// The intent.
    pub intent_id: IntentId,
    /// The verdict in one word.
    pub status: ContractStatus,
    /// Why; nothing for an accepted one.
    #[serde(skip_deserializing)]
    pub reason: Option<ContractReason>,
    /// What to do next, in one word.
    pub next_step: Option<FinishNextStep>,
    /// The same in a sentence.
    pub message: String,
    /// What commits the accepted change and nothing else, where it is not committed and has few paths.
    #[serde(default)]
    pub commit_command: Option<String>,
    /// Whether somebody has to act before the change can be accepted.
    pub user_action_required: bool,
    /// Whether the claim is free again.
    pub intent_cleared: bool,
    /// Whether this very finish was carried out before, and this is what it answered.
    pub idempotent_replay: bool,
    /// Steps that were not taken.
    pub not_reached: Vec<FinishStep>,
    /// Whose the dirt of the tree is.
    pub workspace_hygiene_after: Option<Value>,
    /// Whether only declared paths were changed.
    pub scope_check: Option<ScopeCheck>,
    /// The patch contract.
    pub verification: Option<Value>,
    /// What really changed, and what the evidence said.
    pub patch_trail: Option<Value>,
    /// What the author claims, against the facts.
    pub claims: Option<Value>,
    /// The receipt: its digest, and where it can be read.
    pub receipt: Option<Value>,
    /// Why there is no receipt although one was asked for.
    pub receipt_error: Option<String>,
    /// The paths of the change that differ from the commit or from the start.
    #[serde(default)]
    pub changes: Vec<ChangedPath>,
    /// Uncommitted changes outside the scope of an accepted change.
    pub external_changes: Option<ExternalChanges>,
    /// What was committed outside the scope since the start, the first of it.
    #[serde(default)]
    pub committed_outside_scope: Vec<RepoPath>,
    /// A loss of health that does not block.
    pub health_regression_advisory: Option<Value>,
    /// All of it in a few words.
    pub summary: Value,
    /// What happened to intents of this owner meanwhile.
    pub notices: Vec<Notice>,
}

impl FinishAnswer {
    /// The exit code of the command line.
    pub fn exit_code(&self) -> api::ExitCode {
        self.status.into()
    }

    /// Whether the change is none: no path of it differs from what it was at the start.
    pub fn nothing_changed(&self) -> bool {
        self.changes.iter().all(|change| !change.since_start)
    }
}

/// A path of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedPath {
    /// The path.
    pub path: RepoPath,
    /// How it differs.
    pub change: DirtyStatus,
    /// Whether it differs from what it was at the start; otherwise it was uncommitted then and still is.
    pub since_start: bool,
}

/// Uncommitted changes that are no part of an accepted change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExternalChanges {
    /// How many there are.
    pub count: usize,
    /// Their paths, the first of them.
    pub paths: Vec<RepoPath>,
    /// How many there are of each attribution.
    #[serde(default)]
    pub by_attribution: BTreeMap<ChangeAttribution, usize>,
    /// The first of them with how they changed, and whose they are; none in a summary.
    #[serde(default)]
    pub changes: Vec<ExternalChange>,
    /// The rest, for a surface that shows all in few lines.
    #[serde(skip)]
    pub unlisted: Vec<ExternalChange>,
}

/// An uncommitted change that is no part of the finished one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExternalChange {
    /// The path.
    pub path: RepoPath,
    /// How it differs from the commit.
    pub change: DirtyStatus,
    /// Whose it is, as far as that is known.
    pub attribution: ChangeAttribution,
    /// The intent that holds it, or whose finish saw it as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent_id: Option<IntentId>,
    /// What people call the owner of that intent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// Whose an uncommitted change is, as far as that is known (law 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeAttribution {
    /// A live intent of others holds the path.
    HeldByIntent,
    /// It is what a finished intent left, not committed yet.
    FinishedByIntent,
    /// It was there at the start, and is the same.
    BeforeStart,
    /// Nobody claims it.
    Unattributed,
}

/// A time of the registry as documents show it.
pub(crate) fn shown(at: Timestamp) -> String {
    let seconds = i64::try_from(at.0).unwrap_or(i64::MAX);
    jiff::Timestamp::from_second(seconds).map_or_else(|_| "never".to_owned(), |time| time.to_string())
}
