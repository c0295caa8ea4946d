//! Names for commits, such as `main` or `release/2`.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

const MAX_REF_NAME_BYTES: usize = 200;

/// The name of a ref: letters, digits, `.`, `_`, `-` and `/`, without empty parts and never only hex digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RefName(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a valid name for a ref: use letters, digits, `.`, `_`, `-` and `/`, and not only hex digits"
)]
pub struct BadRefName(String);

impl RefName {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for RefName {
    type Err = BadRefName;

    fn from_str(text: &str) -> Result<Self, BadRefName> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
        // A text of hex digits could be the prefix of a commit id, and a name must never hide a commit.
        let reads_as_id = text.chars().all(|c| c.is_ascii_hexdigit());
        let has_whole_parts = text.split('/').all(|part| !part.is_empty() && !part.starts_with(['.', '-']));
        if text.chars().all(is_plain) && has_whole_parts && !reads_as_id && text.len() <= MAX_REF_NAME_BYTES {
            Ok(Self(text.to_owned()))
        } else {
            Err(BadRefName(text.to_owned()))
        }
    }
}

impl TryFrom<String> for RefName {
    type Error = BadRefName;

    fn try_from(text: String) -> Result<Self, BadRefName> {
        text.parse()
    }
}

impl From<RefName> for String {
    fn from(name: RefName) -> Self {
        name.0
    }
}

impl fmt::Display for RefName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_never_reads_as_a_commit_or_an_option() {
        for good in ["main", "release/2.1", "ann_s-work"] {
            assert_eq!(good.parse::<RefName>().map(String::from), Ok(good.to_owned()));
        }
        for bad in ["", "abc", "0f3", "a//b", "/a", "a/", "-x", ".x", "a b", "é", "a/-b", &"x".repeat(201)] {
            assert!(bad.parse::<RefName>().is_err(), "{bad}");
        }
    }
}
