//! The dirty state of a shared tree, from our own snapshots: what differs from the commit, and what changed since an
//! intent started.
//!
//! Git says which content is committed; its status is not asked. A path is *dirty* if its type, its content or its
//! executable bit is not the committed one. A file that git stores in another form (behind a filter, with other line ends)
//! is clean if its stored form is the committed one: see `filters`. A file that a sparse checkout leaves out is not missing.
//! Ignored files, nested repositories and trees
//! without git have no commit to differ from: they lie *aside*, and become dirty when they change after the start.
//! Folders are never dirty, only what is in them. Build outputs of the policy are exempt unless git tracks them.

use super::filters::{self, FilteredFile};
use super::record::StartRecord;
use crate::exemptions::Exemptions;
use crate::observe::WorkspaceObserver;
use crate::{ServiceError, Workspace, git};
use probity_core::Digest;
use probity_intents::hygiene::{DirtyEntry, DirtyStatus, StartSnapshot};
use probity_paths::RepoPath;
use probity_policy::Policy;
use probity_snapshot::git::{GITLINK_MODE, HeadTree, IgnoreRules, IndexEntries, WorktreeSettings};
use probity_snapshot::{GitId, Snapshot, SnapshotEntry, SnapshotEntryKind};
use std::collections::{BTreeMap, BTreeSet};

/// The modes of plain files in a commit.
const PLAIN_MODES: [u32; 3] = [0o100_644, 0o100_664, 0o100_755];

/// A tree at one moment, held against its commit.
#[derive(Debug)]
pub struct WorktreeStatus {
    /// The tree.
    pub snapshot: Snapshot,
    /// What differs from the commit, and what lies aside.
    pub state: StartRecord,
    committed: HeadTree,
    exemptions: Exemptions,
    /// Files whose bytes are not the committed ones, and a filter or a conversion is why, or may be.
    filtered: BTreeMap<RepoPath, FilteredFile>,
    /// Committed files that a sparse checkout leaves out.
    left_out: BTreeSet<RepoPath>,
}

/// A path that is dirty at a finish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirtyPath {
    /// The path and its content.
    pub entry: DirtyEntry,
    /// Whether it lies aside: ignored, or nobody's to commit.
    pub is_outside_git: bool,
    /// Whether it is known to be what it was at the start.
    pub is_unchanged_since_start: bool,
}

/// What is dirty at a finish, and what of it there was at the start.
#[derive(Debug)]
pub struct ChangesSinceStart {
    /// Every dirty path: uncommitted, committed since the start, or changed aside.
    pub dirty_paths: BTreeMap<RepoPath, DirtyPath>,
    /// What these paths were at the start.
    pub start: StartSnapshot,
}

impl WorktreeStatus {
    /// Looks at the tree of a workspace under a policy: its build outputs are exempt.
    pub fn observe(workspace: &Workspace, policy: &Policy) -> Result<Self, ServiceError> {
        let observer = WorkspaceObserver::new(workspace);
        let snapshot = observer.content(None)?;
        observer.remember_if_free(&snapshot);
        Self::from_snapshot(workspace, policy, snapshot)
    }

    /// Holds a snapshot of the workspace against its commit.
    pub fn from_snapshot(
        workspace: &Workspace,
        policy: &Policy,
        snapshot: Snapshot,
    ) -> Result<Self, ServiceError> {
        let head = git::head(workspace)?;
        let committed = match &head {
            Some(head) => git::tree_of(workspace, head)?,
            None => HeadTree::new(),
        };
        let exemptions = Exemptions::of_patterns(workspace, policy, Some(&committed), &snapshot)?;
        let state = StartRecord { head, ..StartRecord::default() };
        let (filtered, left_out) = (BTreeMap::new(), BTreeSet::new());
        let mut look = Self { snapshot, state, committed, exemptions, filtered, left_out };
        look.compare(workspace)?;
        Ok(look)
    }

    /// What the policy exempts in this tree.
    pub fn exemptions(&self) -> &Exemptions {
        &self.exemptions
    }

    /// The paths that are dirty now.
    pub fn dirty_paths(&self) -> BTreeSet<RepoPath> {
        self.state.dirty.keys().cloned().collect()
    }

    /// The files that people write: neither build outputs nor ignored.
    pub fn sources(&self) -> Vec<RepoPath> {
        let files = self.snapshot.entries().filter(|entry| entry.kind() != SnapshotEntryKind::Directory);
        let is_source =
            |path: &RepoPath| !self.exemptions.exempts_path(path) && !self.state.aside.contains_key(path);
        files.filter(|entry| is_source(entry.path())).map(|entry| entry.path().clone()).collect()
    }

    /// Whether git would store the file at `path` as the blob `id`, although its bytes are others.
    pub fn is_stored_as(&self, path: &RepoPath, id: &GitId) -> bool {
        let is_clean =
            matches!(self.filtered.get(path), Some(FilteredFile::Clean | FilteredFile::CleanByIndex(_)));
        is_clean && self.committed.get(path).is_some_and(|(_, committed)| committed == id)
    }

    /// Whether a sparse checkout leaves out the committed file at `path`.
    pub fn leaves_out(&self, path: &RepoPath) -> bool {
        self.left_out.contains(path)
    }

    /// What a reader should know about files behind filters and about what is not checked out.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let mut by_index = self.filtered.iter().filter_map(|(path, file)| match file {
            FilteredFile::CleanByIndex(filter) => Some((path, filter)),
            _ => None,
        });
        if let Some((path, filter)) = by_index.next() {
            let more = match by_index.count() {
                0 => String::new(),
                n => format!(" (and {n} more behind filters)"),
            };
            notes.push(format!(
                "`{path}`{more} is behind the filter `{filter}`, which Probity does not start: git's index says that it is unchanged"
            ));
        }
        notes.extend(self.undecided_note(|_| true));
        if !self.left_out.is_empty() {
            let n = self.left_out.len();
            notes.push(format!(
                "{n} committed files are left out by the sparse checkout, and count as unchanged"
            ));
        }
        notes
    }

    /// What to do about files of which only their filter could tell whether they are changed; `None` if there are none
    /// among those that are `meant`.
    pub fn undecided_note(&self, meant: impl Fn(&RepoPath) -> bool) -> Option<String> {
        let (path, filter) = self.filtered.iter().find_map(|(path, file)| match file {
            FilteredFile::Undecided(filter) if meant(path) => Some((path, filter)),
            _ => None,
        })?;
        Some(format!(
            "`{path}` is behind the filter `{filter}`; Probity does not start filters, so it cannot tell whether it is changed: \
             `touch '{path}' && git update-index --refresh` lets git decide"
        ))
    }

    /// The paths that differ from the tree of a commit, untracked files included, ignored ones not.
    pub fn differing_from(
        &self,
        workspace: &Workspace,
        revision: &str,
    ) -> Result<BTreeSet<RepoPath>, ServiceError> {
        let tree = git::tree_of(workspace, &git::commit_id(workspace, revision)?)?;
        let other = |path: &RepoPath| tree.get(path) != self.committed.get(path);
        let names = tree.keys().chain(self.committed.keys());
        // What a commit holds is tracked, and so never exempt.
        let moved = names.filter(|path| other(path)).cloned();
        // A path that is dirty may by chance be what the other commit has.
        let differs = |path: &RepoPath| match (self.entry(path), tree.get(path)) {
            (Some(entry), Some(held)) => !is_committed(&entry, held),
            (None, None) => false,
            _ => true,
        };
        Ok(self.state.dirty.keys().cloned().chain(moved).filter(differs).collect())
    }

    /// What is dirty now, seen from a start.
    pub fn changes_since(
        &self,
        workspace: &Workspace,
        start: &StartRecord,
    ) -> Result<ChangesSinceStart, ServiceError> {
        let mut since = StartComparison {
            status: self,
            start,
            dirt: BTreeMap::new(),
            entries: Vec::new(),
            stored_then: BTreeSet::new(),
        };
        let old = if start.head == self.state.head {
            Some(None)
        } else {
            match &start.head {
                // Without a commit at the start nothing was committed then.
                None => Some(Some(HeadTree::new())),
                // A commit that was rewritten and pruned since is gone; nothing can be held against it.
                Some(head) if git::find_commit(workspace, head)?.is_none() => None,
                Some(head) => Some(Some(git::tree_of(workspace, head)?)),
            }
        };
        let then = old.as_ref().and_then(Option::as_ref);
        if let Some(then) = then {
            since.stored_then = self.stored_in(workspace, then)?;
        }
        since.add_uncommitted(then);
        since.add_outside_git();
        if let Some(Some(old)) = &old {
            since.add_committed(old);
        }
        let start = match old {
            Some(_) => StartSnapshot::Available { entries: since.entries },
            None => StartSnapshot::Unreadable,
        };
        Ok(ChangesSinceStart { dirty_paths: since.dirt, start })
    }

    /// The dirty files that git would store as the blobs of another tree, although their bytes are others.
    fn stored_in(&self, workspace: &Workspace, tree: &HeadTree) -> Result<BTreeSet<RepoPath>, ServiceError> {
        let candidates: Vec<(SnapshotEntry<'_>, GitId)> = self
            .state
            .dirty
            .keys()
            .filter_map(|path| {
                let (entry, held) = (self.entry(path)?, tree.get(path)?);
                may_be_filtered(&entry, held).then(|| (entry, held.1.clone()))
            })
            .collect();
        let explained = filters::explain(workspace, &candidates)?;
        let is_stored = |file: &FilteredFile| !matches!(file, FilteredFile::Undecided(_));
        Ok(explained.into_iter().filter(|(_, file)| is_stored(file)).map(|(path, _)| path).collect())
    }

    fn compare(&mut self, workspace: &Workspace) -> Result<(), ServiceError> {
        let mut rules =
            workspace.git.as_ref().map(|git| IgnoreRules::read(git, &self.snapshot, &workspace.below_top()));
        let gitlinks: Vec<&RepoPath> =
            self.committed.iter().filter(|(_, held)| held.0 == GITLINK_MODE).map(|(path, _)| path).collect();
        let (mut dirty, mut aside) = (BTreeMap::new(), BTreeMap::new());
        let mut candidates: Vec<(SnapshotEntry<'_>, GitId)> = Vec::new();
        let mut held = self.committed.iter().peekable();
        let gone = |path: &RepoPath| (path.clone(), entry_of(path, DirtyStatus::Deleted, None));
        for entry in self.snapshot.entries() {
            let path = entry.path();
            while let Some((missing, _)) = held.next_if(|(held, _)| *held < path) {
                dirty.extend([gone(missing)]);
            }
            let committed = held.next_if(|(held, _)| *held == path).map(|(_, held)| held);
            if committed.is_none() && self.exemptions.exempts_path(path) {
                continue;
            }
            let is_dir = entry.kind() == SnapshotEntryKind::Directory;
            match committed {
                Some(held) if is_committed(&entry, held) => {}
                Some(_) if is_dir => drop(dirty.insert(path.clone(), gone(path).1)),
                Some(held) => {
                    let status = status_of(&entry, held.0);
                    dirty.insert(path.clone(), entry_of(path, status, digest(&entry)));
                    if may_be_filtered(&entry, held) {
                        candidates.push((entry, held.1.clone()));
                    }
                }
                None if is_dir => {}
                None => {
                    let nested = gitlinks.iter().any(|link| path.is_covered_by(link.as_bytes()));
                    if nested || rules.as_mut().is_none_or(|rules| rules.ignores(path)) {
                        aside.insert(path.clone(), digest(&entry));
                    } else {
                        let entry = entry_of(path, DirtyStatus::Added, digest(&entry));
                        dirty.insert(path.clone(), entry);
                    }
                }
            }
        }
        dirty.extend(held.map(|(path, _)| gone(path)));
        let filtered = filters::explain(workspace, &candidates)?;
        for (path, file) in &filtered {
            match file {
                FilteredFile::Clean => drop(dirty.remove(path)),
                // Nothing but git's own note speaks for it, so it is kept with its bytes: a later change is seen.
                FilteredFile::CleanByIndex(_) => {
                    aside.extend(dirty.remove(path).map(|entry| (entry.path, entry.digest)));
                }
                FilteredFile::Undecided(_) => {}
            }
        }
        let left_out = left_out(workspace, &dirty);
        dirty.retain(|path, _| !left_out.contains(path));
        (self.filtered, self.left_out) = (filtered, left_out);
        (self.state.dirty, self.state.aside) = (dirty, aside);
        Ok(())
    }

    /// What is at `path`, folders not counted.
    fn entry(&self, path: &RepoPath) -> Option<SnapshotEntry<'_>> {
        self.snapshot.get(path).filter(|entry| entry.kind() != SnapshotEntryKind::Directory)
    }
}

/// One comparison with a start, on its way.
struct StartComparison<'a> {
    status: &'a WorktreeStatus,
    start: &'a StartRecord,
    dirt: BTreeMap<RepoPath, DirtyPath>,
    entries: Vec<DirtyEntry>,
    /// The dirty files that git would store as what the commit of the start holds.
    stored_then: BTreeSet<RepoPath>,
}

impl StartComparison<'_> {
    /// What differs from the commit now.
    fn add_uncommitted(&mut self, old: Option<&HeadTree>) {
        for entry in self.status.state.dirty.values() {
            let then = self.start.value(&entry.path).or_else(|| self.as_committed(entry, old?));
            self.add(entry.clone(), then, false);
        }
    }

    /// The dirty entry itself, if it is what the commit of the start held.
    fn as_committed(&self, entry: &DirtyEntry, old: &HeadTree) -> Option<DirtyEntry> {
        let same = match (self.status.entry(&entry.path), old.get(&entry.path)) {
            (Some(now), Some(held)) => is_committed(&now, held) || self.stored_then.contains(&entry.path),
            (None, None) => true,
            _ => false,
        };
        same.then(|| entry.clone())
    }

    /// What lies aside now or did then, and is not the same.
    fn add_outside_git(&mut self) {
        let look = self.status;
        for (path, digest) in &look.state.aside {
            let then = self.start.value(path);
            if !is_same(then.as_ref(), *digest) {
                let status = if then.is_some() { DirtyStatus::Modified } else { DirtyStatus::Added };
                // A committed file behind a filter is somebody's to commit.
                self.add(entry_of(path, status, *digest), then, !look.committed.contains_key(path));
            }
        }
        let start = self.start;
        for path in start.aside.keys().filter(|path| !look.state.aside.contains_key(*path)) {
            let is_exempt = look.exemptions.exempts_path(path);
            if look.entry(path).is_none() && !is_exempt && !self.dirt.contains_key(path) {
                self.add(entry_of(path, DirtyStatus::Deleted, None), start.value(path), true);
            }
        }
    }

    /// What was committed since, and is not what it was at the start.
    fn add_committed(&mut self, old: &HeadTree) {
        let look = self.status;
        let names: BTreeSet<&RepoPath> = old.keys().chain(look.committed.keys()).collect();
        for path in names {
            let (then, now) = (old.get(path), look.committed.get(path));
            if then == now || self.dirt.contains_key(path) {
                continue;
            }
            let entry = look.entry(path);
            let found = entry.as_ref().and_then(digest);
            let kept = self.start.value(path);
            if kept.is_some() && is_same(kept.as_ref(), found) {
                continue;
            }
            let status = match (&entry, then.is_some() || kept.is_some()) {
                (None, _) => DirtyStatus::Deleted,
                (Some(_), false) => DirtyStatus::Added,
                (Some(_), true) => DirtyStatus::Modified,
            };
            self.add(entry_of(path, status, found), kept, false);
        }
    }

    fn add(&mut self, entry: DirtyEntry, then: Option<DirtyEntry>, aside: bool) {
        let as_at_start = then.as_ref().is_some_and(|then| {
            let gone = |entry: &DirtyEntry| entry.status == DirtyStatus::Deleted;
            if gone(then) || gone(&entry) {
                gone(then) == gone(&entry)
            } else {
                is_same(Some(then), entry.digest)
            }
        });
        self.entries.extend(then);
        self.dirt.insert(
            entry.path.clone(),
            DirtyPath { entry, is_outside_git: aside, is_unchanged_since_start: as_at_start },
        );
    }
}

/// Whether what was then is certainly what is now.
fn is_same(then: Option<&DirtyEntry>, now: Option<Digest>) -> bool {
    then.is_some_and(|then| then.digest.is_some() && then.digest == now)
}

fn entry_of(path: &RepoPath, status: DirtyStatus, digest: Option<Digest>) -> DirtyEntry {
    DirtyEntry { path: path.clone(), status, digest }
}

/// Hash over type, mode and content; `None` for what could not be read.
fn digest(entry: &SnapshotEntry<'_>) -> Option<Digest> {
    let head = format!("{} {:o}", entry.kind().name(), entry.mode());
    match entry.kind() {
        SnapshotEntryKind::File | SnapshotEntryKind::Symlink => {
            Some(Digest::of(format!("{head} {}", entry.digest()?).as_bytes()))
        }
        _ => Some(Digest::of(head.as_bytes())),
    }
}

/// Whether a filter or a conversion can be why a file's bytes are not the committed ones.
fn may_be_filtered(entry: &SnapshotEntry<'_>, (mode, _): &(u32, GitId)) -> bool {
    let is_executable = entry.mode() & 0o100 != 0;
    entry.kind() == SnapshotEntryKind::File
        && PLAIN_MODES.contains(mode)
        && is_executable == (*mode == 0o100_755)
}

/// The missing files that a sparse checkout leaves out.
fn left_out(workspace: &Workspace, dirty: &BTreeMap<RepoPath, DirtyEntry>) -> BTreeSet<RepoPath> {
    let missing = || dirty.values().filter(|entry| entry.status == DirtyStatus::Deleted);
    let Some(layout) = workspace.git.as_ref().filter(|_| missing().next().is_some()) else {
        return BTreeSet::new();
    };
    if !WorktreeSettings::read(layout).sparse_checkout {
        return BTreeSet::new();
    }
    let Some(index) = IndexEntries::read(layout) else { return BTreeSet::new() };
    let is_left_out = |path: &RepoPath| {
        filters::from_top(workspace, path).is_some_and(|path| index.leaves_out(path.as_bytes()))
    };
    missing().map(|entry| entry.path.clone()).filter(is_left_out).collect()
}

/// Whether an entry is what the commit holds.
fn is_committed(entry: &SnapshotEntry<'_>, (mode, id): &(u32, GitId)) -> bool {
    match (*mode, entry.kind()) {
        (GITLINK_MODE, SnapshotEntryKind::Directory) => true,
        (0o100_644 | 0o100_664, SnapshotEntryKind::File) => {
            entry.mode() & 0o100 == 0 && entry.git_id().as_ref() == Some(id)
        }
        (0o100_755, SnapshotEntryKind::File) => {
            entry.mode() & 0o100 != 0 && entry.git_id().as_ref() == Some(id)
        }
        (0o120_000, SnapshotEntryKind::Symlink) => {
            let format = match id.as_bytes().len() {
                20 => probity_snapshot::ObjectFormat::Sha1,
                _ => probity_snapshot::ObjectFormat::Sha256,
            };
            entry.link_target().is_some_and(|target| GitId::of_blob(format, target) == *id)
        }
        _ => false,
    }
}

fn status_of(entry: &SnapshotEntry<'_>, mode: u32) -> DirtyStatus {
    let was_link = mode == 0o120_000;
    match entry.kind() {
        SnapshotEntryKind::File if !was_link => DirtyStatus::Modified,
        SnapshotEntryKind::Symlink if was_link => DirtyStatus::Modified,
        _ => DirtyStatus::TypeChanged,
    }
}

#[cfg(test)]
mod tests;
