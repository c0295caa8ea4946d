//! Answers of `probity init`, `probity init --agent` and `probity keys`.

use crate::document::Answer;
use crate::system_path::SystemPath;
use probity_evidence::PublicKey;
use schemars::JsonSchema;
use serde::Serialize;

/// What `probity init` answers: a policy that fits the tree.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct InitAnswer {
    /// The root of the tree.
    pub root: SystemPath,
    /// The text of the policy file.
    pub text: String,
    /// Whether the file was written.
    pub written: bool,
    /// How many patterns of build outputs each ecosystem has.
    pub exempt: Vec<EcosystemPatterns>,
    /// A scope that holds sources of this tree; null if there are none.
    pub example_scope: Option<String>,
    /// How many rules of .gitignore were left out because they hold characters that are not shown as they are written.
    pub ignore_rules_left_out: usize,
    /// Commits the policy; null without git, or if nothing was written.
    pub commit_command: Option<String>,
}

impl Answer for InitAnswer {
    const SCHEMA: &'static str = "probity/init/v1";
}

/// How many patterns an ecosystem has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EcosystemPatterns {
    /// The ecosystem whose tools write there.
    pub ecosystem: &'static str,
    /// How many patterns.
    pub patterns: usize,
}

/// What `probity init --agent AGENT` answers: the files of the agent.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AgentRegistration {
    /// The root of the tree.
    pub root: SystemPath,
    /// The agent.
    pub agent: CodingAgent,
    /// Its files.
    pub files: Vec<AgentFileChange>,
    /// Whether they were written.
    pub written: bool,
}

impl Answer for AgentRegistration {
    const SCHEMA: &'static str = "probity/init-agent/v1";
}

probity_core::word_enum! {
    /// A coding agent whose configuration is known.
    pub enum CodingAgent {
        /// Claude Code.
        Claude = "claude",
        /// Codex.
        Codex = "codex",
        /// Cursor.
        Cursor = "cursor",
        /// Gemini CLI.
        Gemini = "gemini",
    }
}

/// What happens to one file of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AgentFileChange {
    /// The file, relative to the root.
    pub path: SystemPath,
    /// What happens.
    pub change: AgentFileChangeKind,
    /// Its text afterwards; empty when it is removed.
    pub text: String,
}

probity_core::word_enum! {
    /// How a file of an agent changes.
    pub enum AgentFileChangeKind {
        /// It was not there.
        Created = "created",
        /// Our entry was added, renewed or taken out.
        Changed = "changed",
        /// Nothing but our entry stood in it.
        Removed = "removed",
        /// It is as it should be.
        Unchanged = "unchanged",
    }
}

/// What `probity keys` answers: the public half of the key that signs evidence.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SigningKey {
    /// The short name of the key.
    pub key_id: String,
    /// The key.
    pub public_key: PublicKey,
}

impl Answer for SigningKey {
    const SCHEMA: &'static str = "probity/key/v1";
}

impl From<PublicKey> for SigningKey {
    fn from(key: PublicKey) -> Self {
        Self { key_id: key.key_id(), public_key: key }
    }
}
