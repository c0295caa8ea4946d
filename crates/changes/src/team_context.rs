//! What a change in a team needs to know beyond its own tree: the line it is for, the rules that were joined, and what the
//! tree has of the work that others finished.

use crate::registry::BaseProbe;
use crate::root_mapping::RootMapping;
use probity_api::change::LandingHold;
use probity_core::{Digest, json};
use probity_intents::coherence::{StaleBaseRule, TreeContents, TreeQuestion};
use probity_intents::{IntentScope, ScopeEntry, SharedOverlap};
use probity_paths::RepoPath;
use probity_policy::{HoldRule, OverlapRule, StaleStartRule, TeamRules};
use probity_snapshot::GitId;
use probity_snapshot::git::GitLayout;
use probity_storage::{StoreError, durable};
use probity_team::{TeamMembership, TeamStoreAddress};
use probity_workspace::git_transport::GitTransport;
use probity_workspace::worktree::WorktreeStatus;
use probity_workspace::{ServiceError, StateDirectory, Workspace, git_history};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The file with the rules that the clone joined under.
pub(crate) const RULES_FILE: &str = "team-rules.json";
const RULES_SCHEMA: &str = "probity/team-rules/v1";
/// How long finished work keeps other trees off while it waits for a push.
const PUSH_HOLD_SECONDS: u64 = 3_600;
/// How long it does so while it waits for a merge: reviews take days.
const MERGE_HOLD_SECONDS: u64 = 3 * 86_400;

/// The rules of `[team]` as they were when the clone joined. A branch, or an agent that edits the file in the tree, cannot
/// loosen them (law 8); `probity team join` renews them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct JoinedRules {
    schema: String,
    #[serde(default)]
    overlap: OverlapRule,
    #[serde(default)]
    exclusive: Vec<String>,
    #[serde(default)]
    hold: HoldRule,
    #[serde(default)]
    stale_base: StaleStartRule,
}

impl From<&TeamRules> for JoinedRules {
    fn from(rules: &TeamRules) -> Self {
        Self {
            schema: RULES_SCHEMA.into(),
            overlap: rules.overlap,
            exclusive: rules.exclusive.clone(),
            hold: rules.hold,
            stale_base: rules.stale_base,
        }
    }
}

impl JoinedRules {
    /// Returns the rules that were joined; those of a silent policy if nothing was kept, which are the strictest.
    pub(crate) fn of(state: &StateDirectory) -> Result<Self, StoreError> {
        let path = state.dir().join(RULES_FILE);
        let Some(bytes) = durable::read(&path)? else { return Ok(Self::from(&TeamRules::default())) };
        let read = json::parse(&bytes).ok().and_then(|value| serde_json::from_value::<Self>(value).ok());
        read.filter(|rules| rules.schema == RULES_SCHEMA).ok_or_else(|| {
            let why = "it is not what `probity team join` wrote; join again".to_owned();
            StoreError::Damaged { path, why }
        })
    }

    pub(crate) fn save(&self, state: &StateDirectory) -> Result<(), StoreError> {
        durable::write(&state.dir().join(RULES_FILE), &json::canonical_of(self))
    }

    pub(crate) fn remove(state: &StateDirectory) -> Result<(), StoreError> {
        durable::remove(&state.dir().join(RULES_FILE))
    }
}

/// The team of a clone, from the point of view of one working tree.
#[derive(Debug)]
pub(crate) struct TeamContext {
    pub(crate) membership: TeamMembership,
    pub(crate) rules: JoinedRules,
    /// The branch that changes here are for, without the name of a remote.
    pub(crate) line: Option<String>,
}

impl TeamContext {
    /// Returns the team of this tree; `None` if its clone joined none.
    pub(crate) fn of(workspace: &Workspace) -> Result<Option<Self>, ServiceError> {
        let Some(membership) = TeamMembership::of(&workspace.state)? else { return Ok(None) };
        let line = match &membership.line {
            Some(line) => Some(branch_of_line(workspace, line)?),
            None => match git_history::upstream_branch(workspace)? {
                Some(branch) => Some(branch),
                None => git_history::current_branch(workspace)?,
            },
        };
        Ok(Some(Self { rules: JoinedRules::of(&workspace.state)?, membership, line }))
    }

    /// Returns what a claim says about overlaps; `None` if they are exclusive.
    pub(crate) fn shared_overlap(&self) -> Option<SharedOverlap> {
        (self.rules.overlap == OverlapRule::Announce)
            .then(|| SharedOverlap { exclusive: self.rules.exclusive.iter().map(ScopeEntry::new).collect() })
    }

    pub(crate) const fn stale_base(&self) -> StaleBaseRule {
        match self.rules.stale_base {
            StaleStartRule::Block => StaleBaseRule::Block,
            StaleStartRule::Warn => StaleBaseRule::Warn,
        }
    }

    /// Returns what a finished change waits for, and for how many seconds at most; `None` if its claim ends with the finish.
    pub(crate) const fn hold(&self) -> Option<(LandingHold, u64)> {
        match self.rules.hold {
            HoldRule::Finish => None,
            HoldRule::Push => Some((LandingHold::Push, PUSH_HOLD_SECONDS)),
            HoldRule::Merge => Some((LandingHold::Merge, MERGE_HOLD_SECONDS)),
        }
    }

    /// Returns what can be asked about the content of a tree in `scope`, which uses the registry's path names.
    pub(crate) fn tree_base(
        &self,
        workspace: &Workspace,
        status: &WorktreeStatus,
        paths: &RootMapping,
        scope: &IntentScope,
    ) -> TreeBase {
        let entries = status.snapshot.entries().filter_map(|entry| {
            let path = paths.to_repo_path(entry.path());
            scope.holds(path.as_bytes())?;
            Some((path, entry.digest()?))
        });
        TreeBase {
            contents: entries.collect(),
            git: workspace.git.clone(),
            store: TeamMembership::dir(&workspace.state).join("git"),
            claims: self.membership.store.clone(),
            line: self.line.clone(),
        }
    }
}

/// Returns the branch that a line names: `origin/main` and `main` are the same line, whatever a clone calls its remotes.
fn branch_of_line(workspace: &Workspace, line: &str) -> Result<String, ServiceError> {
    let line = line.strip_prefix("refs/heads/").unwrap_or(line);
    let line = line.strip_prefix("refs/remotes/").unwrap_or(line);
    let Some((remote, branch)) = line.split_once('/') else { return Ok(line.to_owned()) };
    let is_remote = match &workspace.git {
        _ if remote == "origin" => true,
        Some(git) => git_history::remote_address(git, remote)?.is_some(),
        None => false,
    };
    Ok(if is_remote { branch } else { line }.to_owned())
}

/// What a tree has of the paths of a scope, and which commits its checked out one contains.
#[derive(Debug)]
pub(crate) struct TreeBase {
    contents: BTreeMap<RepoPath, Digest>,
    git: Option<GitLayout>,
    store: PathBuf,
    claims: TeamStoreAddress,
    line: Option<String>,
}

impl BaseProbe for TreeBase {
    fn answer(&self, question: &TreeQuestion) -> Result<TreeContents, ServiceError> {
        let contents =
            question.paths.iter().map(|path| (path.clone(), self.contents.get(path).copied())).collect();
        let mut commits = BTreeSet::new();
        let Some(git) = &self.git else { return Ok(TreeContents { contents, commits }) };
        let mut missing = Vec::new();
        for commit in &question.commits {
            // Others wrote the name: only an id is given to git.
            let Some(id) = GitId::from_hex(commit.as_bytes()) else { continue };
            if git_history::head_contains(git, &id)? {
                commits.insert(commit.clone());
            } else {
                missing.push(commit);
            }
        }
        if !missing.is_empty() && self.has_tip_of_line(git) {
            commits.extend(missing.into_iter().cloned());
        }
        Ok(TreeContents { contents, commits })
    }
}

impl TreeBase {
    /// Returns whether the checked out commit of a shallow clone contains all that is on the line now, as the remote says.
    /// A clone with its history does not need to ask.
    fn has_tip_of_line(&self, git: &GitLayout) -> bool {
        if !git.common_dir.join("shallow").exists() {
            return false;
        }
        let (Ok(Some(remote)), Some(line)) = (code_remote(git, &self.claims), &self.line) else {
            return false;
        };
        tip_of_branch(git, &self.store, &remote, line)
            .is_some_and(|tip| git_history::head_contains(git, &tip).unwrap_or(false))
    }
}

/// Returns the address that finished work is pushed to. Claims on etcd name none: there it is the clone's `origin`.
pub(crate) fn code_remote(
    git: &GitLayout,
    claims: &TeamStoreAddress,
) -> Result<Option<String>, ServiceError> {
    match claims {
        TeamStoreAddress::Git { remote } => Ok(Some(remote.clone())),
        TeamStoreAddress::Etcd(_) => git_history::remote_address(git, "origin"),
    }
}

/// Asks the remote where a branch is now; `None` if it cannot be asked or has no such branch.
pub(crate) fn tip_of_branch(
    git: &GitLayout,
    store: &std::path::Path,
    remote: &str,
    branch: &str,
) -> Option<GitId> {
    let name = format!("refs/heads/{branch}");
    let transport = GitTransport::open(git, store.to_owned(), remote).ok()?;
    let found = transport.remote_refs(&name).ok()?;
    GitId::from_hex(found.get(&name)?.as_bytes())
}
