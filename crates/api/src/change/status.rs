//! The answer of `probity status`.

use super::finish::Coordination;
use super::intents::OwnerView;
use crate::SystemPath;
use crate::document::Answer;
use probity_evidence::GlobList;
use probity_intents::registry::OwnerNotice;
use probity_intents::{IntentId, IntentStatus, Ownership, ScopeEntrySet, TaskKey};
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::Serialize;

/// The state of a tree and of the intents on it: the answer of `probity status`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StatusAnswer {
    /// The git commit.
    pub head: Option<String>,
    /// The id of the run that describes, or would describe, the present tree.
    pub run_id: String,
    /// Whether that run is stored.
    pub run_available: bool,
    /// Held and queued intents, in order of declaration.
    pub intents: Vec<IntentLine>,
    /// The governed runs in progress.
    pub runs: Vec<RunLine>,
    /// Layers of runs whose changes wait for a decision.
    pub held: Vec<HeldLayerLine>,
    /// The uncommitted changes by owner.
    pub dirty: DirtySummary,
    pub next_step: String,
    /// Why the store of the team could not be asked, and how old the shown intents are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offline: Option<String>,
    /// Events that affected the reader's intents in the meantime.
    pub notices: Vec<OwnerNotice>,
}

impl Answer for StatusAnswer {
    const SCHEMA: &'static str = "probity/status/v1";
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct IntentLine {
    pub intent_id: IntentId,
    /// `active` or `queued`.
    pub status: IntentStatus,
    /// The relation between the intent and the reader.
    pub ownership: Ownership,
    /// The label of its owner.
    pub agent: String,
    pub owner: OwnerView,
    /// Whether its handle is kept in this worktree, so that commands about it need no `--owner` here.
    pub handle_kept: bool,
    /// Whether it belongs to the reader, through the given handle or one kept in this worktree.
    pub is_yours: bool,
    /// The purpose of the change.
    pub description: String,
    pub allowed_files: ScopeEntrySet,
    pub since: String,
    pub age_seconds: u64,
    /// Remaining time of the lease; 0 if it lapsed.
    pub lease_left_seconds: u64,
    /// Remaining time until it expires.
    pub life_left_seconds: u64,
    /// Its position in the queue while it is queued.
    pub queue_position: Option<usize>,
    /// The number of uncommitted paths of this tree that it holds.
    pub n_dirty: usize,
    /// Whether it is about this working tree.
    pub is_here: bool,
    /// Where it was started, if that is another working tree of this clone: it is finished there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<SystemPath>,
    /// The task that it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskKey>,
    /// The branch that it is for, in a team.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// `none` if the change was started without asking the store of the team.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coordination: Option<Coordination>,
}

/// A governed run in progress.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RunLine {
    pub run_id: String,
    /// The paths that it may touch, amendments included, relative to its root.
    pub scope: GlobList,
    pub root: SystemPath,
    /// The time at which it started.
    pub since: String,
    /// The process that supervises it.
    pub pid: u32,
    /// Whether it runs in this working tree.
    pub is_here: bool,
}

/// A layer whose changes wait for a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HeldLayerLine {
    pub run_id: String,
    /// The entries in the layer, deletions included.
    pub n_entries: u64,
    /// The space that they take.
    pub bytes: u64,
}

/// The uncommitted paths by owner.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DirtySummary {
    pub count: usize,
    /// Held by intents of the reader.
    pub own: DirtyGroup,
    /// Held by live intents of other agents.
    pub foreign: DirtyGroup,
    /// Held by intents that expired or whose owner is gone.
    pub abandoned: DirtyGroup,
    /// Work of finished intents, unchanged since their finish and not committed yet.
    pub finished: Vec<FinishedGroup>,
    /// Work of governed runs that ended, unchanged since and not committed yet.
    pub runs: Vec<RunWorkGroup>,
    /// Held by no intent, and not the work of a run that is known.
    pub unclaimed: DirtyGroup,
}

/// What a governed run left in the tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RunWorkGroup {
    pub run_id: String,
    /// The name that the caller of the run gave its agent.
    pub agent: Option<String>,
    /// Whether it was let in: the run passed, or somebody landed its held changes.
    pub accepted: bool,
    /// The command that commits exactly these paths, if they were let in and are few.
    pub commit_command: Option<String>,
    #[serde(flatten)]
    pub changed: DirtyGroup,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FinishedGroup {
    pub intent_id: IntentId,
    /// The label of its owner.
    pub agent: String,
    /// The purpose of the change.
    pub description: String,
    /// The command that commits exactly these paths, if there are few.
    pub commit_command: Option<String>,
    #[serde(flatten)]
    pub changed: DirtyGroup,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DirtyGroup {
    pub count: usize,
    /// The first paths.
    pub paths: Vec<RepoPath>,
}
