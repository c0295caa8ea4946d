//! The lanes of the board: one for each change that is in progress or waits for a decision.

use super::MAX_NAMED_PATHS;
use super::claims::LaneClaim;
use super::stale_bases::StaleBases;
use crate::board_map::BoardMap;
use crate::commit_contents::CommitContents;
use crate::file_sides::{n_changed_lines, present_content};
use crate::options;
use crate::run_review::{ScopeFacts, agent_name, command_words, sealed_agent, why_not_passed};
use crate::uncommitted_runs::UncommittedRun;
use probity_api::change::{IntentLine, RunLine};
use probity_api::review::{BoardLane, LanePath, LaneState, PathFate, ReviewedKind};
use probity_core::ReasonCode;
use probity_core::text::short_id;
use probity_evidence::{Manifest, StoredManifest};
use probity_intents::{IntentStatus, Ownership, ScopeEntry};
use probity_paths::RepoPath;
use probity_runner::held;
use probity_runner::recorded_contents::{RecordedRun, SideContent};
use probity_workspace::Workspace;

/// More bars in one lane are not drawn.
const MAX_BARS: usize = 80;
/// Files of one lane in which changed lines are counted; the others stand with one line.
const MAX_COUNTED_FILES: usize = 60;

/// A lane before the map is drawn.
pub(super) struct LaneDraft {
    pub(super) lane: BoardLane,
    pub(super) claim: LaneClaim,
    pub(super) changed: Vec<ChangedPath>,
}

/// A path that a lane changed.
pub(super) struct ChangedPath {
    pub(super) path: RepoPath,
    fate: PathFate,
    n_lines: usize,
}

impl LaneDraft {
    const fn new(lane: BoardLane, claim: LaneClaim) -> Self {
        Self { lane, claim, changed: Vec::new() }
    }

    /// Begins the lane of a run that was judged.
    fn of_judged_run(manifest: &Manifest, run_id: &str, state: LaneState) -> Self {
        let scope = ScopeFacts::of(&manifest.plan.scope, &manifest.amendments);
        let lane = BoardLane {
            agent: agent_name(manifest),
            reason: manifest.reasons().first().map(|reason| reason.as_str().to_owned()),
            reason_words: why_not_passed(manifest),
            since: Some(manifest.created_at.clone()),
            scope: scope_patterns(&scope),
            ..empty_lane(run_id.to_owned(), ReviewedKind::Run, run_title(manifest, run_id), state)
        };
        Self::new(lane, LaneClaim::of_run(manifest))
    }

    /// Adds a changed path. `count_lines` returns the added and removed lines; only the first files are counted.
    fn add(
        &mut self,
        path: &RepoPath,
        is_inside: bool,
        count_lines: impl FnOnce() -> Option<(usize, usize)>,
    ) {
        let counted = if self.changed.len() < MAX_COUNTED_FILES { count_lines() } else { None };
        if let Some((added, removed)) = counted {
            self.lane.lines_added += added;
            self.lane.lines_removed += removed;
        }
        let fate = if is_inside { PathFate::Inside } else { PathFate::Outside };
        let n_lines = counted.map_or(1, |(added, removed)| added + removed);
        self.changed.push(ChangedPath { path: path.clone(), fate, n_lines });
    }

    /// Draws the lane on the map.
    pub(super) fn place(self, map: &BoardMap) -> BoardLane {
        let Self { mut lane, claim, mut changed } = self;
        lane.lots = claim.lots(map);
        lane.n_paths = changed.len();
        lane.n_outside = changed.iter().filter(|it| it.fate == PathFate::Outside).count();
        // Outside paths are never left out.
        changed.sort_by_key(|it| (it.fate != PathFate::Outside, it.path.clone()));
        let bars = changed.into_iter().take(MAX_BARS).map(|it| {
            let at = map.place(it.path.as_bytes());
            LanePath { path: it.path, fate: it.fate, at, lines: it.n_lines }
        });
        lane.paths = bars.collect();
        lane.actions = options::board_actions(&lane);
        lane
    }
}

pub(super) fn empty_lane(change: String, kind: ReviewedKind, title: String, state: LaneState) -> BoardLane {
    BoardLane {
        change,
        kind,
        title,
        agent: None,
        machine: None,
        state,
        reason: None,
        reason_words: None,
        since: None,
        scope: Vec::new(),
        lots: Vec::new(),
        paths: Vec::new(),
        n_paths: 0,
        n_outside: 0,
        n_in_tree: 0,
        lines_added: 0,
        lines_removed: 0,
        lease_left_seconds: None,
        lease_share: None,
        queue_position: None,
        base_behind: None,
        base_moved: Vec::new(),
        is_here: true,
        has_view: false,
        actions: Vec::new(),
    }
}

/// The command of a run, or its id.
pub(super) fn run_title(manifest: &Manifest, run_id: &str) -> String {
    command_words(manifest).unwrap_or_else(|| format!("run {run_id}"))
}

fn scope_patterns(scope: &ScopeFacts) -> Vec<String> {
    scope.clauses.iter().map(|clause| clause.pattern.clone()).collect()
}

/// Returns the lane of a run whose layer waits for a decision.
pub(super) fn held_lane(
    workspace: &Workspace,
    chained: &[StoredManifest],
    run_id: &str,
) -> Option<LaneDraft> {
    let mut run = RecordedRun::open_among(workspace, chained, run_id).ok()?;
    run.read_ahead(workspace);
    let manifest = &run.stored.manifest;
    let state = if manifest.reasons().is_empty() { LaneState::Ready } else { LaneState::Held };
    let mut draft = LaneDraft::of_judged_run(manifest, &run.first_run_id, state);
    draft.lane.has_view = true;
    let mut scope = ScopeFacts::of(&manifest.plan.scope, &manifest.amendments);
    for change in &run.changes {
        let (before, after) = (run.before(workspace, change), run.after(workspace, change));
        let (is_inside, _) = scope.decide(&change.path);
        draft.add(&change.path, is_inside, || changed_lines(&before, &after));
        let now = present_content(workspace, &change.path);
        if now == after {
            draft.lane.n_in_tree += 1;
        } else if before != SideContent::Lost
            && now != before
            && draft.lane.base_moved.len() < MAX_NAMED_PATHS
        {
            draft.lane.base_moved.push(change.path.clone());
        }
    }
    Some(draft)
}

/// Returns the lane of a run that did not pass and whose work stands in the tree, uncommitted.
pub(super) fn failed_lane(workspace: &Workspace, work: &UncommittedRun) -> Option<LaneDraft> {
    if work.run.is_held || work.passed() {
        return None;
    }
    let manifest = &work.run.stored.manifest;
    // Once what was outside is undone, nothing of the rest waits for anybody.
    let is_scope_alone = manifest.reasons().iter().all(|reason| *reason == ReasonCode::ReconUntrackedDelta);
    if is_scope_alone && work.paths.values().all(|is_inside| *is_inside) {
        return None;
    }
    let mut draft = LaneDraft::of_judged_run(manifest, &work.run.first_run_id, LaneState::Failed);
    for change in &work.run.changes {
        let Some(is_inside) = work.paths.get(&change.path) else { continue };
        draft.add(&change.path, *is_inside, || {
            changed_lines(&work.run.before(workspace, change), &work.run.after(workspace, change))
        });
    }
    draft.lane.n_in_tree = draft.changed.len();
    Some(draft)
}

/// Counts added and removed lines; `None` if a side is binary or cannot be read.
fn changed_lines(before: &SideContent, after: &SideContent) -> Option<(usize, usize)> {
    Some(n_changed_lines(text_of(before)?, text_of(after)?))
}

fn text_of(side: &SideContent) -> Option<&[u8]> {
    match side {
        SideContent::Absent => Some(b""),
        SideContent::Content(bytes) if !probity_line_diff::is_binary(bytes) => Some(bytes),
        _ => None,
    }
}

/// Returns the lane of a run that is going on.
pub(super) fn open_run_lane(workspace: &Workspace, run: &RunLine) -> LaneDraft {
    let mut scope = ScopeFacts::of(&run.scope, &[]);
    let title = format!("Run {}", short_id(&run.run_id));
    let lane = BoardLane {
        agent: sealed_agent(workspace, &run.run_id),
        since: Some(run.since.clone()),
        is_here: run.is_here,
        scope: scope_patterns(&scope),
        ..empty_lane(run.run_id.clone(), ReviewedKind::Run, title, LaneState::Editing)
    };
    let claim = LaneClaim::Patterns(run.scope.as_slice().to_vec(), run.scope.to_scope().ok());
    let mut draft = LaneDraft::new(lane, claim);
    if let Some(diff) = held::layer_diff(workspace, &run.run_id, &[]).ok().filter(|_| run.is_here) {
        draft.lane.has_view = true;
        for change in diff.changes {
            let (is_inside, _) = scope.decide(&change.path);
            draft.add(&change.path, is_inside, || Some((change.lines_added, change.lines_removed)));
        }
    }
    draft
}

/// Returns the lane of an intent that is open.
pub(super) fn intent_lane(
    workspace: &Workspace,
    intent: &IntentLine,
    dirty: &[&RepoPath],
    committed: &CommitContents,
    stale: &StaleBases<'_>,
) -> LaneDraft {
    let lane_state = match (intent.status, intent.ownership) {
        (IntentStatus::Queued, _) => LaneState::Queued,
        (IntentStatus::Landing, _) => LaneState::Landed,
        (_, Ownership::Recoverable) => LaneState::Recoverable,
        _ if intent.lease_left_seconds == 0 => LaneState::Silent,
        _ => LaneState::Editing,
    };
    let is_active = intent.status == IntentStatus::Active;
    let id = intent.intent_id.as_str().to_owned();
    let mut lane = BoardLane {
        agent: Some(intent.agent.clone()),
        machine: Some(intent.owner.host.clone()),
        since: Some(intent.since.clone()),
        scope: intent.allowed_files.iter().map(ToString::to_string).collect(),
        lease_left_seconds: is_active.then_some(intent.lease_left_seconds),
        queue_position: intent.queue_position,
        is_here: intent.is_here,
        ..empty_lane(id, ReviewedKind::Intent, intent.description.clone(), lane_state)
    };
    if let Some(known) = stale.service.registry().intent(&intent.intent_id).filter(|it| it.lease.seconds > 0)
    {
        let share = intent.lease_left_seconds * 100 / known.lease.seconds;
        lane.lease_share = lane.lease_left_seconds.map(|_| u32::try_from(share.min(100)).unwrap_or(100));
    }
    stale.mark(intent, &mut lane);
    let entries: Vec<ScopeEntry> = intent.allowed_files.iter().cloned().collect();
    let mut draft = LaneDraft::new(lane, LaneClaim::Entries(entries.clone()));
    if intent.is_here && is_active && intent.n_dirty > 0 {
        let is_own = |path: &RepoPath| entries.iter().any(|entry| entry.covers(path.as_bytes()));
        for path in dirty.iter().filter(|path| is_own(path)) {
            draft.add(path, true, || committed.changed_lines(workspace, path));
        }
    }
    draft
}
