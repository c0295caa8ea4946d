//! An intent as others see it: its id, its status, its scope, and what it is to the reader.

use crate::owner::Ownership;
use crate::scope::{IntentScope, ScopeRelation};
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The longest id that is taken.
const MAX_ID_BYTES: usize = 128;

/// Why a text is no id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("an id has 1 to {MAX_ID_BYTES} bytes and no space or control character")]
pub struct BadId;

fn checked_id(text: String) -> Result<String, BadId> {
    let good = (1..=MAX_ID_BYTES).contains(&text.len())
        && !text.chars().any(|character| character.is_whitespace() || character.is_control());
    if good { Ok(text) } else { Err(BadId) }
}

macro_rules! id {
    ($(#[$about:meta])* $name:ident) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// Takes a text as an id, if it can be one.
            pub fn parse(text: impl Into<String>) -> Result<Self, BadId> {
                checked_id(text.into()).map(Self)
            }

            /// The text of the id.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        probity_core::json_schema_of!($name, probity_core::schema::text(r"^\S+$"));

        impl TryFrom<String> for $name {
            type Error = BadId;

            fn try_from(text: String) -> Result<Self, BadId> {
                Self::parse(text)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

id! {
    /// Names an intent. Made by the caller; random, so that two agents never choose the same.
    IntentId
}
id! {
    /// Names a command. Made by the caller, so that a repeated command is recognised.
    CommandId
}

/// What a record says about its own life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Holds its claim, also after a finish that failed.
    Active,
    /// Waits, and holds nothing.
    Queued,
    /// Finished.
    Released,
    /// Given up.
    Cleared,
    /// Closed because its time was over or its owner was dead.
    Expired,
}

impl Status {
    /// Whether the intent is over.
    pub const fn is_closed(self) -> bool {
        !matches!(self, Self::Active | Self::Queued)
    }
}

/// A record as one reader sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Peer {
    /// The intent.
    pub intent_id: IntentId,
    /// What it is to the reader.
    pub ownership: Ownership,
    /// What the record says.
    pub status: Status,
    /// What it claims.
    pub scope: IntentScope,
}

impl Peer {
    /// Whether it is a claim of somebody else that counts.
    pub fn is_live(&self) -> bool {
        self.status == Status::Active && self.ownership.is_foreign()
    }
}

/// A dirty path of my scope that another live intent holds too.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct ForeignDirtyOverlap {
    /// The dirty path.
    pub path: RepoPath,
    /// Who else holds it.
    pub intent_id: IntentId,
    /// What that intent is to the reader.
    pub ownership: Ownership,
}

/// Intents, ready to be asked path by path: many paths and many intents are not a product.
#[derive(Debug)]
pub struct Claims<'a> {
    by_entry: BTreeMap<&'a [u8], Vec<&'a Peer>>,
}

impl<'a> Claims<'a> {
    /// The live claims of other agents.
    pub fn live(peers: &'a [Peer]) -> Self {
        Self::of(peers.iter().filter(|peer| peer.is_live()))
    }

    /// All of the given intents.
    pub fn of(peers: impl IntoIterator<Item = &'a Peer>) -> Self {
        let mut by_entry: BTreeMap<&[u8], Vec<&Peer>> = BTreeMap::new();
        for peer in peers {
            for entry in peer.scope.entries() {
                by_entry.entry(entry.as_bytes()).or_default().push(peer);
            }
        }
        Self { by_entry }
    }

    /// Who holds `path`, and how; by id.
    pub fn holders(&self, path: &[u8]) -> BTreeMap<&'a IntentId, (&'a Peer, ScopeRelation)> {
        crate::scope::ancestors(path)
            .filter_map(|ancestor| self.by_entry.get(ancestor))
            .flatten()
            .filter_map(|peer| Some((&peer.intent_id, (*peer, peer.scope.holds(path)?))))
            .collect()
    }

    /// The dirty paths of `scope` that a live foreign intent holds as well, where at least one of the two holds
    /// it in `allowed_files`.
    pub(crate) fn dirty_overlaps<'p>(
        &self,
        scope: &IntentScope,
        dirty: impl Iterator<Item = &'p RepoPath>,
    ) -> BTreeSet<ForeignDirtyOverlap> {
        let mut overlaps = BTreeSet::new();
        for path in dirty {
            let mine = scope.relation(path.as_bytes());
            if mine == ScopeRelation::Outside {
                continue;
            }
            for (id, (peer, theirs)) in self.holders(path.as_bytes()) {
                if mine == ScopeRelation::OwnAllowed || theirs == ScopeRelation::OwnAllowed {
                    overlaps.insert(ForeignDirtyOverlap {
                        path: path.clone(),
                        intent_id: id.clone(),
                        ownership: peer.ownership,
                    });
                }
            }
        }
        overlaps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_one_short_word() {
        assert!(IntentId::parse("i-1").is_ok());
        for bad in ["", "a b", "a\n", &"x".repeat(129)] {
            assert_eq!(IntentId::parse(bad), Err(BadId), "{bad:?}");
        }
    }
}
