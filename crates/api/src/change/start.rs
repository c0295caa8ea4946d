//! The answer to a start or a promotion.

use super::hygiene::StartHygieneAnswer;
use super::neighbors::ConcurrentWork;
use crate::ExitCode;
use crate::document::Answer;
use probity_contract::ChangeBudget;
use probity_intents::registry::{EventSeq, OwnerNotice, RefusalCode};
use probity_intents::start::{ClaimState, DirtyScopePolicy, StartNextStep, StartReason, StartStatus};
use probity_intents::{IntentId, IntentScope, ScopeEntry};
use probity_paths::RepoPath;
use probity_policy::Strictness;
use schemars::JsonSchema;
use serde::Serialize;

/// Whether a change may begin, and if not, why: the answer of `probity start` and `probity intent promote`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StartAnswer {
    /// Granted, waiting, refused, or nothing to start from.
    pub status: StartStatus,
    /// Whether editing may begin; only for `active`.
    pub edit_allowed: bool,
    /// The intent, if there is one now.
    pub intent_id: Option<IntentId>,
    /// The fencing token of the claim.
    pub token: Option<EventSeq>,
    /// What the start left behind.
    pub claim: ClaimState,
    /// The first of the reasons.
    pub reason: Option<StartObstacle>,
    /// Why it was not simply granted.
    pub reasons: Vec<StartObstacle>,
    /// What to do next, in one word.
    pub next_step: StartNextStep,
    /// The same in a sentence.
    pub message: String,
    /// Whether somebody has to act before editing may begin.
    pub user_action_required: bool,
    /// Whether this start was carried out before, and this is what it led to.
    pub idempotent_replay: bool,
    /// The run that the change starts from.
    pub run_id: Option<String>,
    /// What uncommitted changes in `allowed_files` mean.
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
    pub workspace: ConcurrentWork,
    /// Whose the uncommitted changes of the tree are.
    pub workspace_hygiene: Option<StartHygieneAnswer>,
    /// Who would notice the change.
    pub blast_radius: Option<BlastSummary>,
    /// What headroom the change has.
    pub budget: Option<StartBudget>,
    /// The active constraints of the ledger that touch the scope, hard ones first, the first of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<ConstraintInScope>,
    /// The items of the ledger that the change cites.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub implements: Vec<String>,
    /// What happened to intents of this owner meanwhile.
    pub notices: Vec<OwnerNotice>,
    /// The handle of the owner, where the answer may tell it: to a new owner on the command line, and to every caller of a
    /// tool. The rules never know it.
    pub owner: Option<String>,
}

impl Answer for StartAnswer {
    const SCHEMA: &'static str = "probity/start/v1";
}

impl StartAnswer {
    /// The exit code of the command line.
    pub const fn exit_code(&self) -> ExitCode {
        match self.status {
            StartStatus::Active => ExitCode::Ok,
            StartStatus::Queued => ExitCode::Conflict,
            StartStatus::Blocked | StartStatus::NeedsAnalysis => ExitCode::Refused,
        }
    }
}

/// Why a start is not simply granted: a reason of the start rules, or a refusal of the registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum StartObstacle {
    /// The start rules say so.
    Rule(StartReason),
    /// The registry refuses.
    Registry(RefusalCode),
}

impl StartObstacle {
    /// The stable code.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rule(reason) => reason.as_str(),
            Self::Registry(code) => code.as_str(),
        }
    }

    /// What happened.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Rule(reason) => reason.meaning(),
            Self::Registry(code) => code.meaning(),
        }
    }
}

/// A declared path at which there is nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MissingPath {
    /// The path as it was declared.
    pub path: ScopeEntry,
    /// A path of the tree that may have been meant.
    pub suggestion: Option<RepoPath>,
    /// What else may be wrong with it.
    pub hint: Option<&'static str>,
}

/// Something doubtful about a declared scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ScopeWarning {
    /// What it is.
    pub code: probity_core::ReasonCode,
    /// The list that it concerns.
    pub field: &'static str,
    /// The entry that it concerns.
    pub entry: Option<ScopeEntry>,
    /// The same in a sentence.
    pub message: &'static str,
}

probity_core::word_enum! {
    /// How many would notice a change, by the number of files that need the changed ones.
    pub enum BlastLevel {
        /// Fewer than 5.
        Low = "low",
        /// Fewer than 25.
        Medium = "medium",
        /// 25 or more.
        High = "high",
    }
}

impl BlastLevel {
    /// The level of this many files that need the changed ones, directly or through others.
    pub const fn of(n_dependents: usize) -> Self {
        match n_dependents {
            0..=4 => Self::Low,
            5..=24 => Self::Medium,
            _ => Self::High,
        }
    }
}

/// Who would notice a change, in numbers and the first few names.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BlastSummary {
    /// How many they are, in one word.
    pub radius_level: BlastLevel,
    /// How many files need the changed ones themselves.
    pub direct_dependents_count: usize,
    /// How many need them directly or through others.
    pub transitive_dependents_count: usize,
    /// How many share a clone with them.
    pub clone_siblings_count: usize,
    /// How many cycles they are part of.
    pub cycles_count: usize,
    /// The files that need the changed ones themselves.
    pub direct_dependents: Vec<RepoPath>,
    /// The files that share a clone with them.
    pub clone_siblings: Vec<RepoPath>,
    /// Declared paths that the run does not know: new files, or files of no known language.
    pub unknown: Vec<RepoPath>,
}

/// What headroom a change has.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StartBudget {
    /// How strictly it is reckoned.
    pub strictness: Strictness,
    /// What the change may cost.
    pub budgets: ChangeBudget,
    /// What the structural gates of the policy say already.
    pub gate_preview: GateForecast,
}

/// What the structural gates of the policy say of a tree.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GateForecast {
    /// Whether they fail; `null` if the policy has none.
    pub would_fail: Option<bool>,
}

/// A constraint of the ledger that a change must keep to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ConstraintInScope {
    /// Its handle.
    pub handle: String,
    /// What it says.
    pub summary: String,
    /// Whether nothing may break it.
    pub hard: bool,
    /// A path or pattern in it that meets the scope; `null` when it names no path, and so holds everywhere.
    pub because: Option<String>,
}
