//! A path inside the tree: relative to the sealed root, `/`-separated, bytes.
//!
//! Any file name is allowed. Nothing is trimmed, folded or rewritten: two paths are equal exactly when their bytes are.

use probity_core::{ReasonCode, bytes};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// A path inside the tree: never empty, never absolute, never leaving the root.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepoPath(Box<[u8]>);

/// The reason bytes are not a [`RepoPath`]. Scope patterns use the same codes for their name errors.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a path in a tree: {}", bytes::escape(.path), .reason.meaning())]
pub struct PathError {
    /// One of the six name errors (`SCOPE.EMPTY_PATTERN`, `SCOPE.ABSOLUTE`, …).
    pub reason: ReasonCode,
    pub path: Vec<u8>,
}

impl RepoPath {
    /// Accepts `path` unchanged, or returns the rule it violates.
    pub fn parse(path: &[u8]) -> Result<Self, PathError> {
        match name_error(path) {
            None => Ok(Self(path.into())),
            Some(reason) => Err(PathError { reason, path: path.to_vec() }),
        }
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the names from the root to the entry.
    pub fn segments(&self) -> impl Iterator<Item = &[u8]> {
        self.0.split(|&byte| byte == b'/')
    }

    /// Returns the last name of the path.
    pub fn file_name(&self) -> &[u8] {
        self.0.rsplit(|&byte| byte == b'/').next().unwrap_or(&self.0)
    }

    /// Returns the directory that contains the entry, or `None` at the root.
    pub fn parent(&self) -> Option<Self> {
        let slash = self.0.iter().rposition(|&byte| byte == b'/')?;
        Some(Self(self.0[..slash].into()))
    }

    /// Returns the directories above the entry, from the root down, then the path itself.
    pub fn ancestors_and_self(&self) -> impl Iterator<Item = &[u8]> {
        let slashes = self.0.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(index, _)| index);
        slashes.chain([self.0.len()]).map(|end| &self.0[..end])
    }

    /// Returns the path of the entry `name` in this directory.
    pub fn join(&self, name: &[u8]) -> Result<Self, PathError> {
        Self::parse(&[&self.0, name].join(&b'/'))
    }

    /// Returns true if this is `other` or lies below it (the rule *prefix*).
    pub fn is_covered_by(&self, other: &[u8]) -> bool {
        self.0.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
    }
}

/// Returns the first name error of `path`, in the order given by the conformance README.
pub fn name_error(path: &[u8]) -> Option<ReasonCode> {
    // Nearly all paths are good, and every command parses all paths of a tree several times: one pass shows it.
    if is_good_name(path) { None } else { slow_name_error(path) }
}

/// Returns whether no byte is NUL and no segment is empty, `.` or `..`.
fn is_good_name(path: &[u8]) -> bool {
    let (mut n_bytes, mut n_dots) = (0_usize, 0_usize);
    for &byte in path {
        match byte {
            0 => return false,
            b'/' if n_bytes == n_dots && n_bytes <= 2 => return false,
            b'/' => (n_bytes, n_dots) = (0, 0),
            b'.' => (n_bytes, n_dots) = (n_bytes + 1, n_dots + 1),
            _ => n_bytes += 1,
        }
    }
    n_bytes != n_dots || n_bytes > 2
}

/// Returns the first rule that a path breaks.
fn slow_name_error(path: &[u8]) -> Option<ReasonCode> {
    let n_slashes = path.iter().filter(|&&byte| byte == b'/').count();
    let mut segments = path.split(|&byte| byte == b'/').enumerate();
    whole_error(path)
        .or_else(|| segments.find_map(|(index, segment)| segment_error(segment, index == n_slashes)))
}

/// Returns the name error that concerns a path or pattern as a whole.
pub(crate) fn whole_error(path: &[u8]) -> Option<ReasonCode> {
    match path {
        [] => Some(ReasonCode::ScopeEmptyPattern),
        _ if path.contains(&0) => Some(ReasonCode::ScopeNul),
        [b'/', ..] => Some(ReasonCode::ScopeAbsolute),
        _ => None,
    }
}

/// Returns the name error of one segment.
pub(crate) fn segment_error(segment: &[u8], is_last: bool) -> Option<ReasonCode> {
    match segment {
        b"" if is_last => Some(ReasonCode::ScopeTrailingSlash),
        b"" => Some(ReasonCode::ScopeEmptySegment),
        b"." | b".." => Some(ReasonCode::ScopeDotSegment),
        _ => None,
    }
}

/// Prints the path on one line, losslessly and without deceptive characters.
impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&bytes::escape(&self.0))
    }
}

impl fmt::Debug for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{self}`")
    }
}

probity_core::json_schema_of!(RepoPath, probity_core::schema::bytes());

impl Serialize for RepoPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            bytes::to_json(&self.0).serialize(serializer)
        } else {
            serializer.serialize_bytes(&self.0)
        }
    }
}

impl<'de> Deserialize<'de> for RepoPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return Self::parse(<&[u8]>::deserialize(deserializer)?).map_err(serde::de::Error::custom);
        }
        let value = serde_json::Value::deserialize(deserializer)?;
        let path = bytes::from_json(&value)
            .ok_or_else(|| serde::de::Error::custom("a path is a string or {\"bytes_hex\": …}"))?;
        Self::parse(&path).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(path: &[u8]) -> &'static str {
        RepoPath::parse(path).expect_err("should be refused").reason.as_str()
    }

    #[test]
    fn takes_any_name_that_a_tree_can_have() {
        for path in [&b"a"[..], b"src\\a.py", b" a ", b"a\nb", b"\xff/\xfe", b"...", b"~", b"!x", b"-"] {
            assert_eq!(RepoPath::parse(path).map(|path| path.as_bytes().to_vec()), Ok(path.to_vec()));
        }
    }

    #[test]
    fn refuses_what_is_no_path_and_says_why() {
        assert_eq!(code(b""), "SCOPE.EMPTY_PATTERN");
        assert_eq!(code(b"a\0b"), "SCOPE.NUL");
        assert_eq!(code(b"/a"), "SCOPE.ABSOLUTE");
        assert_eq!(code(b"a//b"), "SCOPE.EMPTY_SEGMENT");
        assert_eq!(code(b"a/"), "SCOPE.TRAILING_SLASH");
        assert_eq!(code(b"a/../b"), "SCOPE.DOT_SEGMENT");
        assert_eq!(code(b"./a"), "SCOPE.DOT_SEGMENT");
    }

    #[test]
    fn the_quick_look_agrees_with_the_rules() {
        // All texts of up to six bytes over those that matter.
        let mut texts: Vec<Vec<u8>> = vec![Vec::new()];
        for _ in 0..6 {
            let longer = texts.iter().flat_map(|text| b"./a\0".map(|byte| [&text[..], &[byte]].concat()));
            texts = longer.chain(texts.iter().cloned()).collect();
        }
        for text in texts {
            assert_eq!(is_good_name(&text), slow_name_error(&text).is_none(), "{text:?}");
        }
    }

    #[test]
    fn a_prefix_ends_at_a_slash() {
        let path = RepoPath::parse(b"docs/book/a.md").expect("a path");
        assert!(path.is_covered_by(b"docs/book"));
        assert!(path.is_covered_by(b"docs/book/a.md"));
        assert!(!path.is_covered_by(b"docs/boo"));
    }

    #[test]
    fn a_lineage_goes_from_the_root_to_the_entry() {
        let path = RepoPath::parse(b"docs/book/a.md").expect("a path");
        assert_eq!(
            path.ancestors_and_self().collect::<Vec<_>>(),
            [&b"docs"[..], b"docs/book", b"docs/book/a.md"]
        );
    }

    #[test]
    fn json_keeps_names_that_are_no_text() {
        let path = RepoPath::parse(b"dir/\xff").expect("a path");
        let json = serde_json::to_string(&path).expect("serialises");
        assert_eq!(json, r#"{"bytes_hex":"6469722fff"}"#);
        assert_eq!(serde_json::from_str::<RepoPath>(&json).expect("reads back"), path);
    }
}
