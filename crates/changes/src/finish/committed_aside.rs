//! What was committed since the start that neither the tree nor the checked-out branch shows: other branches, tags and
//! stashes, and paths outside of a root that lies below the top of the repository.
//!
//! It is told. It counts as an unattributed change outside of the scope unless an intent of another worktree holds the
//! path, or it is on a branch that another worktree has checked out (law 5).

use super::FinishHandler;
use probity_api::change::{ChangeAttribution, CommittedElsewhere};
use probity_core::{Digest, ReasonCode};
use probity_intents::ScopeRelation;
use probity_intents::hygiene::{DirtyEntry, DirtyStatus};
use probity_intents::registry::Intent;
use probity_paths::RepoPath;
use probity_workspace::ServiceError;
use probity_workspace::outgoing::{self, AsideChange};
use probity_workspace::refs::RefFacts;
use probity_workspace::worktree::ChangesSinceStart;
use std::collections::BTreeMap;

/// A committed change outside of the scope, with its entry in the registry's path names.
pub(super) struct CommittedAside {
    pub(super) shown: CommittedElsewhere,
    entry: DirtyEntry,
}

impl FinishHandler<'_> {
    /// Returns what was committed aside and outside of the scope.
    pub(super) fn committed_aside(
        &self,
        since: &ChangesSinceStart,
    ) -> Result<Vec<CommittedAside>, ServiceError> {
        let mut found: BTreeMap<RepoPath, AsideChange> = since
            .outside_root
            .iter()
            .map(|(path, change)| {
                (path.clone(), AsideChange { change: change.clone(), is_in_other_worktree: false })
            })
            .collect();
        if let (Some(layout), Some(start)) = (&self.workspace.git, &self.refs) {
            let now = RefFacts::gather(layout);
            if let (None, Some(why)) = (start.unreadable(), now.unreadable()) {
                return Err(ServiceError::refused(ReasonCode::GitCommandFailed, why));
            }
            for (path, change) in outgoing::committed_aside(layout, start, &now)? {
                found.entry(path).or_insert(change);
            }
        }
        let scope = &self.intent.scope;
        let is_outside = |path: &RepoPath| {
            scope.relation(path.as_bytes()) == ScopeRelation::Outside || scope.forbids(path.as_bytes())
        };
        let outside = found.into_iter().filter(|(path, _)| is_outside(path));
        Ok(outside.map(|(path, aside)| self.describe(path, &aside)).collect())
    }

    fn describe(&self, path: RepoPath, aside: &AsideChange) -> CommittedAside {
        let holder = self.holder_elsewhere(&path);
        let attribution = match holder {
            Some(intent) if intent.status.is_closed() => ChangeAttribution::FinishedByIntent,
            Some(_) => ChangeAttribution::HeldByIntent,
            None if aside.is_in_other_worktree => ChangeAttribution::OtherWorktree,
            None => ChangeAttribution::Unattributed,
        };
        let sides = &aside.change.entry;
        let status = match (&sides.before, &sides.after) {
            (None, _) => DirtyStatus::Added,
            (_, None) => DirtyStatus::Deleted,
            _ => DirtyStatus::Modified,
        };
        // Differs from whatever the tree held at the start.
        let words = format!("committed {:?}", sides.after);
        CommittedAside {
            shown: CommittedElsewhere {
                path: self.frame.to_workspace_path(&path),
                change: status,
                commit: aside.change.commit.to_string(),
                reference: aside.change.reference.clone(),
                attribution,
                intent_id: holder.map(|intent| intent.id.clone()),
                agent: holder.map(|intent| intent.owner.label.clone()),
            },
            entry: DirtyEntry { path, status, digest: Some(Digest::of(words.as_bytes())) },
        }
    }

    /// Returns an intent of another worktree that holds a path, or held it since the start of this one.
    fn holder_elsewhere(&self, path: &RepoPath) -> Option<&Intent> {
        let is_elsewhere =
            |intent: &&Intent| intent.base.tree.as_ref().is_some_and(|tree| !self.frame.shares_tree(tree));
        let was_open = |intent: &&Intent| intent.closed_at.is_none_or(|at| at >= self.intent.declared_at);
        let mut intents = self.shell.registry().intents().filter(is_elsewhere).filter(was_open);
        intents.find(|intent| intent.scope.holds(path.as_bytes()).is_some())
    }
}

/// Adds what nobody claims to the changes that hygiene attributes.
pub(super) fn add_unclaimed(dirty: &mut Vec<DirtyEntry>, aside: &[CommittedAside]) {
    for aside in aside.iter().filter(|aside| aside.shown.attribution == ChangeAttribution::Unattributed) {
        dirty.retain(|entry| entry.path != aside.entry.path);
        dirty.push(aside.entry.clone());
    }
}
