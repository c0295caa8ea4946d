//! Observes everything a verdict needs at one moment: content, git's own files, refs and index.

use crate::ServiceError;
use crate::Workspace;
use crate::git_index::IndexContent;
use crate::outgoing::{OutgoingChanges, RepositoryPlace};
use crate::own_files::{STATE_DIR_NAME, STATE_DIR_NAME_IN_GIT};
use crate::refs::{NestedRefs, RefFacts, RepositoryFacts};
use probity_api::govern::run::RefMovement;
use probity_core::Digest;
use probity_paths::RepoPath;
use probity_snapshot::git::{self, GitLayout, ZoneClass, ZoneSnapshot};
use probity_snapshot::{
    LayerNames, Snapshot, SnapshotEntry, SnapshotOptions, TreeChange, TreeRoot, WalkSelection,
};
use probity_storage::{CacheFile, CacheKind};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The last snapshot of a tree, so that the next one only reads what changed.
const STAT_CACHE: CacheKind = CacheKind { name: "stat", version: 3 };

/// Returns the options for snapshots of the workspace.
pub fn content_options(workspace: &Workspace) -> SnapshotOptions {
    SnapshotOptions {
        own_state: workspace.own_names(),
        // A `.git` created after the workspace was found belongs to no protected zone: it is content.
        dot_git_is_content: workspace.git.as_ref().is_none_or(|git| git.root != workspace.root),
        git_ids: workspace.git.as_ref().map(|git| git.object_format),
        ..SnapshotOptions::default()
    }
}

/// A change outside the content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZoneChange {
    /// A name like `.git/config`.
    pub path: RepoPath,
    pub detail: String,
}

/// A tree at one moment.
#[derive(Debug)]
pub struct WorkspaceObservation {
    pub content: Snapshot,
    /// Git's own files, if the tree is in a repository.
    git: Option<GitFacts>,
    /// The repositories inside the tree, as found by the first observation.
    nested: NestedRefs,
    /// Movements of references of repositories inside the tree that were seen in a view.
    moved_in_view: Vec<RefMovement>,
    root: RootFacts,
}

/// The root directory and the directories of git at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
struct RootFacts {
    /// The permission bits of the root.
    mode: Option<u32>,
    /// The directories that are no longer where they were found.
    displaced: Vec<PathBuf>,
}

/// Git's own files at one moment.
#[derive(Debug)]
struct GitFacts {
    /// `None` if it was not looked at.
    zone: Option<ZoneSnapshot>,
    repository: RepositoryFacts,
}

impl GitFacts {
    fn gather(layout: &GitLayout, earlier: Option<&Self>) -> Self {
        let known_zone = earlier.and_then(|earlier| earlier.zone.as_ref());
        Self { zone: Some(zone_of(layout, known_zone)), ..Self::without_zone(layout, earlier) }
    }

    fn without_zone(layout: &GitLayout, earlier: Option<&Self>) -> Self {
        let known = earlier.and_then(|earlier| earlier.repository.index.as_ref());
        let index = IndexContent::read(layout, known);
        Self { zone: None, repository: RepositoryFacts { refs: RefFacts::gather(layout), index } }
    }

    /// Returns whether the index was well-formed or absent and is now damaged.
    fn index_broke(&self, later: &Self) -> bool {
        let index = |facts: &Self| facts.repository.index.clone();
        let is_damaged = |index: Option<IndexContent>| index.is_some_and(|index| !index.is_sound());
        let is_same = index(self).zip(index(later)).is_some_and(|(before, after)| before.is_same(&after));
        !is_same && !is_damaged(index(self)) && is_damaged(index(later))
    }
}

fn zone_of(layout: &GitLayout, known: Option<&ZoneSnapshot>) -> ZoneSnapshot {
    git::protected_snapshot(layout, &[STATE_DIR_NAME_IN_GIT.as_bytes()], known)
}

impl WorkspaceObservation {
    /// Adds what was seen of git's own files later, but as they were at this moment.
    pub fn add_zone(&mut self, zone: Option<ZoneSnapshot>) {
        if let Some(facts) = &mut self.git {
            facts.zone = zone;
        }
    }

    /// Returns the protected paths outside the content that changed.
    pub fn zone_changes(&self, later: &Self) -> Vec<ZoneChange> {
        let (Some(before), Some(after)) = (&self.git, &later.git) else {
            return Vec::new();
        };
        let mut changes: Vec<ZoneChange> = Vec::new();
        if let (Some(before), Some(after)) = (&before.zone, &after.zone) {
            let protected = git::zone_delta(before, after)
                .into_iter()
                .filter(|change| change.class == ZoneClass::Protected)
                .map(|change| ZoneChange { path: change.path, detail: change.change.to_string() });
            let blind =
                after.findings.iter().filter(|found| !before.findings.contains(found)).map(|found| {
                    ZoneChange { path: found.path.clone(), detail: found.reason.meaning().into() }
                });
            changes.extend(protected.chain(blind));
        }
        if before.index_broke(after) {
            changes.extend(
                RepoPath::parse(b".git/index")
                    .ok()
                    .map(|path| ZoneChange { path, detail: "the index is damaged".into() }),
            );
        }
        changes
    }

    /// Returns what happened to the root directory itself and to the directories of git.
    pub fn root_changes(&self, later: &Self) -> Vec<String> {
        let displaced = later.root.displaced.iter().filter(|path| !self.root.displaced.contains(path));
        let mut changes: Vec<String> = displaced
            .map(|path| {
                let path = probity_core::bytes::escape(path.as_os_str().as_bytes());
                format!("the directory {path} was moved away or replaced during the run")
            })
            .collect();
        if let (Some(before), Some(after)) = (self.root.mode, later.root.mode)
            && before != after
        {
            changes.push(format!("the permission bits of the root changed from {before:04o} to {after:04o}"));
        }
        changes
    }

    /// Returns the repositories that were put into the tree: the paths of their `.git`.
    pub fn new_repositories(&self, later: &Self) -> Vec<RepoPath> {
        if self.content.root() == later.content.root() {
            return Vec::new();
        }
        let is_new = |path: &RepoPath| self.content.get(path).is_none();
        let repositories = later.content.entries_named(b".git").into_iter();
        repositories.map(SnapshotEntry::into_path).filter(is_new).collect()
    }

    /// Returns the git references that changed.
    pub fn ref_movements(&self, later: &Self) -> Vec<RefMovement> {
        let (before, after) = (self.git.as_ref(), later.git.as_ref());
        let own = before
            .zip(after)
            .map(|(before, after)| before.repository.refs.movements(&after.repository.refs, None));
        let nested =
            self.nested.movements(&later.nested).into_iter().chain(later.moved_in_view.iter().cloned());
        own.into_iter().flatten().chain(nested).collect()
    }

    /// Returns the delta: changed content, and submodules with another commit checked out.
    pub fn delta(&self, later: &Self) -> Vec<TreeChange> {
        let mut delta = probity_snapshot::delta(&self.content, &later.content);
        let nested = self.nested.changes(&later.nested, [&self.content, &later.content]);
        for change in nested {
            if let Err(place) = delta.binary_search_by(|other| other.path.cmp(&change.path)) {
                delta.insert(place, change);
            }
        }
        delta
    }

    /// Returns the digest of git's index.
    pub fn index_digest(&self) -> Option<Digest> {
        self.git.as_ref()?.repository.index.as_ref().map(IndexContent::digest)
    }

    pub fn index_differs(&self, later: &Self) -> bool {
        let own = self.git.as_ref().zip(later.git.as_ref());
        own.is_some_and(|(before, after)| before.repository.index_differs(&after.repository))
    }

    /// Returns whether a reference or the index changed.
    pub fn git_moved(&self, later: &Self) -> bool {
        let nested = || self.nested.pairs(&later.nested).any(|(_, [before, after])| before.differs(after));
        let own = self.git.as_ref().zip(later.git.as_ref());
        own.is_some_and(|(before, after)| before.repository.differs(&after.repository)) || nested()
    }

    /// Returns what could leave with a commit or a push although the tree does not show it.
    pub fn outgoing(&self, later: &Self, workspace: &Workspace) -> OutgoingChanges {
        let mut outgoing = OutgoingChanges::default();
        let below_top = workspace.below_top();
        if let (Some(layout), Some(before), Some(after)) = (&workspace.git, &self.git, &later.git) {
            let place =
                RepositoryPlace { layout, nested: None, is_own_worktree: false, below_top: &below_top };
            outgoing.add_repository(place, [&before.repository, &after.repository], &later.content);
        }
        for (nested, facts) in self.nested.pairs(&later.nested) {
            let place = RepositoryPlace {
                layout: nested.layout(),
                nested: Some(nested.path()),
                is_own_worktree: nested.is_own_worktree(),
                below_top: &below_top,
            };
            outgoing.add_repository(place, facts, &later.content);
        }
        outgoing
    }
}

/// Runs `other` on a thread of its own while this one runs `own`; after it if there is no thread to be had.
pub fn beside<T: Send, U>(other: impl FnOnce() -> T + Send, own: impl FnOnce() -> U) -> (U, T) {
    let waiting = Mutex::new(Some(other));
    let take = || waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().spawn_scoped(scope, || take().map(|other| other()));
        let own = own();
        let other = match thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(_) => take().map(|other| other()),
        };
        (own, other.expect("it was run once"))
    })
}

/// Takes observations of one workspace.
#[derive(Debug)]
pub struct WorkspaceObserver<'a> {
    workspace: &'a Workspace,
    options: SnapshotOptions,
    /// The root and the directories of git, held open from the first observation on.
    held: OnceLock<Vec<TreeRoot>>,
    /// The root hash of the content for which the stored stat cache has everything.
    cached_root: OnceLock<Digest>,
}

impl<'a> WorkspaceObserver<'a> {
    pub fn new(workspace: &'a Workspace) -> Self {
        let options = content_options(workspace);
        Self { workspace, options, held: OnceLock::new(), cached_root: OnceLock::new() }
    }

    /// Opens the root, and the directories of git, once: what is judged is the directory in which it all began.
    fn held(&self) -> Result<&[TreeRoot], ServiceError> {
        if let Some(held) = self.held.get() {
            return Ok(held);
        }
        let git = self.workspace.git.iter().flat_map(|git| [&git.git_dir, &git.common_dir]);
        let mut paths = vec![&self.workspace.root];
        paths.extend(git);
        paths.dedup();
        let held = paths.into_iter().map(|path| TreeRoot::open(path)).collect::<Result<_, _>>()?;
        Ok(self.held.get_or_init(|| held))
    }

    fn root_facts(&self) -> Result<RootFacts, ServiceError> {
        let held = self.held()?;
        let displaced = held.iter().filter(|root| !root.is_in_place());
        Ok(RootFacts {
            mode: held.first().and_then(TreeRoot::mode),
            displaced: displaced.map(|root| root.path().to_owned()).collect(),
        })
    }

    /// Observes everything, reusing whatever `earlier` knows and still holds.
    #[tracing::instrument(name = "observe", skip_all)]
    pub fn observe(
        &self,
        earlier: Option<&WorkspaceObservation>,
    ) -> Result<WorkspaceObservation, ServiceError> {
        let known = earlier.and_then(|earlier| earlier.git.as_ref());
        let (content, git) = beside(
            || self.workspace.git.as_ref().map(|layout| GitFacts::gather(layout, known)),
            || self.content(earlier.map(|earlier| &earlier.content)),
        );
        let content = content?;
        let nested = match earlier {
            Some(earlier) => earlier.nested.reread(),
            None => NestedRefs::gather(self.workspace, &content),
        };
        Ok(WorkspaceObservation { content, git, nested, moved_in_view: Vec::new(), root: self.root_facts()? })
    }

    /// Observes the references, the index and the root alone; nothing is known of the content and of git's own files.
    #[tracing::instrument(name = "observe git", skip_all)]
    pub fn observe_unseen(&self) -> Result<WorkspaceObservation, ServiceError> {
        let git = self.workspace.git.as_ref().map(|layout| GitFacts::without_zone(layout, None));
        let (content, nested) = (self.unseen(), NestedRefs::default());
        Ok(WorkspaceObservation { content, git, nested, moved_in_view: Vec::new(), root: self.root_facts()? })
    }

    /// Observes git's own files in the tree, where no command in a view reaches them.
    pub fn zone(&self) -> Option<ZoneSnapshot> {
        self.workspace.git.as_ref().map(|layout| zone_of(layout, None))
    }

    /// Returns what a view shows in whose layers nothing of git's is: there only the content can have changed.
    pub fn with_content(&self, start: &WorkspaceObservation, content: Snapshot) -> WorkspaceObservation {
        WorkspaceObservation {
            content,
            git: None,
            nested: NestedRefs::default(),
            moved_in_view: Vec::new(),
            root: start.root.clone(),
        }
    }

    /// Returns a snapshot in which nothing was looked at.
    pub fn unseen(&self) -> Snapshot {
        Snapshot::unseen(&self.options)
    }

    /// Returns the root of the tree, held open.
    pub fn root(&self) -> Result<&TreeRoot, ServiceError> {
        Ok(self.held()?.first().expect("the root comes first"))
    }

    /// Observes a part of the content; all of it without a selection.
    pub fn selected(&self, selection: Option<&WalkSelection>) -> Result<Snapshot, ServiceError> {
        if selection.is_none() {
            tracing::trace!(target: "probity::work", tree_walks = 1_u64);
        }
        Ok(Snapshot::take_selected(self.root()?, &self.options, selection)?)
    }

    /// Returns what a layer changes.
    pub fn layer_names(&self, upper: &Path) -> Result<LayerNames, ServiceError> {
        tracing::trace!(target: "probity::work", layer_walks = 1_u64);
        Ok(WalkSelection::of_layer(upper, &self.options)?)
    }

    /// Observes the tree as a view shows it. `start_content` is the tree below it, `start_zone` are git's own files there if
    /// `start` does not have them, `upper` is the layer on the root of this workspace, and
    /// `view_root` leads to the root of the view's file system. Of repositories inside the tree
    /// only the movements of their references are known: what was committed there is gone with the view.
    #[tracing::instrument(name = "observe view", skip_all)]
    pub fn observe_view(
        &self,
        start: &WorkspaceObservation,
        start_content: &Snapshot,
        start_zone: Option<&ZoneSnapshot>,
        upper: &Path,
        view_root: &Path,
    ) -> Result<WorkspaceObservation, ServiceError> {
        let inside = |path: &Path| view_root.join(path.strip_prefix("/").unwrap_or(path));
        let git = self.workspace.git.as_ref().map(|layout| {
            let layout = GitLayout {
                root: inside(&layout.root),
                git_dir: inside(&layout.git_dir),
                common_dir: inside(&layout.common_dir),
                ..layout.clone()
            };
            let known = start.git.as_ref();
            let mut facts = GitFacts::gather(&layout, known);
            let known_zone = start_zone.or(known.and_then(|known| known.zone.as_ref()));
            if let Some((zone, known)) = facts.zone.as_mut().zip(known_zone) {
                zone.adopt_identities(known);
            }
            facts
        });
        let content = self.layered(start_content, upper)?;
        Ok(WorkspaceObservation {
            content,
            git,
            nested: NestedRefs::default(),
            moved_in_view: start.nested.movements(&start.nested.reread_in_view(&inside)),
            root: start.root.clone(),
        })
    }

    /// Returns the content of a tree with the layer `upper` above it; a layer that is not there changes nothing.
    pub fn layered(&self, below: &Snapshot, upper: &Path) -> Result<Snapshot, ServiceError> {
        match upper.symlink_metadata() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(below.clone()),
            _ => {
                tracing::trace!(target: "probity::work", layer_walks = 1_u64);
                Ok(below.with_layer(upper, &self.workspace.root, &self.options)?)
            }
        }
    }

    /// Observes the content alone, using the stat cache if `earlier` is `None`.
    #[tracing::instrument(name = "read tree", skip_all)]
    pub fn content(&self, earlier: Option<&Snapshot>) -> Result<Snapshot, ServiceError> {
        let cached = match earlier {
            Some(_) => None,
            None => self.stat_cache().load(),
        };
        let phase = self.workspace.progress.begin("reading the tree");
        let options = SnapshotOptions { n_entries_seen: Some(phase.counter()), ..self.options.clone() };
        tracing::trace!(target: "probity::work", tree_walks = 1_u64);
        let held = self.held()?;
        let root = held.first().expect("the root comes first");
        let snapshot = Snapshot::take_at(root, &options, earlier.or(cached.as_ref()))?;
        if cached.is_some_and(|cached: Snapshot| cached.recalls_all_of(&snapshot)) {
            let _ = self.cached_root.set(snapshot.root());
        }
        Ok(snapshot)
    }

    /// Stores a snapshot for the next run, unless a governed run is open in the repository.
    pub fn remember_if_free(&self, snapshot: &Snapshot) {
        self.workspace.state.while_no_run_is_open(|| self.remember(snapshot));
    }

    /// Stores a snapshot for the next run, unless what is stored already serves as well. Failing to write the cache only
    /// costs time.
    pub fn remember(&self, snapshot: &Snapshot) {
        if self.cached_root.get() != Some(&snapshot.root()) {
            let _ = self.stat_cache().store(snapshot);
        }
    }

    fn stat_cache(&self) -> CacheFile {
        CacheFile::new(self.workspace.state.cache(&self.workspace.root), STAT_CACHE)
    }

    /// Converts touched files of our own state to changes of protected paths.
    pub fn state_changes(&self, touched: &[PathBuf]) -> Vec<ZoneChange> {
        let base = if self.workspace.git.is_some() {
            format!(".git/{STATE_DIR_NAME_IN_GIT}")
        } else {
            STATE_DIR_NAME.into()
        };
        let name = |path: &PathBuf| {
            if path.as_os_str().is_empty() {
                return RepoPath::parse(base.as_bytes()).ok();
            }
            RepoPath::parse(&[base.as_bytes(), path.as_os_str().as_bytes()].join(&b'/')).ok()
        };
        let change = |path| ZoneChange { path, detail: "Probity's own state was touched".into() };
        touched.iter().filter_map(name).map(change).collect()
    }
}
