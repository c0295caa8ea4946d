//! Commits from store to store: bundles, and the union of two stores.
//!
//! A bundle is the canonical bytes of commits, one a line, each after those that it names. Taking one in adds what is
//! missing and nothing else, so it can be repeated and resumed; bytes that were changed on the way are not a commit
//! that anybody names.

use crate::commit::{Commit, CommitError, CommitId};
use crate::memory::{AppendError, MemoryCommits};
use crate::schema::Schema;

/// What taking in a bundle came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Received {
    /// Commits that were new, in the order of the bundle.
    pub added: Vec<CommitId>,
    /// How many were there already.
    pub n_known: usize,
}

/// Why a bundle cannot be taken in.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// A line is no commit.
    #[error("line {line}: {error}")]
    Commit {
        /// The number of the line, from 1.
        line: usize,
        /// What is wrong with it.
        error: CommitError,
    },
    /// A commit cannot be appended.
    #[error("line {line}: {error}")]
    Append {
        /// The number of the line, from 1.
        line: usize,
        /// Why not.
        error: AppendError,
    },
}

/// Writes commits as a bundle.
pub fn export<'c>(commits: impl IntoIterator<Item = &'c Commit>) -> Vec<u8> {
    let mut bundle = Vec::new();
    for commit in commits {
        bundle.extend_from_slice(commit.bytes());
        bundle.push(b'\n');
    }
    bundle
}

/// Takes in a bundle. On an error the commits before it were added: they are whole, and the rest can follow later.
pub fn import(store: &mut MemoryCommits, schema: &Schema, bundle: &[u8]) -> Result<Received, BundleError> {
    let mut received = Received::default();
    for (line, bytes) in (1..).zip(bundle.split(|byte| *byte == b'\n')) {
        if bytes.is_empty() {
            continue;
        }
        let commit = Commit::decode(schema, bytes).map_err(|error| BundleError::Commit { line, error })?;
        if store.get(&commit.id()).is_some() {
            received.n_known += 1;
        } else {
            let id = store.append(commit).map_err(|error| BundleError::Append { line, error })?;
            received.added.push(id);
        }
    }
    Ok(received)
}

/// The commits of `source` that `target` lacks, each after those that it names.
pub fn missing<'c>(source: &'c MemoryCommits, target: &MemoryCommits) -> Vec<&'c Commit> {
    source.iter().filter(|commit| target.get(&commit.id()).is_none()).collect()
}
