//! Transfers commits between stores: bundles, and the union of two stores.
//!
//! A bundle is the canonical bytes of commits, one per line, each after those that it names. Importing adds only what
//! is missing, so it can be repeated and resumed. Bytes altered in transit become a commit with an id that nothing
//! refers to.

use crate::commit::{Commit, CommitError, CommitId};
use crate::memory_store::{AppendError, MemoryCommits};
use crate::schema::DocumentSchema;

/// The result of importing a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ImportSummary {
    /// New commits, in the order of the bundle.
    pub added: Vec<CommitId>,
    /// Number of commits the store already had.
    pub n_known: usize,
}

/// The reason a bundle could not be imported.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    #[error("line {line}: {error}")]
    Commit {
        /// One-based line number.
        line: usize,
        error: CommitError,
    },
    #[error("line {line}: {error}")]
    Append {
        /// One-based line number.
        line: usize,
        error: AppendError,
    },
}

pub fn export_bundle<'c>(commits: impl IntoIterator<Item = &'c Commit>) -> Vec<u8> {
    let mut bundle = Vec::new();
    for commit in commits {
        bundle.extend_from_slice(commit.bytes());
        bundle.push(b'\n');
    }
    bundle
}

/// Imports a bundle. After an error the commits before the bad line remain added: they are complete, and the rest can
/// follow later.
pub fn import_bundle(
    store: &mut MemoryCommits,
    schema: &DocumentSchema,
    bundle: &[u8],
) -> Result<ImportSummary, BundleError> {
    let mut received = ImportSummary::default();
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
