//! The `[team]` section of a policy: the store that several machines share.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TeamRules {
    /// Names the repository in every clone, whatever its remotes are called. `probity team init` makes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store: Option<TeamStoreKind>,
    /// The address of the git remote, if the store is `git`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
    /// The addresses of the members, if the store is `etcd`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub endpoints: Vec<String>,
    /// The authorities that the members' certificates are held against, as PEM; those of the system if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca: Option<String>,
    /// The user of etcd; its password is never in the repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The part of etcd that the team owns: keys below `/probity/<namespace>/`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The branch that changes are for. Claims for different lines never conflict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
}

impl TeamRules {
    /// Returns true if the section says nothing. It is then omitted, so that the policy keeps the digest it had before
    /// the section existed.
    pub(crate) fn is_silent(&self) -> bool {
        *self == Self::default()
    }
}

probity_core::word_enum! {
    /// What a team keeps its claims in.
    pub enum TeamStoreKind {
        /// References of a git remote.
        Git = "git",
        /// Keys of etcd.
        Etcd = "etcd",
    }
}
