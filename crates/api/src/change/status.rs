//! The answer of `probity status`.

use super::intents::OwnerView;
use crate::SystemPath;
use crate::document::Answer;
use probity_evidence::GlobList;
use probity_intents::registry::OwnerNotice;
use probity_intents::{IntentId, IntentStatus, Ownership, ScopeEntrySet};
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::Serialize;

/// The state of a tree and of the intents on it: the answer of `probity status`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StatusAnswer {
    /// The git commit.
    pub head: Option<String>,
    /// The run that the tree as it is has or would have.
    pub run_id: String,
    /// Whether that run is stored.
    pub run_available: bool,
    /// The claims and those who wait, in the order in which they were declared.
    pub intents: Vec<IntentLine>,
    /// The governed runs that have not ended.
    pub runs: Vec<RunLine>,
    /// Whose the uncommitted changes are.
    pub dirty: DirtySummary,
    /// What to do next.
    pub next_step: String,
    /// What happened to intents of the reader meanwhile.
    pub notices: Vec<OwnerNotice>,
}

impl Answer for StatusAnswer {
    const SCHEMA: &'static str = "probity/status/v1";
}

/// One open intent.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct IntentLine {
    /// Its id.
    pub intent_id: IntentId,
    /// `active` or `queued`.
    pub status: IntentStatus,
    /// What it is to the reader.
    pub ownership: Ownership,
    /// What people call its owner.
    pub agent: String,
    /// Who holds it.
    pub owner: OwnerView,
    /// Whether its handle is kept in this worktree, so that commands about it need no `--owner` here.
    pub handle_kept: bool,
    /// Whether it is the reader's own: by the handle that was given, or by one that is kept in this worktree.
    pub is_yours: bool,
    /// What it is for.
    pub description: String,
    /// What it is about.
    pub allowed_files: ScopeEntrySet,
    /// Since when.
    pub since: String,
    /// For how many seconds.
    pub age_seconds: u64,
    /// How long its owner may still be silent; 0 if the lease lapsed.
    pub lease_left_seconds: u64,
    /// How long it may still live.
    pub life_left_seconds: u64,
    /// Its place in the queue while it waits.
    pub queue_position: Option<usize>,
    /// How many uncommitted paths of this tree it holds.
    pub n_dirty: usize,
    /// Whether it is made in this working tree.
    pub is_here: bool,
}

/// One governed run that has not ended.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RunLine {
    /// Its id.
    pub run_id: String,
    /// What it may touch, amendments included, from its own root.
    pub scope: GlobList,
    /// Its root.
    pub root: SystemPath,
    /// Since when.
    pub since: String,
    /// The process that supervises it.
    pub pid: u32,
    /// Whether it works in this working tree.
    pub is_here: bool,
}

/// The uncommitted paths by class: whose they are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DirtySummary {
    /// How many there are.
    pub count: usize,
    /// Held by intents of the reader.
    pub own: DirtyGroup,
    /// Held by live intents of other agents.
    pub foreign: DirtyGroup,
    /// Held by intents whose owner is gone or whose time is over.
    pub abandoned: DirtyGroup,
    /// Work of finished intents that is still what their finish saw, and not committed yet.
    pub finished: Vec<FinishedGroup>,
    /// Held by nobody.
    pub unclaimed: DirtyGroup,
}

/// Finished work that is not committed yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FinishedGroup {
    /// The intent.
    pub intent_id: IntentId,
    /// What people call its owner.
    pub agent: String,
    /// What it was for.
    pub description: String,
    /// What commits it and nothing else, where it has few paths.
    pub commit_command: Option<String>,
    /// Its paths.
    #[serde(flatten)]
    pub changed: DirtyGroup,
}

/// Some uncommitted paths.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DirtyGroup {
    /// How many.
    pub count: usize,
    /// The first of them.
    pub paths: Vec<RepoPath>,
}
