//! Decides whether a start is granted, queued or refused, and what to do next.
//!
//! A start is granted or it is not (law 4): `blocked` claims nothing.

use crate::coherence::{LackingWork, StaleBaseRule};
use crate::owner::Ownership;
use crate::record::{ClaimIndex, ForeignDirtyOverlap, IntentId, IntentStatus, PeerIntent};
use crate::relations::overlap;
use crate::scope::{IntentScope, covered};
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

probity_core::word_enum! {
    /// Treatment of uncommitted changes in `allowed_files`.
    #[derive(Default)]
    pub enum DirtyScopePolicy {
        /// They block the start.
        #[default]
        Block = "block",
        /// They are the caller's work in progress, unless a live foreign intent holds them.
        ContinueOwnWip = "continue_own_wip",
    }
}

probity_core::word_enum! {
    /// Treatment of a conflict with a live foreign intent.
    #[derive(Default)]
    pub enum OnConflict {
        /// It blocks the start.
        #[default]
        Block = "block",
        /// The start takes a place in the queue.
        Queue = "queue",
    }
}

/// The input of a start decision.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct StartState {
    /// True if an analysis of the current tree is stored.
    pub run_available: bool,
    /// The requested scope.
    pub scope: IntentScope,
    /// Every other intent.
    pub concurrent_intents: Vec<PeerIntent>,
    /// Uncommitted paths of the tree.
    pub dirty: BTreeSet<RepoPath>,
    pub dirty_scope_policy: DirtyScopePolicy,
    pub on_conflict: OnConflict,
    /// Work that other trees finished on the line, and that this one lacks.
    #[serde(default)]
    pub lacking: Vec<LackingWork>,
    /// What such work on the line means for the start.
    #[serde(default)]
    pub stale_base: StaleBaseRule,
}

/// The outcome of a start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StartStatus {
    /// There is no analysis to start from.
    NeedsAnalysis,
    /// The intent waits for others.
    Queued,
    /// The start is refused.
    Blocked,
    /// The start is granted.
    Active,
}

/// What a start leaves in the registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClaimState {
    /// A claim.
    Granted,
    /// A place in the queue.
    Queued,
    /// Nothing.
    None,
}

probity_core::code_enum! {
    /// Why a start is not simply granted.
    pub enum StartReason {
        NoRun = "no_run",
            "there is no analysis to start from",
            "run `probity analyze`, then start again";
        Coordination = "coordination",
            "a live intent of another agent overlaps the scope",
            "coordinate with its owner, queue, or narrow the scope";
        DirtyScope = "dirty_scope",
            "`allowed_files` has uncommitted changes",
            "commit, stash or revert them, or continue them with `--continue-own-wip`";
        ForeignDirtyOverlap = "foreign_dirty_overlap",
            "a live intent of another agent holds an uncommitted path of the scope",
            "coordinate with its owner";
        StaleBase = "stale_base",
            "another clone or worktree finished a change of this scope that the checked out commit does not contain",
            "fetch and rebase first, then start again; in a shallow clone `git fetch --unshallow` if it still differs";
        BeforeRunEvicted = "before_run_evicted",
            "no stored analysis describes the tree that a waiting intent is to start from",
            "run `probity analyze`, then promote the intent";
    }
}

/// What the caller should do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StartNextStep {
    /// Analyze, then start again.
    AnalyzeThenStart,
    /// Wait, then promote the intent.
    WaitThenPromote,
    /// Coordinate with the holder, and clean the scope.
    CoordinateAndClean,
    /// Coordinate with the holder.
    CoordinateWithOwner,
    /// Coordinate with the holder, whose lease has lapsed.
    CoordinateWithStaleOwner,
    /// Commit, stash or revert the uncommitted changes.
    CleanDirtyScope,
    /// Fetch the line and rebase onto it, then start again.
    FetchAndRebase,
    /// Edit within the scope.
    EditInScope,
    /// Queue behind the waiting intents, or narrow the scope.
    QueueOrNarrowScope,
    /// Finish, amend or clear your own intent first.
    FinishOwnIntent,
}

/// The outcome of a start, with its reasons.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StartDecision {
    /// The outcome.
    pub status: StartStatus,
    /// True if editing may begin; only for `active`.
    pub edit_allowed: bool,
    /// What the start leaves in the registry.
    pub claim: ClaimState,
    /// The reasons, in a fixed order.
    pub reasons: Vec<StartReason>,
    /// What to do next.
    pub next_step: StartNextStep,
    /// The live foreign intents that conflict.
    pub blocked_by: BTreeSet<IntentId>,
    /// The position in the queue, if queued.
    pub queue_position: Option<usize>,
    /// True if `allowed_files` has uncommitted changes, or a live foreign intent holds an uncommitted path of the scope;
    /// whatever the policy says.
    pub blocks_edit: bool,
    /// Uncommitted paths in `allowed_files`.
    pub dirty_in_allowed: BTreeSet<RepoPath>,
    /// Uncommitted paths of the scope that other agents hold too.
    pub foreign_dirty_overlaps: BTreeSet<ForeignDirtyOverlap>,
    /// Work of other trees that this one lacks, whether it blocks or not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lacking: Vec<LackingWork>,
}

pub fn start_decision(state: &StartState) -> StartDecision {
    if !state.run_available {
        return decision(
            StartStatus::NeedsAnalysis,
            vec![StartReason::NoRun],
            StartNextStep::AnalyzeThenStart,
        );
    }
    let overlapping = |peer: &&PeerIntent| overlap(&state.scope, &peer.scope);
    let holders: Vec<&PeerIntent> =
        state.concurrent_intents.iter().filter(|peer| peer.is_live()).filter(overlapping).collect();
    let dirty_in_allowed: BTreeSet<RepoPath> = state
        .dirty
        .iter()
        .filter(|path| covered(&state.scope.allowed_files, path.as_bytes()))
        .cloned()
        .collect();
    let foreign_dirty_overlaps =
        ClaimIndex::of_live_peers(&state.concurrent_intents).dirty_overlaps(&state.scope, state.dirty.iter());

    let wip_goes_on =
        state.dirty_scope_policy == DirtyScopePolicy::ContinueOwnWip && foreign_dirty_overlaps.is_empty();
    let dirty_scope = !dirty_in_allowed.is_empty() && !wip_goes_on;
    let is_stale =
        state.stale_base == StaleBaseRule::Block && state.lacking.iter().any(|work| work.is_on_line);
    let reasons = [
        (!holders.is_empty(), StartReason::Coordination),
        (is_stale, StartReason::StaleBase),
        (dirty_scope, StartReason::DirtyScope),
        (!foreign_dirty_overlaps.is_empty(), StartReason::ForeignDirtyOverlap),
    ];
    let reasons: Vec<_> = reasons.into_iter().filter_map(|(holds, reason)| holds.then_some(reason)).collect();
    let status = match (holders.is_empty(), state.on_conflict, reasons.is_empty()) {
        (false, OnConflict::Queue, _) => StartStatus::Queued,
        (_, _, false) => StartStatus::Blocked,
        (_, _, true) => StartStatus::Active,
    };
    StartDecision {
        blocked_by: holders.iter().map(|peer| peer.intent_id.clone()).collect(),
        queue_position: (status == StartStatus::Queued).then(|| queue_position(state)),
        blocks_edit: !dirty_in_allowed.is_empty() || !foreign_dirty_overlaps.is_empty(),
        dirty_in_allowed,
        foreign_dirty_overlaps,
        lacking: state.lacking.clone(),
        ..decision(status, reasons, next_step(status, &holders, dirty_scope, is_stale))
    }
}

fn decision(status: StartStatus, reasons: Vec<StartReason>, next_step: StartNextStep) -> StartDecision {
    StartDecision {
        status,
        edit_allowed: status == StartStatus::Active,
        claim: match status {
            StartStatus::Active => ClaimState::Granted,
            StartStatus::Queued => ClaimState::Queued,
            StartStatus::NeedsAnalysis | StartStatus::Blocked => ClaimState::None,
        },
        reasons,
        next_step,
        blocked_by: BTreeSet::new(),
        queue_position: None,
        blocks_edit: false,
        dirty_in_allowed: BTreeSet::new(),
        foreign_dirty_overlaps: BTreeSet::new(),
        lacking: Vec::new(),
    }
}

/// Returns the position after the foreign waiters that overlap.
fn queue_position(state: &StartState) -> usize {
    let waits = |peer: &&PeerIntent| peer.status == IntentStatus::Queued && peer.ownership.is_foreign();
    let overlapping = |peer: &&PeerIntent| overlap(&state.scope, &peer.scope);
    let before_me: BTreeSet<&IntentId> = state
        .concurrent_intents
        .iter()
        .filter(waits)
        .filter(overlapping)
        .map(|peer| &peer.intent_id)
        .collect();
    1 + before_me.len()
}

fn next_step(
    status: StartStatus,
    holders: &[&PeerIntent],
    dirty_scope: bool,
    is_stale: bool,
) -> StartNextStep {
    let someone_is_active = holders.iter().any(|peer| peer.ownership == Ownership::ForeignActive);
    match status {
        StartStatus::NeedsAnalysis => StartNextStep::AnalyzeThenStart,
        StartStatus::Queued => StartNextStep::WaitThenPromote,
        StartStatus::Active => StartNextStep::EditInScope,
        StartStatus::Blocked if holders.is_empty() && is_stale && !dirty_scope => {
            StartNextStep::FetchAndRebase
        }
        StartStatus::Blocked if holders.is_empty() => StartNextStep::CleanDirtyScope,
        StartStatus::Blocked if dirty_scope => StartNextStep::CoordinateAndClean,
        StartStatus::Blocked if someone_is_active => StartNextStep::CoordinateWithOwner,
        StartStatus::Blocked => StartNextStep::CoordinateWithStaleOwner,
    }
}
