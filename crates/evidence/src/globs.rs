//! An ordered list of glob patterns as raw bytes, not yet validated.

use probity_core::bytes;
use probity_paths::{PatternError, Scope};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// Patterns in order of precedence: the last one that matches a path decides.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GlobList(Vec<Vec<u8>>);

impl GlobList {
    pub fn new(patterns: impl IntoIterator<Item = impl Into<Vec<u8>>>) -> Self {
        Self(patterns.into_iter().map(Into::into).collect())
    }

    pub fn as_slice(&self) -> &[Vec<u8>] {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Appends patterns, which take precedence over the existing ones.
    pub fn extend(&mut self, more: &Self) {
        self.0.extend_from_slice(&more.0);
    }

    /// Keeps only the last of equal patterns. The set of matched paths stays the same, because the last match decides.
    #[must_use]
    pub fn without_repeats(self) -> Self {
        let mut seen = std::collections::BTreeSet::new();
        let mut kept: Vec<_> = self.0.into_iter().rev().filter(|glob| seen.insert(glob.clone())).collect();
        kept.reverse();
        Self(kept)
    }

    /// Parses the patterns into a scope, or reports the first invalid one.
    pub fn to_scope(&self) -> Result<Scope, PatternError> {
        Scope::parse(&self.0)
    }
}

probity_core::json_schema_of!(GlobList, probity_core::schema::list_of_bytes());

impl Serialize for GlobList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|glob| bytes::to_json(glob)))
    }
}

impl<'de> Deserialize<'de> for GlobList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let patterns = Vec::<Value>::deserialize(deserializer)?;
        let read = |value| bytes::from_json(value);
        let globs: Option<Vec<_>> = patterns.iter().map(read).collect();
        globs.map(Self).ok_or_else(|| D::Error::custom("a pattern is a string or {\"bytes_hex\": …}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_equal_patterns_the_last_stays() {
        let globs = GlobList::new(["a/**", "!a/b", "a/**"]).without_repeats();
        assert_eq!(globs, GlobList::new(["!a/b", "a/**"]));
    }

    #[test]
    fn patterns_that_are_no_text_survive_json() {
        let globs = GlobList::new([b"a/\xff*".to_vec()]);
        let json = serde_json::to_value(&globs).expect("serialises");
        assert_eq!(json, serde_json::json!([{"bytes_hex": "612fff2a"}]));
        assert_eq!(serde_json::from_value::<GlobList>(json).expect("reads back"), globs);
    }
}
