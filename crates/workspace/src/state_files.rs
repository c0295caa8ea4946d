//! The interface through which owners of state files account for changes to them.
//!
//! Other processes write to the state directory while a command is governed. Each owner knows which changes its own
//! code makes; the guard of the directory asks the owners and knows none of their formats.

use crate::StateDirectory;
use std::fmt::Debug;
use std::path::Path;

/// The change to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileFate {
    New,
    Changed,
    Gone,
}

/// The files that one owner keeps in the state directory.
pub trait StateFiles {
    /// Records the current state, to distinguish the owner's later writes from foreign ones.
    fn mark(&self, state: &StateDirectory) -> Box<dyn StateMark>;
}

/// An owner's record of its files at an earlier moment.
pub trait StateMark: Debug {
    /// Returns whether the owner's own code makes this change to `name`, a path relative to the state directory. Always
    /// false for files of another owner.
    fn explains(&self, state: &StateDirectory, name: &Path, fate: FileFate) -> bool;
}

/// Splits a name below the state directory; `None` if a part is not UTF-8, which no name of ours is.
pub fn name_parts(name: &Path) -> Option<Vec<&str>> {
    name.iter().map(|part| part.to_str()).collect()
}

/// Returns whether a file of this name is still being written.
pub fn is_unfinished(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "tmp")
}
