//! Decides whether changes can land, and by which steps. Nothing is written.
//!
//! A change can land if its path still is what it was at the start, or already is what it should become. Every
//! directory above it must be a real one. Entries that could act outside the tree, or whose content nobody judged, never
//! land.

use super::journal::{LandingStep, StagedObject};
use super::layer_view::LayerView;
use super::{LandingConflict, LandingPlan, upper_of_root};
use probity_core::ReasonCode;
use probity_paths::RepoPath;
use probity_snapshot::tree_handle::{TreeHandle, list_directory};
use probity_snapshot::{EntryState, Snapshot, SnapshotEntryKind, TreeChange};
use probity_workspace::observe::content_options;
use probity_workspace::{ServiceError, Workspace};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Access, AtFlags};
use rustix::io::Errno;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Bits that let a file run with the rights of its owner.
const SET_ID_BITS: u32 = 0o6000;

/// Bits that let anybody write to a directory, or that change what is made in it.
const OPENING_BITS: u32 = 0o7002;

/// Bits without which the owner of a directory cannot change it.
const OWNER_WRITE_BITS: u32 = 0o300;

/// Bits that let anybody start a program.
const ANY_EXECUTE_BITS: u32 = 0o111;

/// The file that makes a directory a Python virtual environment.
const VIRTUAL_ENVIRONMENT_MARK: &[u8] = b"pyvenv.cfg";

/// Links inside a virtual environment on the way to its interpreter: `python`, `python3`, `python3.12`.
const MAX_INTERPRETER_LINKS: usize = 4;

/// Checks all changes; returns the steps in their order, or every conflict.
pub(super) fn check(
    workspace: &Workspace,
    plan: &LandingPlan<'_>,
    tree: &TreeHandle,
) -> Result<Result<Vec<LandingStep>, Vec<LandingConflict>>, ServiceError> {
    let upper = upper_of_root(workspace, &plan.layer);
    let mut layer = LayerView::open(&upper, plan.start)
        .map_err(ServiceError::system(format!("cannot open {}", upper.display())))?;
    let mut checker = LandingChecker::new(tree, &mut layer, plan.start, plan.changes);
    checker.refuse_unsafe(workspace, plan)?;
    checker.plan_steps(plan.changes)
}

/// Like [`check`], for changes that do not come from a layer.
pub(super) fn check_changes(
    tree: &TreeHandle,
    directories: &mut dyn DirectoryFacts,
    now: &Snapshot,
    changes: &[TreeChange],
) -> Result<Result<Vec<LandingStep>, Vec<LandingConflict>>, ServiceError> {
    LandingChecker::new(tree, directories, now, changes).plan_steps(changes)
}

/// The directories of the tree as it should become.
pub(super) trait DirectoryFacts {
    fn has_directory(&mut self, path: &RepoPath) -> rustix::io::Result<bool>;

    /// Returns the permission bits of a directory that the landing makes.
    fn directory_mode(&self, path: &RepoPath) -> rustix::io::Result<u32>;
}

impl DirectoryFacts for LayerView<'_> {
    fn has_directory(&mut self, path: &RepoPath) -> rustix::io::Result<bool> {
        LayerView::has_directory(self, path)
    }

    fn directory_mode(&self, path: &RepoPath) -> rustix::io::Result<u32> {
        LayerView::directory_mode(self, path)
    }
}

/// The steps by kind, because kinds have an order.
#[derive(Default)]
struct StepLists {
    opened: Vec<LandingStep>,
    removed: Vec<LandingStep>,
    placed: Vec<LandingStep>,
    emptied: BTreeMap<RepoPath, u32>,
    modes: BTreeMap<RepoPath, (Option<u32>, u32)>,
    n_slots: u32,
}

impl StepLists {
    fn slot(&mut self) -> u32 {
        self.n_slots += 1;
        self.n_slots - 1
    }

    /// Removals come before additions. A directory is created before its contents and removed after them. Permission bits
    /// that forbid writing are set when nothing is left to write.
    fn in_order(self) -> Vec<LandingStep> {
        let emptied = self.emptied.into_iter().rev();
        let modes = self.modes.into_iter().rev();
        let mut steps = self.opened;
        steps.extend(self.removed);
        steps.extend(self.placed);
        steps.extend(emptied.map(|(path, before)| LandingStep::RemoveDirectory { path, before }));
        steps.extend(modes.map(|(path, (before, mode))| LandingStep::SetMode { path, before, mode }));
        steps
    }
}

/// The last directory that was opened: changes are sorted, so the next one is likely in it.
#[derive(Default)]
pub(super) struct ParentDirectory {
    last: Option<(Option<RepoPath>, OwnedFd)>,
}

impl ParentDirectory {
    pub(super) fn open(&mut self, tree: &TreeHandle, path: &RepoPath) -> Result<&OwnedFd, Errno> {
        let parent = path.parent();
        if self.last.as_ref().is_none_or(|(last, _)| *last != parent) {
            self.last = Some((parent, tree.parent_of(path)?));
        }
        Ok(self.last.as_ref().map(|(_, directory)| directory).expect("it was just opened"))
    }

    pub(super) fn forget(&mut self) {
        self.last = None;
    }
}

struct LandingChecker<'a> {
    tree: &'a TreeHandle,
    directories: &'a mut dyn DirectoryFacts,
    start: &'a Snapshot,
    changes: BTreeMap<&'a RepoPath, &'a TreeChange>,
    parents: ParentDirectory,
    steps: StepLists,
    /// Directories that the landing makes.
    made: BTreeSet<RepoPath>,
    conflicts: Vec<LandingConflict>,
}

impl<'a> LandingChecker<'a> {
    fn new(
        tree: &'a TreeHandle,
        directories: &'a mut dyn DirectoryFacts,
        start: &'a Snapshot,
        changes: &'a [TreeChange],
    ) -> Self {
        Self {
            tree,
            directories,
            start,
            changes: changes.iter().map(|change| (&change.path, change)).collect(),
            parents: ParentDirectory::default(),
            steps: StepLists::default(),
            made: BTreeSet::new(),
            conflicts: Vec::new(),
        }
    }

    /// Returns the steps in their order, or every conflict.
    fn plan_steps(
        mut self,
        changes: &[TreeChange],
    ) -> Result<Result<Vec<LandingStep>, Vec<LandingConflict>>, ServiceError> {
        for change in changes {
            self.check_change(change)?;
        }
        self.remove_emptied_directories(changes)?;
        if self.conflicts.is_empty() {
            return Ok(Ok(self.steps.in_order()));
        }
        self.conflicts.sort_by(|one, other| one.path.cmp(&other.path));
        self.conflicts.dedup_by(|one, other| one.path == other.path);
        Ok(Err(self.conflicts))
    }

    fn refuse(&mut self, path: &RepoPath, reason: ReasonCode, detail: impl Into<String>) {
        self.conflicts.push(LandingConflict { path: path.clone(), reason, detail: detail.into() });
    }

    fn conflict(&mut self, path: &RepoPath, detail: impl Into<String>) {
        self.refuse(path, ReasonCode::LandConflict, detail);
    }

    /// Refuses what must not reach the tree, however it was judged.
    fn refuse_unsafe(&mut self, workspace: &Workspace, plan: &LandingPlan<'_>) -> Result<(), ServiceError> {
        let options = content_options(workspace);
        for change in plan.changes {
            let top = change.path.segments().next().unwrap_or_default();
            let is_own = options.own_state.iter().any(|name| name == top)
                || (!options.dot_git_is_content && top.eq_ignore_ascii_case(b".git"));
            if is_own {
                self.refuse(&change.path, ReasonCode::LandUnsafe, "it belongs to git or to Probity");
            }
            if let Some(why) = change.after.as_ref().and_then(unsafe_entry) {
                self.refuse(&change.path, ReasonCode::LandUnsafe, why);
            }
        }
        let is_link = |state: &EntryState| state.kind == SnapshotEntryKind::Symlink;
        if plan.changes.iter().any(|change| change.after.as_ref().is_some_and(is_link)) {
            // Where a link leads depends on the whole tree: one that was harmless may lead out now.
            let upper = upper_of_root(workspace, &plan.layer);
            let after = self.start.with_layer(&upper, &workspace.root, &options)?;
            let leads_out = |reason| reason == ReasonCode::UnsafeLinkEscapes;
            let before: BTreeSet<_> = self.start.findings().iter().map(|it| (&it.path, it.reason)).collect();
            for found in after.findings() {
                let is_changed = self.changes.contains_key(&found.path);
                if leads_out(found.reason)
                    && (is_changed || !before.contains(&(&found.path, found.reason)))
                    && !leads_to_interpreter(&after, &found.path)
                {
                    self.refuse(&found.path, ReasonCode::LandUnsafe, found.detail.clone());
                }
            }
        }
        Ok(())
    }

    fn check_change(&mut self, change: &TreeChange) -> Result<(), ServiceError> {
        let path = &change.path;
        let current = match self.current(path) {
            Ok(current) => current,
            Err(why) => {
                self.conflict(path, why);
                return Ok(());
            }
        };
        if current == change.after
            && current.is_none_or(|state| state.digest.is_some() || !has_content(&state))
        {
            return Ok(());
        }
        if current != change.before {
            self.conflict(path, describe(current.as_ref()));
            return Ok(());
        }
        if change.before.is_some_and(|state| has_content(&state) && state.digest.is_none()) {
            self.conflict(path, "its content at the start of the run is not known");
            return Ok(());
        }
        if change.after.is_some() && !self.prepare_parents(path)? {
            return Ok(());
        }
        self.require_writable_parent(path);
        self.add_step(change)
    }

    /// Returns what is at `path` now.
    fn current(&mut self, path: &RepoPath) -> Result<Option<EntryState>, String> {
        let becomes_directory = self.becomes_directory_above(path);
        let directory = match self.parents.open(self.tree, path) {
            Ok(directory) => directory,
            Err(Errno::NOENT) => return Ok(None),
            // What is above becomes a directory by the same landing.
            Err(Errno::NOTDIR | Errno::LOOP) if becomes_directory => return Ok(None),
            Err(Errno::NOTDIR | Errno::LOOP) => {
                return Err("a directory above it is no directory any more".to_owned());
            }
            Err(Errno::XDEV) => return Err("it is on another file system".to_owned()),
            Err(error) => return Err(error.to_string()),
        };
        self.tree
            .state(directory, path.file_name(), Some((self.start, path)))
            .map_err(|error| error.to_string())
    }

    /// Returns whether this landing replaces something above `path` by a directory.
    fn becomes_directory_above(&self, path: &RepoPath) -> bool {
        let mut above = path.parent();
        while let Some(directory) = above {
            if let Some(change) = self.changes.get(&directory) {
                return change.after.is_some_and(|state| state.kind == SnapshotEntryKind::Directory);
            }
            above = directory.parent();
        }
        false
    }

    /// Plans the directories above a new entry that the layer made; returns false if one cannot be.
    fn prepare_parents(&mut self, path: &RepoPath) -> Result<bool, ServiceError> {
        let mut missing = Vec::new();
        let mut above = path.parent();
        while let Some(directory) = above {
            let is_planned = self.made.contains(&directory) || self.changes.contains_key(&directory);
            if is_planned || self.was_directory(&directory) {
                break;
            }
            above = directory.parent();
            missing.push(directory);
        }
        for directory in missing.into_iter().rev() {
            let current = match self.current(&directory) {
                Ok(current) => current,
                Err(why) => {
                    self.conflict(&directory, why);
                    return Ok(false);
                }
            };
            match current {
                // Another run made it, too.
                Some(state) if state.kind == SnapshotEntryKind::Directory => {}
                Some(state) => {
                    self.conflict(&directory, describe(Some(&state)));
                    return Ok(false);
                }
                None => {
                    let mode = self.directories.directory_mode(&directory).map_err(|error| {
                        let detail = format!("the layer has no directory `{directory}`: {error}");
                        ServiceError::refused(ReasonCode::LayerChanged, detail)
                    })?;
                    self.make_directory(&directory, mode);
                }
            }
        }
        let parent = path.parent();
        let is_there = parent.as_ref().is_none_or(|parent| {
            self.made.contains(parent)
                || self.becomes_directory_above(path)
                || self.tree.directory(parent).is_ok()
        });
        if !is_there {
            self.conflict(path, "the directory that held it is gone");
        }
        Ok(is_there)
    }

    /// Plans a new directory. Nobody judged its permission bits, so it is not opened further than the one above.
    fn make_directory(&mut self, path: &RepoPath, mode: u32) {
        let mode = mode & !(OPENING_BITS & !self.mode_above(path));
        self.made.insert(path.clone());
        self.steps.placed.push(LandingStep::MakeDirectory { path: path.clone() });
        self.steps.modes.insert(path.clone(), (None, mode));
    }

    /// Returns the permission bits of the directory above `path`, as they will be.
    fn mode_above(&self, path: &RepoPath) -> u32 {
        let Some(above) = path.parent() else {
            return rustix::fs::fstat(self.tree).map_or(0, |status| status.st_mode & 0o7777);
        };
        match self.steps.modes.get(&above) {
            Some((_, mode)) => *mode,
            None => self.tree.kind_and_mode(&above).ok().flatten().map_or(0, |(_, mode)| mode),
        }
    }

    fn was_directory(&self, path: &RepoPath) -> bool {
        self.start.get(path).is_some_and(|entry| entry.kind() == SnapshotEntryKind::Directory)
    }

    /// Refuses a change in a directory that this user cannot write to.
    fn require_writable_parent(&mut self, path: &RepoPath) {
        let is_opened = path.parent().is_some_and(|parent| {
            self.made.contains(&parent)
                || self.changes.get(&parent).is_some_and(|change| {
                    change.after.is_some_and(|state| state.kind == SnapshotEntryKind::Directory)
                })
        });
        if is_opened {
            return;
        }
        let Ok(directory) = self.parents.open(self.tree, path) else { return };
        let wanted = Access::WRITE_OK | Access::EXEC_OK;
        if let Err(error) = rustix::fs::accessat(directory.as_fd(), ".", wanted, AtFlags::EACCESS) {
            self.conflict(path, format!("its directory cannot be changed: {error}"));
        }
    }

    fn add_step(&mut self, change: &TreeChange) -> Result<(), ServiceError> {
        let path = change.path.clone();
        let is_directory = |state: &EntryState| state.kind == SnapshotEntryKind::Directory;
        match (change.before, change.after) {
            (None, None) => {}
            (Some(before), None) if is_directory(&before) => {
                if !self.directory_holds_nothing_else(&path)? {
                    self.conflict(&path, "somebody put something into this directory");
                } else if !self.replaced_above(&path) {
                    self.steps.emptied.insert(path, before.mode);
                }
            }
            (Some(before), None) => {
                let slot = self.steps.slot();
                self.steps.removed.push(LandingStep::Remove { path, slot, before });
            }
            (None, Some(after)) if is_directory(&after) => self.make_directory(&path, after.mode),
            (None, Some(after)) => {
                let (slot, staged) = (self.steps.slot(), StagedObject::default());
                self.steps.placed.push(LandingStep::Add { path, slot, staged, after });
            }
            (Some(before), Some(after)) if is_directory(&before) && is_directory(&after) => {
                if before.mode & OWNER_WRITE_BITS != OWNER_WRITE_BITS {
                    let mode = after.mode | OWNER_WRITE_BITS;
                    let step = LandingStep::OpenDirectory { path: path.clone(), before: before.mode, mode };
                    self.steps.opened.push(step);
                }
                self.steps.modes.insert(path, (Some(before.mode), after.mode));
            }
            (Some(before), Some(after)) => {
                if is_directory(&before) && !self.directory_holds_nothing_else(&path)? {
                    self.conflict(&path, "somebody put something into this directory");
                    return Ok(());
                }
                if is_directory(&after) {
                    self.made.insert(path.clone());
                    self.steps.modes.insert(path.clone(), (None, after.mode));
                }
                let (slot, staged) = (self.steps.slot(), StagedObject::default());
                self.steps.placed.push(LandingStep::Replace { path, slot, staged, before, after });
            }
        }
        Ok(())
    }

    /// Returns whether everything below the directory `path` goes by this landing.
    fn directory_holds_nothing_else(&self, path: &RepoPath) -> Result<bool, ServiceError> {
        let mut waiting = vec![path.clone()];
        while let Some(directory) = waiting.pop() {
            let names = self.tree.directory(&directory).and_then(|handle| list_directory(&handle));
            let names = names.map_err(|error| ServiceError::System {
                what: format!("cannot list `{directory}`"),
                source: error.into(),
            })?;
            for (name, is_directory) in names {
                let Ok(child) = directory.join(&name) else { return Ok(false) };
                let goes = self.changes.get(&child).is_some_and(|change| change.after.is_none());
                if is_directory && self.was_directory(&child) {
                    waiting.push(child);
                } else if !goes {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Plans the removal of directories that the layer has no more, besides those that are changes themselves.
    fn remove_emptied_directories(&mut self, changes: &[TreeChange]) -> Result<(), ServiceError> {
        let mut seen = BTreeSet::new();
        for change in changes.iter().filter(|change| change.after.is_none()) {
            let mut above = change.path.parent();
            while let Some(directory) = above {
                if self.changes.contains_key(&directory) || !seen.insert(directory.clone()) {
                    break;
                }
                let is_there =
                    self.directories.has_directory(&directory).map_err(|error| ServiceError::System {
                        what: format!("cannot read `{directory}` of the layer"),
                        source: error.into(),
                    })?;
                if is_there {
                    break;
                }
                let replaced = self.replaced_above(&directory);
                if let Some(entry) = self.start.get(&directory).filter(|_| !replaced) {
                    self.steps.emptied.insert(directory.clone(), entry.mode());
                }
                above = directory.parent();
            }
        }
        Ok(())
    }

    /// Returns whether something above `path` is replaced, so that `path` leaves the tree with it.
    fn replaced_above(&self, path: &RepoPath) -> bool {
        let mut above = path.parent();
        while let Some(directory) = above {
            let is_directory = |state: Option<EntryState>| {
                state.is_some_and(|state| state.kind == SnapshotEntryKind::Directory)
            };
            let change = self.changes.get(&directory);
            if change.is_some_and(|change| change.after.is_some() && !is_directory(change.after)) {
                return true;
            }
            above = directory.parent();
        }
        false
    }
}

const fn has_content(state: &EntryState) -> bool {
    matches!(state.kind, SnapshotEntryKind::File | SnapshotEntryKind::Symlink)
}

/// Returns whether a link belongs to a virtual environment and ends at an interpreter that is installed on the machine.
/// Every environment has such links. They do no harm: an installed program is nothing that a
/// build would write to.
fn leads_to_interpreter(after: &Snapshot, path: &RepoPath) -> bool {
    let is_in_environment = path
        .parent()
        .and_then(|programs| programs.parent())
        .and_then(|environment| environment.join(VIRTUAL_ENVIRONMENT_MARK).ok())
        .and_then(|mark| after.get(&mark))
        .is_some_and(|mark| mark.kind() == SnapshotEntryKind::File);
    let mut at = path.clone();
    for _ in 0..MAX_INTERPRETER_LINKS {
        let Some(target) = after.get(&at).and_then(|link| link.link_target()) else { return false };
        if !is_in_environment || !probity_policy::is_interpreter_link(&at) {
            return false;
        }
        if target.starts_with(b"/") {
            return is_installed_interpreter(Path::new(OsStr::from_bytes(target)));
        }
        match at.parent().map(|programs| programs.join(target)) {
            Some(Ok(next)) => at = next,
            _ => return false,
        }
    }
    false
}

fn is_installed_interpreter(path: &Path) -> bool {
    let has_name = path.file_name().is_some_and(|name| probity_policy::is_interpreter_name(name.as_bytes()));
    let is_program = |facts: Metadata| facts.is_file() && facts.mode() & ANY_EXECUTE_BITS != 0;
    has_name && fs::metadata(path).is_ok_and(is_program)
}

/// Returns why an entry must not land.
fn unsafe_entry(state: &EntryState) -> Option<String> {
    match state.kind {
        SnapshotEntryKind::File | SnapshotEntryKind::Symlink if state.digest.is_none() => {
            Some("its content could not be read".to_owned())
        }
        SnapshotEntryKind::File if state.mode & SET_ID_BITS != 0 => {
            Some(format!("its mode {:04o} lets it run with the rights of its owner", state.mode))
        }
        SnapshotEntryKind::File | SnapshotEntryKind::Symlink | SnapshotEntryKind::Directory => None,
        special => Some(format!("it is a {}", special.name())),
    }
}

/// Describes what is at a path instead of what was expected.
pub(super) fn describe(found: Option<&EntryState>) -> String {
    match found {
        None => "it is gone from the tree".to_owned(),
        Some(state) => format!(
            "it was also changed in the tree since the run began (now a {} with mode {:04o})",
            state.kind.name(),
            state.mode
        ),
    }
}
