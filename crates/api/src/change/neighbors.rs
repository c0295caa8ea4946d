//! Other intents and governed runs that a start has to consider.

use crate::SystemPath;
use probity_evidence::GlobList;
use probity_intents::{IntentId, OverlapType, Ownership, RelationKind, ScopeEntrySet};
use schemars::JsonSchema;
use serde::Serialize;

probity_core::word_enum! {
    /// The recommended action about another intent or run. It is never to end its process.
    pub enum RelatedIntentAction {
        /// It belongs to the caller.
        FinishAmendOrClearYourOwn = "finish_amend_or_clear_your_own",
        /// Its owner is gone.
        RecoverOrStartOverIt = "recover_or_start_over_it",
        /// It has expired.
        StartOverIt = "start_over_it",
        /// It is queued and does not block.
        NoneItWaits = "none_it_waits",
        /// Its lease lapsed, but nothing proves that its owner is gone.
        CoordinateOrWaitForItsEnd = "coordinate_or_wait_for_its_end",
        /// Its owner is alive.
        StopAndCoordinate = "stop_and_coordinate",
        /// It is finished, and keeps other trees off until its work has landed.
        WaitForItsLanding = "wait_for_its_landing",
        /// Both may edit; what they make has to be merged.
        CoordinateBeforeMerge = "coordinate_before_merge",
        /// It is for another line.
        NoneOtherLine = "none_other_line",
        /// It is a governed run.
        WaitForTheRunOrNarrowScope = "wait_for_the_run_or_narrow_scope",
    }
}

probity_core::word_enum! {
    /// How claims of different trees on the same paths relate.
    pub enum ClaimRelationWord {
        /// Only one of them can be active.
        Exclusive = "exclusive",
        /// Both can be active, and each is told of the other.
        Announced = "announced",
        /// They are for different lines.
        OtherLine = "other_line",
    }
}

/// The other intents of the workspace that matter to this one.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct ConcurrentWork {
    /// Live claims that overlap the scope.
    pub concurrent_intents: Vec<RelatedIntent>,
    /// Running governed runs that may touch the same paths.
    pub concurrent_runs: Vec<ConcurrentRun>,
    /// All relations other than `none`, overlaps included.
    pub workspace_relations: Vec<RelatedIntent>,
    /// Intents queued for some of the same paths.
    pub queued_context: Vec<RelatedIntent>,
    /// The number of owners that hold or wait for something.
    pub total_agents: usize,
    /// The number of live claims with a lapsed lease.
    pub stale_count: usize,
}

/// A governed run that blocks the start.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ConcurrentRun {
    pub run_id: String,
    /// The paths that it may touch, relative to its root.
    pub scope: GlobList,
    /// The declared entries that it may touch.
    pub overlap: ScopeEntrySet,
    pub root: SystemPath,
    /// The time at which it started.
    pub since: String,
    pub recommended_action: RelatedIntentAction,
}

/// Another intent, and how its scope overlaps the caller's.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RelatedIntent {
    pub intent_id: IntentId,
    /// The label of its owner.
    pub agent_label: String,
    /// The process id of its owner.
    pub agent_pid: u32,
    /// The purpose of the change.
    pub intent: String,
    /// The relation between its owner and the caller.
    pub ownership: Ownership,
    /// How its scope overlaps the caller's.
    pub relation: RelationKind,
    /// How its claim relates to the caller's, if it is of another tree of a team.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claims: Option<ClaimRelationWord>,
    /// The machine of its owner, as it calls itself, in a team.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The branch that it is for, in a team.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// Whether its handle is kept in this worktree: it then belongs to the caller, under another handle.
    pub handle_kept: bool,
    /// The kinds of overlap.
    pub overlap_type: Option<OverlapType>,
    /// Entries that both sides allow.
    pub hard_overlap: ScopeEntrySet,
    /// Entries that one side allows and the other lists as related.
    pub soft_overlap: ScopeEntrySet,
    /// Entries that one side forbids.
    pub excluded: ScopeEntrySet,
    pub recommended_action: RelatedIntentAction,
    pub declared_at: String,
    /// The time by which its owner must renew the lease.
    pub lease_expires_at: String,
    /// The time at which it ends, even if its owner is alive.
    pub expires_at: String,
}
