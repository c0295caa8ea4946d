//! The contents of both sides of what a run changed, for people who read its changes.
//!
//! A side comes from wherever it still is: the layer, the tree, the before-images, git. Only bytes with the recorded
//! digest count, so nobody is shown another content than the one that was judged.

use crate::bundles::{self, BundleFiles};
use crate::landing::{layer_store, open_layer_file, upper_of_root};
use crate::{held, recorded_delta};
use probity_api::govern::delta::{EntryKind, RecordedChange, RecordedSide};
use probity_core::Digest;
use probity_evidence::StoredManifest;
use probity_paths::RepoPath;
use probity_snapshot::tree_handle::TreeHandle;
use probity_workspace::{ServiceError, Workspace, git};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// Larger contents are named and not read.
pub const MAX_READ_BYTES: u64 = 8 * 1024 * 1024;

/// One side of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SideContent {
    /// There is nothing at the path.
    Absent,
    Content(Vec<u8>),
    /// It has more bytes than are read.
    TooLarge(u64),
    /// No copy with the recorded digest is left here.
    Lost,
    /// It is no file and no link.
    Special(EntryKind),
}

/// The current judgment of a run with the places of its contents.
#[derive(Debug)]
pub struct RecordedRun {
    /// The run that made the changes.
    pub first_run_id: String,
    /// The bundle with the current judgment.
    pub stored: StoredManifest,
    pub files: BundleFiles,
    pub changes: Vec<RecordedChange>,
    /// Whether its changes wait in a layer.
    pub is_held: bool,
    layer: Option<TreeHandle>,
    tree: Option<TreeHandle>,
    /// Blobs of git that were read together, by their id.
    blobs: BTreeMap<String, Vec<u8>>,
}

/// Bytes of git's blobs that are read together; the others are read one by one when somebody asks for them.
const MAX_BYTES_AHEAD: u64 = 16 * 1024 * 1024;

impl RecordedRun {
    /// Opens the run that `name` means: an id, the beginning of one, or `last`. A damaged bundle is opened too: its
    /// verification says what is wrong. Returns every listed bundle too, oldest first: what came after this one tells
    /// where its changes are now.
    pub fn open(workspace: &Workspace, name: &str) -> Result<(Self, Vec<StoredManifest>), ServiceError> {
        let chained = bundles::chained(workspace)?;
        let run = Self::open_among(workspace, &chained, name)?;
        Ok((run, chained))
    }

    /// Like [`RecordedRun::open`], for somebody who has every listed bundle already.
    pub fn open_among(
        workspace: &Workspace,
        chained: &[StoredManifest],
        name: &str,
    ) -> Result<Self, ServiceError> {
        let found = bundles::find(workspace, name)?;
        let judged = bundles::judged_among(workspace, chained, &found)?;
        let first_run_id = held::first_judged_among(workspace, chained, found)?;
        let files = bundles::read(&workspace.state.evidence().join(&judged))?;
        let stored = bundles::manifest(workspace, &judged)?;
        let changes = recorded_delta::read_delta(&files, &judged).map(|delta| delta.changes);
        let layer = layer_store::held_layer(workspace, &first_run_id).ok();
        let handle = |path: &Path| TreeHandle::open(path).ok();
        Ok(Self {
            first_run_id,
            stored,
            files,
            changes: changes.unwrap_or_default(),
            is_held: layer.is_some(),
            layer: layer.and_then(|layer| handle(&upper_of_root(workspace, &layer))),
            tree: handle(&workspace.root),
            blobs: BTreeMap::new(),
        })
    }

    /// Reads the contents that git has with one process, for somebody who asks for many of them. A process for each path
    /// of a large change takes seconds.
    pub fn read_ahead(&mut self, workspace: &Workspace) {
        let Some(layout) = &workspace.git else { return };
        let mut bytes_left = MAX_BYTES_AHEAD;
        let sides = self.changes.iter().filter_map(|change| change.before.as_ref());
        let fits = |side: &&RecordedSide| {
            let n_bytes = side.size.parse().unwrap_or(u64::MAX);
            let fits = n_bytes <= bytes_left.min(MAX_READ_BYTES);
            bytes_left -= if fits { n_bytes } else { 0 };
            fits
        };
        let ids: Vec<String> = sides.filter(fits).filter_map(|side| side.git_id.clone()).collect();
        // Without them each content is asked for on its own, and is lost only if that fails too.
        self.blobs = git::present_blobs(layout, &ids).unwrap_or_default();
    }

    pub fn before(&self, workspace: &Workspace, change: &RecordedChange) -> SideContent {
        self.side(workspace, &change.path, change.before.as_ref())
    }

    pub fn after(&self, workspace: &Workspace, change: &RecordedChange) -> SideContent {
        self.side(workspace, &change.path, change.after.as_ref())
    }

    fn side(&self, workspace: &Workspace, path: &RepoPath, side: Option<&RecordedSide>) -> SideContent {
        let Some(side) = side else { return SideContent::Absent };
        if !matches!(side.kind, EntryKind::File | EntryKind::Symlink) {
            return SideContent::Special(side.kind);
        }
        let n_bytes = side.size.parse().unwrap_or(u64::MAX);
        if n_bytes > MAX_READ_BYTES {
            return SideContent::TooLarge(n_bytes);
        }
        let Some(digest) = side.digest else { return SideContent::Lost };
        let is_it = |bytes: &Vec<u8>| Digest::of(bytes) == digest;
        let places = [self.layer.as_ref(), self.tree.as_ref()].into_iter().flatten();
        let found = places.filter_map(|place| read_entry(place, path)).find(is_it);
        let found = found.or_else(|| workspace.state.before_images().get(&digest).ok().flatten());
        let found = found.or_else(|| {
            let (layout, id) = workspace.git.as_ref().zip(side.git_id.as_ref())?;
            let known = self.blobs.get(id).cloned();
            known.or_else(|| git::blob(layout, id).ok().flatten()).filter(is_it)
        });
        found.map_or(SideContent::Lost, SideContent::Content)
    }
}

/// The contents of a layer that a run still works on, and of the tree below it.
#[derive(Debug)]
pub struct OpenLayer {
    layer: Option<TreeHandle>,
    tree: Option<TreeHandle>,
}

impl OpenLayer {
    pub fn open(workspace: &Workspace, run_id: &str) -> Self {
        let upper = upper_of_root(workspace, &workspace.state.layer(run_id));
        Self { layer: TreeHandle::open(&upper).ok(), tree: TreeHandle::open(&workspace.root).ok() }
    }

    pub fn before(&self, path: &RepoPath) -> SideContent {
        content_or_lost(self.tree.as_ref(), path)
    }

    pub fn after(&self, path: &RepoPath) -> SideContent {
        content_or_lost(self.layer.as_ref(), path)
    }
}

/// Reads a file or a link of a tree as it is now, without following any link.
pub fn tree_content(root: &Path, path: &RepoPath) -> SideContent {
    content_or_lost(TreeHandle::open(root).ok().as_ref(), path)
}

fn content_or_lost(place: Option<&TreeHandle>, path: &RepoPath) -> SideContent {
    place.and_then(|place| read_entry(place, path)).map_or(SideContent::Lost, SideContent::Content)
}

fn read_entry(place: &TreeHandle, path: &RepoPath) -> Option<Vec<u8>> {
    let parent = place.parent_of(path).ok()?;
    let name = path.file_name();
    if let Ok(target) = rustix::fs::readlinkat(&parent, name, Vec::new()) {
        return Some(target.into_bytes());
    }
    let mut bytes = Vec::new();
    let file = open_layer_file(&parent, name).ok()?;
    file.take(MAX_READ_BYTES + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= MAX_READ_BYTES).then_some(bytes)
}
