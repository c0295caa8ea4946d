//! The other intents and governed runs that a start meets.

use crate::SystemPath;
use probity_evidence::GlobList;
use probity_intents::{IntentId, OverlapType, Ownership, RelationKind, ScopeEntrySet};
use schemars::JsonSchema;
use serde::Serialize;

probity_core::word_enum! {
    /// What to do about another intent or run. Never: end its process.
    pub enum RelatedIntentAction {
        /// It is one's own.
        FinishAmendOrClearYourOwn = "finish_amend_or_clear_your_own",
        /// Its owner is gone.
        RecoverOrStartOverIt = "recover_or_start_over_it",
        /// Its time is over.
        StartOverIt = "start_over_it",
        /// It waits, and is not in the way.
        NoneItWaits = "none_it_waits",
        /// Its owner has been silent.
        CoordinateOrWaitForItsEnd = "coordinate_or_wait_for_its_end",
        /// Its owner is alive.
        StopAndCoordinate = "stop_and_coordinate",
        /// It is a governed run.
        WaitForTheRunOrNarrowScope = "wait_for_the_run_or_narrow_scope",
    }
}

/// The other intents of the workspace, as far as they matter to this one.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct ConcurrentWork {
    /// Live claims that overlap.
    pub concurrent_intents: Vec<RelatedIntent>,
    /// Governed runs that have not ended and may touch the same paths.
    pub concurrent_runs: Vec<ConcurrentRun>,
    /// All relations that are not `none`, overlaps included.
    pub workspace_relations: Vec<RelatedIntent>,
    /// Those who wait for some of the same paths.
    pub queued_context: Vec<RelatedIntent>,
    /// How many owners hold or wait for something.
    pub total_agents: usize,
    /// How many live claims have a silent owner.
    pub stale_count: usize,
}

/// A governed run that is in the way.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ConcurrentRun {
    /// The run.
    pub run_id: String,
    /// What it may touch, from its own root.
    pub scope: GlobList,
    /// The declared entries of which it may touch something.
    pub overlap: ScopeEntrySet,
    /// Its root.
    pub root: SystemPath,
    /// Since when it runs.
    pub since: String,
    /// What to do about it.
    pub recommended_action: RelatedIntentAction,
}

/// Another intent, and how its scope overlaps the caller's.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RelatedIntent {
    /// The intent.
    pub intent_id: IntentId,
    /// What people call its owner.
    pub agent_label: String,
    /// The process of its owner.
    pub agent_pid: u32,
    /// What it is for.
    pub intent: String,
    /// What it is to the caller.
    pub ownership: Ownership,
    /// How its scope overlaps the caller's.
    pub relation: RelationKind,
    /// Whether its handle is kept in this worktree, and the caller may use it: it is the caller's own, under another handle.
    pub handle_kept: bool,
    /// Which overlaps there are.
    pub overlap_type: Option<OverlapType>,
    /// Where allowed meets allowed.
    pub hard_overlap: ScopeEntrySet,
    /// Where allowed meets related.
    pub soft_overlap: ScopeEntrySet,
    /// Entries that one side forbids.
    pub excluded: ScopeEntrySet,
    /// What to do about it.
    pub recommended_action: RelatedIntentAction,
    /// Since when it has been declared.
    pub declared_at: String,
    /// When its owner must have been heard of again.
    pub lease_expires_at: String,
    /// When it ends, whatever its owner does.
    pub expires_at: String,
}
