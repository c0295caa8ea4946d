//! The dirty state of a shared tree, from our own snapshots: differences from the commit, and changes since an intent
//! started.
//!
//! Git supplies the committed content; `git status` is not used. A path is *dirty* if its type, content or executable
//! bit differs from the commit. A file that git stores in another form (filters, line ends) is clean if its stored form
//! is the committed one: see `filters`. A path is dirty too if something is staged there that neither the commit nor the
//! tree holds. A file that a sparse checkout leaves out is not missing. Ignored files, nested
//! repositories and trees without git have no commit to compare with: they are *aside*, and become dirty when they
//! change after the start. Directories are never dirty, only their contents. Build outputs are exempt: see
//! [`Exemptions::in_shared_tree`].

use super::filters::{self, FilteredFile};
use super::record::StartRecord;
use crate::exemptions::Exemptions;
use crate::observe::{WorkspaceObserver, beside};
use crate::outgoing::commit_rule::CommittedChange;
use crate::outgoing::{self, RepositoryPlace};
use crate::{ServiceError, Workspace, git};
use probity_core::Digest;
use probity_intents::hygiene::{DirtyEntry, DirtyStatus, StartSnapshot};
use probity_paths::RepoPath;
use probity_policy::Policy;
use probity_snapshot::git::{GITLINK_MODE, HeadTree, IgnoreRules, IndexEntries, TreeSide, WorktreeSettings};
use probity_snapshot::{GitId, Snapshot, SnapshotEntry, SnapshotEntryKind};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const PLAIN_MODES: [u32; 3] = [0o100_644, 0o100_664, 0o100_755];

/// A tree at one moment, compared with its commit.
#[derive(Debug)]
pub struct WorktreeStatus {
    /// Shared with the thread that looks at it meanwhile: see [`WorktreeStatus::observe_beside`].
    pub snapshot: Arc<Snapshot>,
    /// The paths that differ from the commit, and those aside.
    pub state: StartRecord,
    committed: HeadTree,
    exemptions: Exemptions,
    /// Files whose bytes differ from the committed ones, certainly or possibly because of a filter or a conversion.
    filtered: BTreeMap<RepoPath, FilteredFile>,
    /// Committed files that a sparse checkout leaves out.
    left_out: BTreeSet<RepoPath>,
    /// Paths where something is staged that neither the commit nor the tree holds.
    staged: BTreeSet<RepoPath>,
}

/// A path that is dirty at a finish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirtyPath {
    pub entry: DirtyEntry,
    /// Aside: ignored, or not to be committed by anyone.
    pub is_outside_git: bool,
    /// Known to be the same as at the start.
    pub is_unchanged_since_start: bool,
}

/// The dirty paths at a finish, with their state at the start.
#[derive(Debug)]
pub struct ChangesSinceStart {
    /// Uncommitted, committed since the start, or changed aside.
    pub dirty_paths: BTreeMap<RepoPath, DirtyPath>,
    /// The same paths as they were at the start.
    pub start: StartSnapshot,
    /// What the checked-out branch got outside of the root, if that is below the top: by path from the top.
    pub outside_root: BTreeMap<RepoPath, CommittedChange>,
}

impl WorktreeStatus {
    /// Observes the tree of a workspace; the policy's build outputs and recognized output directories are exempt.
    pub fn observe(workspace: &Workspace, policy: &Policy) -> Result<Self, ServiceError> {
        Self::observe_since(workspace, policy, None)
    }

    /// Observes the tree of a workspace. While it is compared with its commit, `other` looks at the same snapshot.
    pub fn observe_beside<T: Send>(
        workspace: &Workspace,
        policy: &Policy,
        other: impl FnOnce(&Snapshot) -> T + Send,
    ) -> Result<(Self, T), ServiceError> {
        let mut look = Self::uncompared(workspace, policy, None)?;
        let snapshot = Arc::clone(&look.snapshot);
        let (compared, other) = beside(|| other(&snapshot), || look.compare(workspace));
        compared.map(|()| (look, other))
    }

    /// Observes the tree at the finish of a change with this start.
    pub fn observe_since(
        workspace: &Workspace,
        policy: &Policy,
        start: Option<&StartRecord>,
    ) -> Result<Self, ServiceError> {
        let mut look = Self::uncompared(workspace, policy, start)?;
        look.compare(workspace)?;
        Ok(look)
    }

    /// Observes the tree and lists the commit, but does not compare them yet.
    fn uncompared(
        workspace: &Workspace,
        policy: &Policy,
        start: Option<&StartRecord>,
    ) -> Result<Self, ServiceError> {
        let observer = WorkspaceObserver::new(workspace);
        let head = git::head(workspace)?;
        let list_head = || match &head {
            Some(head) => git::tree_of_head(workspace, head),
            None => Ok(HeadTree::new()),
        };
        let (snapshot, committed) = beside(list_head, || observer.content(None));
        let (snapshot, committed) = (snapshot?, committed?);
        observer.remember_if_free(&snapshot);
        let mut exemptions = Exemptions::in_shared_tree(workspace, policy, &committed, &snapshot)?;
        if let Some(start) = start {
            exemptions.recognized.retain(|output| !start.had_plain_directory(&output.path));
        }
        let outputs = exemptions.recognized.iter().map(|output| output.path.clone()).collect();
        let state = StartRecord { head, outputs, ..StartRecord::default() };
        let (filtered, left_out, staged) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
        let snapshot = Arc::new(snapshot);
        Ok(Self { snapshot, state, committed, exemptions, filtered, left_out, staged })
    }

    /// Returns the exemptions of this tree and of the output directories that gates made in it since.
    pub fn exemptions_after(
        &self,
        workspace: &Workspace,
        policy: &Policy,
        after: &Snapshot,
    ) -> Result<Exemptions, ServiceError> {
        let now = Exemptions::in_shared_tree(workspace, policy, &self.committed, after)?;
        let mut all = self.exemptions.clone();
        all.recognized.extend(now.recognized);
        Ok(all)
    }

    pub fn dirty_paths(&self) -> BTreeSet<RepoPath> {
        self.state.dirty.keys().cloned().collect()
    }

    /// Returns the files that people write: neither build outputs nor ignored.
    pub fn sources(&self) -> Vec<RepoPath> {
        let files = self.snapshot.entries().filter(|entry| entry.kind() != SnapshotEntryKind::Directory);
        let is_source =
            |path: &RepoPath| !self.exemptions.exempts_path(path) && !self.state.aside.contains_key(path);
        files.filter(|entry| is_source(entry.path())).map(|entry| entry.path().clone()).collect()
    }

    /// Returns whether git would store the file at `path` as blob `id` although its bytes differ.
    pub fn is_stored_as(&self, path: &RepoPath, id: &GitId) -> bool {
        let is_clean =
            matches!(self.filtered.get(path), Some(FilteredFile::Clean | FilteredFile::CleanByIndex(_)));
        is_clean && self.committed.get(path).is_some_and(|(_, committed)| committed == id)
    }

    /// Returns whether a sparse checkout leaves out the committed file at `path`.
    pub fn leaves_out(&self, path: &RepoPath) -> bool {
        self.left_out.contains(path)
    }

    /// Returns notes for the reader about filtered files and files not checked out.
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

    /// Returns advice about a file that only its filter could compare; `None` if no such path is `meant`.
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

    /// Returns the paths that differ from the tree of a commit, including untracked files but not ignored ones.
    pub fn differing_from(
        &self,
        workspace: &Workspace,
        revision: &str,
    ) -> Result<BTreeSet<RepoPath>, ServiceError> {
        let tree = git::tree_of(workspace, &git::commit_id(workspace, revision)?)?;
        let other = |path: &RepoPath| tree.get(path) != self.committed.get(path);
        let names = tree.keys().chain(self.committed.keys());
        // Committed paths are tracked and therefore never exempt.
        let moved = names.filter(|path| other(path)).cloned();
        // A dirty path may happen to equal the other commit.
        let differs = |path: &RepoPath| match (self.entry(path), tree.get(path)) {
            (Some(entry), Some(held)) => !is_committed(&entry, held),
            (None, None) => false,
            _ => true,
        };
        Ok(self.state.dirty.keys().cloned().chain(moved).filter(differs).collect())
    }

    /// Returns the paths that are dirty now, compared with a start.
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
                // Without a commit at the start, nothing was committed then.
                None => Some(Some(HeadTree::new())),
                // The commit was rewritten and pruned since, so there is nothing to compare with.
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
        let mut outside_root = BTreeMap::new();
        if let (Some(_), Some(layout), Some(head)) = (&then, &workspace.git, &self.state.head) {
            let changed = outgoing::changes_between(layout, start.head.as_deref(), head)?;
            let below_top = workspace.below_top();
            let place =
                RepositoryPlace { layout, nested: None, is_own_worktree: false, below_top: &below_top };
            for change in changed {
                match place.to_committed_path(&change.entry.path) {
                    Some(path) => since.add_step(&path, change.entry.after.as_ref()),
                    None => drop(outside_root.entry(change.entry.path.clone()).or_insert(change)),
                }
            }
        }
        let start = match old {
            Some(_) => StartSnapshot::Available { entries: since.entries },
            None => StartSnapshot::Unreadable,
        };
        Ok(ChangesSinceStart { dirty_paths: since.dirt, start, outside_root })
    }

    /// Returns the dirty files that git would store as the blobs of another tree although their bytes differ.
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
                // Only git's index vouches for it, so its digest is recorded to detect a later change.
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
        self.add_staged(workspace)
    }

    /// Adds the paths where something is staged that neither the commit nor the tree holds. Its id is part of the
    /// digest, so that staging something else is a change.
    fn add_staged(&mut self, workspace: &Workspace) -> Result<(), ServiceError> {
        let Some(layout) = &workspace.git else { return Ok(()) };
        let below_top = workspace.below_top();
        let place = RepositoryPlace { layout, nested: None, is_own_worktree: false, below_top: &below_top };
        let staged = outgoing::staged_beside(place, &self.committed, &self.snapshot)?;
        for (path, (held, side)) in staged {
            if self.left_out.contains(&path) {
                continue;
            }
            let shown = |side: &TreeSide| side.as_ref().map(|(mode, id)| format!("{mode:o} {id}"));
            let tree = self.snapshot.get(&path).and_then(|entry| digest(&entry));
            let words = format!("staged {:?} beside {tree:?}", shown(&side));
            let status = match (&held, &side) {
                (None, _) => DirtyStatus::Added,
                (Some(_), None) => DirtyStatus::Deleted,
                (Some(_), Some(_)) => DirtyStatus::Modified,
            };
            let status = self.state.dirty.get(&path).map_or(status, |entry| entry.status);
            self.state
                .dirty
                .insert(path.clone(), entry_of(&path, status, Some(Digest::of(words.as_bytes()))));
            self.staged.insert(path);
        }
        Ok(())
    }

    /// Returns the entry at `path` unless it is a directory.
    fn entry(&self, path: &RepoPath) -> Option<SnapshotEntry<'_>> {
        self.snapshot.get(path).filter(|entry| entry.kind() != SnapshotEntryKind::Directory)
    }
}

struct StartComparison<'a> {
    status: &'a WorktreeStatus,
    start: &'a StartRecord,
    dirt: BTreeMap<RepoPath, DirtyPath>,
    entries: Vec<DirtyEntry>,
    /// The dirty files that git would store as the blobs of the start commit.
    stored_then: BTreeSet<RepoPath>,
}

impl StartComparison<'_> {
    /// Adds the paths that differ from the commit now.
    fn add_uncommitted(&mut self, old: Option<&HeadTree>) {
        for entry in self.status.state.dirty.values() {
            let then = self.start.value(&entry.path).or_else(|| self.as_committed(entry, old?));
            self.add(entry.clone(), then, false);
        }
    }

    /// Returns the dirty entry itself if it equals the commit of the start.
    fn as_committed(&self, entry: &DirtyEntry, old: &HeadTree) -> Option<DirtyEntry> {
        let same = match (self.status.entry(&entry.path), old.get(&entry.path)) {
            (Some(now), Some(held)) => is_committed(&now, held) || self.stored_then.contains(&entry.path),
            (None, None) => true,
            _ => false,
        };
        (same && !self.status.staged.contains(&entry.path)).then(|| entry.clone())
    }

    /// Adds the paths that are or were aside and changed.
    fn add_outside_git(&mut self) {
        let look = self.status;
        for (path, digest) in &look.state.aside {
            let then = self.start.value(path);
            if !is_same(then.as_ref(), *digest) {
                let status = if then.is_some() { DirtyStatus::Modified } else { DirtyStatus::Added };
                // A committed file behind a filter can still be committed.
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

    /// Adds the paths committed since that differ from the start.
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

    /// Counts a path that a commit since the start left as `held`, if the tree holds something else: what is pushed is
    /// the commit. Where the tree holds the same, it is compared with the start as it is.
    fn add_step(&mut self, path: &RepoPath, held: Option<&(u32, GitId)>) {
        let look = self.status;
        let is_in_tree = match (look.entry(path), held) {
            (Some(entry), Some(held)) => {
                let is_clean = look.committed.get(path) == Some(held) && !look.state.dirty.contains_key(path);
                is_clean || is_committed(&entry, held)
            }
            // Which commit of a submodule is checked out is not known here.
            (None, Some(_)) => false,
            (entry, None) => entry.is_none(),
        };
        if is_in_tree {
            return;
        }
        self.entries.retain(|entry| entry.path != *path);
        let found = look.entry(path).and_then(|entry| digest(&entry));
        let dirt = self.dirt.entry(path.clone()).or_insert_with(|| DirtyPath {
            entry: entry_of(path, DirtyStatus::Modified, found),
            is_outside_git: false,
            is_unchanged_since_start: false,
        });
        dirt.is_unchanged_since_start = false;
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

/// Returns whether both are known and equal.
fn is_same(then: Option<&DirtyEntry>, now: Option<Digest>) -> bool {
    then.is_some_and(|then| then.digest.is_some() && then.digest == now)
}

fn entry_of(path: &RepoPath, status: DirtyStatus, digest: Option<Digest>) -> DirtyEntry {
    DirtyEntry { path: path.clone(), status, digest }
}

/// Hashes type, mode and content; `None` if the content could not be read.
fn digest(entry: &SnapshotEntry<'_>) -> Option<Digest> {
    let head = format!("{} {:o}", entry.kind().name(), entry.mode());
    match entry.kind() {
        SnapshotEntryKind::File | SnapshotEntryKind::Symlink => {
            Some(Digest::of(format!("{head} {}", entry.digest()?).as_bytes()))
        }
        _ => Some(Digest::of(head.as_bytes())),
    }
}

/// Returns whether a filter or a conversion can explain different bytes: same type and executable bit.
pub(super) fn may_be_filtered(entry: &SnapshotEntry<'_>, (mode, _): &(u32, GitId)) -> bool {
    let is_executable = entry.mode() & 0o100 != 0;
    entry.kind() == SnapshotEntryKind::File
        && PLAIN_MODES.contains(mode)
        && is_executable == (*mode == 0o100_755)
}

/// Returns the missing files that a sparse checkout leaves out.
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

/// Returns whether an entry equals the committed one.
pub(super) fn is_committed(entry: &SnapshotEntry<'_>, (mode, id): &(u32, GitId)) -> bool {
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
