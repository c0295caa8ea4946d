//! The review of the uncommitted work in a tree that several agents share.

use crate::commit_contents::CommitContents;
use crate::file_sides::{FileSides, present_content};
use crate::run_review::path_row;
use crate::uncommitted_runs::uncommitted_runs;
use probity_api::change::{DirtyGroup, IntentLine, StatusAnswer};
use probity_api::review::{ChangeReview, PathFate, ReviewClause, ReviewPath, ReviewedKind};
use probity_changes::registry::{AgentLabel, Caller, CallerCredentials};
use probity_core::text::count;
use probity_evidence::ChangeKind;
use probity_intents::ScopeEntry;
use probity_intents::hygiene::DirtyStatus;
use probity_paths::RepoPath;
use probity_workspace::worktree::WorktreeStatus;
use probity_workspace::{ServiceError, Workspace};

/// A reader who owns no intent.
pub(crate) fn reader() -> Caller {
    let label = AgentLabel::Assumed(probity_workspace::user_name());
    CallerCredentials { handle: None, label, pid: None }.caller()
}

/// Returns the dirty paths that are meant, with their counts.
pub(crate) fn dirty_rows(
    workspace: &Workspace,
    is_meant: &dyn Fn(&RepoPath) -> bool,
) -> Result<Vec<ReviewPath>, ServiceError> {
    let policy = workspace.load_policy()?.policy;
    let look = WorktreeStatus::observe(workspace, &policy)?;
    let meant = look.state.dirty.keys().filter(|path| is_meant(path));
    let committed = CommitContents::of_paths(workspace, look.state.head.as_deref(), meant)?;
    let mut rows = Vec::new();
    for (path, entry) in look.state.dirty.iter().filter(|(path, _)| is_meant(path)) {
        let change = match entry.status {
            DirtyStatus::Added => ChangeKind::Added,
            DirtyStatus::Deleted => ChangeKind::Deleted,
            DirtyStatus::Modified | DirtyStatus::TypeChanged => ChangeKind::Modified,
        };
        let mut row = path_row(path.clone(), change, PathFate::Unjudged);
        row.in_tree = Some(true);
        let sides = FileSides { before: committed.get(path), after: present_content(workspace, path) };
        sides.describe(&mut row);
        rows.push(row);
    }
    Ok(rows)
}

/// Returns who holds an uncommitted path, as the status says.
pub(crate) fn owner_of(status: &StatusAnswer, path: &RepoPath) -> Option<String> {
    let has = |group: &DirtyGroup| group.paths.contains(path);
    let holder = status.intents.iter().find(|intent| {
        let covers = |entry: &ScopeEntry| entry.covers(path.as_bytes());
        intent.is_here && intent.queue_position.is_none() && intent.allowed_files.iter().any(covers)
    });
    if let Some(intent) = holder {
        return Some(intent.agent.clone());
    }
    status
        .dirty
        .finished
        .iter()
        .find(|group| has(&group.changed))
        .map(|group| format!("{}, finished", group.agent))
}

/// More claims are not shown.
const MAX_CLAIMS: usize = 100;

/// Returns the paths that open intents of this tree claim, those with changes first.
fn claims_of(status: &StatusAnswer) -> (Vec<ReviewClause>, Vec<ScopeEntry>) {
    let is_claim = |intent: &&IntentLine| intent.is_here && intent.queue_position.is_none();
    let mut intents: Vec<&IntentLine> = status.intents.iter().filter(is_claim).collect();
    intents.sort_by_key(|intent| std::cmp::Reverse(intent.n_dirty));
    let claims =
        intents.into_iter().flat_map(|intent| intent.allowed_files.iter().map(move |it| (intent, it)));
    let clause = |(intent, entry): (&IntentLine, &ScopeEntry)| {
        let clause = ReviewClause {
            pattern: entry.to_string(),
            excludes: false,
            amendment: None,
            n_decided: 0,
            owner: Some(intent.agent.clone()),
        };
        (clause, entry.clone())
    };
    claims.take(MAX_CLAIMS).map(clause).unzip()
}

/// Whose the paths are.
fn owners_sentence(n_all: usize, n_unclaimed: usize, n_left: usize) -> String {
    let mut sentences = Vec::new();
    if n_all == 0 {
        sentences.push("Nothing differs from the commit.".to_owned());
    } else if n_unclaimed == n_all {
        sentences.push("Nobody claims these paths: no open change names them.".to_owned());
    } else if n_unclaimed > 0 {
        sentences.push(format!("Nobody claims {n_unclaimed} of these paths."));
    }
    if n_left > 0 {
        sentences.push(format!("Runs that ended left {}.", count(n_left, "path")));
    }
    if n_all > n_unclaimed + n_left {
        sentences.push("What an open change claims is judged when it finishes.".to_owned());
    }
    sentences.join(" ")
}

/// Reviews everything that differs from the commit.
pub(crate) fn worktree(workspace: &Workspace) -> Result<ChangeReview, ServiceError> {
    let status = probity_changes::status(workspace, &reader(), None)?;
    let mut paths = dirty_rows(workspace, &|_| true)?;
    let (mut clauses, entries) = claims_of(&status);
    let left = uncommitted_runs(workspace, paths.iter().map(|row| &row.path))?;
    let mut n_left = 0;
    for row in &mut paths {
        row.owner = owner_of(&status, &row.path);
        row.clause = entries.iter().position(|entry| entry.covers(row.path.as_bytes()));
        if let Some(clause) = row.clause.and_then(|index| clauses.get_mut(index)) {
            clause.n_decided += 1;
        }
        let run = left.iter().find_map(|run| Some((run, *run.paths.get(&row.path)?)));
        if let Some((run, is_inside)) = run.filter(|_| row.owner.is_none() && row.clause.is_none()) {
            row.owner = Some(run.owner());
            row.fate = if is_inside { PathFate::Inside } else { PathFate::Outside };
            n_left += 1;
        }
    }
    let n_unclaimed = paths.iter().filter(|row| row.owner.is_none()).count();
    let mut notes = vec![owners_sentence(paths.len(), n_unclaimed, n_left)];
    if status.dirty.count > paths.len() {
        notes.push(format!("{} more are not listed", count(status.dirty.count - paths.len(), "path")));
    }
    Ok(ChangeReview {
        base: status.head,
        clauses,
        paths,
        notes,
        ..ChangeReview::unjudged("worktree".into(), ReviewedKind::Worktree, "Uncommitted work".into())
    })
}
