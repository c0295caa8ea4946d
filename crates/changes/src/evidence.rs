//! What a finisher shows as its work, and what the tree says to it.

use super::frame::Frame;
use super::request::Evidence;
use probity_core::Reason;
use probity_intents::hygiene::{DirtyEntry, StartSnapshot};
use probity_intents::{Claims, Entries, Entry, IntentScope, ScopeRelation};
use probity_paths::RepoPath;
use probity_workspace::worktree::{Look, Since};
use probity_workspace::{Fault, Workspace};
use std::collections::BTreeSet;

/// What is needed to turn evidence into paths.
pub(super) struct Witness<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) look: &'a Look,
    pub(super) since: &'a Since,
    pub(super) frame: &'a Frame,
    /// As the registry names it.
    pub(super) scope: &'a IntentScope,
    /// The live claims of others in this tree.
    pub(super) others: Claims<'a>,
}

impl Witness<'_> {
    /// The paths that count as this change, as the caller names them.
    pub(super) fn paths(&self, evidence: &Evidence) -> Result<Entries, Fault> {
        match evidence {
            Evidence::ChangedFiles(files) => listed(files),
            Evidence::DiffRef(revision) => {
                let differing =
                    self.look.differing_from(self.workspace, revision).map_err(|fault| match fault {
                        Fault::Missing(detail) => Fault::refused(Reason::PathInvalid, detail),
                        fault => fault,
                    })?;
                Ok(self.own(differing.iter()))
            }
            // Nobody saw who made a change, and whoever shares the tree may have made one outside the scope: only what was
            // declared counts as this change. The rest is named as unattributed (law 5), and blocks a strict finish.
            Evidence::Observed => {
                let changed = self.since.dirt.keys();
                let in_scope = changed.filter(|path| self.relation(path) != ScopeRelation::Outside);
                Ok(in_scope.map(Entry::from).collect())
            }
        }
    }

    /// Those of the paths that the finisher names as its own: a path outside the scope is left out if a live intent of
    /// others holds it, if it is what it was at the start, or if it lies aside.
    fn own<'p>(&self, paths: impl Iterator<Item = &'p RepoPath>) -> Entries {
        let is_own = |path: &&RepoPath| {
            let dirt = self.since.dirt.get(*path);
            self.relation(path) != ScopeRelation::Outside
                || dirt.is_some_and(|dirt| !dirt.as_at_start && !dirt.aside) && !self.is_foreign(path)
        };
        paths.filter(is_own).map(Entry::from).collect()
    }

    fn relation(&self, path: &RepoPath) -> ScopeRelation {
        self.scope.relation(self.frame.up(path).as_bytes())
    }

    fn is_foreign(&self, path: &RepoPath) -> bool {
        let path = self.frame.up(path);
        !self.others.holders(path.as_bytes()).is_empty()
    }
}

/// The dirt and what it was at the start, as the registry names it.
pub(super) fn up(frame: &Frame, since: &Since) -> (Vec<DirtyEntry>, StartSnapshot) {
    let lift = |entry: &DirtyEntry| DirtyEntry { path: frame.up(&entry.path), ..entry.clone() };
    let dirty = since.dirt.values().map(|dirt| lift(&dirt.entry)).collect();
    let start = match &since.start {
        StartSnapshot::Available { entries } => {
            StartSnapshot::Available { entries: entries.iter().map(lift).collect() }
        }
        StartSnapshot::Unreadable => StartSnapshot::Unreadable,
    };
    (dirty, start)
}

fn listed(files: &[Entry]) -> Result<Entries, Fault> {
    if files.is_empty() {
        return Err(Fault::refused(Reason::IntentInvalid, "evidence names at least one changed file"));
    }
    let parse = |file: &Entry| {
        RepoPath::parse(file.as_bytes())
            .map_err(|error| Fault::refused(Reason::PathInvalid, error.to_string()))
    };
    let paths: BTreeSet<RepoPath> = files.iter().map(parse).collect::<Result<_, _>>()?;
    Ok(paths.iter().map(Entry::from).collect())
}
