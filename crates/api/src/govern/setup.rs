//! Answers of `probity init`, `probity init --agent` and `probity keys`.

use crate::document::Answer;
use crate::system_path::SystemPath;
use probity_evidence::PublicKey;
use schemars::JsonSchema;
use serde::Serialize;

/// The answer of `probity init`: a policy that fits the tree.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct InitAnswer {
    pub root: SystemPath,
    /// The text of the policy file.
    pub text: String,
    pub written: bool,
    /// The number of patterns for build outputs by ecosystem.
    pub exempt: Vec<EcosystemPatterns>,
    /// A scope that contains sources of this tree; null if there are none.
    pub example_scope: Option<String>,
    /// The number of `.gitignore` rules omitted because they contain characters that are shown escaped.
    pub ignore_rules_left_out: usize,
    /// The command that commits the policy; null without git, or if nothing was written.
    pub commit_command: Option<String>,
}

impl Answer for InitAnswer {
    const SCHEMA: &'static str = "probity/init/v1";
}

/// The number of patterns of an ecosystem.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EcosystemPatterns {
    /// The ecosystem whose tools write the outputs.
    pub ecosystem: &'static str,
    pub patterns: usize,
}

/// The answer of `probity init --agent AGENT`: the configuration files of the agent.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AgentRegistration {
    pub root: SystemPath,
    pub agent: CodingAgent,
    pub files: Vec<AgentFileChange>,
    pub written: bool,
    /// What a person must still do before the agent uses it.
    pub manual_steps: Vec<&'static str>,
}

/// The answer of `probity uninstall`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct UninstallAnswer {
    pub root: SystemPath,
    /// The agents whose configuration named Probity.
    pub registrations: Vec<AgentRegistration>,
    pub state_directory: SystemPath,
    /// The space that the state takes, or took.
    pub state_bytes: u64,
    pub state_removed: bool,
    /// False with `--dry-run`: this is what would be done.
    pub written: bool,
}

impl Answer for UninstallAnswer {
    const SCHEMA: &'static str = "probity/uninstall/v1";
}

/// The answer of `probity init --agent auto`: one registration for each agent that was found.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AgentRegistrations {
    pub root: SystemPath,
    pub registrations: Vec<AgentRegistration>,
}

impl Answer for AgentRegistrations {
    const SCHEMA: &'static str = "probity/init-agents/v1";
}

impl Answer for AgentRegistration {
    const SCHEMA: &'static str = "probity/init-agent/v1";
}

probity_core::word_enum! {
    /// A coding agent whose configuration is supported.
    pub enum CodingAgent {
        /// Claude Code.
        Claude = "claude",
        /// Codex.
        Codex = "codex",
        /// Copilot CLI.
        Copilot = "copilot",
        /// Cursor.
        Cursor = "cursor",
        /// Gemini CLI.
        Gemini = "gemini",
        /// OpenCode.
        OpenCode = "opencode",
        /// Qwen Code.
        Qwen = "qwen",
    }
}

/// The change of one configuration file of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AgentFileChange {
    pub path: SystemPath,
    pub change: AgentFileChangeKind,
    /// Its new content; empty if it is removed.
    pub text: String,
}

probity_core::word_enum! {
    /// How a configuration file changes.
    pub enum AgentFileChangeKind {
        /// It did not exist.
        Created = "created",
        /// Probity's entry was added, updated or removed.
        Changed = "changed",
        /// It contained only Probity's entry.
        Removed = "removed",
        /// It was already up to date.
        Unchanged = "unchanged",
    }
}

/// The answer of `probity keys`: the public half of the key that signs evidence.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SigningKey {
    pub key_id: String,
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
