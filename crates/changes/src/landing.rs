//! Finds finished work on the branches of the remote, and ends its wait.
//!
//! A finish usually comes before the commit, so no commit is known: the work has landed when a commit behind the one that
//! the change started from has the contents that the finish saw. Only what this clone fetched or pushed is looked at. That
//! also finds squashed and rebased commits.

use crate::registry::{IntentService, TreeFacts};
use crate::team_context::{TeamContext, code_remote, tip_of_branch};
use probity_api::change::{LandedChange, LandingHold};
use probity_core::Digest;
use probity_intents::coherence::LineChange;
use probity_intents::registry::{Intent, RegistryAction};
use probity_intents::{IntentId, IntentOwner, IntentScope, IntentStatus, overlap};
use probity_paths::RepoPath;
use probity_snapshot::GitId;
use probity_snapshot::git::GitLayout;
use probity_storage::StoreError;
use probity_team::TeamMembership;
use probity_workspace::{ServiceError, Workspace, git, git_history};
use std::collections::{BTreeMap, BTreeSet};

/// How many commits of a branch are looked at, and how many files of them together.
const MAX_COMMITS: usize = 200;
const MAX_FILES: usize = 20_000;

/// Looks for the work of some intents on the branches of the remote, and ends the wait of those that are there.
pub(crate) fn land_found(
    workspace: &Workspace,
    team: &TeamContext,
    service: &mut IntentService,
    by: &IntentOwner,
    ids: &BTreeSet<IntentId>,
) -> Result<Vec<LandedChange>, ServiceError> {
    let Some(git) = &workspace.git else { return Ok(Vec::new()) };
    if ids.is_empty() || service.offline().is_some() {
        return Ok(Vec::new());
    }
    let branches = branches_of_team(team, git)?;
    let mut landed = Vec::new();
    for id in ids {
        let Some(change) = service.registry().contents_of(id).cloned() else { continue };
        let Some(intent) = service.registry().intent(id).cloned() else { continue };
        let search = LandingSearch { workspace, team, git };
        let Some((commit, branch)) = search.find(&intent, &change, &branches)? else { continue };
        let (commit, agent) = (commit.to_string(), change.agent.clone());
        let action =
            RegistryAction::Land { intent_id: id.clone(), commit: commit.clone(), branch: branch.clone() };
        match service.execute(by, action, &TreeFacts::default()) {
            Ok(done) if done.event.is_some() => {
                landed.push(LandedChange { intent_id: id.clone(), agent, commit, branch });
            }
            // Somebody else saw it first.
            Ok(_) | Err(ServiceError::Intent(_)) => {}
            // What was seen stays on the remote: a later command finds it again.
            Err(ServiceError::Store(StoreError::Unreachable { .. })) => break,
            Err(fault) => return Err(fault),
        }
    }
    Ok(landed)
}

/// Returns the finished intents whose work may have arrived on its line without anybody having seen it.
pub(crate) fn not_on_line(service: &IntentService, team: &TeamContext) -> BTreeSet<IntentId> {
    let is_open_question = |intent: &&Intent| {
        let is_finished = matches!(intent.status, IntentStatus::Landing | IntentStatus::Released);
        is_finished
            && intent.base.line == team.line
            && service.registry().contents_of(&intent.id).is_some_and(|change| !change.is_on_line())
    };
    service.registry().intents().filter(is_open_question).map(|intent| intent.id.clone()).collect()
}

/// Looks for finished work on paths of `scope`, so that a start or a finish judges by what this clone knows.
pub(crate) fn land_found_in(
    workspace: &Workspace,
    team: &TeamContext,
    service: &mut IntentService,
    by: &IntentOwner,
    scope: &IntentScope,
) -> Result<Vec<LandedChange>, ServiceError> {
    let mut ids = not_on_line(service, team);
    let registry = service.registry();
    ids.retain(|id| registry.intent(id).is_some_and(|intent| overlap(scope, &intent.scope)));
    land_found(workspace, team, service, by, &ids)
}

/// Returns the branches of the team's remote as this clone last saw them, by name, the line first.
fn branches_of_team(team: &TeamContext, git: &GitLayout) -> Result<Vec<(String, GitId)>, ServiceError> {
    let all = git_history::remote_branches(git)?;
    let names: BTreeSet<&str> =
        all.iter().filter_map(|(name, _)| name.split_once('/')).map(|(remote, _)| remote).collect();
    let address = code_remote(git, &team.membership.store)?;
    let mut of_team = None;
    for name in &names {
        if address.is_some() && git_history::remote_address(git, name)? == address {
            of_team = Some((*name).to_owned());
        }
    }
    // An address can be written in several ways.
    let remote = of_team.or_else(|| names.get("origin").or(names.first()).map(|name| (*name).to_owned()));
    let Some(remote) = remote else { return Ok(Vec::new()) };
    let below = format!("{remote}/");
    let mut branches: Vec<(String, GitId)> = all
        .iter()
        .filter_map(|(name, id)| Some((name.strip_prefix(&below)?.to_owned(), id.clone())))
        .collect();
    branches.sort_by_key(|(name, _)| (Some(name) != team.line.as_ref(), name.clone()));
    Ok(branches)
}

struct LandingSearch<'a> {
    workspace: &'a Workspace,
    team: &'a TeamContext,
    git: &'a GitLayout,
}

impl LandingSearch<'_> {
    fn find(
        &self,
        intent: &Intent,
        change: &LineChange,
        branches: &[(String, GitId)],
    ) -> Result<Option<(GitId, String)>, ServiceError> {
        let any_branch = matches!(self.team.hold(), Some((LandingHold::Push, _)) | None)
            && intent.status == IntentStatus::Landing;
        for (branch, tip) in branches.iter().filter(|(branch, _)| any_branch || *branch == change.line) {
            let commits = self.commits(intent, branch, tip)?;
            if let Some(commit) = self.first_with(&commits, &change.became)? {
                return Ok(Some((commit, branch.clone())));
            }
        }
        Ok(None)
    }

    /// Returns the commits of a branch that may have the work: none that the change started from. A clone that lacks that
    /// commit can only look at the tip, and only if the remote still has it there: an older one may happen to have the
    /// same contents.
    fn commits(&self, intent: &Intent, branch: &str, tip: &GitId) -> Result<Vec<GitId>, ServiceError> {
        let start = intent.base.head.as_ref().and_then(|head| GitId::from_hex(head.as_bytes()));
        if let Some(start) = &start
            && let Some(commits) = git_history::newest_commits(self.git, tip, start, MAX_COMMITS)?
        {
            return Ok(commits);
        }
        let store = TeamMembership::dir(&self.workspace.state).join("git");
        let remote = code_remote(self.git, &self.team.membership.store)?;
        let now = remote.and_then(|remote| tip_of_branch(self.git, &store, &remote, branch));
        Ok(if now.as_ref() == Some(tip) { vec![tip.clone()] } else { Vec::new() })
    }

    /// Returns the oldest of some commits, newest first, that has these contents.
    fn first_with(
        &self,
        commits: &[GitId],
        became: &BTreeMap<RepoPath, Option<Digest>>,
    ) -> Result<Option<GitId>, ServiceError> {
        if became.is_empty() {
            return Ok(None);
        }
        let n_commits = commits.len().min(MAX_FILES / became.len().max(1)).max(commits.len().min(1));
        let commits = &commits[..n_commits];
        let paths: BTreeSet<RepoPath> = became.keys().cloned().collect();
        let found = git_history::blobs_at(self.git, commits, &paths)?;
        let ids: BTreeSet<String> = found.iter().flat_map(|blobs| blobs.values().cloned()).collect();
        let contents = git::present_blobs(self.git, &ids.into_iter().collect::<Vec<_>>())?;
        let digests: BTreeMap<String, Digest> =
            contents.into_iter().map(|(id, bytes)| (id, Digest::of(&bytes))).collect();
        let has_work = |blobs: &BTreeMap<RepoPath, String>| {
            became.iter().all(|(path, content)| match (blobs.get(path), content) {
                (None, None) => true,
                (Some(id), Some(content)) => digests.get(id) == Some(content),
                _ => false,
            })
        };
        let oldest = commits.iter().zip(&found).rfind(|(_, blobs)| has_work(blobs));
        Ok(oldest.map(|(commit, _)| commit.clone()))
    }
}
