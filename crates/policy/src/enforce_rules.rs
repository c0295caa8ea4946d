//! The `[enforce]` section of a policy: how firmly a run is kept in its scope, and what of the user's home it may use.

use probity_evidence::EnforcementLevel;
use serde::{Deserialize, Serialize};

/// Paths of the home in which agents keep their own state, by the agent's word. What decides what they execute stays
/// read-only: see [`FIXED_NAMES`].
const AGENT_STATE: &[(&str, &[&str])] = &[
    ("claude", &["~/.claude", "~/.claude.json"]),
    ("codex", &["~/.codex"]),
    ("gemini", &["~/.gemini"]),
    ("copilot", &["~/.copilot"]),
    ("qwen", &["~/.qwen"]),
    ("opencode", &["~/.local/share/opencode"]),
];

/// Caches that tools write without being asked. They can be written in a view, and the writes are thrown away.
const SCRATCH: &[&str] = &[
    "~/.cache",
    "~/.npm",
    "~/.yarn",
    "~/.local/share/pnpm",
    "~/.local/state",
    "~/.cargo/registry",
    "~/.cargo/git",
    "~/.cargo/.package-cache",
    "~/.rustup/downloads",
    "~/.rustup/tmp",
    "~/go/pkg",
    "~/.gradle",
    "~/.m2",
    "~/.nuget",
    "~/.bun",
    "~/.deno",
];

/// Credentials.
const HIDE: &[&str] = &[
    "~/.ssh",
    "~/.aws",
    "~/.gnupg",
    "~/.kube",
    "~/.azure",
    "~/.config/gcloud",
    "~/.config/gh",
    "~/.docker/config.json",
    "~/.git-credentials",
    "~/.netrc",
    "~/.pypirc",
];

/// Names in a persistent directory that decide what an agent executes in later sessions.
pub const FIXED_NAMES: &[&str] = &[
    "hooks",
    "plugins",
    "commands",
    "agents",
    "skills",
    "settings.json",
    "settings.local.json",
    "hooks.json",
    "config.toml",
    "config.json",
    "mcp.json",
    "mcp-config.json",
    "extensions",
    ".env",
    "CLAUDE.md",
    "AGENTS.md",
    "GEMINI.md",
    "rules",
    "prompts",
];

probity_core::word_enum! {
    /// The level of enforcement that a run asks for.
    #[derive(Default)]
    pub enum EnforcementChoice {
        /// The strongest one that works here.
        #[default]
        Auto = "auto",
        /// Changes are found afterwards.
        Observe = "observe",
        /// The kernel refuses writes outside of the directories of the scope.
        Landlock = "landlock",
        /// The command works in a private view; only what passes lands.
        Overlay = "overlay",
    }
}

probity_core::word_enum! {
    /// Whether a command in a view reaches the network.
    #[derive(Default)]
    pub enum NetworkRule {
        #[default]
        On = "on",
        Off = "off",
    }
}

probity_core::word_enum! {
    /// How the tree is looked at before a command starts in a view.
    #[derive(Default)]
    pub enum StartLookRule {
        /// A small tree is walked; of a large one what the command changed is looked at afterwards, where that is exact.
        #[default]
        Auto = "auto",
        /// What the command changed is looked at afterwards, where that is exact.
        Lazy = "lazy",
        /// Every entry is looked at.
        Walk = "walk",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EnforceRules {
    pub level: EnforcementChoice,
    /// A run that cannot have at least this level is refused.
    pub minimum: EnforcementLevel,
    pub network: NetworkRule,
    #[serde(skip_serializing_if = "StartLookRule::is_auto")]
    pub start_look: StartLookRule,
    /// Paths of the home that a command in a view may change for good.
    pub persist: Vec<String>,
    /// Paths of the home whose changes are thrown away with the view.
    pub scratch: Vec<String>,
    /// Paths that appear empty.
    pub hide: Vec<String>,
    /// Variables that lead to services outside of the view and are passed on all the same.
    pub env: Vec<String>,
}

impl StartLookRule {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_auto(&self) -> bool {
        *self == Self::Auto
    }
}

impl Default for EnforceRules {
    fn default() -> Self {
        let list = |paths: &[&str]| -> Vec<String> { paths.iter().map(ToString::to_string).collect() };
        Self {
            level: EnforcementChoice::default(),
            minimum: EnforcementLevel::default(),
            network: NetworkRule::default(),
            start_look: StartLookRule::default(),
            persist: AGENT_STATE.iter().flat_map(|(_, paths)| list(paths)).collect(),
            scratch: list(SCRATCH),
            hide: list(HIDE),
            env: Vec::new(),
        }
    }
}

impl EnforceRules {
    /// Returns the section for a run of one agent: of the default list it keeps its own state only. A list in the policy
    /// stays as it is.
    #[must_use]
    pub fn for_agent(&self, agent: &str) -> Self {
        let own = AGENT_STATE.iter().find(|(name, _)| *name == agent);
        match own.filter(|_| self.persist == Self::default().persist) {
            Some((_, paths)) => {
                Self { persist: paths.iter().map(ToString::to_string).collect(), ..self.clone() }
            }
            None => self.clone(),
        }
    }

    /// Returns true if the section says nothing. It is then omitted, so that the policy keeps the digest it
    /// had before the section existed.
    pub(crate) fn is_silent(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the section without everything that demands less than no policy would.
    #[must_use]
    pub(crate) fn demands_only(&self) -> Self {
        let default = Self::default();
        let hide = default.hide.iter().chain(&self.hide).cloned().collect();
        let start_look = match self.start_look {
            StartLookRule::Walk => StartLookRule::Walk,
            StartLookRule::Auto | StartLookRule::Lazy => StartLookRule::Auto,
        };
        Self { minimum: self.minimum, network: self.network, start_look, hide, ..default }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_keeps_its_own_state_only() {
        let rules = EnforceRules::default();
        assert!(rules.persist.iter().any(|path| path == "~/.copilot"));
        assert_eq!(rules.for_agent("codex").persist, ["~/.codex"]);
        assert_eq!(rules.for_agent("nobody"), rules);
        let own = EnforceRules { persist: vec!["~/.mine".into()], ..rules };
        assert_eq!(own.for_agent("codex"), own);
    }
}
