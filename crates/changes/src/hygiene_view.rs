//! Shows hygiene in an answer: every path with `full`, short lists otherwise.

use super::root_mapping::RootMapping;
use probity_api::change::{
    DetailLevel, FinishDirtyCounts, FinishHygieneAnswer, FinishHygieneDetail, StartDirtyCounts,
    StartHygieneAnswer, WorktreeSnapshotAnswer,
};
use probity_intents::hygiene::{DirtyAttribution, DirtyClass, SnapshotStatus};
use probity_intents::{FinishHygiene, ForeignDirtyOverlap, ScopeRelation, StartDecision};
use probity_paths::RepoPath;
use probity_workspace::worktree::WorktreeStatus;

/// How many paths a list shows unless `full` is requested.
pub(crate) const MAX_LISTED_PATHS: usize = 20;

pub(crate) struct HygieneView<'a> {
    pub(crate) status: &'a WorktreeStatus,
    pub(crate) paths: &'a RootMapping,
    pub(crate) git_available: bool,
    pub(crate) detail: DetailLevel,
}

impl HygieneView<'_> {
    pub(crate) fn start(&self, decision: &StartDecision) -> StartHygieneAnswer {
        let dirty = &self.status.state.dirty;
        StartHygieneAnswer {
            git_available: self.git_available,
            blocks_edit: decision.blocks_edit,
            counts: StartDirtyCounts {
                dirty: dirty.len(),
                in_scope: decision.dirty_in_allowed.len(),
                outside_scope: dirty.len() - decision.dirty_in_allowed.len(),
            },
            dirty_in_allowed: self.paths(decision.dirty_in_allowed.iter()),
            foreign_dirty_overlaps: self.overlaps(decision.foreign_dirty_overlaps.iter()),
            dirty_snapshot: self.snapshot(),
            dirty_snapshot_status: SnapshotStatus::Available,
            dirty_paths: self.is_full().then(|| dirty.keys().cloned().collect()),
        }
    }

    pub(crate) fn finish(&self, hygiene: &FinishHygiene) -> FinishHygieneAnswer {
        let count = |class| hygiene.of_class(class).len();
        let in_allowed = |dirt: &DirtyAttribution| dirt.scope_relation == ScopeRelation::OwnAllowed;
        let outside = hygiene.outside_scope().len();
        // It is unknown who changed a path that nobody claims, but the change itself is certain and must be listed.
        let unattributed = self.paths(hygiene.unattributed().into_iter());
        FinishHygieneAnswer {
            git_available: self.git_available,
            blocks_edit: hygiene.dirty_attribution.iter().any(in_allowed),
            blocks_finish: hygiene.blocks_finish(),
            finish_block_reason: hygiene.finish_block_reason,
            counts: FinishDirtyCounts {
                in_scope: hygiene.dirty_attribution.len() - outside,
                outside_scope: outside,
                missing_evidence: count(DirtyClass::MissingEvidence),
                preexisting_unscoped: count(DirtyClass::PreexistingUnscopedDirty),
                new_unattributed_unscoped: count(DirtyClass::NewUnattributedUnscopedDirty),
                modified_unattributed_unscoped: count(DirtyClass::ModifiedUnattributedUnscopedDirty),
                unknown_unattributed_unscoped: count(DirtyClass::UnknownUnattributedUnscopedDirty),
                foreign_attributed_outside_scope: count(DirtyClass::ForeignAttributedOutsideScope),
            },
            foreign_dirty_overlaps: self.overlaps(hygiene.foreign_dirty_overlaps.iter()),
            unacknowledged_dirty_in_scope: self.class(hygiene, DirtyClass::MissingEvidence),
            own_unscoped_dirty: unattributed.clone(),
            unattributed_unscoped_dirty: unattributed,
            dirty_snapshot: self.snapshot(),
            dirty_snapshot_status: hygiene.dirty_snapshot_status,
            detail: self.is_full().then(|| self.finish_detail(hygiene)),
        }
    }

    fn finish_detail(&self, hygiene: &FinishHygiene) -> FinishHygieneDetail {
        let class = |class| self.class(hygiene, class);
        FinishHygieneDetail {
            preexisting_unscoped_dirty: class(DirtyClass::PreexistingUnscopedDirty),
            new_unattributed_unscoped_dirty: class(DirtyClass::NewUnattributedUnscopedDirty),
            modified_unattributed_unscoped_dirty: class(DirtyClass::ModifiedUnattributedUnscopedDirty),
            unknown_unattributed_unscoped_dirty: class(DirtyClass::UnknownUnattributedUnscopedDirty),
            foreign_attributed_outside_scope: class(DirtyClass::ForeignAttributedOutsideScope),
            dirty_attribution: self.attribution(hygiene),
            files_for_scope_check: self.paths.to_workspace_entries(&hygiene.files_for_scope_check),
        }
    }

    fn is_full(&self) -> bool {
        self.detail == DetailLevel::Full
    }

    fn paths<'p>(&self, paths: impl Iterator<Item = &'p RepoPath>) -> Vec<RepoPath> {
        self.list(paths.map(|path| self.paths.to_workspace_path(path)))
    }

    /// Returns all items with `full`, else the first few. The counts are always complete.
    pub(crate) fn list<T>(&self, items: impl Iterator<Item = T>) -> Vec<T> {
        items.take(if self.is_full() { usize::MAX } else { MAX_LISTED_PATHS }).collect()
    }

    fn class(&self, hygiene: &FinishHygiene, class: DirtyClass) -> Vec<RepoPath> {
        self.paths(hygiene.of_class(class).into_iter())
    }

    fn overlaps<'o>(
        &self,
        overlaps: impl Iterator<Item = &'o ForeignDirtyOverlap>,
    ) -> Vec<ForeignDirtyOverlap> {
        let down = |it: &ForeignDirtyOverlap| ForeignDirtyOverlap {
            path: self.paths.to_workspace_path(&it.path),
            ..it.clone()
        };
        self.list(overlaps.map(down))
    }

    fn attribution(&self, hygiene: &FinishHygiene) -> Vec<DirtyAttribution> {
        let down = |it: &DirtyAttribution| DirtyAttribution {
            path: self.paths.to_workspace_path(&it.path),
            ..it.clone()
        };
        hygiene.dirty_attribution.iter().map(down).collect()
    }

    fn snapshot(&self) -> WorktreeSnapshotAnswer {
        let state = &self.status.state;
        WorktreeSnapshotAnswer {
            root: self.status.snapshot.root(),
            head: state.head.clone(),
            paths_count: state.dirty.len(),
            aside_count: state.aside.len(),
            entries: self.is_full().then(|| state.dirty.values().cloned().collect()),
        }
    }
}
