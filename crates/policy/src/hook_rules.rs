//! The `[hook]` section of a policy: what the guard in front of agents does.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HookRules {
    pub without_intent: WithoutIntent,
    pub subagents: SubagentRule,
}

impl HookRules {
    /// Returns true if the section says nothing. It is then omitted, so that the policy keeps the digest it had before
    /// the section existed.
    pub(crate) fn is_silent(&self) -> bool {
        *self == Self::default()
    }
}

probity_core::word_enum! {
    /// What happens to an edit in a session without an intent.
    #[derive(Default)]
    pub enum WithoutIntent {
        /// It is refused.
        #[default]
        Deny = "deny",
        /// It passes; the tree is judged afterwards.
        Allow = "allow",
        /// It starts an intent for the paths of the first edit.
        Declare = "declare",
    }
}

probity_core::word_enum! {
    /// Under whose intents a sub-agent works.
    #[derive(Default)]
    pub enum SubagentRule {
        /// Under those of its parent session and its own.
        #[default]
        Parent = "parent",
        /// Only under its own.
        Own = "own",
    }
}
