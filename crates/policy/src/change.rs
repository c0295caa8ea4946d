//! What `[change]` of a policy says about changes in a tree that several agents share.

use serde::{Deserialize, Serialize};

/// The rules for changes in a shared tree.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ChangeRules {
    /// Strict finish: what changed outside the scope and nobody claims blocks a finish.
    pub strict: bool,
}

impl ChangeRules {
    /// Whether nothing is said: then the policy is the same as one that was written before there were changes.
    pub(crate) fn is_silent(&self) -> bool {
        *self == Self::default()
    }
}
