//! Who is where: every change in progress and every one that waits for a decision, on one map of the tree.

mod claims;
mod finished_changes;
mod lanes;
mod needs;
mod stale_bases;

use crate::board_map::BoardMap;
use crate::commit_contents::CommitContents;
use crate::log_feed;
use crate::uncommitted_runs::{UncommittedRun, uncommitted_runs};
use crate::worktree_review::reader;
use claims::{overlaps, touched_paths};
pub use finished_changes::finished_changes;
use lanes::{failed_lane, held_lane, intent_lane, open_run_lane};
use probity_api::change::StatusAnswer;
use probity_api::review::{BoardAnswer, BoardDirtyPath, BoardLane, BoardNeed, DirtyPathClass};
use probity_changes::registry::IntentService;
use probity_core::bytes::escape;
use probity_paths::RepoPath;
use probity_runner::bundles;
use probity_workspace::selection::names;
use probity_workspace::worktree::WorktreeStatus;
use probity_workspace::{ServiceError, Workspace};
use stale_bases::StaleBases;

/// More lanes are counted and not drawn.
const MAX_LANES: usize = 60;
const MAX_NEEDS: usize = 8;
const MAX_DIRTY_ROWS: usize = 40;
const N_LOG_LINES: usize = 12;
/// Paths named in an overlap, or as changed since a base.
const MAX_NAMED_PATHS: usize = 3;

/// Reads the board.
#[tracing::instrument(name = "board", skip_all)]
pub fn board(workspace: &Workspace) -> Result<BoardAnswer, ServiceError> {
    let policy = workspace.load_policy()?.policy;
    let look = WorktreeStatus::observe(workspace, &policy)?;
    let status = probity_changes::status_of(workspace, &reader(), &policy, &look, None)?;
    let service = IntentService::open(workspace)?;
    let committed = CommitContents::of_paths(workspace, status.head.as_deref(), look.state.dirty.keys())?;
    let mut drafts = Vec::new();
    let chained = if status.held.is_empty() { Vec::new() } else { bundles::chained(workspace)? };
    for held in status.held.iter().take(MAX_LANES) {
        drafts.extend(held_lane(workspace, &chained, &held.run_id));
    }
    for run in &status.runs {
        drafts.push(open_run_lane(workspace, run));
    }
    let dirty: Vec<&RepoPath> = look.state.dirty.keys().collect();
    let run_work = uncommitted_runs(workspace, dirty.iter().copied())?;
    drafts.extend(run_work.iter().filter_map(|work| failed_lane(workspace, work)));
    let stale = StaleBases::new(workspace, &service, status.head.as_deref());
    for line in status.intents.iter().take(MAX_LANES) {
        drafts.push(intent_lane(workspace, line, &dirty, &committed, &stale));
    }
    let n_left_out = status.intents.len().saturating_sub(MAX_LANES) + drafts.len().saturating_sub(MAX_LANES);
    drafts.truncate(MAX_LANES);
    let (files, _) = names(&look.snapshot);
    let map = BoardMap::new(&files, &touched_paths(&drafts));
    let overlaps = overlaps(&drafts, &map);
    let lanes: Vec<BoardLane> = drafts.into_iter().map(|draft| draft.place(&map)).collect();
    let log_size = log_feed::log_size(workspace)?;
    let mut log = log_feed::log_feed(workspace, log_size.saturating_sub(N_LOG_LINES as u64), N_LOG_LINES)?;
    log.reverse();
    let mut board = BoardAnswer {
        repository: tree_name(workspace),
        needs: Vec::new(),
        needs_left_out: 0,
        areas: map.areas,
        lanes_left_out: n_left_out,
        lanes,
        overlaps,
        dirty: dirty_paths(&status, &run_work),
        n_dirty: status.dirty.count,
        head: status.head,
        log_size,
        log,
    };
    let needs = needs::needs(&board.lanes);
    add_needs(&mut board, needs);
    Ok(board)
}

/// Adds things that wait for a person, and keeps the most urgent ones.
pub fn add_needs(board: &mut BoardAnswer, needs: Vec<BoardNeed>) {
    board.needs.extend(needs);
    board.needs.sort_by_key(|need| need.kind);
    board.needs_left_out += board.needs.len().saturating_sub(MAX_NEEDS);
    board.needs.truncate(MAX_NEEDS);
}

/// The name of the tree: its directory and the one above it.
pub fn tree_name(workspace: &Workspace) -> String {
    let mut parts: Vec<String> = workspace
        .root
        .components()
        .rev()
        .take(2)
        .map(|part| escape(part.as_os_str().as_encoded_bytes()))
        .filter(|part| part != "/")
        .collect();
    parts.reverse();
    parts.join(" / ")
}

fn dirty_paths(status: &StatusAnswer, run_work: &[UncommittedRun]) -> Vec<BoardDirtyPath> {
    let owner = |path: &RepoPath| crate::worktree_review::owner_of(status, path);
    let dirty = &status.dirty;
    let groups = [
        (&dirty.unclaimed, DirtyPathClass::Unclaimed),
        (&dirty.abandoned, DirtyPathClass::Abandoned),
        (&dirty.own, DirtyPathClass::Claimed),
        (&dirty.foreign, DirtyPathClass::Claimed),
    ];
    let mut rows: Vec<BoardDirtyPath> = Vec::new();
    for (group, class) in groups {
        rows.extend(group.paths.iter().map(|path| {
            let run = run_work.iter().find(|work| work.paths.contains_key(path));
            let (class, owner) = match run {
                Some(run) if class == DirtyPathClass::Unclaimed => {
                    let is_inside = run.paths.get(path).copied().unwrap_or(false);
                    let left = if is_inside { DirtyPathClass::Landed } else { DirtyPathClass::Outside };
                    (left, Some(run.owner()))
                }
                _ => (class, owner(path)),
            };
            BoardDirtyPath { path: path.clone(), class, owner }
        }));
    }
    for group in &dirty.finished {
        let row = |path: &RepoPath| BoardDirtyPath {
            path: path.clone(),
            class: DirtyPathClass::Finished,
            owner: Some(group.agent.clone()),
        };
        rows.extend(group.changed.paths.iter().map(row));
    }
    rows.truncate(MAX_DIRTY_ROWS);
    rows
}
