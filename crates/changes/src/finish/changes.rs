//! Lists what a finish saw: the paths of the change, and uncommitted changes outside its scope with their attribution.

use super::{FinishContext, FinishHandler};
use crate::hygiene_view::MAX_LISTED_PATHS;
use crate::uncommitted_work::FinishedWork;
use probity_api::change::{ChangeAttribution, ChangedPath, DetailLevel, ExternalChange, ExternalChanges};
use probity_intents::hygiene::{DirtyAttribution, DirtyClass};
use probity_paths::RepoPath;
use std::collections::BTreeMap;

impl FinishHandler<'_> {
    /// Returns the paths of the change that differ from the commit or from the start. A listed path that differs from
    /// neither appears only in the trail.
    pub(super) fn changes(scene: &FinishContext) -> Vec<ChangedPath> {
        let dirt = scene.changes.dirty_paths.values();
        dirt.filter(|dirt| scene.evidence.contains(dirt.entry.path.as_bytes()))
            .map(|dirt| ChangedPath {
                path: dirt.entry.path.clone(),
                change: dirt.entry.status,
                since_start: !dirt.is_unchanged_since_start,
            })
            .collect()
    }

    /// Returns paths outside the scope that were committed since the start. They are not uncommitted, and their
    /// author is unknown.
    pub(super) fn committed_outside(&self, scene: &FinishContext) -> Vec<RepoPath> {
        let outside =
            scene.hygiene.outside_scope().into_iter().map(|path| self.frame.to_workspace_path(path));
        let committed = outside.filter(|path| !is_uncommitted(scene, path));
        committed.take(self.most_listed()).collect()
    }

    pub(super) fn external(&self, scene: &FinishContext) -> Option<ExternalChanges> {
        let registry = self.shell.registry();
        let mut finished = FinishedWork::of(self.workspace, registry, &self.frame);
        let mut one = |dirt: &DirtyAttribution| {
            let entry =
                scene.changes.dirty_paths.get(&self.frame.to_workspace_path(&dirt.path))?.entry.clone();
            let by = if dirt.class == DirtyClass::ForeignAttributedOutsideScope {
                dirt.foreign_intents.first().and_then(|id| registry.intent(id))
            } else {
                finished.of_path(&entry)
            };
            let attribution = match (dirt.class, by) {
                (DirtyClass::ForeignAttributedOutsideScope, _) => ChangeAttribution::HeldByIntent,
                (_, Some(_)) => ChangeAttribution::FinishedByIntent,
                (DirtyClass::PreexistingUnscopedDirty, None) => ChangeAttribution::BeforeStart,
                _ => ChangeAttribution::Unattributed,
            };
            Some(ExternalChange {
                path: entry.path,
                change: entry.status,
                attribution,
                intent_id: by.map(|intent| intent.id.clone()),
                agent: by.map(|intent| intent.owner.label.clone()),
            })
        };
        let outside = scene.hygiene.dirty_attribution.iter().filter(|dirt| dirt.class.is_outside());
        let mut changes: Vec<ExternalChange> =
            outside.filter_map(&mut one).filter(|change| is_uncommitted(scene, &change.path)).collect();
        let count = changes.len();
        let paths = changes.iter().take(self.most_listed()).map(|change| change.path.clone()).collect();
        let mut by_attribution = BTreeMap::new();
        for change in &changes {
            *by_attribution.entry(change.attribution).or_default() += 1;
        }
        // Agents read a summary in full, so there the counts by attribution replace the list.
        let is_summary = self.request.detail_level == DetailLevel::Summary;
        let most = if is_summary { 0 } else { self.most_listed() };
        let unlisted = changes.split_off(count.min(most));
        (count > 0).then_some(ExternalChanges { count, paths, by_attribution, changes, unlisted })
    }

    pub(super) fn most_listed(&self) -> usize {
        if self.request.detail_level == DetailLevel::Full { usize::MAX } else { MAX_LISTED_PATHS }
    }
}

/// Returns whether a path differs from the current commit, which includes everything committed since the start.
fn is_uncommitted(scene: &FinishContext, path: &RepoPath) -> bool {
    scene.status.state.dirty.contains_key(path)
        || scene.changes.dirty_paths.get(path).is_some_and(|dirt| dirt.is_outside_git)
}
