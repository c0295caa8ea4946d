//! The answer of a start or a promotion.

use super::finish::Coordination;
use super::hygiene::StartHygieneAnswer;
use super::neighbors::ConcurrentWork;
use crate::ExitCode;
use crate::document::Answer;
use probity_contract::ChangeBudget;
use probity_intents::registry::{EventSeq, OwnerNotice, RefusalCode};
use probity_intents::start::{ClaimState, DirtyScopePolicy, StartNextStep, StartReason, StartStatus};
use probity_intents::{IntentId, IntentScope, LackingWork, ScopeEntry};
use probity_paths::RepoPath;
use probity_policy::Strictness;
use schemars::JsonSchema;
use serde::Serialize;

/// Whether a change may begin, and if not, why: the answer of `probity start` and `probity intent promote`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StartAnswer {
    /// Granted, queued, blocked, or without an analysis to start from.
    pub status: StartStatus,
    /// Whether editing may begin: true only if `active`.
    pub edit_allowed: bool,
    /// The intent, if one exists now.
    pub intent_id: Option<IntentId>,
    /// The fencing token of the claim.
    pub token: Option<EventSeq>,
    /// The state of the claim after the start.
    pub claim: ClaimState,
    /// The first of `reasons`.
    pub reason: Option<StartObstacle>,
    /// Why it was not granted immediately.
    pub reasons: Vec<StartObstacle>,
    /// The code of the next step.
    pub next_step: StartNextStep,
    /// The status and the next step in a sentence.
    pub message: String,
    /// Whether someone must act before editing may begin.
    pub user_action_required: bool,
    /// Whether this start was carried out before, and this is its result.
    pub idempotent_replay: bool,
    /// The run that the change starts from.
    pub run_id: Option<String>,
    /// How uncommitted changes in `allowed_files` are treated.
    pub dirty_scope_policy: DirtyScopePolicy,
    /// The declared scope.
    pub scope: IntentScope,
    /// Declared paths that do not exist yet.
    pub missing_paths: Vec<MissingPath>,
    /// Doubts about the scope.
    pub warnings: Vec<ScopeWarning>,
    /// The intents that block the start.
    pub blocked_by: Vec<IntentId>,
    /// The governed runs that block the start.
    pub blocked_by_runs: Vec<String>,
    /// The position in the queue, if queued.
    pub queue_position: Option<usize>,
    /// The time by which the owner must renew the lease.
    pub lease_expires_at: Option<String>,
    /// The time at which the intent ends, even if its owner is alive.
    pub expires_at: Option<String>,
    /// Other intents and runs of the workspace.
    pub workspace: ConcurrentWork,
    /// The uncommitted changes of the tree and their owners.
    pub workspace_hygiene: Option<StartHygieneAnswer>,
    /// The files that the change may affect.
    pub blast_radius: Option<BlastSummary>,
    /// The limits for the change.
    pub budget: Option<StartBudget>,
    /// The first active constraints of the ledger that concern the scope, hard ones first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<ConstraintInScope>,
    /// The items of the ledger that the change cites.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub implements: Vec<String>,
    /// The branch that the change is for, in a team.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// Whether the claim of a change in a team binds the others; absent outside of a team.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coordination: Option<Coordination>,
    /// Work that other trees finished on the line and that this one lacks: with the reason `stale_base` it blocks, else it
    /// is a warning.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lacking: Vec<LackingWork>,
    /// Finished changes whose landing this start saw, so that they keep nobody off any longer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub landed: Vec<IntentId>,
    /// Events that affected the owner's intents in the meantime.
    pub notices: Vec<OwnerNotice>,
    /// The owner's handle, where the answer may reveal it: to a new owner on the command line, and to every caller of
    /// a tool. The rules never see it.
    pub owner: Option<String>,
}

impl Answer for StartAnswer {
    const SCHEMA: &'static str = "probity/start/v1";
}

impl StartAnswer {
    pub const fn exit_code(&self) -> ExitCode {
        match self.status {
            StartStatus::Active => ExitCode::Ok,
            StartStatus::Queued => ExitCode::Conflict,
            StartStatus::Blocked | StartStatus::NeedsAnalysis => ExitCode::Refused,
        }
    }
}

/// Why a start is not granted immediately: a reason of the start rules, or a refusal of the registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum StartObstacle {
    Rule(StartReason),
    Registry(RefusalCode),
}

impl StartObstacle {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rule(reason) => reason.as_str(),
            Self::Registry(code) => code.as_str(),
        }
    }

    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Rule(reason) => reason.meaning(),
            Self::Registry(code) => code.meaning(),
        }
    }
}

/// A declared path that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MissingPath {
    /// The declared path.
    pub path: ScopeEntry,
    /// An existing path that may have been meant.
    pub suggestion: Option<RepoPath>,
    /// Another possible mistake.
    pub hint: Option<&'static str>,
}

/// A doubt about a declared scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ScopeWarning {
    pub code: probity_core::ReasonCode,
    /// The list that contains the entry.
    pub field: &'static str,
    /// The entry in question.
    pub entry: Option<ScopeEntry>,
    pub message: &'static str,
}

probity_core::word_enum! {
    /// The reach of a change, by the number of files that depend on the changed ones.
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
    /// Returns the level for this number of direct and transitive dependents.
    pub const fn of(n_dependents: usize) -> Self {
        match n_dependents {
            0..=4 => Self::Low,
            5..=24 => Self::Medium,
            _ => Self::High,
        }
    }
}

/// The files that a change may affect: counts and the first few names.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BlastSummary {
    pub radius_level: BlastLevel,
    /// Files that depend on the changed ones directly.
    pub direct_dependents_count: usize,
    /// Files that depend on them directly or transitively.
    pub transitive_dependents_count: usize,
    /// Files that share a clone with them.
    pub clone_siblings_count: usize,
    /// Dependency cycles that contain them.
    pub cycles_count: usize,
    /// The first files that depend on the changed ones directly.
    pub direct_dependents: Vec<RepoPath>,
    /// The first files that share a clone with them.
    pub clone_siblings: Vec<RepoPath>,
    /// Declared paths that are not in the run: new files, or files of no supported language.
    pub unknown: Vec<RepoPath>,
}

/// The limits for a change.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StartBudget {
    /// Strictness used to compute the budget.
    pub strictness: Strictness,
    /// What the change may cost.
    pub budgets: ChangeBudget,
    /// The result of the policy's structural gates before the change.
    pub gate_preview: GateForecast,
}

/// The result of the policy's structural gates on the present tree.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GateForecast {
    /// Whether they fail; `null` if the policy has none.
    pub would_fail: Option<bool>,
}

/// A constraint of the ledger that a change must respect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ConstraintInScope {
    pub handle: String,
    /// The text of the constraint.
    pub summary: String,
    /// Whether breaking it is never allowed.
    pub hard: bool,
    /// A path or pattern in it that matches the scope; null if it names no path and so applies everywhere.
    pub because: Option<String>,
}
