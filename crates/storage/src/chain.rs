//! The head of the evidence chain: which run was the last, and the hash that the next one must name.
//!
//! Appending happens while [`Chain::lock`] is held, so that two runs never name the same predecessor.

use crate::{Lock, StoreError, durable};
use probity_core::Digest;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The last bundle of the chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// The run whose bundle it is.
    pub run_id: String,
    /// The run hash of that bundle.
    pub run_hash: Digest,
}

/// The chain's head on disk.
#[derive(Debug)]
pub struct Chain {
    path: PathBuf,
    _lock: Lock,
}

impl Chain {
    /// Opens the chain for appending; waits for whoever is appending now.
    pub fn lock(path: PathBuf) -> Result<Self, StoreError> {
        let lock = Lock::take(&path.with_extension("lock"))?;
        Ok(Self { path, _lock: lock })
    }

    /// The head, or `None` before the first run.
    pub fn head(&self) -> Result<Option<Link>, StoreError> {
        let Some(bytes) = durable::read(&self.path)? else {
            return Ok(None);
        };
        let damaged = |why: String| StoreError::Damaged { path: self.path.clone(), why };
        let value = probity_core::json::parse(&bytes).map_err(|error| damaged(error.to_string()))?;
        serde_json::from_value(value).map(Some).map_err(|error| damaged(error.to_string()))
    }

    /// Moves the head.
    pub fn advance(&mut self, link: &Link) -> Result<(), StoreError> {
        durable::write(&self.path, &probity_core::json::canonical_of(link))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembers_the_last_link() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("chain.json");
        let link = Link { run_id: "r1".into(), run_hash: Digest::of(b"1") };
        let mut chain = Chain::lock(path.clone()).expect("opens");
        assert_eq!(chain.head().expect("reads"), None);
        chain.advance(&link).expect("moves");
        drop(chain);
        assert_eq!(Chain::lock(path).expect("opens").head().expect("reads"), Some(link));
    }

    #[test]
    fn a_damaged_head_is_said_to_be_damaged() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("chain.json");
        std::fs::write(&path, b"{\"run_id\": 1}").expect("writes");
        assert!(matches!(Chain::lock(path).expect("opens").head(), Err(StoreError::Damaged { .. })));
    }
}
