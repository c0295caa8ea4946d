//! Both contents of the paths of a change, from wherever that kind of change keeps them.

use crate::change_name::ChangeName;
use crate::commit_contents::CommitContents;
use crate::file_sides::{FileSides, open_layer_sides, present_content};
use crate::intent_review::{self, RecordedPath};
use probity_core::ReasonCode;
use probity_paths::RepoPath;
use probity_quality::contract::receipts::ReceiptStore;
use probity_runner::recorded_contents::RecordedRun;
use probity_workspace::{ServiceError, Workspace, git};

/// Where the contents of a change are. Opened once for all of its files: the evidence of a large run takes long to read.
#[derive(Debug)]
pub struct ChangeContents(ContentPlaces);

#[derive(Debug)]
enum ContentPlaces {
    Run(Box<RecordedRun>),
    OpenRun(String),
    /// The paths of the receipt, and the commit that the intent began from.
    Receipt {
        recorded: Vec<RecordedPath>,
        base: Option<String>,
    },
    Range {
        base: String,
        head: String,
    },
    Worktree,
}

impl ChangeContents {
    pub(crate) fn of_run(run: RecordedRun) -> Self {
        Self(ContentPlaces::Run(Box::new(run)))
    }

    /// Finds where the contents of a change are.
    pub fn open(workspace: &Workspace, name: &ChangeName) -> Result<Self, ServiceError> {
        Ok(Self(match name {
            ChangeName::Run(id) => ContentPlaces::Run(Box::new(RecordedRun::open(workspace, id)?.0)),
            ChangeName::OpenRun(id) => ContentPlaces::OpenRun(id.clone()),
            ChangeName::Intent(id) => {
                let receipts = ReceiptStore::open(workspace);
                match intent_review::recorded_delta(&receipts, workspace, id)? {
                    Some(recorded) => {
                        let base = intent_review::base_commit(workspace, id)?;
                        ContentPlaces::Receipt { recorded, base }
                    }
                    None => ContentPlaces::Worktree,
                }
            }
            ChangeName::Range { base, head } => {
                ContentPlaces::Range { base: base.clone(), head: head.clone() }
            }
            ChangeName::Worktree => ContentPlaces::Worktree,
        }))
    }

    /// Returns both contents of one path.
    pub fn sides(&self, workspace: &Workspace, path: &RepoPath) -> Result<FileSides, ServiceError> {
        let mut sides = self.all_sides(workspace, &[path])?;
        sides.pop().ok_or_else(|| no_change(path))
    }

    /// Returns both contents of some paths in their order, with few processes of git however many they are.
    pub fn all_sides(
        &self,
        workspace: &Workspace,
        paths: &[&RepoPath],
    ) -> Result<Vec<FileSides>, ServiceError> {
        let at = |commit: Option<&str>| CommitContents::of_paths(workspace, commit, paths.iter().copied());
        match &self.0 {
            ContentPlaces::Run(run) => paths.iter().map(|path| run_sides(workspace, run, path)).collect(),
            ContentPlaces::OpenRun(id) => {
                Ok(paths.iter().map(|path| open_layer_sides(workspace, id, path)).collect())
            }
            ContentPlaces::Receipt { recorded, base } => {
                let one = |path: &&RepoPath| {
                    let entry = recorded.iter().find(|entry| entry.path == **path);
                    let entry = entry.ok_or_else(|| no_change(path))?;
                    Ok(intent_review::recorded_sides(workspace, base.as_deref(), entry))
                };
                paths.iter().map(one).collect()
            }
            ContentPlaces::Range { base, head } => {
                let (before, after) = (at(Some(base))?, at(Some(head))?);
                let one = |path: &&RepoPath| FileSides { before: before.get(path), after: after.get(path) };
                Ok(paths.iter().map(one).collect())
            }
            ContentPlaces::Worktree => {
                let before = at(git::head(workspace)?.as_deref())?;
                let one = |path: &&RepoPath| FileSides {
                    before: before.get(path),
                    after: present_content(workspace, path),
                };
                Ok(paths.iter().map(one).collect())
            }
        }
    }
}

fn run_sides(workspace: &Workspace, run: &RecordedRun, path: &RepoPath) -> Result<FileSides, ServiceError> {
    let change = run.changes.iter().find(|change| change.path == *path).ok_or_else(|| no_change(path))?;
    Ok(FileSides { before: run.before(workspace, change), after: run.after(workspace, change) })
}

fn no_change(path: &RepoPath) -> ServiceError {
    ServiceError::refused(ReasonCode::PathInvalid, format!("`{path}` is no path of this change"))
}
