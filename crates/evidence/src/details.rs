//! Manifest fields beyond the required ones. The run hash covers all of them.
//!
//! The verifier writes them again and compares: a field added later must be left out while it has its default, or
//! older bundles would no longer verify.

use crate::{ByteString, EnforcementLevel, GlobList, RecognizedOutput, StartLook};
use probity_core::Digest;
use probity_paths::RepoPath;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ManifestDetails {
    pub tool: Option<ToolVersion>,
    /// When the run began, in RFC 3339.
    pub started_at: Option<String>,
    /// How strongly the scope was enforced during the run (law 13).
    pub enforcement: EnforcementLevel,
    /// The mechanism that enforced it, if known.
    pub enforcement_detail: Option<String>,
    /// What confined the command, as sealed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confinement: Option<serde_json::Value>,
    /// How the tree was looked at when the run began, if not by a walk. After a lazy look the roots cover what the run changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_look: Option<StartLook>,
    /// What became of the changes of a run in a view.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub landing: Option<LandingRecord>,
    /// Run hash of the bundle whose changes this one brought into the tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lands: Option<Digest>,
    pub seal_hash: Option<Digest>,
    /// Digest of the whole policy.
    pub policy_digest: Option<Digest>,
    /// Sealed patterns excluded from the delta.
    pub build_outputs: GlobList,
    /// Directories excluded from the delta because a marker file identifies them as a cache or a virtual environment.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recognized_outputs: Vec<RecognizedOutput>,
    pub command: Option<GovernedCommand>,
    /// The name of the agent, as the caller of the run gave it. Nothing vouches for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Usage of the run's named limits.
    pub budgets: BTreeMap<String, BudgetUsage>,
    /// Tree entries that cannot be judged.
    #[serde(rename = "unsafe")]
    pub unsafe_entries: Vec<ManifestFinding>,
    pub protected: Vec<ManifestFinding>,
    pub findings: Vec<ManifestFinding>,
    pub refs: Vec<RefChange>,
    /// Paths changed by the gates, not by the agent.
    pub gate_delta_paths: Vec<RepoPath>,
    /// The worktree the run took place in, if several worktrees share one state directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// Run hash of the bundle that this one amends.
    pub amended_from: Option<Digest>,
    /// Run hash of the bundle whose out-of-scope changes this one reverted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reverts: Option<Digest>,
    /// Number of older bundles removed from the chain; `pruned.json` lists them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pruned: Option<u64>,
}

probity_core::word_enum! {
    /// What became of the changes of a run.
    #[derive(Default)]
    pub enum LandingState {
        /// They are in the tree.
        Landed = "landed",
        /// They wait in a layer of their own.
        Held = "held",
        /// They wait, because the tree changed at the same paths.
        Conflict = "conflict",
        /// Nothing had to land: nothing changed, or the command worked in the tree itself.
        #[default]
        None = "none",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LandingRecord {
    pub state: LandingState,
    /// The changed paths that landed or wait, build outputs included.
    pub paths: Vec<RepoPath>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolVersion {
    pub name: String,
    pub version: String,
}

/// The command that the run governed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GovernedCommand {
    pub argv: Vec<ByteString>,
    /// `None` if the command was killed by a signal or never started.
    pub exit_code: Option<i64>,
    /// Log files within the bundle.
    pub log_paths: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetUsage {
    pub limit: Option<u64>,
    pub used: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestFinding {
    pub code: String,
    pub path: Option<RepoPath>,
    pub detail: String,
}

/// How the detail of a finding that fails nothing begins.
const NOTE_PREFIX: &str = "note: ";

impl ManifestFinding {
    /// Creates a finding that fails nothing.
    pub fn note(code: String, path: Option<RepoPath>, text: &str) -> Self {
        Self { code, path, detail: format!("{NOTE_PREFIX}{text}") }
    }

    /// Returns whether the finding fails nothing. Every other one is a reason for which the run failed.
    pub fn is_note(&self) -> bool {
        self.detail.starts_with(NOTE_PREFIX)
    }

    /// Returns the detail without the mark of a note.
    pub fn text(&self) -> &str {
        self.detail.strip_prefix(NOTE_PREFIX).unwrap_or(&self.detail)
    }
}

/// A git reference that changed. `None` in `before` or `after`: the reference did not exist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefChange {
    /// Full name of the reference.
    pub name: ByteString,
    pub before: Option<String>,
    pub after: Option<String>,
    /// Path of the nested repository the reference belongs to; absent for the repository of the tree itself.
    /// A submodule whose `HEAD` moved is in the delta under this path although its files may be unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<ByteString>,
}
