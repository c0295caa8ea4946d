//! Probity's own files on disk, and what can be relied on about them.
//!
//! * [`State`]: where everything lies, for one repository and all of its worktrees.
//! * [`Objects`]: content-addressed bytes (before-images). What is read back is checked against its digest.
//! * [`Lock`]: held by at most one living process; the system frees it when the process dies.
//! * [`Chain`]: the head of the evidence chain, moved only by compare-and-set.
//! * [`durable`]: writing so that a kill at any instant leaves the old file or the new one.
//!
//! Nothing here knows what a run, a scope or a bundle is.

mod chain;
pub mod durable;
mod lock;
mod objects;
mod state;

pub use chain::{Chain, Link};
pub use lock::{Lock, LockError};
pub use objects::Objects;
pub use state::{OpenRun, State, tree_key};

use std::io;
use std::path::{Path, PathBuf};

/// A fault of the file system or of our own files, with the place where it happened.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The system refused.
    #[error("{path}: {source}")]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file of ours is not what was written.
    #[error("{path} is damaged: {why}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}

impl StoreError {
    fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }
}
