//! Finish hygiene: how the dirty paths of a shared tree relate to a finishing intent and to the others.
//!
//! Every dirty path gets one class. Nothing in scope can be hidden from evidence, and nothing is attributed on
//! doubt (law 5): what was not there to compare with is *unknown*.

use crate::record::{Claims, ForeignDirtyOverlap, IntentId, Peer};
use crate::scope::{Entries, IntentScope, ScopeRelation};
use probity_core::Digest;
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// How a dirty path differs from what is committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DirtyStatus {
    /// It is new.
    Added,
    /// Its content or mode differs.
    Modified,
    /// It is gone.
    Deleted,
    /// It became another type of entry.
    TypeChanged,
}

/// A dirty path with its content.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct DirtyEntry {
    /// The path.
    pub path: RepoPath,
    /// How it differs.
    pub status: DirtyStatus,
    /// Hash over type, mode and content; `None` if deleted or unreadable.
    pub digest: Option<Digest>,
}

/// What was dirty when the intent started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum StartSnapshot {
    /// It was taken and can be read.
    Available {
        /// The dirty paths of that moment.
        entries: Vec<DirtyEntry>,
    },
    /// It was taken and cannot be read.
    Unreadable,
}

/// Whether there is a start snapshot to compare with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SnapshotStatus {
    /// There is one.
    Available,
    /// There is one that cannot be read.
    Unreadable,
    /// There is none.
    Missing,
}

/// What finish hygiene looks at.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct FinishState {
    /// The scope of the finishing intent.
    pub scope: IntentScope,
    /// The paths that its owner lists as changed.
    pub evidence: Entries,
    /// The dirty paths now.
    pub dirty: Vec<DirtyEntry>,
    /// The dirty paths at start, if they were recorded.
    pub start_snapshot: Option<StartSnapshot>,
    /// Every other record.
    pub foreign_intents: Vec<Peer>,
    /// Whether unattributed dirt outside the scope blocks.
    pub strict: bool,
}

/// Whether the evidence names a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// It does.
    Present,
    /// It does not.
    Absent,
}

/// What became of a path since the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StartState {
    /// It was dirty in the same way.
    PresentSame,
    /// It was dirty in another way.
    PresentChanged,
    /// It was not dirty.
    Absent,
    /// It cannot be told.
    Unknown,
}

/// The class of a dirty path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DirtyClass {
    /// In scope, and not listed.
    MissingEvidence,
    /// In scope, and listed.
    DeclaredScopeDirty,
    /// Outside, and held by a live foreign intent.
    ForeignAttributedOutsideScope,
    /// Outside, dirty at start, unchanged.
    PreexistingUnscopedDirty,
    /// Outside, and appeared since.
    NewUnattributedUnscopedDirty,
    /// Outside, and changed since.
    ModifiedUnattributedUnscopedDirty,
    /// Outside, with nothing to compare with.
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

    /// Whether the path lies outside the scope.
    pub const fn is_outside(self) -> bool {
        !matches!(self, Self::MissingEvidence | Self::DeclaredScopeDirty)
    }
}

/// One dirty path, and whose it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DirtyAttribution {
    /// The path.
    pub path: RepoPath,
    /// Where it is relative to the scope.
    pub scope_relation: ScopeRelation,
    /// Whether the evidence names it.
    pub evidence: Evidence,
    /// What became of it since the start.
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

/// The hygiene of a finish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishHygiene {
    /// Every dirty path, by path.
    pub dirty_attribution: Vec<DirtyAttribution>,
    /// Dirty paths of the scope that others hold too.
    pub foreign_dirty_overlaps: BTreeSet<ForeignDirtyOverlap>,
    /// Whether there was a start snapshot to compare with.
    pub dirty_snapshot_status: SnapshotStatus,
    /// What the scope check has to look at: the evidence and nothing else.
    pub files_for_scope_check: Entries,
    /// Why the finish is blocked, if it is.
    pub finish_block_reason: Option<FinishBlockReason>,
}

impl FinishHygiene {
    /// The dirty paths of one class.
    pub fn of_class(&self, class: DirtyClass) -> Vec<&RepoPath> {
        self.paths(|found| found == class)
    }

    /// Dirt outside the scope that no live intent claims and that was not there before.
    pub fn unattributed(&self) -> Vec<&RepoPath> {
        self.paths(DirtyClass::is_unattributed)
    }

    /// All dirt outside the scope, whosever it is.
    pub fn outside_scope(&self) -> Vec<&RepoPath> {
        self.paths(DirtyClass::is_outside)
    }

    /// Whether the finish must not go on.
    pub fn blocks_finish(&self) -> bool {
        self.finish_block_reason.is_some()
    }

    /// Every field, with all paths.
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

/// Classifies every dirty path and says whether the finish may go on.
pub fn hygiene_finish(state: &FinishState) -> FinishHygiene {
    let claims = Claims::live(&state.foreign_intents);
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
    claims: &Claims<'_>,
    start_state: StartState,
) -> DirtyAttribution {
    let path = entry.path.as_bytes();
    let scope_relation = state.scope.relation(path);
    let evidence = if state.evidence.contains(path) { Evidence::Present } else { Evidence::Absent };
    let foreign_intents: BTreeSet<IntentId> = claims.holders(path).into_keys().cloned().collect();
    let class = match (scope_relation, evidence, start_state) {
        (ScopeRelation::OwnAllowed | ScopeRelation::OwnRelated, Evidence::Absent, _) => {
            DirtyClass::MissingEvidence
        }
        (ScopeRelation::OwnAllowed | ScopeRelation::OwnRelated, Evidence::Present, _) => {
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
