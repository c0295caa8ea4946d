//! Resolves the evidence of a finish to paths of the tree.

use super::finish_evidence::FinishEvidence;
use super::root_mapping::RootMapping;
use probity_core::ReasonCode;
use probity_intents::hygiene::{DirtyEntry, StartSnapshot};
use probity_intents::{ClaimIndex, IntentScope, ScopeEntry, ScopeEntrySet, ScopeRelation};
use probity_paths::RepoPath;
use probity_workspace::worktree::{ChangesSinceStart, WorktreeStatus};
use probity_workspace::{ServiceError, Workspace};
use std::collections::BTreeSet;

pub(super) struct ChangedPathResolver<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) status: &'a WorktreeStatus,
    pub(super) changes: &'a ChangesSinceStart,
    pub(super) paths: &'a RootMapping,
    /// In the registry's path names.
    pub(super) scope: &'a IntentScope,
    /// The live claims of other agents in this tree.
    pub(super) others: ClaimIndex<'a>,
}

impl ChangedPathResolver<'_> {
    /// Returns the paths that count as this change, named from the workspace root.
    pub(super) fn resolve(&self, evidence: &FinishEvidence) -> Result<ScopeEntrySet, ServiceError> {
        match evidence {
            FinishEvidence::ChangedFiles(files) => parse_changed_files(files),
            FinishEvidence::DiffRef(revision) => {
                let differing =
                    self.status.differing_from(self.workspace, revision).map_err(|fault| match fault {
                        fault if fault.reason() == Some(ReasonCode::InputMissing) => {
                            ServiceError::refused(ReasonCode::PathInvalid, fault.to_string())
                                .with_next_step(fault.next_step())
                        }
                        fault => fault,
                    })?;
                Ok(self.own_paths(differing.iter()))
            }
            // Authorship is unknown, and another agent in the same tree may have made a change outside the scope, so
            // only the declared scope counts as this change. The rest is reported as unattributed (law 5) and blocks
            // a strict finish.
            FinishEvidence::Observed => {
                let changed = self.changes.dirty_paths.keys();
                let in_scope = changed.filter(|path| self.relation(path) != ScopeRelation::Outside);
                Ok(in_scope.map(ScopeEntry::from).collect())
            }
        }
    }

    /// Keeps the paths that are the finisher's own. Outside the scope, a path is dropped if another agent's live
    /// intent holds it, if it is unchanged since the start, or if it is not for Git (ignored, or not meant to be committed).
    fn own_paths<'p>(&self, paths: impl Iterator<Item = &'p RepoPath>) -> ScopeEntrySet {
        let is_own = |path: &&RepoPath| {
            let dirt = self.changes.dirty_paths.get(*path);
            self.relation(path) != ScopeRelation::Outside
                || dirt.is_some_and(|dirt| !dirt.is_unchanged_since_start && !dirt.is_outside_git)
                    && !self.is_foreign(path)
        };
        paths.filter(is_own).map(ScopeEntry::from).collect()
    }

    fn relation(&self, path: &RepoPath) -> ScopeRelation {
        self.scope.relation(self.paths.to_repo_path(path).as_bytes())
    }

    fn is_foreign(&self, path: &RepoPath) -> bool {
        let path = self.paths.to_repo_path(path);
        !self.others.holders(path.as_bytes()).is_empty()
    }
}

/// Returns the uncommitted changes and their state at the start in the registry's path names.
pub(super) fn to_repo_changes(
    frame: &RootMapping,
    since: &ChangesSinceStart,
) -> (Vec<DirtyEntry>, StartSnapshot) {
    let lift = |entry: &DirtyEntry| DirtyEntry { path: frame.to_repo_path(&entry.path), ..entry.clone() };
    let dirty = since.dirty_paths.values().map(|dirt| lift(&dirt.entry)).collect();
    let start = match &since.start {
        StartSnapshot::Available { entries } => {
            StartSnapshot::Available { entries: entries.iter().map(lift).collect() }
        }
        StartSnapshot::Unreadable => StartSnapshot::Unreadable,
    };
    (dirty, start)
}

fn parse_changed_files(files: &[ScopeEntry]) -> Result<ScopeEntrySet, ServiceError> {
    if files.is_empty() {
        return Err(ServiceError::refused(
            ReasonCode::IntentInvalid,
            "evidence names at least one changed file",
        ));
    }
    let parse = |file: &ScopeEntry| {
        RepoPath::parse(file.as_bytes())
            .map_err(|error| ServiceError::refused(ReasonCode::PathInvalid, error.to_string()))
    };
    let paths: BTreeSet<RepoPath> = files.iter().map(parse).collect::<Result<_, _>>()?;
    Ok(paths.iter().map(ScopeEntry::from).collect())
}
