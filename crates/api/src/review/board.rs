//! Who works where.

use super::change::{PathFate, ReviewedKind};
use super::decision::DecisionAction;
use crate::document::Answer;
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::Serialize;

/// Every change in progress, those that wait for a decision, and the uncommitted paths by owner.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BoardAnswer {
    /// The name of the tree.
    pub repository: String,
    pub head: Option<String>,
    /// The number of entries in the log when this was read.
    pub log_size: u64,
    /// The directories of the tree in order, each with its share of it.
    pub areas: Vec<BoardArea>,
    pub lanes: Vec<BoardLane>,
    /// Lanes that are not listed.
    pub lanes_left_out: usize,
    pub overlaps: Vec<BoardOverlap>,
    /// What waits for a person, the most urgent first.
    pub needs: Vec<BoardNeed>,
    /// Things that wait and are not listed.
    pub needs_left_out: usize,
    pub dirty: Vec<BoardDirtyPath>,
    pub n_dirty: usize,
    /// The newest entries of the log, newest first.
    pub log: Vec<LogFeedLine>,
}

impl Answer for BoardAnswer {
    const SCHEMA: &'static str = "probity/board/v1";
}

/// A directory of the tree on the map. Places are counted in ten-thousandths of the width.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BoardArea {
    /// The directory; empty for all places that nobody touches.
    pub name: String,
    pub start: u32,
    pub width: u32,
    pub n_files: usize,
}

probity_core::word_enum! {
    /// Where a change on the board stands.
    pub enum LaneState {
        /// Its agent works.
        Editing = "editing",
        /// It waits for others that hold its paths.
        Queued = "queued",
        /// Its changes wait for a decision, and it did not pass.
        Held = "held",
        /// It passed, and its changes wait in a layer.
        Ready = "ready",
        /// Its agent has not been heard of for longer than its lease.
        Silent = "silent",
        /// Its agent is gone.
        Recoverable = "recoverable",
        /// It is in the tree.
        Landed = "landed",
        /// It did not pass, and is in the tree.
        Failed = "failed",
        /// It was undone, dropped or given up.
        Undone = "undone",
    }
}

/// One change on the board.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BoardLane {
    pub change: String,
    pub kind: ReviewedKind,
    pub title: String,
    pub agent: Option<String>,
    pub machine: Option<String>,
    pub state: LaneState,
    /// The first reason why it was held.
    pub reason: Option<String>,
    /// The same in words.
    pub reason_words: Option<String>,
    pub since: Option<String>,
    /// The declared scope.
    pub scope: Vec<String>,
    /// The places of the scope on the map: start and width.
    pub lots: Vec<(u32, u32)>,
    /// The changed paths, as many as are drawn.
    pub paths: Vec<LanePath>,
    pub n_paths: usize,
    pub n_outside: usize,
    /// Changed paths that the tree has as the change left them, where that was compared.
    pub n_in_tree: usize,
    pub lines_added: usize,
    pub lines_removed: usize,
    pub lease_left_seconds: Option<u64>,
    /// The part of the lease that is left, in percent.
    pub lease_share: Option<u32>,
    pub queue_position: Option<usize>,
    /// Commits that the branch got since it began.
    pub base_behind: Option<u64>,
    /// Its own paths that others changed since it began.
    pub base_moved: Vec<RepoPath>,
    /// Whether it is about this working tree.
    pub is_here: bool,
    /// Whether it has a private view.
    pub has_view: bool,
    /// What can be decided about it now, the usual way on first.
    pub actions: Vec<DecisionAction>,
}

/// A changed path on the map.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LanePath {
    pub path: RepoPath,
    pub fate: PathFate,
    pub at: u32,
    pub lines: usize,
}

/// A place that several changes want.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BoardOverlap {
    pub start: u32,
    pub width: u32,
    pub paths: Vec<String>,
    pub changes: Vec<String>,
}

probity_core::word_enum! {
    /// Why a person is needed.
    pub enum NeedKind {
        /// A change is outside its scope and waits.
        Outside = "outside",
        /// A merge dropped an edit.
        Lost = "lost",
        /// A change did not pass for another reason and waits.
        Failed = "failed",
        /// A change passed and waits to land.
        Ready = "ready",
        /// The owner of an intent is gone.
        Recoverable = "recoverable",
        /// Two items of the ledger contradict each other.
        Contradiction = "contradiction",
        /// The tree moved on below a change.
        Stale = "stale",
    }
}

/// Something that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BoardNeed {
    pub kind: NeedKind,
    /// The change that it is about; of a lost edit the merge, of a contradiction the first item.
    pub change: String,
    pub who: String,
    pub sentence: String,
    pub paths: Vec<RepoPath>,
    pub note: String,
    pub since: Option<String>,
    /// The usual way on, where one decision settles it.
    pub action: Option<DecisionAction>,
}

probity_core::word_enum! {
    /// Whose an uncommitted path is.
    pub enum DirtyPathClass {
        /// In the scope of an intent that is open.
        Claimed = "claimed",
        /// Held by an intent that expired or whose owner is gone.
        Abandoned = "abandoned",
        /// Work of a finished intent, not committed yet.
        Finished = "finished",
        /// Work of a run that ended, inside its scope.
        Landed = "landed",
        /// Work of a run that ended, outside its scope.
        Outside = "outside",
        /// Nobody claims it.
        Unclaimed = "unclaimed",
    }
}

/// An uncommitted path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BoardDirtyPath {
    pub path: RepoPath,
    pub class: DirtyPathClass,
    pub owner: Option<String>,
}

/// An entry of the log in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LogFeedLine {
    /// Its number in the log, from 0.
    pub index: u64,
    pub log: String,
    /// Who did it, if the entry says so.
    pub who: Option<String>,
    pub words: String,
    pub at: Option<String>,
    /// The change that it is about.
    pub change: Option<String>,
}
