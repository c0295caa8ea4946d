//! The `[git]` section of a policy: what becomes of the commits that a run makes in its view.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GitRules {
    pub commits: CommitRule,
}

impl GitRules {
    /// Returns true if the section says nothing. It is then omitted, so that the policy keeps the digest it had before
    /// the section existed.
    pub(crate) fn is_silent(&self) -> bool {
        *self == Self::default()
    }
}

probity_core::word_enum! {
    /// What becomes of the commits of a run in a view whose content landed.
    #[derive(Default)]
    pub enum CommitRule {
        /// They are named, and go with the layer.
        #[default]
        Leave = "leave",
        /// Branches that only grew, by commits whose paths are all in scope, are taken over.
        Import = "import",
    }
}
