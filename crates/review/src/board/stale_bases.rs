//! Which intents began from an older commit, and which of their paths others changed since.

use super::MAX_NAMED_PATHS;
use crate::file_sides::commit_tree;
use probity_api::change::IntentLine;
use probity_api::review::BoardLane;
use probity_changes::registry::IntentService;
use probity_paths::RepoPath;
use probity_workspace::{Workspace, git};
use std::collections::{BTreeMap, BTreeSet};

/// What changed between the older commits that intents began from and the present one.
pub(super) struct StaleBases<'a> {
    pub(super) service: &'a IntentService,
    head: Option<&'a str>,
    /// For each older commit: the commits since, and the changed paths.
    older: BTreeMap<String, (u64, BTreeSet<RepoPath>)>,
}

impl<'a> StaleBases<'a> {
    /// Commits that are compared with the present one.
    const MAX_BASES: usize = 4;

    pub(super) fn new(workspace: &Workspace, service: &'a IntentService, head: Option<&'a str>) -> Self {
        let mut stale = Self { service, head, older: BTreeMap::new() };
        let (Some(layout), Some(head)) = (&workspace.git, head) else { return stale };
        let bases: BTreeSet<String> =
            service.registry().open_intents().filter_map(|intent| intent.base.head.clone()).collect();
        let now = commit_tree(workspace, head).unwrap_or_default();
        for base in bases.into_iter().filter(|base| base != head).take(Self::MAX_BASES) {
            let (Ok(n_commits), Ok(then)) =
                (git::count_commits(layout, &base, head), commit_tree(workspace, &base))
            else {
                continue;
            };
            let names: BTreeSet<&RepoPath> = then.keys().chain(now.keys()).collect();
            let changed =
                names.into_iter().filter(|path| then.get(*path) != now.get(*path)).cloned().collect();
            stale.older.insert(base, (n_commits, changed));
        }
        stale
    }

    /// Marks the lane of an intent whose base is not the present commit.
    pub(super) fn mark(&self, intent: &IntentLine, lane: &mut BoardLane) {
        let base =
            self.service.registry().intent(&intent.intent_id).and_then(|known| known.base.head.as_deref());
        let Some((n_commits, changed)) =
            base.filter(|base| Some(*base) != self.head).and_then(|it| self.older.get(it))
        else {
            return;
        };
        lane.base_behind = Some(*n_commits);
        let is_own =
            |path: &&RepoPath| intent.allowed_files.iter().any(|entry| entry.covers(path.as_bytes()));
        lane.base_moved = changed.iter().filter(is_own).take(MAX_NAMED_PATHS).cloned().collect();
    }
}
