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
    /// What happens if claims of different working trees for one line overlap.
    #[serde(skip_serializing_if = "is_default")]
    pub overlap: OverlapRule,
    /// Patterns (rule *fnmatch*, as in `forbidden`) of paths whose claims are exclusive even if overlaps are announced.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exclusive: Vec<String>,
    /// How long the claim of a finished change keeps others off.
    #[serde(skip_serializing_if = "is_default")]
    pub hold: HoldRule,
    /// What happens to a start in a tree that lacks what others landed on the line.
    #[serde(skip_serializing_if = "is_default")]
    pub stale_base: StaleStartRule,
}

impl TeamRules {
    /// Returns true if the section says nothing. It is then omitted, so that the policy keeps the digest it had before
    /// the section existed.
    pub(crate) fn is_silent(&self) -> bool {
        *self == Self::default()
    }
}

probity_core::word_enum! {
    /// What happens if claims of different working trees for one line overlap.
    #[derive(Default)]
    pub enum OverlapRule {
        /// The second one is refused.
        #[default]
        Exclusive = "exclusive",
        /// Both are granted, and each is told of the other.
        Announce = "announce",
    }
}

probity_core::word_enum! {
    /// How long the claim of a finished change keeps others off its paths.
    #[derive(Default)]
    pub enum HoldRule {
        /// Until it is finished.
        Finish = "finish",
        /// Until its commit is on a branch of the remote.
        #[default]
        Push = "push",
        /// Until its commit is on its line.
        Merge = "merge",
    }
}

probity_core::word_enum! {
    /// What happens to a start in a tree that lacks what others landed on the line.
    #[derive(Default)]
    pub enum StaleStartRule {
        /// It is refused.
        #[default]
        Block = "block",
        /// It is granted with a warning.
        Warn = "warn",
    }
}

fn is_default<T: Default + PartialEq>(setting: &T) -> bool {
    *setting == T::default()
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
