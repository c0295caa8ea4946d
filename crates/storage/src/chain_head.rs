//! The head of a hash chain in a file: the last entry and the digest that the next entry must name.
//!
//! A repository's evidence is one such chain, its receipts are another. Appending requires [`HashChain::lock`], so
//! that two writers never name the same predecessor.

use crate::{FileLock, StoreError, durable};
use probity_core::Digest;
use probity_core::chain::ChainHead;
use serde::{Deserialize, Serialize};
use std::fmt::Display;
use std::marker::PhantomData;
use std::path::PathBuf;
use std::str::FromStr;

/// The stored form. The aliases read older files, in which both chains used the member names of the evidence.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredHead {
    #[serde(alias = "run_hash")]
    digest: Digest,
    #[serde(alias = "run_id")]
    id: String,
}

/// A chain locked for appending, whose entries are identified by an `Id`.
#[derive(Debug)]
pub struct HashChain<Id> {
    path: PathBuf,
    _lock: FileLock,
    id: PhantomData<Id>,
}

impl<Id: Display + FromStr<Err: Display>> HashChain<Id> {
    /// Opens the chain for appending, after waiting for the current writer.
    pub fn lock(path: PathBuf) -> Result<Self, StoreError> {
        let lock = FileLock::take(&path.with_extension("lock"))?;
        Ok(Self { path, _lock: lock, id: PhantomData })
    }

    /// Returns the last entry, or `None` before the first.
    pub fn head(&self) -> Result<Option<ChainHead<Id>>, StoreError> {
        let Some(bytes) = durable::read(&self.path)? else {
            return Ok(None);
        };
        Self::parse(&bytes).map(Some).map_err(|why| StoreError::Damaged { path: self.path.clone(), why })
    }

    fn parse(bytes: &[u8]) -> Result<ChainHead<Id>, String> {
        let value = probity_core::json::parse(bytes).map_err(|error| error.to_string())?;
        let StoredHead { digest, id } = serde_json::from_value(value).map_err(|error| error.to_string())?;
        let id = id.parse().map_err(|error| format!("`{id}`: {error}"))?;
        Ok(ChainHead { id, digest })
    }

    pub fn advance(&mut self, id: &Id, digest: Digest) -> Result<(), StoreError> {
        let stored = serde_json::json!(StoredHead { digest, id: id.to_string() });
        durable::write(&self.path, &probity_core::json::canonical(&stored))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembers_the_last_entry() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("chain.json");
        let mut chain = HashChain::<u64>::lock(path.clone()).expect("opens");
        assert_eq!(chain.head().expect("reads"), None);
        chain.advance(&7, Digest::of(b"1")).expect("moves");
        drop(chain);
        let head = HashChain::lock(path).expect("opens").head().expect("reads");
        assert_eq!(head, Some(ChainHead { id: 7_u64, digest: Digest::of(b"1") }));
    }

    #[test]
    fn reads_a_head_with_the_old_member_names() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("chain.json");
        let digest = Digest::of(b"1");
        std::fs::write(&path, format!(r#"{{"run_hash":"{digest}","run_id":"r1"}}"#)).expect("writes");
        let head = HashChain::lock(path).expect("opens").head().expect("reads");
        assert_eq!(head, Some(ChainHead { id: "r1".to_owned(), digest }));
    }

    #[test]
    fn a_damaged_head_is_said_to_be_damaged() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("chain.json");
        let digest = Digest::of(b"1");
        for damaged in [r#"{"id": 1}"#.to_owned(), format!(r#"{{"digest":"{digest}","id":"r1"}}"#)] {
            std::fs::write(&path, damaged).expect("writes");
            let head = HashChain::<u64>::lock(path.clone()).expect("opens").head();
            assert!(matches!(head, Err(StoreError::Damaged { .. })));
        }
    }
}
