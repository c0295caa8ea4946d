//! Builds the trail of a patch: what was declared, what the evidence says, and what really changed (law 1).

use super::root_mapping::RootMapping;
use probity_api::change::{DetailLevel, PatchTrail, PatchTrailCounts, PatchTrailDetail, TrailEntry};
use probity_core::Digest;
use probity_intents::{IntentScope, ScopeCheck, ScopeEntry, ScopeEntrySet, ScopeRelation};
use probity_workspace::worktree::ChangesSinceStart;

pub(super) struct PatchTrailInputs<'a> {
    pub(super) paths: &'a RootMapping,
    /// In the registry's path names.
    pub(super) scope: &'a IntentScope,
    pub(super) evidence: &'a ScopeEntrySet,
    pub(super) changes: &'a ChangesSinceStart,
    pub(super) scope_check: &'a ScopeCheck,
    pub(super) heads: (Option<&'a str>, Option<&'a str>),
}

impl PatchTrailInputs<'_> {
    /// Returns counts and a digest; with `full` also the document they summarize.
    pub(super) fn answer(&self, detail: DetailLevel) -> PatchTrail {
        let changed: Vec<TrailEntry> = self
            .changes
            .dirty_paths
            .values()
            .filter(|dirt| !dirt.is_unchanged_since_start)
            .map(|dirt| TrailEntry {
                path: dirt.entry.path.clone(),
                change: dirt.entry.status,
                digest: dirt.entry.digest,
                scope_relation: self.scope.relation(self.paths.to_repo_path(&dirt.entry.path).as_bytes()),
                listed: self.evidence.contains(dirt.entry.path.as_bytes()),
            })
            .collect();
        let is_dirty = |path: &[u8]| self.changes.dirty_paths.keys().any(|dirty| dirty.as_bytes() == path);
        let unchanged: Vec<ScopeEntry> =
            self.evidence.iter().filter(|path| !is_dirty(path.as_bytes())).cloned().collect();
        let is_outside = |entry: &&TrailEntry| entry.scope_relation == ScopeRelation::Outside;
        let counts = PatchTrailCounts {
            changed_files: self.evidence.len(),
            changed_since_start: changed.len(),
            changed_outside_scope: changed.iter().filter(is_outside).count(),
            listed_but_unchanged: unchanged.len(),
            untouched_in_declared: self.scope_check.untouched_in_declared.len(),
        };
        let whole = PatchTrailDetail {
            changed_files: self.evidence.clone(),
            changed_since_start: changed,
            listed_but_unchanged: unchanged.clone(),
            head_at_start: self.heads.0.map(str::to_owned),
            head_now: self.heads.1.map(str::to_owned),
        };
        let document = serde_json::to_value(&whole).expect("a trail has text keys only");
        PatchTrail {
            counts,
            listed_but_unchanged: unchanged,
            patch_trail_digest: Digest::of_json(&document),
            detail: (detail == DetailLevel::Full).then_some(whole),
        }
    }
}
