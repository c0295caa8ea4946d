//! What a layer changes in the tree as it is now, for people: also while the command still works.

use super::find_layer;
use crate::bundles;
use crate::landing::{LayerView, open_layer_file, upper_of_root};
use crate::run_verdict::renames;
use probity_api::govern::land::{LayerChange, LayerDiffAnswer};
use probity_evidence::Seal;
use probity_line_diff::{is_binary, unified_hunks};
use probity_paths::{RepoPath, Scope};
use probity_snapshot::tree_handle::TreeHandle;
use probity_snapshot::{EntryState, SnapshotEntryKind, TreeChange};
use probity_storage::{FileLock, durable};
use probity_workspace::observe::WorkspaceObserver;
use probity_workspace::run_claims::SEAL_FILE;
use probity_workspace::{ServiceError, Workspace};
use rustix::fd::OwnedFd;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

/// Lines around a change.
const CONTEXT_LINES: usize = 3;

/// Larger files are named without their lines.
const MAX_SHOWN_FILE_BYTES: u64 = 1024 * 1024;

/// Compares the layer of `run` with the tree, at the paths in `only` or everywhere except in build outputs: an installed
/// package is thousands of files that nobody reviews.
pub fn layer_diff(
    workspace: &Workspace,
    run: &str,
    only: &[RepoPath],
) -> Result<LayerDiffAnswer, ServiceError> {
    let (run_id, layer) = find_layer(workspace, run)?;
    let is_open = FileLock::poll(&workspace.state.layer_lock(&run_id))?.is_none();
    let observer = WorkspaceObserver::new(workspace);
    let now = observer.content(None)?;
    let upper = upper_of_root(workspace, &layer);
    let after = observer.layered(&now, &upper)?;
    let delta = probity_snapshot::delta(&now, &after);
    let renamed: BTreeMap<RepoPath, RepoPath> =
        renames(&delta).into_iter().map(|rename| (rename.to, rename.from)).collect();
    let contents = DiffContents {
        tree: TreeHandle::open(&workspace.root).map_err(ServiceError::system("cannot open the tree"))?,
        layer: LayerView::open(&upper, &now)
            .map_err(ServiceError::system(format!("cannot open {}", upper.display())))?,
    };
    let is_named = |change: &TreeChange| only.iter().any(|path| change.path.is_covered_by(path.as_bytes()));
    let outputs = BuildOutputPaths::of(workspace, &run_id, is_open);
    let is_left_out = |change: &&TreeChange| only.is_empty() && outputs.contains(&change.path);
    let n_outputs_left_out = delta.iter().filter(is_left_out).count();
    let meant = delta.iter().filter(|change| only.is_empty() && !is_left_out(change) || is_named(change));
    let changes = meant.map(|change| contents.compare(change, renamed.get(&change.path))).collect();
    let root = workspace.root.clone().into();
    Ok(LayerDiffAnswer { root, run_id, is_open, changes, n_outputs_left_out })
}

/// The build outputs of a run: those that its evidence exempts, or, while it goes on, those that its seal declares.
struct BuildOutputPaths {
    exempt: BTreeSet<RepoPath>,
    declared: Option<Scope>,
}

impl BuildOutputPaths {
    fn of(workspace: &Workspace, run_id: &str, is_open: bool) -> Self {
        let seal = workspace.state.open_view_run(run_id, &workspace.root).folder.join(SEAL_FILE);
        let declared =
            || Seal::parse(&durable::read(&seal).ok()??).ok()?.contents().build_outputs.to_scope().ok();
        let judged = || {
            let bundle = bundles::find_judged(workspace, run_id).ok()?;
            Some(bundles::manifest(workspace, &bundle).ok()?.manifest.exempt_delta_paths)
        };
        Self {
            exempt: judged().unwrap_or_default().into_iter().collect(),
            declared: is_open.then(declared).flatten(),
        }
    }

    fn contains(&self, path: &RepoPath) -> bool {
        self.exempt.contains(path) || self.declared.as_ref().is_some_and(|scope| scope.contains(path))
    }
}

struct DiffContents<'a> {
    tree: TreeHandle,
    layer: LayerView<'a>,
}

impl DiffContents<'_> {
    fn compare(&self, change: &TreeChange, renamed_from: Option<&RepoPath>) -> LayerChange {
        let mut shown = LayerChange {
            path: change.path.clone(),
            change: change.change,
            renamed_from: renamed_from.cloned(),
            before: change.before.as_ref().map(describe),
            after: change.after.as_ref().map(describe),
            is_binary: false,
            lines_added: 0,
            lines_removed: 0,
            hunks: None,
        };
        let is_same = change.before.and_then(|side| side.digest) == change.after.and_then(|side| side.digest);
        if is_same || renamed_from.is_some() {
            return shown;
        }
        let before = content(change.before, &change.path, || self.tree.parent_of(&change.path));
        let after = content(change.after, &change.path, || self.layer.parent_of(&change.path));
        let (Some(before), Some(after)) = (before, after) else { return shown };
        if is_binary(&before) || is_binary(&after) {
            shown.is_binary = true;
            return shown;
        }
        let hunks = unified_hunks(&before, &after, CONTEXT_LINES);
        let count =
            |mark: u8| hunks.split(|byte| *byte == b'\n').filter(|line| line.first() == Some(&mark)).count();
        (shown.lines_added, shown.lines_removed) = (count(b'+'), count(b'-'));
        shown.hunks = Some(String::from_utf8_lossy(&hunks).into_owned());
        shown
    }
}

/// Returns the content of one side; nothing for what is not there, and `None` for what is too large or cannot be read.
fn content(
    state: Option<EntryState>,
    path: &RepoPath,
    parent: impl FnOnce() -> rustix::io::Result<OwnedFd>,
) -> Option<Vec<u8>> {
    let Some(state) = state else { return Some(Vec::new()) };
    let name = path.file_name();
    match state.kind {
        SnapshotEntryKind::File if state.size <= MAX_SHOWN_FILE_BYTES => {
            let mut bytes = Vec::new();
            let file = open_layer_file(&parent().ok()?, name).ok()?;
            file.take(MAX_SHOWN_FILE_BYTES).read_to_end(&mut bytes).ok()?;
            Some(bytes)
        }
        SnapshotEntryKind::Symlink => {
            let target = rustix::fs::readlinkat(parent().ok()?, name, Vec::new()).ok()?;
            Some(target.into_bytes())
        }
        SnapshotEntryKind::Directory => Some(Vec::new()),
        _ => None,
    }
}

fn describe(state: &EntryState) -> String {
    format!("{} {:04o}", state.kind.name(), state.mode)
}
