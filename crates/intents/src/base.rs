//! Where a change starts: the tree, the commit and the line it is for.

use crate::scope::{FnmatchSet, ScopeEntry, ScopeEntrySet};
use probity_core::Digest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The state of the tree that a change starts from.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IntentBase {
    /// The analysis run that the change is compared with.
    pub run_id: String,
    /// Digest of that run's report.
    pub report_digest: Option<String>,
    /// Git commit at the start.
    pub head: Option<String>,
    /// Root hash of the tree at the start.
    pub snapshot_root: Option<Digest>,
    /// Uncommitted paths at the start, as a stored object.
    pub dirty_snapshot: Option<Digest>,
    /// The worktree the change is made in. Worktrees share claims but not uncommitted changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// The branch that the change is for. Claims of different trees for different lines do not conflict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// Present if overlaps with claims of other trees are announced instead of refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<SharedOverlap>,
    /// Whether the change was started without asking the store of the team: its claim then binds nobody else.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_uncoordinated: bool,
}

impl IntentBase {
    /// Returns whether the two are certainly of different working trees.
    pub fn is_apart_from(&self, other: &Self) -> bool {
        self.working_tree().is_some_and(|own| other.working_tree().is_some_and(|theirs| own != theirs))
    }

    /// Returns whether changes from the two bases may be for the same line.
    pub fn is_on_line_of(&self, other: &Self) -> bool {
        self.line.is_none() || other.line.is_none() || self.line == other.line
    }

    /// Returns whether `tree` names the working tree of this base, or a root in it.
    pub(crate) fn is_in_tree(&self, tree: Option<&str>) -> bool {
        self.working_tree().is_some_and(|own| tree.and_then(|tree| tree.split(':').next()) == Some(own))
    }

    /// Returns the name of the working tree, without the directory in it.
    fn working_tree(&self) -> Option<&str> {
        self.tree.as_ref().and_then(|tree| tree.split(':').next())
    }
}

/// Says that overlaps with claims of other trees are announced instead of refused, if both sides say so.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharedOverlap {
    /// Patterns (rule *fnmatch*) of paths that stay exclusive.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub exclusive: ScopeEntrySet,
}

impl SharedOverlap {
    /// Returns whether a pattern matches an entry, or begins with the name of a directory that the entry is or contains.
    pub(crate) fn is_exclusive(&self, entry: &ScopeEntry) -> bool {
        let name = entry.as_bytes();
        let is_below = |pattern: &ScopeEntry| {
            let literal = pattern.as_bytes().split(|byte| b"*?[".contains(byte)).next().unwrap_or_default();
            !name.is_empty() && literal.strip_prefix(name).is_some_and(|rest| rest.starts_with(b"/"))
        };
        self.exclusive.iter().any(is_below) || FnmatchSet::new(&self.exclusive).match_bytes(name)
    }
}
