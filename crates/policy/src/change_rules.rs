//! The `[change]` section of a policy: rules for changes in a tree that several agents share.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ChangeRules {
    /// Strict finish: changes outside the scope that no one claims block a finish.
    pub strict: bool,
    /// A finish may leave the gates out, and then says so.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub allow_skip_gates: bool,
}

impl ChangeRules {
    /// Returns true if the section says nothing. It is then omitted, so that the policy keeps the digest it
    /// had before the section existed.
    pub(crate) fn is_silent(&self) -> bool {
        *self == Self::default()
    }
}
