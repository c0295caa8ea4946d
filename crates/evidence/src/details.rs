//! What a manifest of ours says beyond the required fields. All of it is covered by the run hash.

use crate::{ByteString, Enforcement, Globs, RecognizedOutput};
use probity_core::Digest;
use probity_paths::RepoPath;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The further facts of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Details {
    /// The program that wrote the manifest.
    pub tool: Option<Tool>,
    /// When the run began, as RFC 3339.
    pub started_at: Option<String>,
    /// How strongly the scope was enforced while the run went on (law 13).
    pub enforcement: Enforcement,
    /// What exactly enforced it, as far as it is known.
    pub enforcement_detail: Option<String>,
    /// The hash of the run's seal.
    pub seal_hash: Option<Digest>,
    /// The identity of the whole policy.
    pub policy_digest: Option<Digest>,
    /// The sealed exemptions from the delta.
    pub build_outputs: Globs,
    /// Directories that were exempt because of what they are: caches and virtual environments that say so themselves.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recognized_outputs: Vec<RecognizedOutput>,
    /// What was run.
    pub command: Option<Command>,
    /// Named limits of the run and how much of them was used.
    pub budgets: BTreeMap<String, Budget>,
    /// Entries of the tree that cannot be judged.
    #[serde(rename = "unsafe")]
    pub unsafe_entries: Vec<Finding>,
    /// Protected paths that changed.
    pub protected: Vec<Finding>,
    /// Everything else that was found.
    pub findings: Vec<Finding>,
    /// Git references that changed.
    pub refs: Vec<RefChange>,
    /// Paths that the gates changed; the agent did not.
    pub gate_delta_paths: Vec<RepoPath>,
    /// Which tree of its repository the run was in, where worktrees share one state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// The run hash of the bundle that this one amends.
    pub amended_from: Option<Digest>,
    /// The run hash of the bundle whose out-of-scope changes this one undid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reverts: Option<Digest>,
    /// How many older bundles were removed from the chain; `pruned.json` lists them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pruned: Option<u64>,
}

/// A program and its version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// The name.
    pub name: String,
    /// The version.
    pub version: String,
}

/// The command that a run governed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// Program and arguments, as bytes.
    pub argv: Vec<ByteString>,
    /// Its exit code, if it had one.
    pub exit_code: Option<i64>,
    /// Its logs, as files of the bundle.
    pub log_paths: Vec<String>,
}

/// A limit and how much of it was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// The limit, if there was one.
    pub limit: Option<u64>,
    /// How much was used.
    pub used: u64,
}

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// A reason code.
    pub code: String,
    /// Where.
    pub path: Option<RepoPath>,
    /// In words.
    pub detail: String,
}

/// A git reference that changed. `None` is a reference that did not or does not exist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefChange {
    /// The full name, as bytes.
    pub name: ByteString,
    /// What it pointed at before the run.
    pub before: Option<String>,
    /// What it pointed at afterwards.
    pub after: Option<String>,
    /// The repository inside the tree that it belongs to; absent for the repository of the tree itself. A submodule
    /// whose `HEAD` moved is in D with this path, although its directory is the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<ByteString>,
}
