//! Finish hygiene: attributes each uncommitted path of a shared tree to the finishing intent, to another one,
//! or to no one.
//!
//! Every uncommitted path gets exactly one class. A path in scope cannot be hidden from evidence, and nothing
//! is attributed in doubt (law 5): without a start state to compare with, the class is *unknown*.

use crate::record::{ClaimIndex, ForeignDirtyOverlap, IntentId, PeerIntent};
use crate::scope::{IntentScope, ScopeEntrySet, ScopeRelation};
use probity_core::Digest;
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// How an uncommitted path differs from what is committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DirtyStatus {
    /// The path is new.
    Added,
    /// The content or mode differs.
    Modified,
    /// The path is gone.
    Deleted,
    /// The entry has another type.
    TypeChanged,
}

/// An uncommitted path with its content.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct DirtyEntry {
    /// The path.
    pub path: RepoPath,
    /// How it differs from what is committed.
    pub status: DirtyStatus,
    /// Hash over type, mode and content; `None` if deleted or unreadable.
    pub digest: Option<Digest>,
}

/// The uncommitted paths when the intent started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum StartSnapshot {
    Available {
        entries: Vec<DirtyEntry>,
    },
    /// The snapshot was taken but cannot be read.
    Unreadable,
}

/// Availability of the start snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SnapshotStatus {
    /// The snapshot can be read.
    Available,
    /// The snapshot was taken but cannot be read.
    Unreadable,
    /// No snapshot was taken.
    Missing,
}

/// The input of finish hygiene.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct FinishState {
    pub scope: IntentScope,
    /// Paths that the owner lists as changed.
    pub evidence: ScopeEntrySet,
    /// Uncommitted paths now.
    pub dirty: Vec<DirtyEntry>,
    /// Uncommitted paths at the start, if recorded.
    pub start_snapshot: Option<StartSnapshot>,
    /// Every other intent.
    pub foreign_intents: Vec<PeerIntent>,
    /// True if unattributed changes outside the scope block the finish.
    pub strict: bool,
}

/// Whether the owner's evidence lists a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EvidencePresence {
    /// The path is listed.
    Present,
    /// The path is not listed.
    Absent,
}

/// The state of a path at the start, compared with now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StartState {
    /// It was uncommitted with the same content.
    PresentSame,
    /// It was uncommitted with different content.
    PresentChanged,
    /// It had no uncommitted change.
    Absent,
    /// It cannot be determined.
    Unknown,
}

/// The class of an uncommitted path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DirtyClass {
    /// In scope, but not listed.
    MissingEvidence,
    /// In scope and listed.
    DeclaredScopeDirty,
    /// Outside the scope, and held by a live foreign intent.
    ForeignAttributedOutsideScope,
    /// Outside the scope, unchanged since the start.
    PreexistingUnscopedDirty,
    /// Outside the scope, new since the start.
    NewUnattributedUnscopedDirty,
    /// Outside the scope, changed since the start.
    ModifiedUnattributedUnscopedDirty,
    /// Outside the scope, with nothing to compare with.
    UnknownUnattributedUnscopedDirty,
}

impl DirtyClass {
    const fn is_unattributed(self) -> bool {
        matches!(
            self,
            Self::NewUnattributedUnscopedDirty
                | Self::ModifiedUnattributedUnscopedDirty
                | Self::UnknownUnattributedUnscopedDirty
        )
    }

    pub const fn is_outside(self) -> bool {
        !matches!(self, Self::MissingEvidence | Self::DeclaredScopeDirty)
    }
}

/// One uncommitted path and its attribution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DirtyAttribution {
    /// The path.
    pub path: RepoPath,
    /// Its position relative to the scope.
    pub scope_relation: ScopeRelation,
    /// Whether the evidence lists it.
    pub evidence: EvidencePresence,
    /// Its state at the start, compared with now.
    pub start_state: StartState,
    /// The live foreign intents that hold it.
    pub foreign_intents: BTreeSet<IntentId>,
    /// Its class.
    pub class: DirtyClass,
}

probity_core::code_enum! {
    /// Why uncommitted changes block a finish.
    pub enum FinishBlockReason {
        MissingEvidence = "missing_evidence",
            "an uncommitted path of the scope is not listed as changed",
            "list it with `--changed`, or let Probity find the changed paths";
        ForeignDirtyOverlap = "foreign_dirty_overlap",
            "a live intent of another agent holds an uncommitted path of the scope",
            "coordinate with its owner";
        OwnUnscopedDirty = "own_unscoped_dirty",
            "strict finish: paths outside the scope changed since the start, and nobody claims them",
            "revert them, or widen the scope with `probity amend`";
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishHygiene {
    /// Every uncommitted path, sorted.
    pub dirty_attribution: Vec<DirtyAttribution>,
    /// Uncommitted paths of the scope that other agents hold too.
    pub foreign_dirty_overlaps: BTreeSet<ForeignDirtyOverlap>,
    pub dirty_snapshot_status: SnapshotStatus,
    /// Input of the scope check: exactly the listed evidence.
    pub files_for_scope_check: ScopeEntrySet,
    pub finish_block_reason: Option<FinishBlockReason>,
}

impl FinishHygiene {
    pub fn of_class(&self, class: DirtyClass) -> Vec<&RepoPath> {
        self.paths(|found| found == class)
    }

    /// Returns uncommitted changes outside the scope that are new or changed, and that no live intent claims.
    pub fn unattributed(&self) -> Vec<&RepoPath> {
        self.paths(DirtyClass::is_unattributed)
    }

    /// Returns all uncommitted changes outside the scope, attributed or not.
    pub fn outside_scope(&self) -> Vec<&RepoPath> {
        self.paths(DirtyClass::is_outside)
    }

    pub fn blocks_finish(&self) -> bool {
        self.finish_block_reason.is_some()
    }

    pub fn to_json(&self) -> Value {
        json!({
            "unacknowledged_dirty_in_scope": self.of_class(DirtyClass::MissingEvidence),
            "preexisting_unscoped_dirty": self.of_class(DirtyClass::PreexistingUnscopedDirty),
            "unattributed_unscoped_dirty": self.unattributed(),
            "own_unscoped_dirty": self.unattributed(),
            "new_unattributed_unscoped_dirty": self.of_class(DirtyClass::NewUnattributedUnscopedDirty),
            "modified_unattributed_unscoped_dirty": self.of_class(DirtyClass::ModifiedUnattributedUnscopedDirty),
            "unknown_unattributed_unscoped_dirty": self.of_class(DirtyClass::UnknownUnattributedUnscopedDirty),
            "foreign_attributed_outside_scope": self.of_class(DirtyClass::ForeignAttributedOutsideScope),
            "foreign_dirty_overlaps": self.foreign_dirty_overlaps,
            "dirty_attribution": self.dirty_attribution,
            "dirty_snapshot_status": self.dirty_snapshot_status,
            "files_for_scope_check": self.files_for_scope_check,
            "blocks_finish": self.blocks_finish(),
            "finish_block_reason": self.finish_block_reason,
        })
    }

    fn paths(&self, wanted: impl Fn(DirtyClass) -> bool) -> Vec<&RepoPath> {
        self.dirty_attribution.iter().filter(|dirt| wanted(dirt.class)).map(|dirt| &dirt.path).collect()
    }
}

/// Classifies every uncommitted path and decides whether the finish may proceed.
pub fn hygiene_finish(state: &FinishState) -> FinishHygiene {
    let claims = ClaimIndex::of_live_peers(&state.foreign_intents);
    let at_start = match &state.start_snapshot {
        Some(StartSnapshot::Available { entries }) => Some(by_path(entries)),
        Some(StartSnapshot::Unreadable) | None => None,
    };
    let dirty = by_path(&state.dirty);
    let dirty_attribution: Vec<_> = dirty
        .values()
        .map(|entry| attribute(entry, state, &claims, start_state(entry, at_start.as_ref())))
        .collect();
    let foreign_dirty_overlaps = claims.dirty_overlaps(&state.scope, dirty.keys().copied());
    let mut hygiene = FinishHygiene {
        dirty_attribution,
        foreign_dirty_overlaps,
        dirty_snapshot_status: match &state.start_snapshot {
            Some(StartSnapshot::Available { .. }) => SnapshotStatus::Available,
            Some(StartSnapshot::Unreadable) => SnapshotStatus::Unreadable,
            None => SnapshotStatus::Missing,
        },
        files_for_scope_check: state.evidence.clone(),
        finish_block_reason: None,
    };
    hygiene.finish_block_reason = block_reason(&hygiene, state.strict);
    hygiene
}

fn by_path(entries: &[DirtyEntry]) -> BTreeMap<&RepoPath, &DirtyEntry> {
    entries.iter().map(|entry| (&entry.path, entry)).collect()
}

fn start_state(now: &DirtyEntry, at_start: Option<&BTreeMap<&RepoPath, &DirtyEntry>>) -> StartState {
    let Some(at_start) = at_start else { return StartState::Unknown };
    let Some(then) = at_start.get(&now.path) else { return StartState::Absent };
    match (then.status == DirtyStatus::Deleted, now.status == DirtyStatus::Deleted) {
        (true, true) => StartState::PresentSame,
        (true, false) | (false, true) => StartState::PresentChanged,
        (false, false) => match (then.digest, now.digest) {
            (Some(then), Some(now)) if then == now => StartState::PresentSame,
            (Some(_), Some(_)) => StartState::PresentChanged,
            _ => StartState::Unknown,
        },
    }
}

fn attribute(
    entry: &DirtyEntry,
    state: &FinishState,
    claims: &ClaimIndex<'_>,
    start_state: StartState,
) -> DirtyAttribution {
    let path = entry.path.as_bytes();
    let scope_relation = state.scope.relation(path);
    let evidence =
        if state.evidence.contains(path) { EvidencePresence::Present } else { EvidencePresence::Absent };
    let foreign_intents: BTreeSet<IntentId> = claims.holders(path).into_keys().cloned().collect();
    let class = match (scope_relation, evidence, start_state) {
        (ScopeRelation::OwnAllowed | ScopeRelation::OwnRelated, EvidencePresence::Absent, _) => {
            DirtyClass::MissingEvidence
        }
        (ScopeRelation::OwnAllowed | ScopeRelation::OwnRelated, EvidencePresence::Present, _) => {
            DirtyClass::DeclaredScopeDirty
        }
        _ if !foreign_intents.is_empty() => DirtyClass::ForeignAttributedOutsideScope,
        (_, _, StartState::PresentSame) => DirtyClass::PreexistingUnscopedDirty,
        (_, _, StartState::Absent) => DirtyClass::NewUnattributedUnscopedDirty,
        (_, _, StartState::PresentChanged) => DirtyClass::ModifiedUnattributedUnscopedDirty,
        (_, _, StartState::Unknown) => DirtyClass::UnknownUnattributedUnscopedDirty,
    };
    DirtyAttribution {
        path: entry.path.clone(),
        scope_relation,
        evidence,
        start_state,
        foreign_intents,
        class,
    }
}

fn block_reason(hygiene: &FinishHygiene, strict: bool) -> Option<FinishBlockReason> {
    if !hygiene.of_class(DirtyClass::MissingEvidence).is_empty() {
        Some(FinishBlockReason::MissingEvidence)
    } else if !hygiene.foreign_dirty_overlaps.is_empty() {
        Some(FinishBlockReason::ForeignDirtyOverlap)
    } else if strict && !hygiene.unattributed().is_empty() {
        Some(FinishBlockReason::OwnUnscopedDirty)
    } else {
        None
    }
}
