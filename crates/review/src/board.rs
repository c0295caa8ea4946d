//! Who is where: every change in progress and every one that waits for a decision, on one map of the tree.

use crate::board_map::BoardMap;
use crate::commit_contents::CommitContents;
use crate::file_sides::{commit_tree, n_changed_lines};
use crate::log_feed;
use crate::options;
use crate::run_review::{ScopeFacts, agent_name, command_words, sealed_agent, why_not_passed};
use crate::uncommitted_runs::{UncommittedRun, uncommitted_runs};
use crate::worktree_review::reader;
use probity_api::change::{IntentLine, RunLine, StatusAnswer};
use probity_api::review::{
    BoardAnswer, BoardDirtyPath, BoardLane, BoardNeed, BoardOverlap, DecisionAction, DirtyPathClass,
    LanePath, LaneState, NeedKind, PathFate, ReviewState, ReviewedKind,
};
use probity_changes::registry::IntentService;
use probity_changes::registry::view::format_time;
use probity_core::bytes::escape;
use probity_core::text::{count, short_id};
use probity_core::{Digest, ReasonCode};
use probity_evidence::StoredManifest;
use probity_intents::{IntentStatus, Ownership, ScopeEntry};
use probity_paths::{RepoPath, Scope};
use probity_quality::contract::receipts::ReceiptStore;
use probity_runner::recorded_contents::{RecordedRun, SideContent};
use probity_runner::{bundles, held};
use probity_workspace::selection::names;
use probity_workspace::worktree::WorktreeStatus;
use probity_workspace::{ServiceError, Workspace, git};
use std::collections::{BTreeMap, BTreeSet};

/// More lanes are counted and not drawn.
const MAX_LANES: usize = 60;
/// More bars in one lane are not drawn.
const MAX_BARS: usize = 80;
/// Files of one lane in which changed lines are counted; the others stand with one line.
const MAX_COUNTED_FILES: usize = 60;
const MAX_NEEDS: usize = 8;
const MAX_DIRTY_ROWS: usize = 40;
const N_LOG_LINES: usize = 12;
/// Paths named in an overlap.
const MAX_NAMED_PATHS: usize = 3;

/// What a lane is about, before the map is drawn.
struct LaneDraft {
    lane: BoardLane,
    claim: LaneClaim,
    changed: Vec<(RepoPath, PathFate, usize)>,
}

/// The paths that a lane claims.
enum LaneClaim {
    Entries(Vec<ScopeEntry>),
    Patterns(Vec<Vec<u8>>, Option<Scope>),
}

/// Reads the board.
#[tracing::instrument(name = "board", skip_all)]
pub fn board(workspace: &Workspace) -> Result<BoardAnswer, ServiceError> {
    let policy = workspace.load_policy()?.policy;
    let look = WorktreeStatus::observe(workspace, &policy)?;
    let status = probity_changes::status_of(workspace, &reader(), &policy, &look)?;
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
    let lanes: Vec<BoardLane> = drafts.into_iter().map(|draft| place_lane(draft, &map)).collect();
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
    let needs = needs(&board.lanes);
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

fn lane(change: String, kind: ReviewedKind, title: String, state: LaneState) -> BoardLane {
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

fn held_lane(workspace: &Workspace, chained: &[StoredManifest], run_id: &str) -> Option<LaneDraft> {
    let mut run = RecordedRun::open_among(workspace, chained, run_id).ok()?;
    run.read_ahead(workspace);
    let manifest = &run.stored.manifest;
    let mut scope = ScopeFacts::of(&manifest.plan.scope, &manifest.amendments);
    let reasons = manifest.reasons();
    let state = if reasons.is_empty() { LaneState::Ready } else { LaneState::Held };
    let title = command_words(manifest).unwrap_or_else(|| format!("run {run_id}"));
    let mut lane = lane(run.first_run_id.clone(), ReviewedKind::Run, title, state);
    let mut changed = Vec::new();
    for (index, change) in run.changes.iter().enumerate() {
        let (is_inside, _) = scope.decide(&change.path);
        let fate = if is_inside { PathFate::Inside } else { PathFate::Outside };
        let before = run.before(workspace, change);
        let mut lines = 1;
        if index < MAX_COUNTED_FILES
            && let (Some(before), Some(after)) = (text_of(&before), text_of(&run.after(workspace, change)))
        {
            let (added, removed) = n_changed_lines(before, after);
            (lane.lines_added, lane.lines_removed) = (lane.lines_added + added, lane.lines_removed + removed);
            lines = added + removed;
        }
        let now = crate::file_sides::present_content(workspace, &change.path);
        if now == run.after(workspace, change) {
            lane.n_in_tree += 1;
        } else if before != SideContent::Lost && now != before && lane.base_moved.len() < MAX_NAMED_PATHS {
            lane.base_moved.push(change.path.clone());
        }
        changed.push((change.path.clone(), fate, lines));
    }
    lane.agent = agent_name(manifest);
    lane.reason = reasons.first().map(|reason| reason.as_str().to_owned());
    lane.reason_words = why_not_passed(manifest);
    lane.since = Some(manifest.created_at.clone());
    lane.has_view = true;
    lane.scope = scope.clauses.iter().map(|clause| clause.pattern.clone()).collect();
    let mut patterns = manifest.plan.scope.clone();
    manifest.amendments.iter().for_each(|amendment| patterns.extend(&amendment.add));
    let parsed = patterns.to_scope().ok();
    Some(LaneDraft { lane, claim: LaneClaim::Patterns(patterns.as_slice().to_vec(), parsed), changed })
}

/// The lane of a run that did not pass and whose work stands in the tree, uncommitted.
fn failed_lane(workspace: &Workspace, work: &UncommittedRun) -> Option<LaneDraft> {
    if work.run.is_held || work.passed() {
        return None;
    }
    let manifest = &work.run.stored.manifest;
    // Once what was outside is undone, nothing of the rest waits for anybody.
    let is_scope_alone = manifest.reasons().iter().all(|reason| *reason == ReasonCode::ReconUntrackedDelta);
    if is_scope_alone && work.paths.values().all(|is_inside| *is_inside) {
        return None;
    }
    let run_id = &work.run.first_run_id;
    let title = command_words(manifest).unwrap_or_else(|| format!("run {run_id}"));
    let mut lane = lane(run_id.clone(), ReviewedKind::Run, title, LaneState::Failed);
    let mut changed = Vec::new();
    for change in &work.run.changes {
        let Some(is_inside) = work.paths.get(&change.path) else { continue };
        let fate = if *is_inside { PathFate::Inside } else { PathFate::Outside };
        let mut lines = 1;
        if changed.len() < MAX_COUNTED_FILES
            && let (Some(before), Some(after)) =
                (text_of(&work.run.before(workspace, change)), text_of(&work.run.after(workspace, change)))
        {
            let (added, removed) = n_changed_lines(before, after);
            (lane.lines_added, lane.lines_removed) = (lane.lines_added + added, lane.lines_removed + removed);
            lines = added + removed;
        }
        changed.push((change.path.clone(), fate, lines));
    }
    lane.n_in_tree = changed.len();
    lane.agent = agent_name(manifest);
    lane.reason = manifest.reasons().first().map(|reason| reason.as_str().to_owned());
    lane.reason_words = why_not_passed(manifest);
    lane.since = Some(manifest.created_at.clone());
    let scope = ScopeFacts::of(&manifest.plan.scope, &manifest.amendments);
    lane.scope = scope.clauses.iter().map(|clause| clause.pattern.clone()).collect();
    let mut patterns = manifest.plan.scope.clone();
    manifest.amendments.iter().for_each(|amendment| patterns.extend(&amendment.add));
    let parsed = patterns.to_scope().ok();
    Some(LaneDraft { lane, claim: LaneClaim::Patterns(patterns.as_slice().to_vec(), parsed), changed })
}

/// The text of a side, for counting; what is not there has none, and what cannot be read is not counted.
fn text_of(side: &SideContent) -> Option<&[u8]> {
    match side {
        SideContent::Absent => Some(b""),
        SideContent::Content(bytes) if !probity_line_diff::is_binary(bytes) => Some(bytes),
        _ => None,
    }
}

fn open_run_lane(workspace: &Workspace, run: &RunLine) -> LaneDraft {
    let title = format!("Run {}", short_id(&run.run_id));
    let mut lane = lane(run.run_id.clone(), ReviewedKind::Run, title, LaneState::Editing);
    let mut scope = ScopeFacts::of(&run.scope, &[]);
    let mut changed = Vec::new();
    if let Some(diff) = held::layer_diff(workspace, &run.run_id, &[]).ok().filter(|_| run.is_here) {
        lane.has_view = true;
        for change in diff.changes {
            let (is_inside, _) = scope.decide(&change.path);
            let fate = if is_inside { PathFate::Inside } else { PathFate::Outside };
            lane.lines_added += change.lines_added;
            lane.lines_removed += change.lines_removed;
            changed.push((change.path, fate, change.lines_added + change.lines_removed));
        }
    }
    lane.agent = sealed_agent(workspace, &run.run_id);
    lane.since = Some(run.since.clone());
    lane.is_here = run.is_here;
    lane.scope = scope.clauses.iter().map(|clause| clause.pattern.clone()).collect();
    let claim = LaneClaim::Patterns(run.scope.as_slice().to_vec(), run.scope.to_scope().ok());
    LaneDraft { lane, claim, changed }
}

fn intent_lane(
    workspace: &Workspace,
    intent: &IntentLine,
    dirty: &[&RepoPath],
    committed: &CommitContents,
    stale: &StaleBases<'_>,
) -> LaneDraft {
    let status = match (intent.status, intent.ownership) {
        (IntentStatus::Queued, _) => LaneState::Queued,
        (IntentStatus::Landing, _) => LaneState::Landed,
        (_, Ownership::Recoverable) => LaneState::Recoverable,
        _ if intent.lease_left_seconds == 0 => LaneState::Silent,
        _ => LaneState::Editing,
    };
    let mut lane =
        lane(intent.intent_id.as_str().to_owned(), ReviewedKind::Intent, intent.description.clone(), status);
    lane.agent = Some(intent.agent.clone());
    lane.machine = Some(intent.owner.host.clone());
    lane.since = Some(intent.since.clone());
    lane.scope = intent.allowed_files.iter().map(ToString::to_string).collect();
    lane.lease_left_seconds = (intent.status == IntentStatus::Active).then_some(intent.lease_left_seconds);
    lane.queue_position = intent.queue_position;
    lane.is_here = intent.is_here;
    if let Some(known) = stale.service.registry().intent(&intent.intent_id).filter(|it| it.lease.seconds > 0)
    {
        let share = intent.lease_left_seconds * 100 / known.lease.seconds;
        lane.lease_share = lane.lease_left_seconds.map(|_| u32::try_from(share.min(100)).unwrap_or(100));
    }
    stale.tell(intent, &mut lane);
    let entries: Vec<ScopeEntry> = intent.allowed_files.iter().cloned().collect();
    let mut changed = Vec::new();
    if intent.is_here && intent.status == IntentStatus::Active && intent.n_dirty > 0 {
        let is_own = |path: &RepoPath| entries.iter().any(|entry| entry.covers(path.as_bytes()));
        for path in dirty.iter().filter(|path| is_own(path)) {
            let mut lines = 1;
            if changed.len() < MAX_COUNTED_FILES
                && let Some((added, removed)) = committed.changed_lines(workspace, path)
            {
                (lane.lines_added, lane.lines_removed) =
                    (lane.lines_added + added, lane.lines_removed + removed);
                lines = added + removed;
            }
            changed.push(((*path).clone(), PathFate::Inside, lines));
        }
    }
    LaneDraft { lane, claim: LaneClaim::Entries(entries), changed }
}

/// Which intents began from an older commit, and which of their paths others changed since.
struct StaleBases<'a> {
    service: &'a IntentService,
    head: Option<&'a str>,
    /// For each older commit: the commits since, and the changed paths.
    older: BTreeMap<String, (u64, BTreeSet<RepoPath>)>,
}

impl<'a> StaleBases<'a> {
    /// Commits that are compared with the present one.
    const MAX_BASES: usize = 4;

    fn new(workspace: &Workspace, service: &'a IntentService, head: Option<&'a str>) -> Self {
        let mut stale = Self { service, head, older: BTreeMap::new() };
        let (Some(layout), Some(head)) = (&workspace.git, head) else { return stale };
        let bases: BTreeSet<String> =
            service.registry().open_intents().filter_map(|intent| intent.base.head.clone()).collect();
        let now = commit_tree(workspace, head).unwrap_or_default();
        for base in bases.into_iter().filter(|base| base != head).take(Self::MAX_BASES) {
            let (Ok(n_commits), Ok(then)) =
                (git::count_commits(layout, &base, head), commit_tree(workspace, &base))
            else {
                continue;
            };
            let names: BTreeSet<&RepoPath> = then.keys().chain(now.keys()).collect();
            let changed =
                names.into_iter().filter(|path| then.get(*path) != now.get(*path)).cloned().collect();
            stale.older.insert(base, (n_commits, changed));
        }
        stale
    }

    fn tell(&self, intent: &IntentLine, lane: &mut BoardLane) {
        let base =
            self.service.registry().intent(&intent.intent_id).and_then(|known| known.base.head.as_deref());
        let Some((n_commits, changed)) =
            base.filter(|base| Some(*base) != self.head).and_then(|it| self.older.get(it))
        else {
            return;
        };
        lane.base_behind = Some(*n_commits);
        let is_own =
            |path: &&RepoPath| intent.allowed_files.iter().any(|entry| entry.covers(path.as_bytes()));
        lane.base_moved = changed.iter().filter(is_own).take(MAX_NAMED_PATHS).cloned().collect();
    }
}

fn touched_paths(drafts: &[LaneDraft]) -> Vec<Vec<u8>> {
    let mut touched: Vec<Vec<u8>> = Vec::new();
    for draft in drafts {
        touched.extend(draft.changed.iter().map(|(path, _, _)| path.as_bytes().to_vec()));
        match &draft.claim {
            LaneClaim::Entries(entries) => {
                touched.extend(entries.iter().map(|entry| entry.as_bytes().to_vec()));
            }
            LaneClaim::Patterns(patterns, _) => {
                let stem = |pattern: &Vec<u8>| {
                    let end = pattern.iter().position(|byte| b"*?[{".contains(byte)).unwrap_or(pattern.len());
                    pattern[..end].to_vec()
                };
                touched.extend(
                    patterns.iter().filter(|it| !it.starts_with(b"!")).map(stem).filter(|it| !it.is_empty()),
                );
            }
        }
    }
    touched
}

impl LaneClaim {
    fn lots(&self, map: &BoardMap) -> Vec<(u32, u32)> {
        match self {
            Self::Entries(entries) => {
                entries.iter().flat_map(|entry| map.subtree(entry.as_bytes())).collect()
            }
            Self::Patterns(patterns, Some(scope)) => map.scope(scope, patterns),
            Self::Patterns(_, None) => Vec::new(),
        }
    }

    /// Returns the entries of `other` that this claim reaches.
    fn shared_with(&self, other: &Self) -> Vec<Vec<u8>> {
        match (self, other) {
            (Self::Entries(own), Self::Entries(others)) => {
                let meets = |entry: &&ScopeEntry| {
                    own.iter().any(|it| it.covers(entry.as_bytes()) || entry.covers(it.as_bytes()))
                };
                others.iter().filter(meets).map(|entry| entry.as_bytes().to_vec()).collect()
            }
            (Self::Patterns(_, Some(scope)), Self::Entries(entries)) => {
                let meets = |entry: &&ScopeEntry| {
                    RepoPath::parse(entry.as_bytes()).is_ok_and(|path| scope.contains(&path))
                };
                entries.iter().filter(meets).map(|entry| entry.as_bytes().to_vec()).collect()
            }
            (Self::Entries(_), Self::Patterns(..)) => other.shared_with(self),
            _ => Vec::new(),
        }
    }
}

fn overlaps(drafts: &[LaneDraft], map: &BoardMap) -> Vec<BoardOverlap> {
    let mut found: Vec<BoardOverlap> = Vec::new();
    for (index, draft) in drafts.iter().enumerate() {
        for other in drafts[index + 1..].iter().filter(|other| other.lane.is_here && draft.lane.is_here) {
            let shared = draft.claim.shared_with(&other.claim);
            for entry in shared.iter().take(MAX_NAMED_PATHS) {
                let lots = map.subtree(entry);
                let Some((start, width)) = lots.first().copied() else { continue };
                let changes = vec![draft.lane.change.clone(), other.lane.change.clone()];
                found.push(BoardOverlap { start, width, paths: vec![escape(entry)], changes });
            }
        }
    }
    found
}

fn place_lane(draft: LaneDraft, map: &BoardMap) -> BoardLane {
    let LaneDraft { mut lane, claim, mut changed } = draft;
    lane.lots = claim.lots(map);
    lane.n_paths = changed.len();
    lane.n_outside = changed.iter().filter(|(_, fate, _)| *fate == PathFate::Outside).count();
    // Outside paths are never left out.
    changed.sort_by_key(|(path, fate, _)| (*fate != PathFate::Outside, path.clone()));
    let bars = changed.into_iter().take(MAX_BARS).map(|(path, fate, lines)| {
        let at = map.place(path.as_bytes());
        LanePath { path, fate, at, lines }
    });
    lane.paths = bars.collect();
    lane.actions = options::board_actions(&lane);
    lane
}

fn needs(lanes: &[BoardLane]) -> Vec<BoardNeed> {
    let mut needs: Vec<BoardNeed> = Vec::new();
    for lane in lanes {
        let who = lane.agent.clone().unwrap_or_else(|| format!("run {}", short_id(&lane.change)));
        let need = |kind, sentence: String, paths: Vec<RepoPath>, note: &str| BoardNeed {
            kind,
            change: lane.change.clone(),
            who: who.clone(),
            sentence,
            paths,
            note: note.to_owned(),
            since: lane.since.clone(),
            action: None,
        };
        let outside: Vec<RepoPath> = lane
            .paths
            .iter()
            .filter(|path| path.fate == PathFate::Outside)
            .map(|path| path.path.clone())
            .collect();
        match lane.state {
            LaneState::Held | LaneState::Failed if !outside.is_empty() => {
                let sentence = format!("was to change only {}, and also changed", scope_words(&lane.scope));
                needs.push(need(NeedKind::Outside, sentence, outside, place_words(lane)));
            }
            LaneState::Held | LaneState::Failed => {
                let why = lane.reason_words.clone().unwrap_or_else(|| "it did not pass".to_owned());
                let sentence = format!("did not pass: {why}");
                needs.push(need(NeedKind::Failed, sentence, Vec::new(), place_words(lane)));
            }
            LaneState::Ready => needs.push(BoardNeed {
                action: Some(DecisionAction::Land),
                ..need(
                    NeedKind::Ready,
                    format!("passed and waits to land {}", count(lane.n_paths, "path")),
                    Vec::new(),
                    if lane.base_moved.is_empty() { "nothing in the way" } else { "the tree moved on" },
                )
            }),
            LaneState::Recoverable => needs.push(BoardNeed {
                action: Some(DecisionAction::Recover),
                ..need(
                    NeedKind::Recoverable,
                    "is gone, and its claim is left".into(),
                    Vec::new(),
                    "its process ended",
                )
            }),
            _ => {}
        }
        if !lane.base_moved.is_empty() && lane.state != LaneState::Queued {
            let sentence = match lane.base_behind {
                Some(n) => format!(
                    "is {} behind; others since changed",
                    count(usize::try_from(n).unwrap_or(0), "commit")
                ),
                None => "waits; the tree has since changed at".to_owned(),
            };
            needs.push(need(NeedKind::Stale, sentence, lane.base_moved.clone(), "look before it lands"));
        }
    }
    needs
}

/// Patterns that are named in a sentence.
const MAX_NAMED_PATTERNS: usize = 2;

fn scope_words(scope: &[String]) -> String {
    let named: Vec<String> =
        scope.iter().take(MAX_NAMED_PATTERNS).map(|pattern| format!("`{pattern}`")).collect();
    match scope.len().saturating_sub(MAX_NAMED_PATTERNS) {
        0 if named.is_empty() => "nothing".to_owned(),
        0 => named.join(" and "),
        n => format!("{} and {n} more", named.join(", ")),
    }
}

/// Where the changes of a lane are, in words.
const fn place_words(lane: &BoardLane) -> &'static str {
    match (lane.state, lane.n_in_tree) {
        (LaneState::Failed, _) => "it is in the tree",
        (_, 0) => "held, tree untouched",
        (_, _) => "the rest is held",
    }
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

/// Returns the changes that ended, newest first: runs by the log, and closed intents.
pub fn finished_changes(workspace: &Workspace, limit: usize) -> Result<Vec<BoardLane>, ServiceError> {
    let chained = bundles::chained(workspace)?;
    let held: BTreeSet<String> = workspace.state.layers()?.into_iter().collect();
    let mut lanes = Vec::new();
    let is_run = |details: &probity_evidence::ManifestDetails| {
        details.lands.is_none()
            && details.reverts.is_none()
            && details.pruned.is_none()
            && details.amended_from.is_none()
    };
    // An amended run is judged by the bundle of its last amendment.
    let mut first_hash: BTreeMap<Digest, Digest> = BTreeMap::new();
    let mut judged: BTreeMap<Digest, &StoredManifest> = BTreeMap::new();
    for stored in &chained {
        if let Some(from) = stored.manifest.details.amended_from {
            let first = first_hash.get(&from).copied().unwrap_or(from);
            first_hash.insert(stored.run_hash, first);
            judged.insert(first, stored);
        }
    }
    for first in chained.iter().rev().filter(|stored| is_run(&stored.manifest.details)).take(limit) {
        let stored = judged.get(&first.run_hash).copied().unwrap_or(first);
        let manifest = &stored.manifest;
        let run_id = &first.manifest.run_id;
        let state = match crate::run_review::run_state(stored, held.contains(run_id), &chained) {
            ReviewState::Held => LaneState::Held,
            ReviewState::Ready => LaneState::Ready,
            ReviewState::Landed => LaneState::Landed,
            ReviewState::Undone => LaneState::Undone,
            _ => LaneState::Failed,
        };
        let title = command_words(manifest).unwrap_or_else(|| format!("run {run_id}"));
        let mut lane = lane(run_id.clone(), ReviewedKind::Run, title, state);
        lane.agent = agent_name(manifest);
        lane.since = Some(manifest.created_at.clone());
        lane.n_paths = manifest.delta.as_ref().map_or(0, Vec::len);
        lane.n_outside = manifest.untracked().map_or(0, |paths| paths.len());
        lane.reason = manifest.reasons().first().map(|reason| reason.as_str().to_owned());
        lane.reason_words = why_not_passed(manifest);
        lanes.push(lane);
    }
    let service = IntentService::open(workspace)?;
    let mut closed: Vec<_> =
        service.registry().intents().filter(|intent| intent.status.is_closed()).collect();
    closed.sort_by_key(|intent| std::cmp::Reverse(intent.closed_at));
    let receipts = ReceiptStore::open(workspace);
    for intent in closed.into_iter().take(limit) {
        let state = match intent.status {
            IntentStatus::Released => LaneState::Landed,
            _ => LaneState::Undone,
        };
        let mut lane =
            lane(intent.id.as_str().to_owned(), ReviewedKind::Intent, intent.description.clone(), state);
        lane.agent = Some(intent.owner.label.clone());
        lane.machine = Some(intent.owner.host.clone());
        lane.since = intent.closed_at.map(format_time);
        let receipt = intent.receipt.and_then(|digest| receipts.by_digest(&digest).ok().flatten());
        if let Some(receipt) = receipt {
            lane.n_paths = crate::intent_review::n_recorded_paths(&receipt);
            if !receipt.head.status().is_accepted() {
                lane.state = LaneState::Failed;
            }
        }
        lane.scope = intent.scope.allowed_files.iter().map(ToString::to_string).collect();
        lanes.push(lane);
    }
    lanes.sort_by(|one, other| other.since.cmp(&one.since));
    lanes.truncate(limit);
    Ok(lanes)
}
