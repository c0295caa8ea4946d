//! Which uncommitted paths are the work of runs that ended: known by content, as nothing in a shared tree names a writer.

use crate::file_sides::present_content;
use crate::run_review::ScopeFacts;
use probity_core::Digest;
use probity_core::text::short_id;
use probity_paths::RepoPath;
use probity_runner::bundles;
use probity_runner::recorded_contents::{RecordedRun, SideContent};
use probity_workspace::{ServiceError, Workspace};
use std::collections::{BTreeMap, BTreeSet};

/// Runs that are looked at, the newest ones.
const MAX_RUNS: usize = 50;
/// Paths that are looked for: each is read.
const MAX_PATHS: usize = 400;

/// A run that ended, and its work among the uncommitted paths.
#[derive(Debug)]
pub(crate) struct UncommittedRun {
    pub(crate) run: RecordedRun,
    /// Each path that still is as the run left it, and whether the scope lets it in.
    pub(crate) paths: BTreeMap<RepoPath, bool>,
}

impl UncommittedRun {
    pub(crate) fn passed(&self) -> bool {
        self.run.stored.manifest.reasons().is_empty()
    }

    /// Names the agent and the run.
    pub(crate) fn owner(&self) -> String {
        let run = format!("run {}", short_id(&self.run.first_run_id));
        match crate::run_review::agent_name(&self.run.stored.manifest) {
            Some(agent) => format!("{agent}, {run}"),
            None => run,
        }
    }
}

/// What a path holds, as far as it is compared.
#[derive(Debug, PartialEq, Eq)]
enum ComparedContent {
    Absent,
    Digest(Digest),
    /// It is too large to be read, or neither a file nor a link.
    Unknown,
}

fn present_state(workspace: &Workspace, path: &RepoPath) -> ComparedContent {
    match present_content(workspace, path) {
        SideContent::Absent => ComparedContent::Absent,
        SideContent::Content(bytes) => ComparedContent::Digest(Digest::of(&bytes)),
        SideContent::TooLarge(_) | SideContent::Lost | SideContent::Special(_) => ComparedContent::Unknown,
    }
}

/// Finds the runs that left these paths as they are, newest first. A path belongs to the newest one that did.
pub(crate) fn uncommitted_runs<'p>(
    workspace: &Workspace,
    dirty: impl Iterator<Item = &'p RepoPath>,
) -> Result<Vec<UncommittedRun>, ServiceError> {
    let mut wanted: BTreeSet<&RepoPath> = dirty.collect();
    let mut found = Vec::new();
    if wanted.is_empty() {
        return Ok(found);
    }
    let newest = bundles::newest_chained(workspace, MAX_RUNS)?;
    // Only what some run changed is read.
    let changed: BTreeSet<&RepoPath> =
        newest.iter().flat_map(|stored| stored.manifest.delta.iter().flatten()).map(|it| &it.path).collect();
    wanted.retain(|path| changed.contains(path));
    let mut present: BTreeMap<&RepoPath, ComparedContent> =
        wanted.into_iter().take(MAX_PATHS).map(|path| (path, present_state(workspace, path))).collect();
    for stored in newest.iter().rev() {
        let details = &stored.manifest.details;
        // A landing, a revert and a new judgment are about what another run made.
        if details.lands.is_some() || details.reverts.is_some() || details.amended_from.is_some() {
            continue;
        }
        if !stored.manifest.delta.iter().flatten().any(|change| present.contains_key(&change.path)) {
            continue;
        }
        let Ok(run) = RecordedRun::open_among(workspace, &newest, &stored.manifest.run_id) else { continue };
        let mut scope = ScopeFacts::of(&run.stored.manifest.plan.scope, &run.stored.manifest.amendments);
        let mut paths = BTreeMap::new();
        for change in &run.changes {
            let left = match change.after.as_ref().map(|side| side.digest) {
                None => ComparedContent::Absent,
                Some(Some(digest)) => ComparedContent::Digest(digest),
                // An entry without a digest, such as a directory, says nothing about its content.
                Some(None) => continue,
            };
            if present.get(&change.path) == Some(&left) {
                present.remove(&change.path);
                paths.insert(change.path.clone(), scope.decide(&change.path).0);
            }
        }
        if !paths.is_empty() {
            found.push(UncommittedRun { run, paths });
        }
    }
    Ok(found)
}
