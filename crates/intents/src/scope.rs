//! The scope of an intent: what its owner may touch, as written in the declaration.
//!
//! Entries are not validated here. A bad declaration (a glob in `allowed_files`, an empty scope) is refused
//! earlier; an odd entry that gets here simply covers nothing.

use probity_core::bytes;
use probity_paths::RepoPath;
use probity_paths::fnmatch::Fnmatch;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeSet;
use std::fmt;

/// A path or pattern exactly as written: arbitrary bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScopeEntry(Box<[u8]>);

impl ScopeEntry {
    pub fn new(bytes: impl AsRef<[u8]>) -> Self {
        Self(bytes.as_ref().into())
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns true if this entry is `path` or a directory above it (rule *prefix*).
    pub fn covers(&self, path: &[u8]) -> bool {
        path.strip_prefix(&*self.0).is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
    }
}

impl From<&RepoPath> for ScopeEntry {
    fn from(path: &RepoPath) -> Self {
        Self::new(path.as_bytes())
    }
}

impl fmt::Display for ScopeEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&bytes::escape(&self.0))
    }
}

impl fmt::Debug for ScopeEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{self}`")
    }
}

probity_core::json_schema_of!(ScopeEntry, probity_core::schema::bytes());

impl Serialize for ScopeEntry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        bytes::to_json(&self.0).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ScopeEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        bytes::from_json(&value)
            .map(|bytes| Self(bytes.into()))
            .ok_or_else(|| serde::de::Error::custom("an entry is a string or {\"bytes_hex\": …}"))
    }
}

/// A set of entries. Sorted, so that [`covered`] needs one lookup per directory of a path.
pub type ScopeEntrySet = BTreeSet<ScopeEntry>;

/// What a change may touch, and what it must not touch.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct IntentScope {
    /// Paths that the change is about.
    pub allowed_files: ScopeEntrySet,
    /// Further paths that it may touch along the way.
    #[serde(default)]
    pub allowed_related: ScopeEntrySet,
    /// Patterns (rule *fnmatch*) of paths that it must not touch.
    #[serde(default)]
    pub forbidden: ScopeEntrySet,
}

/// The position of a path relative to a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ScopeRelation {
    /// An entry of `allowed_files` covers the path.
    OwnAllowed,
    /// Only an entry of `allowed_related` covers the path.
    OwnRelated,
    /// No entry covers the path.
    Outside,
}

impl IntentScope {
    /// Classifies `path` relative to this scope (rule *prefix*). Ignores `forbidden`.
    pub fn relation(&self, path: &[u8]) -> ScopeRelation {
        if covered(&self.allowed_files, path) {
            ScopeRelation::OwnAllowed
        } else if covered(&self.allowed_related, path) {
            ScopeRelation::OwnRelated
        } else {
            ScopeRelation::Outside
        }
    }

    /// Returns true if a pattern of `forbidden` matches `path`.
    pub fn forbids(&self, path: &[u8]) -> bool {
        FnmatchSet::new(&self.forbidden).match_bytes(path)
    }

    /// Returns how this scope holds `path`, if it does. An intent that forbids a path does not hold it (law 5).
    pub fn holds(&self, path: &[u8]) -> Option<ScopeRelation> {
        let relation = self.relation(path);
        (relation != ScopeRelation::Outside && !self.forbids(path)).then_some(relation)
    }

    /// Returns every path entry, allowed and related.
    pub fn entries(&self) -> impl Iterator<Item = &ScopeEntry> {
        self.allowed_files.iter().chain(&self.allowed_related)
    }
}

/// Entries compiled as patterns (rule *fnmatch*).
#[derive(Debug, Clone)]
pub struct FnmatchSet(Vec<PrefixedFnmatch>);

#[derive(Debug, Clone)]
struct PrefixedFnmatch {
    /// Literal prefix of every matching path: rules out most paths without running the pattern.
    literal: Box<[u8]>,
    rest: Fnmatch,
}

impl FnmatchSet {
    pub fn new<'a>(entries: impl IntoIterator<Item = &'a ScopeEntry>) -> Self {
        let literal =
            |name: &[u8]| name.split(|byte| b"*?[".contains(byte)).next().unwrap_or_default().into();
        let compile =
            |entry: &ScopeEntry| PrefixedFnmatch { literal: literal(&entry.0), rest: Fnmatch::new(&entry.0) };
        Self(entries.into_iter().map(compile).collect())
    }

    pub fn matches(&self, path: &RepoPath) -> bool {
        let can_match = |pattern: &&PrefixedFnmatch| path.as_bytes().starts_with(&pattern.literal);
        self.0.iter().filter(can_match).any(|pattern| pattern.rest.matches(path))
    }

    /// Like [`Self::matches`]; bytes that are not a valid path match nothing.
    pub(crate) fn match_bytes(&self, path: &[u8]) -> bool {
        !self.0.is_empty() && RepoPath::parse(path).is_ok_and(|path| self.matches(&path))
    }
}

/// Returns true if an entry of the set covers `path`. Costs one lookup per directory above it.
pub fn covered(entries: &ScopeEntrySet, path: &[u8]) -> bool {
    ancestors(path).any(|ancestor| entries.contains(ancestor))
}

/// Returns the path itself and every directory above it.
pub(crate) fn ancestors(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let above = path.iter().enumerate().filter(|&(_, &byte)| byte == b'/').map(|(at, _)| &path[..at]);
    above.chain(std::iter::once(path))
}

/// Allows lookups in a set of entries by plain bytes.
impl std::borrow::Borrow<[u8]> for ScopeEntry {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_entry_ends_at_a_slash() {
        let entry = ScopeEntry::new("src/net");
        assert!(entry.covers(b"src/net") && entry.covers(b"src/net/tcp.rs"));
        assert!(!entry.covers(b"src/network.rs") && !entry.covers(b"src"));
    }

    #[test]
    fn who_forbids_a_path_does_not_hold_it() {
        let scope = IntentScope {
            allowed_files: [ScopeEntry::new("src")].into(),
            forbidden: [ScopeEntry::new("*.lock")].into(),
            ..IntentScope::default()
        };
        assert_eq!(scope.holds(b"src/a.rs"), Some(ScopeRelation::OwnAllowed));
        assert_eq!(scope.holds(b"src/x/Cargo.lock"), None);
        assert_eq!(scope.relation(b"src/x/Cargo.lock"), ScopeRelation::OwnAllowed);
    }

    proptest! {
        #[test]
        fn the_set_covers_what_one_of_its_entries_covers(
            entries in proptest::collection::btree_set("[ab/]{0,4}", 0..5), path in "[ab/]{0,6}",
        ) {
            let entries: ScopeEntrySet = entries.iter().map(ScopeEntry::new).collect();
            let naive = entries.iter().any(|entry| entry.covers(path.as_bytes()));
            prop_assert_eq!(covered(&entries, path.as_bytes()), naive);
        }
    }
}
