//! Decisions of a person about a change.

use crate::document::Answer;
use probity_core::Digest;
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

probity_core::word_enum! {
    /// What a person decides.
    pub enum DecisionAction {
        /// Bring all changes into the tree.
        Land = "land",
        /// Bring the changes into the tree that are in scope.
        LandInScope = "land-in-scope",
        /// Bring named changes into the tree.
        LandOnly = "land-only",
        /// Merge the changes with a tree that moved on, and land them.
        Rebase = "rebase",
        /// Widen the scope.
        Amend = "amend",
        /// Undo the changes in the tree.
        Revert = "revert",
        /// Drop the held changes.
        Discard = "discard",
        /// End an intent.
        Clear = "clear",
        /// Take over an intent of an owner that is gone.
        Recover = "recover",
        /// Let a queued intent begin.
        Promote = "promote",
    }
}

impl DecisionAction {
    /// What a person does with it, as a verb phrase.
    pub const fn phrase(self) -> &'static str {
        match self {
            Self::Land => "land",
            Self::LandInScope => "land the part inside",
            Self::LandOnly => "land chosen paths",
            Self::Rebase => "merge and land",
            Self::Amend => "expand the scope",
            Self::Revert => "revert",
            Self::Discard => "discard",
            Self::Clear => "clear",
            Self::Recover => "take over",
            Self::Promote => "promote",
        }
    }
}

/// One way on: what it does, and the command that does the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DecisionOption {
    pub action: DecisionAction,
    /// What the button says, with numbers.
    pub label: String,
    /// Whether it is the usual way on.
    pub is_main: bool,
    /// The effects, one sentence each.
    pub effects: Vec<String>,
    /// The paths that it is about.
    pub paths: Vec<RepoPath>,
    /// The patterns that it proposes, for an amendment.
    pub patterns: Vec<String>,
    /// Whether it needs a reason in words.
    pub needs_why: bool,
    /// The command that does the same.
    pub command: String,
}

/// A decision as it is kept, and listed in the log of the repository under the digest of these members.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DecisionRecord {
    /// The change.
    pub change: String,
    pub action: DecisionAction,
    /// The person who decided.
    pub by: String,
    /// When, in RFC 3339.
    pub at: String,
    /// The digest of what the person was shown.
    pub shown: Digest,
    pub why: Option<String>,
    pub paths: Vec<RepoPath>,
}

/// What became of a decision: the answer of an action on the review page.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DecisionAnswer {
    pub record: DecisionRecord,
    /// The digest under which the log lists the decision.
    pub digest: Digest,
    /// Whether what was decided was done.
    pub is_done: bool,
    /// What happened, one sentence each.
    pub effects: Vec<String>,
}

impl Answer for DecisionAnswer {
    const SCHEMA: &'static str = "probity/review-decision/v1";
}

/// The answer of `probity ui`, once it has stopped.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ReviewServerEnd {
    pub status: ServerEndStatus,
}

impl Answer for ReviewServerEnd {
    const SCHEMA: &'static str = "probity/ui/v1";
}

probity_core::word_enum! {
    /// Why the server ended.
    pub enum ServerEndStatus {
        /// Somebody stopped it.
        Stopped = "stopped",
    }
}
